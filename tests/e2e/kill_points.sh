#!/usr/bin/env bash
# kill -9 of profrig right before each system call by which a run changes files or begins something: whatever had been done until then, `report` accepts the
# directory, and nothing half-written, no process and no lock is left behind. (kill9.sh does the same at random moments, on each engine.) SIGTERM there: the
# run ends in order and leaves nothing to be swept.
. "$(dirname "$0")/../lib.sh"
NTH_CALL=$B/tests/e2e/nth_call
need strace "$NTH_CALL" write 1 error=EIO "$T/calls" true || { skip "kill points" "calls cannot be traced here"; exit; }
cd "$T" || exit 1
mark=profrig-points-$$
runs=$T/runs

end_before() { # signal, system call, n: the signal's status when the run came so far
	"$NTH_CALL" "$2" "$3" "signal=$1" /dev/null \
		"$PROFRIG" -q run -o "$runs" --engine host --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power --set model.name=$mark \
		-- /bin/sh -c "sleep 0.05; : $mark; echo performance: 3 it/s" >"$T/out" 2>"$T/err"
}
nobody() { ! pgrep -f "sleep 0.05; : $mark" && ! pgrep -f "run-id.*$mark"; }
rest() { # half-written files, locks, reserves, sockets, FIFOs
	find "$runs" -mindepth 1 \( -name '.*' -o -name '*.tmp' -o -type s -o -type p \) ! -name '.index*' ! -name .gitignore
}

for call in write rename renameat fsync unlink unlinkat symlinkat mkdirat flock clone clone3 bind; do
	killed=0 bad=
	for n in {1..200}; do
		{ end_before KILL $call $n; } 2>/dev/null
		rc=$?
		[ $rc -ne 0 ] || break
		[ $rc -eq 137 ] && killed=$((killed + 1)) || bad="$bad $n: status $rc, $(tail -n 3 "$T/err")"
	done
	is "$call: each run is killed or whole" "$bad$rc" 0
	check "$call: some were killed ($killed)" test $killed -gt 0
done
check "no process is left" wait_for nobody
# what another machine may be writing on a shared disk is left alone for a while
rest | xargs -rd '\n' touch -hd '20 minutes ago'
code "doctor --fix" 0 "$PROFRIG" doctor -o "$runs" --fix
is "nothing half-written is left" "$(rest)" ""
# the last one was whole
tables=$(ls "$runs/latest/analysis/tables")
dirs=0 bad=
for d in "$runs"/2*; do
	dirs=$((dirs + 1))
	"$PROFRIG" -q report "$d" >"$T/check" 2>&1 || bad="$bad $d: $(cat "$T/check")"
	[ -s "$d/analysis/report.html" ] || bad="$bad $d: no report.html"
	case $(field "$d/run.json" .status) in
	interrupted) ;;
	success) [ "$(ls "$d/analysis/tables")" = "$tables" ] || bad="$bad $d: has of all tables $(ls "$d/analysis/tables" | tr '\n' ' ')" ;;
	*) bad="$bad $d: status $(field "$d/run.json" .status)" ;;
	esac
done
echo "# $dirs run directories"
check "most runs had a directory" test $dirs -gt 60
is "report accepts each, none is still running" "$bad" ""
code "the folder can be listed" 0 "$PROFRIG" list runs -o "$runs" --json
is "with each of them" "$(jq length "$T/out")" $dirs

runs=$T/ended
for call in write renameat clone clone3 poll ppoll; do
	ended=0 bad=
	for n in {1..200}; do
		end_before TERM $call $n 2>/dev/null
		rc=$?
		[ $rc -ne 0 ] || break
		[ $rc -eq 143 ] && ended=$((ended + 1)) || bad="$bad $n: status $rc, $(tail -n 3 "$T/err")"
	done
	is "$call: SIGTERM, and each run ends or is whole ($ended)" "$bad$rc" 0
done
is "nothing is left to be swept" "$(rest)" ""
bad=
for d in "$runs"/2*; do
	"$PROFRIG" -q report "$d" >"$T/check" 2>&1 || bad="$bad $d: $(cat "$T/check")"
	case $(field "$d/run.json" .status) in
	interrupted | success) ;;
	*) bad="$bad $d: status $(field "$d/run.json" .status)" ;;
	esac
done
is "report accepts each, none is still running" "$bad" ""
check "no process is left" wait_for nobody
