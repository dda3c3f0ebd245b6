/* What the events of a journal come to, run by run. */
#include "campaign_state.h"
#include "test.h"

#include <math.h>

#define RUN "0123456789ab-1"

struct told {
	const char *ev;
	int attempt;
	const char *fields; /* JSON; NULL */
};

static int tell(struct campaign_state *s, const char *run, const struct told *t, struct err *err)
{
	json_t *all = json_loads(t->fields ? t->fields : "{}", 0, NULL);
	const struct journal_event e = { .seq = s->events + 1,
					 .t_ns = (int64_t)s->events + 1,
					 .boot_id = "b",
					 .ev = t->ev,
					 .run = run,
					 .attempt = t->attempt,
					 .all = all };
	int r;

	assert_non_null(all);
	r = campaign_state_seen(s, &e, err);
	json_decref(all);
	return r;
}

static const struct run_state *after(struct campaign_state *s, const struct told *v, size_t nr)
{
	struct err err = ERR_INIT;

	campaign_state_init(s);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(tell(s, RUN, &v[i], &err), 0);
	return campaign_state_find(s, RUN);
}
#define AFTER(s, ...) \
	after(s, (const struct told[]){ __VA_ARGS__ }, \
	      sizeof((const struct told[]){ __VA_ARGS__ }) / sizeof(struct told))

#define INFRA "{\"class\":\"infrastructure\",\"reason\":\"node\"}"
#define WORK "{\"class\":\"workload\",\"reason\":\"exit 3\"}"

TEST(a_run_that_is_committed)
{
	struct campaign_state s;
	const struct run_state *r =
		AFTER(&s, { "intend", 1, NULL }, { "ended", 1, "{\"class\":\"ok\"}" },
		      { "committed", 1, NULL });

	assert_int_equal(r->stage, RUN_COMMITTED);
	assert_int_equal(r->committed, 1);
	assert_int_equal(r->open, 0);
	assert_int_equal(r->attempts, 1);
	assert_int_equal(r->ended_ns - r->begun_ns, 1);
	assert_string_equal(r->reason, "");
	campaign_state_release(&s);
}

TEST(one_that_is_open_and_one_that_waits_for_another_attempt)
{
	struct campaign_state s;
	const struct run_state *r = AFTER(&s, { "intend", 1, NULL });

	assert_int_equal(r->stage, RUN_OPEN);
	assert_int_equal(r->open, 1);
	campaign_state_release(&s);
	r = AFTER(&s, { "intend", 1, NULL }, { "ended", 1, INFRA }, { "intend", 2, NULL },
		  { "ended", 2, INFRA });
	assert_int_equal(r->stage, RUN_LEFT);
	assert_int_equal(r->attempts, 2);
	assert_int_equal(r->failed[ATTEMPT_INFRASTRUCTURE], 2);
	assert_string_equal(r->reason, "node");
	campaign_state_release(&s);
}

TEST(a_machine_that_was_not_as_the_others_had_it)
{
	static const struct told idle = {
		"idle", 0, "{\"temperature_c\":40.5,\"power_w\":null,\"gpu_power_w\":71}"
	};
	struct campaign_state s;
	const struct run_state *r = AFTER(&s, { "intend", 1, NULL },
					  { "ended", 1, "{\"class\":\"invalid\",\"throttled\":3}" },
					  { "intend", 2, "{\"cooldown\":\"limit\"}" },
					  { "ended", 2, "{\"class\":\"ok\",\"throttled\":4}" },
					  { "committed", 2, NULL });

	assert_int_equal(r->failed[ATTEMPT_INVALID], 1);
	assert_int_equal(s.cooldown_limit, 1);
	assert_int_equal(s.throttled, 1);
	assert_null(s.idle_boot);
	assert_int_equal(tell(&s, NULL, &idle, NULL), 0);
	assert_string_equal(s.idle_boot, "b");
	assert_true(s.idle_c == 40.5 && isnan(s.idle_w) && s.idle_gpu_w == 71);
	campaign_state_release(&s);
}

TEST(one_that_failed_for_good_and_is_tried_again)
{
	struct campaign_state s;
	const struct run_state *r =
		AFTER(&s, { "intend", 1, NULL }, { "ended", 1, WORK },
		      { "failed", 0, "{\"reason\":\"exit 3\",\"attempts\":1}" });

	assert_int_equal(r->stage, RUN_GIVEN_UP);
	assert_string_equal(r->reason, "exit 3");
	assert_int_equal(tell(&s, RUN, &(struct told){ "retry", 0, NULL }, NULL), 0);
	r = campaign_state_find(&s, RUN);
	assert_int_equal(r->stage, RUN_LEFT);
	assert_int_equal(r->failed[ATTEMPT_WORKLOAD], 0);
	assert_int_equal(r->attempts, 1);
	campaign_state_release(&s);
}

