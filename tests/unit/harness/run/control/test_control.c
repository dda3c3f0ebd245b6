/* Control of a live run: the rules of holds, windows and names; many who speak at once. */
#include "control_marks.h"
#include "record_state.h"
#include "run_rig.h"

#include <pthread.h>

#include "profrig/run/control.h"

/* --- names --- */

static void named(const char *text, const char *want)
{
	char name[CONTROL_MAX_NAME + 1];

	record_name(name, text, strlen(text), "none");
	assert_string_equal(name, want);
}

TEST(names)
{
	char longer[400], want[CONTROL_MAX_NAME + 1];

	named("epoch 3", "epoch 3");
	named("  \t blanks around \r\n", "blanks around");
	named("", "none");
	named(" \t", "none");
	named("tab\tand\x7f\x01", "tab?and??");
	named("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
	named("cut \xc3", "cut ?");
	named("\xff\xfe", "??");
	/* Characters are not cut in two: 63 of two bytes fit into 127. */
	for (size_t i = 0; i < 200; i++)
		memcpy(longer + 2 * i, "\xc3\xa9", 2);
	longer[399] = '\0';
	memcpy(want, longer, 126);
	want[126] = '\0';
	named(longer, want);
}

/* --- holds and windows --- */

TEST(holds)
{
	struct record_state s = { .switched = true };
	struct err err = ERR_INIT;

	assert_int_equal(record_release(&s, NULL, &err), -ENOENT);
	assert_has(err.msg, "nothing is being recorded");
	assert_int_equal(record_hold(&s, "ann", 1, &err), 0);
	assert_int_equal(record_hold(&s, "bob", 2, &err), 0);
	assert_int_equal(record_hold(&s, "ann", 3, &err), 0);
	assert_int_equal(record_release(&s, "carl", &err), -ENOENT);
	assert_has(err.msg, "not held by 'carl', but by 'ann', 'bob', 'ann'");
	assert_int_equal(record_release(&s, "ann", &err), 0);
	assert_int_equal(s.holds.nr, 2);
	assert_true(record_is_held_by(&s, "ann"));
	assert_int_equal(record_release(&s, NULL, &err), 0); /* the last one: bob's */
	assert_false(record_is_held_by(&s, "bob"));
	assert_true(record_is_held_by(&s, "ann"));
	for (size_t i = 1; i < CONTROL_MAX_HOLDS; i++)
		assert_int_equal(record_hold(&s, "x", 4, &err), 0);
	assert_int_equal(record_hold(&s, "x", 4, &err), -ENOSPC);
	record_free(&s);
}

TEST(windows)
{
	struct record_state s = { .switched = true };

	record_closed(&s, 5); /* nothing is open */
	record_opened(&s, "", "ann", 10);
	assert_true(record_is_open(&s));
	record_closed(&s, 20);
	assert_false(record_is_open(&s));
	record_opened(&s, "two", "bob", 30);
	record_closed(&s, 30); /* it did not take place */
	assert_int_equal(s.windows.nr, 1);
	assert_string_equal(s.windows.v[0].name, "1");
	for (int64_t i = 0; i < CONTROL_MAX_WINDOWS + 5; i++) {
		record_opened(&s, "w", "x", 100 + 2 * i);
		record_closed(&s, 101 + 2 * i);
	}
	assert_int_equal(s.windows.nr, CONTROL_MAX_WINDOWS);
	assert_int_equal(s.windows_dropped, 6);
	record_free(&s);
}

/* --- the file of marks --- */

struct seen {
	struct record_mark v[32];
	size_t nr;
};

static void event_see(void *ctx, const struct record_mark *m)
{
	struct seen *s = ctx;

	if (s->nr < 32)
		s->v[s->nr] = *m;
	s->nr++;
}

static void file_append(const char *path, const char *text)
{
	FILE *f = fopen(path, "ae");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

TEST(marks_file)
{
	CLEANUP(xfreep) char *top = test_dir(), *path = fs_join(top, "marks");
	struct marks_file mf;
	struct seen s = { .nr = 0 };
	int64_t begin = clock_monotonic_ns(), made;
	char line[64];

	assert_int_equal(marks_open(&mf, path, begin, NULL), 0);
	file_append(path, "half");
	assert_false(marks_read(&mf, false, event_see, &s));
	assert_int_equal(s.nr, 0);
	file_append(path, " a line\nsecond\n");
	marks_read(&mf, false, event_see, &s);
	assert_int_equal(s.nr, 2);
	assert_string_equal(s.v[0].name, "half a line");
	assert_false(s.v[0].by_maker);
	assert_true(s.v[1].t_ns <= clock_monotonic_ns() && s.v[1].uncertainty_ns >= 0);
	assert_true(s.v[1].t_ns - s.v[1].uncertainty_ns >= begin);
	made = clock_monotonic_ns();
	snprintf(line, sizeof(line), "@%lld exactly\n", (long long)made);
	file_append(path, line);
	marks_read(&mf, false, event_see, &s);
	assert_true(s.v[2].by_maker && s.v[2].t_ns == made && s.v[2].uncertainty_ns == 0);
	assert_string_equal(s.v[2].name, "exactly");
	/* Times that cannot be: before the run, in the future. */
	file_append(path, "@5 old\n@9000000000000000000 new\n@ x\n@12\n");
	marks_read(&mf, false, event_see, &s);
	assert_int_equal(s.nr, 7);
	assert_false(s.v[3].by_maker || s.v[4].by_maker || s.v[5].by_maker);
	assert_string_equal(s.v[3].name, "old");
	assert_string_equal(s.v[5].name, "@ x");
	assert_string_equal(s.v[6].name, "mark");
	assert_int_equal(mf.bad_times, 3);
	file_append(path, "the end");
	marks_read(&mf, true, event_see, &s);
	assert_string_equal(s.v[7].name, "the end");
	marks_close(&mf);
	assert_false(fs_exists(path));
	test_dir_done(&top);
}

/* --- a run --- */

struct talker {
	const char *run_dir;
	const char *name;
	int marks, refused;
	pthread_t thread;
};

static bool ask_ok(struct talker *t, const char *op)
{
	json_t *answer = NULL;
	bool ok;

	if (control_ask(t->run_dir,
			json_pack("{s:s, s:s, s:s}", "op", op, "by", t->name, "name", op), 20000,
			&answer, NULL) < 0)
		return false;
	ok = json_is_true(json_object_get(answer, "ok"));
	json_decref(answer);
	return ok;
}

static void *client_talk(void *ctx)
{
	struct talker *t = ctx;

	for (int i = 0; i < 25; i++) {
		t->refused += !ask_ok(t, "start");
		t->marks += ask_ok(t, "mark");
		t->refused += !ask_ok(t, "status");
		t->refused += !ask_ok(t, "stop");
	}
	return NULL;
}

#define TALKERS 6

static struct talker talkers[TALKERS];

/* From when the socket is there; the workload waits for a file. */
static void *all_talk(void *ctx)
{
	struct rig *g = ctx;
	FILE *f;

	if (wait_for_file(in_dir(g->plan.run_dir, "started")))
		for (size_t i = 0; i < TALKERS; i++)
			pthread_create(&talkers[i].thread, NULL, client_talk, &talkers[i]);
	for (size_t i = 0; i < TALKERS; i++)
		pthread_join(talkers[i].thread, NULL);
	f = fopen(in_dir(g->plan.run_dir, "go"), "we");
	if (f)
		fclose(f);
	return NULL;
}

TEST_WITH(many_speak_at_once, setup, teardown)
{
	static const char *const names_of[TALKERS] = { "a", "b", "c", "d", "e", "f" };
	struct rig *g = *state;
	pthread_t thread;
	json_t *w, *list;
	int64_t last = 0;
	int marks = 0;
	size_t i;

	add_step(g, STEP_WORKLOAD, "workload",
		 "touch $PROFRIG_RUN_DIR/started; "
		 "while [ ! -e $PROFRIG_RUN_DIR/go ]; do sleep 0.02; done");
	for (i = 0; i < TALKERS; i++)
		talkers[i] = (struct talker){ .run_dir = g->plan.run_dir, .name = names_of[i] };
	assert_int_equal(pthread_create(&thread, NULL, all_talk, g), 0);
	rig_run(g);
	pthread_join(thread, NULL);
	ended_as(g, RUN_SUCCESS, 0, NULL);
	for (i = 0; i < TALKERS; i++) {
		assert_int_equal(talkers[i].refused, 0);
		marks += talkers[i].marks;
	}
	assert_int_equal(marks, 25 * TALKERS);
	assert_int_equal(json_array_size(json_object_get(g->doc, "marks")), marks);
	/* The run held it all the time: one window, to the end. */
	list = json_object_get(g->doc, "windows");
	assert_int_equal(json_array_size(list), 1);
	json_array_foreach(list, i, w)
	{
		assert_true(json_integer_value(json_object_get(w, "start_ns")) > last);
		last = json_integer_value(json_object_get(w, "end_ns"));
	}
	assert_cleared_away(g);
}
