#include "mfu.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Of a device, or of a device in an iteration. */
struct mfu_sum {
	uint32_t device, iteration; /* iteration: OPERATOR_NONE: all of the device */
	amount flops, bytes;
	uint64_t with_flops, with_bytes; /* calls */
	int64_t from_ns, to_ns;
	int64_t modelled_ns; /* of the calls whose flops or bytes are known */
	int64_t by_precision[PRECISIONS];
};

struct mfu_sums {
	const struct operator_calls *oc;
	const struct iterations *it;
	struct u64map at; /* device, iteration → sum */
	VEC(struct mfu_sum) v;
};

static struct mfu_sum *sum_of(struct mfu_sums *s, uint32_t device, uint32_t iteration)
{
	uint32_t *at = u64map_at(&s->at, u64map_pair(device, iteration));

	if (*at == U64MAP_NONE) {
		struct mfu_sum new = { .device = device, .iteration = iteration };

		if (iteration == OPERATOR_NONE) {
			new.from_ns = s->oc->works->devices.v[device].first_ns;
			new.to_ns = s->oc->works->devices.v[device].last_ns;
		} else {
			new.from_ns = s->it->v.v[iteration].start_ns;
			new.to_ns = s->it->v.v[iteration].end_ns;
		}
		*at = (uint32_t)s->v.nr;
		VEC_PUSH(&s->v, new);
	}
	return &s->v.v[*at];
}

static void mfu_sum_add(struct mfu_sum *sum, const struct operator_call *c,
			const struct op_cost *cost)
{
	if (!cost->nominal && cost->flops != AMOUNT_UNKNOWN) {
		sum->with_flops++;
		sum->flops = amount_add(sum->flops, cost->flops);
		sum->by_precision[c->precision] =
			ns_add(sum->by_precision[c->precision], c->time_ns);
	}
	if (cost->bytes != AMOUNT_UNKNOWN) {
		sum->with_bytes++;
		sum->bytes = amount_add(sum->bytes, cost->bytes);
	}
	sum->modelled_ns = ns_add(sum->modelled_ns, c->time_ns);
}

static void calls_sum(struct mfu_sums *s)
{
	for (uint32_t i = 0; i < s->oc->v.nr; i++) {
		const struct operator_call *c = &s->oc->v.v[i];
		const struct op_cost *cost =
			c->cost == OPERATOR_NONE ? NULL : &s->oc->costs.v[c->cost];
		uint32_t iteration;

		if (c->counts != i || c->device == OPERATOR_NONE)
			continue;
		iteration = iterations_at(s->it, s->oc->m, c->span);
		mfu_sum_add(sum_of(s, c->device, OPERATOR_NONE), c, cost);
		if (iteration != U64MAP_NONE)
			mfu_sum_add(sum_of(s, c->device, iteration), c, cost);
	}
}

/* An iteration lasts until its last work. */
static void works_extend(struct mfu_sums *s)
{
	for (size_t i = 0; i < s->oc->works->v.nr; i++) {
		const struct work *w = &s->oc->works->v.v[i];
		uint32_t iteration = s->it->of_work[i];
		uint32_t at = iteration == U64MAP_NONE
				      ? U64MAP_NONE
				      : u64map_get(&s->at, u64map_pair(w->device, iteration));

		if (at != U64MAP_NONE && w->end_ns > s->v.v[at].to_ns)
			s->v.v[at].to_ns = w->end_ns;
	}
}

static int by_device(const void *pa, const void *pb)
{
	const struct mfu_sum *a = pa, *b = pb;
	/* OPERATOR_NONE, all of the device, comes first */
	uint32_t x = a->iteration + 1, y = b->iteration + 1;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (x > y) - (x < y);
}

static enum precision dominant(const struct mfu_sum *sum)
{
	struct operator_rate r = { .calls = 0 };

	memcpy(r.by_precision, sum->by_precision, sizeof(r.by_precision));
	return rate_precision(&r);
}

/* When a device was busy. */
struct busy {
	uint32_t device; /* OPERATOR_NONE: of none yet */
	struct interval_sums sums;
};

