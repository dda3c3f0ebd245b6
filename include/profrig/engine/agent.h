/*
 * agent: the protocol of profrig-init, JSON lines over its stdin and stdout (docs/architecture.md).
 *
 * The first request is the key of the run. Each event is a line "<key> <object>": output of other
 * programs in the same pipe lacks the key, is counted and skipped, and hides no event, because the
 * key may be anywhere in a line. The agent is not dumpable: without CAP_SYS_PTRACE a workload can
 * neither read the key from it nor open its pipes.
 *
 * Requests (one object a line, at most 1 MiB):
 *	{"op":"key","id":0,"key":"<32 hex digits>"}
 *		the first one; "hello" answers it
 *	{"op":"probe","id":N,"needs":["rocprofv3","libfoo.so.1","/dev/kfd"],"env":[…],
 *	 "unset":[…],"inherit":true}
 *		a word with '/' is a path, lib*.so* a library, else a program in PATH, "a|b" either;
 *		PATH and LD_LIBRARY_PATH are those of the given environment (default: the agent's)
 *	{"op":"start","id":N,"argv":[…],"env":["A=b",…],"unset":["C",…],"cwd":"/x",
 *	 "out":"/run/steps/03.out","err":"…","mkdir":["/run/artifacts/x"],"cpus":"0-7,16"}
 *		stdin is /dev/null, in a process group of its own; env is complete when "inherit" is
 *		false (default), with "inherit":true it is laid over the agent's own environment
 *		unset: variables of the agent's environment that are not inherited
 *		cpus: the only processors it and what it starts may use (absent: all)
 *	{"op":"signal","id":N,"sig":15}
 *		to the step's process group and its strays (descendants that left the group)
 *	{"op":"forward","id":N,"sig":10}
 *		to those processes of the step that catch it, as wrappers and shells mostly do not;
 *		when none does, to the step's first process
 *	{"op":"reap","id":N,"wait_ms":0,"grace_ms":200}
 *		ends processes of a finished step: wait_ms to end by themselves, TERM, grace, KILL
 *	{"op":"own","id":N,"dir":"/run","since_ns":0}
 *		gives files below dir that changed since then (CLOCK_REALTIME) to dir's owner, as
 *		far as the agent may
 *	{"op":"hold","id":0,"dir":"/run"}
 *		holds a folder (door.h): out and err below it are opened without following a link
 *	{"op":"end"}
 *		ends everything and the agent
 * Events:
 *	{"ev":"hello","protocol":1,"run":"<run id>","version":"…","pid":1,"kernel":"…",
 *	 "arch":"x86_64","libc":"glibc 2.17|musl|none","monotonic_ns":…,"uid":0,
 *	 "start_ticks":…,"pid_ns":…,"ptrace":false}
 *		start_ticks: when the agent began, as /proc/PID/stat has it; pid_ns: the inode of
 *		its pid namespace. Both name one process of the machine, which no workload can be,
 *		as none was started yet. ptrace: it has CAP_SYS_PTRACE, and so may the workload
 *	{"ev":"probe","id":N,"missing":["…"],"why":{"libfoo.so.1":"libbar.so.2: cannot open …"}}
 *	{"ev":"started","id":N,"pid":…,"t_ns":…}
 *	{"ev":"failed","id":N,"errno":2,"text":"cannot start 'x': …"}
 *	{"ev":"exited","id":N,"code":C,"signal":S,"t_ns":…,"user_s":…,"sys_s":…,
 *	 "maxrss_bytes":…,"strays":K}
 *	{"ev":"reaped","id":N,"killed":K}
 *	{"ev":"owned","id":N,"changed":K,"failed":F}
 *	{"ev":"error","text":"…"}
 *	{"ev":"bye","killed":K}
 *	{"ev":"ending","by":"SIGTERM"}
 *		a signal ends the agent, as "end" does
 *
 * A descendant belongs to the step of its process group, else to its parent's step, else to the
 * last step started before it was first seen; this does not change later. When stdin closes the
 * agent ends all its descendants (TERM, 2 s, KILL) and itself: nothing survives a killed profrig.
 * It reaps orphans, being PID 1 or a subreaper. It opens output files itself, append-only, below
 * its held folder. It is linked statically and needs nothing from the image.
 */
#ifndef PROFRIG_AGENT_H
#define PROFRIG_AGENT_H

#define AGENT_PROTOCOL 3
#define AGENT_KEY_LEN ((size_t)32)
#define AGENT_MAX_LINE ((size_t)1 << 20)

#endif
