#include "run_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/num.h"

#define BLOCK ((size_t)1 << 20)
#define MAX_LINE ((size_t)4096)

static const char key[] = "performance:";

static const char *blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* "/s" behind the number or its comma: part of the unit. */
static const char *rate(const char *p, const char *end, struct strbuf *ret)
{
	const char *q = p;

	if (q < end && *q == ',')
		q++;
	q = blanks(q, end);
	if (q + 1 >= end || *q != '/' || !isalpha((unsigned char)q[1]))
		return p;
	strbuf_addch(ret, *q++);
	while (q < end && isalpha((unsigned char)*q))
		strbuf_addch(ret, *q++);
	return q;
}

/* What stands behind "performance:" on its line: value[/s][,] unit. */
static bool parse(const char *p, const char *end, double *ret_value, char *unit, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf per = STRBUF_INIT;
	const char *number, *word;

	number = blanks(p, end);
	if (number == p)
		return false;
	p = number;
	while (p < end && strchr("0123456789+-.eE", *p) && *p)
		p++;
	if (p == number || num_f64(number, (size_t)(p - number), ret_value) < 0)
		return false;
	p = rate(p, end, &per);
	word = per.len ? blanks(p, end) : p;
	if (word < end && *word == ',')
		p = word + 1;
	word = blanks(p, end);
	if (word == p || word == end)
		return false;
	for (p = word; p < end && !isspace((unsigned char)*p) && *p != ','; p++)
		;
	if (p == word)
		return false;
	snprintf(unit, n, "%.*s%s", (int)(p - word), word, per.buf);
	return true;
}

/* A word that only ends in the key, such as val_performance:, is another metric. */
static bool starts_word(const char *text, const char *at)
{
	return at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

static bool scan(const char *text, const char *end, double *ret_value, char *unit, size_t n)
{
	bool found = false;
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1))) {
		const char *rest = at + sizeof(key) - 1;
		/* No further: the key may stand a thousand times in a line without an end. */
		size_t room =
			(size_t)(end - rest) <= MAX_LINE ? (size_t)(end - rest) : MAX_LINE + 1;
		const char *eol = memchr(rest, '\n', room);
		double value;
		char word[64];

		if (!eol)
			eol = rest + room;
		if (starts_word(text, at) && (size_t)(eol - rest) <= MAX_LINE &&
		    parse(rest, eol, &value, word, sizeof(word))) {
			*ret_value = value;
			snprintf(unit, n, "%s", word);
			found = true;
		}
		at = rest;
	}
	return found;
}

bool run_performance(const char *path, double *ret_value, char *unit, size_t n)
{
	CLEANUP(xfclosep) FILE *f = fopen(path, "re");
	CLEANUP(xfreep) char *buf = NULL;
	bool found = false;
	size_t kept = 0, got;

	if (!f)
		return false;
	buf = xmalloc(BLOCK + MAX_LINE);
	/* Block by block; what a block has begun and not ended is looked at again with the next. */
	while ((got = fread(buf + kept, 1, BLOCK, f)) > 0) {
		size_t len = kept + got, from = len;
		const char *nl = memrchr(buf, '\n', len);

		if (!feof(f)) {
			from = nl ? (size_t)(nl + 1 - buf) : 0;
			if (len - from > MAX_LINE)
				from = len - MAX_LINE;
		}
		found |= scan(buf, buf + from, ret_value, unit, n);
		kept = len - from;
		memmove(buf, buf + from, kept);
	}
	found |= scan(buf, buf + kept, ret_value, unit, n);
	return found;
}

static void add(struct run *rn, const char *name, double value, const char *unit,
		const char *source)
{
	struct run_metric m = { .value = value };

	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.unit, sizeof(m.unit), "%s", unit);
	snprintf(m.source, sizeof(m.source), "%s", source);
	VEC_PUSH(&rn->metrics, m);
}

void run_metrics(struct run *rn)
{
	for (size_t i = 0; i < rn->steps.nr; i++) {
		const struct plan_step *ps = &rn->pl->steps.v[i];
		const struct run_step *s = &rn->steps.v[i];
		char unit[64];
		double value;

		if (ps->kind != STEP_WORKLOAD || !s->ended)
			continue;
		if (ps->out && run_performance(ps->out, &value, unit, sizeof(unit)))
			add(rn, "performance", value, unit, "workload");
		if (s->started_ns && s->ended_ns)
			add(rn, "wall", (double)(s->ended_ns - s->started_ns) / 1e9, "s",
			    "workload");
		add(rn, "cpu_user", s->user_s, "s", "rusage");
		add(rn, "cpu_system", s->sys_s, "s", "rusage");
		add(rn, "max_rss", (double)s->maxrss_bytes, "bytes", "rusage");
	}
}
