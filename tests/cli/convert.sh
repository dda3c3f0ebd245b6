#!/usr/bin/env bash
# convert: traces in other formats, parts of them, and what is said of it.
. "$(dirname "$0")/../lib.sh"
FIX=$ROOT/tests/fixtures

# 20 calls of 90 ns every 100 ns, each with a kernel of its own; a counter; a mark in the middle.
awk 'BEGIN {
	print "[{\"ph\":\"M\",\"name\":\"profrig\",\"args\":{\"tracer\":\"test\",\"clock\":\"CLOCK_MONOTONIC\"}}"
	for (i = 0; i < 20; i++) {
		printf ",{\"ph\":\"X\",\"name\":\"step %d\",\"pid\":7,\"tid\":7,\"ts\":%.3f,\"dur\":0.090,\"args\":{\"i\":%d}}\n", i, i / 10, i
		printf ",{\"ph\":\"C\",\"name\":\"load\",\"pid\":7,\"ts\":%.3f,\"args\":{\"value\":%d}}\n", i / 10, i
	}
	print ",{\"ph\":\"i\",\"name\":\"half\",\"pid\":7,\"tid\":7,\"ts\":1.0}]"
}' >"$T/in.json"
counts() { "$PROFRIG" -q info --json "$1" | jq -c '[.tracks, .spans, .instants, .samples, .series, .links, .start_ns, .end_ns, .clock.kind]'; }

code "to Trace Event Format" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.json"
is "one line says what was written" "$(cat "$T/out")" "$T/out.json: 21 spans, 20 samples, 0 links, $(cat "$T/out" | sed 's/.*links, //')"
check "it is JSON" jq -e '.traceEvents | length > 40' "$T/out.json"
is "what comes back is what went in" "$(counts "$T/out.json")" "$(counts "$T/in.json")"
is "arguments too" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .args.i] | [length, add]' "$T/out.json")" '[20,190]'
check "in order of time" jq -e '[.traceEvents[] | select(.ph != "M") | .ts] | . == sort' "$T/out.json"
for z in gz zst; do
	code "compressed: $z" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.json.$z"
	is "and read again" "$(counts "$T/out.json.$z")" "$(counts "$T/in.json")"
done
check "gzip reads it" gzip -t "$T/out.json.gz"
code "to an OTF2 archive" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.otf2"
check "a folder with the archive in it" test -f "$T/out.otf2/traces.otf2"
is "what comes back is what went in" "$(counts "$T/out.otf2")" "$(counts "$T/in.json")"
code "and goes on from there" 0 "$PROFRIG" -q convert "$T/out.otf2" -o "$T/again.json"
is "to the same" "$(counts "$T/again.json")" "$(counts "$T/in.json")"
if command -v otf2-print >/dev/null; then
	is "others read it" "$(otf2-print "$T/out.otf2/traces.otf2" | grep -c '^ENTER')" 21
else
	skip "others read it" "otf2-print is not installed"
fi
code "to Perfetto's protobuf" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.pftrace"
is "what comes back is what went in" "$(counts "$T/out.pftrace")" "$(counts "$T/in.json")"
is "read by its own reader" "$("$PROFRIG" -q info --json "$T/out.pftrace" | jq -r .reader)" perfetto
check "smaller than JSON" test "$(stat -c %s "$T/out.pftrace")" -lt "$(stat -c %s "$T/out.json")"
code "with kernels, flows, arguments" 0 "$PROFRIG" -q convert "$FIX/tef/kineto.json" -o "$T/kineto.pftrace.gz"
is "which come back" "$(counts "$T/kineto.pftrace.gz")" "$(counts "$FIX/tef/kineto.json")"
if need protoc protoc --version; then
	decoded() { protoc -I "$FIX/gen" --decode=Trace "$FIX/gen/perfetto.proto" >"$T/decoded"; }
	check "protoc reads it" decoded <"$T/out.pftrace"
	is "as many slices, instants and values" "$(grep -c 'type: SLICE_BEGIN' "$T/decoded") $(grep -c 'type: SLICE_END' "$T/decoded") $(grep -c 'type: INSTANT' "$T/decoded") $(grep -c 'type: COUNTER' "$T/decoded")" "20 20 1 20"
	is "and nothing that the schema lacks" "$(grep -cE '^ *[0-9]+[:{ ]' "$T/decoded")" 0
	check "names are there once" test "$(grep -c 'text: "half"' "$T/decoded")" = 1
	gzip -dc "$T/kineto.pftrace.gz" >"$T/kineto.pftrace"
	check "protoc reads kernels and flows" decoded <"$T/kineto.pftrace"
	is "all of them" "$(grep -c 'type: SLICE_BEGIN' "$T/decoded") $(grep -c 'flow: ' "$T/decoded")" \
		"$("$PROFRIG" -q info --json "$FIX/tef/kineto.json" | jq -r '"\(.spans - .instants) \(.links * 2)"')"
	is "and nothing else either" "$(grep -cE '^ *[0-9]+[:{ ]' "$T/decoded")" 0
else
	skip "protoc reads it" "protoc is not installed (protobuf-compiler)"
