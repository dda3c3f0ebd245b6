#include "hlo_private.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define FRAMES_MAX 256

struct visit {
	const struct hlo_programs *p;
	const struct hlo_module *m;
	struct intern *to;
	struct u64map seen;
	VEC(uint32_t) computations; /* to be looked into */
	size_t instructions;
	struct strbuf text;
};

/* A frame's text: what divides frames is no part of it. */
static void frame_add(struct strbuf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addch(b, s[i] == ';' ? ':' : s[i]);
}

static void frame_begin(struct strbuf *b)
{
	if (b->len > 0)
		strbuf_addch(b, ';');
}

static void place_add(struct strbuf *b, const char *file, int64_t line)
{
	frame_add(b, file, strlen(file));
	if (line != HLO_ABSENT)
		strbuf_addf(b, ":%" PRId64, line);
}

/* The outermost first: a frame names the one that called it. */
static void frames_add(struct visit *v, uint32_t frame)
{
	const struct hlo_frame *up[FRAMES_MAX];
	size_t nr = 0;

	while (frame > 0 && frame <= v->m->frames.nr && nr < FRAMES_MAX) {
		up[nr] = &v->m->frames.v[frame - 1];
		frame = up[nr++]->parent;
	}
	while (nr > 0) {
		const struct hlo_frame *f = up[--nr];
		const char *function = intern_str(v->p->texts, f->function);
		const char *file = intern_str(v->p->texts, f->file);

		frame_begin(&v->text);
		frame_add(&v->text, function, strlen(function));
		if (*function && *file)
			strbuf_addstr(&v->text, " (");
		place_add(&v->text, file, f->line);
		if (*function && *file)
			strbuf_addch(&v->text, ')');
	}
}

/* "jit(step)/while/body/dot": the parts between slashes that lie outside of parentheses. */
static void op_name_add(struct strbuf *b, const char *s)
{
	int inside = 0;

	for (size_t n = 0; *s; s += n + (s[n] != 0)) {
		for (n = 0; s[n] && (s[n] != '/' || inside > 0); n++)
			inside += (s[n] == '(') - (s[n] == ')');
		inside = 0;
		if (n == 0)
			continue;
		frame_begin(b);
		frame_add(b, s, n);
	}
}

static void source_take(struct visit *v, const struct hlo_instruction *i, struct hlo_paths *ret)
{
	strbuf_clear(&v->text);
	if (i->frame)
		frames_add(v, i->frame);
	if (v->text.len == 0 && i->op_name)
		op_name_add(&v->text, intern_str(v->p->texts, i->op_name));
	if (v->text.len == 0 && i->file)
		place_add(&v->text, intern_str(v->p->texts, i->file), i->line);
	if (v->text.len > 0)
		VEC_PUSH(&ret->v, intern_put(v->to, v->text.buf, v->text.len));
}

static void instruction_visit(struct visit *v, const struct hlo_instruction *i,
			      struct hlo_paths *ret)
{
	v->instructions++;
	source_take(v, i, ret);
	for (uint32_t k = i->calls; k < i->calls + i->nr_calls; k++) {
		uint32_t c = v->m->calls.v[k], *seen = u64map_at(&v->seen, c);

		if (*seen == U64MAP_NONE)
			VEC_PUSH(&v->computations, c);
		*seen = 0;
	}
}

static void sources_of(struct visit *v, const struct hlo_instruction *i, struct hlo_paths *ret)
{
	VEC_CLEAR(&v->computations);
	v->instructions = 0;
	instruction_visit(v, i, ret);
	for (size_t k = 0; k < v->computations.nr; k++) {
		const struct hlo_computation *c = &v->m->computations.v[v->computations.v[k]];

		for (uint32_t n = 0; n < c->nr && v->instructions < HLO_SOURCES_MAX; n++)
			instruction_visit(v, &v->m->v.v[c->first + n], ret);
	}
	u64map_release(&v->seen);
	v->seen = (struct u64map)U64MAP_INIT;
}

static bool paths_equal(const struct hlo_paths *a, const struct hlo_paths *b)
{
	return a->v.nr == b->v.nr &&
	       (a->v.nr == 0 || memcmp(a->v.v, b->v.v, a->v.nr * sizeof(*a->v.v)) == 0);
}

/* Whether a dump has the program id: then only those that do are asked. */
static bool id_known(const struct hlo_programs *p, str_id module, int64_t id)
{
	return id != HLO_ABSENT && VEC_FIND(&p->v, m, m->name == module && m->id == id) != NULL;
}

enum hlo_source hlo_sources(const struct hlo_programs *p, const struct hlo_op *of,
			    struct intern *to, struct hlo_paths *ret)
{
	str_id module = intern_find(p->texts, of->module, strlen(of->module));
	str_id op = intern_find(p->texts, of->op, strlen(of->op));
	struct visit v = { .p = p, .to = to, .text = STRBUF_INIT };
	struct hlo_paths other = { VEC_INIT };
	bool by_id = id_known(p, module, of->id), differs = false, found = false;

	VEC_CLEAR(&ret->v);
	for (size_t i = 0; module != STR_NONE && op != STR_NONE && i < p->v.nr; i++) {
		const struct hlo_instruction *at;

		v.m = &p->v.v[i];
		if (v.m->name != module || (by_id && v.m->id != of->id))
			continue;
		at = hlo_instruction(v.m, op);
		if (!at)
			continue;
		VEC_CLEAR(&other.v);
		sources_of(&v, at, found ? &other : ret);
		differs |= found && !paths_equal(ret, &other);
		found = true;
	}
	strbuf_release(&v.text);
	VEC_RELEASE(&v.computations);
	VEC_RELEASE(&other.v);
	return differs ? HLO_SOURCE_DIFFERS : ret->v.nr > 0 ? HLO_SOURCE_KNOWN : HLO_SOURCE_UNKNOWN;
}
