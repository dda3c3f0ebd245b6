/* Work of devices by class; the union of a class is a sweep over works in their order. */
#include "analyses_private.h"
#include "ns.h"
#include "work_energy.h"

#include <math.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"

/* clang-format off */
#define KERNEL_CLASSES(X) \
	X(STR, device) X(STR, class) X(I64, calls) X(I64, total_ns) X(I64, union_ns) X(F64, share) \
	X(F64, joules) X(F64, uncertainty_j) X(STR, energy_flags)
/* clang-format on */
TABLE_FORM(kernel_classes, KERNEL_CLASSES, "one row per device and class of kernels");

struct class_sum {
	const char *class;
	int64_t calls, total_ns, union_ns, until_ns;
	struct joules j;
	double width_j;
	bool widths; /* some are known */
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
		 ((struct class_sum){ .class = class, .until_ns = INT64_MIN, .j = JOULES_INIT }));
	return (uint32_t)c->sums.nr - 1;
}

static void work_add(struct classing *c, const struct work_energy *we, size_t row)
{
	const struct work *w = &we->w->v.v[row];
	bool kernel = c->m->spans.kind[w->span] == SPAN_KERNEL;
	str_id name = c->m->spans.name[w->span];
	uint32_t *at = u64map_at(&c->of_device, u64map_pair(kernel, name));
	struct class_sum *s;

	if (*at == U64MAP_NONE)
		*at = sum_at(c, kernel ? class_of_name(c, name) : "copy");
	s = &c->sums.v[*at];
	s->calls++;
	joules_add_work(&s->j, we, row);
	s->total_ns = ns_add(s->total_ns, w->end_ns - w->start_ns);
	if (w->start_ns >= s->until_ns)
		s->union_ns += w->end_ns - w->start_ns;
	else if (w->end_ns > s->until_ns)
		s->union_ns += w->end_ns - s->until_ns;
	if (w->end_ns > s->until_ns)
		s->until_ns = w->end_ns;
}

/* ---- uncertainties ---- */

/* Rows of `energy` of one meter. */
struct meter_rows {
	size_t first, end;
};

/* The rows of a counter and view follow each other. */
static struct meter_rows rows_of(const struct table *t, const struct work_meter *me)
{
	size_t counter = (size_t)table_find_col(t, "counter"),
	       device = (size_t)table_find_col(t, "device"),
	       view = (size_t)table_find_col(t, "view");
	struct meter_rows r = { 0, 0 };

	for (size_t i = 0; i < table_rows(t); i++) {
		if (strcmp(table_get_str(t, i, counter), me->label->name) != 0 ||
		    strcmp(table_get_str(t, i, device), me->label->device) != 0 ||
		    strcmp(table_get_str(t, i, view), "device") != 0)
			continue;
		r.first = r.end ? r.first : i;
		r.end = i + 1;
	}
	return r;
}

/*
 * Half-widths of the kernels' names add up for their classes: they may be off to the same side. Of
 * a counter of several devices rows do not tell these apart.
 */
static void widths_add(struct classing *c, const struct table *t, const struct work_meter *me)
{
	struct meter_rows r;
	size_t name_col, width_col;

	if (!t || !me || me->devices != 1)
		return;
	r = rows_of(t, me);
	name_col = (size_t)table_find_col(t, "name");
	width_col = (size_t)table_find_col(t, "uncertainty_j");
	for (size_t i = r.first; i < r.end; i++) {
		const char *name = table_get_str(t, i, name_col);
		str_id id = intern_find(c->m->strings, name, strlen(name));
		uint32_t at = U64MAP_NONE;

		for (uint32_t kernel = 2; id != STR_NONE && kernel-- && at == U64MAP_NONE;)
			at = u64map_get(&c->of_device, u64map_pair(kernel, id));
		if (at == U64MAP_NONE)
			continue; /* [unattributed] */
		c->sums.v[at].width_j += table_get_f64(t, i, width_col);
		c->sums.v[at].widths = true;
	}
}

