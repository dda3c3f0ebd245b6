#!/usr/bin/env bash
# Runs test programs that speak TAP, half as many again at a time as there are processors (at most 4), because much of their time they wait for
# engines, disks and deadlines; shows what failed or was skipped, and ends with "N passed, N failed, N skipped". What each said is shown whole, in the
# order in which they were started. A program in whose source a comment says "runs alone: WHY" measures time or needs the whole machine: such come
# last, one by one.
# Exit 1 when anything failed or a program died. Environment: B (build folder), JOBS (at a time; 1: one by one), VERBOSE=1 shows everything,
# TEST_TIMEOUT (seconds, after which a program is taken for hung).
set -u
cd "$(dirname "$0")/.." || exit 1
export B=${B:-build}
. tests/python.sh
passed=0 failed=0 skipped=0

# One line for each reason, with the tests it kept from running. cmocka has the reason in the line before; a script behind "# SKIP".
skips() {
	awk '/^(not )?ok .*# [Ss][Kk][Ii][Pp]/ {
			name = why = $0
			if (name ~ / - /) {
				sub(/^(not )?ok [0-9]+ - /, "", name); sub(/ # [Ss][Kk][Ii][Pp].*/, "", name); sub(/.*# [Ss][Kk][Ii][Pp] */, "", why)
			} else {
				sub(/.*# [Ss][Kk][Ii][Pp] */, "", name); why = before; sub(/^# */, "", why)
			}
			if (why == "") why = "no reason was given"
			if (!(why in names)) order[++n] = why
			names[why] = names[why] (names[why] == "" ? "" : ", ") name
		}
		{ before = /^(not )?ok / ? "" : $0 }
		END { for (i = 1; i <= n; i++) printf "    skipped, %s: %s\n", order[i], names[order[i]] }' "$1"
}

logs=$(mktemp -d)
mkfifo "$logs/done"
exec 3<>"$logs/done"
trap 'rm -rf "$logs"' EXIT
running=()
trap 'stop INT' INT
trap 'stop TERM' TERM

stop() {
	trap - "$1"
	kill -TERM "${running[@]}" 2>/dev/null
	wait
	rm -rf "$logs"
	kill -"$1" $$
}

# What bash starts behind a & does not hear Ctrl-C, but tests send it to what they start.
begin() { # NUMBER PROGRAM
	(
		trap 'kill "$child" 2>/dev/null' TERM
		start=$(date +%s%N)
		CMOCKA_MESSAGE_OUTPUT=TAP env --default-signal=INT,QUIT timeout "${TEST_TIMEOUT:-1500}" "$2" >"$logs/$1" 2>&1 </dev/null 3>&- &
		child=$!
		wait $child
		echo "$? $((($(date +%s%N) - start) / 1000000))" >"$logs/$1.rc"
		echo "$1" >&3
	) &
	running[$1]=$!
}

show() { # NUMBER PROGRAM
	local name=${2#"$B"/} log=$logs/$1 rc ms ok skip bad
	read -r rc ms <"$logs/$1.rc"
	ok=$(grep -cE '^ok ' "$log")
	# cmocka writes "not ok N # SKIP", which TAP counts as no failure.
	skip=$(grep -ciE '^(not )?ok .*# skip' "$log")
	bad=$(grep -E '^not ok ' "$log" | grep -ciEv '# skip')
	ok=$((ok + $(grep -ciE '^not ok .*# skip' "$log")))
	if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		echo "not ok - $name ended with status $rc" >>"$log"
	fi
	if [ $((ok + bad)) -eq 0 ]; then
		bad=1
		echo "not ok - $name ran no test" >>"$log"
	fi
	passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
	printf '%-48s %4d ok %3d failed %3d skipped %7d ms\n' "$name" $((ok - skip)) "$bad" "$skip" "$ms"
	skips "$log"
	if [ "$bad" -gt 0 ]; then
		sed 's/^/    /' "$log" | tail -n 200
	elif [ -n "${VERBOSE:-}" ]; then
		sed 's/^/    /' "$log"
	fi
	rm -f "$log"
}

# all_of JOBS PROGRAM…
first=0
all_of() {
	local jobs=$1 begun=0 shown=0 ended=0 which
	shift
	local progs=("$@")
	while [ $shown -lt $# ]; do
		while [ $begun -lt $# ] && [ $((begun - ended)) -lt "$jobs" ]; do
			begin $((first + begun)) "${progs[begun]}"
			begun=$((begun + 1))
		done
		read -r -u 3 which
		unset "running[$which]"
		ended=$((ended + 1))
		while [ $shown -lt $# ] && [ -e "$logs/$((first + shown)).rc" ]; do
			show $((first + shown)) "${progs[shown]}"
			shown=$((shown + 1))
		done
	done
	first=$((first + $#))
}

# The source of a unit test lies where its program lies below the build folder.
runs_alone() {
	local source=${1#"$B"/}
	[ -f "$source" ] || source=$source.c
	grep -qsE '^(#|//|/\*| \*).*runs alone: ' "$source"
}
jobs=${JOBS:-$(($(nproc 2>/dev/null || echo 1) * 3 / 2))}
[ -n "${JOBS:-}" ] || [ "$jobs" -le 4 ] || jobs=4
together=() alone=()
for prog in "$@"; do
	if [ "$jobs" -gt 1 ] && runs_alone "$prog"; then alone+=("$prog"); else together+=("$prog"); fi
done
all_of "$jobs" "${together[@]}"
all_of 1 "${alone[@]}"
[ -z "${TEST_TALLY:-}" ] || echo "$passed $failed $skipped" >>"$TEST_TALLY"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
