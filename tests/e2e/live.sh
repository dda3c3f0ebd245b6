#!/usr/bin/env bash
# Live control where workloads run: on the host, in docker and in podman; with real tools that switch; the lines of docs/live.md as they stand there.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

# The first block of a language in docs/live.md that has a mark in it.
snippet() { awk -v l="$1" '$0 == "```" l { on = 1; text = ""; next } $0 == "```" { if (on && text ~ /PROFRIG_MARK/) { printf "%s", text; exit } on = 0 } on { text = text $0 "\n" }' "$ROOT/docs/live.md"; }
for l in sh python c; do check "docs/live.md has lines for $l" test -n "$(snippet $l)"; done
{
	printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n'
	snippet c
	printf '}\n'
} >"$T/mark.c"
check "those for C compile" gcc -static -o "$T/mark-c" "$T/mark.c"

# Tools that tell what they hear: one by a pipe, one by a script, one by a program, one that cannot be switched.
mkdir "$T/tools"
cat >"$T/tools/listener.sh" <<'SH'
# listener.sh FIFO ACK OUT paused|recording -- command: writes down the lines it receives while the command runs
fifo=$1 ack=$2 out=$3 state=$4
shift 5
echo "begins $state" >>"$out"
if [ "$fifo" != - ]; then
	# Both ends open for both ways: nobody waits for a peer.
	( exec 3<>"$fifo" 4<>"$ack"; while read -r word <&3; do echo "$word" >>"$out"; [ -n "$MUTE" ] || echo ack >&4; [ "$word" = bye ] && exit; done ) &
fi
"$@"
status=$?
[ "$fifo" = - ] || { echo bye >>"$fifo"; wait; }
exit $status
SH
cat >"$T/tools/by_pipe.yaml" <<END
name: by_pipe
about: told by a pipe
class: wrap
wrap: [sh, "$T/tools/listener.sh", "{control}", --]
control:
  kind: fifo
  wrap: ["{out}/ctl", "{out}/ack", "{out}/heard.txt"]
  paused: [paused]
  fifo: ctl
  ack: ack
  start: [enable]
  stop: [disable]
END
cat >"$T/tools/by_script.yaml" <<'END'
name: by_script
about: told by a script, where the workload runs
class: env
env: {BY_SCRIPT: "1"}
control:
  kind: script
  script: told.sh
  env: {CAN_SWITCH: "1"}
  paused_env: {PAUSED: "1"}
END
echo 'echo "$1 $PROFRIG_TOOL" >>"$PROFRIG_OUT/told.txt"' >"$T/tools/told.sh"
cat >"$T/tools/by_program.yaml" <<'END'
name: by_program
about: told by a program, which fails when it shall stop
class: env
env: {BY_PROGRAM: "1"}
control:
  kind: command
  start: [sh, -c, 'echo "start {run_id}" >>"{out}/told.txt"']
  stop: [sh, -c, 'echo "no session" >&2; exit 3']
END
cat >"$T/tools/always.yaml" <<'END'
name: always
about: has no switch
class: env
env: {ALWAYS: "1"}
END

run() { "$PROFRIG" -q run -o "$T/runs-$engine" --no-analyze --engine "$engine" ${IMAGE:+--image $IMAGE} --tools-dir "$T/tools" --config "$T/mounts.yaml" "$@"; }
echo "mounts: [{host: $T/tools, mode: ro}]" >"$T/mounts.yaml"
live() { # options… -- command
	rm -f "$T/runs-$engine/latest"
	run "$@" >"$T/live.out" 2>"$T/live.err" &
	pid=$!
	wait_for jq -e '[.steps[] | select(.name == "workload" and .started_ns)] | length == 1' "$T/runs-$engine/latest/run.json" || not_ok "$engine: a run begins" "$(cat "$T/live.err")"
}
ended() {
	wait "$pid"
	status=$?
	dir=$(cat "$T/live.out")
}
ctl() { "$PROFRIG" ctl -o "$T/runs-$engine" latest "$@"; }
state() { ctl status --json | jq -r '[.tools[] | .tool + " " + .state] | join(", ")'; }
heard() { tr '\n' ' ' <"$dir/artifacts/$1"; }
wait_marked='while [ ! -e "$PROFRIG_RUN_DIR/artifacts/workload/go" ]; do sleep 0.02; done'

