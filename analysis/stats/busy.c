#include "analyses_private.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"

/* clang-format off */
#define BUSY(X) \
	X(STR, device) X(I64, spans) X(I64, sum_ns) X(I64, union_ns) X(I64, wall_ns) \
	X(F64, busy) X(I64, idle_ns) X(I64, max_concurrency)
/* clang-format on */
TABLE_FORM(busy, BUSY, "one row per device: how much of the time something ran on it");

static int cmp_device(const void *pa, const void *pb, void *ctx)
{
	const struct profile_device *const *a = pa, *const *b = pb;

	return natural_cmp(model_str(ctx, (*a)->device), model_str(ctx, (*b)->device));
}

static int busy_run(const struct profile *p, const struct analysis_opts *o, struct table_set *out,
		    struct err *err)
{
	CLEANUP(xfreep)
	const struct profile_device **v = xcalloc(p->devices.nr + 1, sizeof(*v));
	struct table *t;
	size_t nr = 0;

	(void)o;
	(void)err;
	for (size_t i = 0; i < p->devices.nr; i++)
		if (p->devices.v[i].pieces)
			v[nr++] = &p->devices.v[i];
	if (nr == 0)
		return 0;
	qsort_r(v, nr, sizeof(*v), cmp_device, p->m);
	t = table_make(&busy_form);
	for (size_t i = 0; i < nr; i++) {
		int64_t wall = v[i]->last_ns - v[i]->first_ns;

		table_add(t, &(struct busy_row){
				     model_str(p->m, v[i]->device), (int64_t)v[i]->pieces,
				     v[i]->sum_ns, v[i]->union_ns, wall,
				     wall > 0 ? (double)v[i]->union_ns / (double)wall : NAN,
				     wall - v[i]->union_ns, (int64_t)v[i]->max_concurrency });
	}
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_busy = {
	.name = "busy",
	.about = "busy and idle time of each device",
	.nothing = "no device did any work",
	.tables = { &busy_form },
	.of_profile = busy_run,
};
