#include "profrig/bench/bench_tuning.h"
#include "tuning_form.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define HIPBLASLT "hipBLASLt "
#define ROCBLAS "rocBLAS "

static const struct tuning_form *const forms[] = {
	[BENCH_TUNABLEOP] = &tuning_tunableop, [BENCH_HIPBLASLT_TUNING] = &tuning_hipblaslt
};

/* ---- builds ---- */

bool bench_revision_is_one(const char *text)
{
	size_t n = strnlen(text, BENCH_REVISION_MAX + 1);

	if (n == 0 || n > BENCH_REVISION_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._+-", text[i]))
			return false;
	return true;
}

/* "a9c5cc7" of "hipBLASLt 0.6.0-a9c5cc7" and of "600-a9c5cc7"; "" there is none. */
static const char *revision_of(const char *version)
{
	const char *dash = strchr(version, '-');

	return dash && bench_revision_is_one(dash + 1) ? dash + 1 : "";
}

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static const char *back_end_of(const struct bench_tables *t, const struct bench_table_row *r)
{
	return t->sides.v[r->side].back_end;
}

/* Back ends may be paths, so libraries are known by the versions that they tell. */
static bool is_hipblaslt(const struct bench_tables *t, const struct bench_table_row *r)
{
	return begins(r->version, HIPBLASLT) ||
	       !strcmp(fs_base(back_end_of(t, r)), "hipblaslt-bench");
}

static bool is_rocblas(const struct bench_tables *t, const struct bench_table_row *r)
{
	return begins(r->version, ROCBLAS) || !strcmp(fs_base(back_end_of(t, r)), "rocblas-bench");
}

/* ---- choosing ---- */

struct choice {
	const struct bench_table_row *first, *best; /* best NULL: no row that counts */
};

struct choosing {
	const struct bench_tables *t;
	const struct tuning_form *form;
	struct bench_tuning *to;
	VEC(struct choice) keys;
	struct u64map key_at, line_at;
	VEC(const struct bench_table_row *) builds; /* a row of each */
};

static void leave(struct choosing *c, const struct bench_table_row *r, const char *reason)
{
	struct bench_tuning_left *l = VEC_FIND(&c->to->left, e, !strcmp(e->reason, reason));

	if (!l) {
		VEC_PUSH(&c->to->left, ((struct bench_tuning_left){ .reason = reason }));
		l = &c->to->left.v[c->to->left.nr - 1];
	}
	l->keys++;
	if (__builtin_add_overflow(l->calls, r->calls, &l->calls))
		l->calls = UINT64_MAX;
}

/* How near a cache mode is to what a model's calls find. */
static int nearness(const struct bench_table_row *r)
{
	return r->cache == BENCH_WEIGHTS_COLD ? 2 : r->cache == BENCH_COLD ? 1 : 0;
}

static bool is_better(const struct bench_table_row *a, const struct bench_table_row *b)
{
	if (nearness(a) != nearness(b))
		return nearness(a) > nearness(b);
	if (a->mean < b->mean || a->mean > b->mean)
		return a->mean < b->mean;
	return a->solution != BENCH_SOLUTION_NONE && b->solution == BENCH_SOLUTION_NONE;
}

static void row_take(struct choosing *c, const struct bench_table_row *r)
{
	uint32_t *at = u64map_at(&c->key_at, r->id);
	struct choice *k;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->keys.nr;
		VEC_PUSH(&c->keys, ((struct choice){ r, NULL }));
	}
	k = &c->keys.v[*at];
	if (r->status != BENCH_OK ||
	    !(is_hipblaslt(c->t, r) || (c->form->rocblas && is_rocblas(c->t, r))))
		return;
	if (!k->best || is_better(r, k->best))
		k->best = r;
}

static double time_of(const struct bench_table_row *r)
{
	return (double)r->calls * r->mean;
}

/* It becomes a line, or is left out for a heavier key in its place. */
static void line_offer(struct choosing *c, const struct bench_table_row *r, const char *place)
{
	static const char heavier[] = "another key takes more time in the same line";
	str_id id = intern_puts(c->to->places, place);
	uint32_t *at = u64map_at(&c->line_at, id);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->to->lines.nr;
		VEC_PUSH(&c->to->lines,
			 ((struct bench_tuning_line){ r, intern_str(c->to->places, id) }));
		return;
	}
	struct bench_tuning_line *line = &c->to->lines.v[*at];

	if (time_of(r) > time_of(line->row)) {
		leave(c, line->row, heavier);
		line->row = r;
	} else {
		leave(c, r, heavier);
	}
}

static void key_place(struct choosing *c, const struct choice *k)
{
	CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT;
	struct vendor_request q;
	const char *why;

	if (vendor_request_read(k->first->key, &q, NULL) < 0) {
		leave(c, k->first, "their keys are damaged or have words without a place");
		return;
	}
	why = c->form->place(&q, &place);
	if (why)
		leave(c, k->first, why);
	else if (!k->best)
		leave(c, k->first, c->form->no_time);
	else
		line_offer(c, k->best, place.buf);
}

