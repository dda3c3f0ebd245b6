/* A row as a JSON object, which keeps fields that the model has no column for. */
#include "rocprof_csv.h"

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"

/* These are the span's own. */
static bool is_taken(enum rocprof_column c)
{
	return c == COL_START || c == COL_END || c == COL_KERNEL || c == COL_FUNCTION ||
	       c == COL_KIND || c == COL_DOMAIN || c == COL_COUNTER || c == COL_VALUE ||
	       c == COL_SAMPLED;
}

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* What JSON takes as a number without looking at exponents. */
static bool is_number(struct csv_text t)
{
	size_t i = t.n > 0 && *t.p == '-', digits = i;

	while (i < t.n && is_digit(t.p[i]))
		i++;
	if (i == digits || (t.p[digits] == '0' && i - digits > 1))
		return false;
	if (i == t.n)
		return true;
	if (t.p[i++] != '.' || i == t.n)
		return false;
	while (i < t.n && is_digit(t.p[i]))
		i++;
	return i == t.n;
}

static void string_add(struct rocprof_csv *rc, struct csv_text t)
{
	struct csv_text plain = csv_unquote(t, &rc->text);

	json_quote(&rc->args, plain.p, plain.n);
}

str_id rocprof_kernel_args(struct rocprof_csv *rc)
{
	struct launch_shape shape = { { 0 } };

	if (rc->opts->keep_args || !rc->opts->keep_shapes)
		return rocprof_args(rc);
	for (size_t i = 0; i < LAUNCH_SHAPE_FIELDS; i++) {
		struct csv_text t = { "", 0 };

		if (rc->head.shape[i] >= 0)
			t = csv_unquote(rocprof_field(rc, (size_t)rc->head.shape[i]), &rc->text);
		num_u64(t.p, t.n, &shape.v[i]);
	}
	return launch_shapes_put(&rc->shapes, rc->sink, &shape);
}

str_id rocprof_args(struct rocprof_csv *rc)
{
	struct strbuf *sb = &rc->args;

	if (!rc->opts->keep_args)
		return STR_NONE;
	strbuf_clear(sb);
	for (size_t i = 0; i < rc->head.nr; i++) {
		const struct rocprof_name *name = &rc->head.names.v[i];
		struct csv_text t = rocprof_field(rc, i);

		if (is_taken(name->column) || t.n == 0)
			continue;
		strbuf_addch(sb, sb->len ? ',' : '{');
		string_add(rc, (struct csv_text){ name->name, strlen(name->name) });
		strbuf_addch(sb, ':');
		if (is_number(t))
			strbuf_add(sb, t.p, t.n);
		else
			string_add(rc, t);
	}
	if (sb->len == 0)
		return STR_NONE;
	strbuf_addch(sb, '}');
	return rc->sink->ops->string(rc->sink, sb->buf, sb->len);
}
