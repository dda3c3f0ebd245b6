#!/usr/bin/env bash
# A live run is spoken to: windows, marks, who holds, rude clients, long paths, what is left afterwards. On the host, without engines.
. "$(dirname "$0")/../lib.sh"

runs=$T/runs
live() { # options… -- command; in the background, until its workload runs
	"$PROFRIG" -q run -o "$runs" --engine host --no-analyze "$@" >"$T/live.out" 2>"$T/live.err" &
	pid=$!
	wait_for test -S "$runs/latest/control.sock" || not_ok "a run begins" "$(cat "$T/live.err")"
	wait_for jq -e '[.steps[] | select(.name == "workload" and .started_ns)] | length == 1' "$runs/latest/run.json"
}
ended() {
	wait "$pid"
	status=$?
	dir=$(cat "$T/live.out")
}
json() { field "$dir/run.json" "$1"; }
ctl() { "$PROFRIG" ctl -o "$runs" latest "$@"; }
until_file='while [ ! -e "$0" ]; do sleep 0.02; done'

live -- /bin/sh -c "$until_file" "$T/go"
is "the socket is the owner's alone" "$(stat -c %a "$runs/latest/control.sock")" 600
code "status" 0 ctl status --json
is "the run holds the recording" "$(jq -r '"\(.recording) \(.phase) \([.holds[].by] | join(","))"' "$T/out")" "true workload run"
code "stop" 0 ctl stop
is "ends it" "$(cat "$T/out")" "not recording"
code "another stop" 1 ctl stop
like "is refused with the reason" "$(cat "$T/err")" "nothing is being recorded: start comes first"
code "start by ann" 0 ctl start 'epoch 1' --as ann
code "start by bob" 0 ctl start 'epoch 2' --as bob
code "status" 0 ctl status
like "tells who holds it" "$(cat "$T/out")" "held by ann for .*held by bob for"
code "stop by carl" 1 ctl stop --as carl
like "who holds nothing" "$(cat "$T/err")" "recording is not held by 'carl', but by 'ann', 'bob'"
code "one stop of two" 0 ctl stop --as ann
is "goes on recording" "$(cat "$T/out")" recording
code "the second" 0 ctl stop
is "ends it" "$(cat "$T/out")" "not recording"
code "a mark from outside" 0 ctl mark 'half time'
code "by the end of its id" 0 "$PROFRIG" ctl -o "$T/elsewhere" "$(basename "$(readlink "$runs/latest")" | sed 's/.*-//')" status
code "by its directory" 0 "$PROFRIG" ctl "$runs/latest" status
for words in '' latest 'latest mark' 'latest begin' 'latest stop now' 'latest mark a b'; do
	code "'ctl $words' is a usage error" 2 "$PROFRIG" ctl $words
done
code "a run that is not there" 2 "$PROFRIG" ctl nosuch status
touch "$T/go"
ended
is "the run is well" "$status $(json .status)" "0 success"
is "its windows" "$(json '[.windows[] | .name + " by " + .by] | join(", ")')" "1 by run, epoch 1 by ann"
check "are in the workload, one behind the other" jq -e '.steps[0] as $w | .windows as $v | $v[0].start_ns == $w.started_ns and all($v[]; .start_ns < .end_ns) and
	$v[0].end_ns < $v[1].start_ns and $v[1].end_ns < $w.ended_ns' "$dir/run.json"
is "its mark" "$(json '[.marks[] | .name + " " + .stamped + " " + (.uncertainty_ns | tostring)] | join(", ")')" "half time made 0"
is "nothing is left of it" "$(cd "$dir" && find . \( -type s -o -type p -o -name marks -o -name record.flag \))" ""
code "ctl of a run that is over" 4 "$PROFRIG" ctl "$dir" status
like "says so" "$(cat "$T/err")" "is not live: it is over"
rm "$T/go"

code "a run that nobody speaks to" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze -- true
is "has no windows and no marks" "$(field "$(cat "$T/out")/run.json" '(.windows | tostring) + (.marks | tostring)')" "[][]"

