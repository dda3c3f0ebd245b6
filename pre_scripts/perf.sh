#!/bin/sh
# A recording that cannot start would take the workload with it: better to hear of it, and why, before.
probe=$PROFRIG_OUT/probe.data
if perf record --quiet -e "$PROFRIG_OPT_EVENT" -F "$PROFRIG_OPT_FREQUENCY" -k CLOCK_MONOTONIC -o "$probe" -- true >"$probe.log" 2>&1 </dev/null; then
	rm -f "$probe" "$probe.old" "$probe.log"
	exit 0
fi
cat "$probe.log" >&2
rm -f "$probe" "$probe.old" "$probe.log"
paranoid=
read -r paranoid 2>/dev/null </proc/sys/kernel/perf_event_paranoid
echo "perf cannot record '$PROFRIG_OPT_EVENT' here: kernel.perf_event_paranoid is ${paranoid:-not readable}; above 2 it takes CAP_PERFMON, in a container CAP_SYS_ADMIN (the tool asks for it) or a seccomp profile that allows perf_event_open" >&2
exit 1
