#include "analyses_private.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"
#include "profrig/names/short_name.h"

/* clang-format off */
#define KERNELS(X) \
	X(STR, device) X(STR, name) X(STR, class) X(I64, calls) X(I64, total_ns) X(I64, min_ns) \
	X(F64, mean_ns) X(F64, median_ns) X(I64, max_ns) X(F64, stddev_ns) X(F64, share) \
	X(STR, short_name) X(F64, p95_ns) X(F64, cv) X(STR, kind)
/* clang-format on */
TABLE_FORM(kernels, KERNELS, "one row per device and kernel, copy or fill");

struct kernel {
	str_id device, name;
	const char *class, *kind;
	struct call_stats stats;
	int64_t device_ns; /* Σ of all work of its device */
};

struct kernels {
	VEC(struct kernel) all;
};

static int cmp_kernel(const void *pa, const void *pb, void *ctx)
{
	const struct kernel *a = pa, *b = pb;
	int d = natural_cmp(model_str(ctx, a->device), model_str(ctx, b->device));
	if (d)
		return d;
	if (a->stats.sum_ns != b->stats.sum_ns)
		return a->stats.sum_ns > b->stats.sum_ns ? -1 : 1;
	d = strcmp(model_str(ctx, a->name), model_str(ctx, b->name));
	if (!d)
		d = strcmp(a->class, b->class);
	return d ? d : (a->stats.calls > b->stats.calls) - (a->stats.calls < b->stats.calls);
}

/* In table order the kernels of one device are neighbours. */
static void sum_devices(struct kernels *ks)
{
	for (size_t k = 0; k < ks->all.nr;) {
		size_t end = k;
		int64_t sum = 0;
		for (; end < ks->all.nr && ks->all.v[end].device == ks->all.v[k].device; end++)
			sum = ns_add(sum, ks->all.v[end].stats.sum_ns);
		for (; k < end; k++)
			ks->all.v[k].device_ns = sum;
	}
}

/* Owned, as short_names has it. */
static char **kernels_short(const struct model *m, const struct kernels *ks)
{
	CLEANUP(xfreep) const char **names = xcalloc(ks->all.nr + 1, sizeof(*names));

	for (size_t k = 0; k < ks->all.nr; k++)
		names[k] = model_str(m, ks->all.v[k].name);
	return short_names(names, ks->all.nr, SHORT_NAME_WIDTH);
}

static struct table *make_table(const struct model *m, const struct kernels *ks)
{
	struct table *t = table_make(&kernels_form);
	char **names = kernels_short(m, ks);

	for (size_t k = 0; k < ks->all.nr; k++) {
		const struct kernel *kn = &ks->all.v[k];
		const struct call_stats *s = &kn->stats;

		table_add(t,
			  &(struct kernels_row){
				  model_str(m, kn->device), model_str(m, kn->name), kn->class,
				  (int64_t)s->calls, s->sum_ns, s->min_ns, s->mean_ns, s->median_ns,
				  s->max_ns, s->stddev_ns,
				  kn->device_ns > 0 ? (double)s->sum_ns / (double)kn->device_ns : 0,
				  names[k], s->p95_ns,
				  s->mean_ns > 0 ? s->stddev_ns / s->mean_ns : NAN, kn->kind });
	}
	short_names_free(names, ks->all.nr);
	return t;
}

static void add_table(struct model *m, struct kernels *ks, struct table_set *out)
{
	qsort_r(ks->all.v, ks->all.nr, sizeof(*ks->all.v), cmp_kernel, m);
	sum_devices(ks);
	table_set_add(out, make_table(m, ks));
}

/*
 * A kernel and a copy of one name are two rows, so that a row has one class. Calls of one name come
 * together when only their categories differ. of_calls: by profile.calls; U64MAP_NONE: on threads.
 */
static void kernels_find(const struct profile *p, struct kernels *ks, uint32_t *of_calls)
{
	CLEANUP(u64map_release) struct u64map ids = U64MAP_INIT;

	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct profile_calls *c = &p->calls.v[i];
		uint32_t *id;

		of_calls[i] = U64MAP_NONE;
		if (c->device == UINT32_MAX)
			continue;
		id = u64map_at(&ids, u64map_pair(c->device << 1 | c->kernel, c->name));
		if (*id == U64MAP_NONE) {
			*id = (uint32_t)ks->all.nr;
			VEC_PUSH(&ks->all,
				 ((struct kernel){
					 .device = p->devices.v[c->device].device,
					 .name = c->name,
					 .class = c->kernel ? kernel_class_by(
								      p->m->classes,
								      model_str(p->m, c->name))
							    : "copy",
					 .kind = c->kernel ? "kernel" : "copy" }));
		}
		of_calls[i] = *id;
	}
}

static int kernels_run(const struct profile *p, const struct analysis_opts *o,
		       struct table_set *out, struct err *err)
{
	CLEANUP(xfreep) uint32_t *of_calls = xcalloc(p->calls.nr + 1, sizeof(*of_calls));
	CLEANUP(xfreep) struct call_stats *stats = NULL;
	struct kernels ks = { VEC_INIT };

	(void)o;
	(void)err;
	kernels_find(p, &ks, of_calls);
	stats = xcalloc(ks.all.nr + 1, sizeof(*stats));
	call_stats_by(p, of_calls, ks.all.nr, stats);
	for (size_t k = 0; k < ks.all.nr; k++)
		ks.all.v[k].stats = stats[k];
	if (ks.all.nr)
		add_table(p->m, &ks, out);
	VEC_RELEASE(&ks.all);
	return 0;
}

const struct analysis analysis_kernels = {
	.name = "kernels",
	.about = "time and class of every kernel, copy and fill by device",
	.nothing = "no device did any work",
	.tables = { &kernels_form },
	.of_profile = kernels_run,
};
