#include "headline_private.h"

#include <math.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

static const char *last_part(const char *device)
{
	const char *s = strrchr(device, ':');

	return s ? s + 1 : device;
}

bool headline_is_accelerator(const char *device)
{
	static const char *const kinds[] = { "gpu", "xpu", "npu", "tpu", "aiu", "hpu", "gcd" };
	const char *s = last_part(device);
	size_t n = strcspn(s, "0123456789");

	if (!s[n] || s[n + strspn(s + n, "0123456789")])
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (n == strlen(kinds[i]) && strncasecmp(s, kinds[i], n) == 0)
			return true;
	return false;
}

/* node, node3, psys, system: they include other counters. */
static bool is_whole_node(const char *device)
{
	const char *s = last_part(device);

	return strcasecmp(s, "psys") == 0 || strcasecmp(s, "system") == 0 ||
	       (strncasecmp(s, "node", 4) == 0 && !s[4 + strspn(s + 4, "0123456789")]);
}

/*
 * The row of a counter of a device, SIZE_MAX when there is none. Both tables have the same order,
 * so the search continues at the end of the last one.
 */
static size_t row_of(struct col counter, struct col device, const struct headline_counter *c,
		     size_t *at)
{
	for (size_t n = col_rows(counter); n > 0; n--, ++*at) {
		*at = *at < col_rows(counter) ? *at : 0;
		if (strcmp(col_str(counter, *at), c->counter) == 0 &&
		    strcmp(col_str(device, *at), c->device) == 0)
			return *at;
	}
	return SIZE_MAX;
}

static void counters_find(const struct report *r, struct headline *h)
{
	const struct table *t = table_set_find(&r->tables, "energy_totals"),
			   *cs = table_set_find(&r->tables, "counters"),
			   *around = table_set_find(&r->tables, "idle_power");
	struct col counter = col_text(t, "counter"), device = col_text(t, "device"),
		   view = col_text(t, "view"), total = col_number(t, "total_j"),
		   lost = col_number(t, "unattributed_j"), series = col_text(cs, "series"),
		   of = col_text(cs, "device"), kind = col_text(cs, "kind"),
		   flags = col_text(cs, "flags"), idle = col_text(around, "counter"),
		   idle_of = col_text(around, "device"), idle_j = col_number(around, "idle_j");
	size_t at = 0, idle_at = 0;

	for (size_t i = 0; i < col_rows(counter); i++) {
		struct headline_counter c = { .counter = col_str(counter, i),
					      .device = col_str(device, i),
					      .view = col_str(view, i),
					      .total_j = col_f64(total, i),
					      .unattributed_j = col_f64(lost, i) };
		size_t fact = row_of(series, of, &c, &at),
		       drawn = row_of(idle, idle_of, &c, &idle_at);
		double j = drawn != SIZE_MAX ? col_f64(idle_j, drawn) : 0;

		c.kind = fact != SIZE_MAX ? col_str(kind, fact) : "";
		c.flags = fact != SIZE_MAX ? col_str(flags, fact) : "";
		c.j = c.total_j - (isfinite(j) ? j : 0);
		c.estimated = text_in_list(c.flags, '|', "estimated");
		c.accelerator = headline_is_accelerator(c.device);
		c.rank = (c.accelerator ? 0 : 8) + (c.estimated ? 4 : 0) +
			 (strcmp(c.kind, "gauge") == 0 ? 2 : 0);
		VEC_PUSH(&h->counters, c);
	}
}

/* An order of the counters of one device. */
static int rank_in(const struct headline_counter *c)
{
	return c->rank + (strcmp(c->view, "host") != 0);
}

/*
 * The best known counter of each device, in place of the device's first row: sums are made in the
 * order in which devices appear. Returns how many there are.
 */
static size_t best_find(struct headline *h, size_t *best)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->counters.nr; i++) {
		struct headline_counter *c = &h->counters.v[i];
		size_t k = 0;

		for (size_t o = 0; o < h->counters.nr && strcmp(c->kind, "gauge") == 0; o++)
			c->outranked |= strcmp(h->counters.v[o].device, c->device) == 0 &&
					strcmp(h->counters.v[o].kind, "cumulative") == 0 &&
					isfinite(h->counters.v[o].total_j);
		while (k < nr && strcmp(h->counters.v[best[k]].device, c->device) != 0)
			k++;
		if (!isfinite(c->total_j))
			continue;
		if (k == nr)
			best[nr++] = i;
		else if (rank_in(c) < rank_in(&h->counters.v[best[k]]))
			best[k] = i;
	}
	return nr;
}

void headline_energy(const struct report *r, struct headline *h)
{
	CLEANUP(xfreep) size_t *best = NULL;
	bool accelerators = false, parts = false;
	size_t nr;

	counters_find(r, h);
	best = xcalloc(h->counters.nr + 1, sizeof(*best));
	nr = best_find(h, best);
	for (size_t i = 0; i < nr; i++) {
		accelerators |= h->counters.v[best[i]].accelerator;
		parts |= !is_whole_node(h->counters.v[best[i]].device);
	}
	for (size_t i = 0; i < nr; i++) {
		struct headline_counter *c = &h->counters.v[best[i]];
		bool summed = accelerators ? c->accelerator : !parts || !is_whole_node(c->device);

		c->use = summed ? HEADLINE_SUMMED : HEADLINE_BESIDE;
		if (!summed)
			continue;
		h->energy_j = (isnan(h->energy_j) ? 0 : h->energy_j) + c->j;
		h->estimated |= c->estimated;
		h->integrated |= !c->estimated && strcmp(c->kind, "gauge") == 0;
	}
}
