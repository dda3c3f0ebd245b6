#!/usr/bin/env bash
# analyze, info and report on real recordings and on bad input. Known answers: the manifest of the trace set.
. "$(dirname "$0")/../lib.sh"

# rows FILE TABLE: one JSON object a row
rows() {
	jq -c ".tables[\"$2\"] | [.columns[].name] as \$n | .data | transpose | .[] | [\$n, .] | transpose | map({(.[0]): .[1]}) | add" "$1"
}
# near NAME GOT WANT TOLERANCE
near() {
	if awk -v a="$2" -v b="$3" -v e="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && a != "null" && d <= e) }'; then ok "$1"; else not_ok "$1" "got $2, want $3 ± $4"; fi
}

code "a trace that is not a trace is 5" 5 "$PROFRIG" -q analyze "$ROOT/Makefile" -o "$T/no"
is "in one line" "$(wc -l <"$T/err")" 1
code "a file that is not there is 5" 5 "$PROFRIG" -q info "$T/nothing"
code "no output directory is a usage error" 2 "$PROFRIG" -q analyze "$ROOT/Makefile"
code "an unknown analysis is a usage error" 2 "$PROFRIG" -q analyze --analysis nosuch -o "$T/no" "$ROOT/tests/fixtures"

# the closing lines name what is missing, and the warnings
calls() { # PID: two calls, the second of a long name and begun before the first one ends
	printf '{"ph":"X","name":"first","cat":"cpu_op","pid":%s,"tid":1,"ts":5,"dur":10},{"ph":"X","name":"then %030d and %030d","cat":"cpu_op","pid":%s,"tid":1,"ts":10,"dur":10}' "$1" 1 2 "$1"
}
for rank in 0 2; do
	printf '{"schemaVersion":1,"distributedInfo":{"rank":%s,"world_size":4,"backend":"nccl"},"traceEvents":[%s]}\n' $rank "$(calls 1$rank)" >"$T/rank$rank.json"
done
for cut in a b; do printf '[%s,\n' "$(calls 7)" >"$T/$cut.json"; done
code "two ranks of four, and two open arrays" 0 "$PROFRIG" analyze "$T"/rank[02].json "$T"/[ab].json -o "$T/ranks"
like "what is in no input is said" "$(cat "$T/err")" "  missing 2 of 4 ranks of the job are in no input: 1 3"
like "and what is cut, once" "$(cat "$T/err")" "  missing $T/a.json: the array of events is never closed \\(and 1 more\\)"
like "kinds of warnings have their names" "$(cat "$T/err")" "; 3 warnings \\(W_[A-Z_]+, W_[A-Z_]+, W_[A-Z_]+\\); "
like "a long name loses its middle" "$(cat "$T/err")" "  time    then 0+…0+2 "
code "quietly" 0 "$PROFRIG" -q analyze "$T"/rank[02].json "$T"/[ab].json -o "$T/ranks"
is "nothing of it is said" "$(cat "$T/err")" ""

traces=${PROFRIG_TRACES:-}
if [ -z "$traces" ]; then
	case ,${PROFRIG_REQUIRE:-}, in *,traces,*) not_ok "PROFRIG_TRACES is required" ;; esac
	skip "real recordings" "PROFRIG_TRACES is not set"
	exit 0
fi

