/*
 * discover: lists models with kind and source, and the problems of each. Words select models as for
 * run.
 */
#include "cli.h"
#include "pick_models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/table.h"

/*
 * A model as it would be run. The tree holds the parts that could be read, also of a broken model.
 */
struct found {
	char *name, *from;
	struct cfg tree;
	struct problems problems;
	struct strvec notes;
};

static void found_release(struct found *f)
{
	free(f->name);
	free(f->from);
	cfg_release(&f->tree);
	problems_release(&f->problems);
	strvec_release(&f->notes);
}

static const struct catalog_entry *entry_of(const struct catalog *cat, const char *file,
					    const char *name)
{
	for (size_t i = 0; i < cat->models.nr; i++) {
		const struct catalog_entry *e = &cat->models.v[i];

		if (e->mad ? !strcmp(e->name, name) && !strcmp(e->mad->file, file)
			   : !*name && !strcmp(e->path, file))
			return e;
	}
	return NULL;
}

/* A profrig.yaml, checked as run checks it, except for what only a run needs. */
static void read_native(const char *path, struct found *f)
{
	struct err err = ERR_INIT;
	int r = cfg_parse_file(&f->tree, path, LAYER_MODEL, &err);

	for (size_t i = 0; i < f->tree.problems.lines.nr; i++)
		cfg_problem(&f->problems, NULL, "%s", f->tree.problems.lines.v[i]);
	if (f->tree.root)
		schema_check(f->tree.root, schema_table, &f->problems);
	else if (r < 0)
		cfg_problem(&f->problems, NULL, "%s", err.msg);
	f->from = xstrdup(path);
}

static void models_find(const struct catalog *cat, const struct run_options *o,
			const struct cfg *context, const char *path, struct found *f)
{
	CLEANUP(strvec_release) struct strvec args = STRVEC_INIT;
	CLEANUP(xfreep) char *file = NULL;
	CLEANUP(xfreep) char *name = NULL;
	const struct catalog_entry *e;

	*f = (struct found){ .problems = PROBLEMS_INIT, .notes = STRVEC_INIT };
	cfg_init(&f->tree);
	if (!catalog_path_split(path, &file, &name, &args)) {
		file = xstrdup(path);
		name = xstrdup("");
	}
	e = cat ? entry_of(cat, file, name) : NULL;
	if (e && e->mad) {
		mad_model_config(&cat->mad, e->mad, &args, context, o->conf.lenient, &f->tree,
				 &f->problems, &f->notes);
		f->from = xstrdup(e->mad->where);
	} else {
		CLEANUP(xfreep) char *inside = fs_join(file, "profrig.yaml");

		read_native(fs_is_dir(file) ? inside : file, f);
	}
	f->name = xstrdup_null(e ? e->name : cfg_text(cfg_get(f->tree.root, "model"), "name"));
	if (!f->name)
		f->name = xstrdup(file);
}

/* The entries of a list of the model, joined with `between`; owned. */
static char *words_of(const struct found *f, const char *path, const char *between)
{
	CLEANUP(strvec_release) struct strvec seen = STRVEC_INIT;
	struct strbuf sb = STRBUF_INIT;

	CFG_EACH(kid, f->tree.root ? cfg_path(f->tree.root, path) : NULL, CFG_SEQ) {
		const char *word = kid->s ? kid->s : cfg_text(kid, "name");

		if (!word || strvec_has(&seen, word))
			continue;
		/* A data set may have several sources under one name. */
		if (kid->kind == CFG_MAP)
			strvec_push(&seen, word);
		strbuf_addstr(&sb, sb.len ? between : "");
		if (*between == ' ')
			strbuf_add_shell(&sb, word);
		else
			strbuf_addstr(&sb, word);
	}
	return strbuf_steal(&sb);
}

static const char *text_of(const struct found *f, const char *path)
{
	const struct cfg_node *n = f->tree.root ? cfg_path(f->tree.root, path) : NULL;

	return n && n->s && n->kind != CFG_NULL ? n->s : NULL;
}

static void print_table(const struct found *v, size_t nr)
{
	struct table *t = table_of_texts("models", "name", "tags", "args", "image", "n_gpus",
					 "timeout", "data", "from", "wrong");
	struct winsize w;
	size_t width = isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;

	for (size_t i = 0; i < nr; i++) {
		const struct found *f = &v[i];
		CLEANUP(xfreep) char *tags = words_of(f, "model.tags", ",");
		CLEANUP(xfreep) char *args = words_of(f, "model.args", " ");
		CLEANUP(xfreep) char *data = words_of(f, "data", ",");
		const char *image = text_of(f, "model.image");
		const char *file = text_of(f, "model.dockerfile");

		table_texts(t, f->name, tags, args, image ? image : file,
			    text_of(f, "model.n_gpus"), text_of(f, "model.timeout"), data, f->from,
			    f->problems.lines.nr ? "yes" : NULL);
	}
	table_write_text(t, stdout, 0, width);
	table_free(t);
}

