#!/usr/bin/env bash
# Container engines: what a run needs of them, and what happens when they, or the container, die in the middle of one.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
tools=$ROOT/tests/fixtures/tools
image=profrig-test:1
trace="echo '[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"f\"},' | tee \$OUTS/may.json >\$OUTS/must.json"

run() { # options… -- command
	"$PROFRIG" -q run -o "$T/runs" --engine "$engine" --image "$image" --tools-dir "$tools" "$@"
}
dir() { cat "$T/out"; }
json() { field "$(dir)/run.json" "$1"; }
containers() { $(engine_words "$engine") ps -aq --filter label=profrig.run; }
none_there() { test -z "$(containers)"; }
no_container() { wait_for none_there; }
agent_gone() {
	local left
	left=$(commands_with "profrig-init --run $1" | grep "^[^ ]*profrig-init --run $1")
	test -z "$left" || { echo "$left"; return 1; }
}
# background SECONDS: a run that would take so long; waits until its workload works
background() {
	rm -f "$T/runs/latest"
	"$PROFRIG" -q run -o "$T/runs" --engine "$engine" --image "$image" --tools-dir "$tools" --set grace=1 --tools A -- /bin/sh -c "touch \"\$PROFRIG_RUN_DIR/artifacts/workload/working\"; sleep $1" >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for test -e "$T/runs/latest/artifacts/workload/working" || not_ok "$engine: a run begins" "$(cat "$T/err")"
}
complete() {
	check "$engine: $1: the run directory is complete" jq -e '.schema == "profrig.run/1" and .ended_utc and (.steps | length > 0)' "$(dir)/run.json"
}

steps() {
	code "$engine: a run" 0 run -- /bin/sh -c 'echo "$IMAGE_SAYS $PROFRIG_RUN_ID $$"; echo performance: 7 x/s; while kill -0 $$; do :; done 2>/dev/null & exit 0'
	is "$engine: the image's environment and ours" "$(cut -d' ' -f1,2 "$(dir)/steps/01-workload.out" | head -n 1)" "hello $(json .id)"
	is "$engine: the image's digest is noted" "$(json .image_digest)" "$($(engine_words "$engine") image inspect --format '{{.Id}}' "$image")"
	is "$engine: the metric" "$(json '.metrics[0] | "\(.name) \(.value) \(.unit)"')" "performance 7 x/s"
	check "$engine: the workload's pid inside and outside" jq -e '.steps[0] | .host_pid > 0 and .host_pid != .pid' "$(dir)/run.json"
	is "$engine: no C library in this image" "$(json .versions.libc)" none
	code "$engine: the caller's environment stays outside" 0 env LEAK=1 "$PROFRIG" -q run -o "$T/runs" --engine "$engine" --image "$image" -- /bin/sh -c 'env'
	check "$engine: it is not there" sh -c "! grep -q LEAK '$(dir)/steps/01-workload.out'"
	HF_TOKEN=sesame-open-9 code "$engine: a secret" 0 run --set 'secrets={HF_TOKEN: {from_env: HF_TOKEN}}' -- /bin/sh -c 'test "${#HF_TOKEN}" = 13'
	check "$engine: it is written nowhere" sh -c "! grep -rq sesame-open '$(dir)'"
	code "$engine: another user" 0 run --set container.user=1000:1000 -- /bin/sh -c 'id -u'
	is "$engine: it is that user" "$(cat "$(dir)/steps/01-workload.out")" 1000
	IMAGE_USER=1000 test_image "$engine" profrig-test:user || not_ok "$engine: image with a user" "$engines_why"
	umask 077
	code "$engine: another user and our own umask" 0 run --set container.user=1000:1000 --tools outs -- /bin/sh -c "$trace"
	code "$engine: an image with a user of its own" 0 "$PROFRIG" -q run -o "$T/runs" --engine "$engine" --image profrig-test:user --tools-dir "$tools" \
		--tools outs -- /bin/sh -c "id -u; $trace"
	umask 022
	is "$engine: it is that user" "$(cat "$(dir)/steps/01-workload.out")" 1000
	is "$engine: what it wrote was found" "$(json '[.artifacts[].verdict] | join(" ")')" "valid valid"
	code "$engine: a daemon in the container is found and ended" 1 run -- /bin/sh -c '(setsid sleep 300 </dev/null >/dev/null 2>&1 &) ; sleep 0.2; exit 0'
	like "$engine: its reason" "$(json .reason)" "left 1 process running"
	code "$engine: a timeout" 1 run --timeout 1 --set grace=0.5 -- /bin/sh -c 'trap "" INT TERM; while :; do sleep 0.1; done'
	is "$engine: its status" "$(json .status)" timeout
	check "$engine: no container is left" no_container
}
missing() {
	rm -rf "$T/none"
	code "$engine: an image that is not there and may not be pulled is 4" 4 "$PROFRIG" run -o "$T/none" --engine "$engine" --image nosuch:9 --set container.pull=never -- true
	like "$engine: says so" "$(cat "$T/err")" "image 'nosuch:9' is not there"
	code "$engine: what the image lacks is 4" 4 "$PROFRIG" run -o "$T/none" --engine "$engine" --image "$image" --tools-dir "$tools" --tools absent -- true
	like "$engine: names both" "$(cat "$T/err")" "no-such-profiler-here.*libno-such-library.so.9"
	code "$engine: a preload for another C library is 4" 4 "$PROFRIG" run -o "$T/none" --engine "$engine" --image "$image" --tools blas_trace -- true
	like "$engine: says why" "$(cat "$T/err")" "libprofrig_blas.so.*needs glibc; the C library here is none"
	check "$engine: no run directory was made" test ! -e "$T/none"
	check "$engine: no container is left" no_container
}
deaths() {
	background 900
	$(engine_words "$engine") rm -f "profrig-$(basename "$(readlink "$T/runs/latest")")" >/dev/null 2>&1
	wait "$pid"
	is "$engine: the container is removed: exit 1" "$?" 1
	is "$engine: status" "$(json .status)" failed
	like "$engine: the reason names the engine and the step" "$(json .reason)" "($engine|container) .* while 'workload' ran"
	complete "container removed"

	background 900
	kill -INT "$pid"
	wait "$pid"
	is "$engine: Ctrl-C: 130" "$?" 130
	is "$engine: the signal arrived" "$(json '[.steps[] | select(.kind == "workload") | .signal] | join(" ")')" SIGINT
	like "$engine: post scripts ran" "$(cat "$(dir)/artifacts/workload/order")" "post A"
	complete "Ctrl-C"

	background 900
	local client
	client=$(pgrep -P "$pid" -f "run --rm -i" | head -n 1)
	kill -9 "$client"
	wait "$pid"
	is "$engine: kill -9 of the engine's client: exit 1" "$?" 1
	like "$engine: its reason" "$(json .reason)" "$engine was killed by SIGKILL while 'workload' ran"
	complete "client killed"
	check "$engine: the container is gone" no_container

	background 900
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "$engine: kill -9 of profrig: the container ends by itself" no_container
}
dockerd_dies() {
	background 900
	kill -9 "$engines_dockerd_pid"
	wait "$pid"
	is "docker: the daemon is killed: exit 1" "$?" 1
	like "docker: its reason" "$(json .reason)" "docker .* while 'workload' ran"
	complete "daemon killed"
	# The container would live on under its shim, whose end of the agent's input stays open.
	check "docker: no process is left" wait_for agent_gone "$(json .id)"
}

for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine $image || not_ok "$engine: test image" "$engines_why"
		steps
		missing
		deaths
		[ $engine = podman ] || dockerd_dies
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