fi
code "it is replaced" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.otf2" --window 0%:50%
is "as a whole" "$("$PROFRIG" -q info --json "$T/out.otf2" | jq .spans)" 10
mkdir "$T/mine.otf2" && echo mine >"$T/mine.otf2/traces.otf2"
code "what profrig did not write is not" 4 "$PROFRIG" -q convert "$T/in.json" -o "$T/mine.otf2"
like "is reported with what to do" "$(cat "$T/err")" "not written by profrig: choose another name"
is "it is still there" "$(cat "$T/mine.otf2/traces.otf2")" mine
code "to speedscope's format" 0 "$PROFRIG" convert "$T/in.json" -o "$T/out.speedscope.json"
like "what it has no place for is reported" "$(cat "$T/err")" 'speedscope has no place .* 1 spans, 20 samples'
is "and is not in it" "$("$PROFRIG" -q info --json "$T/out.speedscope.json" | jq -c '[.reader, .spans, .samples]')" '["speedscope",20,0]'
code "to folded stacks" 0 "$PROFRIG" -q convert "$T/in.json" -o "$T/out.folded"
is "with all of the time" "$(awk '{ n += $NF } END { print NR, n }' "$T/out.folded")" "20 1800"
code "as JSON" 0 "$PROFRIG" -q convert --json "$T/in.json" -o "$T/out.json"
is "all is counted" "$(jq -c '[.format, .files, .spans, .samples, .left_out.spans, .outside_window.spans]' "$T/out")" '["tef",1,21,20,0,0]'
code "a format by name" 0 "$PROFRIG" -q convert "$T/in.json" --to folded -o "$T/stacks.txt"
check "is written" grep -q '^step 3 90$' "$T/stacks.txt"

# start and end of the spans, samples
window() {
	"$PROFRIG" -q convert "$T/in.json" -o "$T/w.json" --window "$1" >/dev/null || return
	jq -c '[([.traceEvents[] | select(.ph == "X")] | length, (map(.dur * 1000 | round) | add)), ([.traceEvents[] | select(.ph == "C")] | length)]' "$T/w.json"
}
is "a window in ns cuts at its edges" "$(window 150:350)" '[3,180,4]'
is "in other units" "$(window 0.15us:0.00035ms)" '[3,180,4]'
is "in parts" "$(window 0%:50%)" '[10,900,11]'
is "from here on" "$(window 1.8us:)" '[2,180,2]'
is "up to there" "$(window :90)" '[1,90,2]'
is "by the name of a span" "$(window 'step 4')" '[1,90,2]'
is "by a mark: from there on" "$(window half)" '[10,900,10]'
code "a window that is none" 2 "$PROFRIG" convert "$T/in.json" -o "$T/w2.json" --window 'step 99'
like "is reported with what would be one" "$(cat "$T/err")" "'step 99' is no window: FROM:TO .*10%:90%"
code "a window backwards" 2 "$PROFRIG" convert "$T/in.json" -o "$T/w2.json" --window 5:4
check "nothing is written then" test ! -e "$T/w2.json"

jq -c '[.[]] + [range(300) | {ph: "X", name: "more", pid: 7, tid: 7, ts: (3 + . / 10), dur: 0.05}]' "$T/in.json" >"$T/long.json"
code "several files" 0 "$PROFRIG" -q convert "$T/long.json" -o "$T/p.json.gz" --split-size 4k
is "hold every span once" "$(zcat "$T"/p-*.json.gz | jq -s '[.[].traceEvents[] | select(.ph == "X" or .ph == "i")] | length')" 321
check "there are more than one" test -e "$T/p-1.json.gz"
code "read together" 0 "$PROFRIG" -q info --json "$T"/p-*.json.gz
is "they have all of it" "$(jq -c '[.spans, .samples, .start_ns, .end_ns]' "$T/out")" "$(counts "$T/long.json" | jq -c '[.[1], .[3], .[6], .[7]]')"
code "fewer files than before" 0 "$PROFRIG" convert "$T/long.json" -o "$T/p.json.gz" --split-size 40k
like "those that are left are reported" "$(cat "$T/err")" "p-[0-9]*.json.gz is of an earlier conversion"
for s in 12 4kk -5M NaN; do
	code "a size '$s'" 2 "$PROFRIG" convert "$T/in.json" -o "$T/p.json" --split-size $s
done
code "parts of a format that has none" 2 "$PROFRIG" convert "$T/in.json" -o "$T/p.folded" --split-size 1M

code "no output" 2 "$PROFRIG" convert "$T/in.json"
like "is reported with the endings there are" "$(cat "$T/err")" 'speedscope.json \(speedscope\)'
code "an ending that says nothing" 2 "$PROFRIG" convert "$T/in.json" -o "$T/out.xyz"
code "a format that is none" 2 "$PROFRIG" convert "$T/in.json" -o "$T/out.json" --to xyz
code "no input" 2 "$PROFRIG" convert -o "$T/out.json"
code "the input as output" 2 "$PROFRIG" convert "$T/in.json" -o "$T/in.json"
check "it is left alone" jq -e 'length == 42' "$T/in.json"
code "what is not there" 5 "$PROFRIG" convert "$T/none.json" -o "$T/none.out.json"
check "makes no output" test ! -e "$T/none.out.json"
code "a folder that cannot be written" 4 "$PROFRIG" convert "$T/in.json" -o /proc/x/out.json
code "a disk that is full" 4 sh -c "ulimit -f 1; trap '' XFSZ; exec '$PROFRIG' -q convert '$T/in.json' -o '$T/full.json'"
check "leaves nothing" test -z "$(ls -A "$T" | grep full.json)"
head -c 1500 "$T/in.json" | sed 's/^\[/{"traceEvents":[/' >"$T/cut.json"
code "an input that is cut is partial" 6 "$PROFRIG" -q convert "$T/cut.json" -o "$T/cut.out.json"
check "what there was is written" jq -e '.traceEvents | length > 3' "$T/cut.out.json"
code "several inputs are one file" 0 "$PROFRIG" -q convert "$T/in.json" "$FIX/speedscope/basic.speedscope.json" -o "$T/both.json"
is "with the spans of both" "$("$PROFRIG" -q info --json "$T/both.json" | jq .spans)" 26
