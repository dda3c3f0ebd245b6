/* docs/tables.md states the columns of every table that an analysis makes, in order, with units. */
#include "test.h"

#include "profrig/base/text.h"
#include "profrig/stats/analysis.h"

/* The cell behind the bar at s without its blanks. Owned; *ret_next is the next bar. */
static char *cell_of(const char *s, const char **ret_next)
{
	size_t n = strcspn(s + 1, "|\n"), k = 0;
	char *cell = xstrndup(s + 1, n);

	for (size_t i = 0; i < n; i++)
		if (cell[i] != ' ')
			cell[k++] = cell[i];
	cell[k] = '\0';
	*ret_next = s + 1 + n;
	return cell;
}

/* Compares the columns of one row of a table in the document; returns how many it has. */
static size_t row_compare(const char *s, const struct table_form *f, size_t at)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *cell = cell_of(s, &s);
	CLEANUP(xfreep) char *units = cell_of(s, &s);

	strvec_split(&names, cell, ",");
	for (size_t i = 0; i < names.nr; i++, at++) {
		const char *unit = table_field_unit(names.v[i]);

		if (at >= f->nr || strcmp(f->fields[at].name, names.v[i]) != 0)
			fail_msg("docs/tables.md: %s: column %zu is '%s', of the table it is '%s'",
				 f->name, at + 1, names.v[i], at < f->nr ? f->fields[at].name : "");
		if (unit && !text_in_list(units, ',', unit))
			fail_msg("docs/tables.md: %s: %s is in %s and not in '%s'", f->name,
				 names.v[i], unit, units);
	}
	return names.nr;
}

static void table_compare(const char *doc, const struct table_form *f)
{
	const char *s = strstr(doc, textf("\n## %s\n", f->name));
	size_t nr = 0;

	s = s ? strstr(s, "\n| column |") : NULL;
	if (!s)
		fail_msg("docs/tables.md: no '## %s' with a table '| column | unit | |'", f->name);
	s = strstr(s, "---|\n") + strlen("---|\n");
	for (; *s == '|'; s = strchr(s, '\n') + 1)
		nr += row_compare(s, f, nr);
	if (nr != f->nr)
		fail_msg("docs/tables.md: %s has %zu columns, the table %zu", f->name, nr, f->nr);
}

TEST(test_columns_are_documented)
{
	CLEANUP(xfreep) char *doc = NULL;
	size_t n, tables = 0;

	assert_int_equal(fs_read("docs/tables.md", 1 << 20, &doc, &n, NULL), 0);
	for (size_t i = 0; analyses[i]; i++)
		for (size_t k = 0; analyses[i]->tables[k]; k++, tables++)
			table_compare(doc, analyses[i]->tables[k]);
	assert_true(tables > 0);
}
