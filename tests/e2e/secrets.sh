#!/usr/bin/env bash
# Secrets reach the workload and nothing else: no argv, no file of the run directory, no line of output, on every engine.
# It looks at the command line of every process there is, so its secrets are words that no other test has.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

word=hunter$$
# as an expression that does not find itself
pattern="hunter[${word:6:1}]${word:7}-[a-z]+"
# The workload proves that it has them without naming them: by their lengths.
cat >"$T/c.yaml" <<Y
model: {name: s, command: [/bin/sh, -c, 'sleep 0.5; test \${#HF_TOKEN} = $((${#word} + 6)) && test \${#MY_API_KEY} = $((${#word} + 4)) && test \${#TOKENIZERS_PARALLELISM} = 5']}
env: {MY_API_KEY: $word-key, TOKENIZERS_PARALLELISM: "false"}
secrets: {HF_TOKEN: {from_env: GIVEN}}
tools: [{name: A}]
Y
try() { # engine
	local seen=
	GIVEN=$word-token "$PROFRIG" run -v -v -o "$T/runs-$1" --engine "$1" ${IMAGE:+--image $IMAGE} --tools-dir "$ROOT/tests/fixtures/tools" --config "$T/c.yaml" >"$T/out" 2>"$T/err" &
	local pid=$!
	while kill -0 $pid 2>/dev/null; do
		seen+=$(grep -aohsE "$pattern" /proc/[0-9]*/cmdline)
		sleep 0.05
	done
	wait $pid
	is "$1: the workload has its secrets" "$?" 0
	is "$1: no process has them in its argv" "$seen" ""
	check "$1: no file of the run holds them" sh -c "test -d '$T/runs-$1' && ! grep -rl $word '$T/runs-$1'"
	check "$1: nothing printed holds them" sh -c "! grep $word '$T/err'"
	check "$1: other variables are recorded" grep -q TOKENIZERS_PARALLELISM "$(cat "$T/out")/plan.json"
}
try host
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine profrig-test:1 || not_ok "$engine: test image" "$engines_why"
		IMAGE=profrig-test:1 try $engine
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
