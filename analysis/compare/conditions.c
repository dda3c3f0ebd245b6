#include "profrig/compare/conditions.h"
#include "condition_clocks.h"
#include "figures_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/sample_verdict.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define TEXT_MAX ((size_t)1 << 16) /* of one condition */
#define ANALYSIS_MAX ((size_t)64 << 20)
#define LISTED 1000 /* metrics, artifacts, devices, inputs that are looked at */

static const struct {
	const char *words;
	bool hard;
} facts[] = {
#define CONDITION_ROW(name, words, hard) { words, hard },
	CONDITIONS(CONDITION_ROW)
};

void conditions_release(struct conditions *c)
{
	free(c->id);
	free(c->status);
	free(c->campaign);
	free(c->cell);
	free(c->partial);
	for (size_t i = 0; i < CONDITION_COUNT; i++)
		free(c->of[i]);
	for (size_t i = 0; i < CONDITION_CLOCK_KINDS; i++)
		free(c->clock[i].source);
	strvec_release(&c->metrics);
	strvec_release(&c->defined);
	*c = (struct conditions)CONDITIONS_INIT;
}

/* ---- out of run.json ---- */

static const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void fact_take(struct conditions *c, enum condition which, const char *s)
{
	if (s && *s && !c->of[which])
		c->of[which] = xstrndup(s, TEXT_MAX);
}

/* The words of a list, or one member of each object in it. */
static char *list_text(const json_t *list, const char *member, const char *between)
{
	struct strbuf sb = STRBUF_INIT;
	const json_t *e;
	size_t i;

	strbuf_limit(&sb, TEXT_MAX);
	json_array_foreach(list, i, e)
	{
		const char *s = member ? text_at(e, member) : json_string_value(e);

		if (i >= LISTED)
			break;
		strbuf_addf(&sb, "%s%s", i ? between : "", s ? s : "");
	}
	return strbuf_steal(&sb);
}

/* A device of the list is a GPU when it has a vendor; the others are what samplers read. */
static void devices_take(const json_t *run, struct conditions *c)
{
	const json_t *devices = json_object_get(run, "devices"), *d;
	const json_t *host = json_object_get(run, "host");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *all = NULL, *processor = NULL;
	int64_t cores = json_integer_value(json_object_get(host, "cores"));
	size_t i;

	c->clock_hz = NAN;
	json_array_foreach(devices, i, d)
	{
		const json_t *clock = json_object_get(json_object_get(d, "start"), "clock_max_hz");

		if (i >= LISTED)
			break;
		if (*text_at(d, "vendor")) {
			strvec_push(&names,
				    *text_at(d, "name") ? text_at(d, "name") : text_at(d, "arch"));
			fact_take(c, CONDITION_DRIVER, text_at(d, "driver"));
		}
		if (json_is_number(clock) && isnan(c->clock_hz))
			c->clock_hz = json_number_value(clock);
	}
	if (*text_at(host, "cpu"))
		processor = xasprintf("%s, %lld cores", text_at(host, "cpu"), (long long)cores);
	strvec_sort(&names);
	all = strvec_join(&names, ", ");
	fact_take(c, CONDITION_DEVICE, names.nr ? all : processor);
	if (names.nr)
		fact_take(c, CONDITION_PROCESSOR, processor);
}

static void labels_take(const json_t *run, struct conditions *c)
{
	static const struct {
		const char *label;
		enum condition of;
	} rows[] = { { "precision", CONDITION_PRECISION },   { "dtype", CONDITION_PRECISION },
		     { "batch", CONDITION_BATCH },           { "batch_size", CONDITION_BATCH },
		     { "iterations", CONDITION_ITERATIONS }, { "steps", CONDITION_ITERATIONS } };
	const json_t *labels = json_object_get(run, "labels");
	const char *block = text_at(labels, "block");
	uint64_t n;

	c->campaign = xstrdup(text_at(labels, "campaign"));
	c->cell = xstrdup(text_at(labels, "cell"));
	if (num_u64(block, strlen(block), &n) == 0 && n < SAMPLE_BLOCK_NONE)
		c->block = (uint32_t)n;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		fact_take(c, rows[i].of, text_at(labels, rows[i].label));
}

