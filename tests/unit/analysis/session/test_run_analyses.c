/* Analyses side by side: tables, warnings and notes are those of one thread. */
#include "session_test.h"

#include <dirent.h>

#define FIX "tests/fixtures/"

static void analyze_with(struct heard *h, long threads, const char *out, const char *const *names)
{
	CLEANUP(strvec_release) struct strvec inputs = heard_inputs(h, names);

	session_result_release(&h->r);
	h->o.threads = threads;
	strvec_release(&h->notes);
	assert_int_equal(session_analyze(&inputs, &h->o, in_dir(h->dir, out), &h->r, &h->err), 0);
}

/* analysis.json up to its times, which are its last member but for the names of the inputs. */
static char *without_times(const char *text)
{
	const char *at = strstr(text, "\"timings_s\"");

	assert_non_null(at);
	return xasprintf("%.*s", (int)(at - text), text);
}

/* The files below one folder of both results; their number. */
static size_t files_compare(const struct heard *h, const char *a, const char *b, const char *folder)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%s/%s", h->dir, a, folder);
	DIR *d = opendir(path);
	const struct dirent *e;
	size_t nr = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		CLEANUP(xfreep) char *at_a = xasprintf("%s/%s/%s", a, folder, e->d_name);
		CLEANUP(xfreep) char *at_b = xasprintf("%s/%s/%s", b, folder, e->d_name);
		CLEANUP(xfreep) char *text_a = NULL, *text_b = NULL;

		if (e->d_name[0] == '.')
			continue;
		text_a = test_get(h->dir, at_a);
		text_b = test_get(h->dir, at_b);
		if (strcmp(text_a, text_b) != 0)
			fail_msg("%s differs from %s", at_a, at_b);
		nr++;
	}
	closedir(d);
	return nr;
}

/* A wait that ends as soon as it can, a table that another analysis reads, warnings of several. */
TEST(threads_do_not_matter)
{
	static const char *const cases[][3] = {
		{ FIX "tef/kineto.json" },
		{ FIX "nsys/two-processes.sqlite" },
		{ FIX "nsys/xla.sqlite" },
		{ FIX "tef/jax.json" },
		{ FIX "rocpd/two-processes.db" },
		{ FIX "rundir/complete" },
		{ FIX "tef/profrig-blas.json", FIX "tef/chrome-samples.json" },
	};
	static const long threads[] = { 2, 3, 8 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(heard_end) struct heard h;
		CLEANUP(xfreep) char *alone = NULL;
		CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;

		heard_begin(&h);
		analyze_with(&h, 1, "one", cases[i]);
		alone = without_times(h.r.report.analysis_json);
		strvec_pushv(&said, h.notes.v);
		for (size_t t = 0; t < ARRAY_LEN(threads); t++) {
			CLEANUP(xfreep) char *json = NULL;

			analyze_with(&h, threads[t], "many", cases[i]);
			json = without_times(h.r.report.analysis_json);
			assert_string_equal(json, alone);
			assert_true(files_compare(&h, "one", "many", "tables") > 2);
			files_compare(&h, "one", "many", "folded");
			assert_int_equal(h.notes.nr, said.nr);
			for (size_t k = 0; k < said.nr; k++)
				assert_string_equal(h.notes.v[k], said.v[k]);
		}
	}
}

struct order {
	struct strvec ended;
};

static void order_take(void *ctx, enum session_phase phase, const char *part)
{
	struct order *o = ctx;

	if (phase == SESSION_ANALYSE)
		strvec_push(&o->ended, part);
}

/* The listener hears of each once, with one thread in the order of the registry. */
TEST(listener)
{
	static const long threads[] = { 1, 2 };

	for (size_t t = 0; t < ARRAY_LEN(threads); t++) {
		CLEANUP(heard_end) struct heard h;
		struct order order = { STRVEC_INIT };
		size_t nr = 0;

		heard_begin(&h);
		h.o.listener = (struct session_listener){ .done = order_take, .ctx = &order };
		analyze_with(&h, threads[t], "o",
			     (const char *const[]){ FIX "tef/kineto.json", NULL });
		assert_string_equal(order.ended.v[0], "profile");
		for (; analyses[nr]; nr++) {
			assert_true(strvec_has(&order.ended, analyses[nr]->name));
			if (threads[t] == 1)
				assert_string_equal(order.ended.v[nr + 1], analyses[nr]->name);
		}
		assert_int_equal(order.ended.nr, nr + 1);
		strvec_release(&order.ended);
	}
}

/* An analysis that waited for one behind it would wait for ever. */
TEST(what_they_wait_for)
{
	for (size_t i = 0; analyses[i]; i++)
		for (const char *const *name = analyses[i]->after; *name; name++) {
			size_t k = 0;

			while (k < i && strcmp(analyses[k]->name, *name) != 0)
				k++;
			if (k == i || analyses[k]->after_all)
				ROW_FAIL(i, "%s comes after %s", analyses[i]->name, *name);
		}
}
