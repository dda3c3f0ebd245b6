/* When tools record, and their overhead budget. */
#include "runconf_int.h"
#include "schema.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"

static bool is_given(const struct cfg_node *n)
{
	return n && n->kind != CFG_NULL && n->layer != LAYER_BUILTIN;
}

static void fill_start(struct loader *l, const struct cfg_node *n)
{
	struct runconf_record *r = &l->rc->record;
	const char *text = n && n->s ? n->s : "begin";

	r->begin = !strcmp(text, "begin");
	if (r->begin || !strcmp(text, "manual"))
		return;
	if (!strncmp(text, "mark ", 5) && text[5 + strspn(text + 5, " ")])
		r->mark = xstrdup(text + 5 + strspn(text + 5, " "));
	else
		cfg_problem(l->p, n, "record.start: want begin, manual or 'mark NAME', not '%.80s'",
			    text);
}

static double seconds_of(const struct cfg_node *n)
{
	double v = 0;

	return n && schema_seconds(n, &v) == 0 && isfinite(v) && v > 0 ? v : 0;
}

static void fill_budget(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *n = cfg_path(root, "overhead.budget");

	l->rc->overhead_budget = NAN;
	if (n && n->s && num_percent(n->s, strlen(n->s), &l->rc->overhead_budget) < 0)
		cfg_problem(l->p, n, "overhead.budget: want a percentage such as 10%%, not '%.80s'",
			    n->s);
}

void runconf_fill_record(struct loader *l)
{
	const struct cfg_node *root = l->tree.root;
	const struct cfg_node *start = cfg_path(root, "record.start");
	const struct cfg_node *after = cfg_path(root, "record.after");
	const struct cfg_node *end = cfg_path(root, "record.for");
	const struct cfg_node *samplers = cfg_path(root, "record.samplers");
	struct runconf_record *r = &l->rc->record;

	fill_budget(l, root);
	r->given = is_given(start) || is_given(after) || is_given(end) || is_given(samplers);
	fill_start(l, start);
	r->after_s = seconds_of(after);
	r->for_s = seconds_of(end);
	if (is_given(end) && !(r->for_s > 0))
		cfg_problem(l->p, end,
			    "record.for: nothing is recorded in 0 s; leave it out to record to the "
			    "end");
	r->samplers = samplers && samplers->s && !strcmp(samplers->s, "windows");
	if (!r->begin && !r->mark && (r->after_s > 0 || r->for_s > 0))
		cfg_problem(l->p, r->after_s > 0 ? after : end,
			    "record.%s: with start 'manual' nothing begins by itself; leave start "
			    "out, or name a mark",
			    r->after_s > 0 ? "after" : "for");
}
