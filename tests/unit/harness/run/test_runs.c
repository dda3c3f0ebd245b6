#include "conf_test.h"

#include "profrig/run/runs.h"

#define DAY INT64_C(86400000000000)

static struct run_list list_of(const char *kinds)
{
	struct run_list rl = RUN_LIST_INIT;

	/* One run a day, the last one today, 10 bytes each: l lives, k is kept. */
	for (size_t i = 0, n = strlen(kinds); i < n; i++)
		VEC_PUSH(&rl.v, ((struct run_info){ .started_ns = (int64_t)(100 - n + i + 1) * DAY,
						    .tools = STRVEC_INIT,
						    .labels = STRVEC_INIT,
						    .bytes = 10,
						    .live = kinds[i] == 'l',
						    .kept = kinds[i] == 'k' }));
	return rl;
}

TEST(test_choose)
{
	static const struct {
		const char *runs;
		double older_days;
		int64_t larger, keep;
		const char *want; /* x goes */
	} rows[] = {
		{ "....", 1.5, -1, 0, "xx.." },      { "....", 0, -1, 0, "xxx." },
		{ "....", 99, -1, 0, "...." },       { "l.k.", 1.5, -1, 0, ".x.." },
		{ "....", 1.5, -1, 3, "x..." },      { "....", -1, -1, 2, "xx.." },
		{ "....", -1, -1, 9, "...." },       { "....", -1, -1, 0, "xxxx" },
		{ "lk..", -1, -1, 0, "..xx" },       { "....", -1, 20, 0, "xx.." },
		{ "....", -1, 25, 0, "xx.." },       { "....", -1, 40, 0, "...." },
		{ "l...", -1, 20, 0, ".xx." },       { "....", -1, 0, 2, "xx.." },
		{ "lkl.", -1, 0, 1, "...." },        { "......", 3.5, 20, 0, "xxxx.." },
		{ "......", 3.5, 100, 0, "xx...." }, { "", 0, 0, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct prune_rule rule = { rows[i].older_days < 0 ? -1 : rows[i].older_days * 86400,
					   rows[i].larger, rows[i].keep };
		struct run_list rl = list_of(rows[i].runs);
		char got[16] = "";

		runs_choose(&rl, &rule, 100 * DAY);
		for (size_t k = 0; k < rl.v.nr; k++)
			got[k] = rl.v.v[k].doomed ? 'x' : '.';
		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "'%s' gave '%s'", rows[i].runs, got);
		run_list_release(&rl);
	}
}

/* Nothing but what has the name and the document of a run is one. */
TEST(test_load)
{
	static const char good[] = "20260102T030405Z-a-b-0a1b2c";
	struct run_filter any = { .labels = STRVEC_INIT };
	struct run_list rl = RUN_LIST_INIT;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	for (size_t i = 0; i < 2; i++) {
		CLEANUP(xfreep)
		char *id = i ? xasprintf("20260102T030404Z-m-0a1b2c") : xstrdup(good);

		sandbox_write(&sb, textf("%s/run.json", id),
			      textf("{\"schema\":\"profrig.run/1\",\"id\":\"%s\",\"model\":\"m\","
				    "\"status\":\"running\",\"started_utc\":"
				    "\"2026-01-02T03:04:05.%zuZ\",\"labels\":{\"a\":\"1\"}}",
				    id, 5 - i));
	}
	sandbox_write(&sb, "20260102T030405Z-x-0a1b2c/run.json", "{\"schema\":\"other\"}");
	sandbox_write(&sb, "20260102T030405Z-y-0a1b2c/run.json", "no JSON");
	sandbox_write(&sb, "20260102T030405Z-z-0a1b2c", "a file");
	sandbox_write(&sb, "20260102T030405Z-a-0a1b2/run.json", "{}");
	sandbox_write(&sb, "2026010203040505-a-0a1b2c/run.json", "{}");
	assert_int_equal(runs_load(sb.dir, &any, &rl, NULL), 0);
	assert_int_equal(rl.v.nr, 2);
	assert_int_equal(rl.odd.nr, 2);
	assert_string_equal(rl.v.v[1].id, good);
	/* Its lock is not held, so it does not run. */
	assert_string_equal(rl.v.v[0].status, "interrupted");
	run_list_release(&rl);
	assert_int_equal(runs_load("/nonexistent/x", &any, &rl, NULL), -ENOENT);
}
