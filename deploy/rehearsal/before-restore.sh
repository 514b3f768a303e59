# Deliver what was pending at the backup. Then shut down the old host.
rm "$FOLDER/refuse"
sleep 2
touch "$FOLDER/stop"
wait $LOAD
cat "$FOLDER/first.txt"
systemctl stop parceldesk-worker
