#include "profrig/names/xla_range.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"

#define COMPILE "XlaCompile"

static bool text_is(struct xla_text t, const char *word)
{
	return t.n == strlen(word) && memcmp(t.p, word, t.n) == 0;
}

static bool text_begins(struct xla_text t, const char *word)
{
	return t.n >= strlen(word) && memcmp(t.p, word, strlen(word)) == 0;
}

static bool is_word(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return false;
	return n > 0;
}

/* "[DOMAIN:]WORD:#FIELDS#": its word and its fields. */
static bool range_split(const char *name, size_t n, struct xla_text *ret_word,
			struct xla_text *ret_fields)
{
	const char *mark = memmem(name, n, ":#", 2), *domain;
	size_t head;

	if (!mark || name[n - 1] != '#' || (size_t)(mark - name) + 2 >= n)
		return false;
	head = (size_t)(mark - name);
	domain = memchr(name, ':', head);
	*ret_word = domain ? (struct xla_text){ domain + 1, (size_t)(mark - domain) - 1 }
			   : (struct xla_text){ name, head };
	*ret_fields = (struct xla_text){ mark + 2, n - head - 3 };
	return is_word(ret_word->p, ret_word->n) &&
	       (!domain || is_word(name, (size_t)(domain - name)));
}

/* Where the last field of this key begins ("key=" at the beginning or behind a comma); NULL. */
static const char *field_find(struct xla_text fields, const char *key)
{
	size_t n = strlen(key);
	const char *found = NULL, *end = fields.p + fields.n;

	for (const char *at = fields.p; at && (size_t)(end - at) > n;) {
		if (memcmp(at, key, n) == 0 && at[n] == '=')
			found = at;
		at = memchr(at, ',', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return found;
}

/* The value of a field that holds no comma. */
static struct xla_text field(struct xla_text fields, const char *key)
{
	const char *at = field_find(fields, key), *end = fields.p + fields.n, *stop;

	if (!at)
		return (struct xla_text){ NULL, 0 };
	at += strlen(key) + 1;
	stop = memchr(at, ',', (size_t)(end - at));
	end = stop ? stop : end;
	if (end == at || memchr(at, '#', (size_t)(end - at)))
		return (struct xla_text){ NULL, 0 };
	return (struct xla_text){ at, (size_t)(end - at) };
}

static int64_t field_number(struct xla_text fields, const char *key)
{
	struct xla_text t = field(fields, key);
	int64_t v;

	return t.p && num_i64(t.p, t.n, &v) == 0 && v >= 0 ? v : XLA_ABSENT;
}

/* The name of a part of a compilation: up to its module, or to the end. */
static struct xla_text part_name(struct xla_text fields)
{
	const char *at = fields.p, *module = field_find(fields, "module");
	const char *end = module && module > at ? module - 1 : fields.p + fields.n;

	if (!text_begins(fields, "name="))
		return field(fields, "hlo_op");
	at += strlen("name=");
	return end > at ? (struct xla_text){ at, (size_t)(end - at) }
			: (struct xla_text){ NULL, 0 };
}

bool xla_range_parse(const char *name, size_t n, struct xla_range *ret)
{
	struct xla_text fields;

	if (n == 0 || !range_split(name, n, &ret->word, &fields))
		return false;
	ret->program_id = field_number(fields, "program_id");
	ret->module = field(fields, "hlo_module");
	ret->op = field(fields, "hlo_op");
	if (text_is(ret->word, "Thunk")) {
		ret->kind = XLA_THUNK;
		return ret->op.p;
	}
	if (text_is(ret->word, "XlaModule")) {
		ret->kind = XLA_MODULE;
		return ret->module.p;
	}
	if (!text_begins(ret->word, "Xla") || text_is(ret->word, "XlaLauncher"))
		return false;
	ret->kind = XLA_COMPILE;
	ret->module = field(fields, "module");
	ret->op = part_name(fields);
	return true;
}

bool xla_range_name(const char *name, size_t n, struct strbuf *out)
{
	struct xla_range r;

	if (!xla_range_parse(name, n, &r))
		return false;
	if (r.kind == XLA_THUNK) {
		strbuf_add(out, r.op.p, r.op.n);
		return true;
	}
	if (r.kind == XLA_MODULE) {
		strbuf_add(out, r.module.p, r.module.n);
		return true;
	}
	strbuf_add(out, r.word.p, r.word.n);
	if (text_is(r.word, COMPILE) && r.module.p) {
		strbuf_addch(out, ' ');
		strbuf_add(out, r.module.p, r.module.n);
	} else if (text_is(r.word, "XlaPass") && r.op.p) {
		strbuf_addch(out, ' ');
		strbuf_add(out, r.op.p, r.op.n);
	}
	return true;
}

bool xla_launcher_parse(const char *name, size_t n, struct xla_launcher *ret)
{
	struct xla_text word, fields;

	if (n == 0 || !range_split(name, n, &word, &fields) || !text_is(word, "XlaLauncher"))
		return false;
	ret->global = field_number(fields, "global");
	ret->local = field_number(fields, "local");
	ret->process = field_number(fields, "process");
	ret->slice = field_number(fields, "slice");
	if (ret->slice == XLA_ABSENT)
		ret->slice = field_number(fields, "partition");
	return ret->global != XLA_ABSENT;
}

bool xla_launcher_name(const char *name, size_t n, struct strbuf *out)
{
	struct xla_launcher l;

	if (!xla_launcher_parse(name, n, &l))
		return false;
	strbuf_addf(out, "XlaLauncher %" PRId64, l.global);
	return true;
}
