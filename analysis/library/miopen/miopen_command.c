#include "miopen_command.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define RUN_OPTIONS \
	"-i|--iter|-V|--verify|-t|--time|-w|--wall|-s|--search|-S|--solution|-P|--printconv|" \
	"--print|-o|--dump_output|-C|--verification_cache|-d|--in_data|-e|--weights|-D|" \
	"--dout_data|-a|--in_bias|--gpualloc|--gpubuffer_check|--verification_path|--prng_seed"

void command_init(struct miopen_command *c)
{
	memset(c->verb, 0, sizeof(c->verb));
	c->family = 0;
	c->type = NULL;
	c->logged = false;
	c->direction = 0;
	c->twice = (struct text_slice){ "", 0 };
}

const struct text_slice *command_get(struct miopen_command *c, struct option_name o)
{
	return words_find(&c->w, o.letter, o.name, &c->twice);
}

bool command_int(struct miopen_command *c, struct option_name o, int64_t *ret)
{
	const struct text_slice *v = command_get(c, o);

	return !v || num_i64(v->p, v->n, ret) == 0;
}

bool command_ints(struct miopen_command *c, const struct option_name *o, int64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!command_int(c, o[i], &ret[i]))
			return false;
	return true;
}

static void value_word(struct library_key *k, const char *as, const struct text_slice *v)
{
	char buf[24];
	int64_t i;

	if (num_i64(v->p, v->n, &i) == 0) {
		num_fmt_i64(buf, i);
		key_word(k, as, buf);
	} else if (!key_number(k, as, v->p, v->n)) {
		key_wordn(k, as, v->p, v->n);
	}
}

void command_next_word(struct miopen_command *c, struct library_key *k, struct option_name o,
		       const char *as, const char *otherwise)
{
	const struct text_slice *v = command_get(c, o);

	if (v && !(otherwise && slice_is(*v, otherwise)))
		value_word(k, as, v);
}

void command_sizes(struct library_key *k, const char *as, const int64_t v[MIOPEN_DIMS], int dims)
{
	char text[80];
	size_t n = 0;

	for (int i = MIOPEN_DIMS - dims; i < MIOPEN_DIMS; i++) {
		if (n > 0)
			text[n++] = 'x';
		n += num_fmt_i64(text + n, v[i]);
	}
	key_wordn(k, as, text, n);
}

void command_directions(struct library_key *k, unsigned bits, const char *const names[3])
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < 3; i++)
		if (bits >> i & 1) {
			if (text.len)
				strbuf_addch(&text, '+');
			strbuf_addstr(&text, names[i]);
		}
	key_word(k, "dir", text.buf);
}

size_t command_rest(struct miopen_command *c, struct library_key *k)
{
	const struct library_option *rest[WORDS_MAX];
	size_t nr = words_rest(&c->w, rest);

	for (size_t i = 0; i < nr; i++) {
		CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
		struct text_slice n = rest[i]->name;

		while (n.n > 1 && *n.p == '-')
			n.p++, n.n--;
		strbuf_add(&name, n.p, n.n);
		value_word(k, name.buf, &rest[i]->value);
	}
	return nr;
}

void command_ignore_run(struct miopen_command *c)
{
	words_ignore(&c->w, RUN_OPTIONS);
}

bool command_in_range(struct library_key *k, const char *name, int64_t v, int64_t min)
{
	if (v >= min && v <= DIM_MAX)
		return true;
	key_bad(k, "%s=%lld is no size", name, (long long)v);
	return false;
}
