# Load from here on, through nginx. The receiver refuses for a moment, so that deliveries are pending.
export PLATFORM_TOKEN=$(parceldesk issue_platform_token | tail -n 1)
ask -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \
    -d "{\"url\": \"https://$RECEIVER:8443/hook\", \"type_id\": 3}" "https://$HOST/webhooks"
for N in 1 2 3 4 5 6 7 8 9 10; do
    echo "{\"kind\": \"shipment\", \"shipment_id\": $N, \"company_id\": 1," \
        "\"tracking_number\": \"TRACK$N\", \"carrier_name\": \"acme\"}"
done | parceldesk ingest -
touch "$FOLDER/received"
python3 "$FOLDER/load.py" receive &
python3 "$FOLDER/load.py" call > "$FOLDER/first.txt" 2>&1 &
LOAD=$!
sleep 8
touch "$FOLDER/refuse"
sleep 1
