#!/usr/bin/env bash
# analyze, info and report where something is wrong with what they are given or asked: nothing is read twice, lost in silence or left half done.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures
tef() { echo "[{\"ph\":\"X\",\"name\":\"$1\",\"pid\":1,\"tid\":1,\"ts\":${2:-0},\"dur\":${3:-5}}]"; }
codes() { jq -r '[.warnings[].code] | unique | join(" ")' "$1/analysis.json"; }
first_row() { sed -n 2p "$1/tables/functions.csv" | cut -d, -f1-6; }

tef f >"$T/f.json"

# what is asked
code "an unknown format is a usage error" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --format csv,nosuch
code "a format list that names nothing too" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --format ,
code "an empty output folder too" 2 "$PROFRIG" -q analyze "$T/f.json" -o ""
code "a gap of nothing too" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --max-gap 0
code "a sink there is not too" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --sink nosuch
code "no threads too" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --threads 0
code "a format that cannot be streamed too" 2 "$PROFRIG" -q analyze "$T/f.json" -o "$T/no" --sink profile
like "which says what can be" "$(cat "$T/err")" "read by 'tef', whose format cannot be streamed"
mkdir -p "$T/run" && echo '{"schema":"profrig.run/1"}' >"$T/run/run.json"
code "a run without an archive too" 2 "$PROFRIG" -q analyze "$T/run" -o "$T/no" --sink profile
like "which says why" "$(cat "$T/err")" "has no archive that can be streamed"
check "none of them wrote anything" test ! -e "$T/no"
code "an endless gap is one" 0 "$PROFRIG" -q analyze "$T/f.json" -o "$T/gap" --max-gap 1e300
tef dash >"$T/-dash.json"
code "behind -- stand inputs" 0 env -C "$T" "$PROFRIG" -q analyze -o dash -- -dash.json
is "and they are read" "$(first_row "$T/dash")" host,dash,,1,5000,5000

# what is said of it
printf '[{"ph":"X","name":"\\u001b[31mred","pid":1,"tid":1,"ts":0,"dur":5},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":5}]' >"$T/esc.json"
code "names that would command a terminal" 0 "$PROFRIG" -q info "$T/esc.json"
like "are shown without their control bytes" "$(cat "$T/out")" "inside '\?\[31mred'"

# where it goes
touch "$T/file"
code "an output folder that is a file: 4" 4 "$PROFRIG" -q analyze "$T/f.json" -o "$T/file"
is "in one line" "$(wc -l <"$T/err")" 1
is "and no path" "$(cat "$T/out")" ""
code "an output folder below a file: 4" 4 "$PROFRIG" -q analyze "$T/f.json" -o "$T/file/x/y"
code "an output folder that cannot be made: 4" 4 "$PROFRIG" -q analyze "$T/f.json" -o /proc/profrig/x
code "all formats" 0 "$PROFRIG" -q analyze "$T/f.json" -o "$T/o"
is "the path shown is the page" "$(cat "$T/out")" "$T/o/report.html"
for f in $("$PROFRIG" list reports --json | jq -r '.[].name | select(. != "mail")'); do
	code "--format $f alone" 0 "$PROFRIG" -q analyze "$T/f.json" -o "$T/only" --format $f
	check "writes the tables too, which analysis.json names" test -s "$T/only/tables/functions.csv"
	code "so that a report can be made of it" 0 "$PROFRIG" -q report "$T/only" --format html