everywhere() { # engine
	engine=$1
	rm -rf "$T/runs-$engine"
	code "$1: marks from a shell and from C" 0 run -- /bin/sh -c "$(snippet sh)
$2"
	is "$1: arrive" "$(field "$(cat "$T/out")/run.json" '[.marks[].name] | unique | join(",")') $(field "$(cat "$T/out")/run.json" '.marks | length')" "epoch 1 2"
	check "$1: and nothing of them is left" test ! -e "$(cat "$T/out")/marks"
	live --record-start manual --tools by_pipe,by_script,by_program,always -- /bin/sh -c "echo \$CAN_SWITCH \$PAUSED; $wait_marked"
	is "$1: tools begin paused" "$(state)" "by_pipe paused, by_script paused, by_program paused, always always"
	code "$1: start" 0 ctl start one
	is "$1: switches all of them" "$(state)" "by_pipe recording, by_script recording, by_program recording, always always"
	code "$1: a stop that one cannot do" 6 ctl stop
	like "$1: says which" "$(cat "$T/err")" "by_program: stop ended with status 3 \(steps/control-by_program.err\)"
	is "$1: and the others have" "$(state)" "by_pipe paused, by_script paused, by_program no answer, always always"
	touch "$(readlink -f "$T/runs-$engine/latest")/artifacts/workload/go"
	ended
	is "$1: the run is well" "$status $(field "$dir/run.json" .status)" "0 success"
	is "$1: told by the pipe" "$(heard by_pipe/heard.txt)" "begins paused enable disable bye "
	is "$1: by the script" "$(heard by_script/told.txt)" "start by_script stop by_script "
	like "$1: by the program" "$(heard by_program/told.txt)" "start $(basename "$dir")"
	is "$1: what it said is kept" "$(cat "$dir/steps/control-by_program.err")" "no session"
	is "$1: the environment told that it can switch, and begins paused" "$(cat "$dir"/steps/*workload.out)" "1 1"
	is "$1: one window" "$(field "$dir/run.json" '[.windows[] | .name] | join(",")')" one
	is "$1: nothing is left" "$(cd "$dir" && find . \( -type s -o -type p -o -name marks -o -name record.flag \))" ""
}
engine=host
everywhere host "$T/mark-c"
code "marks from Python" 0 run -- python3 -c "$(snippet python)"
is "arrive, with their own time" "$(field "$(cat "$T/out")/run.json" '.marks[0] | "\(.name) \(.stamped) \(.uncertainty_ns)"')" "epoch 1 made 0"

# A tool that does not answer keeps nobody waiting for long, and the run not at all.
live --record-start manual --tools by_pipe --set env.MUTE=1 -- /bin/sh -c "$wait_marked"
before=$SECONDS
code "a tool without an answer" 6 ctl start
like "is given up on" "$(cat "$T/err")" "by_pipe: no answer to start within 5 s"
check "in time" test $((SECONDS - before)) -le 20
touch "$(readlink -f "$T/runs-host/latest")/artifacts/workload/go"
ended
is "and the run is well" "$status" 0

for e in docker podman; do
	need_engine $e
	case $? in
	0)
		if test_image $e profrig-test:1 "$T/mark-c"; then
			IMAGE=profrig-test:1 everywhere $e mark-c
			is "$e: no container is left" "$($(engine_words $e) ps -aq --filter label=profrig.run)" ""
		else
			not_ok "$e: test image" "$engines_why"
		fi
		if IMAGE_USER=user test_image $e profrig-test:user; then
			engine=$e IMAGE=profrig-test:user
			mkdir -p "$T/private"
			code "$e: of such a user, and private files" 0 sh -c 'umask 077; cd "$0" && exec "$@"' "$T/private" "$PROFRIG" -q run --no-analyze --engine "$e" --image $IMAGE -- /bin/sh -c "id -u; $(snippet sh)"
			is "$e: arrive too" "$(field "$(cat "$T/out")/run.json" '.marks[0].name')" "epoch 1"
			(umask 077 && mkdir -p "$T/secret")
			code "$e: in a private folder elsewhere" 0 sh -c 'umask 077; cd "$0" && exec "$@"' "$T/private" "$PROFRIG" -q run --no-analyze -o "$T/secret" --engine "$e" --image $IMAGE -- /bin/sh -c "id -u; $(snippet sh)"
			is "$e: arrive, and it stays private" "$(field "$(cat "$T/out")/run.json" '.marks[0].name') $(stat -c %a "$T/secret")" "epoch 1 700"
			code "$e: marks of a user that is not root" 0 run -- /bin/sh -c "id -u; $(snippet sh)"
			is "$e: arrive" "$(cat "$(cat "$T/out")"/steps/*workload.out) $(field "$(cat "$T/out")/run.json" '.marks[0].name')" "1000 epoch 1"
			unset IMAGE
		fi
		;;
	1) skip "$e" "$engines_why" ;;
	2) not_ok "$e is required" "$engines_why" ;;
	esac
