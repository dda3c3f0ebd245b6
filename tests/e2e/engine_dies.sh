#!/usr/bin/env bash
# The container engine goes away in the middle of a run: profrig completes the run directory itself and says why, exit 1.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

wait_phase() { # runs folder: until its workload runs
	local i
	for i in $(seq 100); do
		[ "$(field "$1/latest/run.json" .phase 2>/dev/null)" = workload ] && return 0
		sleep 0.1
	done
	return 1
}
begin() { # name
	"$PROFRIG" -q run -o "$T/$1" --engine docker --image profrig-test:1 --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power -- /bin/sh -c 'echo begun; sleep 60' >"$T/out" 2>"$T/err" &
	pid=$!
	wait_phase "$T/$1"
	sleep 0.5
}
finished() { # name
	local dir rc start=$SECONDS
	wait $pid
	rc=$?
	dir=$(cat "$T/out")
	is "$1: exit 1" "$rc" 1
	check "$1: it did not wait for the workload" test $((SECONDS - start)) -lt 30
	is "$1: status" "$(field "$dir/run.json" .status)" failed
	check "$1: there is a reason" jq -e '.reason | length > 10' "$dir/run.json"
	echo "# $(field "$dir/run.json" .reason)"
	is "$1: output until then is kept" "$(cat "$dir"/steps/*workload.out)" begun
	check "$1: samples until then are kept" test "$(grep -c '^[0-9]' "$dir/samples/cpu_power.csv")" -gt 2
	check "$1: report accepts it" "$PROFRIG" -q report "$dir"
}
need_engine docker
case $? in
0)
	test_image docker profrig-test:1 || not_ok "docker: test image" "$engines_why"
	begin removed
	$PROFRIG_DOCKER kill "$($PROFRIG_DOCKER ps -q --filter label=profrig.run)" >/dev/null
	finished "container killed from outside"
	begin daemon
	kill -9 "$engines_dockerd_pid"
	finished "daemon killed"
	stop_dockerd
	;;
1) skip "docker" "$engines_why" ;;
2) not_ok "docker is required" "$engines_why" ;;
esac
