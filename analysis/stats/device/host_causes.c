#include "host_causes.h"

#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"
#include "profrig/names/api_names.h"

/* Sums over all pieces before each BLOCKth one. */
enum { BLOCK = 64 };
struct before {
	int64_t ns[HOST_CAUSES];
	uint32_t parts[HOST_CAUSES];
};

/* Of one thread, in the arrays that all have in common: of many threads these take some bytes for
 * each call, and large blocks can lie in files (spill.h). */
struct thread_pieces {
	bool made;
	size_t first, nr; /* its pieces */
	size_t blocks;    /* its first block */
	size_t near;      /* where the last stretch ended: the next one is mostly behind it */
};

/* Kinds of a name, found once: an api_class, or one of these. */
enum { NAME_UNKNOWN = 0, NAME_LOADER = 128, NAME_KNOWN = 64 };

struct host_causes {
	const struct works *w;
	struct thread_pieces *threads; /* by track */
	/* stretches with one cause, which end where the next one starts; neighbours differ */
	VEC(int64_t) start_ns;
	VEC(uint8_t) cause;
	VEC(struct before) blocks;
	uint8_t *names, *categories; /* by str_id */
	uint8_t *blocked;            /* a bit for each span: a launch that saw its copy's end */
	VEC(struct open_call {
		int64_t end_ns;
		uint8_t cause;
	}) open;
};

/* ---- calls ---- */

static uint8_t *copies_that_block(const struct works *w)
{
	const struct span_columns *c = &w->m->spans;
	uint8_t *bits = xcalloc(c->nr / 8 + 1, 1);

	for (size_t i = 0; i < w->v.nr; i++) {
		const struct work *k = &w->v.v[i];

		if (k->class == WORK_COPY && k->launch != SPAN_NONE &&
		    c->end_ns[k->launch] >= k->end_ns)
			bits[k->launch / 8] |= (uint8_t)(1u << k->launch % 8);
	}
	return bits;
}

struct host_causes *host_causes_new(const struct works *w)
{
	struct host_causes *h = xcalloc(1, sizeof(*h));
	size_t strings = intern_count(w->m->strings);

	h->w = w;
	h->threads = xcalloc(w->m->tracks.nr + 1, sizeof(*h->threads));
	h->names = xcalloc(strings + 1, 1);
	h->categories = xcalloc(strings + 1, 1);
	h->blocked = copies_that_block(w);
	return h;
}

void host_causes_free(struct host_causes *h)
{
	if (!h)
		return;
	VEC_RELEASE(&h->start_ns);
	VEC_RELEASE(&h->cause);
	VEC_RELEASE(&h->blocks);
	VEC_RELEASE(&h->open);
	free(h->threads);
	free(h->names);
	free(h->categories);
	free(h->blocked);
	free(h);
}

static uint8_t name_kind(struct host_causes *h, str_id name)
{
	uint8_t *kind = &h->names[name];

	if (*kind == NAME_UNKNOWN) {
		const char *s = model_str(h->w->m, name);

		*kind = (uint8_t)(NAME_KNOWN | (name_loads_data(s) ? NAME_LOADER : 0) |
				  api_class(s));
	}
	return *kind;
}

static bool is_api_category(struct host_causes *h, str_id category)
{
	uint8_t *is = &h->categories[category];

	if (*is == 0)
		*is = api_category(model_str(h->w->m, category)) ? 2 : 1;
	return *is == 2;
}

enum api_class host_causes_api(struct host_causes *h, uint64_t span)
{
	const struct span_columns *c = &h->w->m->spans;
	enum api_class api = name_kind(h, c->name[span]) & (NAME_KNOWN - 1);

	return api == API_NONE && is_api_category(h, c->category[span]) ? API_OTHER : api;
}

static uint8_t cause_of(struct host_causes *h, uint64_t span)
{
	if (name_kind(h, h->w->m->spans.name[span]) & NAME_LOADER)
		return IDLE_DATA_LOADING;
	switch (host_causes_api(h, span)) {
	case API_NONE:
		return IDLE_HOST_BUSY;
	case API_SYNC:
		return IDLE_SYNC;
	case API_ALLOC:
		return IDLE_ALLOC;
	case API_MODULE:
		return IDLE_MODULE_LOAD;
	case API_COPY:
		return h->blocked[span / 8] >> span % 8 & 1 ? IDLE_SYNC : IDLE_API;
	default:
		return IDLE_API;
	}
}

/* ---- the sweep of a thread ---- */