static void metrics_take(const json_t *run, struct conditions *c)
{
	const json_t *metrics = json_object_get(run, "metrics"), *m;
	size_t i;

	json_array_foreach(metrics, i, m)
	{
		const char *name = text_at(m, "name");

		if (i >= LISTED)
			break;
		condition_clock_take(c, name, text_at(m, "source"),
				     json_number_value(json_object_get(m, "value")));
		if (!*name || strvec_has(&c->metrics, name))
			continue;
		strvec_push(&c->metrics, name);
		strvec_pushf(&c->defined, "%.100s %.100s", text_at(m, "source"),
			     text_at(json_object_get(m, "detail"), "pick"));
	}
}

static void artifacts_take(const json_t *run, struct conditions *c)
{
	const json_t *artifacts = json_object_get(run, "artifacts"), *a;
	size_t i;

	json_array_foreach(artifacts, i, a)
	{
		if (!c->partial && strcmp(text_at(a, "verdict"), "damaged") == 0)
			c->partial = xasprintf("%.200s is damaged", text_at(a, "path"));
	}
}

static void run_take(const json_t *run, struct conditions *c)
{
	const json_t *tools = json_object_get(run, "tools"), *host = json_object_get(run, "host");
	const json_t *command = json_object_get(run, "command");
	CLEANUP(xfreep) char *words = list_text(command, NULL, " ");
	CLEANUP(xfreep) char *names = list_text(tools, "name", ", ");

	c->id = xstrdup(text_at(run, "id"));
	c->status = xstrdup(text_at(run, "status"));
	c->ended_well = !strcmp(c->status, "success") || !strcmp(c->status, "partial");
	c->started_ns = json_integer_value(
		json_object_get(json_array_get(json_object_get(run, "clocks"), 0), "realtime_ns"));
	if (json_is_array(tools))
		fact_take(c, CONDITION_TOOLS, *names ? names : "none");
	fact_take(c, CONDITION_MODEL, text_at(run, "model"));
	fact_take(c, CONDITION_COMMAND, words);
	fact_take(c, CONDITION_ENGINE, text_at(run, "engine"));
	fact_take(c, CONDITION_IMAGE, text_at(run, "image_digest"));
	fact_take(c, CONDITION_IMAGE, text_at(run, "image"));
	fact_take(c, CONDITION_KERNEL, text_at(host, "kernel"));
	fact_take(c, CONDITION_NODE, text_at(host, "hostname"));
	fact_take(c, CONDITION_PROFRIG, text_at(json_object_get(run, "versions"), "profrig"));
	devices_take(run, c);
	labels_take(run, c);
	metrics_take(run, c);
	artifacts_take(run, c);
}

/* Texts of a list, each once and sorted. */
static void distinct_take(struct conditions *c, enum condition which, struct strvec *v)
{
	CLEANUP(strvec_release) struct strvec once = STRVEC_INIT;
	CLEANUP(xfreep) char *all = NULL;

	strvec_sort(v);
	for (size_t i = 0; i < v->nr; i++)
		if (i == 0 || strcmp(v->v[i - 1], v->v[i]) != 0)
			strvec_push(&once, v->v[i]);
	all = strvec_join(&once, ", ");
	fact_take(c, which, all);
}

static void input_take(const json_t *in, struct conditions *c, struct strvec *gpus,
		       struct strvec *worlds)
{
	const json_t *devices = json_object_get(in, "devices"), *d;
	int64_t size = json_integer_value(json_object_get(json_object_get(in, "world"), "size"));
	size_t i;

