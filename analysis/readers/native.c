#include "native.h"

#include "profrig/base/json_scan.h"
#include "profrig/base/num.h"

/* No file of ours has more; a number out of a damaged one must not make an array. */
#define FAILED_MAX 1000000

/* The members of one object, as they are met. */
struct members {
	struct native *o;
	struct json_cur c;
	bool some;
	struct json_text key, value;
};

/* json_scan reads whole blocks, so the text is copied to a buffer with room behind it. */
static bool members_open(struct native *o, const char *json, size_t len, struct members *ret)
{
	strbuf_clear(&o->text);
	strbuf_reserve(&o->text, len + 64);
	strbuf_add(&o->text, json, len);
	memset(o->text.buf + len, 0, 64);
	*ret = (struct members){ .o = o, .c = { o->text.buf, o->text.buf + len } };
	return json_open(&ret->c, '{') == 0;
}

static bool members_next(struct members *ms)
{
	return json_scalar_member(&ms->c, &ms->some, &ms->key, &ms->value) > 0;
}

static bool member_is(const struct members *ms, const char *key)
{
	return json_text_is(&ms->key, key);
}

static int64_t member_number(const struct members *ms, int64_t otherwise)
{
	int64_t v;

	return num_i64(ms->value.p, ms->value.n, &v) == 0 ? v : otherwise;
}

static bool member_truth(const struct members *ms)
{
	return json_text_is(&ms->value, "true");
}

static const char *member_words(struct members *ms, struct strbuf *to)
{
	strbuf_clear(to);
	json_decode(&ms->value, to);
	return to->buf;
}

static int word_of(const char *word, size_t len, const char *const *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(known[i]) == len && memcmp(known[i], word, len) == 0)
			return (int)i;
	return -1;
}

bool native_span_kind(const char *word, size_t len, enum span_kind *ret)
{
	static const char *const kinds[] = { "host", "kernel",     "copy",
					     "fill", "annotation", "instant" };
	int k = word_of(word, len, kinds, ARRAY_LEN(kinds));

	if (k >= 0)
		*ret = (enum span_kind)k;
	return k >= 0;
}

bool native_link_kind(const char *word, size_t len, enum link_kind *ret)
{
	static const char *const kinds[] = { "launch", "flow", "stack" };
	int k = word_of(word, len, kinds, ARRAY_LEN(kinds));

	if (k >= 0)
		*ret = (enum link_kind)k;
	return k >= 0;
}

/* ---- the file ---- */

static enum trace_clock clock_of(const struct json_text *t)
{
	static const char *const clocks[] = { "own", "CLOCK_MONOTONIC", "CLOCK_REALTIME",
					      "CLOCK_BOOTTIME" };
	int k = word_of(t->p, t->n, clocks, ARRAY_LEN(clocks));

	return k < 0 ? TRACE_CLOCK_OWN : (enum trace_clock)k;
}

bool native_file_take(struct native *o, const char *json, size_t len)
{
	struct members ms;
	bool found = members_open(o, json, len, &ms);

	while (found && members_next(&ms)) {
		if (member_is(&ms, "clock"))
			o->file.clock = clock_of(&ms.value);
		else if (member_is(&ms, "base_ns"))
			o->file.base_ns = member_number(&ms, 0);
		else if (member_is(&ms, "anchor_own_ns"))
			o->file.anchor_own_ns = member_number(&ms, 0);
		else if (member_is(&ms, "anchor_realtime_ns")) {
			o->file.anchor_realtime_ns = member_number(&ms, 0);
			o->file.has_anchor = true;
		} else if (member_is(&ms, "driver_numbers"))
			o->file.driver_numbers = member_truth(&ms);
		else if (member_is(&ms, "group"))
			num_u64(ms.value.p, ms.value.n, &o->file.group);
		else if (member_is(&ms, "resolution_hz"))
			num_f64(ms.value.p, ms.value.n, &o->file.resolution_hz);
	}
	return found;
}