# Marks from inside: lines of a file, with a time of their own or without.
cat >"$T/marks.sh" <<'SH'
echo plain >>"$PROFRIG_MARK"
"$PROFRIG" mark 'own time'
printf '@12 too early\n@x no time\n@99999999999999999999 overflow\n\n   \n' >>"$PROFRIG_MARK"
printf 'bad \377 bytes\001\n' >>"$PROFRIG_MARK"
printf '%0300d\n' 7 >>"$PROFRIG_MARK"
sleep 0.3
echo again >"$PROFRIG_MARK"
sleep 0.3
printf 'no end of line' >>"$PROFRIG_MARK"
SH
export PROFRIG
code "a workload that marks" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze -- sh "$T/marks.sh"
dir=$(cat "$T/out")
is "names as written, bytes that are no text replaced" "$(json '[.marks[].name[:20]] | join("|")')" \
	"plain|own time|too early|@x no time|overflow|bad ? bytes?|00000000000000000000|again|no end of line"
is "a name is cut" "$(json '[.marks[].name | length] | max')" 127
is "who took the time" "$(json '[.marks[].stamped] | unique | join(" ")')" "made received"
check "a received mark says how far off it can be" jq -e '[.marks[] | select(.stamped == "received")] | all(.uncertainty_ns >= 0)' "$dir/run.json"
check "all are inside the run" jq -e '.clocks as $c | all(.marks[]; .t_ns >= $c[0].monotonic_ns and .t_ns <= $c[-1].monotonic_ns)' "$dir/run.json"
code "mark outside of a run" 4 env -u PROFRIG_MARK "$PROFRIG" mark x
like "says what to do" "$(cat "$T/err")" "PROFRIG_MARK is not set.*profrig ctl latest mark NAME"

code "twelve thousand marks" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze -- sh -c 'i=0; while [ $i -lt 12000 ]; do echo m$i; i=$((i + 1)); done >>"$PROFRIG_MARK"'
dir=$(cat "$T/out")
is "are ten thousand and a warning" "$(json '(.marks | length | tostring) + " " + ([.warnings[].code] | join(" "))')" "10000 W_MARKS_DROPPED"

# Nobody reads: a stopped profrig keeps no workload waiting.
live -- sh -c 'i=0; while [ $i -lt 2000 ]; do echo "a mark that nobody reads now, number $i" >>"$PROFRIG_MARK"; i=$((i + 1)); done; echo >"$0"; while [ ! -e "$1" ]; do sleep 0.02; done' "$T/written" "$T/go"
kill -STOP "$pid"
check "a workload goes on marking" wait_for test -e "$T/written"
kill -CONT "$pid"
touch "$T/go"
ended
is "and nothing is lost" "$(json '.marks | length')" 2000
rm "$T/go"

# Recording by the clock and by a mark.
code "after and for" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --record-after 0.3 --record-for 0.4 -- sleep 1
dir=$(cat "$T/out")
check "one window, at its time" jq -e '.steps[0].started_ns as $s | .windows | length == 1 and (.[0].start_ns - $s >= 300000000) and (.[0].start_ns - $s < 3000000000) and (.[0].end_ns - .[0].start_ns | . >= 350000000 and . < 3000000000)' "$dir/run.json"
code "from a mark on" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --record-start 'mark warm' -- sh -c 'sleep 0.2; echo cold >>"$PROFRIG_MARK"; sleep 0.2; echo warm >>"$PROFRIG_MARK"; sleep 0.4'
dir=$(cat "$T/out")
check "a window from the mark to the end" jq -e '(.marks[] | select(.name == "warm").t_ns) as $m | .steps[0].ended_ns as $e | .windows | length == 1 and .[0].name == "warm" and
	.[0].start_ns >= $m and .[0].start_ns - $m < 1000000000 and .[0].end_ns == $e' "$dir/run.json"
