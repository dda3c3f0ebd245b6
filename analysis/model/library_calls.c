#include "profrig/model/library_calls.h"

#include <string.h>
#include <xxhash.h>

#include "profrig/base/mix.h"
#include "profrig/base/num.h"
#include "profrig/base/pool.h"
#include "profrig/base/search.h"
#include "profrig/base/serial.h"
#include "profrig/base/u64map.h"

#define OTHER "[other]"
#define RANKS_MAX ((size_t)1 << 16) /* of one row */

struct library_priv {
	struct pool texts;
	struct u64map rows;    /* hash of library, level and key → row */
	struct u64map over;    /* hashes of keys in "[other]" */
	struct u64map streams; /* hash of input, pid and tid → stream */
};

struct library_calls *library_calls_new(void)
{
	struct library_calls *lc = xcalloc(1, sizeof(*lc));

	lc->priv = xcalloc(1, sizeof(*lc->priv));
	return lc;
}

void library_calls_free(struct library_calls *lc)
{
	if (!lc)
		return;
	for (size_t i = 0; i < lc->rows.nr; i++)
		VEC_RELEASE(&lc->rows.v[i].ranks);
	VEC_RELEASE(&lc->rows);
	pool_release(&lc->priv->texts);
	u64map_release(&lc->priv->rows);
	u64map_release(&lc->priv->over);
	u64map_release(&lc->priv->streams);
	VEC_RELEASE(&lc->events);
	VEC_RELEASE(&lc->streams);
	free(lc->priv);
	free(lc);
}

void library_calls_freep(struct library_calls **lc)
{
	library_calls_free(*lc);
	*lc = NULL;
}

static uint64_t row_hash(const char *library, enum library_level level, const char *key)
{
	uint64_t seed = XXH3_64bits_withSeed(library, strlen(library), level);

	return XXH3_64bits_withSeed(key, strlen(key), seed);
}

static void rank_add(struct library_row *r, int32_t rank)
{
	size_t at;

	if (rank < 0)
		return;
	at = LOWER_BOUND(i, 0, r->ranks.nr, r->ranks.v[i] < rank);
	if ((at < r->ranks.nr && r->ranks.v[at] == rank) || r->ranks.nr >= RANKS_MAX)
		return;
	VEC_RESERVE(&r->ranks, r->ranks.nr + 1);
	memmove(r->ranks.v + at + 1, r->ranks.v + at, (r->ranks.nr - at) * sizeof(*r->ranks.v));
	r->ranks.v[at] = rank;
	r->ranks.nr++;
}

static void pid_add(struct library_row *r, int64_t pid)
{
	if (pid == LIBRARY_NO_ID || r->several_pids || pid == r->pid)
		return;
	r->several_pids = r->pid != LIBRARY_NO_ID;
	r->pid = r->several_pids ? LIBRARY_NO_ID : pid;
}

static void time_add(struct library_row *r, int64_t first_ns, int64_t last_ns)
{
	if (first_ns == LIBRARY_NO_TIME)
		return;
	if (r->first_ns == LIBRARY_NO_TIME || first_ns < r->first_ns)
		r->first_ns = first_ns;
	if (r->last_ns == LIBRARY_NO_TIME || last_ns > r->last_ns)
		r->last_ns = last_ns;
}

static int64_t time_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ---- order ---- */

void library_calls_keep_order(struct library_calls *lc)
{
	lc->ordered = true;
}

void library_calls_set_input(struct library_calls *lc, uint32_t input)
{
	for (size_t i = 0; i < lc->streams.nr; i++)
		lc->streams.v[i].input = input;
	u64map_release(&lc->priv->streams); /* by the inputs that they had */
	lc->priv->streams = (struct u64map)U64MAP_INIT;
}

static bool stream_is(const struct library_stream *a, const struct library_stream *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->input == b->input && a->rank == b->rank;
}

/* LIBRARY_ROW_NONE: there are too many. Mostly it is that of the event before. */
static uint32_t stream_of(struct library_calls *lc, const struct library_stream *s)
{
	uint64_t hash = mix64(mix64((uint64_t)s->pid) ^ (uint64_t)s->tid) +
			u64map_pair((uint32_t)s->rank, s->input);
	uint32_t at;

	if (lc->events.nr > 0) {
		at = lc->events.v[lc->events.nr - 1].stream;
		if (stream_is(&lc->streams.v[at], s))
			return at;
	}
	for (; (at = u64map_get(&lc->priv->streams, hash)) != U64MAP_NONE; hash = mix64(hash))
		if (stream_is(&lc->streams.v[at], s))
			return at;
	if (lc->streams.nr >= LIBRARY_STREAMS_MAX)
		return LIBRARY_ROW_NONE;
	*u64map_at(&lc->priv->streams, hash) = (uint32_t)lc->streams.nr;
	VEC_PUSH(&lc->streams, *s);
	return (uint32_t)lc->streams.nr - 1;
}

