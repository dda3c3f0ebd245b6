#!/bin/sh
# start or stop: tells every process of this run that has RPD's remote library loaded, by the signals that it takes.
# A signal to any other process would end it.
case $1 in
start) signal=USR1 ;;
stop) signal=USR2 ;;
*)
	echo "usage: $0 start|stop" >&2
	exit 2
	;;
esac
told=0
for maps in /proc/[0-9]*/maps; do
	pid=${maps#/proc/}
	pid=${pid%/maps}
	grep -q 'librpd_remote\.so' "$maps" 2>/dev/null || continue
	tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qxF "PROFRIG_RUN_ID=$PROFRIG_RUN_ID" || continue
	kill -s "$signal" "$pid" 2>/dev/null && told=$((told + 1))
done
[ "$told" -gt 0 ] && exit 0
echo "no process of this run has librpd_remote.so loaded" >&2
exit 1
