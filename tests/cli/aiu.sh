#!/usr/bin/env bash
# Traces of AIU accelerators: what analyze says of clocks, phases and ideal cycles (docs/aiu.md).
. "$(dirname "$0")/../lib.sh"
FLEX=$ROOT/tests/fixtures/tef/flex.json

cat >"$T/ideal.log" <<'EOF'
DECODING
~~~~ Ideal/Total Cycles ~~~~
Name                          Ideal Cy.
convolution-opCatConv_fp16    50000
add_0-opCatAdd                0
add_1-opCatAdd                0
add_2-opCatAdd                0
Total                         50000
====== Perf Summary End ======
EOF
cell() { # table row column
	python3 - "$1" "$2" "$3" <<'EOF'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(rows[int(sys.argv[2])][sys.argv[3]])
EOF
}

code "a trace" 0 "$PROFRIG" -q analyze "$FLEX" --ideal "$T/ideal.log" --freq 560:1000 --format csv -o "$T/a"
is "the measured clock" "$(cell "$T/a/tables/device_clocks.csv" 0 mhz | cut -c1-3)" 557
is "the stated clock" "$(cell "$T/a/tables/device_clocks.csv" 1 stated_mhz)" 560
is "all executions of a rank" "$(cell "$T/a/tables/categories.csv" 0 calls)" 6
is "the phase of the log" "$(cell "$T/a/tables/categories.csv" 0 phase)" ITL
is "utilisation by the stated clock" "$(cell "$T/a/tables/utilisation.csv" 0 stated_utilisation | cut -c1-6)" 0.5026
is "the longest kernel" "$(cell "$T/a/tables/kernel_phases.csv" 0 name)" "add_[N]"
like "a stated clock that is wrong" "$(cat "$T/a/analysis.json")" W_DEVICE_CLOCK
code "a stated clock that is wrong, strictly" 6 "$PROFRIG" -q analyze "$FLEX" --freq 560 --strict --format csv -o "$T/b"
code "the clock that is right" 0 "$PROFRIG" -q analyze "$FLEX" --freq 557 --format csv -o "$T/c"
is "the clock that is right is not warned of" "$(grep -c W_DEVICE_CLOCK "$T/c/analysis.json")" 0
for bad in 0 -5 x 560: 560:x 1e9 :800; do
	code "--freq $bad" 2 "$PROFRIG" -q analyze "$FLEX" --freq "$bad" -o "$T/d"
done
code "ideal cycles that are none" 2 "$PROFRIG" -q analyze "$FLEX" --ideal "$FLEX" -o "$T/d"
code "ideal cycles that are not there" 2 "$PROFRIG" -q analyze "$FLEX" --ideal "$T/none" -o "$T/d"
is "nothing is written behind a wrong option" "$(ls -d "$T/d" 2>&1 | grep -c "No such")" 1

# several files, and threads: the same tables
mkdir "$T/ranks"
python3 "$ROOT/tests/fixtures/gen/make_flex.py" 4 40 >"$T/ranks/all.json"
code "one thread" 0 "$PROFRIG" -q analyze "$T/ranks" --threads 1 --format csv -o "$T/e"
code "four threads" 0 "$PROFRIG" -q analyze "$T/ranks" --threads 4 --format csv -o "$T/f"
same=$(diff -r "$T/e/tables" "$T/f/tables" && echo same)
is "tables of one thread and of four" "$same" same

# an output directory that cannot be is found before anything is read
touch "$T/file"
echo "no trace" >"$T/none.json"
code "an output directory below a file" 4 "$PROFRIG" -q analyze "$T/none.json" -o "$T/file/out"
like "which is what it says" "$(cat "$T/err")" "cannot write to"

# combinations of options that bear on these traces
failed=
for freq in "" "--freq 557" "--freq 560:800"; do
	for ideal in "" "--ideal $T/ideal.log"; do
		for more in "" --align "--threads 2" "--reader tef:flex" "--reader tef:chrome"; do
			# shellcheck disable=SC2086
			"$PROFRIG" -q analyze "$FLEX" $freq $ideal $more --format csv -o "$T/o" >"$T/o.out" 2>&1 || failed+=" [$freq $ideal $more]"
		done
	done
done
is "combinations of options that fail" "$failed" ""

# CSV as RFC 4180 has it: commas, quotes doubled, CRLF or LF, as many cells in each row
python3 - >"$T/names.json" <<'EOF'
import json
stamps = {f"TS{i}": i * 1000 for i in range(1, 6)}
print(json.dumps([{"name": f'a, "b"\n{i} Cmpt Exec', "ph": "X", "pid": 0, "tid": 1, "ts": i * 10, "dur": 2, "args": stamps}
                  for i in range(3)]))
EOF
code "names with commas, quotes and line ends" 0 "$PROFRIG" -q analyze "$T/names.json" --format csv -o "$T/g"
uneven=$(python3 - "$T/g/tables" <<'EOF'
import csv, glob, sys
bad = 0
for path in glob.glob(sys.argv[1] + "/*.csv"):
    rows = list(csv.reader(open(path, newline=""), strict=True))
    bad += any(len(r) != len(rows[0]) for r in rows) or len(rows[0]) < 2
print(bad)
EOF
)
is "every table is CSV" "$uneven" 0
code "the same again" 0 "$PROFRIG" -q analyze "$T/names.json" --format csv -o "$T/h"
same=$(diff -r "$T/g/tables" "$T/h/tables" && echo same)
is "no run differs from another" "$same" same

# --align moves files of ranks whose messages are received too early; one file of several ranks stays
python3 - "$T" "$T/ranks/all.json" <<'EOF'
import json, sys
events = json.load(open(sys.argv[2]))
for pid in {e["pid"] for e in events}:
    json.dump([e for e in events if e["pid"] == pid], open(f"{sys.argv[1]}/part{pid}.json", "w"))
EOF
early() { python3 -c 'import csv, sys; print(sum(int(float(r["reversed"])) for r in csv.DictReader(open(sys.argv[1]))))' "$1"; }
code "ranks in files" 0 "$PROFRIG" -q analyze "$T"/part*.json --format csv -o "$T/apart"
code "ranks in files, moved" 0 "$PROFRIG" -q analyze "$T"/part*.json --align --format csv -o "$T/moved"
code "ranks in one file" 0 "$PROFRIG" -q analyze "$T/ranks/all.json" --align --format csv -o "$T/whole"
is "messages come too early" "$([ "$(early "$T/apart/tables/alignment.csv")" -gt 0 ] && echo yes)" yes
is "none does once files are moved" "$(early "$T/moved/tables/alignment.csv")" 0
is "one file is not moved" "$(grep -c W_CLOCK_ALIGNED "$T/whole/analysis.json")" 0
