/*
 * The fit of powers, of whatever numbers: no NaN, no negative joule, and the classes have what the
 * intervals had in which one ran.
 *
 * Bytes: classes, intervals, flags, then what the sensor is known by, then each interval: its
 * number's distance, length, energy, which classes have a part, and these. A value is its kind and
 * a byte, or a float.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/energy/power_fit.h"

#define CLASSES 12
#define INTERVALS 48
#define LEAST 1e-30 /* of what must not be 0 */

#define must(ok) ((ok) ? (void)0 : abort())

struct bytes {
	const uint8_t *p, *end;
};

struct fuzzed {
	struct power_data d;
	uint64_t number[INTERVALS];
	double energy_j[INTERVALS], length_s[INTERVALS];
	bool halo[INTERVALS];
	size_t first[INTERVALS + 1];
	struct power_part parts[INTERVALS * CLASSES];
};

static unsigned next_byte(struct bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

/* Finite and not negative. */
static float next_float(struct bytes *b)
{
	uint32_t bits = 0;
	float v;

	for (int k = 0; k < 4; k++)
		bits = bits << 8 | next_byte(b);
	memcpy(&v, &bits, sizeof(v));
	return isfinite(v) ? fabsf(v) : 0;
}

static float next_value(struct bytes *b)
{
	unsigned kind = next_byte(b);

	if (kind < 8)
		return next_float(b);
	return kind < 40 ? 0 : (float)next_byte(b) * 0.01F;
}

static float next_share(struct bytes *b)
{
	return (float)next_byte(b) / 255;
}

static void next_parts(struct bytes *b, struct fuzzed *f, size_t i)
{
	unsigned has = next_byte(b) << 8;

	has |= next_byte(b);
	f->first[i + 1] = f->first[i];
	for (uint32_t c = 0; c < f->d.classes; c++) {
		struct power_part *p = &f->parts[f->first[i + 1]];

		if (!(has >> c & 1))
			continue;
		p->class_id = c;
		p->t_s = next_value(b);
		p->begin = next_share(b);
		p->end = next_share(b);
		f->first[i + 1]++;
	}
}

static void next_interval(struct bytes *b, struct fuzzed *f, size_t i)
{
	f->number[i] = (i ? f->number[i - 1] + 1 : 0) + next_byte(b) / 192;
	f->length_s[i] = fmax(next_value(b), LEAST);
	f->energy_j[i] = next_value(b);
	f->halo[i] = next_byte(b) > 200;
	next_parts(b, f, i);
}

static uint32_t next_class(struct bytes *b, const struct fuzzed *f)
{
	unsigned c = next_byte(b);

	return c < f->d.classes ? c : POWER_NO_CLASS;
}

static void fuzzed_make(struct bytes *b, struct fuzzed *f)
{
	unsigned flags;

	*f = (struct fuzzed){ .d = { .number = f->number,
				     .energy_j = f->energy_j,
				     .length_s = f->length_s,
				     .first = f->first,
				     .parts = f->parts } };
	f->d.classes = next_byte(b) % (CLASSES + 1);
	f->d.n = next_byte(b) % (INTERVALS + 1);
	flags = next_byte(b);
	f->d.halo = flags & 1 ? f->halo : NULL;
	f->d.stale = flags & 2;
	f->d.tau_s = flags & 4 ? next_value(b) : 0;
	f->d.border_error_s = flags & 8 ? next_value(b) : 0;
	f->d.always = next_class(b, f);
	f->d.known = next_class(b, f);
	f->d.known_w = next_value(b);
	f->d.known_error_w = fmax(next_value(b), LEAST);
	for (size_t i = 0; i < f->d.n; i++)
		next_interval(b, f, i);
}

/* Of the intervals in which a class ran. */
static double energy_given(const struct power_data *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++) {
		double t_s = 0;

		for (size_t k = d->first[i]; k < d->first[i + 1]; k++)
			t_s += d->parts[k].t_s;
		if (t_s > 0 && !(d->halo && d->halo[i]))
			sum += d->energy_j[i];
	}
	return sum;
}

static double energy_had(const struct power_data *d, const struct power_fit *fit)
{
	double sum = 0;

	for (uint32_t c = 0; c < d->classes; c++) {
		const struct power_class *k = &fit->classes[c];

		must(isfinite(k->energy_j) && k->energy_j >= 0);
		must(!isnan(k->half_width_j) && k->half_width_j >= 0);
		must(!isnan(k->w) && k->w >= 0 && k->time_s >= 0);
		must(k->group <= c);
		sum += k->energy_j;
	}
	return sum;
}

/* Pairs of classes have a parent. */
static void refine(const struct power_data *d, const struct power_fit *fit)
{
	uint32_t parent[CLASSES + 1];
	double parent_w[CLASSES + 1], fine_w[CLASSES + 1], error_w[CLASSES + 1];

	for (uint32_t c = 0; c < d->classes; c++) {
		parent[c] = c / 2;
		parent_w[c] = fit->classes[c].w;
	}
	power_fit_refine(d, parent, parent_w, fit->lag_s, fine_w, error_w);
	for (uint32_t c = 0; c < d->classes; c++)
		must(isfinite(fine_w[c]) && fine_w[c] >= 0 && isfinite(error_w[c]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bytes b = { data, data + n };
	struct fuzzed *f = xcalloc(1, sizeof(*f));
	struct power_fit fit;
	double given;

	fuzzed_make(&b, f);
	given = energy_given(&f->d);
	power_fit_make(&f->d, &fit);
	must(fabs(energy_had(&f->d, &fit) - given) <= 1e-9 * given);
	must(!isnan(fit.explained) && !isnan(fit.residual_w) && !isnan(fit.lag1));
	for (size_t k = 0; k < f->first[f->d.n]; k++)
		must(!isnan(fit.weight_w[k]) && fit.weight_w[k] >= 0);
	if (fit.used == POWER_USED)
		refine(&f->d, &fit);
	power_fit_release(&fit);
	free(f);
	return 0;
}
