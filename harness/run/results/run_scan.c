#include "results_priv.h"
#include "run_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

#define SHOWN ((size_t)200)

struct pattern {
	const char *text; /* as configured; borrowed */
	struct regex *re;
};

struct pattern_list {
	struct pattern *v;
	size_t nr, cap;
};

struct scanner {
	const struct results_conf *rc;
	struct pattern_list errors, benign;
	struct regex *any; /* all errors as one pattern, to find candidates */
	bool compiled;
	int failed;
	struct err *err;
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

/* "\1", "\k<x>", "\g{1}", "(?1)", "(?&x)", "(?P=x)". */
static bool has_reference(const char *re)
{
	for (const char *s = re; *s; s++) {
		if (s[0] == '\\' && s[1]) {
			s++;
			if (isdigit((unsigned char)*s) || *s == 'k' || *s == 'g')
				return true;
		} else if (s[0] == '(' && s[1] == '?' && s[2] && strchr("&PR+-0123456789", s[2])) {
			return true;
		}
	}
	return false;
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

static const char *const *errors_of(const struct results_conf *rc)
{
	return rc->has_error_patterns ? (const char *const *)rc->error_patterns.v
				      : results_default_errors;
}

static int add_patterns(struct pattern_list *to, const char *const *texts, struct err *err)
{
	int r = 0;

	for (; *texts && r == 0; texts++) {
		CLEANUP(xfreep) char *re = as_regex(*texts);
		struct pattern p = { *texts, NULL };

		r = regex_new(re, 0, &p.re, err);
		if (r == 0)
			VEC_PUSH(to, p);
	}
	return r;
}

/* Compiled on demand: single patterns are only matched with lines in which an error was found, so
 * mostly never. */
static int compile_each(struct scanner *s)
{
	if (s->compiled)
		return 0;
	s->compiled = true;
	s->failed = add_patterns(&s->errors, errors_of(s->rc), s->err);
	if (s->failed == 0)
		s->failed = add_patterns(&s->benign, results_default_benign, s->err);
	if (s->failed == 0)
		s->failed = add_patterns(&s->benign, (const char *const *)s->rc->benign_patterns.v,
					 s->err);
	return s->failed;
}

static void compile_any(struct scanner *s)
{
	CLEANUP(strbuf_release) struct strbuf any = STRBUF_INIT;

	for (const char *const *t = errors_of(s->rc); *t; t++) {
		CLEANUP(xfreep) char *re = as_regex(*t);

		strbuf_addf(&any, "%s(?:%s)", any.len ? "|" : "", re);
	}
	/* References to groups would mean other groups in the joined pattern. */
	if (has_reference(any.buf))
		return;
	if (regex_new(any.buf, REGEX_LINES, &s->any, NULL) < 0)
		s->any = NULL;
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

	if (compile_each(s) < 0)
		return;
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
		/* The match was given up, or there is no joined pattern: the next line is checked
		 * alone. */
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
	struct scanner s = { .rc = rc, .to = ret, .err = err };
	int r;

	if (fs_size(path) == 0)
		return 0;
	compile_any(&s);
	r = run_lines(path, on_piece, &s);
	if (r < 0)
		err_sys(err, -r, "'%s'", path);
	else
		r = s.failed;
	scanner_release(&s);
	return r;
}