done
mv "$T/only/tables/functions.csv" "$T/only/tables/lost.csv"
code "an analysis without one of its tables: 5" 5 "$PROFRIG" -q report "$T/only"
is "is not called anything else" "$(cat "$T/err")" "profrig: error: $T/only: $T/only/tables/functions.csv: No such file or directory"
echo mine >"$T/o/notes.txt"
code "the same folder, one format" 0 "$PROFRIG" -q analyze "$T/-dash.json" -o "$T/o" --format csv
is "the path shown is what was written" "$(cat "$T/out")" "$T/o/tables"
check "nothing of the other analysis is left" test ! -e "$T/o/report.html" -a ! -e "$T/o/report.json" -a ! -e "$T/o/folded/time.folded"
check "nothing else is touched" grep -q mine "$T/o/notes.txt"
jq -nc '[range(20000) | {ph: "X", pid: 1, tid: 1, ts: (. * 10), dur: 5, name: "f\(.)"}]' >"$T/wide.json"
if [ "$(id -u)" = 0 ] && mkdir -p "$T/small" && mount -t tmpfs -o size=16k none "$T/small" 2>/dev/null; then
	at_end "umount '$T/small'"
	code "a full disk" 6 "$PROFRIG" -q analyze "$FIX/tef/kineto.json" -o "$T/small/o"
	check "every line says why" sh -c '! grep -v "No space left" "$1"' sh "$T/err"
	is "and each only once" "$(sort "$T/err" | uniq -d | wc -l)" 0
	is "and once what to do" "$(grep -c ': make room there, or name another place, and write it again$' "$T/err")" 1
	check "no half-written file" sh -c '[ -z "$(find "$1" -name "*.tmp*")" ]' sh "$T/small"
	# A file of megabytes fails in its middle, long before its end is written.
	"$PROFRIG" -q analyze "$T/wide.json" -o "$T/roomy" --format json >"$T/out"
	half=$(($(du -k "$T/roomy/report.json" | cut -f1) / 2))
	rm -rf "$T/small/o"
	mount -o "remount,size=${half}k" "$T/small"
	code "a disk that is full in the middle of report.json" 6 "$PROFRIG" -q analyze "$T/wide.json" -o "$T/small/o" --format json
	like "is called nothing else" "$(head -n 1 "$T/err")" "/report\\.json: No space left on device: make room there"
	rm -rf "$T/small/o"
	mount -o "remount,size=64k" "$T/small"
	code "nor by convert" 4 "$PROFRIG" -q convert "$T/wide.json" -o "$T/small/wide.speedscope.json"
	is "which says what to do too" "$(cat "$T/err")" "profrig: error: $T/small/wide.speedscope.json: No space left on device: make room there, or name another place, and write it again"
else
	skip "a full disk" "needs to mount a small file system"
fi

# No memory: what there was of it decides where that is noticed, never how it ends. (Sanitizers take more than any of these.)
jq -nc '[range(60000) | {ph: "X", pid: 1, tid: 1, ts: (. * 10), dur: 5, name: "f\(.)"}]' >"$T/large.json"
short_of() { # KIB COMMAND…
	(
		ulimit -v "$1" || exit 99
		shift
		exec "$@"
	) >"$T/out" 2>"$T/err"
}
if short_of 30000 "$PROFRIG" --version; then
	for command in "info" "analyze -o $T/none" "convert -o $T/none.folded"; do
		ended= lines=0 died=0
		for kib in 25000 28000 32000 36000 40000; do
			short_of $kib "$PROFRIG" -q $command "$T/large.json"
			ended="$ended$? " lines=$((lines + $(wc -l <"$T/err")))
			died=$((died + $(grep -c "^profrig: error: out of memory: what was not finished is not there; leave it more memory (other programs, ulimit -v), or give it fewer inputs$" "$T/err")))
		done
		is "${command%% *} without memory: 5 each time, in one line" "$ended$lines" "5 5 5 5 5 5"
		check "${command%% *}: which says what to do" test $died -ge 2
	done
	check "nothing is left behind" sh -c '[ -z "$(find "$1" -name ".profrig-*")" ] && ! test -e "$1/none.folded"' sh "$T"
	codes= said=
	for kib in 45000 48000 52000 56000; do
		short_of $kib "$PROFRIG" -q run -o "$T/short" --engine host --tools-dir "$ROOT/tests/fixtures/tools" --tools outs -- sh -c "cp '$FIX/tef/kineto.json' \$OUTS/may.json; cp '$T/large.json' \$OUTS/must.json"
		codes="$codes $?" said=$said$(sed 's/$/;/' "$T/err")
	done
	like "a run whose analysis finds no memory: 6" "$codes" " 6"
	like "its directory is complete, and that is said" "$said" "profrig: error: out of memory: the run directory is complete, 'profrig report $T/short/[^ ]*' analyses it where there is more;"
else
	skip "no memory" "this build takes more than 30 MB to say its version"
fi

