/*
 * Kernels that follow each other again and again on one queue. The names of all queues' kernels in
 * order of time, with a letter of its own behind each queue, are a text; its maximal repeats are
 * the patterns: they occur at least twice, and not always with the same kernel in front or behind.
 * They are the intervals of the suffix array in which neighbours have the same number of letters in
 * common and the letters in front differ; there are fewer than letters.
 *
 * Occurrences that overlap count once, in order of time, so total_ns is never more than the time
 * of all kernels. A pattern that is a shorter one several times over is left out: the shorter one
 * is there. Of many patterns those that may have the largest totals are looked at, as the times of
 * some places tell, until these are far below what will be shown or
 * LOOK_FACTOR times as many kernels as there are have been seen, and SEQUENCES_MOST are shown.
 */
#include "analyses_private.h"
#include "ns.h"
#include "suffix_array.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define SEQUENCES_MOST ((size_t)100)
#define LOOK_FACTOR 16
#define LOOK_LEAST ((size_t)1 << 20)
#define GUESS_PLACES 4
#define FAR_BELOW 4      /* a guess, of the least total that will be shown */
#define MARKS_FROM 2048  /* of the letters */
#define PATTERN_NAMES 64 /* in the text of a pattern */

/* clang-format off */
#define SEQUENCES(X) \
	X(STR, pattern) X(I64, length) X(I64, count) X(I64, total_ns) X(I64, gap_ns)
/* clang-format on */
TABLE_FORM(sequences, SEQUENCES, "one row per sequence of kernels that repeats on a queue");

struct repeat {
	uint32_t first, last, length; /* suffixes, in their order */
	int64_t guess_ns;
};

struct looked {
	struct repeat r;
	int64_t count, total_ns, gap_ns;
};

struct repeats {
	const struct works *w;
	size_t n; /* letters, the final 0 included */
	uint32_t *text;
	str_id *names; /* by letter − 1; of separators STR_NONE */
	size_t letters;
	int64_t *busy_ns, *gaps_ns; /* of all letters before, gaps between it and the one before */
	uint32_t *sa, *common;
	uint32_t *turns;         /* suffixes so far whose letter in front is another */
	uint64_t *marks;         /* a bit for each letter; all 0 between two uses */
	VEC(struct repeat) v;    /* a heap: the largest guess on top */
	VEC(struct looked) seen; /* no powers, at least twice */
	struct {                 /* the largest totals that were seen, ascending */
		int64_t v[SEQUENCES_MOST];
		size_t nr;
	} best;
};

/* ---- the text ---- */

static bool is_kernel(const struct works *w, size_t row)
{
	return w->m->spans.kind[w->v.v[row].span] == SPAN_KERNEL;
}

/* Kernels by queue, in order of time. Owned. */
static uint32_t *kernels_order(const struct works *w, size_t *ret_nr)
{
	uint32_t *rows = xreallocarray(NULL, w->v.nr + 1, sizeof(*rows));
	/* by track: how many kernels the tracks before it have; then where its next one goes */
	CLEANUP(xfreep) size_t *at = xcalloc(w->m->tracks.nr + 1, sizeof(*at));

	for (size_t i = 0; i < w->v.nr; i++)
		at[w->v.v[i].queue + 1] += is_kernel(w, i);
	for (size_t t = 0; t < w->m->tracks.nr; t++)
		at[t + 1] += at[t];
	*ret_nr = at[w->m->tracks.nr];
	for (size_t i = 0; i < w->v.nr; i++)
		if (is_kernel(w, i))
			rows[at[w->v.v[i].queue]++] = (uint32_t)i;
	return rows;
}

static void letter_put(struct repeats *r, uint32_t letter, int64_t busy_ns, int64_t gap_ns)
{
	r->text[r->n] = letter;
	r->busy_ns[r->n + 1] = ns_add(r->busy_ns[r->n], busy_ns);
	r->gaps_ns[r->n + 1] = ns_add(r->gaps_ns[r->n], gap_ns);
	r->n++;
}

