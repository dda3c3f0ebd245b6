#include "iterations_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/regex.h"
#include "profrig/base/strbuf.h"
#include "profrig/names/serving_step.h"

/* PyTorch's profiler, and what people write into NVTX and roctx. */
#define MARKER_PATTERN \
	"^(?:ProfilerStep#[0-9]+|(?i:(?:[a-z]+[ _-]?)?(?:iteration|iter|step|batch))" \
	"[ _#:=-]*[0-9]+)$"
#define PROFILER_STEP "ProfilerStep##" /* the # of the name, then the number */
/* Steps of a server are one family: their words differ by what a step does. No folded name has a
 * digit. */
#define SERVING "1 serving"
/* Executions of a module of a compiled program, by its name. */
#define MODULE "2 "

struct families {
	const struct model *m;
	struct regex *re;
	struct u64map of_name; /* str_id → family + 1, 0: the name is no marker */
	struct intern *folded; /* names with numbers folded to '#'; the id is the family */
	bool users;            /* the pattern is the user's */
	bool phases;           /* the pattern names phases, which are of one family, too */
	uint64_t given_up;
};

static bool is_serving(const struct families *f, const char *name)
{
	struct serving_step step;

	return f->phases || serving_step(name, &step);
}

static str_id name_folded(struct families *f, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (is_serving(f, name))
		return intern_put(f->folded, SERVING, strlen(SERVING));
	for (const char *p = name; *p; p++)
		if (*p < '0' || *p > '9')
			strbuf_addch(&sb, *p);
		else if (p == name || p[-1] < '0' || p[-1] > '9')
			strbuf_addch(&sb, '#');
	return intern_put(f->folded, sb.buf, sb.len);
}

/* 1: yes, 0: no, -EOVERFLOW: the pattern gave up. */
static int is_marker(const struct families *f, const char *name)
{
	size_t from, to;
	int r = regex_find(f->re, name, strlen(name), 0, &from, &to);

	return r == 0 && !f->users ? is_serving(f, name) : r;
}

static str_id family_of(struct families *f, str_id name)
{
	uint32_t *at = u64map_at(&f->of_name, name);
	const char *text = model_str(f->m, name);
	int r;

	if (*at != U64MAP_NONE)
		return *at ? *at - 1 : STR_NONE;
	r = is_marker(f, text);
	f->given_up += r == -EOVERFLOW;
	*at = r == 1 ? name_folded(f, text) + 1 : 0;
	return *at ? *at - 1 : STR_NONE;
}

static bool may_mark(const struct model *m, size_t i)
{
	return m->spans.kind[i] == SPAN_HOST || m->spans.kind[i] == SPAN_ANNOTATION;
}

struct family_count {
	str_id family;
	uint64_t nr;
	double total; /* ns */
};

#define FAMILY_MODULE 3

/* ProfilerStep before steps of a server before what programs name before modules. */
static int family_rank(const struct families *f, str_id family)
{
	const char *name = intern_str(f->folded, family);

	return strcmp(name, PROFILER_STEP) == 0             ? 0
	       : strcmp(name, SERVING) == 0                 ? 1
	       : strncmp(name, MODULE, strlen(MODULE)) == 0 ? FAMILY_MODULE
							    : 2;
}

static bool family_better(const struct families *f, const struct family_count *a,
			  const struct family_count *b)
{
	int rank_a = family_rank(f, a->family), rank_b = family_rank(f, b->family);

	if (rank_a != rank_b)
		return rank_a < rank_b;
	if (rank_a != FAMILY_MODULE)
		return a->nr > b->nr;
	/* many are small and run often; what runs once repeats nothing */
	return (a->nr > 1) != (b->nr > 1) ? a->nr > 1 : a->total > b->total;
}