# what is given
code "a file named twice" 0 "$PROFRIG" -q analyze "$T/f.json" "$T/./f.json" -o "$T/twice"
is "counts once" "$(first_row "$T/twice")" host,f,,1,5000,5000
is "which is noted" "$(codes "$T/twice")" W_DUPLICATE_INPUT
mkdir "$T/folder"
cp "$T/f.json" "$T/folder/a.json"
echo hello >"$T/folder/README"
printf '\x1f\x8b\x08broken' >"$T/folder/z.json.gz"
code "a folder with a damaged file" 6 "$PROFRIG" -q analyze "$T/folder" -o "$T/folder/out"
is "reads the others" "$(first_row "$T/folder/out")" host,f,,1,5000,5000
is "and says what it could not read and what is no trace" "$(codes "$T/folder/out")" "W_IGNORED_FILE W_UNREADABLE"
is "the damaged one is listed as partial" "$(jq -r '.partial, (.inputs[] | select(.partial).path)' "$T/folder/out/analysis.json" | xargs)" "true $T/folder/z.json.gz"
cp -r "$T/folder/out" "$T/before"
code "again, with its own output inside" 6 "$PROFRIG" -q analyze "$T/folder" -o "$T/folder/out"
check "the tables are the same" diff -r "$T/before/tables" "$T/folder/out/tables"
is "and the warnings" "$(jq -c .warnings "$T/folder/out/analysis.json")" "$(jq -c .warnings "$T/before/analysis.json")"
code "one input of two is missing: 6" 6 "$PROFRIG" -q info --json "$T/f.json" "$T/none.json"
is "and info says so" "$(jq -r '.partial, .warnings[0].code' "$T/out" | xargs)" "true W_UNREADABLE"
rm "$T/folder/z.json.gz"
mkdir "$T/here"
cp "$T/f.json" "$T/here"
for i in 1 2; do
	code "a folder into itself, $i" 0 env -C "$T/here" "$PROFRIG" -q analyze . -o .
	is "is read, $i" "$(jq -c '[.inputs[].path]' "$T/here/analysis.json")" '["./f.json"]'
done
mkfifo "$T/folder/pipe"
ln -s . "$T/folder/loop"
code "a pipe and a link to itself in a folder" 0 timeout 120 "$PROFRIG" -q analyze "$T/folder" -o "$T/pipe"
code "a pipe" 5 timeout 120 "$PROFRIG" -q analyze "$T/folder/pipe" -o "$T/pipe"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -p "$T/perm/locked" "$T/open"
	cp "$T/f.json" "$T/perm/a.json"
	cp "$T/-dash.json" "$T/perm/locked/b.json"
	cp "$T/-dash.json" "$T/perm/c.json"
	chmod 0 "$T/perm/locked" "$T/perm/c.json"
	chmod 755 "$T"
	chmod 777 "$T/open"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups "$PROFRIG" -q)
	code "what may not be read does not hide the rest" 6 "${nobody[@]}" analyze "$T/perm" -o "$T/open/o"
	is "which is there" "$(first_row "$T/open/o")" host,f,,1,5000,5000
	is "a folder and a file are reported" "$(grep -c 'Permission denied' "$T/err")" 2
	code "a folder that may not be read" 5 "${nobody[@]}" analyze "$T/perm/locked" -o "$T/open/p"
	code "an output folder that may not be written: 4" 4 "${nobody[@]}" analyze "$T/perm/a.json" -o "$T/perm/o"
	chmod -R a+rX "$T/only"
	mv "$T/only/tables/lost.csv" "$T/only/tables/functions.csv"
	code "a report where nothing may be written: 4" 4 "${nobody[@]}" report "$T/only"
	is "names no file" "$(cat "$T/out")" ""
else
	skip "files that may not be read" "needs root to become somebody else"
fi

# metric CSV
csv=$FIX/metrics_csv
samples() { jq -r '[.reader, .samples] | join(" ")' "$T/out"; }
code "nothing but a header is no error" 0 "$PROFRIG" -q info --json "$csv/header-only.csv"
is "it holds nothing" "$(samples)" "metrics_csv 0"
gzip -c "$csv/two-ranks.csv" >"$T/two ranks.csv.gz"
code "two ranks, compressed" 0 "$PROFRIG" -q info --json "$T/two ranks.csv.gz"
is "are read" "$(samples) $(jq -c .ranks "$T/out")" "metrics_csv 13 [0,1]"
code "a row that is cut: 6" 6 "$PROFRIG" -q analyze "$csv/cut.csv" -o "$T/csv"
is "the rows before it count" "$(codes "$T/csv") $(jq '.inputs[0].samples' "$T/csv/analysis.json")" "W_COUNTER_SHORT W_COUNTER_UNKNOWN W_TRUNCATED 1"
head -c 120 "$T/two ranks.csv.gz" >"$T/cut.csv.gz"
code "compressed data that is cut: 6" 6 "$PROFRIG" -q info "$T/cut.csv.gz"
code "cells that are no numbers" 0 "$PROFRIG" -q info "$csv/bad-rows.csv"
like "are reported with their lines" "$(cat "$T/out")" "W_BAD_NUMBER .*first on line 6"
code "which --strict does not take" 6 "$PROFRIG" -q analyze --strict "$csv/bad-rows.csv" -o "$T/csv"
code "another header: 5" 5 "$PROFRIG" -q info "$csv/not-metrics.csv"

