#!/usr/bin/env bash
# The agent or the engine dies, stops or never answers, at each phase of a run: the run ends by itself, says why, and leaves nobody behind.
# (Real engines that are killed: engine_dies.sh, engines.sh.)
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
tools=$T/tools
mkdir -p tools
printf '#!/bin/sh\n. "%s/hook"\n' "$T" >tools/hook.sh
printf 'name: pre\nclass: script\npre_scripts: [{path: hook.sh}]\n' >tools/pre.yaml
printf 'name: post\nclass: script\npost_scripts: [{path: hook.sh}]\n' >tools/post.yaml
chmod +x tools/hook.sh
echo true >hook
nobody_of() { ! grep -lqsa "PROFRIG_RUN_ID=$1" /proc/[0-9]*/environ && ! pgrep -f "profrig-init --run $1" >/dev/null; }
fault() { # name, exit code, status, pattern, seconds it may take, options and command of run
	local name=$1 want=$2 status=$3 pattern=$4 limit=$5 dir begun=$SECONDS
	shift 5
	rm -rf runs
	code "$name" "$want" timeout 120 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze --set grace=0.5 --tools-dir "$tools" "$@"
	check "$name: not later than $limit s" test $((SECONDS - begun)) -le "$limit"
	dir=$(cat out)
	is "$name: status" "$(field "$dir/run.json" .status)" "$status"
	like "$name: reason" "$(field "$dir/run.json" .reason)" "$pattern"
	check "$name: run.json is complete" jq -e .ended_utc "$dir/run.json"
	check "$name: nobody is left" wait_for nobody_of "$(basename "$dir")"
	is "$name: nobody is registered" "$(ls -A "$T/runtime/profrig")" ""
	check "$name: report accepts it" "$PROFRIG" -q report "$dir"
}
# What waits for a deadline does it beside the rest.
stops() { fault "the agent stops" 1 timeout "took longer than 1 s" 60 --timeout 1 -- sh -c 'sleep 0.5; kill -STOP $PPID; sleep 300'; }
beside stops
for sig in KILL SEGV ABRT; do
	fault "the agent gets SIG$sig" 1 failed "profrig-init was killed by SIG$sig while 'workload' ran" 30 -- sh -c "echo out; kill -$sig \$PPID; sleep 60"
done
is "what the workload had printed is kept" "$(cat "$(cat out)"/steps/*workload.out)" out
echo 'kill -9 $PPID; sleep 60' >hook
fault "the agent is killed in a pre script" 1 failed "profrig-init was killed by SIGKILL while '.*pre" 30 --tools pre -- true
fault "the agent is killed in a post script" 1 failed "profrig-init was killed by SIGKILL while '.*post" 30 --tools post -- true
echo true >hook

# An engine: the words are those of docker's command line. HOW says what goes wrong.
cat >docker <<'D'
#!/bin/bash
case "$1 $2" in
"version --format") [ "$HOW" = denied ] && { echo "Permission denied while trying to connect to the daemon's socket" >&2; exit 1; }; [ "$HOW" = hang-version ] && sleep 300; echo 1 ;;
"image inspect") [ "$HOW" = hang-inspect ] && sleep 300; echo sha256:1 ;;
"ps --all") ;;
run*)
	echo $$ >>"$T/clients"
	while [ "$1" != --run ]; do shift; done
	case $HOW in
	hang) exec sleep 300 ;;
	denied) echo "docker: Permission denied" >&2; exit 126 ;;
	words) printf "unknown flag: --nosuch\n\nUsage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]\n\nRun 'docker run --help' for more information\n" >&2; exit 125 ;;
	noise) yes 'this is no event' | head -n 200000 ;;
	long) head -c 20000000 /dev/zero; echo ;;
	liar) read -r line; key=$(jq -r .key <<<"$line"); echo "$key "'{"ev":"hello","protocol":3}'
		for i in 1 2 3; do read -r line; for ev in '{"ev":"exited","id":77,"code":0}' '{"ev":[]}' '{'; do echo "$key $ev"; done; done; exit 3 ;;
	old) echo '{"ev":"hello","protocol":1,"version":"0.1.0"}'; sleep 300 ;;
	esac
	exec "$AGENT" --run "$2" ;;
esac
D
chmod +x docker
export T HOW AGENT=$B/profrig-init PROFRIG_DOCKER=$T/docker
old() { HOW=old fault "an agent of an older version" 1 failed "of another version" 30 --engine docker --image x -- true; }
liar() { HOW=liar fault "an engine that answers nonsense" 1 failed "docker ended with status 3|gave no answer" 90 --engine docker --image x -- true; }
no_version() {
	HOW=hang-version code "a daemon that does not answer what version it is" 0 timeout 100 "$PROFRIG" -q run -o "$T/runs" --engine docker --image x --no-analyze -- true
	is "a daemon that does not answer: it is not known then" "$(field "$(cat out)/run.json" .versions.engine)" null
}
interrupted() { # name, HOW: Ctrl-C while the engine hangs
	local pid
	rm -rf runs clients
	HOW=$2 "$PROFRIG" -q run -o "$T/runs" --engine docker --image x --no-analyze -- sleep 60 >out 2>err &
	pid=$!
	wait_for test -s clients
	sleep 0.3
	kill -INT $pid
	SECONDS=0
	wait $pid
	is "$1: Ctrl-C is 130" $? 130
	check "$1: at once, mostly" test $SECONDS -le 40
	check "$1: the engine's client is ended" sh -c "! kill -0 $(head -n 1 clients) 2>/dev/null"
}
HOW=words code "an engine that cannot take the words" 4 "$PROFRIG" -q run -o "$T/runs" --engine docker --image x -- true
like "says what is wrong, not where help is" "$(cat err)" "ended with status 125: unknown flag: --nosuch"
HOW=denied code "an engine that is not for the caller" 4 "$PROFRIG" -q run -o "$T/runs" --engine docker --image x -- true
like "is not to be installed again" "$(cat err)" "usermod -aG docker"
beside liar
beside old
beside no_version
beside interrupted "an engine that hangs" hang
HOW=noise fault "an engine that prints what is no event" 0 success "" 30 --engine docker --image x -- true
HOW=long fault "an engine that prints a line of 20 MB" 0 success "" 30 --engine docker --image x -- true
all_told
