#!/usr/bin/env bash
# CSV files of rocprofv3 and rocprof v1: a folder of one run, single files, what is wrong with them.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures/rocprof_csv
info() { "$PROFRIG" -q info "$1" --json; }

code "a run's folder" 0 "$PROFRIG" -q analyze "$FIX/run" -o "$T/run"
is "each file is an input of one reader" "$(jq -r '[.inputs[].reader] | unique | join(" ")' "$T/run/analysis.json")" rocprof_csv
is "all of them" "$(jq '.inputs | length' "$T/run/analysis.json")" 10
is "work is linked to its launches in another file" "$(jq '[.inputs[].links] | add' "$T/run/analysis.json")" 4
is "every dispatch counts once" "$(cut -d, -f1 <"$T/run/tables/kernels.csv" | sort | uniq -c | xargs)" "1 device 1 gpu0 2 gpu1"
like "by its name, whatever quotes are in it" "$(cat "$T/run/tables/kernels.csv")" 'gpu1,"reduce\(std::array<char const\*, 3ul>, ""sum, total""\)",.*,1,6000,'
is "a device is busy with kernels and copies" "$(cut -d, -f1-4 <"$T/run/tables/busy.csv" | sed 1d | xargs)" "gpu0,2,9000,9000 gpu1,2,10000,10000"
is "calls lie on their threads" "$(grep -c '^host,hipLaunchKernel,' "$T/run/tables/functions.csv")" 1
is "what was not taken twice is reported" "$(jq -r '[.warnings[].code] | unique | join(" ")' "$T/run/analysis.json")" "W_COUNTER_SHORT W_COUNTER_UNKNOWN W_DUPLICATE_INPUT W_IGNORED_RECORD"

code "rocprof v1" 0 "$PROFRIG" -q info "$FIX/results.csv" --json
is "its facts" "$(jq -c '[.reader, .format, .spans, .samples, .devices, .start_ns, .end_ns]' "$T/out")" '["rocprof_csv","rocprof v1 CSV",2,1,["gpu1"],2000,9500]'
code "a file converted from a database" 0 "$PROFRIG" -q info "$FIX/rocpd.csv" --json
is "its facts" "$(jq -c '[.format, .spans, .tracks]' "$T/out")" '["rocprofv3 CSV, API trace",2,4]'
code "a summary" 0 "$PROFRIG" -q info "$FIX/run/4242_kernel_stats.csv" --json
is "is no trace" "$(jq -c '[.spans, .definitions.calls, .warnings[0].code]' "$T/out")" '[0,3,"W_IGNORED_RECORD"]'
gzip -c "$FIX/results.csv" >"$T/results.csv.gz"
is "packed it is the same" "$(info "$T/results.csv.gz" | jq '.spans')" 2
code "a file cut inside a row: 6" 6 "$PROFRIG" -q info "$FIX/cut.csv" --json
is "gives what was whole" "$(jq -c '[.spans, .partial]' "$T/out")" '[1,true]'
like "and says where" "$(jq -r '.warnings[0].text' "$T/out")" 'cut.csv:3: the text ends inside a row'
printf 'Domain,Function,Thread_Id,Start_Timestamp\nH,f,1,1000\n' >"$T/no.csv"
code "a column that is missing: 5" 5 "$PROFRIG" -q info "$T/no.csv"
is "is named" "$(cat "$T/err")" "profrig: error: $T/no.csv:1: no column 'End_Timestamp'"
code "listed" 0 "$PROFRIG" list readers
like "with what it reads" "$(cat "$T/out")" 'rocprof_csv .*rocprofv3'