/* ---- numbers ---- */

static const char *numberless(const struct choosing *c, const struct bench_table_row *r)
{
	if (!is_hipblaslt(c->t, r))
		return "rocBLAS is fastest, by its own choice, which has no number";
	if (r->solution == BENCH_SOLUTION_NONE)
		return "hipBLASLt is fastest in rows without a number";
	return r->solution < c->form->least ? "older hipBLASLt takes no number 0" : NULL;
}

/* The same names mean the same; names of programs and of libraries cannot be compared. */
static bool builds_differ(const struct bench_tables *t, const struct bench_table_row *a,
			  const struct bench_table_row *b)
{
	const char *ra = revision_of(a->version), *rb = revision_of(b->version);
	bool alike = begins(a->version, HIPBLASLT) == begins(b->version, HIPBLASLT);

	if (*ra && *rb && strcmp(ra, rb) != 0)
		return true;
	return (alike || !strcmp(back_end_of(t, a), back_end_of(t, b))) &&
	       (strcmp(a->version, b->version) != 0 || strcmp(a->device, b->device) != 0);
}

static bool is_build(const struct bench_tables *t, const struct bench_table_row *a,
		     const struct bench_table_row *b)
{
	return !strcmp(back_end_of(t, a), back_end_of(t, b)) && !strcmp(a->version, b->version) &&
	       !strcmp(a->device, b->device);
}

static int build_note(struct choosing *c, const struct bench_table_row *r, struct err *err)
{
	const char *revision = revision_of(r->version);

	if (VEC_FIND(&c->builds, e, is_build(c->t, *e, r)))
		return 0;
	for (size_t i = 0; i < c->builds.nr; i++) {
		const struct bench_table_row *b = c->builds.v[i];

		if (builds_differ(c->t, b, r))
			return err_set(err, EINVAL,
				       "solutions of '%.60s' on '%.60s' and of '%.60s' on '%.60s': "
				       "their numbers cannot stand in one table",
				       b->version, b->device, r->version, r->device);
	}
	VEC_PUSH(&c->builds, r);
	if (!*c->to->revision)
		snprintf(c->to->revision, sizeof(c->to->revision), "%s", revision);
	if (!*c->to->version && *revision && begins(r->version, HIPBLASLT))
		snprintf(c->to->version, sizeof(c->to->version), "%s",
			 r->version + strlen(HIPBLASLT));
	return 0;
}

static int lines_keep(struct choosing *c, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->to->lines.nr; i++) {
		struct bench_tuning_line line = c->to->lines.v[i];
		const char *why = numberless(c, line.row);
		int r = why ? 0 : build_note(c, line.row, err);

		if (r < 0)
			return r;
		if (why)
			leave(c, line.row, why);
		else
			c->to->lines.v[kept++] = line;
	}
	c->to->lines.nr = kept;
	return 0;
}

int bench_tuning_choose(const struct bench_tables *t, enum bench_tuning_form form,
			struct bench_tuning *ret, struct err *err)
{
	struct choosing c = { .t = t,
			      .form = forms[form],
			      .to = ret,
			      .keys = VEC_INIT,
			      .key_at = U64MAP_INIT,
			      .line_at = U64MAP_INIT,
			      .builds = VEC_INIT };
	int r;

	*ret = (struct bench_tuning)BENCH_TUNING_INIT;
	ret->form = form;
	ret->places = intern_new();
	for (size_t i = 0; i < t->rows.nr; i++)
		if (begins(t->rows.v[i].key, "gemm ") && bench_tables_counts(t, &t->rows.v[i]))
			row_take(&c, &t->rows.v[i]);
	for (size_t i = 0; i < c.keys.nr; i++)
		key_place(&c, &c.keys.v[i]);
	r = lines_keep(&c, err);
	VEC_RELEASE(&c.keys);
	VEC_RELEASE(&c.builds);
	u64map_release(&c.key_at);
	u64map_release(&c.line_at);
	if (r < 0)
		bench_tuning_release(ret);
	return r;
}

void bench_tuning_release(struct bench_tuning *u)
{
	VEC_RELEASE(&u->lines);
	VEC_RELEASE(&u->left);
	intern_free(STEAL(u->places));
}

void bench_tuning_write(const struct bench_tuning *u, const struct bench_validators *validators,
			const char *revision, FILE *f)
{
	if (u->form == BENCH_HIPBLASLT_TUNING)
		fprintf(f, "Git Version: %s\n", revision);
	else if (!validators->v.nr && *u->version)
		fprintf(f, "Validator,HIPBLASLT_VERSION,%s\n", u->version);
	for (size_t i = 0; u->form == BENCH_TUNABLEOP && i < validators->v.nr; i++)
		fprintf(f, "Validator,%s,%s\n", validators->v.v[i].name, validators->v.v[i].value);
	for (size_t i = 0; i < u->lines.nr; i++)
		forms[u->form]->line(&u->lines.v[i], f);
}
