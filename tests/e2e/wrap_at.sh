#!/usr/bin/env bash
# Tools in front of one program of the workload and not of the shell that starts it: what a profiler sees, on host and in a container.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
mkdir "$T/t" "$T/bin"
# A tracer that notes every program it is put in front of.
cat >"$T/t/note.yaml" <<'Y'
name: note
about: notes what it starts
class: wrap
wrap: [sh, -c, 'echo "$*" >>"$0"; exec "$@"', "{out}/started.log"]
outputs: [{glob: started.log, match: [""]}]
Y
printf '#!/bin/sh\necho "real $*"; exec sh -c "echo child; exit ${STATUS:-0}"\n' >"$T/bin/train"
cat >"$T/run.sh" <<'S'
#!/bin/sh
echo start | cat | head -n 1
ls / >/dev/null
train -- --epochs 3 "a  b" '$HOME'
status=$?
grep -c . /etc/passwd >/dev/null
exit $status
S
chmod +x "$T/bin/train" "$T/run.sh"
run() { # ENGINE WORDS…
	local engine=$1
	shift
	"$PROFRIG" -q run --no-analyze -o "$T/runs" --engine "$engine" --tools-dir "$T/t" --tools note "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
started() { cat "$run/artifacts/note/started.log"; }
cd "$T" || exit 1
PATH=$T/bin:$PATH
code "in front of the whole workload" 0 run host -- ./run.sh
is "a tool stands before the shell" "$(started)" "./run.sh"
code "in front of one program" 0 run host --wrap-at train -- ./run.sh
is "it stands there alone, the words are untouched" "$(started)" 'train -- --epochs 3 a  b $HOME'
is "and the workload is the same" "$(tr '\n' '|' <"$(echo "$run"/steps/*-workload.out)")" 'start|real -- --epochs 3 a  b $HOME|child|'
STATUS=6 code "its status is the workload's" 1 run host --wrap-at train -- ./run.sh
is "as ever" "$(jq -r .exit_code "$run/run.json")" 6
code "a program that starts itself" 0 run host --wrap-at sh -- sh -c 'sh -c "sh -c true"'
is "is not wrapped twice" "$(started | wc -l)" 1
code "several programs" 0 run host --wrap-at train,ls -- ./run.sh
is "each have it" "$(started | cut -d ' ' -f 1 | tr '\n' ' ')" "ls train "
code "a program that never starts" 7 run host --wrap-at trian -- ./run.sh
like "is told" "$(jq -r .reason "$run/run.json")" "did the workload start one of wrap_at's programs by its name"
code "the configuration says it too" 0 run host --set 'wrap_at=[train]' -- ./run.sh
is "alike" "$(started | wc -l)" 1
"$PROFRIG" -q plan --format sh --engine host --tools-dir "$T/t" --tools note -o "$T/byhand" --wrap-at train -- ./run.sh >"$T/plan.sh"
code "the plan as a script" 0 sh "$T/plan.sh"
is "does the same" "$(cat "$T"/byhand/*/artifacts/note/started.log)" 'train -- --epochs 3 a  b $HOME'
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		if test_image $engine profrig-wrap:1 "$T/bin/train"; then
			code "$engine" 0 run $engine --image profrig-wrap:1 --wrap-at train -- ./run.sh
			is "$engine: with the PATH of the image" "$(started)" 'train -- --epochs 3 a  b $HOME'
		else
			not_ok "$engine: test image" "$engines_why"
		fi
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