/* A thread's pieces are made together, at the end of the arrays. */
static void piece_put(struct host_causes *h, struct thread_pieces *p, int64_t at_ns, uint8_t cause)
{
	if (p->nr && h->start_ns.v[p->first + p->nr - 1] == at_ns)
		p->nr--;
	h->start_ns.nr = h->cause.nr = p->first + p->nr;
	if (p->nr && h->cause.v[p->first + p->nr - 1] == cause)
		return;
	VEC_PUSH(&h->start_ns, at_ns);
	VEC_PUSH(&h->cause, cause);
	p->nr++;
}

static uint8_t innermost(const struct host_causes *h)
{
	return h->open.nr ? h->open.v[h->open.nr - 1].cause : IDLE_HOST_UNTRACED;
}

/* Ends what is open and ends by then. A call that outlived its parent has closed it, too. */
static void calls_close(struct host_causes *h, struct thread_pieces *p, int64_t by_ns)
{
	while (h->open.nr && h->open.v[h->open.nr - 1].end_ns <= by_ns) {
		int64_t end = h->open.v[h->open.nr - 1].end_ns;

		while (h->open.nr && h->open.v[h->open.nr - 1].end_ns <= end)
			h->open.nr--;
		piece_put(h, p, end, innermost(h));
	}
}

static void thread_sweep(struct host_causes *h, track_id thread, struct thread_pieces *p)
{
	const struct span_columns *c = &h->w->m->spans;
	const struct track *t = &h->w->m->tracks.v[thread];

	VEC_CLEAR(&h->open);
	p->first = h->cause.nr;
	piece_put(h, p, TIME_MIN, IDLE_HOST_UNTRACED);
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		uint8_t cause;

		if (c->kind[i] == SPAN_INSTANT || c->end_ns[i] == c->start_ns[i])
			continue;
		calls_close(h, p, c->start_ns[i]);
		cause = innermost(h) == IDLE_DATA_LOADING ? IDLE_DATA_LOADING : cause_of(h, i);
		VEC_PUSH(&h->open, ((struct open_call){ c->end_ns[i], cause }));
		piece_put(h, p, c->start_ns[i], cause);
	}
	calls_close(h, p, INT64_MAX);
}

static void blocks_make(struct host_causes *h, struct thread_pieces *p)
{
	const int64_t *start_ns = h->start_ns.v + p->first;
	const uint8_t *cause = h->cause.v + p->first;
	struct before b = { .ns = { 0 } };

	p->blocks = h->blocks.nr;
	for (size_t i = 0; i < p->nr; i++) {
		if (i % BLOCK == 0)
			VEC_PUSH(&h->blocks, b);
		if (i + 1 < p->nr)
			b.ns[cause[i]] += start_ns[i + 1] - start_ns[i];
		b.parts[cause[i]]++;
	}
}

/* ---- what a stretch of time holds ---- */

static void blocks_add(const struct before *from, const struct before *to, struct idle_sums *sums)
{
	for (size_t i = 0; i < HOST_CAUSES; i++) {
		sums->ns[i] += to->ns[i] - from->ns[i];
		sums->parts[i] += to->parts[i] - from->parts[i];
	}
}

void host_causes_add(struct host_causes *h, track_id thread, int64_t from_ns, int64_t to_ns,
		     struct idle_sums *sums)
{
	struct thread_pieces *p = &h->threads[thread];
	const struct before *blocks;
	const int64_t *start_ns;
	const uint8_t *cause;
	size_t first, end;

	if (to_ns <= from_ns)
		return;
	if (!p->made) {
		thread_sweep(h, thread, p);
		blocks_make(h, p);
		p->made = true;
	}
	start_ns = h->start_ns.v + p->first;
	cause = h->cause.v + p->first;
	blocks = h->blocks.v + p->blocks;
	first = NEAR_BOUND(at, p->near, p->nr, start_ns[at] <= from_ns) - 1;
	end = NEAR_BOUND(at, first + 1, p->nr, start_ns[at] < to_ns);
	p->near = end;
	for (size_t i = first; i < end;) {
		int64_t start = start_ns[i];
		int64_t stop = i + 1 < end ? start_ns[i + 1] : to_ns;

		if (i > first && i % BLOCK == 0 && (end - 1) / BLOCK > i / BLOCK) {
			blocks_add(&blocks[i / BLOCK], &blocks[(end - 1) / BLOCK], sums);
			i = (end - 1) / BLOCK * BLOCK;
			continue;
		}
		sums->ns[cause[i]] += stop - (start > from_ns ? start : from_ns);
		sums->parts[cause[i]]++;
		i++;
	}
}
