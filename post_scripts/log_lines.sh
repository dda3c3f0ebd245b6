#!/bin/sh
# log_lines.sh FILE PATTERN: the lines of the workload's output that match, as $PROFRIG_OUT/FILE. The output itself stays as it is. What nobody logged leaves no
# file behind, so that it is missed. A line that matches and has no end was cut: it comes last and without an end, so that it is seen to be.
out=$PROFRIG_OUT/$1
for log in "$PROFRIG_RUN_DIR"/steps/*-workload.err "$PROFRIG_RUN_DIR"/steps/*-workload.out; do
	[ -s "$log" ] || continue
	if [ -n "$(tail -c 1 "$log")" ] && tail -n 1 "$log" | grep -aqE -e "$2"; then
		whole=$(($(grep -acE -e "$2" "$log") - 1))
		[ "$whole" = 0 ] || grep -aE -m "$whole" -e "$2" "$log" >>"$out"
		tail -n 1 "$log" >>"$out.cut"
	else
		grep -aE -e "$2" "$log" >>"$out"
	fi
done
if [ -s "$out.cut" ]; then
	cat "$out.cut" >>"$out"
	rm "$out.cut"
fi
[ -s "$out" ] || rm -f "$out"
exit 0
