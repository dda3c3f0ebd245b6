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
like "is reported" "$(jq -r .reason "$run/run.json")" "did the workload start one of wrap_at's programs"
# Tools that may leave nothing behind: nobody else would tell.
sed 's/^name: note/name: quiet/; /^outputs/d' "$T/t/note.yaml" >"$T/t/quiet.yaml"
warned() { jq -r '.warnings[] | select(.code == "W_WRAP_AT") | .text' "$run/run.json"; }
code "a program that never starts, of a tool that needs no output" 0 run host --tools quiet --wrap-at trian,eval -- ./run.sh
like "is reported, with what to do" "$(warned)" "^wrap_at: the tools were in front of nothing, as nothing called 'trian' or 'eval' was seen to start: correct the name .*, or do without wrap_at$"
like "also at the end, on stderr" "$("$PROFRIG" run --no-analyze -o "$T/runs" --engine host --tools-dir "$T/t" --tools quiet --wrap-at trian -- true 2>&1 >"$T/out" | grep warning:)" "warning: wrap_at: the tools were in front of nothing"
code "one of two" 0 run host --tools quiet --wrap-at trian,train -- ./run.sh
is "is enough" "$(warned)" ""
is "each start has a line" "$(cat "$run/steps/wrap_at.log")" train
printf '%s\n' '#include <unistd.h>' 'int main(int argc, char **argv) { (void)argc; return execv(argv[1], argv + 1); }' >"$T/still.c"
if gcc -static -o "$T/still" "$T/still.c" 2>"$T/err"; then
	code "a static program that starts it by its path" 0 run host --tools quiet --wrap-at train -- "$T/still" "$T/bin/train"
	like "is not seen, and that is reported" "$(warned)" "what a statically linked program starts by a path is not seen"
	code "that program itself" 0 run host --wrap-at still -- "$T/still" "$T/bin/train"
	is "is" "$(started)" "$T/still $T/bin/train"
else
	skip "a static program" "gcc -static does not work here"