void native_file_apply(const struct native *o, struct sink *s)
{
	const struct native_file *f = &o->file;
	struct input *in = s->ops->current(s);

	in->clock = f->clock;
	in->group = f->group;
	in->driver_numbers = f->driver_numbers;
	if (f->resolution_hz > 0 && f->resolution_hz <= 1e18)
		in->resolution_hz = f->resolution_hz;
	in->has_realtime_anchor = f->has_anchor;
	if (f->has_anchor) {
		in->anchor_own_ns = f->anchor_own_ns;
		in->anchor_realtime_ns = f->anchor_realtime_ns;
	}
}

/* ---- tracks ---- */

/* A track by its number: an earlier one. */
static bool member_earlier_track(const struct native *o, const struct members *ms, track_id *ret)
{
	int64_t n = member_number(ms, -1);

	if (n < 0 || (uint64_t)n >= o->tracks.nr)
		return false;
	*ret = o->tracks.v[n];
	return true;
}

static bool track_kind_of(const struct json_text *t, enum track_kind *ret)
{
	static const char *const kinds[] = { "process", "thread", "device", "queue", "counter" };
	int k = word_of(t->p, t->n, kinds, ARRAY_LEN(kinds));

	if (k >= 0)
		*ret = (enum track_kind)k;
	return k >= 0;
}

/* The texts of a track or a series, each in a buffer of its own. */
struct texts {
	struct strbuf name, unit, host, device, pci;
};
#define TEXTS_INIT \
	{ \
		STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT \
	}

static void texts_release(struct texts *t)
{
	strbuf_release(&t->name);
	strbuf_release(&t->unit);
	strbuf_release(&t->host);
	strbuf_release(&t->device);
	strbuf_release(&t->pci);
}

static bool track_member(struct members *ms, struct texts *t, struct track_def *d)
{
	if (member_is(ms, "n"))
		return member_number(ms, -1) == (int64_t)ms->o->tracks.nr;
	if (member_is(ms, "kind"))
		return track_kind_of(&ms->value, &d->kind);
	if (member_is(ms, "parent"))
		return member_earlier_track(ms->o, ms, &d->parent);
	if (member_is(ms, "owner"))
		return member_earlier_track(ms->o, ms, &d->owner);
	if (member_is(ms, "host"))
		d->host = member_words(ms, &t->host);
	else if (member_is(ms, "device"))
		d->device = member_words(ms, &t->device);
	else if (member_is(ms, "pci"))
		d->pci = member_words(ms, &t->pci);
	else if (member_is(ms, "name"))
		d->name = member_words(ms, &t->name);
	else if (member_is(ms, "pid"))
		d->pid = member_number(ms, PID_NONE);
	else if (member_is(ms, "tid"))
		d->tid = member_number(ms, PID_NONE);
	else if (member_is(ms, "rank")) {
		int64_t rank = member_number(ms, RANK_NONE);

		d->rank = rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : RANK_NONE;
	}
	return true;
}

static bool track_parse(struct native *o, const char *json, size_t len, struct texts *t,
			struct track_def *ret)
{
	bool kind = false, numbered = false;
	struct members ms;

	*ret = (struct track_def)TRACK_DEF_INIT;
	if (!members_open(o, json, len, &ms))
		return false;
	while (members_next(&ms)) {
		if (!track_member(&ms, t, ret))
			return false;
		kind |= member_is(&ms, "kind");
		numbered |= member_is(&ms, "n");
	}
	ret->key = o->tracks.nr + 1;
	return kind && numbered;
}

bool native_track_take(struct native *o, struct sink *s, const char *json, size_t len)
{
	CLEANUP(texts_release) struct texts t = TEXTS_INIT;
	struct track_def d;

	if (!track_parse(o, json, len, &t, &d))
		return false;
	VEC_PUSH(&o->tracks, s->ops->track(s, &d));
	VEC_PUSH(&o->kinds, d.kind);
	return true;
}

static const char *text_kept(const char *text, struct pool *pool)
{
	return text ? pool_strdup(pool, text) : NULL;
}