code "by hand, and nobody did" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --record-start manual -- sleep 0.1
is "no window" "$(field "$(cat "$T/out")/run.json" '.windows | length')" 0
code "by hand, and a tool has nothing" 6 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --tools roctx_trace --record-start manual -- sleep 0.1
is "which is not its fault" "$(field "$(cat "$T/out")/run.json" '.status + ": " + .reason')" "partial: output 'artifacts/roctx_trace/*.json' of tool 'roctx_trace' is missing: recording was never switched on"
code "plan says when tools record" 0 "$PROFRIG" -q plan --engine host --tools roctx_trace,perf,uftrace --record-start 'mark warm' --record-after 3 --record-for 5 --record-only -- true
is "and how they are reported" "$(sed -n '/^recording/,/^$/p' "$T/out")" "recording, from the mark 'warm' on, 3 s later, for 5 s; samplers pause too
  roctx_trace: told by \$PROFRIG_RECORD
  perf: told by a pipe
  uftrace: records always: it has no switch, analysis leaves out what is outside"
like "and starts them so" "$(cat "$T/out")" 'perf record --quiet --control fifo:[^ ]*/artifacts/perf/control.fifo,[^ ]*/ack.fifo -D -1 -e'
code "a start that is none" 3 "$PROFRIG" run --engine host --record-start later -- true
like "is reported" "$(cat "$T/err")" "record.start: want begin, manual or 'mark NAME', not 'later'"
code "for no time" 2 "$PROFRIG" run --engine host --record-for 0 -- true
code "in a file" 3 "$PROFRIG" run --engine host --set record.for=0 -- true
like "is reported" "$(cat "$T/err")" "record.for: nothing is recorded in 0 s; leave it out"
code "after no time" 0 "$PROFRIG" plan --engine host --record-after 0 --tools perf --json -- true
like "is from the beginning, switchable" "$(cat "$T/out")" '"--control"'
code "manual, and after" 3 "$PROFRIG" run --engine host --record-start manual --record-after 3 -- true
like "contradict" "$(cat "$T/err")" "record.after: with start 'manual' nothing begins by itself"

# Samplers pause only when asked to.
rows() { awk -F, -v s="$1" -v e="$2" '/^[0-9]/ { if ($1 < s || $1 > e) out++; else inside++ } END { print inside + 0, out + 0 }' "$dir/samples/cpu_usage.csv"; }
code "samplers go on" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --tools cpu_usage --set tools[0].sampler.period_s=0.02 --record-after 0.5 --record-for 0.4 -- sleep 1.4
dir=$(cat "$T/out")
read -r inside out < <(rows "$(json '.windows[0].start_ns')" "$(json '.windows[0].end_ns')")
check "outside the window too ($inside inside, $out outside)" test "$inside" -gt 5 -a "$out" -gt 15
code "or pause" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze --tools cpu_usage --set tools[0].sampler.period_s=0.02 --record-after 0.5 --record-for 0.4 --record-only -- sleep 1.4
dir=$(cat "$T/out")
read -r inside out < <(rows "$(json '.windows[0].start_ns')" "$(json '.windows[0].end_ns')")
check "with --record-only ($inside inside, $out outside)" test "$inside" -gt 5 -a "$out" -le 8

