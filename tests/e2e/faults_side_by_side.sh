#!/usr/bin/env bash
# Ten runs at once in one runs folder, of the same and of different models, on every engine: each has a directory, a container and results of its own,
# none disturbs another; also when some are killed among them.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
tools=$ROOT/tests/fixtures/tools

# Each waits until all of them work, so that they really are side by side; then says its number.
start() { # number, model
	"$PROFRIG" -q run -o "$T/runs" --engine "$engine" ${IMAGE:+--image $IMAGE} --tools-dir "$tools" --tools A,outs --set model.name="$2" \
		-- /bin/sh -c "touch \"\$PROFRIG_RUN_DIR/artifacts/workload/working\"; n=0; while [ ! -e \"\$PROFRIG_RUN_DIR/artifacts/workload/go\" ] && [ \$n -lt 900 ]; do sleep 0.1; n=\$((n+1)); done; echo number $1 \$PROFRIG_RUN_ID
			echo '[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"f$1\"},' >\$OUTS/must.json; cat \$OUTS/must.json >\$OUTS/may.json" >"$T/out.$1" 2>"$T/err.$1" &
	pids[$1]=$!
}
all_work() { test "$(ls "$T"/runs/2*/artifacts/workload/working 2>/dev/null | wc -l)" -ge "$1"; }
ten() { # engine
	local i bad= dir pids=() rc
	rm -rf "$T/runs"
	engine=$1
	mkdir -p "$T/runs"
	for i in 0 1 2 3 4; do start $i same; done
	for i in 5 6 7 8 9; do start $i "other-$i"; done
	check "$1: ten work side by side" wait_for all_work 10
	for dir in "$T"/runs/2*; do touch "$dir/artifacts/workload/go"; done
	for i in 0 1 2 3 4 5 6 7 8 9; do
		wait "${pids[$i]}"
		rc=$?
		dir=$(cat "$T/out.$i")
		[ $rc = 0 ] || bad="$bad; $i ended with $rc: $(cat "$T/err.$i")"
		[ "$(cat "$dir"/steps/*workload.out)" = "number $i $(basename "$dir")" ] || bad="$bad; $i has the output of another: $(cat "$dir"/steps/*workload.out)"
		[ "$(field "$dir/run.json" '.status + " " + .id')" = "success $(basename "$dir")" ] || bad="$bad; $i: $(field "$dir/run.json" .status)"
		grep -q "f$i" "$dir"/artifacts/outs/must.json || bad="$bad; $i has the artifact of another"
	done
	is "$1: each has its own results" "$bad" ""
	is "$1: ten directories" "$(cat "$T"/out.? | sort -u | wc -l)" 10
	check "$1: 'latest' is one of them" test -e "$T/runs/latest/run.json"
	is "$1: nothing else is left" "$(ls -A "$T/runs" | grep -vE '^2|^latest$')" ""
	is "$1: nobody is registered any more" "$(ls -A "$T/runtime/profrig")" ""
}
killed() { # engine: of six two are killed, and another begins and clears up while four still run
	local i bad= dir pids=()
	rm -rf "$T/runs"
	engine=$1
	mkdir -p "$T/runs"
	for i in 0 1 2 3 4 5; do start $i same; done
	wait_for all_work 6
	kill -9 "${pids[1]}" "${pids[4]}"
	wait "${pids[1]}" "${pids[4]}" 2>/dev/null
	code "$1: a run beside them clears up after the dead" 0 "$PROFRIG" run -o "$T/runs" --no-analyze --engine "$1" ${IMAGE:+--image $IMAGE} -- true
	is "$1: both of them" "$(grep -c 'marked interrupted' "$T/err")" 2
	for dir in "$T"/runs/2*; do touch "$dir/artifacts/workload/go"; done
	for i in 0 2 3 5; do
		wait "${pids[$i]}" || bad="$bad $i: $(cat "$T/err.$i")"
		[ "$(cat "$(cat "$T/out.$i")"/steps/*workload.out)" = "number $i $(basename "$(cat "$T/out.$i")")" ] || bad="$bad $i"
	done
	is "$1: the living end well" "$bad" ""
	is "$1: statuses" "$(cat "$T"/runs/2*/run.json | jq -r .status | sort | uniq -c | tr -s ' \n' ' ')" " 2 interrupted 5 success "
}
# Between the making of a run's folder and its lock others clear up: the run is alive, and its folder stays.
slow_to_lock() {
	rm -rf "$T/runs"
	LD_PRELOAD=$B/tests/fakes/slow_flock.so SLOW_FLOCK_MS=700 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true >"$T/out" 2>"$T/err" &
	local pid=$! swept=0 rc
	while kill -0 $pid 2>/dev/null && [ $swept -lt 1000 ]; do
		"$PROFRIG" -q doctor -o "$T/runs" --fix >/dev/null 2>&1
		swept=$((swept + 1))
	done
	wait $pid
	rc=$?
	echo "# swept $swept times"
	is "a run that is slow to lock its folder, beside doctor --fix" "$rc$(cat "$T/err")" 0
	is "its status" "$(field "$(cat "$T/out")/run.json" .status)" success
}
slow_to_lock
ten host
killed host
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine profrig-test:1 || not_ok "$engine: test image" "$engines_why"
		IMAGE=profrig-test:1
		ten $engine
		killed $engine
		none_there() { test -z "$($(engine_words $engine) ps -aq --filter label=profrig.run)"; }
		check "$engine: no container is left" wait_for none_there
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
