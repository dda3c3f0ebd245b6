#include "headline_private.h"

#include <math.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/text.h"
#include "profrig/base/u64map.h"
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

/* node, node3, psys, system: they hold what other counters hold too. */
static bool is_whole_node(const char *device)
{
	const char *s = last_part(device);

	return strcasecmp(s, "psys") == 0 || strcasecmp(s, "system") == 0 ||
	       (strncasecmp(s, "node", 4) == 0 && !s[4 + strspn(s + 4, "0123456789")]);
}

/* The rows of a table by counter and device. */
struct pairs {
	struct intern *names;
	struct u64map rows;
};

static uint64_t pair_of(struct pairs *p, const char *counter, const char *device)
{
	return u64map_pair(intern_puts(p->names, counter), intern_puts(p->names, device));
}

static void pairs_make(struct pairs *p, struct col counter, struct col device)
{
	*p = (struct pairs){ intern_new(), U64MAP_INIT };
	for (size_t i = 0; i < col_rows(counter); i++) {
		uint32_t *row =
			u64map_at(&p->rows, pair_of(p, col_str(counter, i), col_str(device, i)));

		if (*row == U64MAP_NONE)
			*row = (uint32_t)i;
	}
}

/* U64MAP_NONE: there is no such row. */
static uint32_t pairs_row(struct pairs *p, const struct headline_counter *c)
{
	return u64map_get(&p->rows, pair_of(p, c->counter, c->device));
}

static void pairs_release(struct pairs *p)
{
	intern_free(p->names);
	u64map_release(&p->rows);
}

static void counters_find(const struct report *r, struct headline *h)
{
	const struct table *t = table_set_find(&r->tables, "energy_totals"),
			   *cs = table_set_find(&r->tables, "counters"),
			   *around = table_set_find(&r->tables, "idle_power");
	struct col counter = col_text(t, "counter"), device = col_text(t, "device"),
		   view = col_text(t, "view"), total = col_number(t, "total_j"),
		   lost = col_number(t, "unattributed_j"), kind = col_text(cs, "kind"),
		   flags = col_text(cs, "flags"), idle_j = col_number(around, "idle_j");
	CLEANUP(pairs_release) struct pairs facts, idle;

	pairs_make(&facts, col_text(cs, "series"), col_text(cs, "device"));
	pairs_make(&idle, col_text(around, "counter"), col_text(around, "device"));
	for (size_t i = 0; i < col_rows(counter); i++) {
		struct headline_counter c = { .counter = col_str(counter, i),
					      .device = col_str(device, i),
					      .view = col_str(view, i),
					      .kind = "",
					      .flags = "",
					      .total_j = col_f64(total, i),
					      .unattributed_j = col_f64(lost, i) };
		uint32_t fact = pairs_row(&facts, &c), drawn = pairs_row(&idle, &c);
		double j = drawn != U64MAP_NONE ? col_f64(idle_j, drawn) : 0;

		if (fact != U64MAP_NONE) {
			c.kind = col_str(kind, fact);
			c.flags = col_str(flags, fact);
		}
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
 * order in which devices appear.
 */
static void best_find(struct headline *h, uint32_t *best, size_t *ret_nr)
{
	CLEANUP(u64map_release) struct u64map places = U64MAP_INIT;
	CLEANUP(u64map_release) struct u64map measured = U64MAP_INIT;
	struct intern *names = intern_new();
	size_t nr = 0;

	for (uint32_t i = 0; i < h->counters.nr; i++) {
		const struct headline_counter *c = &h->counters.v[i];
		str_id device = intern_puts(names, c->device);
		uint32_t *place;

		if (!isfinite(c->total_j))
			continue;
		if (strcmp(c->kind, "cumulative") == 0)
			*u64map_at(&measured, device) = i;
		place = u64map_at(&places, device);
		if (*place == U64MAP_NONE)
			best[ *place = (uint32_t)nr++] = i;
		else if (rank_in(c) < rank_in(&h->counters.v[best[*place]]))
			best[*place] = i;
	}
	for (size_t i = 0; i < h->counters.nr; i++) {
		struct headline_counter *c = &h->counters.v[i];

		c->outranked = strcmp(c->kind, "gauge") == 0 &&
			       u64map_get(&measured, intern_puts(names, c->device)) != U64MAP_NONE;
	}
	intern_free(names);
	*ret_nr = nr;
}

void headline_energy(const struct report *r, struct headline *h)
{
	CLEANUP(xfreep) uint32_t *best = NULL;
	bool accelerators = false, parts = false;
	size_t nr;

	counters_find(r, h);
	best = xcalloc(h->counters.nr + 1, sizeof(*best));
	best_find(h, best, &nr);
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
