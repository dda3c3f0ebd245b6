#!/usr/bin/env bash
# A signal at any moment of analyze, convert and info: the exit status says so, nothing half-written is left, what was there is the old or the new one.
. "$(dirname "$0")/../lib.sh"
need strace command -v strace && need strace strace -o /dev/null true || { skip "signals" "strace cannot trace here"; exit; }
cd "$T" || exit 1
mkdir made tmp
export TMPDIR=$T/tmp

awk 'BEGIN {
	print "[{\"ph\":\"M\",\"name\":\"profrig\",\"args\":{\"tracer\":\"test\",\"clock\":\"CLOCK_MONOTONIC\"}}"
	for (i = 0; i < 20; i++)
		printf ",{\"ph\":\"X\",\"name\":\"step %d\",\"pid\":7,\"tid\":%d,\"ts\":%.3f,\"dur\":0.090}\n", i, i % 4, i / 10
	print "]"
}' >in.json
awk '/step 19/ { next } { print }' in.json >before.json
half() { find made tmp -mindepth 1 \( -name '.*' -o -path 'tmp/*' \); }

points() { # signal, exit status, system call, command…: the signal before each such call of the command
	local sig=$1 want=$2 call=$3 n rc bad= points=0
	shift 3
	for n in {1..400}; do
		reset
		{ strace -o calls -e "trace=$call" -e "inject=$call:signal=$sig:when=$n" "$PROFRIG" -q "$@" >printed 2>err; } 2>/dev/null
		rc=$?
		[ $rc != 0 ] || break
		points=$((points + 1))
		[ $rc = $want ] || bad="$bad $n: status $rc"
		[ -z "$(half)" ] || [ $sig = KILL ] || bad="$bad $n: left $(half)"
		whole || bad="$bad $n: $(cat whole)"
		rm -rf tmp/* made/.profrig-* # SIGKILL leaves them
	done
	is "$1, $call: SIG$sig at $points points" "$bad" ""
	check "$1, $call: some points, and an end" test $points -gt 0 -a $rc -eq 0
}

# what was there before, and what each may leave
reset() { rm -rf made/* && "$PROFRIG" -q convert before.json -o "$file" >/dev/null; }
whole() {
	local n
	n=$("$PROFRIG" -q info --json "$file" 2>whole | jq .spans)
	[ "$n" = 19 ] || [ "$n" = 20 ] || { echo "$n spans" >>whole; false; }
}
for file in made/x.json.gz made/x.folded made/x.otf2; do
	[ $file != made/x.folded ] || whole() { "$PROFRIG" -q info "$file" >whole 2>&1; }
	[ $file = made/x.otf2 ] && moves=rename || moves=renameat
	for call in openat write $moves close; do
		points INT 130 $call convert in.json -o $file
	done
	points TERM 143 write convert in.json -o $file
	points KILL 137 $moves convert in.json -o $file
	whole() {
		local n
		n=$("$PROFRIG" -q info --json "$file" 2>whole | jq .spans)
		[ "$n" = 19 ] || [ "$n" = 20 ] || { echo "$n spans" >>whole; false; }
	}
done
points KILL 137 renameat2 convert in.json -o $file
like "words" "$(reset; strace -o calls -e trace=rename -e inject=rename:signal=INT:when=1 "$PROFRIG" -q convert in.json -o $file 2>&1)" 'profrig: interrupted: what was not finished is not there'

# analysis: afterwards the same command does all of it
reset() { rm -rf made/*; }
whole() { "$PROFRIG" -q analyze in.json -o made/a >whole 2>&1 && test -s made/a/report.html -a -s made/a/tables/callpaths.csv; }
points INT 130 renameat analyze in.json -o made/a
points TERM 143 write analyze in.json -o made/a

# a database whose writer has left a log is read from a copy
cp "$ROOT/tests/fixtures/rpd/two-writers-v3.rpd" w.rpd
python3 - <<'P'
import shutil, sqlite3
db = sqlite3.connect("w.rpd")
db.execute("pragma journal_mode=wal")
db.execute("create table more(x)")
db.commit()
for e in "", "-wal":
    shutil.copy("w.rpd" + e, "left.rpd" + e)
P
reset() { :; }
whole() { "$PROFRIG" -q info left.rpd >whole 2>&1; }
check "there is a log" test -s left.rpd-wal
points TERM 143 copy_file_range info left.rpd
points INT 130 unlinkat info left.rpd

# SIGKILL leaves it to the next one that writes there
killed() { # system call, n, command…
	local call=$1 n=$2
	shift 2
	{ strace -o calls -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$PROFRIG" -q "$@" >printed 2>err; } 2>/dev/null
}
old() { find made tmp -path '*/.profrig-*' -exec touch -hd '20 minutes ago' {} +; }
rm -rf made/* made/.profrig-* tmp/*
killed rename 1 convert in.json -o made/x.otf2
killed renameat 1 convert in.json -o made/x.json
is "killed ones leave halves" "$(half | wc -l)" 2
code "the next one" 0 "$PROFRIG" convert in.json -o made/y.json
is "leaves alone what was written just now" "$(half | wc -l)" 2
old
touch "made/.profrig-$$-0.tmp" made/.profrig-mine.tmp && touch -hd '20 minutes ago' made/.profrig-*.tmp
code "later" 0 "$PROFRIG" convert in.json -o made/y.json
like "it removes them and says so" "$(cat "$T/err")" 'made: removed 2 half-written files of a profrig that was killed, '
is "but nothing of somebody who lives, and no other names" "$(half | sort | tr '\n' ' ')" "$(printf '%s\n' "made/.profrig-$$-0.tmp" made/.profrig-mine.tmp | sort | tr '\n' ' ')"
killed renameat 3 analyze in.json -o made/a
is "a killed analysis leaves a half result" "$(find made -mindepth 1 -maxdepth 1 -type d -name '.profrig-*' | wc -l)" 1
old
code "the next one" 0 "$PROFRIG" analyze in.json -o made/a
is "removes it" "$(find made -mindepth 1 -type d -name '.profrig-*' | wc -l)" 0
killed copy_file_range 2 info left.rpd
is "a killed reader of a database leaves its copy" "$(find tmp -mindepth 1 -maxdepth 1 | wc -l)" 1
old
code "the next one" 0 "$PROFRIG" info left.rpd
is "removes it" "$(find tmp -mindepth 1 | wc -l)" 0
