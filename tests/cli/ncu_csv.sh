#!/usr/bin/env bash
# CSV of Nsight Compute: both pages, its numbers and units, alone, beside a trace and in a run; what is wrong with it.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures/ncu_csv
info() { "$PROFRIG" -q info "$1" --json; }
counters() { sed 1d "$1/tables/kernel_counters.csv"; }

code "the raw page" 0 "$PROFRIG" -q analyze "$FIX/raw.csv" -o "$T/raw"
is "a counter of a kernel, in base units" "$(counters "$T/raw" | grep '^gpu0,"saxpy.*dram__bytes.sum')" \
	'gpu0,"saxpy(int, float, float *, float *)",dram__bytes.sum,2,2201000000,1100500000,1000500000,1200500000,byte'
is "a value that is not there is none" "$(counters "$T/raw" | grep -c 'saxpy.*pct_of_peak.*,1,55.25,')" 1
is "kernels have their length" "$(sed 1d "$T/raw/tables/kernels.csv" | sed 's/.*",//; s/^[^,]*,void [^,]*,//' | cut -d, -f2,3 | xargs)" "2,24500 1,3200"
is "and no times, which is reported" "$(jq -r '[.warnings[] | select(.severity == "note") | .code] | unique | join(" ")' "$T/raw/analysis.json")" "W_COUNTER_UNKNOWN W_NO_TIMES"
code "the details page" 0 "$PROFRIG" -q analyze "$FIX/details.csv" -o "$T/details"
is "a label of two sections is two counters" "$(counters "$T/details" | grep -c 'Memory Throughput')" 2
is "units differ by row" "$(counters "$T/details" | grep Duration | cut -d, -f1,5,9 | xargs)" "gpu0,2848500,ns gpu1,1500000,ns"
code "a decimal comma" 0 "$PROFRIG" -q analyze "$FIX/comma.csv" -o "$T/comma"
is "is one" "$(counters "$T/comma" | cut -d, -f3,5 | xargs)" "dram__bytes.sum,27595520 gpu__time_duration.sum,117344 sm__throughput.avg.pct_of_peak_sustained_elapsed,65.77"

cat >"$T/trace.json" <<'E'
{"schemaVersion":1,"deviceProperties":[],"traceEvents":[
{"ph":"X","cat":"kernel","name":"saxpy(int, float, float*, float*)","pid":0,"tid":7,"ts":100,"dur":10,"args":{"stream":7,"device":0}},
{"ph":"X","cat":"kernel","name":"void scale<4>(float*)","pid":0,"tid":7,"ts":120,"dur":5,"args":{"stream":7,"device":0}},
{"ph":"X","cat":"kernel","name":"saxpy(int, float, float*, float*)","pid":0,"tid":8,"ts":140,"dur":11,"args":{"stream":8,"device":0}}]}
E
for order in "$FIX/raw.csv $T/trace.json" "$T/trace.json $FIX/raw.csv"; do
	# shellcheck disable=SC2086 # two files
	code "beside a trace" 0 "$PROFRIG" -q analyze $order -o "$T/both"
	is "counters are those of the trace's kernels" "$(counters "$T/both" | grep dram__bytes.sum | xargs -d '\n')" \
		'gpu0,"saxpy(int, float, float*, float*)",dram__bytes.sum,2,2201000000,1100500000,1000500000,1200500000,byte gpu0,void scale<4>(float*),dram__bytes.sum,1,250000,250000,250000,250000,byte'
	is "which are no more than before" "$(sed 1d "$T/both/tables/busy.csv" | cut -d, -f2-5)" "3,26000,26000,51000"
	is "all are joined" "$(jq '.inputs[] | select(.reader == "ncu_csv") | .facts.joined_kernels' "$T/both/analysis.json")" 3
done
sed 's/scale/other/' "$FIX/raw.csv" >"$T/other.csv"
code "a kernel that the trace lacks" 0 "$PROFRIG" -q analyze "$T/other.csv" "$T/trace.json" -o "$T/other"
like "is counted and named" "$(jq -r '.warnings[] | select(.code == "W_KERNEL_NOT_JOINED") | .text' "$T/other/analysis.json")" '^1 of 3 kernels with counters are not in the trace, the first: void other<\(int\)4>\(T1 \*\)$'
is "and in no table" "$(counters "$T/other" | grep -c other)" 0

cp "$FIX/raw.csv" "$T/raw2.csv"
code "two of them" 0 "$PROFRIG" -q analyze "$T/raw2.csv" "$FIX/details.csv" -o "$T/two"
is "are joined with a trace, and not with each other" "$(sed 1d "$T/two/tables/busy.csv" | cut -d, -f1,2 | xargs)" "gpu0,4 gpu1,2"

code "listed" 0 "$PROFRIG" list readers
like "with what it reads" "$(cat "$T/out")" 'ncu_csv .*Nsight Compute'
gzip -c "$FIX/raw.csv" >"$T/raw.csv.gz"
is "packed it is the same" "$(info "$T/raw.csv.gz" | jq '.samples')" 17
code "a summary: 5" 5 "$PROFRIG" -q info "$FIX/summary.csv"
is "has no kernels" "$(cat "$T/err")" "profrig: error: $FIX/summary.csv:1: a summary (--print-summary) has no single kernels; export with --page raw or --page details"
head -c -40 "$FIX/raw.csv" >"$T/cut.csv"
code "a file cut inside a row: 6" 6 "$PROFRIG" -q info "$T/cut.csv" --json
is "gives what was whole" "$(jq -c '[.spans, .partial]' "$T/out")" '[2,true]'
