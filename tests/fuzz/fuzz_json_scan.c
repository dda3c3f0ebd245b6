#include "fuzz.h"

#include "profrig/base/json_scan.h"
#include "profrig/base/xalloc.h"

static void scan_require(bool ok)
{
	if (!ok)
		abort();
}

/* Everything the tokenizer gives lies inside the text, and decoding what was decoded changes
 * nothing. */
static void check_text(const struct json_cur *c, const char *begin, const struct json_text *t)
{
	CLEANUP(strbuf_release) struct strbuf once = STRBUF_INIT;

	scan_require(t->p >= begin && t->p + t->n <= c->end);
	json_decode(t, &once);
	for (size_t i = 0; i < once.len; i++) {
		/* a backslash in the result is a decoded one; cut there, the pieces are plain */
		struct json_text piece = { .p = once.buf + i };

		while (i + piece.n < once.len && once.buf[i + piece.n] != '\\')
			piece.n++;
		scan_require(json_plain_len(&piece) == piece.n);
		i += piece.n;
	}
}

static int scan_walk(struct json_cur *c, const char *begin, int depth)
{
	struct json_text key, value;
	bool some = false;
	char ch = json_peek(c);
	int r;

	if (ch != '{' && ch != '[') {
		r = json_scalar(c, &value);
		if (r == 0)
			check_text(c, begin, &value);
		return r;
	}
	if (depth > 20)
		return json_skip(c);
	c->p++;
	for (;;) {
		r = ch == '{' ? json_member(c, &some, &key) : json_element(c, &some);
		scan_require(c->p >= begin && c->p <= c->end);
		if (r <= 0)
			return r;
		if (ch == '{')
			check_text(c, begin, &key);
		r = scan_walk(c, begin, depth + 1);
		if (r < 0)
			return r;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(xfreep) char *text = xcalloc(1, n + 64);
	struct json_cur c = { text, text + n }, skip = c;
	int r, s;

	if (n > 0)
		memcpy(text, data, n);
	r = scan_walk(&c, text, 0);
	scan_require(r == 0 || r == JSON_CUT || r == JSON_BAD);
	s = json_skip(&skip);
	scan_require(skip.p >= text && skip.p <= skip.end);
	/* skipping is laxer than walking, never stricter, and ends in the same place */
	if (r == 0)
		scan_require(s == 0 && skip.p == c.p);
	return 0;
}
