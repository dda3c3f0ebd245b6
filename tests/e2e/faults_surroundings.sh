#!/usr/bin/env bash
# profrig where something is missing or wrong around it: standard streams, limits, variables, folders, its terminal; and stopped in the middle.
# Each fault is one row: what it is called, the exit code, the status in run.json ("" = no run directory may be there), a pattern for what is printed,
# and the command, in which $run is `profrig run -o RUNS` for the host.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
run="$PROFRIG run -o $T/runs --engine host --no-analyze"

fault() { # name, exit code, status, pattern, shell command
	local dir
	rm -rf "$T/runs" "$T/fault.out"
	code "$1" "$2" bash -c "$5"
	dir=$(find "$T/runs" -maxdepth 1 -name '2*' 2>/dev/null | head -n 1)
	is "$1: nobody is registered" "$(ls -A "$T/runtime/profrig" 2>/dev/null)" ""
	is "$1: status" "$([ -z "$dir" ] || field "$dir/run.json" .status)" "$3"
	[ -z "$dir" ] || check "$1: report accepts the directory" "$PROFRIG" -q report "$dir"
	[ -z "$4" ] || like "$1: says so" "$(cat "$T/err" "$T/out")" "$4"
}
fault "standard input closed" 0 success "" "$run -- cat <&-"
fault "standard output closed" 1 success "cannot write to standard output" "$run -- true >&-"
fault "standard output is full" 1 success "cannot write to standard output" "$run -- true >/dev/full"
fault "nobody reads standard output" 1 success "cannot write to standard output" "{ sleep 0.1; $run -- true; echo \$? >$T/rc; } | true; exit \$(cat $T/rc)"
fault "standard error closed" 0 success "" "$run --live -- echo x 2>&-"
fault "nobody reads the live output" 0 success "" "{ $run --live -- sh -c 'seq 100000; sleep 0.2; seq 100000' 2>&1 >/dev/null; echo \$? >$T/rc; } | head -n 1 >/dev/null; exit \$(cat $T/rc)"
fault "all streams closed" 1 success "" "$run -- true <&- >&- 2>&-"
fault "very few open files" 1 failed "raise the limit" "ulimit -n 12; $run -- true"
fault "little stack" 0 success "" "ulimit -s 64; $run --tools cpu_usage -- sleep 0.1"
fault "few open files" 0 success "" "ulimit -n 32; $run --tools cpu_usage --set 'tools[0].sampler.period_s=0.01' -- sleep 0.1"
fault "files may have no byte" 4 "" "File too large for the limit on file sizes .'ulimit -f unlimited'" "{ ulimit -f 0; $run -- true; } 2>&1 | cat; exit \${PIPESTATUS[0]}"
fault "files may have few bytes" 4 "" "File too large for the limit on file sizes .'ulimit -f unlimited'" "{ ulimit -f 1; $run -- true; } 2>&1 | cat; exit \${PIPESTATUS[0]}"
fault "small files, which do" 0 success "" "ulimit -f 16; $run -- true"
fault "small files, and a report that is larger" 6 success "report.html: File too large" "ulimit -f 16; $PROFRIG -q run -o $T/runs --engine host -- true"
fault "small files, and samples that are larger" 6 partial "File too large" \
	"ulimit -f 16; $run --tools cpu_usage --set 'tools[0].sampler.period_s=0.001' -- sleep 2.5"