	if (!c->partial && json_is_true(json_object_get(in, "partial")))
		c->partial = xasprintf("%.200s was read in part", text_at(in, "path"));
	json_array_foreach(devices, i, d)
	{
		const char *name = *text_at(d, "name") ? text_at(d, "name") : text_at(d, "arch");

		if (i < LISTED && *name && gpus->nr < LISTED)
			strvec_push(gpus, name);
	}
	if (size > 0 && worlds->nr < LISTED)
		strvec_pushf(worlds, "%" PRId64, size);
}

/* What analysis.json says of its inputs; a file that cannot be read says nothing. */
static void analysis_take(const char *path, struct conditions *c)
{
	CLEANUP(strvec_release) struct strvec gpus = STRVEC_INIT, worlds = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(run_document_drop) json_t *doc = NULL;
	const json_t *in;
	size_t n = 0, i;

	if (!fs_is_file(path) || fs_read(path, ANALYSIS_MAX, &text, &n, NULL) < 0)
		return;
	doc = json_loadb(text, n, 0, NULL);
	json_array_foreach(json_object_get(doc, "inputs"), i, in)
	{
		input_take(in, c, &gpus, &worlds);
	}
	distinct_take(c, CONDITION_GPU, &gpus);
	distinct_take(c, CONDITION_WORLD, &worlds);
}

static int held_read(const char *dir, struct conditions *c, struct err *err)
{
	CLEANUP(xfreep) char *own = fs_join(dir, "analysis.json");
	CLEANUP(xfreep) char *below = fs_join(dir, "analysis/analysis.json");
	CLEANUP(xfreep) char *run = fs_join(dir, "run.json");
	CLEANUP(run_document_drop) json_t *doc = NULL;
	struct stat st;
	int r;

	if (door_lstat(run, &st) < 0 && errno == ENOENT) {
		c->ended_well = true;
		analysis_take(own, c);
		return 0;
	}
	r = run_document_read(dir, &doc, err);
	if (r < 0)
		return r;
	run_take(doc, c);
	analysis_take(below, c);
	return 0;
}

int conditions_read(const char *dir, struct conditions *ret, struct err *err)
{
	struct conditions c = CONDITIONS_INIT;
	int r = door_hold(dir, err);

	if (r < 0)
		return r;
	c.block = SAMPLE_BLOCK_NONE;
	c.clock_hz = NAN;
	r = held_read(dir, &c, err);
	door_let_go(dir);
	if (r < 0) {
		conditions_release(&c);
		return r;
	}
	if (!c.id) {
		c.id = xstrdup("");
		c.status = xstrdup("");
		c.campaign = xstrdup("");
		c.cell = xstrdup("");
	}
	*ret = c;
	return 0;
}

/* ---- what a campaign varies ---- */

#define BIT(name) (UINT32_C(1) << CONDITION_##name)

uint32_t conditions_exempt(const char *axis)
{
	static const struct {
		const char *word;
		bool anywhere; /* in the key, else in front of it */
		uint32_t bits;
	} rows[] = {
		{ "tools", false, BIT(TOOLS) },
		{ "model", false, BIT(MODEL) | BIT(COMMAND) | BIT(IMAGE) },
		{ "engine", false, BIT(ENGINE) | BIT(IMAGE) | BIT(NODE) },
		{ "image", false, BIT(IMAGE) },
		{ "container", false, BIT(IMAGE) },
		{ "gpus", false, BIT(DEVICE) | BIT(GPU) | BIT(WORLD) },
		{ "slurm", false, BIT(NODE) | BIT(KERNEL) | BIT(DEVICE) | BIT(PROCESSOR) },
		{ "slurm", false, BIT(GPU) | BIT(WORLD) },
		{ "ranks", true, BIT(WORLD) | BIT(COMMAND) },
		{ "world", true, BIT(WORLD) | BIT(COMMAND) },
		{ "command", true, BIT(COMMAND) },
		{ "args", true, BIT(COMMAND) },
		{ "image", true, BIT(IMAGE) },
		{ "device", true, BIT(DEVICE) | BIT(GPU) | BIT(PROCESSOR) },
		{ "precision", true, BIT(PRECISION) | BIT(COMMAND) },
		{ "dtype", true, BIT(PRECISION) | BIT(COMMAND) },
		{ "batch", true, BIT(BATCH) | BIT(COMMAND) },
		{ "iterations", true, BIT(ITERATIONS) | BIT(COMMAND) },
		{ "steps", true, BIT(ITERATIONS) | BIT(COMMAND) },
		{ "node", true, BIT(NODE) | BIT(KERNEL) },
		{ "clock", true, CONDITION_EXEMPT_CLOCKS },
		{ "freq", true, CONDITION_EXEMPT_CLOCKS },
		{ "governor", true, CONDITION_EXEMPT_CLOCKS },
		{ "turbo", true, CONDITION_EXEMPT_CLOCKS },
		{ "power_cap", true, CONDITION_EXEMPT_CLOCKS },
		{ "power_limit", true, CONDITION_EXEMPT_CLOCKS },
		{ "device", true, CONDITION_EXEMPT_CLOCKS },
		{ "gpus", false, CONDITION_EXEMPT_CLOCKS },
		{ "slurm", false, CONDITION_EXEMPT_CLOCKS },
	};
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].anywhere ? strcasestr(axis, rows[i].word) != NULL
				     : strncmp(axis, rows[i].word, strlen(rows[i].word)) == 0)
			bits |= rows[i].bits;
	return bits;
}