static void found_words(struct json_out *j, const char *key, const struct found *f,
			const char *path)
{
	CLEANUP(strvec_release) struct strvec seen = STRVEC_INIT;

	json_arr(j, key);
	CFG_EACH(kid, f->tree.root ? cfg_path(f->tree.root, path) : NULL, CFG_SEQ) {
		const char *word = kid->s ? kid->s : cfg_text(kid, "name");

		if (!word || strvec_has(&seen, word))
			continue;
		if (kid->kind == CFG_MAP)
			strvec_push(&seen, word);
		json_str(j, NULL, word);
	}
	json_end(j);
}

static void print_json(const struct found *v, size_t nr)
{
	static const char *const texts[][2] = {
		{ "image", "model.image" },
		{ "dockerfile", "model.dockerfile" },
		{ "n_gpus", "model.n_gpus" },
		{ "timeout", "model.timeout" },
		{ "url", "model.url" },
		{ "owner", "model.owner" },
		{ "precision", "model.precision" },
	};
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_arr(&j, NULL);
	for (size_t i = 0; i < nr; i++) {
		json_obj(&j, NULL);
		json_str(&j, "name", v[i].name);
		json_str(&j, "from", v[i].from);
		found_words(&j, "tags", &v[i], "model.tags");
		found_words(&j, "command", &v[i], "model.command");
		found_words(&j, "args", &v[i], "model.args");
		for (size_t k = 0; k < ARRAY_LEN(texts); k++)
			json_str(&j, texts[k][0], text_of(&v[i], texts[k][1]));
		found_words(&j, "data", &v[i], "data");
		json_words(&j, "problems", &v[i].problems.lines);
		json_words(&j, "notes", &v[i].notes);
		json_end(&j);
	}
	json_end(&j);
	putchar('\n');
}

/* Problems that stop a run but not a list of models: data and logins may be on other machines. */
static bool is_of_a_run(const char *problem)
{
	return strstr(problem, " is not in data.json of ") ||
	       strstr(problem, " is not in credential.json of ");
}

static int discovery_print(const struct run_options *o, const struct catalog *cat,
			   const struct cfg *context, const struct strvec *paths)
{
	struct found *v = xcalloc(paths->nr ? paths->nr : 1, sizeof(*v));
	struct problems all = PROBLEMS_INIT;
	int code = EXIT_DONE;

	for (size_t i = 0; i < paths->nr; i++) {
		models_find(cat, o, context, paths->v[i], &v[i]);
		for (size_t k = 0; k < v[i].problems.lines.nr; k++)
			if (is_of_a_run(v[i].problems.lines.v[k]))
				log_warn("%s", v[i].problems.lines.v[k]);
			else
				cfg_problem(&all, NULL, "%s", v[i].problems.lines.v[k]);
		warn_once(&v[i].notes);
	}
	if (o->json)
		print_json(v, paths->nr);
	else
		print_table(v, paths->nr);
	fflush(stdout);
	for (size_t i = 0; i < all.lines.nr; i++)
		log_error("%s", all.lines.v[i]);
	if (all.lines.nr)
		code = EXIT_CONFIG;
	for (size_t i = 0; i < paths->nr; i++)
		found_release(&v[i]);
	problems_release(&all);
	free(v);
	return code;
}

/* The context, read as run reads it: it may hold data sets of models, and mistakes. */
static int check_context(const struct command *c, const struct run_options *o, struct cfg *ret)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(xfreep) char *dir = mad_package_dir(cwd);
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	struct cfg mapped;
	int code = EXIT_DONE,
	    r = mad_context_load(ret, NULL, o->conf.context_file, o->conf.context, &p, &err);

	if (r == -ENOENT)
		code = cli_usage(c, "%s", err.msg);
	if (r == 0) {
		mad_context_config(ret, dir, o->conf.lenient, &mapped, &p, &notes);
		cfg_release(&mapped);
	}
	warn_once(&notes);
	if (p.lines.nr) {
		cli_problems(&p);
		code = EXIT_CONFIG;
	} else if (r < 0 && code == EXIT_DONE) {
		log_error("%s", err.msg);
		code = EXIT_CONFIG;
	}
	problems_release(&p);
	return code;
}

static int discover_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT, paths = STRVEC_INIT;
	struct catalog *cat = NULL;
	struct run_options o;
	struct cfg context;
	char **rest;

	run_options_init(&o);
	cfg_init(&context);
	const struct opt opts[] = {
		PACKAGE_OPTS(&o),
		{ 0 },
	};
	int code = cli_parse(c, opts, &o.json, argc, argv, &words, &rest);
	if (code < 0 && rest)
		code = cli_usage(c, "no command is run here: leave out what stands after --");
	if (code < 0 && check_context(c, &o, &context) != EXIT_DONE)
		code = EXIT_CONFIG;
	if (code < 0) {
		if (!words.nr && !o.tags.nr)
			strvec_push(&o.tags, "all");
		code = pick_models(c, &o, &words, &cat, &paths);
	}
	if (code < 0)
		code = discovery_print(&o, cat, &context, &paths);
	cfg_release(&context);
	catalog_free(cat);
	run_options_release(&o);
	return code;
}

extern const struct command cmd_discover;
const struct command cmd_discover = { "discover", "[WORD…]", "list models and their problems",
				      "profrig discover --json training", discover_main };
