#!/usr/bin/env bash
# A damaged file of each format: the exit code (docs/contract.md), and words that name the file, the place in it and, where there is something to do, what.
. "$(dirname "$0")/../lib.sh"
FIX=$ROOT/tests/fixtures

# cut FILE PERCENT [NAME]: its first part, in $T; hurt FILE PERCENT: sixteen bytes of it overwritten
cut() { head -c $(($(stat -c %s "$FIX/$1") * $2 / 100)) "$FIX/$1" >"$T/${3:-$(basename "$1")}"; }
hurt() {
	local to
	to=$T/$(basename "$1")
	cp "$FIX/$1" "$to"
	printf XXXXXXXXXXXXXXXX | dd of="$to" bs=1 seek=$(($(stat -c %s "$FIX/$1") * $2 / 100)) conv=notrunc status=none
}
# refused NAME FILE PATTERN: 5, and one line on stderr with the file and the pattern; nothing else is there afterwards
refused() {
	local sum
	sum=$(ls -la --time-style=full-iso "$T/$2" && sha256sum "$T/$2" && ls "$T" | wc -l)
	code "$1: 5" 5 "$PROFRIG" -q info "$T/$2"
	is "$1: one line" "$(wc -l <"$T/err")" 1
	like "$1: says where" "$(cat "$T/err")" "^profrig: error: $T/$2: $3"
	is "$1: is left as it was" "$(ls -la --time-style=full-iso "$T/$2" && sha256sum "$T/$2" && ls "$T" | wc -l)" "$sum"
}
# partly NAME FILE PATTERN: 6, PARTIAL in the words for people, an error among the warnings that matches
partly() {
	code "$1: 6" 6 "$PROFRIG" -q info --json "$T/$2"
	is "$1: is partial" "$(jq -r .partial "$T/out")" true
	like "$1: says where" "$(jq -r '.warnings[] | select(.severity == "error").text' "$T/out")" "$3"
	code "$1: analyze too" 6 "$PROFRIG" -q analyze "$T/$2" -o "$T/o"
	is "$1: and lists it" "$(jq -r '[.inputs[] | select(.partial).path] | join(" ")' "$T/o/analysis.json")" "$T/$2"
}
# odd NAME FILE CODE PATTERN: 0, a warning with its code and place
odd() {
	code "$1: 0" 0 "$PROFRIG" -q info --json "$T/$2"
	like "$1: says where" "$(jq -r ".warnings[] | select(.code == \"$3\").text" "$T/out")" "$4"
	code "$1: 6 under --strict" 6 "$PROFRIG" -q analyze --strict "$T/$2" -o "$T/o"
}
touch "$T/out" "$T/err"