/* ---- two sides ---- */

void comparable_release(struct comparable *c)
{
	strvec_release(&c->reasons);
}

void comparable_add(struct comparable *c, bool hard, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strvec_push_take(&c->reasons, xvasprintf(fmt, ap));
	va_end(ap);
	c->hard += hard;
	c->score = hard ? 0 : c->score * CONDITION_SOFT;
}

#define SHOWN 60
#define BEFORE 12 /* characters in front of the first difference */

/* Distinct known values of a side, sorted. */
static void values_of(const struct condition_side *s, size_t which, struct strvec *ret)
{
	for (size_t i = 0; i < s->nr; i++) {
		const char *v = s->runs[i]->of[which];

		if (v && !strvec_has(ret, v))
			strvec_push(ret, v);
	}
	strvec_sort(ret);
}

/* from: where the texts begin to differ; a long text is shown around that. */
static char *values_text(const struct strvec *v, size_t from)
{
	struct strbuf sb = STRBUF_INIT;
	const char *s = v->v[0];
	size_t n = strlen(s);

	from = n > SHOWN && from > BEFORE ? from - BEFORE : 0;
	while (from && (s[from] & 0xc0) == 0x80)
		from--;
	for (n = strlen(s + from) > SHOWN ? SHOWN : strlen(s + from);
	     n && s[from + n] && (s[from + n] & 0xc0) == 0x80;)
		n--;
	strbuf_addf(&sb, "%s%.*s%s", from ? "…" : "", (int)n, s + from, s[from + n] ? "…" : "");
	if (v->nr > 1)
		strbuf_addf(&sb, " and %zu more", v->nr - 1);
	return strbuf_steal(&sb);
}

