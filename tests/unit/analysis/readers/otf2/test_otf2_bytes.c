/*
 * Every file of a small archive with every byte changed, with its end cut off anywhere, with every
 * part of it there twice or missing. Whatever it says then, reading ends, and what was read can be
 * analysed.
 */
#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_big.c"
#include "tests/fixtures/gen/otf2_big_write.c"
#include "tests/fixtures/gen/otf2_gen.c"

#include "profrig/stats/analysis.h"

/* libotf2 forgets memory when a file is damaged. */
/* NOLINTBEGIN(bugprone-reserved-identifier): what the sanitizer asks for */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}
/* NOLINTEND(bugprone-reserved-identifier) */

#define PATIENCE_S 300 /* for one file; what hangs is killed with the name of it on stdout */

struct victim {
	const char *archive;
	char *path, *sound;
	size_t n;
	uint64_t reads, errors, partial, silent;
};

static void analyse_all(struct model *m)
{
	struct analysis_opts o = { .energy = { .integration = INTEGRATE_LINEAR } };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	for (size_t i = 0; analyses[i]; i++) {
		int r = analysis_run(analyses[i], m, NULL, &o, &ts, NULL);

		assert_true(r == 0 || r == ANALYSIS_SKIPPED);
	}
	for (size_t i = 0; i < ts.checks.nr; i++)
		if (!ts.checks.v[i].ok)
			fail_msg("%s: %s", ts.checks.v[i].name, ts.checks.v[i].detail);
}

static void bytes_try(struct victim *v, const void *data, size_t n)
{
	CLEANUP(model_freep) struct model *m = model_new();
	struct err err = ERR_INIT;
	FILE *f;
	int r;

	/* a new file: some file systems flush one that is overwritten */
	assert_int_equal(unlink(v->path), 0);
	f = fopen(v->path, "wbe");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
	r = reader_otf2.read(v->archive, model_sink(m), NULL, &err);
	model_finish(m);
	v->reads++;
	v->errors += r < 0;
	v->partial += r == READ_PARTIAL;
	v->silent += r == 0 && m->warnings.nr == 0;
	assert_true(r <= READ_PARTIAL);
	assert_true(r >= 0 || err.msg[0]);
	/* what is missing is reported */
	assert_true(r != READ_PARTIAL || m->warnings.nr > 0);
	if (r >= 0 && v->reads % 4 == 0)
		analyse_all(m);
}

static void flips(struct victim *v)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff };
	CLEANUP(xfreep) char *data = xmemdup(v->sound, v->n);

	for (size_t at = 0; at < v->n; at++) {
		for (size_t k = 0; k < ARRAY_LEN(masks); k++) {
			data[at] = (char)(v->sound[at] ^ masks[k]);
			bytes_try(v, data, v->n);
		}
		data[at] = v->sound[at];
	}
}

/* A cut file is never taken for a whole one; what stands behind its end mark may be missing. */
static void cuts(struct victim *v, size_t fill)
{
	uint64_t told = v->errors + v->partial, tried = v->reads;

	for (size_t n = 0; n + fill < v->n; n++)
		bytes_try(v, v->sound, n);
	assert_int_equal(v->errors + v->partial - told, v->reads - tried);
}

static void repeats_and_holes(struct victim *v)
{
	static const size_t lengths[] = { 1, 9, 60 };
	CLEANUP(xfreep) char *data = xmalloc(2 * v->n);

	for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
		size_t len = lengths[k];

		for (size_t at = 0; at + len <= v->n; at += 1 + len / 4) {
			memcpy(data, v->sound, at + len);
			memcpy(data + at + len, v->sound + at, v->n - at);
			bytes_try(v, data, v->n + len);
			memcpy(data + at, v->sound + at + len, v->n - at - len);
			bytes_try(v, data, v->n - len);
		}
	}
}

static void every_byte(struct place *p, const char *name, size_t fill)
{
	struct big_opts o = BIG_OPTS_INIT;
	CLEANUP(big_plan_release) struct big_plan plan = { 0 };
	CLEANUP(big_facts_release) struct big_facts facts = { 0 };
	CLEANUP(xfreep) char *path = fs_join(p->archive, name), *sound = NULL;
	struct victim v = { .archive = p->archive, .path = path };

	o.events = 12;
	o.queues = o.messages = 1;
	o.regions = 3;
	o.period_us = 4;
	o.lead_us = o.tail_us = 8;
	big_plan_make(&o, &plan);
	big_write(&plan, p->archive, &facts);
	assert_int_equal(fs_read(path, 1 << 20, &sound, &v.n, NULL), 0);
	v.sound = sound;
	alarm(PATIENCE_S);
	bytes_try(&v, v.sound, v.n);
	assert_int_equal(v.silent, 1);
	flips(&v);
	cuts(&v, fill);
	repeats_and_holes(&v);
	alarm(0);
	print_message("%s: %" PRIu64 " reads, %" PRIu64 " errors, %" PRIu64 " partial, %" PRIu64
		      " that nothing shows\n",
		      name, v.reads, v.errors, v.partial, v.silent);
}

IN_PLACE(anchor)
{
	every_byte(p, "traces.otf2", 2);
}

IN_PLACE(global_definitions_damaged)
{
	every_byte(p, "traces.def", 1);
}

IN_PLACE(local_definitions_damaged)
{
	every_byte(p, "traces/0.def", 1);
}

IN_PLACE(thread_events)
{
	every_byte(p, "traces/0.evt", 1);
}

IN_PLACE(queue_events)
{
	every_byte(p, "traces/4294967296.evt", 1);
}

IN_PLACE(counter_events)
{
	every_byte(p, "traces/8589934592.evt", 1);
}
