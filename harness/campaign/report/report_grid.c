#include "report_grid.h"

#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

char *grid_value_text(const json_t *v)
{
	char *text;

	if (!v)
		return xstrdup(GRID_NO_VALUE);
	if (json_is_string(v))
		return xstrdup(json_string_value(v));
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	return text ? text : xstrdup("");
}

/* ---- axes ---- */

static void axis_release(struct grid_axis *a)
{
	free(a->name);
	strvec_release(&a->values);
	free(a->of_cell);
}

static struct grid_axis axis_make(const struct campaign_report *r, const char *path)
{
	struct grid_axis a = { .name = xstrdup(path),
			       .values = STRVEC_INIT,
			       .of_cell = xcalloc(r->cells.nr + 1, sizeof(*a.of_cell)) };
	struct intern *seen = intern_new();

	for (size_t i = 0; i < r->cells.nr; i++) {
		CLEANUP(xfreep)
		char *text = grid_value_text(json_object_get(r->cells.v[i].axes, path));
		/* an empty text has the id 0, so each has a blank in front */
		CLEANUP(xfreep) char *known = xasprintf(" %s", text);
		str_id id = intern_puts(seen, known);

		if (id > a.values.nr)
			strvec_push(&a.values, text);
		a.of_cell[i] = id - 1;
	}
	intern_free(seen);
	return a;
}

/* Whether each value of one is a value of the other, and the other way round, in all cells. */
static bool axes_go_together(const struct grid_axis *a, const struct grid_axis *b, size_t cells)
{
	bool same = a->values.nr == b->values.nr;

	/* both are numbered by their first cells, so equal partitions have equal numbers */
	for (size_t i = 0; same && i < cells; i++)
		same = a->of_cell[i] == b->of_cell[i];
	return same;
}

static void axis_add(struct report_grid *g, struct grid_axis *a, size_t cells)
{
	struct grid_axis *like;

	if (a->values.nr < 2) {
		if (a->values.nr)
			strvec_pushf(&g->same, "%s=%s", a->name, a->values.v[0]);
		axis_release(a);
		return;
	}
	/* of a zip the first one names all, as in labels */
	like = VEC_FIND(&g->axes, e, axes_go_together(e, a, cells));
	if (like)
		axis_release(a);
	else
		VEC_PUSH(&g->axes, *a);
}

static void axes_find(const struct campaign_report *r, struct report_grid *g)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	const char *key;
	json_t *v;

	for (size_t i = 0; i < r->cells.nr; i++)
		json_object_foreach(r->cells.v[i].axes, key, v) if (!strvec_has(&paths, key))
			strvec_push(&paths, key);
	for (size_t i = 0; i < paths.nr; i++) {
		struct grid_axis a = axis_make(r, paths.v[i]);

		axis_add(g, &a, r->cells.nr);
	}
	g->column = g->axes.nr;
	g->columns = 1;
	for (size_t i = 0; i < g->axes.nr; i++)
		if (g->axes.v[i].values.nr <= GRID_COLUMNS_MAX &&
		    g->axes.v[i].values.nr > g->columns) {
			g->column = i;
			g->columns = g->axes.v[i].values.nr;
		}
}

/* ---- rows ---- */

/* The values of all axes but the column's, as a text that no other row has. */
static void row_key(const struct report_grid *g, const char *model, size_t cell, struct strbuf *sb)
{
	strbuf_clear(sb);
	for (size_t i = 0; i < g->axes.nr; i++)
		if (i != g->column)
			strbuf_addf(sb, "%u,", g->axes.v[i].of_cell[cell]);
	strbuf_addf(sb, "%s", model);
}

static struct grid_facet *facet_of(struct report_grid *g, const char *model)
{
	struct grid_facet *f = VEC_FIND(&g->facets, e, !strcmp(e->model, model));

	if (f)
		return f;
	VEC_PUSH(&g->facets, ((struct grid_facet){ .model = model }));
	return &g->facets.v[g->facets.nr - 1];
}

static void place_take(struct report_grid *g, struct grid_facet *f, size_t row, uint32_t cell)
{
	size_t column = g->column < g->axes.nr ? g->axes.v[g->column].of_cell[cell] : 0;
	uint32_t *at = &f->at[row * g->columns + column];

	while (*at != REPORT_NONE)
		at = &g->next[*at];
	*at = cell;
}

static void rows_find(const struct campaign_report *r, struct report_grid *g)
{
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT;
	struct intern *keys = intern_new();
	uint32_t *row_of = xcalloc(r->cells.nr + 1, sizeof(*row_of));
	VEC(uint32_t) rows = VEC_INIT; /* of a key: its row in its facet */

	for (uint32_t i = 0; i < r->cells.nr; i++) {
		struct grid_facet *f = facet_of(g, r->cells.v[i].model);
		str_id id;

		row_key(g, r->cells.v[i].model, i, &key);
		strbuf_addstr(&key, ".");
		id = intern_put(keys, key.buf, key.len);
		if (id > rows.nr) {
			VEC_PUSH(&rows, (uint32_t)f->rows.nr);
			VEC_PUSH(&f->rows, ((struct grid_row){ .first = i }));
		}
		row_of[i] = rows.v[id - 1];
		g->next[i] = REPORT_NONE;
	}
	for (size_t i = 0; i < g->facets.nr; i++) {
		struct grid_facet *f = &g->facets.v[i];

		f->at = xcalloc(f->rows.nr * g->columns + 1, sizeof(*f->at));
		for (size_t k = 0; k < f->rows.nr * g->columns; k++)
			f->at[k] = REPORT_NONE;
	}
	for (uint32_t i = 0; i < r->cells.nr; i++)
		place_take(g, facet_of(g, r->cells.v[i].model), row_of[i], i);
	VEC_RELEASE(&rows);
	free(row_of);
	intern_free(keys);
}

void report_grid_make(const struct campaign_report *r, struct report_grid *ret)
{
	*ret = (struct report_grid){ .same = STRVEC_INIT,
				     .next = xcalloc(r->cells.nr + 1, sizeof(*ret->next)) };
	axes_find(r, ret);
	rows_find(r, ret);
}

void report_grid_release(struct report_grid *g)
{
	for (size_t i = 0; i < g->axes.nr; i++)
		axis_release(&g->axes.v[i]);
	for (size_t i = 0; i < g->facets.nr; i++) {
		VEC_RELEASE(&g->facets.v[i].rows);
		free(g->facets.v[i].at);
	}
	VEC_RELEASE(&g->axes);
	VEC_RELEASE(&g->facets);
	strvec_release(&g->same);
	free(g->next);
}