done
engine=host

# Tracers of ours: ranges of a program that has a long start. What a trace without windows shows is mostly that.
cat >"$T/phases.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern int roctxRangePushA(const char *) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));
extern void roctxMarkA(const char *) __attribute__((weak));
extern unsigned long roctxRangeStartA(const char *) __attribute__((weak));
extern void roctxRangeStop(unsigned long) __attribute__((weak));
int roctxProfilerResume(unsigned long tid) { return printf("resume %lu\n", tid), fflush(stdout), 0; }
int roctxProfilerPause(unsigned long tid) { return printf("pause %lu\n", tid), fflush(stdout), 0; }
/* A driver library: its profiler calls are about the thread's context, and there is none before the program has made one. */
static _Thread_local void *context;
static volatile int active;
int cuCtxGetCurrent(void **c) { *c = context; return active ? 0 : 3; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *on) { *flags = 0; *on = d == 1 && active; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { static int one; *c = &one; return d == 1 ? 0 : 1; }
int cuCtxSetCurrent(void *c) { context = c; return 0; }
int cuProfilerStart(void) { return printf("start%s\n", context ? "" : " without context"), fflush(stdout), 0; }
int cuProfilerStop(void) { return printf("stop%s\n", context ? "" : " without context"), fflush(stdout), 0; }
static void mark(const char *name)
{
	FILE *f = fopen(getenv("PROFRIG_MARK") ? getenv("PROFRIG_MARK") : "/dev/null", "a");
	if (f && fprintf(f, "%s\n", name) > 0) fclose(f);
}
static void range(const char *name, int ms)
{
	if (roctxRangePushA) roctxRangePushA(name);
	usleep(ms * 1000);
	if (roctxRangePop) roctxRangePop();
}
int main(void)
{
	unsigned long id = roctxRangeStartA ? roctxRangeStartA("all of it") : 0;
	if (roctxRangePushA) roctxRangePushA("outer");
	range("start-up", 700);
	mark("warm");
	usleep(100000);
	active = 1;
	usleep(300000);
	for (int i = 0; i < 5; i++) range("step", 20);
	if (roctxMarkA) roctxMarkA("inside");
	if (roctxRangePop) roctxRangePop();
	if (roctxRangeStop) roctxRangeStop(id);
	return 0;
}
C
gcc -O1 -rdynamic -o "$T/phases" "$T/phases.c" -Wl,-z,dynamic-undefined-weak || not_ok "phases" "does not compile"
names() { awk -F, 'NR > 1 { print $2 ":" $4 }' "$(cat "$T/out")/analysis/tables/functions.csv" | sort | tr '\n' ' '; }
code "a trace of all" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --tools roctx_trace -- "$T/phases"
is "shows the start-up" "$(names)" "all of it:1 outer:1 start-up:1 step:5 "
code "recorded from a mark on" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --tools roctx_trace --record-start 'mark warm' -- "$T/phases"
is "it does not" "$(names)" "step:5 "
is "what was not begun is not ended" "$(jq -r '[.warnings[].code] | join(" ")' "$(cat "$T/out")/analysis/analysis.json")" ""
is "and the tables are of that window" "$(jq -r .window.of "$(cat "$T/out")/analysis/analysis.json")" "windows of the run"
code "a tool that goes on all the time" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --tools roctx_trace --record-start 'mark warm' -- \
	env -u PROFRIG_RECORD "$T/phases"
is "is cut by analysis" "$(names)" "all of it:1 outer:1 step:5 "

# Profilers that are switched from inside the program.
cat >"$T/tools/inside.yaml" <<'END'
name: inside
about: as rocprofv3 --selected-regions and nsys --capture-range=cudaProfilerApi
class: preload
preload: [libprofrig_switch.so]
control: {kind: flag, wrap: []}
END
code "a profiler that the program switches" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --no-analyze --tools-dir "$T/tools" --tools inside --record-start 'mark warm' --record-for 0.3 -- "$T/phases"
is "is switched with the others" "$(tr '\n' ' ' <"$(echo "$(cat "$T/out")"/steps/*workload.out)")" "resume 0 start pause 0 stop "

# A fork while the loader is at work for the switch: the child gets the loader as it is at that moment, and looks too.
cat >"$T/forks.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *flips(void *flag)
{
	for (;;) {
		__atomic_xor_fetch((uint32_t *)flag, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, flag, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
		usleep(20);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	int fd = open(getenv("PROFRIG_RECORD"), O_RDWR), forks = 0, bad = 0, status;
	void *flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t thread;
	time_t end = time(NULL) + 20;

	pthread_create(&thread, NULL, flips, flag);
	for (; forks < atoi(argv[argc - 1]) && time(NULL) < end; forks++) {
		pid_t child = fork();

		if (child == 0) {
			usleep(1000);
			_exit(0);
		}
		bad += waitpid(child, &status, 0) != child || status != 0;
	}
	printf("%s, %d died\n", forks < 100 ? "too few" : "many", bad);
	return 0;
}
C
gcc -O1 -pthread -o "$T/forks" "$T/forks.c" || not_ok "forks" "does not compile"
head -c 4096 /dev/zero >"$T/flag"
is "children of a program that forks while profilers are looked for" "$(LD_PRELOAD=$ROOT/build/libprofrig_switch.so PROFRIG_RECORD=$T/flag "$T/forks" 1500)" "many, 0 died"

# RPD's remote control by signals: only processes that have its library loaded may get them.
cat >"$T/remote.c" <<'C'
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
static void heard(int sig)
{
	if (write(1, sig == SIGUSR1 ? "start\n" : "stop\n", sig == SIGUSR1 ? 6 : 5) < 0) _exit(9);
	if (sig == SIGUSR2 && close(open(STOPPED, O_CREAT | O_WRONLY, 0600)) < 0) _exit(9);
}
__attribute__((constructor)) static void begin(void) { signal(SIGUSR1, heard); signal(SIGUSR2, heard); }
C
mkdir "$T/lib"
gcc -shared -fPIC -DSTOPPED="\"$T/rpd_stopped\"" -o "$T/lib/librpd_remote.so" "$T/remote.c" || not_ok "remote" "does not compile"
sed -e 's/^name: .*/name: rpd_like/' -e 's/^class: .*/class: preload/' -e '/^wrap:/d' -e '/^needs:/d' -e '/^pre_scripts:/,/^  -/d' -e '/^outputs:/,/^  -/d' -e '/^env:/,/^  /d' \
	-e "s,preload: \[librpd_remote.so\],preload: [],; \$a preload: [$T/lib/librpd_remote.so]" "$ROOT/tools.d/rpd.yaml" | sed '/^options:/,/^  stack/d; /^provides/d; /^conflicts/d' >"$T/tools/rpd_like.yaml"
code "signals, by rpd's own script" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --no-analyze --tools-dir "$T/tools" --tools rpd_like --record-after 0.3 --record-for 0.3 -- \
	/bin/sh -c 'env -u LD_PRELOAD sleep 60 & i=0; while [ $i -lt 1500 ] && [ ! -e "$0" ]; do sleep 0.02; i=$((i + 1)); done; kill $! && echo spared; echo $RPDT_AUTOSTART' "$T/rpd_stopped"
is "reach the processes that take them alone" "$(sort -u "$(echo "$(cat "$T/out")"/steps/*workload.out)" | tr '\n' ' ')" "0 spared start stop "

# perf, the real one.
if ! need perf command -v perf || ! need perf perf record --quiet -e cycles -k CLOCK_MONOTONIC -o "$T/probe" -- true; then
	skip "perf in a window" "perf does not record here"
	exit 0
fi
busy='i=0; while [ $i -lt 6000000 ] && [ ! -e "$0" ]; do i=$((i + 1)); done'
code "perf in a window" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --tools perf --record-after 0.8 --record-for 0.4 -- /bin/sh -c "$busy" "$T/never"
run=$(cat "$T/out")
check "records there" jq -e '.windows[0] as $w | .artifacts[] | select(.tool == "perf") | .verdict == "valid" and .first_ns >= $w.start_ns - 500000000 and .last_ns <= $w.end_ns + 500000000' "$run/run.json"
is "and nothing else" "$(ls "$run/artifacts/perf")" "perf.data
stacks.perf"
runs=$T/runs
rm -f "$runs/latest"
"$PROFRIG" -q run --engine host -o "$runs" --no-analyze --tools perf --record-start begin -- /bin/sh -c "$busy" "$T/enough" >"$T/live.out" 2>"$T/live.err" &
pid=$!
wait_for jq -e '[.steps[] | select(.name == "workload" and .started_ns)] | length == 1' "$runs/latest/run.json"
sleep 0.5
code "stopping perf by hand" 0 "$PROFRIG" ctl -o "$runs" latest stop
is "pauses it" "$("$PROFRIG" ctl -o "$runs" latest status --json | jq -r '.tools[0].state')" paused
sleep 0.5
touch "$T/enough"
ended
check "nothing is recorded afterwards" jq -e '.windows[0] as $w | .artifacts[] | select(.tool == "perf") | .last_ns <= $w.end_ns + 300000000 and .records > 3' "$dir/run.json"