fault "small files, and a workload that writes a larger one" 1 failed "killed by SIGXFSZ" "ulimit -f 16; $run -- sh -c 'exec head -c 100000 /dev/zero >big'"
fault "as many open files as there may be" 0 success "" "ulimit -n \$(ulimit -Hn); $run -- true"
fault "many descriptors inherited" 0 success "" "for i in \$(seq 10 200); do eval \"exec \$i</dev/null\"; done; $run -- sh -c 'test \$(ls /proc/self/fd | wc -l) -lt 6'"
fault "an empty environment" 0 success "" "env -i $run -- /bin/true"
fault "an empty PATH" 0 success "" "PATH= $run -- /bin/true"
fault "an empty PATH and a program without one" 1 failed "cannot start 'true'" "PATH= $run -- true"
fault "an empty PATH and docker" 4 "" "engine 'docker' does not answer" "PATH= $PROFRIG run -o $T/runs --engine docker --image x -- true"
fault "no HOME" 0 success "" "env -u HOME -u XDG_RUNTIME_DIR -u XDG_CONFIG_HOME -u XDG_CACHE_HOME $run -- true"
fault "a TMPDIR that is not there" 0 success "" "TMPDIR=/nonexistent $run -- true"
fault "an XDG_RUNTIME_DIR that is not there" 0 success "" "XDG_RUNTIME_DIR=/nonexistent $run -- true"
fault "a working directory that is gone" 4 "" "working directory is not there any more.*'cd' to one" "mkdir gone; cd gone; rmdir ../gone; $run -- touch $T/ran"
check "a working directory that is gone: nothing runs" test ! -e "$T/ran"
fault "runs go where there is a file" 4 "" "not a directory|Not a directory.*-o DIR" "touch runs; $run -- true"
rm -f runs
fault "runs go below a file" 4 "" "Not a directory.*-o DIR" "$PROFRIG run -o /dev/null/x --engine host -- true"
fault "runs go into /proc" 4 "" "cannot make directory.*-o DIR" "$PROFRIG run -o /proc/x --engine host -- true"
if [ "$(id -u)" = 0 ] && command -v unshare >/dev/null && unshare -m true 2>/dev/null; then
	fault "a read-only disk" 4 "" "Read-only file system.*-o DIR" "mkdir -p ro; unshare -m sh -c 'mount -t tmpfs -o ro none $T/ro && exec $PROFRIG run -o $T/ro --engine host -- true'"
	fault "a read-only disk and a folder below it" 4 "" "Read-only file system.*-o DIR" \
		"mkdir -p ro; unshare -m sh -c 'mount -t tmpfs -o ro none $T/ro && exec $PROFRIG run -o $T/ro/a/b --engine host -- true'"
	fault "nothing can be written to /tmp" 0 success "" "env -u XDG_RUNTIME_DIR unshare -m sh -c 'mkdir -p $T/runs && mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp &&
		mount -t tmpfs none $T/runs && $run -- true && tar -C $T/runs -cf - .' >$T/kept.tar && tail -c +\$((\$(head -n 1 $T/kept.tar | wc -c) + 1)) $T/kept.tar | tar -C $T/runs -xf -"
	chmod 755 "$T"
	fault "a folder that another user may not write" 4 "" "Permission denied.*-o DIR" \
		"mkdir -p $T/mine; setpriv --reuid 65534 --clear-groups env XDG_RUNTIME_DIR=/nonexistent $PROFRIG run -o $T/mine --engine host -- true"
	fault "artifacts that may not be written" 7 failed "must.json.* is missing" \
		"mkdir -m 777 -p $T/runs; setpriv --reuid 65534 --clear-groups env XDG_RUNTIME_DIR=/nonexistent $run --tools-dir $ROOT/tests/fixtures/tools --tools outs -- \
			sh -c 'chmod 555 \$OUTS; echo x >\$OUTS/must.json; true'"
else
	skip "read-only disks and folders of others" "needs root and a mount namespace"
fi
fault "the run directory vanishes while it runs" 1 "" "run.json could not be written|No such file" "$run -- sh -c 'sleep 0.3; rm -rf \"\$PROFRIG_RUN_DIR\"'"
fault "the folder of runs vanishes while it runs" 1 "" "run.json could not be written|No such file" "$run -- sh -c 'sleep 0.3; rm -rf $T/runs'"

