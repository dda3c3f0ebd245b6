#include "profrig/names/serving_step.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"

#define ABSENT SERVING_ABSENT
/* Above it a number is no count of tokens; sums of a few stay in range. */
#define COUNT_MAX (INT64_C(1) << 50)

/* ---- the text ---- */

static bool take(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n) != 0)
		return false;
	*s += n;
	return true;
}

/* Digits; false: there are none, or they are too many. */
static bool take_count(const char **s, int64_t *ret)
{
	size_t n = strspn(*s, "0123456789");

	if (n == 0 || num_i64(*s, n, ret) < 0 || *ret > COUNT_MAX)
		return false;
	*s += n;
	return true;
}

static int64_t sum_of(int64_t a, int64_t b)
{
	if (a == ABSENT || b == ABSENT)
		return a == ABSENT ? b : a;
	return a + b;
}

static void phase_by(struct serving_step *ret, int64_t prefill, int64_t decode)
{
	snprintf(ret->phase, sizeof(ret->phase), "%s",
		 prefill > 0 && decode > 0 ? "mixed"
		 : prefill > 0             ? "prefill"
		 : decode > 0              ? "decode"
					   : "idle");
}

/* ---- vLLM ---- */

/* R(T), or R(sqTsk…): requests and their new tokens. */
static bool take_group(const char **s, int64_t *requests, int64_t *tokens)
{
	if (!take_count(s, requests) || !take(s, "("))
		return false;
	(void)take(s, "sq");
	if (!take_count(s, tokens))
		return false;
	*s += strspn(*s, "abcdefghijklmnopqrstuvwxyz0123456789");
	return take(s, ")");
}

static bool step_vllm(const char *s, struct serving_step *ret)
{
	int64_t all, context, context_tokens, generation, generation_tokens;

	if (!take(&s, "execute_"))
		return false;
	if (isdigit((unsigned char)*s) && (!take_count(&s, &all) || !take(&s, "_")))
		return false;
	if (!take(&s, "context_") || !take_group(&s, &context, &context_tokens) ||
	    !take(&s, "_generation_") || !take_group(&s, &generation, &generation_tokens) || *s)
		return false;
	phase_by(ret, context, generation);
	ret->requests = context + generation;
	ret->tokens = context_tokens + generation_tokens;
	return true;
}

/* ---- words in brackets ---- */

/* What SGLang and ATOM state. */
struct fields {
	int64_t bs, toks, c, g, c_sq, g_sq, p, d;
};
#define FIELDS_ABSENT \
	((struct fields){ ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT })

static int64_t *field_of(struct fields *f, const char *key, size_t n)
{
	const struct {
		const char *key;
		int64_t *at;
	} keys[] = { { "bs", &f->bs },     { "toks", &f->toks }, { "tok", &f->toks },
		     { "c", &f->c },       { "g", &f->g },       { "c_sq", &f->c_sq },
		     { "g_sq", &f->g_sq }, { "p", &f->p },       { "d", &f->d } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i].key) == n && strncmp(keys[i].key, key, n) == 0)
			return keys[i].at;
	return NULL;
}

/* The end of a word: a blank or the last bracket, behind brackets inside of it. */
static const char *word_end(const char *s)
{
	int depth = 0;

	for (; *s && (depth > 0 || (*s != ' ' && *s != ']')); s++)
		depth += *s == '[' ? 1 : *s == ']' ? -1 : 0;
	return s;
}

/* "bs=117/128" is 117; what is no count is not stated. */
static void take_field(const char *s, const char *end, struct fields *f)
{
	const char *is = memchr(s, '=', (size_t)(end - s));
	int64_t *at = is ? field_of(f, s, (size_t)(is - s)) : NULL, v;

	if (!at)
		return;
	is++;
	if (take_count(&is, &v) && (is == end || *is == '/'))
		*at = v;
}

/* From behind the opening bracket to the closing one, which ends the name. */
static bool take_fields(const char *s, struct fields *f)
{
	*f = FIELDS_ABSENT;
	for (;;) {
		const char *end = word_end(s);

		take_field(s, end, f);
		if (*end != ' ')
			return *end == ']' && !end[1] && (f->bs != ABSENT || f->toks != ABSENT);
		s = end + 1;
	}
}

/* ---- SGLang ---- */

static void sglang_phase(struct serving_step *ret, const char *mode, size_t n,
			 const struct fields *f)
{
	if (f->c != ABSENT && f->g != ABSENT) {
		phase_by(ret, f->c, f->g);
		return;
	}
	for (size_t i = 0; i < n && i + 1 < sizeof(ret->phase); i++) {
		ret->phase[i] = (char)tolower((unsigned char)mode[i]);
		ret->phase[i + 1] = '\0';
	}
	if (strcmp(ret->phase, "extend") == 0)
		phase_by(ret, 1, 0);
}

static bool step_sglang(const char *s, struct serving_step *ret)
{
	struct fields f;
	const char *mode;
	size_t n;

	if (!take(&s, "step["))
		return false;
	mode = s;
	n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	if (n == 0 || s[n] != ' ' || !take_fields(s + n + 1, &f))
		return false;
	sglang_phase(ret, mode, n, &f);
	ret->requests = f.bs != ABSENT ? f.bs : sum_of(f.c, f.g);
	ret->tokens = f.toks != ABSENT ? f.toks : sum_of(f.c_sq, f.g_sq);
	if (ret->tokens == ABSENT && strcmp(ret->phase, "decode") == 0)
		ret->tokens = f.bs;
	return true;
}

/* ---- ATOM ---- */

static bool step_atom(const char *s, struct serving_step *ret)
{
	bool decode;
	struct fields f;

	(void)take(&s, "eager_");
	decode = take(&s, "decode[");
	if (!decode && !take(&s, "prefill["))
		return false;
	if (!take_fields(s, &f))
		return false;
	if (f.p != ABSENT && f.d != ABSENT && f.p + f.d > 0)
		phase_by(ret, f.p, f.d);
	else
		phase_by(ret, !decode, decode);
	ret->requests = f.bs;
	ret->tokens = f.toks;
	if (ret->tokens == ABSENT && strcmp(ret->phase, "decode") == 0)
		ret->tokens = f.bs;
	return true;
}

bool serving_step(const char *name, struct serving_step *ret)
{
	struct serving_step step = { .requests = ABSENT, .tokens = ABSENT };

	if (!step_vllm(name, &step) && !step_sglang(name, &step) && !step_atom(name, &step))
		return false;
	*ret = step;
	return true;
}
