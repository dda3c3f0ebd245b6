#!/usr/bin/env bash
# Each system call by which a run writes or begins something fails once (disk full, I/O error, no more files or processes): the run ends with a status of
# the contract and words for it, success means that everything is there, and `report` accepts what was left.
. "$(dirname "$0")/../lib.sh"
NTH_CALL=$B/tests/e2e/nth_call
need strace "$NTH_CALL" write 1 error=EIO "$T/calls" true || { skip "errors" "calls cannot be traced here"; exit; }
cd "$T" || exit 1
runs=$T/runs

try() { # a program and its words: a run below it
	rm -rf "$runs"
	timeout 60 "$@" "$PROFRIG" run -o "$runs" --engine host --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power --set model.name=points \
		-- /bin/sh -c 'sleep 0.05; echo performance: 3 it/s' >"$T/out" 2>"$T/err"
}
# what a whole run has; energy may lack where the run was too short for two samples
files() { (cd "$runs"/2* 2>/dev/null && find . -type f ! -path './analysis/folded/*' ! -path './analysis/tables/*' | sort); }
judge() { # status
	local d st
	d=$(echo "$runs"/2*)
	[ -d "$d" ] || {
		[ "$1" = 4 ] && grep -q 'profrig: error: ' "$T/err" || echo "no directory, status $1: $(tail -n 2 "$T/err")"
		return
	}
	"$PROFRIG" -q report "$d" >"$T/check" 2>&1 || echo "report: $(cat "$T/check")"
	st=$(field "$d/run.json" .status)
	case $1/$st in
	0/success) echo "$want" | grep -vxF "$(files)" | sed 's/^/success without /' ;;
	1/success) grep -q 'error: cannot write to standard output' "$T/err" || echo "exit 1 without a word" ;;
	6/success | 6/partial) grep -qE 'profrig: error: |^ *partial ' "$T/err" || echo "no words: $(cat "$T/err")" ;;
	1/failed) [ -n "$(field "$d/run.json" .reason)" ] || echo "no reason" ;;
	1/running | 1/planned) grep -q 'run.json could not be written' "$T/err" || echo "$st, and nothing is said of it" ;;
	*) echo "exit $1, status $st: $(tail -n 3 "$T/err")" ;;
	esac
}

try env
is "a whole run" $? 0
want=$(files)
for fault in write:ENOSPC rename:EIO renameat:EIO fsync:EIO unlink:EACCES unlinkat:EACCES mkdirat:ENOSPC symlinkat:EIO openat2:EMFILE clone:EAGAIN clone3:EAGAIN socket:EMFILE bind:EADDRINUSE flock:ENOLCK; do
	call=${fault%:*} error=${fault#*:}
	points=0 bad=
	for n in {1..300}; do
		try "$NTH_CALL" "$call" $n "error=$error" calls
		rc=$?
		grep -q INJECTED calls || break
		points=$((points + 1))
		why=$(judge $rc)
		[ -z "$why" ] || bad="$bad
$n: $why ($(grep INJECTED calls | cut -c1-120))"
	done
	is "$call fails with $error, each of $points" "$bad" ""
	check "$call: there were some" test $points -gt 0
done