fi
code "a program that is told another name" 0 run host --wrap-at train -- bash -c 'exec -a other "$0" x' "$T/bin/train"
is "is what its file is called" "$(started)" "$T/bin/train x"
code "the configuration says it too" 0 run host --set 'wrap_at=[train]' -- ./run.sh
is "alike" "$(started | wc -l)" 1
# By a path, and by the first line of a script.
mkdir "$T/venv"
cp "$T/bin/train" "$T/venv/train"
printf '#!%s -e\n# a script of train\n' "$T/bin/interp" >"$T/bin/tool"
printf '#!/bin/sh\necho "interp $*"\n' >"$T/bin/interp"
chmod +x "$T/bin/interp" "$T/bin/tool"
cat >"$T/starts.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	const char *how = argv[1], *what = argv[2];
	char *words[] = { argv[2], "a  b", "$HOME", NULL };
	pid_t pid;
	int status = 0, r;

	if (!strncmp(how, "posix_spawn", 11)) {
		r = (strcmp(how, "posix_spawn") ? posix_spawnp : posix_spawn)(&pid, what, NULL, NULL, words, environ);
		if (r)
			return 100 + r;
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (pid == 0) {
			execve(what, words, environ);
			_exit(100 + errno);
		}
		waitpid(pid, &status, 0);
		return WEXITSTATUS(status);
	}
	if (!strcmp(how, "execve")) execve(what, words, environ);
	if (!strcmp(how, "execv")) execv(what, words);
	if (!strcmp(how, "execvp")) execvp(what, words);
	if (!strcmp(how, "execvpe")) execvpe(what, words, environ);
	if (!strcmp(how, "execl")) execl(what, what, "a  b", "$HOME", (char *)NULL);
	if (!strcmp(how, "execlp")) execlp(what, what, "a  b", "$HOME", (char *)NULL);
	if (!strcmp(how, "execle")) execle(what, what, "a  b", "$HOME", (char *)NULL, environ);
	return 100 + errno;
}
C
check "a program that starts others" gcc -o "$T/starts" "$T/starts.c"
for how in execve execv execvp execvpe execl execlp execle posix_spawn posix_spawnp vfork; do
	code "$how of a path" 0 run host --wrap-at train -- "$T/starts" $how "$T/venv/train"
	is "$how: has the tool" "$(started)" "$T/venv/train a  b \$HOME"
	is "$how: the program has its words" "$(head -n 1 "$(echo "$run"/steps/*-workload.out)")" 'real a  b $HOME'
	code "$how of what is not there" 1 run host --wrap-at train -- "$T/starts" $how "$T/nowhere/train"
	is "$how: fails as ever" "$(jq -r .exit_code "$run/run.json")" 102
done
for how in execvp execvpe execlp posix_spawnp; do
	code "$how of a name" 0 run host --wrap-at train -- "$T/starts" $how train
	is "$how: has the tool by name" "$(started)" 'train a  b $HOME'
	PATH=$T/venv:$PATH code "$how of a name that another folder has first" 0 run host --wrap-at train -- sh -c "PATH=$T/venv:\$PATH exec $T/starts $how train"
	is "$how: has that one" "$(started)" "$T/venv/train a  b \$HOME"
done
STATUS=6 code "a status" 1 run host --wrap-at train -- "$T/starts" vfork "$T/venv/train"
is "is the program's" "$(jq -r .exit_code "$run/run.json")" 6
code "an interpreter" 0 run host --wrap-at interp -- sh -c "tool --x; $T/bin/tool 'y  z'"
is "has the tool, its option and its script" "$(started | tr '\n' '|')" "$T/bin/interp -e $T/bin/tool --x|$T/bin/interp -e $T/bin/tool y  z|"
is "and runs the script" "$(head -n 1 "$(echo "$run"/steps/*-workload.out)")" "interp -e $T/bin/tool --x"
code "a script that is wrapped by its own name" 0 run host --wrap-at tool -- sh -c "tool --x; $T/bin/tool y"
is "is that" "$(started | tr '\n' '|')" "tool --x|$T/bin/tool y|"
cat >"$T/py.py" <<'P'
import os, subprocess, sys
print(os.environ.get("PROFRIG_WRAP"), os.environ.get("LD_PRELOAD"), flush=True)
if len(sys.argv) < 2:
    subprocess.run([sys.executable, sys.argv[0], "again"], check=True)
P
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
code "Python that starts Python by its path" 0 run host --wrap-at "${python##*/}" -- "$python" "$T/py.py"
is "has the tool once" "$(started)" "$python $T/py.py"
is "and sees nothing of it" "$(tr '\n' '|' <"$(echo "$run"/steps/*-workload.out)")" "None None|None None|"
code "a launcher" 0 run host --wrap-at train -- "$python" -c "import subprocess
for i in range(3): subprocess.run(['$T/venv/train', str(i)], check=True, close_fds=i == 1)"
is "starts each with the tool" "$(started | tr '\n' '|')" "$T/venv/train 0|$T/venv/train 1|$T/venv/train 2|"
# What is named like the program and is none, variables of the workload's own, threads with little stack.
mkdir -p "$T/trap/train" "$T/trap2/train"
PATH=$T/bin:$PATH code "a folder of that name, first in PATH" 0 run host --wrap-at train -- sh -c "PATH=$T/trap:\$PATH; export PATH; $T/starts execvp train"
is "is passed over" "$(started)" 'train a  b $HOME'
code "to start a folder of that name" 1 run host --wrap-at train -- "$T/starts" execv "$T/trap/train"
is "fails as ever" "$(jq -r .exit_code "$run/run.json")" 113
printf '#!/bin/sh\necho "$part$rest$program$dir"\n' >"$T/venv/train"
code "variables of a program that is wrapped" 0 run host --wrap-at train -- sh -c "part=1 rest=2 program=3 dir=4; export part rest program dir; exec $T/venv/train"
is "are its own" "$(head -n 1 "$(echo "$run"/steps/*-workload.out)")" 1234
cat >"$T/thread.c" <<'C'
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
extern char **environ;
static void *start(void *path)
{
	char *words[] = { path, "x", NULL };
	pid_t pid;
	int status = 1;

	if (posix_spawnp(&pid, path, NULL, NULL, words, environ) == 0)
		waitpid(pid, &status, 0);
	return WEXITSTATUS(status) ? path : NULL;
}
int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;
	void *bad = argv;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	if (pthread_create(&t, &attr, start, argv[1]) == 0)
		pthread_join(t, &bad);
	return bad != NULL;
}
C
check "a thread with the least stack" gcc -pthread -o "$T/thread" "$T/thread.c"
for what in true /bin/true train "$T/venv/train"; do
	code "a thread with little stack starts $what" 0 run host --wrap-at train,nosuch -- sh -c "train; exec $T/thread $what"
done
cp "$T/bin/train" "$T/venv/train"
LD_PRELOAD=libdl.so.2 code "a library of the caller's" 0 run host --wrap-at train -- sh -c "$T/venv/train; echo \$LD_PRELOAD"
is "stays" "$(tail -n 1 "$(echo "$run"/steps/*-workload.out)" | sed 's/^.*://')" libdl.so.2
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
