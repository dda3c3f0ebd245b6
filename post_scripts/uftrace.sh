#!/bin/sh
# uftrace's own files → Trace Event Format, as $PROFRIG_OUT/trace.json.
data=$PROFRIG_OUT/uftrace.data

# With --keep-pid the recorder is a child of the workload and writes on after it: symbols come last.
recording() {
	for comm in /proc/[0-9]*/comm; do
		name=
		read -r name 2>/dev/null <"$comm"
		[ "$name" = uftrace ] || continue
		case $(tr '\0' ' ' 2>/dev/null <"${comm%comm}cmdline") in
		*" $data "*) return 0 ;;
		esac
	done
	return 1
}

tries=0
while recording; do
	tries=$((tries + 1))
	if [ "$tries" -gt 1000 ]; then
		echo "uftrace does not finish writing $data" >&2
		exit 1
	fi
	sleep 0.2 2>/dev/null || sleep 1
done
if [ ! -e "$data/info" ]; then
	echo "uftrace left nothing in $data: it did not start, or was killed before it could write" >&2
	exit 1
fi
part=$PROFRIG_OUT/trace.json.part
if ! uftrace dump --chrome --no-pager -d "$data" >"$part"; then
	# It takes a recording without a call for an error. An empty trace says better what is wrong.
	for f in "$data"/[0-9]*.dat; do
		[ ! -s "$f" ] || exit 1
	done
	echo "uftrace recorded no call: was the program built with -pg or -finstrument-functions, and do its calls last as long as min_time?" >&2
	: >"$part"
fi
mv "$part" "$PROFRIG_OUT/trace.json"