# Stopped, and going on.
printf '#!/bin/sh\ntouch %s/working; while [ ! -e %s/go ]; do sleep 0.05; done\n' "$T" "$T" >"$T/pre.sh"
background() { # options -- command: waits until the workload has made $T/working
	rm -rf "$T/runs" "$T/working" "$T/go"
	$run "$@" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	wait_for test -e "$T/working" || not_ok "a run begins" "$(cat "$T/err")"
}
background --tools cpu_usage --set 'tools[0].sampler.period_s=0.05' -- sh -c "touch $T/working; while [ ! -e $T/go ]; do sleep 0.05; done"
wait_for grep -q '^[0-9]' "$T/runs/latest/samples/cpu_usage.csv"
kill -STOP $pid
sleep 0.5
touch "$T/go"
sleep 0.3
kill -CONT $pid
wait $pid
is "stopped and continued: exit" $? 0
is "stopped and continued: status" "$(field "$(cat "$T/out")/run.json" .status)" success
check "stopped and continued: no duration is negative" jq -e '[.durations_s[] | select(. != null)] | all(. >= 0)' "$(cat "$T/out")/run.json"
check "stopped and continued: the workload's time is its own, not ours" jq -e '.durations_s.workload < 30' "$(cat "$T/out")/run.json"
background --timeout 600 -- sh -c "touch $T/working; sleep 600"
kill -STOP $pid
kill -TERM $pid
kill -CONT $pid
wait $pid
is "ended while stopped: exit" $? 143
is "ended while stopped: status" "$(field "$(cat "$T/out")/run.json" .status)" interrupted
# What is written live fills the pipe, which nobody reads before the run is over.
rm -rf "$T/runs" "$T/working"
mkfifo "$T/unread"
exec 7<>"$T/unread"
"$PROFRIG" run --no-analyze --live -o "$T/runs" --engine host -- sh -c "seq 100000; touch $T/working; sleep 600" >"$T/out" 2>"$T/unread" &
pid=$!
wait_for test -e "$T/working"
rm -f "$T/working"
kill -TERM $pid
check "ended while nobody reads: the run directory is complete" wait_for jq -e '.status == "interrupted" and .ended_utc' "$T/runs/latest/run.json"
cat <&7 >"$T/read" &
reader=$!
wait $pid
is "ended while nobody reads: exit" $? 143
kill $reader
exec 7>&-
background -- sh -c "touch $T/working; sleep 600"
kill -HUP $pid
wait $pid
is "the terminal goes away: exit" $? 130
is "the terminal goes away: status" "$(field "$(cat "$T/out")/run.json" .status)" interrupted
for how in "QUIT 130" "ALRM 143"; do
	background -- sh -c "touch $T/working; sleep 600"
	kill -${how% *} $pid
	wait $pid
	is "SIG${how% *}: exit" $? "${how#* }"
	is "SIG${how% *}: status" "$(field "$(cat "$T/out")/run.json" '"\(.status) \(.reason)"')" "interrupted interrupted by SIG${how% *}"
done
for sig in USR1 USR2; do
	background -- sh -c "trap 'touch $T/go' $sig; touch $T/working; sleep 600 & while [ ! -e $T/go ]; do sleep 0.05; done; kill \$!; wait; echo told"
	kill -$sig $pid
	wait $pid
	is "SIG$sig reaches a workload that catches it" "$? $(cat "$T/runs/latest/steps/01-workload.out")" "0 told"
	background -- sh -c "touch $T/working; exec sleep 600"
	kill -$sig $pid
	wait $pid
	is "SIG$sig ends one that does not" "$? $(field "$(cat "$T/out")/run.json" .reason)" "1 workload was killed by SIG$sig"
done
background --set 'pre_scripts=[{path: '"$T/pre.sh"'}]' -- true
kill -USR1 $pid
touch "$T/go"
wait $pid
is "SIGUSR1 when no workload runs" $? 0
rm -f "$T/working" "$T/go"
"$PROFRIG" -q sample --source procfs -o "$T/s.csv" -- sh -c "trap 'touch $T/go' USR1; touch $T/working; while [ ! -e $T/go ]; do sleep 0.05; done" 2>"$T/err" &
pid=$!
wait_for test -e "$T/working"
kill -USR1 $pid
wait $pid
is "SIGUSR1 reaches a command that is sampled" $? 0
if need terminal script -qec true /dev/null; then
	rm -rf "$T/runs" "$T/working"
	script -qc "$run --live -- sh -c 'touch $T/working; sleep 600'" /dev/null >/dev/null 2>&1 </dev/null &
	pid=$!
	wait_for test -e "$T/working"
	kill -9 $pid
	wait $pid 2>/dev/null
	ended() { test "$(field "$T/runs/latest/run.json" .status)" = interrupted; }
	check "a terminal that is gone ends the run" wait_for ended
else
	skip "a terminal that is gone" "there is none to be had by script(1)"
fi