static void busy_take(struct busy *b, const struct works *w, uint32_t device)
{
	const struct work_device *d = &w->devices.v[device];

	if (b->device == device)
		return;
	b->device = device;
	works_union(w, device, ~0U, d->first_ns, d->last_ns, &b->sums.iv);
	interval_sums_make(&b->sums);
}

static void sum_row(struct table *t, const struct mfu_sums *s, const struct mfu_sum *sum,
		    const char *name, struct peaks *peaks, const struct busy *b)
{
	const struct model *m = s->oc->m;
	enum precision p = dominant(sum);
	double peak = *name ? peaks_tflops(peaks, name, p, true) : NAN;
	double flop = (double)sum->flops;
	int64_t wall = sum->to_ns - sum->from_ns;
	int64_t busy = interval_sums_until(&b->sums, sum->to_ns) -
		       interval_sums_until(&b->sums, sum->from_ns);

	if (!sum->with_flops || wall <= 0 || busy <= 0)
		return;
	table_add(t,
		  &(struct mfu_row){
			  model_str(m, s->oc->works->devices.v[sum->device].name),
			  sum->iteration == OPERATOR_NONE
				  ? ""
				  : model_str(m, m->spans.name[s->it->v.v[sum->iteration].marker]),
			  name, flop, wall, busy, flop / (double)wall / 1e3, precision_name(p),
			  peak, flop / (double)wall / 1e3 / peak,
			  flop / (double)busy / 1e3 / peak });
}

void mfu_add(const struct operator_calls *oc, const struct operator_rows *rows, struct peaks *peaks,
	     const struct iterations *it, struct table_set *out)
{
	struct mfu_sums s = { .oc = oc, .it = it, .at = U64MAP_INIT };
	struct busy busy = { .device = OPERATOR_NONE, .sums = INTERVAL_SUMS_INIT };
	struct table *t = table_make(&mfu_form);

	calls_sum(&s);
	works_extend(&s);
	if (s.v.nr)
		qsort(s.v.v, s.v.nr, sizeof(*s.v.v), by_device);
	for (size_t i = 0; i < s.v.nr; i++) {
		busy_take(&busy, oc->works, s.v.v[i].device);
		sum_row(t, &s, &s.v.v[i], rows->device_names.v[s.v.v[i].device], peaks, &busy);
	}
	if (table_rows(t))
		table_set_add(out, t);
	else
		table_free(t);
	interval_sums_release(&busy.sums);
	u64map_release(&s.at);
	VEC_RELEASE(&s.v);
}

/* What the devices of an iteration could do in its time. */
static void use_add(struct iteration_use *u, const struct mfu_sums *s, const struct mfu_sum *sum,
		    struct peaks *peaks)
{
	const char *name = operator_device_name(s->oc, sum->device);
	double ns = (double)iteration_ns(&s->it->v.v[sum->iteration]);

	if (sum->with_flops) {
		u->flop = (isnan(u->flop) ? 0 : u->flop) + (double)sum->flops;
		u->could_flop +=
			*name ? peaks_tflops(peaks, name, dominant(sum), true) * 1e3 * ns : NAN;
	}
	if (sum->with_bytes) {
		u->bytes = (isnan(u->bytes) ? 0 : u->bytes) + (double)sum->bytes;
		u->could_bytes += *name ? peaks_tbps(peaks, name) * 1e3 * ns : NAN;
	}
	u->modelled_ns = ns_add(u->modelled_ns, sum->modelled_ns);
}

struct iteration_use *iteration_uses(const struct operator_calls *oc, struct peaks *peaks,
				     const struct iterations *it)
{
	struct mfu_sums s = { .oc = oc, .it = it, .at = U64MAP_INIT };
	struct iteration_use *ret = xcalloc(it->v.nr + 1, sizeof(*ret));

	for (size_t i = 0; i < it->v.nr; i++)
		ret[i].flop = ret[i].bytes = NAN;
	calls_sum(&s);
	for (size_t i = 0; i < s.v.nr; i++)
		if (s.v.v[i].iteration != OPERATOR_NONE)
			use_add(&ret[s.v.v[i].iteration], &s, &s.v.v[i], peaks);
	u64map_release(&s.at);
	VEC_RELEASE(&s.v);
	return ret;
}