static void event_add(struct library_calls *lc, const struct library_stream *s,
		      struct library_event e)
{
	if (lc->events.nr >= LIBRARY_EVENTS_MAX)
		return;
	e.stream = stream_of(lc, s);
	if (e.stream != LIBRARY_ROW_NONE)
		VEC_PUSH(&lc->events, e);
}

static void event_count(struct library_calls *lc, uint32_t row, const struct library_when *w)
{
	struct library_stream s = { .pid = w->pid, .tid = w->tid, .rank = w->rank };

	if (!lc->ordered || w->calls != 1 || w->late || lc->rows.v[row].level == LEVEL_PROFILE)
		return;
	event_add(lc, &s,
		  (struct library_event){ .t_ns = w->t_ns, .dur_ns = w->dur_ns, .row = row });
}

/* Events of rows that stay, by their new numbers. */
static void events_renumber(struct library_calls *lc, const uint32_t *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < lc->events.nr; i++) {
		struct library_event e = lc->events.v[i];

		if (lc->rows.v[e.row].dropped)
			continue;
		e.row = now[e.row];
		lc->events.v[kept++] = e;
	}
	lc->events.nr = kept;
}

static void events_merge(struct library_calls *lc, const struct library_calls *from,
			 const uint32_t *now)
{
	for (size_t i = 0; lc->ordered && i < from->events.nr; i++) {
		struct library_event e = from->events.v[i];
		const struct library_stream *s = &from->streams.v[e.stream];

		e.row = now[e.row];
		event_add(lc, s, e);
	}
}

/* ---- calls ---- */

void library_calls_count(struct library_calls *lc, uint32_t row, uint64_t flops, uint64_t bytes,
			 const struct library_when *w)
{
	struct library_row *r = &lc->rows.v[row];
	library_sum all_flops = flops == LIBRARY_UNKNOWN ? 0 : (library_sum)flops * w->calls;
	library_sum all_bytes = bytes == LIBRARY_UNKNOWN ? 0 : (library_sum)bytes * w->calls;

	r->calls += w->calls;
	r->all_flops += all_flops;
	r->all_bytes += all_bytes;
	if (w->caller != LIBRARY_ROW_NONE) {
		r->nested += w->calls;
		r->nested_flops += all_flops;
		r->nested_bytes += all_bytes;
		if (r->caller == LIBRARY_ROW_NONE)
			r->caller = w->caller;
	}
	if (w->dur_ns >= 0) {
		r->total_ns = time_sum(r->total_ns, w->dur_ns);
		r->timed += w->calls;
	}
	time_add(r, w->t_ns, w->t_ns);
	pid_add(r, w->pid);
	rank_add(r, w->rank);
	if (r->other)
		lc->over_calls += w->calls;
	event_count(lc, row, w);
}

static uint32_t row_new(struct library_calls *lc, const struct library_call *c, const char *key,
			const char *config, size_t config_n)
{
	struct pool *p = &lc->priv->texts;
	bool other = key[0] == '[';

	VEC_PUSH(&lc->rows, ((struct library_row){
				    .library = pool_strdup(p, c->library),
				    .operation = pool_strdup(p, c->operation),
				    .key = pool_strdup(p, key),
				    .config = pool_memdupz(p, config, config_n),
				    .flops = other ? LIBRARY_UNKNOWN : c->flops,
				    .bytes = other ? LIBRARY_UNKNOWN : c->bytes,
				    .first_ns = LIBRARY_NO_TIME,
				    .last_ns = LIBRARY_NO_TIME,
				    .pid = LIBRARY_NO_ID,
				    .caller = LIBRARY_ROW_NONE,
				    .other = other,
				    .level = c->level,
				    .common = other ? 0 : c->common,
				    .inexact = c->inexact,
			    }));
	return (uint32_t)lc->rows.nr - 1;
}

/* A configuration that is in "[other]", by the hash of its key. */
static void over_add(struct library_calls *lc, uint64_t hash)
{
	uint32_t *seen = u64map_at(&lc->priv->over, hash);

	lc->distinct += *seen == U64MAP_NONE;
	*seen = 0;
}

