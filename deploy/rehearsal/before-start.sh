# The rehearsal's receiver has a certificate of its own.
openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj "/CN=$RECEIVER" \
    -addext "subjectAltName=IP:$RECEIVER" \
    -keyout "$FOLDER/receiver.key" -out "$FOLDER/receiver.pem" 2> /dev/null
install -m 644 "$FOLDER/receiver.pem" /etc/ssl/receiver.pem
echo DELIVERY_CA_BUNDLE=/etc/ssl/receiver.pem >> /etc/parceldesk/parceldesk.env
echo "127.0.0.1 $HOST" >> /etc/hosts
# Short retry delays, so that a delivery that was refused does not wait for half an hour.
echo DELIVERY_RETRY_SECONDS=2,2,2,2,2,2,2,2,2 >> /etc/parceldesk/parceldesk.env
