#!/usr/bin/env bash
# A second analysis into the same folder: whoever is killed leaves the old result or the new one, whole; what others put there stays.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
trace() { # name: a trace with many functions of that name
	awk -v n="$1" 'BEGIN { print "["; for (i = 0; i < 3000; i++) printf "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,\"name\":\"%s%d\"},\n", i * 10, n, i; print "{}]" }' >"$1.json"
}
trace old
trace new
# What a result says of itself, in every file: all of one kind, or it is torn.
kind() {
	local dir=$1 kinds
	[ -e "$dir/analysis.json" ] || { echo none; return; }
	kinds=$(for f in analysis.json report.json report.html tables/functions.csv tables/callpaths.csv folded/host.folded; do
		[ -e "$dir/$f" ] && grep -oE '(old|new)(\.json|[0-9]+)' "$dir/$f" | grep -oE '^(old|new)' | sort -u
		[ -e "$dir/$f" ] || ls "$dir/${f%%/*}" >/dev/null 2>&1 || echo "without $f"
	done | sort -u | tr '\n' ' ')
	echo "$kinds"
}
code "the old one" 0 "$PROFRIG" -q analyze old.json -o res
is "is whole" "$(kind res)" "old "
code "a new one" 0 "$PROFRIG" -q analyze new.json -o res
is "takes its place" "$(kind res)" "new "
is "nothing else is left" "$(find . -name '.profrig-*')" ""

# Killed at every call that renames, and now and then.
points=0
for call in renameat2 renameat unlinkat mkdirat; do
	for n in 1 2 3 5 8 13 21; do
		rm -rf res .profrig-*
		"$PROFRIG" -q analyze old.json -o res >/dev/null 2>&1
		strace -f -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$PROFRIG" -q analyze new.json -o res >/dev/null 2>&1
		k=$(kind res)
		case $k in "old " | "new ") points=$((points + 1)) ;; *) echo "$call $n: '$k'" ;; esac
	done
done >torn
is "killed at a call: the old or the new" "$(cat torn)" ""
times=0
for delay in 0.002 0.005 0.01 0.02 0.03 0.04 0.05 0.06 0.07 0.08 0.1 0.12; do
	"$PROFRIG" -q analyze old.json -o res >/dev/null 2>&1
	"$PROFRIG" -q analyze new.json -o res >/dev/null 2>&1 &
	pid=$!
	sleep $delay
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	k=$(kind res)
	case $k in "old " | "new ") times=$((times + 1)) ;; *) echo "$delay: '$k'" ;; esac
done >torn
is "killed at a time: the old or the new" "$(cat torn)" ""
check "all of them ($points, $times)" test $points -eq 28 -a $times -eq 12
rm -rf .profrig-*

# Ctrl-C leaves nothing of the half, wherever the other writers are.
for n in 1 2 1 2 1 2; do
	"$PROFRIG" -q analyze old.json -o res >/dev/null 2>&1
	strace -f -o /dev/null -e trace=fsync -e inject=fsync:signal=INT:when=$n "$PROFRIG" -q analyze new.json -o res >/dev/null 2>&1
	kind res
done >torn
is "Ctrl-C: the old or the new" "$(grep -cE '^(old|new) $' torn)" 6
is "and no half" "$(find . -name '.profrig-*')" ""

# Files of others.
mkdir -p res/tables
echo mine | tee res/notes.txt res/tables/mine.csv >/dev/null
code "into a folder with files of others" 0 "$PROFRIG" -q analyze new.json -o res
is "is the new one" "$(kind res)" "new "
is "they stay" "$(cat res/notes.txt res/tables/mine.csv | tr '\n' ' ')" "mine mine "
ino=$(stat -c %i res/notes.txt)
points=0
for call in renameat2 renameat unlinkat mkdirat linkat; do
	for n in 1 2 3 5 8 13 21; do
		rm -rf .profrig-*
		"$PROFRIG" -q analyze old.json -o res >/dev/null 2>&1
		strace -f -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$PROFRIG" -q analyze new.json -o res >/dev/null 2>&1
		k="$(kind res)$(cat res/notes.txt res/tables/mine.csv | tr '\n' ' ')"
		case $k in "old mine mine " | "new mine mine ") points=$((points + 1)) ;; *) echo "$call $n: '$k'" ;; esac
	done
done >torn 2>/dev/null
is "killed beside files of others: the old or the new, and theirs" "$(cat torn) $points" " 35"
"$PROFRIG" -q analyze new.json -o res >/dev/null 2>&1
is "they are the same files" "$(stat -c '%i %h' res/notes.txt)" "$ino 1"
rm -rf .profrig-*
mkdir -p res/theirs && echo mine >res/theirs/x
code "into a folder with a folder of others" 0 "$PROFRIG" -q analyze old.json -o res
is "which stays too" "$(kind res)$(cat res/theirs/x res/notes.txt | tr '\n' ' ')" "old mine mine "
is "and nothing else is left then" "$(find . -name '.profrig-*')" ""
code "into the working directory" 0 sh -c "mkdir here && cd here && '$PROFRIG' -q analyze ../old.json -o . && '$PROFRIG' -q analyze ../new.json -o . && test -e report.html"
is "which is the same one" "$(kind here)" "new "
mkdir real && ln -s real link
code "through a link" 0 "$PROFRIG" -q analyze old.json -o link
code "once more" 0 "$PROFRIG" -q analyze new.json -o link
is "leads where it did" "$(readlink link) $(kind real)" "real new "
chmod 750 real
code "a folder with a mode of its own" 0 "$PROFRIG" -q analyze old.json -o real
is "keeps it" "$(stat -c %a real)" 750
"$PROFRIG" -q analyze old.json -o bad >/dev/null 2>&1
code "an analysis that fails" 5 "$PROFRIG" -q analyze nowhere.json -o bad
is "leaves the one before" "$(kind bad)" "old "
