#!/usr/bin/env bash
# The workload has no say in what is said of it: it cannot write events, swallow one, stop the agent for good or be taken for it. Where it has
# CAP_SYS_PTRACE, run.json and doctor say that it could.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/engines.sh"
engines_dir=$(mktemp -d /tmp/profrig-engines.XXXXXX)
at_end 'engines_stop; rm -rf "$engines_dir"'
cd "$T" || exit 1
facts() { field "$(ls -d "$1"/2* | tail -n 1)/run.json" '"\(.status) \(.verdicts.protected) \([.warnings[].code | select(. == "W_FOREIGN_EVENTS")] | length)"'; }
me=true
[ "$(id -u)" = 0 ] && me=false

# forged by the name in /proc: events without a key, and bytes without a line end
cat >forge.sh <<'S'
A=1; [ -e /proc/1/cmdline ] && grep -q profrig-init /proc/1/cmdline || A=$PPID
for id in 0 1 2 3; do echo "{\"ev\":\"exited\",\"id\":$id,\"code\":0,\"signal\":0,\"t_ns\":1}"; done 2>/dev/null >/proc/$A/fd/1
printf garbage 2>/dev/null >/proc/$A/fd/1
exit 3
S
code "host: forged events" 1 "$PROFRIG" -q run --no-analyze -o forged --engine host -- sh forge.sh
is "host: the run failed as it did" "$(facts forged)" "failed $me 0"

# forged with what CAP_SYS_PTRACE gives: the descriptor itself
cat >steal.py <<'P'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(438, libc.syscall(434, os.getppid(), 0), 1, 0)
if fd < 0:
    sys.exit(4)
os.write(fd, b'{"ev":"exited","id":1,"code":0,"signal":0}\ngarbage')
sys.exit(3)
P
if [ "$me" = false ]; then
	code "host: events through a stolen descriptor" 1 "$PROFRIG" -q run --no-analyze -o stolen --engine host -- python3 "$T/steal.py"
	is "host: the run failed as it did, and run.json counts the bytes" "$(facts stolen)" "failed false 1"
	like "host: how many" "$(field stolen/2*/run.json '.warnings[].text')" "^50 bytes on profrig-init's connection are not its own"
	# without the capability, as another user would run it
	mkdir -m 777 of
	cp "$B/profrig" "$B/profrig-init" "$T"
	chmod 755 "$T" "$T/profrig" "$T/profrig-init"
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"; }
	code "a user: the descriptor cannot be had" 1 as_nobody "$T/profrig" -q run --no-analyze -o of/runs --engine host -- /usr/bin/python3 "$T/steal.py"
	is "a user: it is refused" "$(field of/runs/2*/run.json '.steps[0].exit_code') $(facts of/runs)" "4 failed true 0"
	code "a user: forged events" 1 as_nobody "$T/profrig" -q run --no-analyze -o of/forged --engine host -- sh "$T/forge.sh"
	is "a user: the run failed as it did" "$(facts of/forged)" "failed true 0"
	# what a user needs still works: samplers, ctl's socket, descriptors in /proc/self
	code "a user: a run with samplers" 0 as_nobody "$T/profrig" -q run --no-analyze -o of/whole --engine host --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_usage -- sleep 0.3
	check "a user: they wrote" test "$(wc -l <"$(ls -d of/whole/2*)/samples/cpu_usage.csv")" -gt 3
	as_nobody "$T/profrig" -q run --no-analyze -o of/mem --engine host -- /usr/bin/python3 -c '
import os, re
def up(p): return int(re.search(r"\nPPid:\t(\d+)", open(f"/proc/{p}/status").read()).group(1))
agent = os.getppid()
for p in (agent, up(agent)):
    for f in ("mem", "environ", "maps", "fd/0", "fd/1", "fd/3", "fd/5"):
        try:
            open(f"/proc/{p}/{f}", "rb").read(1)
            print("READ", p, f)
        except OSError as e:
            pass
' >/dev/null
	is "a user: neither profrig nor the agent can be read" "$(cat of/mem/2*/steps/*.out)" ""
fi

# stopped: it goes on, and says what it saw
code "host: a workload that stops the agent" 1 timeout 60 "$PROFRIG" -q run --no-analyze -o stopped --engine host -- sh -c 'kill -STOP $PPID; exit 3'
is "host: its verdict came" "$(field stopped/2*/run.json '"\(.status) \(.steps[0].exit_code)"')" "failed 3"
code "host: a workload that leaves behind what stops the agent" 1 timeout 60 "$PROFRIG" -q run --no-analyze -o left --engine host -- \
	sh -c 'setsid sh -c "sleep 0.05; kill -STOP $PPID" & exit 3'