static void text_make(struct repeats *r, const uint32_t *order, size_t nr)
{
	CLEANUP(u64map_release) struct u64map letters = U64MAP_INIT;
	const struct work *before = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct work *w = &r->w->v.v[order[i]];
		str_id name = r->w->m->spans.name[w->span];
		uint32_t *at;
		int64_t gap_ns = 0;

		if (before && before->queue != w->queue) {
			r->names[r->letters++] = STR_NONE;
			letter_put(r, (uint32_t)r->letters, 0, 0);
		} else if (before && w->start_ns > before->end_ns) {
			gap_ns = w->start_ns - before->end_ns;
		}
		at = u64map_at(&letters, name);
		if (*at == U64MAP_NONE) {
			r->names[r->letters++] = name;
			*at = (uint32_t)r->letters;
		}
		letter_put(r, *at, w->end_ns - w->start_ns, gap_ns);
		before = w;
	}
	letter_put(r, 0, 0, 0);
}

/* ---- repeats ---- */

static void turns_count(struct repeats *r)
{
	for (size_t i = 0; i < r->n; i++) {
		bool other = i == 0 || r->sa[i] == 0 || r->sa[i - 1] == 0 ||
			     r->text[r->sa[i] - 1] != r->text[r->sa[i - 1] - 1];

		r->turns[i] = (i ? r->turns[i - 1] : 0) + other;
	}
}

/* The time of all places, as some of them tell; no more than everything: of the powers of a word,
 * which overlap, the word comes first. */
static int64_t guess_of(const struct repeats *r, size_t first, size_t last, uint32_t length)
{
	size_t nr = last - first + 1;
	double sum = 0, all;

	for (size_t i = 0; i < GUESS_PLACES; i++) {
		size_t at = r->sa[first + nr * i / GUESS_PLACES];

		sum += (double)(r->busy_ns[at + length] - r->busy_ns[at]);
	}
	all = sum / GUESS_PLACES * (double)nr;
	return all < (double)r->busy_ns[r->n] ? (int64_t)all : r->busy_ns[r->n];
}

static void repeat_add(struct repeats *r, size_t first, size_t last, uint32_t length)
{
	if (length < 2 || r->turns[last] == r->turns[first])
		return;
	VEC_PUSH(&r->v, ((struct repeat){ (uint32_t)first, (uint32_t)last, length,
					  guess_of(r, first, last, length) }));
}

/* Intervals of suffixes with `length` letters in common, by a stack of those that are open. */
static void repeats_find(struct repeats *r)
{
	VEC(struct open {
		size_t first;
		uint32_t length;
	}) open = VEC_INIT;

	for (size_t i = 1; i <= r->n; i++) {
		uint32_t common = i < r->n ? r->common[i] : 0;
		size_t first = i - 1;

		while (open.nr && open.v[open.nr - 1].length > common) {
			first = open.v[open.nr - 1].first;
			repeat_add(r, first, i - 1, open.v[open.nr - 1].length);
			open.nr--;
		}
		if (common && (!open.nr || open.v[open.nr - 1].length < common))
			VEC_PUSH(&open, ((struct open){ first, common }));
	}
	VEC_RELEASE(&open);
}

/* Whether a word is a shorter one several times over: by its longest border. */
static bool is_power(const uint32_t *word, size_t n)
{
	CLEANUP(xfreep) uint32_t *border = xcalloc(n + 1, sizeof(*border));
	size_t k = 0;

	for (size_t i = 1; i < n; i++) {
		while (k && word[i] != word[k])
			k = border[k - 1];
		k += word[i] == word[k];
		border[i] = (uint32_t)k;
	}
	return k && n % (n - k) == 0;
}

