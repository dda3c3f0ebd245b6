/*
 * What `compare` reads of a run directory, which a workload can write. The first byte, a digit,
 * says which file the text is: run.json, a table, folded stacks, a campaign's plan, or
 * analysis.json; the run is then compared with itself, and what comes out is checked.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"
#include "profrig/compare/comparison.h"
#include "profrig/compare/flame_diff.h"

#define RUN "{\"schema\":\"profrig.run/1\",\"status\":\"success\",\"metrics\":[]}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char dir[64];

static void dir_end(void)
{
	fs_remove_tree(dir, NULL);
}

static void file_put(const char *name, const void *text, size_t n)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name), *folder = fs_dir(path);

	if (fs_mkdirs(folder, 0700, NULL) < 0 ||
	    fs_write_kept(path, text, n, FS_KEEP_NOTHING, NULL) < 0)
		abort();
}

static void rows_check(const struct comparison *c)
{
	for (size_t i = 0; i < c->rows.nr; i++) {
		const struct compare_row *r = &c->rows.v[i];

		/* one run against itself */
		if (r->verdict != COMPARE_UNCLEAR || !isfinite(r->a.mean) ||
		    (isfinite(r->ratio) && fabs(r->ratio - 1) > 1e-9) || r->a.n != r->b.n)
			abort();
	}
}

static void trace_check(const struct trace_compare *t)
{
	for (size_t k = 0; t && k < TRACE_KINDS; k++) {
		const struct trace_diff *d = &t->of[k];

		if (d->sum.delta_ns || d->sum.new_ns != d->sum.gone_ns ||
		    d->names_a != d->names_b || d->of[TRACE_UNCHANGED] < d->common)
			abort();
	}
	if (t && t->judged && !(fabs(t->time.ratio - 1) < 1e-12 && t->time.low <= t->time.high))
		abort();
}

static void set_compare(const struct run_set *s)
{
	struct compare_opts o = COMPARE_OPTS_INIT;
	struct comparison c;

	strvec_push(&o.selection, "all");
	o.traces = true;
	comparison_init(&c, &o);
	comparison_add(&c, s, s, "A", "B");
	if (comparison_run(&c, NULL) == 0) {
		rows_check(&c);
		trace_check(c.versus.v[0].trace);
	}
	comparison_release(&c);
	strvec_release(&o.selection);
}

static void set_flame(const struct run_set *s)
{
	struct flame_diff f;
	double own = 0;

	flame_diff_read(s, s, "time", &f);
	for (size_t i = 0; i < f.v.nr; i++)
		own += f.v.v[i].own_b;
	if (f.v.nr && fabs(own - f.v.v[0].b) > 1e-6 * own)
		abort();
	flame_diff_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const names[] = { "r/run.json",
					     "r/analysis/tables/functions.csv",
					     "r/analysis/tables/energy.csv",
					     "r/analysis/folded/time.folded",
					     "plan.json",
					     "r/analysis/tables/iterations.csv",
					     "r/analysis/tables/operators.csv",
					     "r/analysis/analysis.json" };
	CLEANUP(operand_release) struct compare_operand o = OPERAND_INIT, k = OPERAND_INIT;
	CLEANUP(xfreep) char *run = NULL;

	if (!*dir) {
		snprintf(dir, sizeof(dir), "/tmp/profrig-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
		atexit(dir_end);
	}
	if (!n)
		return 0;
	run = fs_join(dir, "r");
	file_put(names[0], RUN, sizeof(RUN) - 1);
	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		file_put(names[i], "", 0);
	file_put(names[(uint8_t)(data[0] - '0') % ARRAY_LEN(names)], data + 1, n - 1);
	if (operand_read(run, &o, NULL) == 0 && o.sets.nr) {
		set_compare(&o.sets.v[0]);
		set_flame(&o.sets.v[0]);
	}
	if (operand_read(dir, &k, NULL) == 0)
		for (size_t i = 0; i < k.sets.nr && i < 8; i++)
			set_compare(&k.sets.v[i]);
	return 0;
}
