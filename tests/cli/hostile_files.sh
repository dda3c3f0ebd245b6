#!/usr/bin/env bash
# What a workload leaves may be of any size and any name: files of a terabyte that hold nothing, folders that are nested without end, results with
# megabytes of column names, a socket that leads to another run's, names that a terminal would obey. Every command ends soon, in little memory.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
printf 'name: mt\nabout: leaves files\nvendor: any\nclass: env\nenv: {A: "1"}\noutputs: [{glob: "./left*", match: [run], if_any: true}, {glob: "t*", reader: tef, required: false, if_any: true}]\n' >mt.yaml
one() { timeout -s KILL 60 "$PROFRIG" run --engine host --tools-dir "$T" --tools mt --set results.csv=out.csv "${more[@]}" "$@"; }
json() { echo "$1"/2*/run.json; }
more=()

# Nothing of it was ever written, so nothing of it is read, hashed or copied.
hollow() { # what file
	code "$1 of a terabyte" "$3" one -q -o "hollow-$1" -- sh -c "truncate -s 1T $2"
	like "$1: it is said" "$(field "$(json "hollow-$1")" '[.warnings[].text, .artifacts[].reason] | join(" ")')" "nearly all of it is holes|no usable results file"
	rm -rf "hollow-$1" out.csv left*
}
if truncate -s 1T probe 2>/dev/null && rm probe; then
	hollow output '$PROFRIG_RUN_DIR/artifacts/mt/t.json' 6
	hollow collected left1 6
	hollow results out.csv 6
	hollow log '$PROFRIG_RUN_DIR/steps/*workload.out' 6
	truncate -s 1T trace.json
	code "a trace of a terabyte" 5 timeout -s KILL 60 "$PROFRIG" info trace.json
	rm trace.json
else
	skip "files of a terabyte" "this file system has none"
fi

# A header of a megabyte stands once, not in each of ten thousand rows.
awk 'BEGIN { printf "model,performance,metric"; for (i = 0; i < 1000; i++) { printf ",%d", i; for (k = 0; k < 100; k++) printf "0123456789" } print ""
	commas = sprintf("%1000s", ""); gsub(" ", ",", commas)
	for (i = 0; i < 10000; i++) print "m" i ",1,s" commas }' >wide
more=(--no-analyze)
limited() { (ulimit -v 4000000 && "$@"); }
code "results with a megabyte of column names" 0 limited one -q -o wide.runs -- cp wide out.csv
like "how many rows are left out is said" "$(field "$(json wide.runs)" '.warnings[].text')" "out.csv: 99[0-9][0-9] rows are left out"
check "run.json can be read" test "$(stat -c %s $(json wide.runs))" -lt 20000000
rm -rf wide wide.runs out.csv

# As many outputs as fit into a run.json that all commands read.
cat >many.py <<'P'
import os
os.chdir(os.environ["PROFRIG_RUN_DIR"] + "/artifacts/mt")
for i in range(14):
    os.mkdir("t" * 250); os.chdir("t" * 250)
    if i > 9:
        for k in range(6000):
            open("t" + "\x01" * 200 + str(k), "w").close()
P
sed -i 's/glob: "t\*"/glob: "**"/' mt.yaml
one -q -o many -- python3 many.py >out 2>err
like "outputs with long names" "$(cat err)" "only [0-9]+ of [0-9]+ files were looked at"
is "the run can be listed" "$("$PROFRIG" list runs -o many --json | jq -r '.[].status')" partial
code "and removed" 0 "$PROFRIG" prune many --older-than 0s
is "all of it" "$(ls -A many)" ""
one -q -o shut -- python3 -c 'import os
os.chdir(os.environ["PROFRIG_RUN_DIR"] + "/artifacts/mt"); open("t.json", "w").write("[]")
for i in range(300): os.mkdir("d"); os.chdir("d")' >out 2>err
is "a folder that is nested too deeply hides no other" "$(field "$(json shut)" '.artifacts[].path')" artifacts/mt/t.json
like "and is reported" "$(field "$(json shut)" '.warnings[].text')" "1 folder cannot be looked into"
sed -i 's/glob: "[*][*]"/glob: "t*"/' mt.yaml

