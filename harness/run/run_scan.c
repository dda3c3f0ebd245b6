#include "run_lines.h"
#include "run_results.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/strbuf.h"
#include "profrig/text.h"
#include "profrig/utf8.h"
#include "profrig/xalloc.h"

#define SHOWN ((size_t)200)

struct pattern {
	const char *text; /* as configured; borrowed */
	struct regex *re;
};

struct scanner {
	VEC(struct pattern) errors, benign;
	struct regex *any; /* where one of the errors may stand: all of them in one */
	struct scan *to;
};

static void scanner_release(struct scanner *s)
{
	for (size_t i = 0; i < s->errors.nr; i++)
		regex_free(s->errors.v[i].re);
	for (size_t i = 0; i < s->benign.nr; i++)
		regex_free(s->benign.v[i].re);
	VEC_RELEASE(&s->errors);
	VEC_RELEASE(&s->benign);
	regex_free(s->any);
}

void scan_release(struct scan *sc)
{
	for (size_t i = 0; i < sc->lines.nr; i++) {
		free(sc->lines.v[i].pattern);
		free(sc->lines.v[i].text);
	}
	VEC_RELEASE(&sc->lines);
}

/* Any pattern as a regular expression. Owned. */
static char *as_regex(const char *pattern)
{
	struct strbuf sb = STRBUF_INIT;
	char *re = results_pattern_regex(pattern);

	if (re)
		return re;
	for (const char *s = pattern; *s; s++) {
		if (!isalnum((unsigned char)*s) && !((unsigned char)*s & 0x80))
			strbuf_addch(&sb, '\\');
		strbuf_addch(&sb, *s);
	}
	return strbuf_steal(&sb);
}

static int compile(const char *pattern, struct strbuf *any, struct pattern *ret, struct err *err)
{
	CLEANUP(xfreep) char *re = as_regex(pattern);

	if (any)
		strbuf_addf(any, "%s(?:%s)", any->len ? "|" : "", re);
	ret->text = pattern;
	return regex_new(re, 0, &ret->re, err);
}

static int add_benign(struct scanner *s, const char *pattern, struct err *err)
{
	struct pattern p = { NULL, NULL };
	int r = compile(pattern, NULL, &p, err);

	if (r == 0)
		VEC_PUSH(&s->benign, p);
	return r;
}

static int scanner_init(struct scanner *s, const struct results_conf *rc, struct err *err)
{
	const char *const *errors = rc->has_error_patterns
					    ? (const char *const *)rc->error_patterns.v
					    : results_default_errors;
	CLEANUP(strbuf_release) struct strbuf any = STRBUF_INIT;
	struct err ignored = ERR_INIT;
	int r = 0;

	for (; *errors && r == 0; errors++) {
		struct pattern p = { NULL, NULL };

		r = compile(*errors, &any, &p, err);
		if (r == 0)
			VEC_PUSH(&s->errors, p);
	}
	for (size_t i = 0; results_default_benign[i] && r == 0; i++)
		r = add_benign(s, results_default_benign[i], err);
	for (size_t i = 0; i < rc->benign_patterns.nr && r == 0; i++)
		r = add_benign(s, rc->benign_patterns.v[i], err);
	/* Groups of several patterns in one may not go together: then each line is asked. */
	if (r == 0 && regex_new(any.buf, REGEX_LINES, &s->any, &ignored) < 0)
		s->any = NULL;
	return r;
}

static const struct pattern *in_line(const struct pattern *v, size_t nr, const char *line, size_t n)
{
	size_t a, b;

	for (size_t i = 0; i < nr; i++)
		if (regex_find(v[i].re, line, n, 0, &a, &b) > 0)
			return &v[i];
	return NULL;
}

static void judge_line(struct scanner *s, const char *line, size_t n, uint64_t number)
{
	const struct pattern *p;

	if (n > 0 && line[n - 1] == '\r')
		n--;
	p = in_line(s->errors.v, s->errors.nr, line, n);
	if (!p)
		return;
	if (in_line(s->benign.v, s->benign.nr, line, n)) {
		s->to->benign++;
		return;
	}
	s->to->found++;
	if (s->to->lines.nr < SCAN_KEPT) {
		char *text = xstrndup(line, n < SHOWN ? n : SHOWN);

		text_no_controls(text, ' ');
		VEC_PUSH(&s->to->lines, ((struct scan_line){ xstrdup(p->text), text, number }));
	}
}

static bool on_piece(void *ctx, const char *text, size_t n, uint64_t line)
{
	struct scanner *s = ctx;
	struct line_counter count = { text, line };
	size_t from = 0, a = 0, b = 0;

	while (from < n) {
		const char *nl, *start;
		int r = s->any ? regex_find(s->any, text, n, from, &a, &b) : 1;

		if (r == 0)
			break;
		/* Given up, or no pattern for all: the line that comes next is asked itself. */
		if (r < 0 || !s->any)
			a = from;
		start = memrchr(text + from, '\n', a - from);
		start = start ? start + 1 : text + from;
		nl = memchr(text + a, '\n', n - a);
		if (!nl)
			nl = text + n;
		judge_line(s, start, (size_t)(nl - start), line_at(&count, start));
		from = (size_t)(nl - text) + 1;
	}
	return true;
}

int scan_file(const char *path, const struct results_conf *rc, struct scan *ret, struct err *err)
{
	struct scanner s = { .to = ret };
	int r = scanner_init(&s, rc, err);

	if (r == 0) {
		r = run_lines(path, on_piece, &s);
		if (r < 0)
			err_sys(err, -r, "'%s'", path);
	}
	scanner_release(&s);
	return r;
}
