#!/bin/sh
# perf.data → text with all that the reader knows to use, as $PROFRIG_OUT/stacks.perf.
data=$PROFRIG_OUT/perf.data
part=$PROFRIG_OUT/stacks.perf.part
fields=comm,pid,tid,time,period,event,ip,sym,symoff,dso
if [ ! -s "$data" ]; then
	echo "perf left nothing in $data: it did not start, or was killed before it could write" >&2
	exit 1
fi
# Inlined frames would start addr2line for every address. Older ones know no --show-lost-events.
if ! perf script -f -i "$data" --header --ns --no-inline --show-lost-events -F "$fields" >"$part" </dev/null; then
	perf script -f -i "$data" --header --ns --no-inline -F "$fields" >"$part" </dev/null || exit 1
fi
mv "$part" "$PROFRIG_OUT/stacks.perf"
