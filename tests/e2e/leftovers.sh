#!/usr/bin/env bash
# What a killed run leaves: `doctor` and the next run finish registered ones off; of others `doctor` lists it with its size, and `doctor --fix` removes
# it. Nothing that lives or is somebody else's is touched.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
tools=$ROOT/tests/fixtures/tools
cd "$T" || exit 1

begin() { # runs folder, options…: a run that waits; its pid in $pid, its directory in $dir
	local runs=$1
	shift
	rm -f "$runs/latest"
	"$PROFRIG" -q run -o "$runs" --no-analyze "$@" -- /bin/sh -c 'touch "$PROFRIG_RUN_DIR/artifacts/workload/working"; trap "" TERM; while :; do sleep 0.1; done' >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for test -e "$runs/latest/artifacts/workload/working" || not_ok "a run begins" "$(cat "$T/err")"
	dir=$(readlink -f "$runs/latest")
}
# A dead run, from a good one: as if its profrig had been killed and the machine been started again. run.json, the lock, a socket, a FIFO, half a file.
forget() { # run directory
	jq '.status = "running" | .ended_utc = null' "$1/run.json" >"$1/.profrig-1-0.tmp" && cp "$1/.profrig-1-0.tmp" "$1/run.json"
	touch "$1/.lock"
	head -c 100000 /dev/zero >"$1/.reserve"
	mkfifo "$1/artifacts/pipe"
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1/s" 2>/dev/null || mkfifo "$1/s"
}
found() { # kind: "state what" of each leftover of a kind
	jq -r --arg k "$1" '.[] | select(.kind == "leftover" and (.detail | startswith($k + ":"))) | .state + " " + .name' "$T/doctor"
}
doctor() { "$PROFRIG" doctor -o "$@" --json >"$T/doctor" 2>"$T/err"; }

code "a run" 0 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
dead=$(cat "$T/out")
forget "$dead"
mkdir -p "$T/runs/.20260101T000000Z-x-abcdef.tmp" && touch "$T/runs/.20260101T000000Z-x-abcdef.tmp/.lock"
ln -s nothing "$T/runs/.latest.20260101T000000Z-x-abcdef" && touch -hd '10 minutes ago' "$T/runs/.latest.20260101T000000Z-x-abcdef"
mkdir -p "$T/runs/mine.tmp" "$T/runs/.mine.tmp"
code "doctor" 0 doctor "$T/runs"
is "doctor lists the run" "$(found run)" "left $dead"
is "doctor lists half-written files, sockets and FIFOs" "$(found file | wc -l)" 5
is "doctor lists a folder that never was a run" "$(found folder)" "left $T/runs/.20260101T000000Z-x-abcdef.tmp"
check "doctor says how large" jq -e '[.[] | select(.name | test("[.]reserve$")) | .bytes | tonumber] | .[0] >= 100000' "$T/doctor"
like "doctor says what to do" "$(cat "$T/err")" "doctor --fix"
is "doctor alone changes nothing that nobody registered" "$(field "$dead/run.json" .status)" running
code "doctor --fix" 0 doctor "$T/runs" --fix
is "the run is marked" "$(field "$dead/run.json" .status)" interrupted
like "doctor --fix says so" "$(found run)" "^gone "
check "all is gone" sh -c "test ! -e '$dead/.lock' -a ! -e '$dead/.reserve' -a ! -e '$dead/s' -a ! -e '$dead/artifacts/pipe' -a ! -e '$dead/.profrig-1-0.tmp' \
	-a ! -e '$T/runs/.20260101T000000Z-x-abcdef.tmp' -a ! -L '$T/runs/.latest.20260101T000000Z-x-abcdef'"
check "what has no name of ours stays" test -d "$T/runs/mine.tmp" -a -d "$T/runs/.mine.tmp"
check "report accepts the run" "$PROFRIG" -q report "$dead"
code "doctor again" 0 doctor "$T/runs" --fix
is "there is nothing more" "$(jq '[.[] | select(.kind == "leftover")] | length' "$T/doctor")" 0

code "a run" 0 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
dead=$(cat "$T/out")
forget "$dead"
code "the next run in that folder" 0 "$PROFRIG" run -o "$T/runs" --engine host --no-analyze -- true
like "it says what it did" "$(cat "$T/err")" "marked interrupted, its profrig had died"
is "and did it" "$(field "$dead/run.json" .status)" interrupted
check "and left no file of it" sh -c "test ! -e '$dead/.lock' -a ! -e '$dead/s' -a ! -e '$dead/artifacts/pipe'"

forget "$dead"
jq '.host.hostname = "another"' "$dead/run.json" >"$T/j" && cp "$T/j" "$dead/run.json"
code "a run of another machine on a shared disk" 0 doctor "$T/runs" --fix
is "is not touched" "$(field "$dead/run.json" .status)" running
rm -rf "$dead"