static int cmp_u32(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* Where the suffixes of a repeat begin, in order: many of them by a bit each. */
static void places_order(const struct repeats *r, const struct repeat *x, uint32_t *at)
{
	size_t nr = x->last - x->first + 1, words = r->n / 64 + 1, to = 0;

	if (nr < r->n / MARKS_FROM + 2) {
		memcpy(at, r->sa + x->first, nr * sizeof(*at));
		qsort(at, nr, sizeof(*at), cmp_u32);
		return;
	}
	for (size_t i = x->first; i <= x->last; i++)
		r->marks[r->sa[i] / 64] |= UINT64_C(1) << r->sa[i] % 64;
	for (size_t w = 0; w < words; w++) {
		for (uint64_t left = r->marks[w]; left; left &= left - 1)
			at[to++] = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(left);
		r->marks[w] = 0;
	}
}

static void occurrences_sum(const struct repeats *r, struct looked *x)
{
	size_t nr = x->r.last - x->r.first + 1, end = 0;
	CLEANUP(xfreep) uint32_t *at = xreallocarray(NULL, nr, sizeof(*at));

	places_order(r, &x->r, at);
	for (size_t i = 0; i < nr; i++) {
		if (x->count && at[i] < end)
			continue;
		end = at[i] + x->r.length;
		x->count++;
		x->total_ns = ns_add(x->total_ns, r->busy_ns[end] - r->busy_ns[at[i]]);
		x->gap_ns = ns_add(x->gap_ns, r->gaps_ns[end] - r->gaps_ns[at[i] + 1]);
	}
}

static bool is_before(const struct repeat *a, const struct repeat *b)
{
	if (a->guess_ns != b->guess_ns)
		return a->guess_ns > b->guess_ns;
	if (a->length != b->length)
		return a->length < b->length;
	return a->first < b->first;
}

static void heap_down(struct repeat *v, size_t n, size_t i)
{
	struct repeat x = v[i];

	for (size_t k = 2 * i + 1; k < n; k = 2 * i + 1) {
		if (k + 1 < n && is_before(&v[k + 1], &v[k]))
			k++;
		if (!is_before(&v[k], &x))
			break;
		v[i] = v[k];
		i = k;
	}
	v[i] = x;
}

static struct repeat heap_take(struct repeats *r)
{
	struct repeat top = r->v.v[0];

	r->v.v[0] = r->v.v[--r->v.nr];
	if (r->v.nr)
		heap_down(r->v.v, r->v.nr, 0);
	return top;
}

static void best_take(struct repeats *r, int64_t total_ns)
{
	int64_t *v = r->best.v;
	size_t i;

	if (r->best.nr < SEQUENCES_MOST) {
		for (i = r->best.nr++; i > 0 && v[i - 1] > total_ns; i--)
			v[i] = v[i - 1];
		v[i] = total_ns;
	} else if (total_ns > v[0]) {
		for (i = 0; i + 1 < SEQUENCES_MOST && v[i + 1] < total_ns; i++)
			v[i] = v[i + 1];
		v[i] = total_ns;
	}
}

/* Whether none of those that are left will be shown, as far as the guesses tell. */
static bool is_enough(const struct repeats *r)
{
	return r->best.nr == SEQUENCES_MOST && r->v.v[0].guess_ns < r->best.v[0] / FAR_BELOW;
}

static void repeats_look(struct repeats *r)
{
	size_t budget = r->n * LOOK_FACTOR + LOOK_LEAST, left = budget;

	for (size_t i = r->v.nr / 2; i-- > 0;)
		heap_down(r->v.v, r->v.nr, i);
	while (r->v.nr && left && (budget - left < LOOK_LEAST || !is_enough(r))) {
		struct looked x = { heap_take(r), 0, 0, 0 };
		size_t cost = x.r.length + (x.r.last - x.r.first + 1);

		left -= cost < left ? cost : left;
		if (is_power(r->text + r->sa[x.r.first], x.r.length))
			continue;
		occurrences_sum(r, &x);
		if (x.count < 2)
			continue;
		best_take(r, x.total_ns);
		VEC_PUSH(&r->seen, x);
	}
}

/* ---- the table ---- */

static int cmp_total(const void *pa, const void *pb)
{
	const struct looked *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->r.length != b->r.length)
		return a->r.length < b->r.length ? -1 : 1;
	return (a->r.first > b->r.first) - (a->r.first < b->r.first);
}