bool native_track_def(struct native *o, const char *json, size_t len, struct pool *pool,
		      struct track_def *ret)
{
	CLEANUP(texts_release) struct texts t = TEXTS_INIT;
	bool sound = track_parse(o, json, len, &t, ret);

	ret->host = text_kept(ret->host, pool);
	ret->device = text_kept(ret->device, pool);
	ret->pci = text_kept(ret->pci, pool);
	ret->name = text_kept(ret->name, pool);
	return sound;
}

/* ---- series ---- */

static bool series_kind_of(const struct json_text *t, enum series_kind *ret)
{
	static const char *const kinds[] = { "unknown", "cumulative", "gauge" };
	int k = word_of(t->p, t->n, kinds, ARRAY_LEN(kinds));

	if (k >= 0)
		*ret = (enum series_kind)k;
	return k >= 0;
}

static bool series_member(struct members *ms, struct texts *t, struct series_def *d,
			  int64_t *failed)
{
	if (member_is(ms, "n"))
		return member_number(ms, -1) == (int64_t)ms->o->series.nr;
	if (member_is(ms, "kind"))
		return series_kind_of(&ms->value, &d->kind);
	if (member_is(ms, "track"))
		return member_earlier_track(ms->o, ms, &d->track);
	if (member_is(ms, "name"))
		d->name = member_words(ms, &t->name);
	else if (member_is(ms, "unit"))
		d->unit = member_words(ms, &t->unit);
	else if (member_is(ms, "device"))
		d->device = member_words(ms, &t->device);
	else if (member_is(ms, "host"))
		d->host = member_words(ms, &t->host);
	else if (member_is(ms, "pci"))
		d->pci = member_words(ms, &t->pci);
	else if (member_is(ms, "change_points"))
		d->change_points = member_truth(ms);
	else if (member_is(ms, "ends"))
		d->ends = member_truth(ms);
	else if (member_is(ms, "exclusive_sync"))
		d->exclusive_sync = member_truth(ms);
	else if (member_is(ms, "estimated"))
		d->estimated = member_truth(ms);
	else if (member_is(ms, "failed"))
		*failed = member_number(ms, 0);
	return true;
}

static bool series_parse(struct native *o, const char *json, size_t len, struct texts *t,
			 struct series_def *ret, int64_t *failed)
{
	bool numbered = false;
	struct members ms;

	*ret = (struct series_def){ .track = TRACK_NONE };
	if (!members_open(o, json, len, &ms))
		return false;
	while (members_next(&ms)) {
		if (!series_member(&ms, t, ret, failed))
			return false;
		numbered |= member_is(&ms, "n");
	}
	if (!ret->name)
		ret->name = "";
	return numbered;
}

bool native_series_take(struct native *o, struct sink *s, const char *json, size_t len)
{
	CLEANUP(texts_release) struct texts t = TEXTS_INIT;
	struct series_def d;
	int64_t failed = 0;
	series_id id;

	if (!series_parse(o, json, len, &t, &d, &failed))
		return false;
	id = s->ops->series(s, &d);
	VEC_PUSH(&o->series, id);
	for (int64_t i = 0; i < failed && i < FAILED_MAX; i++)
		s->ops->sample(s, id, o->file.base_ns, __builtin_nan(""));
	return true;
}

bool native_series_def(struct native *o, const char *json, size_t len, struct pool *pool,
		       struct series_def *ret)
{
	CLEANUP(texts_release) struct texts t = TEXTS_INIT;
	int64_t failed;
	bool sound = series_parse(o, json, len, &t, ret, &failed);

	ret->name = text_kept(ret->name, pool);
	ret->unit = text_kept(ret->unit, pool);
	ret->device = text_kept(ret->device, pool);
	ret->host = text_kept(ret->host, pool);
	ret->pci = text_kept(ret->pci, pool);
	return sound;
}

void native_release(struct native *o)
{
	VEC_RELEASE(&o->tracks);
	VEC_RELEASE(&o->kinds);
	VEC_RELEASE(&o->series);
	strbuf_release(&o->text);
}
