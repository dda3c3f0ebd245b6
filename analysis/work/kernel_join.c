#include "profrig/work/kernel_join.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"
#include "profrig/model/warnings.h"
#include "profrig/names/demangle.h"

/* ---- names ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length without parameters: "k<4>(int*) const" → "k<4>". */
static size_t without_parameters(const char *s, size_t n)
{
	size_t end = n;
	int depth = 0;

	if (end > 6 && memcmp(s + end - 6, " const", 6) == 0)
		end -= 6;
	if (end == 0 || s[end - 1] != ')')
		return n;
	for (size_t i = end; i-- > 0;) {
		depth += (s[i] == ')') - (s[i] == '(');
		if (depth == 0)
			return i ? i : n;
	}
	return n;
}

/* Bytes of a cast before a number, "(int)4", "(bool)1"; 0: there is none at s. */
static size_t cast_bytes(const char *s, size_t n)
{
	size_t i = 1;

	if (*s != '(')
		return 0;
	while (i < n && (is_word(s[i]) || s[i] == ' ' || s[i] == ':'))
		i++;
	return i > 1 && i + 1 < n && s[i] == ')' &&
			       (isdigit((unsigned char)s[i + 1]) || s[i + 1] == '-')
		       ? i + 1
		       : 0;
}

/* "4ul" → "4", "true" → "1": the word at s; returns its length. */
static size_t word_put(const char *s, size_t n, struct strbuf *to)
{
	size_t len = 0, keep;

	while (len < n && is_word(s[len]))
		len++;
	keep = len;
	while (isdigit((unsigned char)*s) && keep > 1 && strchr("uUlL", s[keep - 1]))
		keep--;
	if (len == 4 && memcmp(s, "true", 4) == 0)
		strbuf_addstr(to, "1");
	else if (len == 5 && memcmp(s, "false", 5) == 0)
		strbuf_addstr(to, "0");
	else
		strbuf_add(to, s, keep);
	return len;
}

void kernel_join_name(const char *name, struct strbuf *to)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT;
	const char *s = demangle(name, &plain) ? plain.buf : name;
	size_t n = strlen(s);

	if (strncmp(s, "void ", 5) == 0)
		s += 5, n -= 5;
	n = without_parameters(s, n);
	for (size_t i = 0; i < n;) {
		size_t cast = cast_bytes(s + i, n - i);

		if (cast) {
			i += cast;
		} else if (is_word(s[i])) {
			i += word_put(s + i, n - i, to);
		} else {
			if (s[i] != ' ')
				strbuf_add(to, s + i, 1);
			i++;
		}
	}
}

/* The last part of a function's name, without template arguments: "a::k<b::c>" → "k". */
static void function_of(const char *name, struct strbuf *to)
{
	size_t n = strcspn(name, "<"), from = n;

	while (from > 0 && name[from - 1] != ':')
		from--;
	strbuf_add(to, name + from, n - from);
}

static bool is_function(const char *name)
{
	size_t n = 0;

	while (is_word(name[n]))
		n++;
	return n > 0 && name[n] == '\0';
}

/* ---- kernels ---- */

/* How exactly names are compared; a kernel of the trace has a row for each. */
enum level { LEVEL_TEXT, LEVEL_FUNCTION, LEVEL_BASE, LEVELS };

struct target {
	str_id device, name; /* of joining.texts; name: with its level */
	int64_t start_ns;
	uint64_t span;
};

struct joining {
	struct model *m;
	const struct model *from;
	struct intern *texts;
	struct u64map forms[2]; /* by name of m, of from: in names */
	VEC(struct forms_of { str_id v[LEVELS]; }) names;
	VEC(struct target) targets;
	struct u64map taken;     /* by device and name: how many of the trace's are joined */
	struct u64map kernel_at; /* by end: kernel of from */
	VEC(uint64_t) joined;    /* by kernel of from: span of m; SPAN_NONE */
	struct u64map series;    /* by series of from and queue */
	str_id only;             /* the one device of both; STR_NONE: they have several */
	uint64_t missing;
	const char *first; /* name of the first that is not joined */
};

bool kernel_join_has(const struct model *m)
{
	for (size_t i = 0; i < m->spans.nr; i++)
		if (m->spans.kind[i] == SPAN_KERNEL && span_is_work(m, i))
			return true;
	return false;
}

