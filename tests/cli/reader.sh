#!/usr/bin/env bash
# --reader NAME[:DIALECT]: what a file is, in spite of its looks.
. "$(dirname "$0")/../lib.sh"
FIX=$ROOT/tests/fixtures

answers() { jq -c '[.reader, .format, .partial, .spans, .devices]' "$T/out"; }
code "rocprofv3's JSON is recognised" 0 "$PROFRIG" -q info --json "$FIX/tef/rocprofv3.json"
is "as what it is" "$(answers)" '["tef","rocprofv3 JSON",false,15,["gpu0","gpu1"]]'
code "and analysed" 0 "$PROFRIG" -q analyze "$FIX/tef/rocprofv3.json" -o "$T/v3"
is "its kernel is in the table" "$(grep -c '^gpu0,add(float\*),' "$T/v3/tables/kernels.csv")" 1

echo '[{"ph":"X","cat":"kernel","name":"k","pid":2,"tid":5,"ts":10,"dur":1}]' >"$T/odd.txt"
code "a dialect that nothing tells" 0 "$PROFRIG" -q info --json "$T/odd.txt"
is "is not guessed" "$(answers)" '["tef","Trace Event Format",false,1,[]]'
code "but can be said" 0 "$PROFRIG" -q info --json --reader tef:kineto "$T/odd.txt"
is "and the work is on its device" "$(answers)" '["tef","Trace Event Format (Kineto)",false,1,["gpu2"]]'
code "in analyze too" 0 "$PROFRIG" -q analyze --reader tef:kineto "$T/odd.txt" -o "$T/o"
is "which makes it a kernel" "$(sed -n 2p "$T/o/tables/kernels.csv" | cut -d, -f1-4)" gpu2,k,other,1

code "in convert too" 0 "$PROFRIG" -q convert --reader tef:kineto "$T/odd.txt" -o "$T/odd.speedscope.json"

printf 'a;b 4\n' >"$T/counts"
printf "four lines of prose,\nwhich are no stacks,\nand then\na;b 4\n" >"$T/unknown"
code "what nothing recognises" 5 "$PROFRIG" -q info "$T/unknown"
like "the message says so" "$(cat "$T/err")" "not a trace that profrig knows"
code "is read by whom one names" 0 "$PROFRIG" -q info --json --reader folded "$T/unknown"
is "as well as it can" "$(jq -r '.reader, (.warnings | length > 0)' "$T/out" | xargs)" "folded true"
code "a reader that cannot read it: 5" 5 "$PROFRIG" -q info --reader nsys "$T/counts"
like "with the file" "$(cat "$T/err")" "$T/counts"

mkdir "$T/dir"
cp "$T/odd.txt" "$T/dir/a.json"
cp "$T/counts" "$T/dir/b.folded"
code "in a folder each file is what it looks like" 0 "$PROFRIG" -q analyze --reader tef:kineto "$T/dir" -o "$T/d"
is "and the dialect is for that reader's files" "$(jq -c '[.inputs[].format] | sort' "$T/d/analysis.json")" '["Trace Event Format (Kineto)","folded stacks (sampled)"]'

code "an unknown reader is a usage error" 2 "$PROFRIG" -q info --reader json "$T/counts"
like "that says what there is" "$(cat "$T/err")" "no reader 'json'; there are otf2, tef"
code "an unknown dialect too" 2 "$PROFRIG" -q analyze --reader tef:torch "$T/counts" -o "$T/no"
like "that says what there is" "$(cat "$T/err")" "no dialect 'torch'; it has chrome, kineto"
code "and a dialect of a reader without" 2 "$PROFRIG" -q info --reader otf2:x "$T/counts"