static uint64_t other_hash(const char *library, const char *operation)
{
	return XXH3_64bits_withSeed(operation, strlen(operation), row_hash(library, 0, OTHER));
}

/* Rows are full: the row of the library and operation, which has a place of its own. */
static uint32_t row_other(struct library_calls *lc, const struct library_call *c)
{
	uint32_t *row = u64map_at(&lc->priv->rows, other_hash(c->library, c->operation));

	if (*row == U64MAP_NONE)
		*row = row_new(lc, c, OTHER, OTHER, sizeof(OTHER) - 1);
	return *row;
}

static bool row_is(const struct library_row *r, const struct library_call *c)
{
	return r->level == c->level && !strcmp(r->key, c->key) && !strcmp(r->library, c->library);
}

uint32_t library_calls_row(struct library_calls *lc, const struct library_call *c)
{
	uint64_t hash = row_hash(c->library, c->level, c->key);
	uint32_t row;

	/* two keys of one hash: the later one is found by the hash of that */
	for (; (row = u64map_get(&lc->priv->rows, hash)) != U64MAP_NONE; hash = mix64(hash))
		if (row_is(&lc->rows.v[row], c))
			return row;
	if (lc->rows.nr >= LIBRARY_ROWS_MAX) {
		over_add(lc, hash);
		return row_other(lc, c);
	}
	row = row_new(lc, c, c->key, c->config, c->config_n);
	*u64map_at(&lc->priv->rows, hash) = row;
	lc->distinct++;
	return row;
}

/* ---- levels ---- */

/* Rows of one `common`. */
struct level_group {
	uint64_t calls[LEVEL_MAX + 1];
	uint32_t kept; /* a row that stays, by its new number */
};

struct levels {
	struct u64map at; /* common → group */
	VEC(struct level_group) groups;
};

static struct level_group *group_of(struct levels *l, uint64_t common)
{
	uint32_t *at = u64map_at(&l->at, common);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)l->groups.nr;
		VEC_PUSH(&l->groups, ((struct level_group){ .kept = LIBRARY_ROW_NONE }));
	}
	return &l->groups.v[*at];
}

static enum library_level group_best(const struct level_group *g)
{
	enum library_level best = LEVEL_MAX;

	for (int l = LEVEL_MAX; l > 0; l--)
		if (g->calls[l] > g->calls[best])
			best = (enum library_level)l;
	return best;
}

/* Marks the rows whose calls another level tells. */
static void rows_drop(struct library_calls *lc, struct levels *l)
{
	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];

		if (r->common)
			group_of(l, r->common)->calls[r->level] += r->calls;
	}
	for (size_t i = 0; i < lc->rows.nr; i++) {
		struct library_row *r = &lc->rows.v[i];

		r->dropped = r->common && r->level != group_best(group_of(l, r->common));
		lc->doubled += r->dropped ? r->calls : 0;
		lc->distinct -= r->dropped;
	}
}

/* now[row]: its new number, or, of a dropped one, that of a row which tells its calls. */
static void rows_renumber(const struct library_calls *lc, struct levels *l, uint32_t *now)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];

		now[i] = r->dropped ? LIBRARY_ROW_NONE : kept++;
		if (!r->dropped && r->common && group_of(l, r->common)->kept == LIBRARY_ROW_NONE)
			group_of(l, r->common)->kept = now[i];
	}
	for (size_t i = 0; i < lc->rows.nr; i++)
		if (lc->rows.v[i].dropped)
			now[i] = group_of(l, lc->rows.v[i].common)->kept;
}

/* Removes dropped rows. What another log tells by another level is the same from here on. */
static void rows_compact(struct library_calls *lc, const uint32_t *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < lc->rows.nr; i++) {
		struct library_row *r = &lc->rows.v[i];

		if (r->dropped) {
			VEC_RELEASE(&r->ranks);
			continue;
		}
		r->level = LEVEL_MAX;
		r->common = 0;
		if (r->caller != LIBRARY_ROW_NONE)
			r->caller = now[r->caller];
		lc->rows.v[kept++] = *r;
	}
	lc->rows.nr = kept;
}