mi=$traces/otf2/mi300a-two-kernels
before=$(cd "$mi" && find . -type f -exec sha256sum {} + | sort | sha256sum)
code "mi300a: analyze" 0 "$PROFRIG" -q analyze "$mi" -o "$T/mi"
check "mi300a: every conservation check holds" jq -e '.checks | length > 0 and all(.ok)' "$T/mi/analysis.json"
is "mi300a: error_rel never above 1e-9" "$(rows "$T/mi/report.json" energy_totals | jq -s '[.[] | select(.error_rel > 1e-9)] | length')" 0
e=A2rocm_smi:::energy_count:device
total() { rows "$T/mi/report.json" energy_totals | jq "select(.counter == \"$e=$1\" and .view == \"$2\") | .$3"; }
near "mi300a: device 0 total" "$(total 0 host total_j)" 2237.380365 1e-6
near "mi300a: device 1 total" "$(total 1 host total_j)" 1874.190017 1e-6
near "mi300a: device 2 total" "$(total 2 host total_j)" 881.594227 1e-6
near "mi300a: device 3 total" "$(total 3 host total_j)" 904.416717 1e-6
row() { rows "$T/mi/report.json" energy | jq "select(.counter == \"$e=$1\" and .view == \"$2\" and (.name == \"$3\" or (.name | startswith(\"$3(\")))) | .$4"; }
near "device view: heavy_kernel on device 0" "$(row 0 device heavy_kernel exclusive_j)" 1842.495723 2e-6
near "device view: light_kernel on device 1" "$(row 1 device light_kernel exclusive_j)" 1119.269556 2e-6
near "device view: heavy_kernel in watts" "$(row 0 device heavy_kernel mean_w)" 389.091106 1e-5
near "device view: rest of device 0" "$(row 0 device '[unattributed]' exclusive_j)" 394.884642 2e-6
near "device view: rest of device 1" "$(row 1 device '[unattributed]' exclusive_j)" 754.920461 2e-6
near "device view: all of device 2 is unattributed" "$(row 2 device '[unattributed]' exclusive_j)" 881.594227 2e-6
near "host view: main on device 0, inclusive" "$(row 0 host main inclusive_j)" 2237.285869 2e-6
near "host view: main on device 0, exclusive" "$(row 0 host main exclusive_j)" 0.158021 2e-6
near "host view: hipEventSynchronize on device 0" "$(row 0 host hipEventSynchronize exclusive_j)" 2103.391704 2e-6
near "host view: hipMemset on device 0" "$(row 0 host hipMemset exclusive_j)" 113.145195 2e-6
near "host view: hipMalloc on device 0" "$(row 0 host hipMalloc exclusive_j)" 19.597415 2e-6
near "host view: hipFree on device 0" "$(row 0 host hipFree exclusive_j)" 0.656040 2e-6
near "host view: hipLaunchKernel on device 0" "$(row 0 host hipLaunchKernel exclusive_j)" 0.296198 2e-6
near "host view: main on device 1" "$(row 1 host main inclusive_j)" 1874.111329 2e-6
near "host view: hipEventSynchronize on device 1" "$(row 1 host hipEventSynchronize exclusive_j)" 1757.976275 2e-6
near "host view: hipMemset on device 1" "$(row 1 host hipMemset exclusive_j)" 97.656524 2e-6
near "host view: hipMalloc on device 1" "$(row 1 host hipMalloc exclusive_j)" 17.417303 2e-6
is "mi300a: calls of hipMalloc" "$(rows "$T/mi/report.json" functions | jq 'select(.scope == "host" and .name == "hipMalloc") | .calls')" 4
code "mi300a: power integrated as steps" 0 "$PROFRIG" -q analyze --integration previous --format json -o "$T/mi-step" "$mi"
power() { rows "$T/mi-step/report.json" counters | jq "select(.series == \"A2rocm_smi:::current_socket_power:device=$1\") | .total"; }
near "power of device 0 as steps" "$(power 0)" 2232.101606 1e-6
near "power of device 2 as steps" "$(power 2)" 879.111577 1e-6
is "mi300a: the recording is untouched" "$(cd "$mi" && find . -type f -exec sha256sum {} + | sort | sha256sum)" "$before"
code "mi300a: info" 0 "$PROFRIG" -q info --json "$mi"
is "info: devices" "$(field "$T/out" '[.devices[] | select(startswith("gpu"))] | join(" ")')" "gpu0 gpu1 gpu2 gpu3"
is "info: spans and samples" "$(field "$T/out" '[.spans, .samples] | map(tostring) | join(" ")')" "40 72584"
cp "$T/out" "$T/kept"
code "mi300a: info without keeping it" 0 "$PROFRIG" -q info --json --sink profile --threads 2 "$mi"
check "is the same, but that links are not counted" diff <(jq -S '.links = null' "$T/kept") <(jq -S . "$T/out")

hpl="$traces/otf2/hpl-mxp-metrics"
code "metric CSV: two ranks, one without counters" 0 "$PROFRIG" -q analyze "$hpl" -o "$T/hpl"
hpl_total() { rows "$T/hpl/report.json" counters | jq "select(.series == \"$1\") | .total"; }
near "device 0" "$(hpl_total $e=0)" 4273.949346 1e-6
near "device 2" "$(hpl_total $e=2)" 4005.246886 1e-6
near "device 4" "$(hpl_total $e=4)" 4010.631309 1e-6
near "device 6" "$(hpl_total $e=6)" 4143.062311 1e-6
near "accelerator 0" "$(hpl_total A2coretemp:::craypm:accel0_energy)" 4434 0
near "accelerator 3" "$(hpl_total A2coretemp:::craypm:accel3_energy)" 4271 0
code "the file with blanks in its name" 0 "$PROFRIG" -q info --json "$hpl/MPI Rank 0_metrics.csv"
is "its reader, samples, times, ranks" "$(jq -c '[.reader, .samples, .series, .start_ns, .end_ns, .ranks]' "$T/out")" '["metrics_csv",44804,8,195360299,25001293185,[0]]'
is "its devices" "$(jq -r '.devices | join(" ")' "$T/out")" "accel0 accel1 accel2 accel3 gpu0 gpu2 gpu4 gpu6"

