# What the load saw of the upgrade and the rollback.
touch "$FOLDER/stop"
wait $LOAD
cat "$FOLDER/second.txt"