# --strict
code "--strict: a warning is 6" 6 "$PROFRIG" -q analyze --strict "$FIX/tef/cut-object.json" -o "$T/strict"
like "which names it" "$(cat "$T/err")" '--strict: W_[A-Z_]+, 1 of them, the first: '
printf '# clock: CLOCK_MONOTONIC\nt_ns,energy.gpu0[J]\n0,10\n1000000000,5\n' >"$T/reset.csv"
code "--strict: energy alone knows what is odd about its counters" 6 "$PROFRIG" -q analyze --strict --analysis energy "$T/reset.csv" -o "$T/strict"
is "which stand beside it" "$(sed -n 2p "$T/strict/tables/counters.csv" | cut -d, -f1,19)" energy.gpu0,reset
code "--strict: without a warning 0" 0 "$PROFRIG" -q analyze --strict "$T/f.json" -o "$T/strict"

# runs
run() { # NAME ARTIFACTS: a small run directory
	mkdir -p "$T/runs/$1/artifacts/t"
	tef "$1" >"$T/runs/$1/artifacts/t/t.json"
	echo "{\"schema\": \"profrig.run/1\", \"id\": \"$1\", \"artifacts\": [$2]}" >"$T/runs/$1/run.json"
}
good='{"tool": "t", "path": "artifacts/t/t.json", "reader": "tef", "verdict": "valid"}'
run one "$good"
run two "$good"
ln -s one "$T/runs/latest"
code "a run" 0 "$PROFRIG" -q analyze "$T/runs/one" -o "$T/run"
is "is read" "$(first_row "$T/run")" host,one,,1,5000,5000
code "a folder of runs is no one analysis" 2 "$PROFRIG" -q analyze "$T/runs" -o "$T/no"
code "nor are runs and a trace" 2 "$PROFRIG" -q analyze "$T/runs/one" "$T/runs/two" "$T/f.json" -o "$T/no"
code "nor has info words for two runs" 2 "$PROFRIG" -q info "$T/runs/one" "$T/runs/two"
check "nothing was written" test ! -e "$T/no"
code "one run by two names is one" 0 "$PROFRIG" -q analyze "$T/runs/one" "$T/runs/latest" -o "$T/run"
is "and counts once" "$(first_row "$T/run")" host,one,,1,5000,5000
run twice "$good, $good"
code "an artifact listed twice" 0 "$PROFRIG" -q analyze "$T/runs/twice" -o "$T/run"
is "counts once too" "$(first_row "$T/run")" host,twice,,1,5000,5000
run lost "$good, ${good/t.json/gone.json}, ${good/artifacts/..\/one\/artifacts}, ${good/tef/nosuch}"
code "artifacts that are gone, outside or of an unknown kind: 6" 6 "$PROFRIG" -q analyze "$T/runs/lost" -o "$T/run"
is "each is reported" "$(grep -c artifact "$T/err")" 3
is "and listed as partial" "$(jq '[.inputs[] | select(.partial)] | length' "$T/run/analysis.json")" 3
is "the good one is read" "$(first_row "$T/run")" host,lost,,1,5000,5000
run bad "${good/t.json/bad.json}"
echo nothing >"$T/runs/bad/artifacts/t/bad.json"
code "a run whose only trace is no trace still has a report" 6 "$PROFRIG" -q report "$T/runs/bad"
check "which is there" test -s "$T/runs/bad/analysis/report.html"
run new ""
sed -i 's,profrig.run/1,profrig.run/2,' "$T/runs/new/run.json"
code "a run of a later profrig: 5" 5 "$PROFRIG" -q analyze "$T/runs/new" -o "$T/no"
mkdir "$T/foreign"
echo '{"schema": "other", "id": 1}' >"$T/foreign/run.json"
cp "$T/f.json" "$T/foreign"
code "somebody else's run.json makes no run" 0 "$PROFRIG" -q analyze "$T/foreign" -o "$T/run"
is "so the traces beside it are read" "$(first_row "$T/run")" host,f,,1,5000,5000
