/*
 * Each member of the arguments becomes an annotation: whole numbers, truths and texts as such, all
 * else as JSON in a text, which viewers parse. While that is done the text that a reader makes of
 * the annotations is put together, too; where it differs from the arguments (blanks, odd escapes)
 * they are written once more as they are.
 */
#include "perfetto_out.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/json_out.h"
#include "profrig/base/json_scan.h"
#include "profrig/base/num.h"

/* Behind the text that is scanned (json_scan.h). */
#define READABLE 64

/* Fields of DebugAnnotation. */
enum { DA_NAME_IID = 1, DA_BOOL = 2, DA_INT = 4, DA_STRING = 6, DA_JSON = 9, DA_NAME = 10 };

uint32_t pfo_text(struct pfo_texts *t, uint32_t text, uint32_t seq, bool *ret_new)
{
	if (text >= t->cap) {
		size_t old = t->cap;

		t->cap = vec_grow_cap(t->cap, (size_t)text + 1);
		t->seq = xreallocarray(t->seq, t->cap, sizeof(*t->seq));
		t->iid = xreallocarray(t->iid, t->cap, sizeof(*t->iid));
		memset(t->seq + old, 0, (t->cap - old) * sizeof(*t->seq));
	}
	*ret_new = t->seq[text] != seq;
	if (*ret_new) {
		t->seq[text] = seq;
		t->iid[text] = ++t->next;
	}
	return t->iid[text];
}

void pfo_texts_release(struct pfo_texts *t)
{
	free(t->seq);
	free(t->iid);
}

void pfo_args_init(struct pfo_args *a)
{
	*a = (struct pfo_args){
		.names = intern_new(), .text = STRBUF_INIT, .said = STRBUF_INIT, .word = STRBUF_INIT
	};
}

void pfo_args_release(struct pfo_args *a)
{
	intern_free(a->names);
	pfo_texts_release(&a->texts);
	strbuf_release(&a->text);
	strbuf_release(&a->said);
	strbuf_release(&a->word);
}

/* A number as a reader writes it: no sign before 0, no zeros in front. */
static bool is_plain_int(const char *p, size_t n, int64_t *ret)
{
	char number[32];

	return num_i64(p, n, ret) == 0 && num_fmt_i64(number, *ret) == n &&
	       memcmp(number, p, n) == 0;
}

static void value_put(struct pfo_args *a, const char *raw, size_t n, struct strbuf *event)
{
	struct json_text t = { .p = raw + 1, .n = n - 2, .quoted = 1 };
	int64_t v;

	if (raw[0] == '"' && n >= 2 && !memchr(t.p, '\\', t.n) && json_plain_len(&t) == t.n) {
		pb_put_bytes(event, DA_STRING, t.p, t.n);
		json_quote(&a->said, t.p, t.n);
	} else if (is_plain_int(raw, n, &v)) {
		pb_put_u64(event, DA_INT, (uint64_t)v);
		strbuf_add(&a->said, raw, n);
	} else if ((n == 4 && memcmp(raw, "true", 4) == 0) ||
		   (n == 5 && memcmp(raw, "false", 5) == 0)) {
		pb_put_u64(event, DA_BOOL, n == 4);
		strbuf_add(&a->said, raw, n);
	} else {
		pb_put_bytes(event, DA_JSON, raw, n);
		strbuf_add(&a->said, raw, n);
	}
}

static void name_put(struct pfo_args *a, const struct json_text *key, uint32_t seq,
		     struct strbuf *event, struct strbuf *interned)
{
	bool fresh;
	uint32_t iid;
	size_t at;

	strbuf_clear(&a->word);
	json_decode(key, &a->word);
	json_quote(&a->said, a->word.buf, a->word.len);
	strbuf_addch(&a->said, ':');
	iid = pfo_text(&a->texts, intern_put(a->names, a->word.buf, a->word.len), seq, &fresh);
	pb_put_u64(event, DA_NAME_IID, iid);
	if (!fresh)
		return;
	at = pb_open(interned, 3);
	pb_put_u64(interned, 1, iid);
	pb_put_bytes(interned, 2, a->word.buf, a->word.len);
	pb_close_tight(interned, at);
}

/* A text that is no object is one annotation. */
static bool text_put(const char *text, size_t n, struct strbuf *event)
{
	size_t at = pb_open(event, 4);

	pb_put_str(event, DA_NAME, "text");
	pb_put_bytes(event, DA_STRING, text, n);
	pb_close_tight(event, at);
	return false;
}

bool pfo_args_put(struct pfo_args *a, const char *text, size_t n, uint32_t seq,
		  struct strbuf *event, struct strbuf *interned)
{
	struct json_text key;
	struct json_cur c;
	bool some = false;
	size_t before = event->len;
	int r;

	strbuf_clear(&a->text);
	strbuf_add(&a->text, text, n);
	strbuf_reserve(&a->text, READABLE);
	memset(a->text.buf + n, 0, READABLE);
	c = (struct json_cur){ a->text.buf, a->text.buf + n };
	strbuf_clear(&a->said);
	strbuf_addch(&a->said, '{');
	r = json_open(&c, '{');
	while (r >= 0 && (r = json_member(&c, &some, &key)) > 0) {
		const char *from;
		size_t at = pb_open(event, 4);

		json_peek(&c);
		from = c.p;
		if (a->said.len > 1)
			strbuf_addch(&a->said, ',');
		name_put(a, &key, seq, event, interned);
		r = json_skip(&c);
		if (r == 0)
			value_put(a, from, (size_t)(c.p - from), event);
		pb_close_tight(event, at);
	}
	if (r < 0) {
		/* names that are defined and not used are no harm */
		event->len = before;
		return text_put(text, n, event);
	}
	strbuf_addch(&a->said, '}');
	return a->said.len == n && n > 2 && memcmp(a->said.buf, text, n) == 0;
}
