/*
 * Costs of the operations of compiled programs, for XLA's latency-hiding scheduler: a text of its
 * ProfiledInstructionsProto, one operation a line,
 *
 *	costs { name: "all-reduce-start.1" cost_us: 40 }
 *
 * read by --xla_gpu_pgle_profile_file_or_directory_path. The cost is program_ops.cost_ns: the least
 * time of an operation that computes, the greatest of one that communicates. The file knows no
 * modules: of a name that several have it has the cost in the module where it took most time.
 */
#include "out_file.h"
#include "writers_private.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/num.h"

#define PGLE_FILE "pgle.pbtxt"

struct pgle {
	const struct table *t;
	size_t op, cost, total;
	struct intern *names;
	VEC(size_t) rows; /* of each name */
};

static int columns_find(struct pgle *p, struct err *err)
{
	static const char *const names[] = { "op", "cost_ns", "total_ns" };
	size_t *const to[] = { &p->op, &p->cost, &p->total };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		int c = table_find_col(p->t, names[i]);
		enum table_type type = i == 0 ? TABLE_STR : TABLE_I64;

		if (c < 0 || table_column(p->t, (size_t)c)->type != type)
			return err_set(err, EINVAL, "table '%s' has no column '%s' of its kind",
				       table_name(p->t), names[i]);
		*to[i] = (size_t)c;
	}
	return 0;
}

static void rows_choose(struct pgle *p)
{
	for (size_t row = 0; row < table_rows(p->t); row++) {
		const char *name = table_get_str(p->t, row, p->op);
		size_t at;

		if (!*name)
			continue;
		at = intern_puts(p->names, name) - 1; /* id 0 is the empty text */
		if (at == p->rows.nr)
			VEC_PUSH(&p->rows, row);
		else if (table_get_i64(p->t, row, p->total) >
			 table_get_i64(p->t, p->rows.v[at], p->total))
			p->rows.v[at] = row;
	}
}

static void text_put(FILE *f, const char *s)
{
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '"' || ch == '\\')
			fprintf(f, "\\%c", ch);
		else if (ch < 0x20 || ch >= 0x7f)
			fprintf(f, "\\%03o", ch);
		else
			putc(ch, f);
	}
}

static int rows_write(const struct pgle *p, const struct report *r, struct err *err)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	int e = out_file_open(r->dir, PGLE_FILE, &o, err);

	if (e < 0)
		return e;
	for (size_t i = 0; i < p->rows.nr; i++) {
		size_t row = p->rows.v[i];
		char us[32];

		num_fmt_f64(us, (double)table_get_i64(p->t, row, p->cost) / 1e3);
		fputs("costs { name: \"", o.f);
		text_put(o.f, table_get_str(p->t, row, p->op));
		fprintf(o.f, "\" cost_us: %s }\n", us);
	}
	return out_file_commit(&o, err);
}

static int write_pgle(const struct report *r, struct err *err)
{
	struct pgle p = { .t = table_set_find(&r->tables, "program_ops") };
	CLEANUP(xfreep) char *path = fs_join(r->dir, PGLE_FILE);
	int e = p.t ? columns_find(&p, err) : 0;

	if (e < 0)
		return e;
	if (!p.t || table_rows(p.t) == 0) {
		door_unlink(path); /* of an earlier analysis */
		return 0;
	}
	p.names = intern_new();
	rows_choose(&p);
	e = rows_write(&p, r, err);
	intern_free(p.names);
	VEC_RELEASE(&p.rows);
	return e;
}

const struct writer writer_pgle = {
	.name = "pgle",
	.about = "costs of the operations of compiled programs, for XLA's scheduler",
	.write = write_pgle,
	.shown = PGLE_FILE,
	.file = PGLE_FILE,
};