static str_id form_put(struct joining *j, char level, struct strbuf *text)
{
	strbuf_add(text, &level, 1);
	return intern_put(j->texts, text->buf, text->len);
}

static const struct forms_of *forms_of(struct joining *j, const struct model *m, str_id name)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, function = STRBUF_INIT;
	uint32_t *at = u64map_at(&j->forms[m == j->from], name);
	const char *s = model_str(m, name);
	struct forms_of f;

	if (*at != U64MAP_NONE)
		return &j->names.v[*at];
	*at = (uint32_t)j->names.nr;
	strbuf_addstr(&text, s);
	f.v[LEVEL_TEXT] = form_put(j, '=', &text);
	kernel_join_name(s, &function);
	strbuf_clear(&text);
	function_of(function.buf ? function.buf : "", &text);
	f.v[LEVEL_BASE] = form_put(j, '~', &text);
	f.v[LEVEL_FUNCTION] = form_put(j, '<', &function);
	VEC_PUSH(&j->names, f);
	return &j->names.v[j->names.nr - 1];
}

static str_id device_of(struct joining *j, const struct model *m, uint64_t span)
{
	return intern_puts(j->texts, model_str(m, m->tracks.v[m->spans.track[span]].device));
}

static int cmp_target(const void *pa, const void *pb)
{
	const struct target *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void targets_take(struct joining *j)
{
	const struct model *m = j->m;

	j->only = STR_NONE;
	for (size_t i = 0; i < m->spans.nr; i++) {
		const struct forms_of *f;
		str_id device;

		if (m->spans.kind[i] != SPAN_KERNEL || !span_is_work(m, i))
			continue;
		device = device_of(j, m, i);
		j->only = j->targets.nr == 0 || j->only == device ? device : STR_NONE;
		f = forms_of(j, m, m->spans.name[i]);
		for (int l = 0; l < LEVELS; l++)
			VEC_PUSH(&j->targets,
				 ((struct target){ device, f->v[l], m->spans.start_ns[i], i }));
	}
	if (j->targets.nr)
		qsort(j->targets.v, j->targets.nr, sizeof(*j->targets.v), cmp_target);
}

/* The trace's kernels of a device and name: [*ret, *ret + the result). */
static size_t targets_of(const struct joining *j, str_id device, str_id name, size_t *ret)
{
	const struct target *v = j->targets.v;
	size_t first =
		LOWER_BOUND(at, 0, j->targets.nr,
			    v[at].device < device || (v[at].device == device && v[at].name < name));
	size_t end =
		LOWER_BOUND(at, first, j->targets.nr, v[at].device == device && v[at].name == name);

	*ret = first;
	return end - first;
}

/* The next kernel of the trace that a kernel of this name is; SPAN_NONE. */
static uint64_t target_next(struct joining *j, str_id device, str_id name)
{
	const struct forms_of f = *forms_of(j, j->from, name);
	int levels = is_function(model_str(j->from, name)) ? LEVELS : LEVEL_BASE;

	for (int l = 0; l < levels; l++) {
		size_t first, nr = targets_of(j, device, f.v[l], &first);
		uint32_t *taken;

		if (nr == 0)
			continue;
		taken = u64map_at(&j->taken, u64map_pair(device, f.v[l]));
		*taken = *taken == U64MAP_NONE ? 0 : *taken;
		return *taken < nr ? j->targets.v[first + (*taken)++].span : SPAN_NONE;
	}
	return SPAN_NONE;
}

/* ---- kernels of the counters ---- */

struct ordered {
	int64_t end_ns;
	uint64_t span;
};

static int cmp_ordered(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void kernels_join(struct joining *j, struct kernel_joined *ret)
{
	const struct model *from = j->from;
	VEC(struct ordered) v = VEC_INIT;
	str_id device, only = STR_NONE;
	bool several = false;

	for (size_t i = 0; i < from->spans.nr; i++) {
		if (from->spans.kind[i] != SPAN_KERNEL || !span_is_work(from, i))
			continue;
		device = device_of(j, from, i);
		several |= only != STR_NONE && only != device;
		only = device;
		VEC_PUSH(&v, ((struct ordered){ from->spans.end_ns[i], i }));
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), cmp_ordered);
	for (size_t i = 0; i < v.nr; i++) {
		str_id name = from->spans.name[v.v[i].span];
		uint64_t to;

		device = device_of(j, from, v.v[i].span);
		if (!several && j->only != STR_NONE)
			device = j->only;
		to = target_next(j, device, name);
		if (to == SPAN_NONE && j->missing++ == 0)
			j->first = model_str(from, name);
		*u64map_at(&j->kernel_at, (uint64_t)v.v[i].end_ns) = (uint32_t)j->joined.nr;
		VEC_PUSH(&j->joined, to);
	}
	ret->kernels = v.nr;
	ret->joined = v.nr - j->missing;
	VEC_RELEASE(&v);
}

/* ---- values ---- */

static series_id series_of(struct joining *j, size_t s, uint64_t span)
{
	const struct series *from = &j->from->series.v[s];
	track_id queue = j->m->spans.track[span];
	uint32_t *at = u64map_at(&j->series, u64map_pair((uint32_t)s, queue));
	struct sink *sink = model_sink(j->m);

	if (*at == U64MAP_NONE) {
		CLEANUP(xfreep)
		char *device = xstrdup(model_str(j->m, j->m->tracks.v[queue].device));
		struct series_def d = { .name = model_str(j->from, from->name),
					.unit = model_str(j->from, from->unit),
					.kind = from->kind,
					.device = device,
					.track = queue };

		*at = sink->ops->series(sink, &d);
		/* its times are those of the trace, and move with it */
		j->m->series.v[*at].input = span_input(&j->m->spans, span);
	}
	return *at;
}

static void values_put(struct joining *j, struct kernel_joined *ret)
{
	struct sink *sink = model_sink(j->m);

	for (size_t s = 0; s < j->from->series.nr; s++) {
		const struct series *from = &j->from->series.v[s];

		for (size_t i = 0; i < from->t_ns.nr; i++) {
			uint32_t k = u64map_get(&j->kernel_at, (uint64_t)from->t_ns.v[i]);
			struct series *to;
			series_id id;

			if (k == U64MAP_NONE || j->joined.v[k] == SPAN_NONE)
				continue;
			id = series_of(j, s, j->joined.v[k]);
			to = &j->m->series.v[id];
			VEC_PUSH(&to->t_ns, j->m->spans.end_ns[j->joined.v[k]]);
			VEC_PUSH(&to->value, from->value.v[i]);
			ret->values++;
		}
	}
	sink->ops->current(sink)->samples += ret->values;
}

/* ---- the input ---- */

static void input_take(struct joining *j, const struct input *from, struct kernel_joined *ret)
{
	struct sink *s = model_sink(j->m);
	input_id id = s->ops->input(s, from->path, from->reader);
	struct input *in = s->ops->current(s);

	in->format = xstrdup(from->format ? from->format : "");
	in->partial = from->partial;
	/* it has no times, so any clock fits */
	in->clock = TRACE_CLOCK_MONOTONIC;
	s->ops->clock(s);
	values_put(j, ret);
	for (size_t i = 0; i < from->facts.nr; i++)
		sink_fact(s, from->facts.v[i].key, from->facts.v[i].value);
	sink_fact(s, "joined_kernels", (int64_t)ret->joined);
	for (size_t i = 0; i < j->from->warnings.nr; i++) {
		const struct warning *w = &j->from->warnings.v[i];

		if (strcmp(w->code, W_NO_TIMES) != 0)
			model_warn(j->m, id, w->code, w->count, "%s", w->text);
	}
	if (j->missing)
		model_warn(j->m, id, W_KERNEL_NOT_JOINED, j->missing,
			   "%llu of %llu kernels with counters are not in the trace, the first: %s",
			   (unsigned long long)j->missing, (unsigned long long)ret->kernels,
			   j->first);
	s->ops->input_end(s);
}

static void joining_release(struct joining *j)
{
	intern_free(j->texts);
	u64map_release(&j->forms[0]);
	u64map_release(&j->forms[1]);
	u64map_release(&j->taken);
	u64map_release(&j->kernel_at);
	u64map_release(&j->series);
	VEC_RELEASE(&j->names);
	VEC_RELEASE(&j->targets);
	VEC_RELEASE(&j->joined);
}

void kernel_join(struct model *m, const struct model *from, struct kernel_joined *ret)
{
	CLEANUP(joining_release) struct joining j = { .m = m, .from = from };

	*ret = (struct kernel_joined){ .kernels = 0 };
	if (from->inputs.nr == 0)
		return;
	j.texts = intern_new();
	targets_take(&j);
	kernels_join(&j, ret);
	input_take(&j, &from->inputs.v[0], ret);
}