/* After rows moved, or became one of two levels. */
static void rows_index(struct library_calls *lc)
{
	u64map_release(&lc->priv->rows);
	lc->priv->rows = (struct u64map)U64MAP_INIT;
	for (size_t i = 0; i < lc->rows.nr; i++) {
		struct library_row *r = &lc->rows.v[i];
		uint64_t hash = row_hash(r->library, r->level, r->key);

		if (r->other)
			hash = other_hash(r->library, r->operation);
		while (u64map_get(&lc->priv->rows, hash) != U64MAP_NONE)
			hash = mix64(hash);
		*u64map_at(&lc->priv->rows, hash) = (uint32_t)i;
	}
}

void library_calls_settle(struct library_calls *lc)
{
	CLEANUP(xfreep) uint32_t *now = xcalloc(lc->rows.nr + 1, sizeof(*now));
	struct levels l = { U64MAP_INIT, VEC_INIT };

	rows_drop(lc, &l);
	rows_renumber(lc, &l, now);
	events_renumber(lc, now);
	rows_compact(lc, now);
	rows_index(lc);
	VEC_RELEASE(&l.groups);
	u64map_release(&l.at);
}

/* ---- several logs ---- */

static void row_merge(struct library_calls *lc, struct library_row *to,
		      const struct library_row *from)
{
	to->calls += from->calls;
	to->nested += from->nested;
	to->all_flops += from->all_flops;
	to->all_bytes += from->all_bytes;
	to->nested_flops += from->nested_flops;
	to->nested_bytes += from->nested_bytes;
	to->total_ns = time_sum(to->total_ns, from->total_ns);
	to->timed += from->timed;
	to->inexact |= from->inexact;
	time_add(to, from->first_ns, from->last_ns);
	pid_add(to, from->pid);
	if (from->several_pids) {
		to->several_pids = true;
		to->pid = LIBRARY_NO_ID;
	}
	for (size_t i = 0; i < from->ranks.nr; i++)
		rank_add(to, from->ranks.v[i]);
	if (to->other)
		lc->over_calls += from->calls;
}

/*
 * In leaps: slots follow the hash of their keys, and keys that come in the order of their hashes
 * fill one end of a map that is still small.
 */
static void over_merge(struct library_calls *lc, const struct u64map *from)
{
	for (size_t i = 0; i < from->cap; i++) {
		size_t at = (size_t)(i * SPLITMIX64_STEP) & (from->cap - 1);

		if (from->slots[at].value != U64MAP_NONE)
			over_add(lc, from->slots[at].key);
	}
}

void library_calls_merge(struct library_calls *lc, const struct library_calls *from)
{
	uint32_t *now = xcalloc(from->rows.nr + 1, sizeof(*now));

	for (size_t i = 0; i < from->rows.nr; i++) {
		const struct library_row *r = &from->rows.v[i];
		struct library_call c = { .library = r->library,
					  .operation = r->operation,
					  .key = r->key,
					  .config = r->config,
					  .config_n = strlen(r->config),
					  .flops = r->flops,
					  .bytes = r->bytes,
					  .level = LEVEL_MAX,
					  .inexact = r->inexact };

		now[i] = r->other ? row_other(lc, &c) : library_calls_row(lc, &c);
		row_merge(lc, &lc->rows.v[now[i]], r);
	}
	for (size_t i = 0; i < from->rows.nr; i++)
		if (from->rows.v[i].caller != LIBRARY_ROW_NONE &&
		    lc->rows.v[now[i]].caller == LIBRARY_ROW_NONE)
			lc->rows.v[now[i]].caller = now[from->rows.v[i].caller];
	events_merge(lc, from, now);
	over_merge(lc, &from->priv->over);
	lc->doubled += from->doubled;
	free(now);
}

/* ---- as bytes ---- */

/* Members of a row that are no texts and no lists. */
/* clang-format off */
#define ROW_FIELDS(X) \
	X(all_flops) X(all_bytes) X(calls) X(first_ns) X(last_ns) X(pid) X(level) X(total_ns) \
	X(timed) X(nested) X(nested_flops) X(nested_bytes) X(caller) X(flops) X(bytes) X(common)
/* clang-format on */
#define ROW_FLAGS(X) X(several_pids) X(other) X(inexact) X(dropped)
#define CALLS_FIELDS(X) X(distinct) X(doubled) X(over_calls)

static void flag_save(bool flag, struct strbuf *to)
{
	strbuf_addch(to, flag);
}

static bool flag_load(struct serial_in *from)
{
	char flag;

	SERIAL_TAKE(from, flag);
	return flag != 0;
}

