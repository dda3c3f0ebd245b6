#include "cycle_devices.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

int64_t cycle_phase(const struct stamp_facts *s, enum stamp_phase phase)
{
	return s->cycles[stamp_last(phase)] - s->cycles[stamp_first(phase)];
}

int64_t cycle_own(const struct stamp_facts *s)
{
	return cycle_phase(s, s->phase);
}

double cycle_time_ns(const struct cycle_device *d, double cycles)
{
	return d->clock.mhz > 0 ? cycles / d->clock.mhz * 1e3 : NAN;
}

char *cycle_kernel_name(const char *name)
{
	static const char word[] = " Cmpt Exec";
	size_t n = strlen(name), k = sizeof(word) - 1;

	return xstrndup(name, n > k && strcmp(name + n - k, word) == 0 ? n - k : n);
}

char *cycle_name_folded(const char *name)
{
	struct strbuf sb = STRBUF_INIT;

	while (*name) {
		size_t digits = *name == '_' || *name == '-' ? strspn(name + 1, "0123456789") : 0;

		if (digits > 0) {
			strbuf_addstr(&sb, "_[N]");
			name += 1 + digits;
		} else {
			strbuf_addch(&sb, *name++);
		}
	}
	return sb.buf ? sb.buf : xstrdup("");
}

struct gathering {
	struct cycle_devices *cd;
	struct u64map at;     /* by device: in cd->v */
	VEC(uint32_t) device; /* of each row of stamps */
};

/* A stamped span on a queue; false: it is none of a device. */
static bool is_stamped(const struct model *m, const struct stamp_facts *s)
{
	for (int i = 0; i < STAMPS_NR; i++)
		if (s->cycles[i] == FACT_ABSENT || s->cycles[i] < 0 ||
		    (i > 0 && s->cycles[i] < s->cycles[i - 1]))
			return false;
	return m->tracks.v[m->spans.track[s->span]].kind == TRACK_QUEUE;
}

static void devices_find(struct gathering *g)
{
	const struct model *m = g->cd->m;

	for (size_t i = 0; i < m->facts.stamps.nr; i++) {
		const struct stamp_facts *s = &m->facts.stamps.v[i];
		const struct track *t = &m->tracks.v[m->spans.track[s->span]];
		uint32_t *at;

		if (!is_stamped(m, s)) {
			VEC_PUSH(&g->device, U64MAP_NONE);
			continue;
		}
		at = u64map_at(&g->at, t->device);
		if (*at == U64MAP_NONE) {
			struct cycle_device d = { .name = model_str(m, t->device),
						  .rank = t->rank == RANK_NONE ? NAN : t->rank,
						  .first_ns = INT64_MAX,
						  .last_ns = INT64_MIN };

			*at = (uint32_t)g->cd->v.nr;
			VEC_PUSH(&g->cd->v, d);
		}
		VEC_PUSH(&g->device, *at);
		g->cd->v.v[*at].nr++;
	}
}

static int cmp_device(const void *pa, const void *pb)
{
	const struct cycle_device *a = pa, *b = pb;

	return natural_cmp(a->name, b->name);
}

/* By name; the numbers of rows' devices follow. */
static void devices_sort(struct gathering *g)
{
	struct cycle_devices *cd = g->cd;
	CLEANUP(xfreep) uint32_t *place = xcalloc(cd->v.nr + 1, sizeof(*place));
	size_t first = 0;

	for (size_t i = 0; i < cd->v.nr; i++)
		cd->v.v[i].first = i;
	if (cd->v.nr)
		qsort(cd->v.v, cd->v.nr, sizeof(*cd->v.v), cmp_device);
	for (size_t i = 0; i < cd->v.nr; i++) {
		place[cd->v.v[i].first] = (uint32_t)i;
		cd->v.v[i].first = first;
		first += cd->v.v[i].nr;
	}
	for (size_t i = 0; i < g->device.nr; i++)
		if (g->device.v[i] != U64MAP_NONE)
			g->device.v[i] = place[g->device.v[i]];
}

static bool any_exec(const struct model *m, const struct cycle_stamp *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m->facts.stamps.v[v[i].row].phase == PHASE_EXEC)
			return true;
	return false;
}

/* Of a device whose stamps are v, whose rows go into cd->rows. */
static void device_make(struct cycle_devices *cd, struct cycle_device *d, struct cycle_stamp *v)
{
	bool exec = any_exec(cd->m, v, d->nr);

	for (size_t i = 0; i < d->nr; i++) {
		v[i].timed = !exec || cd->m->facts.stamps.v[v[i].row].phase == PHASE_EXEC;
		d->first_ns = v[i].start_ns < d->first_ns ? v[i].start_ns : d->first_ns;
		d->last_ns = v[i].end_ns > d->last_ns ? v[i].end_ns : d->last_ns;
	}
	cycle_epochs(v, d->nr);
	d->clock = cycle_clock_fit(v, d->nr);
	for (size_t i = 0; i < d->nr; i++)
		VEC_PUSH(&cd->rows, (uint32_t)v[i].row);
}

static void clocks_make(struct gathering *g)
{
	struct cycle_devices *cd = g->cd;
	const struct model *m = cd->m;
	CLEANUP(xfreep) struct cycle_stamp *v = xcalloc(g->device.nr + 1, sizeof(*v));
	CLEANUP(xfreep) size_t *at = xcalloc(cd->v.nr + 1, sizeof(*at));

	for (size_t d = 0; d < cd->v.nr; d++)
		at[d] = cd->v.v[d].first;
	for (size_t i = 0; i < g->device.nr; i++) {
		const struct stamp_facts *s = &m->facts.stamps.v[i];
		int64_t end = m->spans.end_ns[s->span], host = s->host_ns;

		if (g->device.v[i] == U64MAP_NONE)
			continue;
		v[at[g->device.v[i]]++] = (struct cycle_stamp){
			.start_ns = host == FACT_ABSENT || host < 0 ? m->spans.start_ns[s->span]
								    : end - host,
			.end_ns = end,
			.first = (uint64_t)s->cycles[stamp_first(s->phase)],
			.last = (uint64_t)s->cycles[stamp_last(s->phase)],
			.order = (uint64_t)s->order,
			.row = i,
		};
	}
	for (size_t d = 0; d < cd->v.nr; d++)
		device_make(cd, &cd->v.v[d], v + cd->v.v[d].first);
}

struct cycle_devices *cycle_devices_new(const struct model *m)
{
	struct cycle_devices *cd = xcalloc(1, sizeof(*cd));
	struct gathering g = { .cd = cd };

	cd->m = m;
	devices_find(&g);
	devices_sort(&g);
	clocks_make(&g);
	u64map_release(&g.at);
	VEC_RELEASE(&g.device);
	return cd;
}

void cycle_devices_free(struct cycle_devices *cd)
{
	if (!cd)
		return;
	VEC_RELEASE(&cd->v);
	VEC_RELEASE(&cd->rows);
	free(cd);
}

void cycle_devices_freep(struct cycle_devices **cd)
{
	cycle_devices_free(*cd);
}