# Nested without end.
more=()
cat >deep.py <<'P'
import os
os.chdir(os.environ["PROFRIG_OUT"])
for i in range(3000):
    os.mkdir("d"); os.chdir("d")
P
one -q -o deep -- python3 deep.py >out 2>err
code "a run whose folders are nested deeply is removed" 0 "$PROFRIG" prune deep --older-than 0s
is "whole" "$(ls -A deep)" ""

# What cannot be removed is said each time.
if [ "$(id -u)" = 0 ] && touch im && chattr +i im 2>/dev/null; then
	chattr -i im
	one -q -o im.runs -- sh -c 'touch "$PROFRIG_OUT/x"; chattr +i "$PROFRIG_OUT/x"' >out 2>err
	code "a file that nobody may remove" 6 "$PROFRIG" prune im.runs --older-than 0s
	code "and again" 6 "$PROFRIG" prune im.runs --older-than 0s
	like "it is said" "$(cat err)" "cannot remove '.*x': Operation not permitted"
	chattr -i "$(find im.runs -name x)"
	code "until it may" 0 "$PROFRIG" prune im.runs --older-than 0s
else
	skip "a file that nobody may remove" "no immutable files here"
fi

# ctl speaks to the run's own socket.
cat >other.py <<'P'
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("other.sock"); s.listen(4); s.settimeout(60)
open("listens", "w").close()
while True:
    c, _ = s.accept()
    with open("got", "ab") as f: f.write(c.recv(4096))
    c.sendall(b'{"ok":true,"run":"\\u001b]0;x\\u0007","phase":"\\u202e","recording":true}\n'); c.close()
P
python3 other.py &
other=$!
at_end "kill $other 2>/dev/null"
wait_for test -e listens
"$PROFRIG" -q run --no-analyze -o ctl --engine host -- sh -c 'ln -sf "$PWD/other.sock" "$PROFRIG_RUN_DIR/control.sock"; touch swapped; until [ -e enough ]; do sleep 0.05; done' >out 2>err &
run=$!
wait_for test -e swapped
code "a link in the place of the control socket" 4 timeout 30 "$PROFRIG" ctl latest stop -o ctl
rm ctl/latest/control.sock
mv other.sock ctl/latest/control.sock
code "a socket in its place" 0 timeout 30 "$PROFRIG" ctl latest status -o ctl
is "what it says is no word to the terminal" "$(head -n 1 out)" '\x1b]0;x\a: \u202e, recording'
touch enough
wait $run
check "the other one heard nothing before" test "$(grep -c stop got)" = 0

# A table of results that has a second name is not added to.
mkdir table && cd table || exit 1
for name in perf.csv perf_super.csv perf_super.json; do
	rm -f ./*
	printf 'model,performance\nX,1\n]\n' >../precious
	ln ../precious "$name"
	"$PROFRIG" -q run -o ../table.runs --no-analyze --engine host --perf-csv perf.csv -- echo performance: 3 s >../out 2>../err
	is "$name that is another file too is refused" "$? $(cat ../precious | tr '\n' ' ')" "6 model,performance X,1 ] "
done
cd "$T" || exit 1

# Names and secrets in what closes a run.
export MY_TOKEN="it's S3cret №1"
one -o words -- "$MY_TOKEN" >out 2>err
is "a command that is a secret is hidden" "$(grep -rlF -e "$MY_TOKEN" -e 'S3cret' out err words)" ""
more=(--set results.csv=none)
one -o units -- printf 'performance: 3 \033]0;x\a\342\200\256u\n' >out 2>err
more=(--set "model.name=$(printf 'm\033[31m\342\200\256')")
one -o names -- sh -c 'printf "said \302\2331m \342\200\256 \033[31m\n" >&2; echo "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"z\"}]" >"$PROFRIG_RUN_DIR/artifacts/mt/t
profrig: all is well.json"; exit 1' >out2 2>err2
"$PROFRIG" report names/2* >>out2 2>>err2
is "no escape sequence comes through" "$(cat err err2 | LC_ALL=C grep -cP '\x1b|\xe2\x80\xae|\xc2\x9b')" 0
is "nor a line of its own" "$(cat err err2 | grep -c '^profrig: all is well')" 0