begin "$T/runs" --engine host
code "doctor --fix beside a live run" 0 doctor "$T/runs" --fix
is "it finds nothing" "$(jq '[.[] | select(.kind == "leftover")] | length' "$T/doctor")" 0
XDG_RUNTIME_DIR=$T/other code "a profrig that does not know its registry" 0 doctor "$T/runs" --fix
is "finds nothing either" "$(jq '[.[] | select(.kind == "leftover")] | length' "$T/doctor")" 0
check "the run lives" kill -0 "$pid"
is "and says so" "$(field "$dir/run.json" .status)" running
agent=$(pgrep -f "profrig-init --run $(basename "$dir")" | head -n 1)
kill -STOP "$agent"
kill -9 "$pid"
wait "$pid" 2>/dev/null
code "doctor finishes a killed run off" 0 doctor "$T/runs"
like "with its processes" "$(found processes)" "^gone [1-9] process"
is "and marks it" "$(field "$dir/run.json" .status)" interrupted
begin "$T/runs" --engine host
agent=$(pgrep -f "profrig-init --run $(basename "$dir")" | head -n 1)
kill -STOP "$agent"
kill -9 "$pid"
wait "$pid" 2>/dev/null
mv "$T/runtime/profrig/$(basename "$dir")" "$T/entry"
code "doctor sees processes that nobody registered" 0 doctor "$T/runs"
like "as long as they live" "$(found processes)" "^left [2-9] processes"
kill -9 "$agent"
code "also when the registry was lost" 0 doctor "$T/runs" --fix
is "its run is marked" "$(field "$dir/run.json" .status)" interrupted
check "nobody is left" sh -c "! grep -lqsa '$(basename "$dir")' /proc/[0-9]*/environ"

if [ "$(id -u)" = 0 ]; then
	code "a run" 0 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
	dead=$(cat "$T/out")
	forget "$dead"
	mkdir "$dead/artifacts/a b"
	check "something is mounted there" mount -t tmpfs none "$dead/artifacts/a b"
	touch "$dead/artifacts/a b/.profrig-1-0.tmp"
	code "doctor --fix" 0 doctor "$T/runs" --fix
	is "unmounts it" "$(found mount)" "gone $dead/artifacts/a b"
	check "it is not mounted" sh -c "! grep -q '$(basename "$dead")' /proc/self/mountinfo"
else
	skip "a mount" "only root mounts"
fi

folder() { # name, command…: a registry folder that cannot be trusted
	local name=$1
	shift
	rm -rf "$T/bad"
	mkdir -p "$T/bad"
	"$@"
	code "$name: the run goes on" 0 env XDG_RUNTIME_DIR="$T/bad" "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
	is "$name: and says it is not registered" "$(field "$(cat "$T/out")/run.json" '[.warnings[].code] | join(" ")')" W_NOT_REGISTERED
}
folder "a registry that is a link" ln -s "$T/elsewhere" "$T/bad/profrig"
check "nothing was made behind it" test ! -e "$T/elsewhere"
mkdir "$T/elsewhere"
folder "a registry that is a link to a folder" ln -s "$T/elsewhere" "$T/bad/profrig"
is "nothing was put there" "$(ls -A "$T/elsewhere")" ""
folder "a registry that is a file" touch "$T/bad/profrig"
if [ "$(id -u)" = 0 ]; then
	somebody() { mkdir "$T/bad/profrig" && chown 1000 "$T/bad/profrig"; }
	folder "a registry of another user" somebody
	XDG_RUNTIME_DIR=$T/bad "$PROFRIG" doctor -o "$T/runs" >/dev/null 2>"$T/err"
	is "doctor says so, once" "$(grep -c 'is not a folder of ours' "$T/err")" 1
fi
open() { mkdir -m 777 "$T/bad/profrig"; }
open_folder() { rm -rf "$T/bad"; mkdir "$T/bad"; open; }
open_folder
code "a registry that others may write" 0 env XDG_RUNTIME_DIR="$T/bad" "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
is "is closed to them" "$(stat -c %a "$T/bad/profrig")" 700

stray() { # engine: containers that the registry has forgotten
	local image=profrig-test:1 id=20260101T000000Z-x-abcdef words
	words=$(engine_words "$1")
	begin "$T/runs-$1" --engine "$1" --image $image
	# shellcheck disable=SC2086
	$words run -d --name "profrig-$id" --label profrig.run=$id $image /bin/sh -c 'sleep 900' >/dev/null
	mkdir -p "$T/gone/20260102T000000Z-x-abcdef"
	# shellcheck disable=SC2086
	$words run -d --name profrig-gone --label profrig.run=20260102T000000Z-x-abcdef -v "$T/gone/20260102T000000Z-x-abcdef:/x" $image /bin/sh -c 'sleep 900' >/dev/null
	code "$1: a kept container" 0 "$PROFRIG" -q run -o "$T/kept-$1" --keep --no-analyze --engine "$1" --image $image -- true
	code "$1: doctor --fix" 0 env XDG_RUNTIME_DIR="$T/other" "$PROFRIG" doctor -o "$T/runs-$1" --fix --json
	cp "$T/out" "$T/doctor"
	like "$1: a container of a dead run that nobody remembers is removed" "$(found container)" "gone profrig-gone"
	like "$1: one of which nothing is known is listed and kept" "$(found container)" "kept profrig-$id"
	like "$1: one that --keep kept is kept" "$(found container)" "kept profrig-.*-true-"
	check "$1: the live run is not touched" kill -0 "$pid"
	is "$1: three are left" "$($words ps -aq --filter label=profrig.run | wc -l)" 3
	kill -INT "$pid"
	kill -INT "$pid"
	wait "$pid"
	# shellcheck disable=SC2046
	$words rm -f $($words ps -aq --filter label=profrig.run) >/dev/null 2>&1
}
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine profrig-test:1 || not_ok "$engine: test image" "$engines_why"
		stray $engine
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
