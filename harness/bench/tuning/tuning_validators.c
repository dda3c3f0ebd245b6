#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_tuning.h"

#define MARK "Validator,"
#define NAME_MAX_BYTES ((size_t)64)
#define VALUE_MAX_BYTES ((size_t)256)

static bool is_name(const char *s, size_t n)
{
	if (n == 0 || n > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return true;
}

/* What a version or the name of an architecture is made of, "gfx942:sramecc+:xnack-". */
static bool is_value(const char *s, size_t n)
{
	if (n == 0 || n > VALUE_MAX_BYTES || !isalnum((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._+-:/~() ", s[i]))
			return false;
	return true;
}

const char *bench_validators_find(const struct bench_validators *v, const char *name)
{
	for (size_t i = 0; i < v->v.nr; i++)
		if (!strcmp(v->v.v[i].name, name))
			return v->v.v[i].value;
	return NULL;
}

void bench_validators_release(struct bench_validators *v)
{
	for (size_t i = 0; i < v->v.nr; i++) {
		free(v->v.v[i].name);
		free(v->v.v[i].value);
	}
	VEC_RELEASE(&v->v);
}

static int damaged(const char *path, size_t line, struct err *err)
{
	return err_set(err, EINVAL, "%s: line %zu is no Validator,NAME,VALUE", path, line);
}

/* s: behind the mark, n bytes to the end of the line. */
static int validator_add(struct bench_validators *to, const char *s, size_t n, const char *path,
			 size_t line, struct err *err)
{
	const char *comma = memchr(s, ',', n);
	size_t name = comma ? (size_t)(comma - s) : 0;
	CLEANUP(xfreep) char *copy = NULL;

	if (!comma || !is_name(s, name) || !is_value(comma + 1, n - name - 1))
		return damaged(path, line, err);
	copy = xstrndup(s, name);
	if (bench_validators_find(to, copy))
		return err_set(err, EINVAL, "%s: line %zu: the validator %s stands twice", path,
			       line, copy);
	if (to->v.nr == BENCH_VALIDATORS_MAX)
		return err_set(err, EINVAL, "%s: there are more than %d validators", path,
			       BENCH_VALIDATORS_MAX);
	VEC_PUSH(&to->v,
		 ((struct bench_validator){ STEAL(copy), xstrndup(comma + 1, n - name - 1) }));
	return 0;
}

static int text_read(const char *text, size_t size, const char *path, struct bench_validators *ret,
		     struct err *err)
{
	const char *end = text + size;
	size_t line = 0;

	for (const char *at = text, *next; at < end; at = next) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at), mark = strlen(MARK);
		int r = 0;

		next = stop ? stop + 1 : end;
		line++;
		if (n > 0 && at[n - 1] == '\r')
			n--;
		if (n >= mark && memcmp(at, MARK, mark) == 0)
			r = validator_add(ret, at + mark, n - mark, path, line, err);
		if (r < 0)
			return r;
	}
	if (!ret->v.nr)
		return err_set(err, EINVAL, "%s has no line Validator,NAME,VALUE", path);
	return 0;
}

int bench_validators_parse(const char *text, size_t n, const char *path,
			   struct bench_validators *ret, struct err *err)
{
	int r;

	*ret = (struct bench_validators)BENCH_VALIDATORS_INIT;
	r = text_read(text, n, path, ret, err);
	if (r < 0)
		bench_validators_release(ret);
	return r;
}

int bench_validators_read(const char *path, struct bench_validators *ret, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int r;

	*ret = (struct bench_validators)BENCH_VALIDATORS_INIT;
	r = fs_read(path, BENCH_VALIDATORS_FILE_MAX, &text, &n, err);
	return r < 0 ? r : bench_validators_parse(text, n, path, ret, err);
}