cp -r "$mi" "$T/holes"
chmod -R u+w "$T/holes"
rm "$T/holes/traces/103079215104.evt" "$T/holes/traces/128849018880.evt"
code "missing event files: exit 6" 6 "$PROFRIG" -q analyze "$T/holes" -o "$T/holes-out"
is "missing event files: each is counted" "$(jq '[.warnings[] | select(.code == "W_MISSING_LOCATION") | .count] | add' "$T/holes-out/analysis.json")" 2
is "and named" "$(jq -r '.warnings[] | select(.code == "W_MISSING_LOCATION").text' "$T/holes-out/analysis.json" | grep -o 'location [0-9]*' | xargs)" "location 103079215104 location 128849018880"
check "missing event files: marked partial" jq -e '.inputs[0].partial' "$T/holes-out/analysis.json"
near "missing event files: the rest is right" "$(rows "$T/holes-out/report.json" functions | jq 'select(.name == "hipFree") | .calls')" 4 0

code "report rewrites one format" 0 "$PROFRIG" -q report "$T/mi" --format csv
cp -r "$T/mi/tables" "$T/tables-before"
"$PROFRIG" -q report "$T/mi" >/dev/null 2>&1
check "a report written again has the same tables" diff -r "$T/tables-before" "$T/mi/tables"
code "two analyses of one input" 0 "$PROFRIG" -q analyze "$mi" -o "$T/mi2"
check "are byte-identical in their tables" diff -r "$T/mi/tables" "$T/mi2/tables"

# streamed: the same tables but for the percentiles, for any number of threads
tables=functions,callpaths,kernels,busy,counters,timeline
code "mi300a: into a model" 0 "$PROFRIG" -q analyze --sink model --analysis $tables "$mi" -o "$T/model"
is "analysis.json says so" "$(jq -r .sink "$T/model/analysis.json")" model
for n in 1 2 4; do
	code "mi300a: into a profile by $n threads" 0 "$PROFRIG" -q analyze --sink profile --threads $n --analysis $tables "$mi" -o "$T/profile$n"
done
is "analysis.json says so, too" "$(jq -r .sink "$T/profile1/analysis.json")" profile
is "and that percentiles are approximate" "$(jq -r '.warnings[] | select(.code == "W_APPROXIMATE") | .severity' "$T/profile1/analysis.json")" note
check "2 threads change nothing" diff -r "$T/profile1/tables" "$T/profile2/tables"
check "4 threads change nothing" diff -r "$T/profile1/tables" "$T/profile4/tables"
for t in callpaths busy counters timeline; do
	check "$t is that of the model" cmp "$T/model/tables/$t.csv" "$T/profile1/tables/$t.csv"
done
exact() { rows "$1/report.json" "$2" | jq -c 'del(.median_ns, .p95_ns)'; }
for t in functions kernels; do
	is "$t is that of the model without percentiles" "$(exact "$T/profile1" $t)" "$(exact "$T/model" $t)"
done
code "auto: what is small goes into a model" 0 "$PROFRIG" -q analyze --analysis busy "$mi" -o "$T/auto"
is "as analysis.json says" "$(jq -r .sink "$T/auto/analysis.json")" model
code "two archives are not streamed" 2 "$PROFRIG" -q analyze --sink profile "$mi" "$traces/otf2/ping-pong" -o "$T/none"
like "which is said, and what to do" "$(cat "$T/err")" "one archive at a time.*--sink model"
cp -r "$mi" "$T/mixed"
chmod -R u+w "$T/mixed"
echo '[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5}]' >"$T/mixed/other.json"
code "nor is an archive beside another trace" 2 "$PROFRIG" -q analyze --sink profile "$T/mixed" -o "$T/none"
like "which is named" "$(cat "$T/err")" "mixed/other.json lies beside"
code "but alone it is" 0 "$PROFRIG" -q analyze --sink profile --analysis busy "$T/mixed/traces/../traces.otf2" -o "$T/alone"
check "nothing was written where it is refused" test ! -e "$T/none"

for f in "$traces"/tef/*/*.gz "$traces"/tef/edge-cases/*.json; do
	name=${f#"$traces"/tef/}
	"$PROFRIG" -q info --json "$f" >"$T/out" 2>"$T/err"
	rc=$?
	if [ $rc -eq 0 ] && [ "$(jq '.spans > 0' "$T/out")" = true ]; then ok "info $name"; else not_ok "info $name" "status $rc $(cat "$T/err")"; fi
done
