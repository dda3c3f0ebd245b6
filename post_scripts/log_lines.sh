#!/bin/sh
# log_lines.sh FILE PATTERN: the lines of the workload's output that match, as $PROFRIG_OUT/FILE. The output itself stays as it is. What nobody logged leaves no
# file behind, so that it is missed.
for log in "$PROFRIG_RUN_DIR"/steps/*-workload.err "$PROFRIG_RUN_DIR"/steps/*-workload.out; do
	[ -f "$log" ] && grep -aE -e "$2" "$log" >>"$PROFRIG_OUT/$1"
done
[ -s "$PROFRIG_OUT/$1" ] || rm -f "$PROFRIG_OUT/$1"
exit 0
