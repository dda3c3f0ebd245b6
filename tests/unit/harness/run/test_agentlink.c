/* Our end of the wire: what others write into it is counted and swallows no event. */
#include "agentlink.h"
#include "test.h"

/* A shell as the agent: $k is the key it was handed, hello says what the real one says. */
#define FAKE \
	"read rq; k=${rq##*key\\\":\\\"}; k=${k%%\\\"*}; " \
	"hello() { printf '%s {\"ev\":\"hello\",\"protocol\":3,\"pid\":%d}\\n' $k $$; }; " \
	"ev() { printf '%s {\"ev\":\"%s\",\"id\":7}\\n' $k \"$1\"; }; "

static void link_begin(struct agent_link *l, const char *script)
{
	CLEANUP(xfreep) char *text = xasprintf("%s%s", FAKE, script);
	char sh[] = "/bin/sh", c[] = "-c";
	char *argv[] = { sh, c, text, NULL };
	struct err err = ERR_INIT;
	json_t *hello;

	if (link_open(l, argv, &err) < 0 || link_hello(l, 20000, NULL, &hello, &err) < 0)
		fail_msg("%s", err.msg);
	json_decref(hello);
}

/* The names of all events until the end, each followed by a blank. */
static void events_are(struct agent_link *l, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct err err = ERR_INIT;
	json_t *ev;
	int r;

	/* 0: bytes came, and no event among them. */
	for (int i = 0; (r = link_next(l, 20000, &ev, &err)) >= 0 && i < 100000; i++) {
		if (r == 0)
			continue;
		strbuf_addf(&got, "%s ", event_name(ev));
		json_decref(ev);
	}
	assert_int_equal(r, -EPIPE);
	assert_string_equal(got.buf ? got.buf : "", want);
}

static void over(struct agent_link *l, const char *script, const char *want, uint64_t foreign,
		 uint64_t damaged)
{
	link_begin(l, script);
	events_are(l, want);
	assert_int_equal(l->foreign, foreign);
	assert_int_equal(l->damaged, damaged);
	link_release(l);
}

TEST(test_only_with_the_key)
{
	struct agent_link l;

	over(&l, "hello; ev started; ev exited", "started exited ", 0, 0);
	/* chatter of an engine before, which is no attack */
	over(&l, "echo Emulating; printf none; hello; ev exited", "exited ", 0, 0);
	over(&l, "hello; echo '{\"ev\":\"exited\",\"id\":7}'; ev started", "started ", 23, 0);
	over(&l, "hello; echo 0123456789abcdef0123456789abcdef '{\"ev\":\"exited\"}'; ev a", "a ",
	     49, 0);
}

TEST(test_garbage_swallows_nothing)
{
	struct agent_link l;

	over(&l, "hello; printf garbage; ev a; printf '\\0\\n\\n{'; ev b", "a b ", 11, 0);
	/* an event cut off, and the next behind it in the same line */
	over(&l, "hello; printf '%s {\"ev\":\"ex' $k; ev a", "a ", 42, 0);
	over(&l, "hello; echo \"$k {no\"; ev a", "a ", 0, 1);
	/* more without a line end than any event is long */
	over(&l, "hello; head -c 9000000 /dev/zero; ev a", "a ", 9000000, 0);
	over(&l, "hello; printf '%s {\"ev\":\"' $k; head -c 9000000 /dev/zero; ev a", "a ", 9000040,
	     0);
}

TEST(test_who_it_is)
{
	struct agent_link l;
	pid_t child;
	int fd;

	/* The fake does not say when it began: it is no known process. */
	link_begin(&l, "hello; sleep 20");
	assert_int_equal(link_agent(&l), 0);
	assert_int_equal(link_child(&l, l.pid, &child), -1);
	kill(l.pid, SIGKILL);
	link_release(&l);
	link_begin(&l,
		   "t=$(cut -d' ' -f22 /proc/$$/stat); sleep 30 & "
		   "printf '%s {\"ev\":\"hello\",\"protocol\":3,\"pid\":%d,\"start_ticks\":%s}\\n' "
		   "$k $$ $t; printf '%s {\"ev\":\"child\",\"pid\":%d}\\n' $k $!; wait");
	assert_int_equal(link_agent(&l), l.pid);
	json_t *ev;
	assert_int_equal(link_next(&l, 20000, &ev, NULL), 1);
	fd = link_child(&l, event_int(ev, "pid", 0), &child);
	assert_true(fd >= 0);
	assert_int_equal(child, event_int(ev, "pid", 0));
	/* no child of it */
	assert_int_equal(link_child(&l, getpid(), &child), -1);
	kill((pid_t)event_int(ev, "pid", 0), SIGKILL);
	json_decref(ev);
	close(fd);
	events_are(&l, "");
	assert_int_equal(link_agent(&l), 0);
	link_release(&l);
}
