#!/bin/sh
# runTracer.sh goes on when it could not make the tables, and the trace is lost at the end of the run: better to hear of it now.
probe=$PROFRIG_OUT/probe.rpd
python3 -m rocpd.schema --create "$probe"
status=$?
size=0
[ -f "$probe" ] && size=$(wc -c <"$probe")
rm -f "$probe"
if [ "$status" -ne 0 ] || [ "$size" -eq 0 ]; then
	echo "python3 has no working rocpd module: install rocmProfileData's (make install in its rocpd_python)" >&2
	exit 1
fi