/* ---- whether it adds up ---- */

#define MAX_ERROR_REL 1e-9

/* Classes, idle time and dead intervals of each counter are its total. */
static void check_add(struct table_set *out, const struct work_meter *me, double classes_j)
{
	double sum_j = classes_j + me->other_j + me->idle_j + me->dead_j;
	CLEANUP(xfreep)
	char *name = xasprintf("energy of classes %s %s", me->label->name, me->label->device);

	if (me->independent)
		return;
	table_set_check(out, name, !(fabs(sum_j - me->total_j) > MAX_ERROR_REL * fabs(me->total_j)),
			"classes %.9g J, other devices %.9g J, idle %.9g J, dead intervals %.9g J, "
			"total %.9g J",
			classes_j, me->other_j, me->idle_j, me->dead_j, me->total_j);
}

/* ---- the table ---- */

static int cmp_sum(const void *pa, const void *pb)
{
	const struct class_sum *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->class, b->class);
}

/*
 * The narrower one of what the names' widths add up to and what is possible at all. No class has
 * less than nothing, nor more than the counter's total.
 */
static double width_of(const struct class_sum *s, const struct work_meter *me)
{
	double j = joules_value(&s->j), width = joules_width(&s->j);

	if (isnan(j))
		return NAN;
	return fmin(s->widths ? fmin(s->width_j, width) : width, fmax(j, me->total_j - j));
}

static void class_row(struct table *t, const char *device, const struct class_sum *s,
		      int64_t all_ns, const struct work_meter *me)
{
	char flags[ENERGY_FLAGS_MAX];

	table_add(t, &(struct kernel_classes_row){
			     device, s->class, s->calls, s->total_ns, s->union_ns,
			     all_ns > 0 ? (double)s->total_ns / (double)all_ns : 0,
			     joules_value(&s->j), width_of(s, me), joules_flags(&s->j, flags) });
}

/* sums: by meter, of what its classes have. */
static void device_add(struct classing *c, const struct work_energy *we, uint32_t d,
		       const struct table *energy, struct sum *sums, struct table *t)
{
	const struct work_device *dev = &we->w->devices.v[d];
	int64_t all_ns = 0;

	VEC_CLEAR(&c->sums);
	c->of_device = (struct u64map)U64MAP_INIT;
	for (size_t i = dev->first; i < dev->first + dev->nr; i++)
		work_add(c, we, i);
	widths_add(c, energy, work_meter_of(we, d));
	if (c->sums.nr)
		qsort(c->sums.v, c->sums.nr, sizeof(*c->sums.v), cmp_sum);
	for (size_t i = 0; i < c->sums.nr; i++)
		all_ns = ns_add(all_ns, c->sums.v[i].total_ns);
	for (size_t i = 0; i < c->sums.nr; i++) {
		double j = joules_value(&c->sums.v[i].j);

		class_row(t, model_str(we->w->m, dev->name), &c->sums.v[i], all_ns,
			  work_meter_of(we, d));
		if (!isnan(j))
			sum_add(&sums[we->meter_of[d]], j);
	}
	u64map_release(&c->of_device);
}

static int kernel_classes_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			      struct err *err)
{
	const struct work_energy *we = analysis_work_energy(m, o);
	struct classing c = { .m = m, .of_name = U64MAP_INIT };
	const struct table *energy = table_set_find(out, "energy");
	CLEANUP(xfreep) struct sum *sums = xcalloc(we->meters.nr + 1, sizeof(*sums));
	struct table *t = table_make(&kernel_classes_form);

	(void)err;
	for (uint32_t d = 0; d < we->w->devices.nr; d++)
		device_add(&c, we, d, energy, sums, t);
	for (size_t k = 0; k < we->meters.nr; k++)
		check_add(out, &we->meters.v[k], sum_value(&sums[k]));
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
	.after = { "energy" },
};
