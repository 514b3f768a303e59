# Print the load's counts during the upgrade and the rollback.
touch "$FOLDER/stop"
wait $LOAD
cat "$FOLDER/second.txt"
