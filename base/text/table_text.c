/* The half of table.h that prints text for people. It uses the public getters only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/table.h"
#include "profrig/base/text.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define GAP 2
#define STR_MIN 8 /* a string column is not made narrower than this */
#define ELLIPSIS "\xe2\x80\xa6"

struct text_col {
	struct strvec cells; /* heading first */
	const char *rest;    /* of the cell that is being written */
	size_t width;
	bool left;
};

static size_t cells_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* A name must not move the cursor. */
static char *text_printable(const char *s)
{
	struct strbuf sb = STRBUF_INIT;

	text_visible(&sb, s, strlen(s), "");
	return strbuf_steal(&sb);
}

static char *column_heading(const struct table_column *col)
{
	size_t name = strlen(col->name);
	size_t unit = col->unit ? strlen(col->unit) : 0;

	/* "inclusive_ns" already names its unit. */
	if (unit == 0 ||
	    (name > unit && col->name[name - unit - 1] == '_' && text_suffix(col->name, col->unit)))
		return text_printable(col->name);
	CLEANUP(xfreep) char *both = xasprintf("%s [%s]", col->name, col->unit);

	return text_printable(both);
}

/* Digits behind the point for a column: five significant ones for its largest value, none when all
 * are integers. */
static int decimals_of(const struct table *t, size_t col, size_t rows)
{
	double max = 0;
	bool integers = true;
	int digits = 0;

	for (size_t r = 0; r < rows; r++) {
		double v = fabs(table_get_f64(t, r, col));

		if (!isfinite(v))
			continue;
		if (v > max)
			max = v;
		if (v != floor(v))
			integers = false;
	}
	if (integers)
		return 0;
	while (max >= 1) {
		max /= 10;
		digits++;
	}
	return digits >= 4 ? 1 : 5 - digits;
}

/* A value that the fixed form would show as zero, or with a tail of meaningless digits, is written
 * with an exponent. */
static void add_f64(struct strvec *to, double v, int decimals)
{
	char buf[400];

	if (isnan(v)) {
		strvec_push(to, "-");
		return;
	}
	if (isfinite(v) && v != 0 && (fabs(v) < 0.5 * pow(10, -decimals) || fabs(v) >= 1e15)) {
		num_fmt_exp(buf, v, 2);
		strvec_push(to, buf);
		return;
	}
	num_fmt_fixed(buf, v, decimals);
	strvec_push(to, buf);
}

static void add_cell(struct strvec *to, const struct table *t, size_t row, size_t col, int decimals)
{
	char buf[24];

	switch (table_column(t, col)->type) {
	case TABLE_STR:
		strvec_push_take(to, text_printable(table_get_str(t, row, col)));
		return;
	case TABLE_I64:
		num_fmt_i64(buf, table_get_i64(t, row, col));
		break;
	case TABLE_U64:
		num_fmt_u64(buf, table_get_u64(t, row, col));
		break;
	case TABLE_F64:
		add_f64(to, table_get_f64(t, row, col), decimals);
		return;
	}
	strvec_push(to, buf);
}

static void column_fill(struct text_col *out, const struct table *t, size_t col, size_t rows)
{
	const struct table_column *about = table_column(t, col);
	int decimals = about->type == TABLE_F64 ? decimals_of(t, col, rows) : 0;

	strvec_init(&out->cells);
	out->left = about->type == TABLE_STR;
	strvec_push_take(&out->cells, column_heading(about));
	for (size_t r = 0; r < rows; r++)
		add_cell(&out->cells, t, r, col, decimals);
	out->width = 0;
	for (size_t i = 0; i < out->cells.nr; i++) {
		size_t w = cells_of(out->cells.v[i]);

		if (w > out->width)
			out->width = w;
	}
}

/* Shortens the widest string column down to the next widest, until the line fits or no column can
 * be shortened further. */
