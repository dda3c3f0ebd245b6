#!/usr/bin/env bash
# kill -9 of profrig at 20 random moments of a run, on each engine: `report` accepts every directory, and the next profrig leaves no container and no process.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
RANDOM=${SEED:-$$}
echo "# SEED=$RANDOM"

# the model's name is in the run id and so in the agent's command line
mark=profrig-kill9-$$
begin() { # engine: one run in the background, its pid in $pid
	"$PROFRIG" -q run -o "$T/runs-$1" --engine "$1" ${IMAGE:+--image $IMAGE} --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power --set model.name=$mark \
		-- /bin/sh -c "sleep 0.2; : $mark; sleep 0.4" >/dev/null 2>"$T/err" &
	pid=$!
}
nobody() {
	local left
	left=$(commands_with "$mark")
	test -z "$left" || { echo "$left"; return 1; }
}
no_container() { # engine
	test -z "$($(engine_words "$1") ps -aq --filter label=profrig.run)"
}
storm() { # engine, rounds: kills at moments all over the length of a whole run
	local engine=$1 rounds=$2 i pid dirs=0 bad=0 why= took=$(date +%s%N) ms
	begin "$engine"
	wait $pid
	took=$((($(date +%s%N) - took) / 1000000))
	echo "# $engine: a whole run takes $took ms"
	for i in $(seq "$rounds"); do
		begin "$engine"
		ms=$((took * (RANDOM % 1000) / 1000))
		sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
	done
	"$PROFRIG" doctor --fix >"$T/doctor" 2>&1
	for d in "$T/runs-$engine"/2*; do
		[ -d "$d" ] || continue
		dirs=$((dirs + 1))
		if ! "$PROFRIG" -q report "$d" >"$T/check" 2>&1; then
			bad=$((bad + 1))
			why="$why $d: $(cat "$T/check")"
		fi
		case $(field "$d/run.json" .status) in
		interrupted | success) ;;
		*) bad=$((bad + 1)) why="$why $d: status $(field "$d/run.json" .status)" ;;
		esac
	done
	echo "# $engine: $dirs run directories of $rounds kills"
	check "$engine: some runs had begun" test "$dirs" -gt 0
	is "$engine: report accepts every directory, none is still running" "$bad$why" 0
	# an engine's client needs a moment to notice that its container is gone
	check "$engine: no process is left" wait_for nobody
}
storm host 20
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine profrig-test:1 || not_ok "$engine: test image" "$engines_why"
		IMAGE=profrig-test:1 storm $engine 20
		check "$engine: no container is left" wait_for no_container $engine
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
