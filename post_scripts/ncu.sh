#!/bin/sh
# The report as a table, $PROFRIG_OUT/ncu.csv. Without one the table is missing, which fails the run.
report=$PROFRIG_OUT/ncu.ncu-rep
if [ ! -s "$report" ]; then
	echo "ncu left no report: no kernel ran, or it may not read counters (ERR_NVGPUCTRPERM)" >&2
	exit 0
fi
ncu --import "$report" --csv --page raw >"$PROFRIG_OUT/ncu.csv.part" </dev/null || exit 1
mv "$PROFRIG_OUT/ncu.csv.part" "$PROFRIG_OUT/ncu.csv"
