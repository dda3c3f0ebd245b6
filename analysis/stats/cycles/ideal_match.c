#include "ideal_match.h"

#include "profrig/base/xalloc.h"

struct likeness {
	double confidence;
	int64_t cycles; /* that the table expects of the job */
};

/* Kernels that go on in the table, or begin it again with the job's first one. */
static size_t in_order(const size_t *row, size_t n)
{
	size_t nr = n > 0;

	for (size_t i = 1; i < n; i++)
		nr += row[i] >= row[i - 1] || row[i] == row[0];
	return nr;
}

static struct likeness likeness_of(const struct ideal_table *t, const char *const *kernels,
				   size_t n)
{
	CLEANUP(xfreep) bool *used = xcalloc(t->rows.nr + 1, sizeof(*used));
	size_t row[IDEAL_ORDER], rows = 0, found = 0, distinct = 0;
	size_t first = n < IDEAL_ORDER ? n : IDEAL_ORDER;
	struct likeness l = { .confidence = 0 };

	for (size_t i = 0; i < n; i++) {
		const struct ideal_row *r = ideal_row_find(t, kernels[i]);
		size_t at;

		if (!r)
			continue;
		at = (size_t)(r - t->rows.v);
		if (i < first)
			row[rows++] = at;
		found++;
		distinct += !used[at];
		used[at] = true;
		l.cycles += r->cycles;
	}
	if (n > 0 && t->rows.nr > 0)
		l.confidence = ((double)in_order(row, rows) / (double)first +
				(double)found / (double)n + (double)distinct / (double)t->rows.nr) /
			       3;
	return l;
}

struct ideal_match ideal_match(const struct ideal_cycles *ic, const char *const *kernels, size_t n)
{
	CLEANUP(xfreep) struct likeness *l = xcalloc(ic->tables.nr + 1, sizeof(*l));
	struct ideal_match m = { .table = NULL };
	size_t best = 0;

	for (size_t i = 0; i < ic->tables.nr; i++) {
		l[i] = likeness_of(&ic->tables.v[i], kernels, n);
		if (l[i].confidence > l[best].confidence)
			best = i;
	}
	if (ic->tables.nr == 0)
		return m;
	m.table = &ic->tables.v[best];
	m.confidence = l[best].confidence;
	m.uncertain = m.confidence < IDEAL_SURE;
	for (size_t i = 0; i < ic->tables.nr; i++)
		if (i != best && l[i].confidence > m.confidence - IDEAL_TIE &&
		    (l[i].cycles != l[best].cycles || ic->tables.v[i].phase != m.table->phase))
			m.uncertain = true;
	return m;
}
