#!/usr/bin/env bash
# An archive that is larger than memory: a run collects, judges and analyses it all the same, as its records are counted and streamed.
. "$(dirname "$0")/../lib.sh"
make_otf2=$B/tests/fixtures/gen/make_otf2
cd "$T" || exit 1
printf 'name: mt\nabout: leaves an archive\nclass: env\nenv: {A: "1"}\noutputs: [{glob: "*/traces.otf2", reader: otf2, required: true, min_records: 1}]\n' >mt.yaml
run() { # DIR ARCHIVE WORDS…
	local out=$1 archive=$2
	shift 2
	"$PROFRIG" -q run -o "$out" --engine host --tools-dir "$T" --tools mt "$@" -- sh -c "cp -r '$archive' \"\$PROFRIG_RUN_DIR/artifacts/mt/a\""
}
artifact() { jq -r ".artifacts[0].$1" "$2"/2*/run.json; }
limited() { (ulimit -v 150000 && "$@"); }

"$make_otf2" --threads 4 --energy 0 --regions 16 --events 2500000 "$T/big" >"$T/null"
code "an archive that does not fit into memory" 0 limited run large "$T/big"
is "is valid" "$(artifact verdict large)" valid
is "with all of its calls" "$(artifact records large)" 5000000
is "it was streamed" "$(jq -r .sink large/2*/analysis.json large/2*/*/analysis.json 2>"$T/null")" profile
is "nothing is missing" "$(jq -r '[.warnings[] | select(.severity != "note")] | length' large/2*/run.json)" 0
is "its functions have all calls" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "calls") c = i } NR > 1 { n += $c } END { print n }' "$(find large -name functions.csv)")" 5000000
limited "$PROFRIG" -q analyze --sink model large/2* -o kept >"$T/out" 2>"$T/err"
check "kept in memory it does not fit" test $? -ne 0

# What is counted is what a model has: calls that were never left, messages without a partner, locations that are not there.
"$make_otf2" --processes 2 --queues 1 --events 500 --messages 20 "$T/cut" >"$T/null"
first=$(find cut/traces -name '*.evt' | sort | head -n 1)
head -c 700 "$first" >half && mv half "$first"
code "a cut archive fails the run" 7 run cut.runs "$T/cut" --no-analyze
is "it is damaged" "$(artifact verdict cut.runs)" damaged
like "which is said" "$(artifact reason cut.runs)" "the file is cut in a record at byte"
is "with what is there of it" "$(artifact records cut.runs)" "$("$PROFRIG" -q info --json cut/traces.otf2 2>"$T/null" | jq '.spans + .samples')"
rm "$first"
code "as does one that lacks a location" 7 run lacks.runs "$T/cut" --no-analyze
is "which is counted, too" "$(artifact records lacks.runs)" "$("$PROFRIG" -q info --json cut/traces.otf2 2>"$T/null" | jq '.spans + .samples')"