TEST(one_whose_commit_is_gone_is_left_again)
{
	struct campaign_state s;
	const struct run_state *r =
		AFTER(&s, { "intend", 1, NULL }, { "committed", 1, NULL }, { "retry", 0, NULL });

	assert_int_equal(r->stage, RUN_LEFT);
	assert_int_equal(r->committed, 0);
	campaign_state_release(&s);
}

TEST(a_commit_counts_although_a_later_attempt_ends_badly)
{
	struct campaign_state s;
	const struct run_state *r =
		AFTER(&s, { "intend", 1, NULL }, { "intend", 2, NULL }, { "committed", 1, NULL },
		      { "ended", 2, INFRA }, { "superseded", 2, NULL }, { "superseded", 2, NULL });

	assert_int_equal(r->stage, RUN_COMMITTED);
	assert_int_equal(r->committed, 1);
	assert_int_equal(r->superseded, 1);
	assert_true(campaign_state_is_superseded(&s, RUN, 2));
	assert_false(campaign_state_is_superseded(&s, RUN, 1));
	campaign_state_release(&s);
}

TEST(a_commit_of_an_attempt_that_the_journal_lacks_counts_as_one)
{
	struct campaign_state s;
	const struct run_state *r = AFTER(&s, { "committed", 5, NULL });

	assert_int_equal(r->attempts, 5);
	campaign_state_release(&s);
}

TEST(odd_numbers_and_types_do_no_harm)
{
	struct campaign_state s;
	const struct run_state *r =
		AFTER(&s, { "intend", -7, NULL }, { "ended", 0, "{\"class\":7,\"reason\":[]}" },
		      { "ended", 0, "{\"class\":\"new\"}" }, { "something", 1, NULL },
		      { "open", 0, "{\"files\":{\"a\":1},\"dir\":7}" },
		      { "open", 0, "{\"files\":[7,{\"path\":1}]}" },
		      { "submit", 0, "{\"jobs\":7}" }, { "submit", 0, "{\"name\":[]}" },
		      { "submitted", 0, "{\"name\":\"x\"}" }, { "plan", 0, "{\"plan\":{}}" });

	assert_int_equal(r->stage, RUN_LEFT);
	assert_int_equal(r->attempts, 0);
	assert_int_equal(r->failed[ATTEMPT_INTERRUPTED], 2);
	assert_null(s.plan);
	assert_false(campaign_state_submitted(&s, RUN, 1));
	campaign_state_release(&s);
}

TEST(what_names_no_run_is_damage)
{
	struct campaign_state s;
	struct err err = ERR_INIT;

	campaign_state_init(&s);
	assert_int_equal(tell(&s, "../x", &(struct told){ "intend", 1, NULL }, &err), -EBADMSG);
	assert_has(err.msg, "event 1", "../x");
	assert_int_equal(tell(&s, RUN ".1", &(struct told){ "intend", 1, NULL }, &err), -EBADMSG);
	assert_null(campaign_state_find(&s, ""));
	campaign_state_release(&s);
}

TEST(what_a_campaign_was_begun_with)
{
	struct campaign_state s;

	AFTER(&s,
	      { "open", 0,
		"{\"dir\":\"/d\",\"cwd\":\"/c\",\"files\":[{\"path\":\"/a\",\"copy\":\"x\"}]}" },
	      { "plan", 0, "{\"plan\":\"plans/a.json\",\"keep_old\":true}" },
	      { "open", 0,
		"{\"dir\":\"/e\",\"cwd\":\"/c\",\"files\":[{\"path\":\"/b\",\"copy\":\"y\"}]}" },
	      { "submit", 0, "{\"name\":\"n\",\"jobs\":[[\"" RUN ".1\"]]}" },
	      { "submitted", 0, "{\"name\":\"n\"}" }, { "cancelled", 0, "{\"name\":\"n\"}" });
	assert_string_equal(s.dir, "/e");
	assert_string_equal(s.cwd, "/c");
	assert_string_equal(s.plan, "plans/a.json");
	assert_int_equal(s.files.nr, 1);
	assert_string_equal(s.files.v[0].path, "/b");
	assert_true(s.keep_old);
	assert_true(campaign_state_submitted(&s, RUN, 1));
	assert_false(campaign_state_submitted(&s, RUN, 2));
	assert_true(s.submissions.v[0].known && s.submissions.v[0].cancelled);
	campaign_state_release(&s);
}
