#!/usr/bin/env bash
# analyze on generated archives whose every figure is known, whole and damaged.
. "$(dirname "$0")/../lib.sh"
make_otf2=$B/tests/fixtures/gen/make_otf2

codes() { jq -r '[.warnings[].code] | unique | join(" ")' "$1/analysis.json"; }
functions() { tail -n +2 "$1" | cut -d, -f1,2,4-6 | sort; }
# energy FILE_OF_TRUTH TABLES: how many rows there are, and the largest difference of any energy by the counter's total
energy() {
	awk -F, 'FNR == 1 { file++; next }
		file == 1 { k = $1 FS $2 FS $3 FS $4 FS $5; want[k] = $8; ns[k] = $9; if ($5 == "") total[$1 FS $2 FS $3] = $7; else n++; next }
		{ k = $1 FS $2 FS $3 FS $4 FS $5; d = $8 - want[k]; if (d < 0) d = -d; if (!(k in want) || $9 != ns[k]) d = 1e300; d /= total[$1 FS $2 FS $3]
			if (d > max) max = d; rows++ }
		END { print rows - n, max < 1e-9 ? "equal" : "differ by " max }' "$1" "$2/energy.csv"
}

code "an archive is made" 0 "$make_otf2" --seed 5 --processes 2 --threads 2 --queues 1 --devices 2 --power 1 --events 3000 --messages 10 --idle_hosts 1 --resets 3 \
	--period_us 100 --facts "$T/facts.csv" --truth "$T/truth.csv" "$T/whole"
code "and analyzed" 0 "$PROFRIG" -q analyze "$T/whole" -o "$T/o"
is "times are the known ones" "$(functions "$T/o/tables/functions.csv")" "$(tail -n +2 "$T/facts.csv" | sort)"
is "energies too" "$(energy "$T/truth.csv" "$T/o/tables")" "0 equal"
is "counters of a node without processes are noted" "$(jq -r '[.warnings[] | select(.code == "W_NO_SHARER")] | length > 0' "$T/o/analysis.json")" true

mkdir "$T/two"
code "the same with its locations numbered otherwise" 0 "$make_otf2" --seed 5 --processes 2 --threads 2 --queues 1 --devices 2 --power 1 --events 3000 --messages 10 \
	--idle_hosts 1 --resets 3 --period_us 100 --shuffle 9 "$T/two/whole"
code "is analyzed" 0 "$PROFRIG" -q analyze "$T/two/whole" -o "$T/p"
check "and says the same" diff -r "$T/o/tables" "$T/p/tables"

code "no counter anywhere" 0 "$make_otf2" --dark_hosts 1 "$T/dark"
code "is no reason to say anything" 0 "$PROFRIG" -q analyze --strict "$T/dark" -o "$T/q"
check "or to speak of energy" test ! -e "$T/q/tables/energy.csv"

# damage
cp -r "$T/whole" "$T/cut"
truncate -s -100 "$T/cut/traces/0.evt"
code "events cut off: 6" 6 "$PROFRIG" -q analyze "$T/cut" -o "$T/r"
is "what is missing is reported, with location and file" "$(jq -r '.warnings[] | select(.code == "W_TRUNCATED").text' "$T/r/analysis.json" |
	grep -cE "^location 0 'thread 0 of 0': [0-9]+ events were read of $T/cut/traces/0.evt: ")" 1
cp -r "$T/whole" "$T/other"
cp "$T/dark/traces/0.evt" "$T/other/traces/0.evt"
code "events of another recording: 6" 6 "$PROFRIG" -q analyze "$T/other" -o "$T/r"
like "the numbers do not match" "$(jq -r '.warnings[].text' "$T/r/analysis.json")" "location 0 'thread 0 of 0': 1000 events are in $T/other/traces/0.evt, and the definitions state 3020"
truncate -s 18 "$T/cut/traces.def"
code "no definitions: 5" 5 "$PROFRIG" -q analyze "$T/cut" -o "$T/none"
is "in one line" "$(wc -l <"$T/err")" 1
check "and nothing is written" test ! -e "$T/none"

code "a function that calls itself 100 000 times" 0 "$make_otf2" --events 200000 --down 100 --depth 100000 --regions 1 --facts "$T/facts.csv" "$T/deep"
code "is analyzed" 0 timeout 300 "$PROFRIG" -q analyze --format csv "$T/deep" -o "$T/d"
is "its times are the known ones" "$(functions "$T/d/tables/functions.csv")" "$(tail -n +2 "$T/facts.csv" | sort)"
is "that it has no path for each is said" "$(codes "$T/d")" W_DEEP_STACK
