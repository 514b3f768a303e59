# What the backup has under way is delivered now. Then the old host goes.
rm "$FOLDER/refuse"
sleep 2
touch "$FOLDER/stop"
wait $LOAD
cat "$FOLDER/first.txt"
systemctl stop parceldesk-worker