void library_calls_save(const struct library_calls *lc, struct strbuf *to)
{
#define X(field) SERIAL_PUT(to, lc->field);
	CALLS_FIELDS(X)
#undef X
	flag_save(lc->ordered, to);
	SERIAL_PUT(to, lc->rows.nr);
	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];

#define X(field) SERIAL_PUT(to, r->field);
		ROW_FIELDS(X)
#undef X
#define X(flag) flag_save(r->flag, to);
		ROW_FLAGS(X)
#undef X
		SERIAL_PUT_VEC(to, &r->ranks);
		serial_put_text(to, r->library);
		serial_put_text(to, r->operation);
		serial_put_text(to, r->key);
		serial_put_text(to, r->config);
	}
	SERIAL_PUT_VEC(to, &lc->events);
	SERIAL_PUT_VEC(to, &lc->streams);
	SERIAL_PUT(to, lc->priv->over.nr);
	/* in leaps, as over_merge has it */
	for (size_t i = 0; i < lc->priv->over.cap; i++) {
		size_t at = (size_t)(i * SPLITMIX64_STEP) & (lc->priv->over.cap - 1);

		if (lc->priv->over.slots[at].value != U64MAP_NONE)
			SERIAL_PUT(to, lc->priv->over.slots[at].key);
	}
}

static const char *text_load(struct library_calls *lc, struct serial_in *from)
{
	CLEANUP(xfreep) char *text = serial_take_text(from);

	from->bad |= !text;
	return pool_strdup(&lc->priv->texts, text ? text : "");
}

static void row_load(struct library_calls *lc, struct serial_in *from)
{
	struct library_row r = { .ranks = VEC_INIT };

#define X(field) SERIAL_TAKE(from, r.field);
	ROW_FIELDS(X)
#undef X
#define X(flag) r.flag = flag_load(from);
	ROW_FLAGS(X)
#undef X
	SERIAL_TAKE_VEC(from, &r.ranks);
	r.library = text_load(lc, from);
	r.operation = text_load(lc, from);
	r.key = text_load(lc, from);
	r.config = text_load(lc, from);
	VEC_PUSH(&lc->rows, r);
}

/* Rows and streams that are named are there. */
static bool is_sound(const struct library_calls *lc)
{
	for (size_t i = 0; i < lc->rows.nr; i++)
		if (lc->rows.v[i].caller != LIBRARY_ROW_NONE && lc->rows.v[i].caller >= lc->rows.nr)
			return false;
	for (size_t i = 0; i < lc->events.nr; i++)
		if (lc->events.v[i].row >= lc->rows.nr || lc->events.v[i].stream >= lc->streams.nr)
			return false;
	return true;
}

struct library_calls *library_calls_load(struct serial_in *from)
{
	CLEANUP(library_calls_freep) struct library_calls *lc = library_calls_new();
	size_t rows, over;
	uint64_t key;

#define X(field) SERIAL_TAKE(from, lc->field);
	CALLS_FIELDS(X)
#undef X
	lc->ordered = flag_load(from);
	rows = serial_take_count(from, sizeof(uint64_t));
	for (size_t i = 0; i < rows && !from->bad; i++)
		row_load(lc, from);
	SERIAL_TAKE_VEC(from, &lc->events);
	SERIAL_TAKE_VEC(from, &lc->streams);
	over = serial_take_count(from, sizeof(uint64_t));
	for (size_t i = 0; i < over; i++) {
		SERIAL_TAKE(from, key);
		*u64map_at(&lc->priv->over, key) = 0;
	}
	from->bad |= !is_sound(lc);
	if (from->bad)
		return NULL;
	rows_index(lc);
	return STEAL(lc);
}

/* ---- sums ---- */

struct library_totals library_calls_totals(const struct library_calls *lc)
{
	struct library_totals t = { 0 };

	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];

		t.calls += r->calls;
		t.nested += r->nested;
		t.flops += r->all_flops - r->nested_flops;
		t.bytes += r->all_bytes - r->nested_bytes;
	}
	return t;
}

size_t library_sum_fmt(char *buf, library_sum v)
{
	static const uint64_t ten19 = UINT64_C(10000000000000000000);
	uint64_t low = (uint64_t)(v % ten19);
	char digits[24];
	size_t n, m;

	if (v < ten19)
		return num_fmt_u64(buf, low);
	n = library_sum_fmt(buf, v / ten19);
	m = num_fmt_u64(digits, low);
	memset(buf + n, '0', 19 - m);
	memcpy(buf + n + 19 - m, digits, m + 1);
	return n + 19;
}