is "host: its verdict came too" "$(field left/2*/run.json '"\(.status) \(.steps[0].exit_code)"')" "failed 3"
if need strace command -v strace && need strace strace -o /dev/null true; then
	# The agent is held in its fork, so that the step is quicker than the word that it began.
	code "host: a workload that stops the agent before it said that it began" 1 timeout 90 strace -f -o /dev/null -e trace=clone,clone3 \
		-e inject=clone,clone3:delay_exit=500000 "$PROFRIG" -q run --no-analyze -o early --engine host -- sh -c 'kill -STOP $PPID; exit 3'
	is "host: its verdict came as well" "$(field early/2*/run.json '"\(.status) \(.steps[0].exit_code)"')" "failed 3"
else
	skip "host: a workload that stops the agent before it said that it began" "strace cannot trace here"
fi
if [ "$me" = false ]; then
	# held by a tracer, which no signal ends: nothing is waited for without an end
	cat >hold.py <<'P'
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
agent = os.getppid()
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    held = libc.ptrace(0x4206, agent, 0, 0) == 0 and libc.ptrace(0x4207, agent, 0, 0) == 0
    os.write(w, b"y" if held else b"n")
    time.sleep(40)
    os._exit(0)
sys.exit(0 if os.read(r, 1) == b"y" else 5)
P
	code "host: a workload that holds the agent" 1 timeout 90 "$PROFRIG" -q run --no-analyze -o kept --engine host -- python3 "$T/hold.py"
	like "host: no success without the agent's word" "$(field kept/2*/run.json '"\(.status): \(.reason)"')" "^failed: .*'workload' ended, and profrig-init has not said how within 10 s"
fi
code "host: a workload that kills the agent" 1 timeout 60 "$PROFRIG" -q run --no-analyze -o killed --engine host -- sh -c 'kill -9 $PPID; sleep 30'
is "host: failed" "$(field killed/2*/run.json .status)" failed

is "doctor says whether it could" "$("$PROFRIG" doctor --json | jq -r '.[] | select(.name == "verdicts") | .state')" "$([ $me = true ] && echo ok || echo no)"

cat >fake.c <<'C'
int pause(void);
int main(void) { for (;;) pause(); }
C
gcc -o fake fake.c && chmod 755 fake
# A process of another user takes the agent's name and arguments as soon as they are seen.
cat >spy.py <<'P'
import os, re, time
seen, end = set(), time.time() + 20
while time.time() < end and not os.path.exists("spied"):
    for p in os.listdir("/proc"):
        try:
            c = open(f"/proc/{p}/cmdline", "rb").read() if p.isdigit() else b""
        except OSError:
            continue
        m = re.search(rb"label\0profrig\.run=([^\0]+)", c) or re.search(rb"--run\0([^\0]+)", c)
        if m and m.group(1) not in seen:
            seen.add(m.group(1))
            if os.fork() == 0:
                os.execv("./fake", ["/.profrig/profrig-init", "--run", m.group(1).decode()])
P
containers() { # engine
	code "$1: forged events" 1 "$PROFRIG" -q run --no-analyze -o "forged-$1" --engine "$1" --image profrig-test:1 -- sh -c "$(cat forge.sh)"
	is "$1: the run failed as it did" "$(facts "forged-$1")" "failed true 0"
	code "$1: with CAP_SYS_PTRACE" 0 "$PROFRIG" -q run --no-analyze -o "ptrace-$1" --engine "$1" --image profrig-test:1 \
		--set 'container.options=[--cap-add=SYS_PTRACE]' -- true
	is "$1: verdicts are not protected, and run.json says so" "$(facts "ptrace-$1")" "success false 0"
	[ "$me" = false ] || return
	setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 spy.py &
	local spy=$! p
	code "$1: another user's process that calls itself the agent" 0 "$PROFRIG" -q run --no-analyze -o "fake-$1" --engine "$1" --image profrig-test:1 --tools cpu_usage -- sleep 1
	touch spied
	wait $spy
	check "$1: there was one" pgrep -u 65534 -f "profrig-init --run"
	for p in $(pgrep -u 65534 -f "profrig-init --run"); do kill -9 "$p"; done
	rm -f spied
	is "$1: nothing is opened to everybody" "$(find "fake-$1"/2* -perm -o+w ! -type l ! -path '*/.inside*' ! -path '*/.hidden*')" ""
	check "$1: the sampler followed the workload" test "$(field "fake-$1"/2*/run.json '.steps[-1].host_pid // 0')" -gt 0
}
for engine in docker podman; do
	if need "$engine" "start_${engine/docker/dockerd}" && test_image "$engine" profrig-test:1; then
		containers "$engine"
	else
		skip "$engine: verdicts" "$engines_why"
	fi
done
