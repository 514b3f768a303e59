# The restored host sends for 15 seconds; the receiver recognizes repeats by their X-Webhook-Id.
runuser -u postgres -- psql -d parceldesk_restored \
    -c "SELECT count(*) AS under_way FROM deliveries_delivery WHERE finished_at IS NULL"
cp "$FOLDER/received" "$FOLDER/before"
(cd /opt/parceldesk/current && exec env ENV_FILE=/etc/parceldesk/restored.env timeout 15 \
    runuser -u parceldesk -- .venv/bin/celery -q -A config worker --concurrency 1 --loglevel WARNING) || true
tail -n "+$(($(wc -l < "$FOLDER/before") + 1))" "$FOLDER/received" > "$FOLDER/again"
echo "sent by the restored host: $(wc -l < "$FOLDER/again")," \
    "of these known by their X-Webhook-Id: $(sort -u "$FOLDER/again" | grep -cxFf "$FOLDER/before")"
# Start the old host again, with load, for the next sections.
systemctl start parceldesk-worker
rm "$FOLDER/stop"
python3 "$FOLDER/load.py" call > "$FOLDER/second.txt" 2>&1 &
LOAD=$!
sleep 5
