#!/usr/bin/env bash
# Stacking on every engine: order of pre scripts, wrappers, workload and post scripts, also when the workload fails.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

want='pre B pre A cmd B cmd A workload post A post B'
stack() { # engine, exit code of the workload
	"$PROFRIG" -q run -o "$T/runs-$1" --no-analyze --engine "$1" ${IMAGE:+--image $IMAGE} --tools-dir "$ROOT/tests/fixtures/tools" --tools A,B \
		-- /bin/sh -c "echo workload >>\"\$PROFRIG_RUN_DIR/artifacts/workload/order\"; exit $2"
}
both() { # engine
	code "$1: the run succeeds" 0 stack "$1" 0
	is "$1: order" "$(tr '\n' ' ' <"$(cat "$T/out")/artifacts/workload/order" | sed 's/ $//')" "$want"
	code "$1: a failing workload is exit 1" 1 stack "$1" 7
	is "$1: order, the post part too" "$(tr '\n' ' ' <"$(cat "$T/out")/artifacts/workload/order" | sed 's/ $//')" "$want"
	is "$1: status and the workload's own code" "$(field "$(cat "$T/out")/run.json" '.status + " " + (.exit_code | tostring)')" "failed 7"
	code "$1: a wrapped program that is not there is exit 4" 4 "$PROFRIG" -q run -o "$T/none-$1" --engine "$1" ${IMAGE:+--image $IMAGE} \
		--tools-dir "$ROOT/tests/fixtures/tools" --tools A,B -- ./nosuch
	like "$1: and named" "$(cat "$T/err")" "no program './nosuch'.*correct the command"
	check "$1: and nothing is left" test ! -e "$T/none-$1"
	stack "$1" 7 >"$T/out" 2>/dev/null
	is "$1: a script's output is in steps/" "$(cat "$(cat "$T/out")"/steps/*pre*A*.out)" "pre A"
}
both host
mkdir "$T/tools"
printf '%s\n' 'name: leave_out' 'class: env' 'env: {GIVEN: g}' 'unset: [STALE]' >"$T/tools/leave_out.yaml"
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		if test_image $engine profrig-test:1; then
			IMAGE=profrig-test:1 both $engine
			is "$engine: no container is left" "$($(engine_words $engine) ps -aq --filter label=profrig.run)" ""
			# As a variable of the image would be.
			code "$engine: a tool that unsets variables" 0 "$PROFRIG" -q run -o "$T/unset" --no-analyze --engine $engine --image profrig-test:1 --tools-dir "$T/tools" \
				--tools leave_out --set 'container.options=[--env, STALE=1, --env, KEPT=1]' -- /bin/sh -c 'echo "${STALE-none} ${KEPT-none}"'
			is "$engine: leaves them out" "$(cat "$(cat "$T/out")"/steps/*-workload.out)" "none 1"
			code "$engine: --keep" 0 "$PROFRIG" -q run -o "$T/kept" --keep --no-analyze --engine $engine --image profrig-test:1 -- true
			is "$engine: --keep leaves the ended container" "$($(engine_words $engine) ps -aq --filter label=profrig.run | wc -l)" 1
			$(engine_words $engine) rm -f "profrig-$(basename "$(cat "$T/out")")" >/dev/null
		else
			not_ok "$engine: test image" "$engines_why"
		fi
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