# Clients that know no manners. cat keeps the connection open.
cat >"$T/rude.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static int reach(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -1 : fd;
}
int main(int argc, char **argv)
{
	char big[8192], in[8192];
	int fds[40], told = 0;
	struct timeval limit = { 5, 0 };
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2 || chdir(argv[1]))
		return 2;
	for (int i = 0; i < 40; i++) { /* more than there are places; they never say a word */
		fds[i] = reach("control.sock");
		if (fds[i] < 0)
			return 3;
	}
	setsockopt(fds[39], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	ssize_t n = read(fds[39], in, sizeof(in) - 1);
	if (n > 0 && memmem(in, n, "too many", 8))
		told = 1;
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	usleep(200000);
	memset(big, 'x', sizeof(big)); /* a request without an end */
	int fd = reach("control.sock");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	ssize_t sent = write(fd, big, sizeof(big)); /* it may be hung up on before it has said all */
	n = read(fd, in, sizeof(in));
	int cut = sent < 0 || n < 0 || (n > 0 && memmem(in, n, "at most", 7));
	close(fd);
	fd = reach("control.sock"); /* garbage, and then not waiting for the answer */
	for (int i = 0; i < 300; i++)
		if (write(fd, "{]\n{\"op\":\"status\"}\n", 20) < 0)
			break;
	close(fd);
	fd = reach("control.sock");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (write(fd, "{\"op\":\"fly\"}\n{\"op\":3}\n[]\n", 25) < 0)
		return 5;
	int nl = 0;
	while (nl < 3 && (n = read(fd, in, sizeof(in))) > 0)
		for (ssize_t i = 0; i < n; i++)
			nl += in[i] == '\n';
	printf("%d %d %d\n", told, cut, nl);
	return 0;
}
C
gcc -D_GNU_SOURCE -O1 -o "$T/rude" "$T/rude.c" || not_ok "rude client" "does not compile"
live -- /bin/sh -c 'i=0; while [ ! -e "$0" ]; do sleep 0.01; i=$((i + 1)); done' "$T/go"
code "rude clients" 0 "$T/rude" "$runs/latest"
is "are reported, cut off, answered" "$(cat "$T/out")" "1 1 3"
code "and the run still listens" 0 ctl status
touch "$T/go"
ended
is "and ends well" "$status $(json .status)" "0 success"
rm "$T/go"

# sun_path has 108 bytes.
deep=$T/$(printf 'folder-with-a-long-name-%03d/' 1 2 3 4 5 6 7)
runs=$deep/runs live -- /bin/sh -c "$until_file" "$T/go"
code "a run deep down" 0 "$PROFRIG" ctl -o "$deep/runs" latest mark deep
touch "$T/go"
ended
is "hears too" "$(json '.marks[0].name')" deep
rm "$T/go"

# A killed profrig leaves its socket to the next.
live -- sleep 600
kill -KILL "$pid"
wait "$pid" 2>/dev/null
dir=$(readlink -f "$runs/latest")
code "ctl of a dead run" 4 "$PROFRIG" ctl "$dir" status
like "says so" "$(cat "$T/err")" "its profrig has died"
code "the next run" 0 "$PROFRIG" -q run -o "$runs" --engine host --no-analyze -- true
is "clears away" "$(cd "$dir" && find . \( -type s -o -type p -o -name record.flag \))" ""

# Tool files that say how they are switched, and cannot mean it.
mkdir "$T/bad"
bad() { # words that are expected, lines of control
	{
		printf 'name: bad\nclass: env\nenv: {A: "1"}\n'
		cat
	} >"$T/bad/bad.yaml"
	code "a tool whose control is wrong: $1" 3 "$PROFRIG" plan --engine host --tools-dir "$T/bad" --tools bad -- true
	like "is reported with its file and line" "$(cat "$T/err")" "bad.yaml:[0-9]+: $1"
}
bad "control of kind fifo needs fifo" <<<'control: {kind: fifo}'
bad "control of kind fifo needs start and stop" <<<'control: {kind: fifo, fifo: a, start: [x]}'
bad "control.fifo: '../x' is no plain name of a file in \{out\}" <<<'control: {kind: fifo, fifo: ../x, start: [x], stop: [y]}'
bad "control of kind script needs script" <<<'control: {kind: script}'
bad "script 'nosuch.sh' is neither beside this file nor above it" <<<'control: {kind: script, script: nosuch.sh}'
bad "control of kind command needs start and stop" <<<'control: {kind: command, start: [x]}'
bad "control.kind: unknown 'socket'" <<<'control: {kind: socket}'
bad "control has words for wrap, and wrap has no \{control\} where they go" <<<'control: {kind: flag, wrap: [--paused]}'
bad "unknown placeholder \{nosuch\}" <<<'control: {kind: command, start: ["{nosuch}"], stop: [x]}'
bad "control: 'PROFRIG_RECORD' is no variable that a tool may set" <<<'control: {kind: flag, env: {PROFRIG_RECORD: "1"}}'
bad "budget: want a percentage such as 10%, not 'a lot'" <<<'budget: a lot'
