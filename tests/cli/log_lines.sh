#!/usr/bin/env bash
# post_scripts/log_lines.sh: the lines of the workload's output that match, whatever bytes they hold, in every shell that an image may have.
. "$(dirname "$0")/../lib.sh"
script=$ROOT/post_scripts/log_lines.sh
export PROFRIG_RUN_DIR=$T/run PROFRIG_OUT=$T/run/artifacts
steps=$T/run/steps log=$T/run/artifacts/a.log
sh=dash

fresh() {
	rm -rf "$steps" "$PROFRIG_OUT"
	mkdir -p "$steps" "$PROFRIG_OUT"
}
copy() { $sh "$script" a.log "${1:-bench}"; }
# What the two streams hold and what must come of it, as printf takes them.
case_of() { # NAME ERR OUT WANT
	fresh
	printf "$2" >"$steps/01-workload.err"
	printf "$3" >"$steps/01-workload.out"
	code "$sh: $1" 0 copy
	is "$sh: is copied as it is" "$(od -An -c "$log" 2>/dev/null)" "$(printf "$4" | { [ -z "$4" ] || od -An -c; })"
}
cases() {
	case_of "both streams" 'bench 1\nno\n' 'x\nbench 2\n' 'bench 1\nbench 2\n'
	case_of "a pattern within a line" '50%%|###  |\rbench 1\n' 'sum -1bench 2 tail\n' '50%%|###  |\rbench 1\nsum -1bench 2 tail\n'
	case_of "ends as of DOS" 'bench 1\r\nno\r\nbench 2\r\n' '' 'bench 1\r\nbench 2\r\n'
	case_of "NUL and bytes of no text" 'a\0bench 1\0\n\377\376 bench 2\n' '\0\0\0bench 3\n' 'a\0bench 1\0\n\377\376 bench 2\n\0\0\0bench 3\n'
	case_of "a cut line comes last" 'bench 1\nbench c' 'bench 2\n' 'bench 1\nbench 2\nbench c'
	case_of "one that ends in a NUL" 'bench 1\nbench c\0' '' 'bench 1\nbench c\0'
	case_of "two" 'bench 1\nbench c' 'bench d' 'bench 1\nbench c\nbench d'
	case_of "an end of something else" 'bench 1\nother' 'x' 'bench 1\n'
	case_of "nothing" 'no\n' '' ''
	check "$sh: and no file is made" test ! -e "$log"
	case_of "equal lines" 'bench\nbench\n' 'bench\n' 'bench\nbench\nbench\n'
	ln -f "$steps/01-workload.err" "$steps/01-workload.out"
	code "$sh: one file for both streams" 0 copy
	is "$sh: is read once" "$(grep -c . "$log")" 2
	rm "$steps/01-workload.out"
	ln -s 01-workload.err "$steps/01-workload.out"
	code "$sh: also by a link, and again" 0 copy
	is "$sh: has no line twice" "$(grep -c . "$log")" 2
	fresh
	for step in 01-pre-workload 02-workload 03-post-workload 117-workload; do echo "bench $step" >"$steps/$step.out"; done
	code "$sh: scripts of that name" 0 copy
	is "$sh: are no workload" "$(tr '\n' ' ' <"$log")" "bench 02-workload bench 117-workload "
	fresh
	{
		head -c 100000000 /dev/zero | tr '\0' x
		echo ' bench end'
		echo 'bench 2'
		head -c 100000000 /dev/zero | tr '\0' y
	} >"$steps/01-workload.out"
	code "$sh: lines of 100 MB" 0 copy
	is "$sh: are whole" "$(wc -c <"$log") $(wc -l <"$log")" "100000019 2"
	fresh
	echo bench >"$steps/01-workload.out"
	code "$sh: a pattern that is none" 2 copy 'bench('
	like "$sh: is no success" "$(cat "$T/err")" "[Uu]nmatched|bad regex|parenthes"
}
for sh in dash bash "busybox sh"; do
	if command -v "${sh%% *}" >/dev/null; then cases; else skip "$sh" "it is not installed"; fi
done
