/* Contexts written as literals of Python: whatever the text is, a sound tree or a reason; and what
 * is also JSON gives the tree that JSON gives. */
#include "fuzz_cfg.h"

#include "profrig/base/shell_words.h"

static void must_be_same(const struct cfg_node *a, const struct cfg_node *b)
{
	must(a->nr == b->nr);
	must(a->kind != CFG_STR || (b->kind == CFG_STR && !strcmp(a->s, b->s)));
	for (size_t i = 0; i < a->nr; i++)
		must_be_same(a->child[i], b->child[i]);
}

static void try_words(const struct cfg_node *n)
{
	for (size_t i = 0; i < n->nr; i++)
		try_words(n->child[i]);
	if (n->kind == CFG_STR) {
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
		int r = shell_words(n->s, &words, NULL);

		must(r == 0 || words.nr == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = ERR_INIT, json_err = ERR_INIT;
	struct cfg c, json;
	size_t count = 0;
	int lines = 2, r;

	for (size_t i = 0; i < n; i++)
		lines += data[i] == '\n';
	cfg_init(&c);
	cfg_init(&json);
	r = cfg_parse_value(&c, (const char *)data, n, "f", CFG_PYTHON, LAYER_FILE, &err);
	must((r < 0) == (err.code != 0));
	must(c.root || r < 0);
	if (c.root) {
		must_be_sound(c.root, lines, 0, &count);
		try_words(c.root);
	}
	/* {"a": 1} is both; \/ and surrogate pairs are JSON's own. */
	if (r == 0 && !memchr(data, '\\', n) &&
	    cfg_parse_value(&json, (const char *)data, n, "f", CFG_JSON, LAYER_FILE, &json_err) ==
		    0)
		must_be_same(c.root, json.root);
	cfg_release(&c);
	cfg_release(&json);
	return 0;
}