static void pattern_put(const struct repeats *r, const struct repeat *x, struct strbuf *out)
{
	const uint32_t *word = r->text + r->sa[x->first];
	uint32_t shown = x->length < PATTERN_NAMES ? x->length : PATTERN_NAMES;

	strbuf_clear(out);
	for (uint32_t i = 0; i < shown; i++) {
		const char *name = model_str(r->w->m, r->names[word[i] - 1]);

		if (i)
			strbuf_addch(out, ';');
		for (; *name; name++)
			strbuf_addch(out, *name == ';' ? ':' : *name);
	}
	if (x->length > shown)
		strbuf_addf(out, ";[%u more]", x->length - shown);
}

static void table_make_of(struct repeats *r, struct table_set *out)
{
	CLEANUP(strbuf_release) struct strbuf pattern = STRBUF_INIT;
	struct table *t = table_make(&sequences_form);

	qsort(r->seen.v, r->seen.nr, sizeof(*r->seen.v), cmp_total);
	for (size_t i = 0; i < r->seen.nr && i < SEQUENCES_MOST; i++) {
		const struct looked *x = &r->seen.v[i];

		pattern_put(r, &x->r, &pattern);
		table_add(t, &(struct sequences_row){ pattern.buf, x->r.length, x->count,
						      x->total_ns, x->gap_ns });
	}
	/* total descending, the shorter one first, pattern */
	table_sort(t, (const int[]){ ~3, 1, 0 }, 3);
	table_set_add(out, t);
}

static void repeats_run(struct repeats *r, struct table_set *out)
{
	r->sa = xreallocarray(NULL, r->n, sizeof(*r->sa));
	r->common = xreallocarray(NULL, r->n, sizeof(*r->common));
	r->turns = xreallocarray(NULL, r->n, sizeof(*r->turns));
	r->marks = xcalloc(r->n / 64 + 1, sizeof(*r->marks));
	suffix_array(r->text, r->n, r->letters + 1, r->sa);
	suffix_common(r->text, r->sa, r->n, r->common);
	turns_count(r);
	repeats_find(r);
	repeats_look(r);
	if (r->seen.nr)
		table_make_of(r, out);
	VEC_RELEASE(&r->v);
	VEC_RELEASE(&r->seen);
	free(r->sa);
	free(r->common);
	free(r->turns);
	free(r->marks);
}

static int sequences_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			 struct err *err)
{
	struct repeats r = { .w = analysis_works(m, o) };
	size_t nr, room;
	CLEANUP(xfreep) uint32_t *order = kernels_order(r.w, &nr);

	(void)err;
	/* a separator behind each queue, and the last letter */
	room = nr + (nr < m->tracks.nr ? nr : m->tracks.nr) + 2;
	if (nr < 2 || room >= INT32_MAX)
		return nr < 2 ? 0 : table_set_skip(out, "sequences", "there are too many kernels");
	r.text = xreallocarray(NULL, room, sizeof(*r.text));
	r.names = xreallocarray(NULL, room, sizeof(*r.names));
	r.busy_ns = xcalloc(room + 1, sizeof(*r.busy_ns));
	r.gaps_ns = xcalloc(room + 1, sizeof(*r.gaps_ns));
	text_make(&r, order, nr);
	free(STEAL(order));
	repeats_run(&r, out);
	free(r.text);
	free(r.names);
	free(r.busy_ns);
	free(r.gaps_ns);
	return 0;
}

const struct analysis analysis_sequences = {
	.name = "sequences",
	.about = "sequences of kernels that repeat",
	.nothing = "no sequence of kernels repeats",
	.tables = { &sequences_form },
	.run = sequences_run,
	.needs_work = true,
};
