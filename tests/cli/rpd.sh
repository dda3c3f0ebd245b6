#!/usr/bin/env bash
# RPD and rocprof v1 databases: what info and analyze say of them, whole, cut, packed, with a log beside them; the file itself stays as it was.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures/rpd
warns() { jq -r "[.warnings[] | select(.code == \"$2\") | .count] | add // 0" "$1"; }

code "info" 0 "$PROFRIG" -q info --json "$FIX/two-writers-v3.rpd"
is "names the reader and the version" "$(jq -r '.reader + ": " + .format' "$T/out")" "rpd: RPD 3"
is "counts spans, marks, samples, links" "$(jq -c '[.spans, .instants, .samples, .links]' "$T/out")" "[14,1,3,5]"
is "knows the device and the tracer's own time" "$(jq -c '[.devices, .definitions.overhead_ns]' "$T/out")" '[["gpu2"],1000]'
code "version 1 with odd values" 0 "$PROFRIG" -q info --json "$FIX/v1.rpd"
is "is read" "$(jq -c '[.format, .links, .definitions.copies_without_size]' "$T/out")" '["RPD 1",2,1]'
is "and what is odd is reported with table, row and column" "$(jq -r '.warnings[] | select(.code == "W_BAD_NUMBER") | .text' "$T/out")" \
	"table 'rocpd_api', row 2: column 'tid' holds text 'x'"

cp "$FIX/two-writers-v3.rpd" "$T/a.rpd"
chmod 444 "$T/a.rpd"
before=$(sha256sum <"$T/a.rpd")
code "analyze" 0 "$PROFRIG" -q analyze "$T/a.rpd" -o "$T/o"
is "the launch lies below its range, and the tracer's own time beside both" "$(grep -c "^thread 100,step;hipLaunchKernel,1," "$T/o/tables/callpaths.csv")/$(grep -c 'step;ApiTable' "$T/o/tables/callpaths.csv")" 1/0
is "the kernel without a launch is reported" "$(warns "$T/o/analysis.json" W_UNLINKED_WORK)" 1
check "every check holds" jq -e '.checks | all(.ok)' "$T/o/analysis.json"
is "the file is as it was" "$(sha256sum <"$T/a.rpd")" "$before"
is "and nothing lies beside it" "$(cd "$T" && echo a.rpd*)" a.rpd
code "a note is no warning under --strict" 0 "$PROFRIG" -q analyze --strict "$T/a.rpd" -o "$T/o"
code "odd values are" 6 "$PROFRIG" -q analyze --strict "$FIX/v1.rpd" -o "$T/o"

gzip -k "$T/a.rpd"
code "a packed file" 0 "$PROFRIG" -q info --json "$T/a.rpd.gz"
is "is the same" "$(jq -c '[.reader, .spans, .links]' "$T/out")" '["rpd",14,5]'

head -c -100 "$T/a.rpd" >"$T/cut.rpd"
code "a cut file is partial: 6" 6 "$PROFRIG" -q analyze "$T/cut.rpd" -o "$T/cut"
check "which is said" jq -e '.inputs[0].partial' "$T/cut/analysis.json"
head -c 700 "$T/a.rpd" >"$T/lost.rpd"
code "one of which nothing is left is an error: 5" 5 "$PROFRIG" -q analyze "$T/lost.rpd" -o "$T/lost"
like "that names the file and what is wrong" "$(cat "$T/err")" "lost.rpd: the database is cut \(700 of [0-9]+ bytes are there\); copy it again"

code "rocprof v1" 0 "$PROFRIG" -q info --json "$ROOT/tests/fixtures/rocprof_db/hip.db"
is "names its reader" "$(jq -r '.reader + ": " + .format' "$T/out")" "rocprof_db: rocprof v1 database"
is "counts spans, marks, links" "$(jq -c '[.spans, .instants, .links]' "$T/out")" "[8,1,2]"
is "and says that dispatches are there twice" "$(warns "$T/out" W_IGNORED_RECORD)" 1
