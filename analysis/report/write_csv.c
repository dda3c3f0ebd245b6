#include "clean_text.h"
#include "out_file.h"
#include "writers_private.h"

#include <errno.h>

#include "profrig/base/xalloc.h"

static int write_table(const struct report *r, const struct table *t, struct err *err)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(table_freep) struct table *clean = NULL;
	CLEANUP(xfreep) char *name = xasprintf("tables/%s.csv", table_name(t));
	int e;

	if (!report_table_name_ok(table_name(t)))
		return err_set(err, EINVAL, "'%s' is no name for a table", table_name(t));
	e = out_file_open(r->dir, name, &o, err);
	if (e < 0)
		return e;
	clean = table_clean(t);
	table_write_csv(clean ? clean : t, o.f);
	return out_file_commit(&o, err);
}

static int write_csv(const struct report *r, struct err *err)
{
	/* Tables and their entries in analysis.json belong together. */
	int w = report_write_analysis(r, err);

	if (w < 0)
		return w;
	for (size_t i = 0; i < r->tables.tables.nr; i++) {
		int e = write_table(r, r->tables.tables.v[i], err);

		if (e < 0)
			return err_wrap(err, e, "table '%s'", table_name(r->tables.tables.v[i]));
	}
	return 0;
}

const struct writer writer_csv = {
	.name = "csv",
	.about = "one CSV file per table",
	.write = write_csv,
	.shown = "tables",
};