static size_t common_part(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

static bool values_equal(const struct strvec *a, const struct strvec *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static void mixed_check(const struct condition_side *s, size_t which, const struct strvec *v,
			struct comparable *ret)
{
	CLEANUP(xfreep) char *text = NULL;

	if (v->nr < 2 || !facts[which].hard)
		return;
	text = values_text(v, 0);
	comparable_add(ret, true, "%s: runs of %s differ among themselves: %s", facts[which].words,
		       s->name, text);
}

static void condition_compare(const struct condition_side *a, const struct condition_side *b,
			      size_t which, struct comparable *ret)
{
	CLEANUP(strvec_release) struct strvec va = STRVEC_INIT, vb = STRVEC_INIT;
	CLEANUP(xfreep) char *ta = NULL, *tb = NULL;
	size_t from;

	values_of(a, which, &va);
	values_of(b, which, &vb);
	mixed_check(a, which, &va, ret);
	mixed_check(b, which, &vb, ret);
	if (!va.nr || !vb.nr || values_equal(&va, &vb) ||
	    (facts[which].hard && (va.nr > 1 || vb.nr > 1)))
		return;
	from = common_part(va.v[0], vb.v[0]);
	ta = values_text(&va, from);
	tb = values_text(&vb, from);
	comparable_add(ret, facts[which].hard, "%s: %s in %s, %s in %s", facts[which].words, ta,
		       a->name, tb, b->name);
}

static const char *definition_of(const struct condition_side *s, const char *metric)
{
	for (size_t i = 0; i < s->nr; i++)
		for (size_t k = 0; k < s->runs[i]->metrics.nr; k++)
			if (strcmp(s->runs[i]->metrics.v[k], metric) == 0)
				return s->runs[i]->defined.v[k];
	return NULL;
}

static void definitions_compare(const struct condition_side *a, const struct condition_side *b,
				bool (*wanted)(const void *ctx, const char *metric),
				const void *ctx, struct comparable *ret)
{
	for (size_t k = 0; a->nr && k < a->runs[0]->metrics.nr; k++) {
		const char *name = a->runs[0]->metrics.v[k], *da = a->runs[0]->defined.v[k];
		const char *db = definition_of(b, name);

		if (db && strcmp(da, db) != 0 && (!wanted || wanted(ctx, name)))
			comparable_add(ret, true,
				       "%.60s is found in other ways: %s in %s, %s in %s", name, da,
				       a->name, db, b->name);
	}
}

static void partial_check(const struct condition_side *s, struct comparable *ret)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->runs[i]->partial) {
			comparable_add(ret, true, "trace of %s is not whole: %s", s->name,
				       s->runs[i]->partial);
			return;
		}
}

static double clock_of(const struct condition_side *s)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (isfinite(s->runs[i]->clock_hz)) {
			sum += s->runs[i]->clock_hz;
			nr++;
		}
	return nr ? sum / (double)nr : NAN;
}

static void span_of(const struct condition_side *s, int64_t *first, int64_t *last)
{
	*first = INT64_MAX;
	*last = 0;
	for (size_t i = 0; i < s->nr; i++) {
		int64_t t = s->runs[i]->started_ns;

		if (t > 0 && t < *first)
			*first = t;
		if (t > *last)
			*last = t;
	}
}

static void clocks_compare(const struct condition_side *a, const struct condition_side *b,
			   struct comparable *ret)
{
	double ca = clock_of(a), cb = clock_of(b);

	if (ca > 0 && cb > 0 && fabs(cb / ca - 1) > CONDITION_CLOCKS)
		comparable_add(ret, false, "clocks: at most %.0f MHz in %s, %.0f MHz in %s",
			       ca / 1e6, a->name, cb / 1e6, b->name);
	condition_clocks_compare(a, b, ret);
}

static void times_compare(const struct condition_side *a, const struct condition_side *b,
			  struct comparable *ret)
{
	int64_t first[2], last[2], gap;

	span_of(a, &first[0], &last[0]);
	span_of(b, &first[1], &last[1]);
	if (!last[0] || !last[1])
		return;
	gap = first[1] > last[0] ? first[1] - last[0] : first[0] - last[1];
	if (gap > CONDITION_GAP_NS)
		comparable_add(ret, false, "date: %lld days lie between %s and %s",
			       (long long)(gap / (INT64_C(86400) * 1000000000)), a->name, b->name);
}

void conditions_compare(const struct condition_side *a, const struct condition_side *b,
			uint32_t exempt, bool (*wanted)(const void *ctx, const char *metric),
			const void *ctx, struct comparable *ret)
{
	for (size_t i = 0; i < CONDITION_COUNT; i++)
		if (!(exempt & (UINT32_C(1) << i)))
			condition_compare(a, b, i, ret);
	definitions_compare(a, b, wanted, ctx, ret);
	partial_check(a, ret);
	partial_check(b, ret);
	if (!(exempt & CONDITION_EXEMPT_CLOCKS))
		clocks_compare(a, b, ret);
	times_compare(a, b, ret);
}
