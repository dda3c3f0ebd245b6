#include "compare_roofs.h"
#include "cli.h"

#include <math.h>
#include <string.h>

#include "profrig/bench/bench_driver.h"

#define TELLS_APART 0.9 /* peaks that were measured again differ by a few per cent */
#define ROOFS_MAX 64

/* What calls of one kind could have: GFLOP/s, and the same by their intensity in GB/s. */
struct told {
	struct roof roof;
	double most, least;
	double most_by, least_by;
};
struct tolds {
	VEC(struct told) of;
};

static bool is_known(double v)
{
	return isfinite(v) && v > 0;
}

static enum bench_type type_of(const struct bench_table_row *r)
{
	struct bench_work work = { .type = BENCH_TYPE_COUNT };

	if (!*r->key || bench_work(r->key, &work, NULL) < 0)
		return BENCH_TYPE_COUNT;
	return work.type == BENCH_F32C   ? BENCH_F32
	       : work.type == BENCH_F64C ? BENCH_F64
					 : work.type;
}

static struct told *told_at(struct tolds *all, const struct roof *of)
{
	for (size_t i = 0; i < all->of.nr; i++) {
		const struct roof *r = &all->of.v[i].roof;

		if (r->type == of->type && r->threads == of->threads &&
		    !strcmp(r->device, of->device))
			return &all->of.v[i];
	}
	if (all->of.nr == ROOFS_MAX)
		return NULL;
	VEC_PUSH(&all->of, ((struct told){ .roof = *of, .least = INFINITY, .least_by = INFINITY }));
	all->of.v[all->of.nr - 1].roof.least_intensity = INFINITY;
	return &all->of.v[all->of.nr - 1];
}

static void told_add(struct told *x, double allowed, double intensity)
{
	x->most = fmax(x->most, allowed);
	x->least = fmin(x->least, allowed);
	x->most_by = fmax(x->most_by, allowed / intensity);
	x->least_by = fmin(x->least_by, allowed / intensity);
	x->roof.most_intensity = fmax(x->roof.most_intensity, intensity);
	x->roof.least_intensity = fmin(x->roof.least_intensity, intensity);
}

static void row_tell(const struct bench_tables *t, const struct bench_table_row *r,
		     struct tolds *all)
{
	const struct roof of = { .device = t->sides.v[r->side].device,
				 .type = type_of(r),
				 .threads = r->threads };
	struct told *x = told_at(all, &of);

	if (x)
		told_add(x, r->gflops / r->peak_share, r->gflops / r->gbps);
}

/* The memory is the same for all types: that of calls which have less than others of their type. */
static double bandwidth_of(const struct tolds *all, const struct roof *of)
{
	double most = 0;

	for (size_t i = 0; i < all->of.nr; i++) {
		const struct told *x = &all->of.v[i];

		if (x->least < TELLS_APART * x->most && x->roof.threads == of->threads &&
		    !strcmp(x->roof.device, of->device))
			most = fmax(most, x->most_by);
	}
	return most;
}

static void roof_of(const struct tolds *all, const struct told *x, struct roofs *to)
{
	struct roof r = x->roof;

	r.gbps = bandwidth_of(all, &r);
	r.gflops = x->least_by < TELLS_APART * fmax(x->most_by, r.gbps) ? x->most : 0;
	/* a slope alone may be that of another type, too */
	if (r.gflops > 0 || (r.gbps > 0 && r.type < BENCH_TYPE_COUNT))
		VEC_PUSH(to, r);
}

static void roof_seen(const struct roof *best, struct roofs *to)
{
	if (!to->nr && is_known(best->gflops) && is_known(best->gbps))
		VEC_PUSH(to, *best);
}

void roofs_find(const struct bench_tables *t, struct roofs *ret)
{
	struct tolds all = { VEC_INIT };
	struct roof best = { .device = "", .type = BENCH_TYPE_COUNT, .seen = true };

	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct bench_table_row *r = &t->rows.v[i];

		if (r->status != BENCH_OK || !is_known(r->gflops) || !is_known(r->gbps) ||
		    !is_known(r->gflops / r->gbps))
			continue;
		best.gflops = fmax(best.gflops, r->gflops);
		best.gbps = fmax(best.gbps, r->gbps);
		if (is_known(r->peak_share) && is_known(r->gflops / r->peak_share))
			row_tell(t, r, &all);
	}
	for (size_t i = 0; i < all.of.nr; i++)
		roof_of(&all, &all.of.v[i], ret);
	for (size_t i = 1; i < ret->nr; i++)
		if (strcmp(ret->v[i].device, ret->v[0].device) != 0)
			for (size_t k = 0; k < ret->nr; k++)
				ret->v[k].named = true;
	roof_seen(&best, ret);
	VEC_RELEASE(&all.of);
}

void roofs_release(struct roofs *r)
{
	VEC_RELEASE(r);
}

static void whose_put(const struct html_out *h, const struct roof *r)
{
	if (r->seen) {
		fputs("best measured", h->f);
		return;
	}
	if (r->named) {
		html_text(h, *r->device ? r->device : "unknown device");
		fputs(", ", h->f);
	}
	fprintf(h->f, "%s, %u %s",
		r->type < BENCH_TYPE_COUNT ? bench_type_name(r->type) : "unknown type", r->threads,
		r->threads == 1 ? "thread" : "threads");
}

void roof_put(const struct html_out *h, const struct roof *r)
{
	char text[32];

	whose_put(h, r);
	fputs(": ", h->f);
	html_text(h, r->gflops > 0 ? cli_si(r->gflops * 1e9, "FLOP/s", text) : "peak unknown");
	fputs(", ", h->f);
	html_text(h, r->gbps > 0 ? cli_si(r->gbps * 1e9, "B/s", text) : "bandwidth unknown");
	if (r->gflops > 0 && r->gbps > 0)
		fprintf(h->f, ", ridge at %.3g FLOP/byte", r->gflops / r->gbps);
}
