/* Work of devices by class; the union of a class is a sweep over works in their order. */
#include "analyses_private.h"
#include "ns.h"

#include <math.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"

/* clang-format off */
#define KERNEL_CLASSES(X) \
	X(STR, device) X(STR, class) X(I64, calls) X(I64, total_ns) X(I64, union_ns) X(F64, share) \
	X(F64, joules)
/* clang-format on */
TABLE_FORM(kernel_classes, KERNEL_CLASSES, "one row per device and class of kernels");

struct class_sum {
	const char *class;
	int64_t calls, total_ns, union_ns, until_ns;
	double joules; /* NAN: not known */
};

struct classing {
	struct model *m;
	struct u64map of_name;      /* kernels: name → index of names */
	VEC(const char *) names;    /* classes of these names */
	VEC(struct class_sum) sums; /* of one device */
	struct u64map of_device;    /* name → index of sums, of one device's work */
};

static const char *class_of_name(struct classing *c, str_id name)
{
	uint32_t *at = u64map_at(&c->of_name, name);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->names.nr;
		VEC_PUSH(&c->names, kernel_class_by(c->m->classes, model_str(c->m, name)));
	}
	return c->names.v[*at];
}

static uint32_t sum_at(struct classing *c, const char *class)
{
	for (size_t i = 0; i < c->sums.nr; i++)
		if (strcmp(c->sums.v[i].class, class) == 0)
			return (uint32_t)i;
	VEC_PUSH(&c->sums,
		 ((struct class_sum){ .class = class, .until_ns = INT64_MIN, .joules = NAN }));
	return (uint32_t)c->sums.nr - 1;
}

static void work_add(struct classing *c, const struct work *w)
{
	bool kernel = c->m->spans.kind[w->span] == SPAN_KERNEL;
	str_id name = c->m->spans.name[w->span];
	uint32_t *at = u64map_at(&c->of_device, u64map_pair(kernel, name));
	struct class_sum *s;

	if (*at == U64MAP_NONE)
		*at = sum_at(c, kernel ? class_of_name(c, name) : "copy");
	s = &c->sums.v[*at];
	s->calls++;
	s->total_ns = ns_add(s->total_ns, w->end_ns - w->start_ns);
	if (w->start_ns >= s->until_ns)
		s->union_ns += w->end_ns - w->start_ns;
	else if (w->end_ns > s->until_ns)
		s->union_ns += w->end_ns - s->until_ns;
	if (w->end_ns > s->until_ns)
		s->until_ns = w->end_ns;
}

/* ---- joules ---- */

/* The one counter whose energy the device's work has; NULL: none, or several. */
static const char *counter_of(const struct table *t, const char *device)
{
	const char *found = NULL;
	int counter = table_find_col(t, "counter"), dev = table_find_col(t, "device"),
	    view = table_find_col(t, "view");

	for (size_t i = 0; i < table_rows(t); i++) {
		const char *name = table_get_str(t, i, (size_t)counter);

		if (strcmp(table_get_str(t, i, (size_t)view), "device") != 0 ||
		    strcmp(table_get_str(t, i, (size_t)dev), device) != 0)
			continue;
		if (found && strcmp(found, name) != 0)
			return NULL;
		found = name;
	}
	return found;
}

/* Energy of the kernels' names by their classes. */
static void joules_add(struct classing *c, const struct table *t, const char *device)
{
	const char *counter = t ? counter_of(t, device) : NULL;
	int col[5];
	static const char *const cols[] = { "counter", "device", "view", "name", "exclusive_j" };

	if (!counter)
		return;
	for (size_t k = 0; k < ARRAY_LEN(cols); k++)
		col[k] = table_find_col(t, cols[k]);
	for (size_t i = 0; i < table_rows(t); i++) {
		const char *name = table_get_str(t, i, (size_t)col[3]);
		str_id id = intern_find(c->m->strings, name, strlen(name));
		uint32_t at = U64MAP_NONE;
		struct class_sum *s;

		if (strcmp(table_get_str(t, i, (size_t)col[2]), "device") != 0 ||
		    strcmp(table_get_str(t, i, (size_t)col[1]), device) != 0 ||
		    strcmp(table_get_str(t, i, (size_t)col[0]), counter) != 0)
			continue;
		for (uint32_t kernel = 2; id != STR_NONE && kernel-- && at == U64MAP_NONE;)
			at = u64map_get(&c->of_device, u64map_pair(kernel, id));
		if (at == U64MAP_NONE)
			continue; /* [unattributed] */
		s = &c->sums.v[at];
		s->joules =
			(isnan(s->joules) ? 0 : s->joules) + table_get_f64(t, i, (size_t)col[4]);
	}
}

/* ---- the table ---- */

static int cmp_sum(const void *pa, const void *pb)
{
	const struct class_sum *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->class, b->class);
}

static void device_add(struct classing *c, const struct works *w, size_t d,
		       const struct table *energy, struct table *t)
{
	const struct work_device *dev = &w->devices.v[d];
	const char *name = model_str(w->m, dev->name);
	int64_t all_ns = 0;

	VEC_CLEAR(&c->sums);
	c->of_device = (struct u64map)U64MAP_INIT;
	for (size_t i = dev->first; i < dev->first + dev->nr; i++)
		work_add(c, &w->v.v[i]);
	joules_add(c, energy, name);
	qsort(c->sums.v, c->sums.nr, sizeof(*c->sums.v), cmp_sum);
	for (size_t i = 0; i < c->sums.nr; i++)
		all_ns = ns_add(all_ns, c->sums.v[i].total_ns);
	for (size_t i = 0; i < c->sums.nr; i++) {
		const struct class_sum *s = &c->sums.v[i];

		table_add(t, &(struct kernel_classes_row){
				     name, s->class, s->calls, s->total_ns, s->union_ns,
				     all_ns > 0 ? (double)s->total_ns / (double)all_ns : 0,
				     s->joules });
	}
	u64map_release(&c->of_device);
}

static int kernel_classes_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			      struct err *err)
{
	const struct works *w = analysis_works(m, o);
	struct classing c = { .m = m, .of_name = U64MAP_INIT };
	const struct table *energy = table_set_find(out, "energy");
	struct table *t = table_make(&kernel_classes_form);

	(void)err;
	for (size_t d = 0; d < w->devices.nr; d++)
		device_add(&c, w, d, energy, t);
	u64map_release(&c.of_name);
	VEC_RELEASE(&c.names);
	VEC_RELEASE(&c.sums);
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_kernel_classes = {
	.name = "kernel_classes",
	.about = "time and energy of each class of kernels by device",
	.tables = { &kernel_classes_form },
	.run = kernel_classes_run,
	.needs_work = true,
};
