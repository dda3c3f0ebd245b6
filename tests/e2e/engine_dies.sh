#!/usr/bin/env bash
# The container engine goes away in the middle of a run: profrig completes the run directory itself and says why, exit 1.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

rows() { # at least NUMBER of samples are written
	test "$(grep -c '^[0-9]' "$T/$1/latest/samples/cpu_power.csv")" -ge "$2"
}
begin() { # name
	"$PROFRIG" -q run -o "$T/$1" --engine docker --image profrig-test:1 --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power -- /bin/sh -c 'echo begun; sleep 900' >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for rows "$1" 3 || not_ok "$1: a run begins" "$(cat "$T/err")"
	wait_for grep -q begun "$T/$1"/latest/steps/*workload.out
}
finished() { # name
	local dir rc start=$SECONDS
	wait $pid
	rc=$?
	dir=$(cat "$T/out")
	is "$1: exit 1" "$rc" 1
	check "$1: it did not wait for the workload" test $((SECONDS - start)) -lt 600
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