static void columns_shrink(struct text_col *cols, size_t n, size_t width)
{
	for (;;) {
		size_t total = 0, second = STR_MIN, over;
		struct text_col *widest = NULL;

		for (size_t c = 0; c < n; c++)
			total += cols[c].width + (c ? GAP : 0);
		if (total <= width)
			return;
		for (size_t c = 0; c < n; c++)
			if (cols[c].left && (!widest || cols[c].width > widest->width))
				widest = &cols[c];
		if (!widest || widest->width <= STR_MIN)
			return;
		for (size_t c = 0; c < n; c++)
			if (cols[c].left && cols[c].width < widest->width && cols[c].width > second)
				second = cols[c].width;
		/* Columns of equal width are shortened in turn, one cell at a time. */
		for (size_t c = 0; c < n; c++)
			if (cols[c].left && &cols[c] != widest && cols[c].width == widest->width)
				second = widest->width - 1;
		over = total - width;
		widest->width -= over < widest->width - second ? over : widest->width - second;
	}
}

static void add_blanks(struct strbuf *sb, size_t n, char c)
{
	while (n-- > 0)
		strbuf_addch(sb, c);
}

/* Bytes of s for one line of width cells: whole words, or parts of a path; a word is cut only when
 * it is longer than the line. */
static size_t text_fitting(const char *s, size_t width)
{
	size_t cells = 0, cut = 0, i;

	for (i = 0; s[i]; i++) {
		if (((unsigned char)s[i] & 0xc0) == 0x80)
			continue;
		if (s[i] == ' ' || (i > 0 && s[i - 1] == '/'))
			cut = i;
		if (cells++ == width)
			return cut ? cut : i;
	}
	return i;
}

/* Writes one line of a row; the rest of its strings stays in col->rest. Returns whether a rest is
 * left. */
static bool add_line(struct strbuf *sb, struct text_col *cols, size_t n)
{
	bool more = false;

	for (size_t c = 0; c < n; c++) {
		struct text_col *col = &cols[c];
		size_t bytes = col->left ? text_fitting(col->rest, col->width) : strlen(col->rest);
		size_t was, blanks;

		if (c)
			add_blanks(sb, GAP, ' ');
		was = sb->len;
		strbuf_add(sb, col->rest, bytes);
		blanks = col->width - cells_of(sb->buf + was);
		if (col->left) {
			add_blanks(sb, blanks, ' ');
		} else {
			sb->len = was;
			add_blanks(sb, blanks, ' ');
			strbuf_add(sb, col->rest, bytes);
		}
		col->rest += bytes;
		col->rest += strspn(col->rest, " ");
		more = more || *col->rest;
	}
	strbuf_rtrim(sb);
	strbuf_addch(sb, '\n');
	return more;
}

static void text_row_add(struct strbuf *sb, struct text_col *cols, size_t n, size_t i)
{
	for (size_t c = 0; c < n; c++)
		cols[c].rest = cols[c].cells.v[i];
	while (add_line(sb, cols, n))
		;
}

void table_write_text(const struct table *t, FILE *f, size_t max_rows, size_t width)
{
	size_t rows = max_rows && max_rows < table_rows(t) ? max_rows : table_rows(t);
	size_t n = table_cols(t);
	struct text_col *cols = xcalloc(n, sizeof(*cols));
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;

	for (size_t c = 0; c < n; c++)
		column_fill(&cols[c], t, c, rows);
	if (width)
		columns_shrink(cols, n, width);
	for (size_t i = 0; i <= rows; i++) {
		strbuf_clear(&line);
		text_row_add(&line, cols, n, i);
		if (i == 0) {
			for (size_t c = 0; c < n; c++) {
				add_blanks(&line, c ? GAP : 0, ' ');
				add_blanks(&line, cols[c].width, '-');
			}
			strbuf_addch(&line, '\n');
		}
		fwrite(line.buf, 1, line.len, f);
	}
	if (rows < table_rows(t))
		fprintf(f, ELLIPSIS " %zu more\n", table_rows(t) - rows);
	for (size_t c = 0; c < n; c++)
		strvec_release(&cols[c].cells);
	free(cols);
}