/* The family of a thread's iterations; STR_NONE: it has none. Counts come in order of time. */
static str_id family_choose(struct families *f, const struct track *t)
{
	VEC(struct family_count) counts = VEC_INIT;
	struct u64map at = U64MAP_INIT;
	str_id ret;
	size_t best = 0;

	for (size_t i = t->first_span; i < t->first_span + t->spans; i++) {
		str_id family = may_mark(f->m, i) ? family_of(f, f->m->spans.name[i]) : STR_NONE;
		uint32_t *n;

		if (family == STR_NONE)
			continue;
		n = u64map_at(&at, family);
		if (*n == U64MAP_NONE) {
			*n = (uint32_t)counts.nr;
			VEC_PUSH(&counts, ((struct family_count){ family, 0, 0 }));
		}
		counts.v[*n].nr++;
		counts.v[*n].total += (double)(f->m->spans.end_ns[i] - f->m->spans.start_ns[i]);
	}
	for (size_t i = 1; i < counts.nr; i++)
		if (family_better(f, &counts.v[i], &counts.v[best]))
			best = i;
	ret = counts.nr ? counts.v[best].family : STR_NONE;
	if (counts.nr && counts.v[best].nr < 2 && family_rank(f, ret) == FAMILY_MODULE)
		ret = STR_NONE;
	VEC_RELEASE(&counts);
	u64map_release(&at);
	return ret;
}

static void track_markers(struct iterations *it, struct families *f, track_id id)
{
	const struct model *m = f->m;
	const struct track *t = &m->tracks.v[id];
	str_id family = family_choose(f, t);
	struct iteration_group g = { .first = it->v.nr };
	int64_t end_ns = INT64_MIN;

	if (family == STR_NONE)
		return;
	for (size_t i = t->first_span; i < t->first_span + t->spans; i++) {
		if (!may_mark(m, i) || family_of(f, m->spans.name[i]) != family)
			continue;
		if (m->spans.start_ns[i] < end_ns) {
			it->nested++;
			continue;
		}
		end_ns = m->spans.end_ns[i];
		VEC_PUSH(&it->v, ((struct iteration){ .track = id,
						      .device = U64MAP_NONE,
						      .marker = i,
						      .start_ns = m->spans.start_ns[i],
						      .end_ns = end_ns }));
	}
	g.nr = it->v.nr - g.first;
	VEC_PUSH(&it->groups, g);
}

#define FEW 64 /* a look at every string has to cost far less than one at every span */

/* Calls of a traced library are many, their names are few, and none of them is a marker. */
static bool some_may_mark(const struct families *f)
{
	size_t strings = intern_count(f->m->strings);
	bool may = strings > f->m->spans.nr / FEW;

	for (str_id s = 0; !may && s < strings; s++)
		may = is_marker(f, model_str(f->m, s)) != 0;
	return may;
}

/* Names of the ranges that launch executions of modules. */
static void modules_mark(struct families *f)
{
	const struct model *m = f->m;

	for (size_t i = 0; !f->users && i < m->facts.programs.nr; i++) {
		const struct program_facts *p = &m->facts.programs.v[i];
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		uint32_t *at;

		if (p->kind != PROGRAM_MODULE || p->module == STR_NONE)
			continue;
		at = u64map_at(&f->of_name, m->spans.name[p->span]);
		if (*at != U64MAP_NONE)
			continue;
		strbuf_addf(&sb, MODULE "%s", model_str(m, p->module));
		*at = intern_put(f->folded, sb.buf, sb.len) + 1;
	}
}

int markers_find(struct iterations *it, const struct model *m, const char *pattern, struct err *err)
{
	struct families f = { .m = m, .users = pattern != NULL };
	int r = regex_new(pattern ? pattern : MARKER_PATTERN, 0, &f.re, err);
	bool may;

	if (r < 0)
		return r;
	f.folded = intern_new();
	f.phases = regex_has_group(f.re, "phase");
	modules_mark(&f);
	may = f.of_name.nr > 0 || some_may_mark(&f);
	for (track_id t = 0; may && t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_THREAD && m->tracks.v[t].spans)
			track_markers(it, &f, t);
	it->given_up = f.given_up;
	u64map_release(&f.of_name);
	intern_free(f.folded);
	regex_free(f.re);
	return 0;
}
