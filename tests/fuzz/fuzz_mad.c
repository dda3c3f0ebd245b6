/* Contexts, batch files and entries of models.json: whatever they hold, problems or a configuration
 * that the schema can look through; tags and their arguments. */
#include "fuzz_cfg.h"
#include "mad_int.h"

static void try_context(const char *text, bool lenient)
{
	struct problems p = PROBLEMS_INIT;
	struct strvec notes = STRVEC_INIT;
	struct err err = ERR_INIT;
	struct cfg context, mapped;
	int r = mad_context_load(&context, NULL, NULL, text, &p, &err);

	must((r < 0) == (p.lines.nr > 0));
	must(context.root != NULL);
	mad_context_config(&context, "/nonexistent", lenient, &mapped, &p, &notes);
	schema_expand(&mapped, schema_table);
	schema_check(mapped.root, schema_table, &p);
	must(p.lines.nr <= 201);
	cfg_release(&mapped);
	cfg_release(&context);
	problems_release(&p);
	strvec_release(&notes);
}

static void try_entry(struct cfg_node *n)
{
	struct problems p = PROBLEMS_INIT, unknown = PROBLEMS_INIT;
	struct strvec notes = STRVEC_INIT, words = STRVEC_INIT;

	mad_drop_empty(n);
	mad_check_entry(n, &p, &unknown, &notes);
	mad_words(cfg_get(n, "tags"), &words);
	if (cfg_get(n, "args"))
		mad_shell_words(cfg_get(n, "args"), "args", &words, &p, &notes);
	problems_release(&p);
	problems_release(&unknown);
	strvec_release(&notes);
	strvec_release(&words);
}

static void try_batch(const char *text, size_t n, bool lenient)
{
	struct problems p = PROBLEMS_INIT;
	struct strvec notes = STRVEC_INIT;
	struct mad_batch b;
	int r = mad_batch_parse(&b, text, n, "batch.json", lenient, &p, &notes);

	must((r < 0) == (p.lines.nr > 0));
	must(r < 0 || b.entries.nr > 0);
	for (size_t i = 0; r == 0 && i < b.entries.nr; i++)
		must(b.entries.v[i].build || b.entries.v[i].registry_image);
	mad_batch_release(&b);
	problems_release(&p);
	strvec_release(&notes);
}

static void try_word(const char *text)
{
	struct mad_entry e = { .name = (char *)"s/name",
			       .scope = (char *)"s",
			       .tags = STRVEC_INIT };
	struct strvec args = STRVEC_INIT;
	const char *from = mad_word_args(text);

	must(!*from || *from == ':');
	mad_tag_args(from, &args);
	strvec_push(&e.tags, "tag");
	mad_entry_matches(&e, text);
	must(mad_entry_matches(&e, "s/name") && mad_entry_matches(&e, "s/tag:a=b") &&
	     !mad_entry_matches(&e, "name") && !mad_entry_matches(&e, "t/tag"));
	strvec_release(&e.tags);
	strvec_release(&args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(xfreep) char *text = xstrndup((const char *)data, n);
	struct cfg c;

	try_context(text, n % 2);
	try_word(text);
	try_batch(text, strlen(text), n % 2);
	cfg_init(&c);
	cfg_parse_value(&c, text, strlen(text), "models.json", CFG_JSON, LAYER_MODEL, NULL);
	for (size_t i = 0; c.root && c.root->kind == CFG_SEQ && i < c.root->nr; i++)
		if (c.root->child[i]->kind == CFG_MAP)
			try_entry(c.root->child[i]);
	cfg_release(&c);
	return 0;
}