cut tef/kineto.json 10
refused "tef: cut before its events" kineto.json 'byte [0-9]+: no event could be read'
cut tef/kineto.json 60
partly "tef: cut among its events" kineto.json 'ends early at byte [0-9]+'
hurt tef/kineto.json 70
partly "tef: overwritten" kineto.json 'damaged at byte [0-9]+; reading went on behind it'
cut tef/rocprofv3.json 10
refused "rocprofv3: cut before its records" rocprofv3.json 'byte [0-9]+: no record could be read'
cut tef/rocprofv3.json 60
partly "rocprofv3: cut among its records" rocprofv3.json 'ends early at byte [0-9]+; what could be found was read'
printf ',"name":1}]' >"$T/comma.json"
refused "tef: no beginning" comma.json "byte 0: a trace begins with '\[' or '\{', not ','"
cut speedscope/basic.speedscope.json 60
partly "speedscope: cut" basic.speedscope.json 'the JSON ends at byte [0-9]+; what stands before was read'
sed 's/"evented"/"flame"/' "$FIX/speedscope/basic.speedscope.json" >"$T/odd.speedscope.json"
code "speedscope: a profile of an unknown type is a note" 0 "$PROFRIG" -q info --json "$T/odd.speedscope.json"
like "with its place" "$(jq -r '.warnings[] | .code + " " + .text' "$T/out")" 'W_IGNORED_RECORD profiles of an unknown type, first at byte [1-9]'
printf 'a;b x\n' >"$T/none.folded"
code "folded: no count anywhere: 5" 5 "$PROFRIG" -q info --reader folded "$T/none.folded"
like "says where" "$(cat "$T/err")" "none.folded: line 1: "
cut folded/basic.folded 60
partly "folded: cut" basic.folded 'the last line has no line end'
awk 'BEGIN { for (i = 1; i < 9; i++) print "./rocblas-bench -f gemm -r s --transposeA N --transposeB N -m " i " -n 1 -k 1 --lda 9 --ldb 1 --ldc 99" }' | head -c 690 >"$T/lib.log"
partly "library_log: cut" lib.log 'the last record has no end: line 7: '
cut perf/basic.perf 60
partly "perf: cut" basic.perf 'the last line has no line end'
printf 'app 1/1 [000] 1.000001: 1 cycles: \n\t 7f0 f (/a)\n\nnot a sample at all\n\napp 1/1 [000] 1.000002: 1 cycles: \n\t 7f0 f (/a)\n\n' >"$T/odd.perf"
odd "perf: a line that is no sample" odd.perf W_BAD_EVENT 'first on line 4'
cut xplane/gpu.xplane.pb 60
partly "xplane: cut" gpu.xplane.pb 'the file is cut or damaged, first at byte [0-9]+'
cut perfetto/basic.pftrace 60
partly "perfetto: cut" basic.pftrace 'basic.pftrace at byte [0-9]+ of [0-9]+: a length leads behind the end'
hurt perfetto/basic.pftrace 70
odd "perfetto: overwritten" basic.pftrace W_BAD_EVENT 'packets were not understood; the first, at byte [0-9]+'
printf '\012' >"$T/bare.pftrace"
partly "perfetto: no whole packet" bare.pftrace 'at byte 0 of 1'
cut metrics_csv/two-ranks.csv 60
partly "metrics_csv: cut" two-ranks.csv 'the last row has no line end'
hurt samples/gpu.csv 70
odd "samples: overwritten" gpu.csv W_BAD_EVENT 'first on line 1[0-9]'
printf 'nothing of that kind\n' >"$T/empty.csv"
refused "samples: another text" empty.csv 'not a trace that profrig knows'
cut rocprof_csv/results.csv 60
partly "rocprof_csv: cut" results.csv "$T/results.csv:2: the text ends inside a row"
hurt rocprof_csv/results.csv 70
odd "rocprof_csv: overwritten" results.csv W_BAD_EVENT 'first on line [0-9]+'
cut ncu_csv/raw.csv 90
partly "ncu_csv: cut" raw.csv 'the last row has no line end'
sed 's/"12.50"/"12x50"/' "$ROOT/tests/fixtures/ncu_csv/raw.csv" >"$T/odd.csv"
odd "ncu_csv: a value that is no number" odd.csv W_BAD_NUMBER 'values that are no numbers, first at byte [0-9]+'
for db in rpd/v1.rpd nsys/two-processes.sqlite rocpd/two-processes.db rocprof_db/hip.db; do
	cut $db 60
	refused "${db%%/*}: a part of a database" "${db#*/}" '.*[0-9]+ of [0-9]+ bytes are there.*copy it again'
done
cut nsys/two-processes.sqlite 100
printf 'XXXXXXXXXXXXXXXX' | dd of="$T/two-processes.sqlite" bs=1 seek=20 conv=notrunc status=none
refused "nsys: a damaged header" two-processes.sqlite ''
hurt rocprof_db/hip.db 70
partly "rocprof_db: a damaged table" hip.db "table 'COPY', after row [0-9]+: .*the rest of it is missing"
gzip -c "$FIX/tef/chrome.json" | head -c 300 >"$T/chrome.json.gz"
partly "compressed: cut" chrome.json.gz 'compressed data: '
printf '\x1f\x8b\x08broken' >"$T/bad.json.gz"
refused "compressed: damaged" bad.json.gz ''
if command -v "$B/tests/fixtures/gen/make_otf2" >/dev/null; then
	"$B/tests/fixtures/gen/make_otf2" --seed 7 --threads 2 --events 400 "$T/a" >/dev/null
	truncate -s 40 "$T/a/traces/0.evt"
	partly "otf2: a cut location" a '(location|traces/0.evt|events)'
	rm "$T/a/traces.def"
	code "otf2: without its definitions: 5" 5 "$PROFRIG" -q info "$T/a/traces.otf2"
	like "says which file" "$(cat "$T/err")" "$T/a/traces.def: No such file or directory"
else
	skip "otf2" "make_otf2 is not built"
fi
for reader in $("$PROFRIG" list readers --json | jq -r '.[].name'); do
	check "$reader has a cut file here" grep -qE "^(cut|hurt|for db in|	partly) .*\\b$reader/|^	?partly \"$reader:" "$0"
done
