#!/usr/bin/env bash
# A run in a container is repeated with the image that it had, when the engine still has it.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

again() { "$PROFRIG" run --no-analyze -o "$T/runs" --replay "$@"; }
digest() { jq -r .image_digest "$(cat "$T/out")/run.json"; }
try() { # engine
	local words first then now
	words=$(engine_words "$1")
	code "$1: a run" 0 "$PROFRIG" run --no-analyze -o "$T/runs" --engine "$1" --image profrig-test:r -- sh -c 'echo performance: $IMAGE_SAYS 1 x/s; cat /usr/local/bin/word'
	first=$(cat "$T/out")
	then=$(digest)
	code "$1: again" 0 again "$first"
	is "$1: the same image" "$(digest)" "$then"
	like "$1: nothing differs" "$(cat "$T/err")" "nothing differs"
	# the name leads to another image; the old one is kept by another name
	$words tag profrig-test:r profrig-test:old
	echo two >"$T/word"
	test_image "$1" profrig-test:r "$T/word" || not_ok "$1: second image" "$engines_why"
	code "$1: after the name was given to another image" 0 again "$first"
	is "$1: the recorded one runs" "$(digest) $(tail -n 1 "$(cat "$T/out")"/steps/*.out)" "$then one"
	like "$1: which is said" "$(cat "$T/err")" "image 'profrig-test:r' is another one today; the run takes the recorded one, which $1 still has"
	like "$1: and is a difference" "$(cat "$T/err")" "image profrig-test:r +(sha256:)?[0-9a-f]{12} +(sha256:)?[0-9a-f]{12}"
	code "$1: a replay of that" 0 again "$(cat "$T/out")"
	is "$1: has it too" "$(digest)" "$then"
	code "$1: --image wins" 0 again "$first" --image profrig-test:r
	now=$(digest)
	check "$1: over the recorded one" test "$now" != "$then"
	$words rmi -f profrig-test:old >/dev/null 2>&1
	code "$1: when it is gone" 0 again "$first"
	is "$1: what has the name today runs" "$(digest) $(tail -n 1 "$(cat "$T/out")"/steps/*.out)" "$now two"
	like "$1: with a warning" "$(cat "$T/err")" "$1 does not have the recorded one .*takes what has this name today"
	$words rmi -f profrig-test:r >/dev/null 2>&1
	code "$1: no image at all" 4 "$PROFRIG" -q plan --check --replay "$first" --set container.pull=never
	code "$1: on the host instead" 0 again "$first" --engine host --set model.command='[true]'
}
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		echo one >"$T/word"
		test_image $engine profrig-test:r "$T/word" || not_ok "$engine: test image" "$engines_why"
		try $engine
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
