#!/usr/bin/env bash
# One recording in several formats, file beside file: it counts once, and what is left out is reported.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures
facts() { jq -c '[.reader, .spans, .samples]' "$T/out"; }
warned() { jq -r "[.warnings[] | select(.code == \"$1\") | .text] | join(\" | \")" "$T/out"; }
# dispatch NAME BEGIN END: an event as rocprof v1 writes it
dispatch() {
	printf ',{"ph":"X","name":"%s","pid":"6","tid":"0","ts":"%d","dur":"1","args":{"BeginNs":"%d","EndNs":"%d","dev-id":"1","queue-id":"0","Name":"%s","pid":"4242","tid":"4242"}}\n' "$1" $(($2 / 1000)) "$2" "$3" "$1"
}

mkdir "$T/v1"
cp "$FIX/rocprof_csv/results.csv" "$T/v1/results.csv"
{
	printf '{ "traceEvents":[{}\n,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":0}\n'
	dispatch scale 2000 7000
	printf ']}\n'
} >"$T/v1/results.json"
code "a table and its events" 0 "$PROFRIG" -q info "$T/v1" --json
is "the one with more is read" "$(facts)" '["rocprof_csv",2,1]'
is "the other one is noted" "$(warned W_DUPLICATE_INPUT)" "$T/v1/results.json was left out: results.csv has the same recording"
code "by their names alike" 0 "$PROFRIG" -q info "$T/v1/results.json" "$T/v1/results.csv" --json
is "it counts once" "$(facts)" '["rocprof_csv",2,1]'
code "alone it is read" 0 "$PROFRIG" -q info "$T/v1/results.json" --json
is "with what is in it" "$(facts)" '["tef",1,0]'
gzip "$T/v1/results.json"
code "packed it is the same" 0 "$PROFRIG" -q info "$T/v1" --json
like "recording" "$(warned W_DUPLICATE_INPUT)" 'results.json.gz was left out'

cp "$FIX/rocprof_db/hip.db" "$T/v1/results.db"
code "the database has the calls" 0 "$PROFRIG" -q info "$T/v1" --json
is "and is read" "$(facts)" '["rocprof_db",8,0]'
like "what it lacks is a warning" "$(warned W_LEFT_OUT)" 'results.csv was left out, as results.db has the same recording; its format has 1 samples more'
code "which --strict takes amiss" 6 "$PROFRIG" -q analyze --strict "$T/v1" -o "$T/strict"
head -c 5000 "$FIX/rocprof_db/hip.db" >"$T/v1/results.db"
code "a damaged one" 0 "$PROFRIG" -q info "$T/v1" --json
is "is not read where another one is whole" "$(facts)" '["rocprof_csv",2,1]'
like "which is reported" "$(warned W_LEFT_OUT)" 'results.db was left out: .*; results.csv has the same recording'
rm "$T/v1/results.json.gz"
printf 'KernelName,gpu-id,queue-id,BeginNs\nf,0,0,1\n' >"$T/v1/results.csv"
code "but where the whole one is empty" 6 "$PROFRIG" -q info "$T/v1" --json
is "it is" "$(facts)" '["rocprof_db",6,0]'
printf 'Domain,Function,Thread_Id,Start_Timestamp\nH,f,1,1000\n' >"$T/v1/results.csv"
printf '[{"ph":"X","args":{"BeginNs":' >"$T/v1/results.json"
rm "$T/v1/results.db"
code "where none can be read" 5 "$PROFRIG" -q info "$T/v1"
is "each says why" "$(grep -c error: "$T/err")" 2

mkdir "$T/v3"
cp "$FIX"/rocprof_csv/run/4242_* "$T/v3"
cp "$FIX/rocpd/two-processes.db" "$T/v3/4242_results.db"
cp "$FIX/rocpd/two-processes.db" "$T/v3/4343_results.db"
code "rocprofv3's tables and its databases" 0 "$PROFRIG" -q analyze "$T/v3" -o "$T/out3"
is "of the one with both, one is read" "$(jq -r '[.inputs[].reader] | unique | join(" ")' "$T/out3/analysis.json")" "rocpd rocprof_csv"
is "the other process is read anyhow" "$(jq -r '[.inputs[].path | select(endswith(".db"))] | length' "$T/out3/analysis.json")" 2
like "what the tables have more is reported" "$(jq -r '.warnings[] | select(.code == "W_LEFT_OUT") | .text' "$T/out3/analysis.json")" '4242_.* was left out, as 4242_results.db has the same recording'

rm "$T"/v3/4343* "$T/v3/4242_results.db"
cp "$FIX/tef/rocprofv3.json" "$T/v3/4242_results.json"
code "its tables and its JSON" 0 "$PROFRIG" -q analyze "$T/v3" -o "$T/out5"
is "one of them is read" "$(jq -r '[.inputs[].reader] | unique | join(" ")' "$T/out5/analysis.json")" rocprof_csv
like "the other one is reported" "$(jq -r '.warnings[].text' "$T/out5/analysis.json")" '4242_results.json was left out: 4242_[a-z_]*.csv has the same recording'
rm "$T/v3/4242_results.json"
mkdir "$T/timeline"
cp "$FIX/tef/rocprofv3.json" "$T/timeline/4242_results.json"
cp "$FIX/perfetto/rocprofv3.pftrace" "$T/timeline/4242_results.pftrace"
code "its JSON and its timeline for Perfetto" 0 "$PROFRIG" -q info "$T/timeline" --json
is "the JSON is read" "$(jq -r .reader "$T/out")" tef
like "the timeline is noted" "$(warned W_LEFT_OUT)" '4242_results.pftrace was left out, as 4242_results.json has the same recording'
cp "$FIX/rocpd/two-processes.db" "$T/v3/4242_results.db"
"$B/tests/fixtures/gen/make_otf2" --events 50 "$T/archive" >"$T/null"
mv "$T/archive/traces.otf2" "$T/v3/4242_results.otf2"
mv "$T/archive/traces.def" "$T/v3/4242_results.def"
mv "$T/archive/traces" "$T/v3/4242_results"
code "an archive beside them" 0 "$PROFRIG" -q analyze "$T/v3/" -o "$T/out4"
is "is a third format" "$(jq -r '[.inputs[].reader] | unique | join(" ")' "$T/out4/analysis.json")" "rocpd rocprof_csv"
rm "$T"/v3/*.csv "$T"/v3/*.db
code "alone" 0 "$PROFRIG" -q info "$T/v3" --json
is "it is read" "$(jq -r .reader "$T/out")" otf2

mkdir "$T/other"
cp "$FIX/rocprof_csv/results.csv" "$T/other/results.csv"
printf '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]' >"$T/other/results.json"
code "files of other writers that are called alike" 0 "$PROFRIG" -q info "$T/other" --json
is "are read" "$(facts)" '["rocprof_csv",3,1]'
