#include "agent_priv.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "profrig/base/clock.h"

#define END_GRACE_NS (2 * NS_PER_S)
/* A process that survives KILL sleeps in the kernel; the wait for it ends after this time. */
#define GIVE_UP_NS (2 * NS_PER_S)
#define NAP_MIN_NS (5 * NS_PER_MS)
#define NAP_MAX_NS (100 * NS_PER_MS)
/* Waking later than this means that the machine was too busy. */
#define STALL_NS (100 * NS_PER_MS)

static void kill_tree_begin(struct agent *a)
{
	a->kill_nap_ns = NAP_MIN_NS;
	a->kill_due_ns = clock_monotonic_ns();
	kill_tree_tick(a);
}

void kill_tree_of_step(struct agent *a, int64_t id, int owner, int64_t wait_ms, int64_t grace_ms)
{
	int64_t term = clock_monotonic_ns() + wait_ms * NS_PER_MS;
	int64_t kill = term + grace_ms * NS_PER_MS;

	VEC_PUSH(&a->tree_kills, ((struct tree_kill){ .id = id,
						      .owner = owner,
						      .term_ns = term,
						      .kill_ns = kill,
						      .give_up_ns = kill + GIVE_UP_NS }));
	kill_tree_begin(a);
}

void kill_tree_whole(struct agent *a)
{
	int64_t now = clock_monotonic_ns();

	if (a->ending)
		return;
	a->ending = true;
	VEC_PUSH(&a->tree_kills,
		 ((struct tree_kill){ .owner = OWNER_ALL,
				      .term_ns = now,
				      .kill_ns = now + END_GRACE_NS,
				      .give_up_ns = now + END_GRACE_NS + GIVE_UP_NS }));
	kill_tree_begin(a);
}

static void kill_over(struct agent *a, const struct tree_kill *h)
{
	struct event ev;

	if (h->owner == OWNER_ALL) {
		a->killed = h->killed;
		a->done = true;
		return;
	}
	event_begin(&ev, "reaped");
	json_i64(&ev.j, "id", h->id);
	json_u64(&ev.j, "killed", h->killed);
	event_end(&ev, &a->out);
}

/* A descendant of a subreaper or PID 1 is its child or has an ancestor that is. So having no child
 * proves that none is left, which no list of processes can. */
static bool none_left(const struct tree_kill *h, size_t alive)
{
	siginfo_t si;

	if (h->owner != OWNER_ALL)
		return alive == 0;
	return waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

/* Returns true when the kill is over. */
static bool kill_one_tick(struct agent *a, struct tree_kill *h, int64_t now)
{
	size_t alive = tree_count(a, h->owner);

	if (none_left(h, alive) || now >= h->give_up_ns)
		return true;
	if (!h->termed && now >= h->term_ns && alive > 0) {
		h->killed = alive;
		tree_signal(a, h->owner, SIGTERM, 0);
		h->termed = true;
	}
	/* Repeated at every tick, as processes may fork as fast as they die. */
	if (now >= h->kill_ns) {
		if (alive > h->killed)
			h->killed = alive;
		tree_signal(a, h->owner, SIGKILL, 0);
		a->kill_nap_ns = NAP_MIN_NS;
	}
	return false;
}

static void deadline_put_off(int64_t *deadline, int64_t from, int64_t by)
{
	if (*deadline > from)
		*deadline += by;
}

/*
 * Processes that may end by themselves need time to run, so a stall of the machine does not count.
 */
static void allow_for_stall(struct agent *a, int64_t now)
{
	int64_t late = now - a->kill_due_ns;

	if (late < STALL_NS)
		return;
	for (size_t i = 0; i < a->tree_kills.nr; i++) {
		deadline_put_off(&a->tree_kills.v[i].term_ns, a->kill_due_ns, late);
		deadline_put_off(&a->tree_kills.v[i].kill_ns, a->kill_due_ns, late);
		deadline_put_off(&a->tree_kills.v[i].give_up_ns, a->kill_due_ns, late);
	}
}

void kill_tree_tick(struct agent *a)
{
	int64_t now = clock_monotonic_ns();

	if (a->tree_kills.nr == 0)
		return;
	allow_for_stall(a, now);
	tree_scan(a);
	for (size_t i = 0; i < a->tree_kills.nr;) {
		if (!kill_one_tick(a, &a->tree_kills.v[i], now)) {
			i++;
			continue;
		}
		kill_over(a, &a->tree_kills.v[i]);
		a->tree_kills.v[i] = a->tree_kills.v[--a->tree_kills.nr];
	}
	a->kill_nap_ns = a->kill_nap_ns * 3 / 2;
	if (a->kill_nap_ns > NAP_MAX_NS)
		a->kill_nap_ns = NAP_MAX_NS;
	a->kill_due_ns = now + a->kill_nap_ns;
}

int kill_tree_wait_ms(const struct agent *a)
{
	return a->tree_kills.nr > 0 ? (int)(a->kill_nap_ns / NS_PER_MS) : -1;
}
