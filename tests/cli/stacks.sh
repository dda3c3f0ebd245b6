#!/usr/bin/env bash
# Sampled stacks as inputs: perf script, folded and speedscope files through info and analyze.
. "$(dirname "$0")/../lib.sh"
FIX=$ROOT/tests/fixtures

answers() { jq -c '[.reader, .partial, .tracks, .spans, .start_ns, .end_ns]' "$T/out"; }
code "perf: info" 0 "$PROFRIG" -q info --json "$FIX/perf/basic.perf"
is "its reader, tracks, spans, times" "$(answers)" '["perf",false,3,11,10000000000,10510000000]'
is "what a sample counts" "$(jq -c '[.definitions.stack_samples, .definitions.sample_ns]' "$T/out")" '[4,10000000]'
code "folded: info" 0 "$PROFRIG" -q info --json "$FIX/folded/basic.folded"
is "its reader, tracks, spans, times" "$(answers)" '["folded",false,1,4,0,10]'
code "speedscope: info" 0 "$PROFRIG" -q info --json "$FIX/speedscope/basic.speedscope.json"
is "its reader, tracks, spans, times" "$(answers)" '["speedscope",false,2,5,0,14000]'

code "folded: analyze" 0 "$PROFRIG" -q analyze "$FIX/folded/basic.folded" -o "$T/folded"
is "callpaths have the counts" "$(tail -n +2 "$T/folded/tables/callpaths.csv" | awk -F, '{ print $2, $6 }' | sort | tr '\n' ' ')" "idle 4 main 1 main;work 2 main;work;leaf 3 "
check "sampled is reported" grep -q '^host,leaf,sampled kernel,1,3,3,' "$T/folded/tables/functions.csv"
is "and come out as they came in" "$(sort "$T/folded/folded/time.folded" | tr '\n' ' ')" "idle 4 main 1 main;work 2 main;work;leaf 3 "
check "sums hold" jq -e '.checks | length > 0 and all(.ok)' "$T/folded/analysis.json"
code "perf: analyze, compressed" 0 "$PROFRIG" -q analyze "$ROOT/tests/fuzz/corpus/perf/packed.perf.gz" -o "$T/perf"
is "inclusive time of main" "$(awk -F, '$2 == "main" { print $5 }' "$T/perf/tables/functions.csv")" 30000000
code "speedscope: analyze" 0 "$PROFRIG" -q analyze "$FIX/speedscope/basic.speedscope.json" -o "$T/speed"
is "calls and samples are told apart" "$(awk -F, '$2 == "a" { print $3 ":" $4 ":" $5 }' "$T/speed/tables/functions.csv" | sort | tr '\n' ' ')" ":1:14000 sampled:1:4 "

head -c 700 "$FIX/perf/basic.perf" >"$T/cut.perf"
code "perf: a text that is cut is partial" 6 "$PROFRIG" -q info --json "$T/cut.perf"
is "and says so" "$(jq -r '.warnings[].code' "$T/out")" W_TRUNCATED
printf 'a;b 1\na;c 1' >"$T/cut.folded"
code "folded: a count that may be cut is partial" 6 "$PROFRIG" -q info "$T/cut.folded"
head -c 400 "$FIX/speedscope/basic.speedscope.json" >"$T/cut.speedscope.json"
code "speedscope: a text that is cut is partial" 6 "$PROFRIG" -q info "$T/cut.speedscope.json"
printf 'a;b 1\na;c -1\n' >"$T/odd.folded"
code "odd counts are warnings" 0 "$PROFRIG" -q info --json "$T/odd.folded"
is "with their line" "$(jq -r '.warnings[] | .code + " " + .text' "$T/out")" "W_NEGATIVE_DURATION negative counts, first on line 2"
printf '{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {' >"$T/no.speedscope.json"
code "nothing readable is 5" 5 "$PROFRIG" -q info "$T/no.speedscope.json"
like "with file and offset" "$(cat "$T/err")" 'no.speedscope.json: offset [0-9]+: '
