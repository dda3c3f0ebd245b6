#include "image_prepare.h"
#include "manifest_context.h"
#include "pick_models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/cfg.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/base/strbuf.h"

#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

void build_request_init(struct build_request *rq)
{
	*rq = (struct build_request){ .args = STRVEC_INIT, .archs = STRVEC_INIT };
}

void build_request_release(struct build_request *rq)
{
	strvec_release(&rq->args);
	strvec_release(&rq->archs);
}

/* --- from words to images --- */

static int check_args(const struct command *c, const struct build_request *rq)
{
	for (size_t i = 0; i < rq->args.nr; i++) {
		const char *word = rq->args.v[i], *eq = strchr(word, '=');
		CLEANUP(xfreep) char *name = xstrndup(word, eq ? (size_t)(eq - word) : 0);

		if (!eq || eq == word)
			return cli_usage(c, "--build-arg wants NAME=VALUE");
		if (name[strspn(name, NAME_CHARS)])
			return cli_usage(c, "--build-arg: '%s' is no name of an argument", name);
		if (runconf_is_secret_name(name))
			return cli_usage(c,
					 "--build-arg %s: an argument stays in the image's history "
					 "and in the process list; use build.secrets and RUN "
					 "--mount=type=secret,id=%s",
					 name, name);
	}
	return EXIT_DONE;
}

static char *quoted(const char *value)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	json_quote(&sb, value, strlen(value));
	return strbuf_steal(&sb);
}

/* The command line's own words, as --set takes them; in front of --set, which wins. */
static void put_sets(const struct build_request *rq, const char *registry,
		     const struct run_options *o, struct strvec *sets)
{
	for (size_t i = 0; i < rq->args.nr; i++) {
		const char *eq = strchr(rq->args.v[i], '=');
		CLEANUP(xfreep) char *value = quoted(eq + 1);

		strvec_pushf(sets, "build.args.%.*s=%s", (int)(eq - rq->args.v[i]), rq->args.v[i],
			     value);
	}
	if (rq->archs.nr) {
		CLEANUP(strvec_release) struct strvec archs = STRVEC_INIT;
		CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;

		for (size_t i = 0; i < rq->archs.nr; i++)
			strvec_split(&archs, rq->archs.v[i], ", ");
		for (size_t i = 0; i < archs.nr; i++) {
			CLEANUP(xfreep) char *word = quoted(archs.v[i]);

			strbuf_addf(&list, "%s%s", i ? ", " : "", word);
		}
		strvec_pushf(sets, "build.target_archs=[%s]", list.buf);
	}
	if (registry) {
		CLEANUP(xfreep) char *name = quoted(registry);

		strvec_pushf(sets, "registry.name=%s", name);
	}
	strvec_pushv(sets, o->sets.v);
}

static int load_model(const struct command *c, const struct run_options *o,
		      const struct build_request *rq, const struct build_item *item,
		      struct build_set *s, struct problems *p)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(strvec_release) struct strvec sets = STRVEC_INIT;
	struct runconf *rc = xcalloc(1, sizeof(*rc));
	struct problems found = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	size_t from = s->plan.jobs.nr;
	int r;

	put_sets(rq, item->registry, o, &sets);
	struct runconf_request request = run_request(o, item->word, NULL, cwd);

	request.sets = sets;
	request.builds = true;
	r = runconf_load(rc, &request, &s->tools, &found, &err);
	warn_once(&rc->notes);
	VEC_PUSH(&s->confs, rc);
	warn_once(&rc->notes);
	if (r == 0)
		image_plan_add(&s->plan, rc, item->word ? item->word : "", item->use_image, &found);
	if (r == 0 && item->registry_image)
		image_plan_call(&s->plan, from, item->registry_image, item->where, &found);
	for (size_t i = 0; i < found.lines.nr; i++)
		cfg_problem(p, NULL, "%s", found.lines.v[i]);
	if (found.lines.nr)
		r = -EINVAL;
	problems_release(&found);
	if (r == -EINVAL)
		return EXIT_CONFIG;
	return r < 0 ? cli_usage(c, "%s", err.msg) : EXIT_DONE;
}

static int pick(struct build_set *s)
{
	const char *name = s->confs.nr ? s->confs.v[0]->engine : "auto";
	CLEANUP(xfreep) char *notice = NULL;
	struct err err = ERR_INIT;
	/* With an image, auto is the first container engine that answers. */
	const struct engine *e = run_pick_engine(name, "image", &notice, &err);

	s->engine = e ? image_engine_find(e->name) : NULL;
	if (s->engine && !strcmp(name, "auto"))
		return EXIT_DONE;
	if (!e) {
		log_error("%s", err.msg);
		return EXIT_USAGE;
	}
	if (!s->engine && strcmp(name, "auto") != 0) {
		log_error("engine '%s' builds no images: --engine docker or --engine podman",
			  e->name);
		return EXIT_MISSING;
	}
	if (!s->engine) {
		log_error("no engine that builds images answers ('profrig doctor' says why)");
		return EXIT_MISSING;
	}
	if (run_engine_answers(e, &err) < 0) {
		log_error("engine '%s' does not answer (%s): %s", e->name, err.msg,
			  engine_remedy(e, err.msg));
		return EXIT_MISSING;
	}
	return EXIT_DONE;
}

void build_items_release(struct build_items *b)
{
	for (size_t i = 0; i < b->v.nr; i++) {
		free(b->v.v[i].word);
		free(b->v.v[i].registry);
		free(b->v.v[i].registry_image);
		free(b->v.v[i].use_image);
		free(b->v.v[i].where);
	}
	VEC_RELEASE(&b->v);
}

static bool same_model(const char *a, const char *b)
{
	CLEANUP(xfreep) char *one = pick_model_key(a);
	CLEANUP(xfreep) char *other = pick_model_key(b);

	return !strcmp(one, other);
}

void build_words_of(const struct build_set *s, const struct image_job *j, struct strvec *ret)
{
	for (size_t i = 0; i < s->words.nr; i++)
		if (same_model(s->words.v[i], j->word))
			strvec_push(ret, s->words.v[i]);
	if (!ret->nr)
		strvec_push(ret, *j->word ? j->word : j->conf->model_name);
}

/* Once for each model, whatever arguments it shall have. */
static void add_word(struct build_items *items, const struct build_request *rq, const char *word)
{
	for (size_t i = 0; word && i < items->v.nr; i++)
		if (same_model(items->v.v[i].word, word))
			return;
	VEC_PUSH(&items->v, ((struct build_item){
				    .word = xstrdup_null(word),
				    .registry = xstrdup_null(rq->registry),
				    .use_image = xstrdup_null(rq->use_image),
			    }));
}

/* 0, or 2, 3 after saying why. */
static int items_of(const struct command *c, const struct run_options *o,
		    const struct build_request *rq, const struct strvec *words,
		    struct build_set *set, struct build_items *ret, struct problems *p)
{
	int code;

	if (rq->batch)
		return batch_models(c, o, rq, &set->catalog, ret, p);
	code = pick_models(c, o, words, &set->catalog, &set->words);
	if (code >= 0)
		return code;
	for (size_t i = 0; i < set->words.nr; i++)
		add_word(ret, rq, set->words.v[i]);
	if (!set->words.nr)
		add_word(ret, rq, NULL);
	return EXIT_DONE;
}

int build_prepare(const struct command *c, const struct run_options *o,
		  const struct build_request *rq, const struct strvec *words, struct build_set *ret)
{
	CLEANUP(build_items_release) struct build_items items = { VEC_INIT };
	CLEANUP(strvec_release) struct strvec left_out = STRVEC_INIT;
	struct run_options with = *o;
	struct problems p = PROBLEMS_INIT;
	int code;

	*ret = (struct build_set){ .confs = VEC_INIT };
	ret->plan.notes = ret->words = (struct strvec)STRVEC_INIT;
	code = check_args(c, rq);
	if (code == EXIT_DONE)
		code = load_tools(c, &o->tools_dirs, &ret->tools);
	if (code == EXIT_DONE)
		code = items_of(c, o, rq, words, ret, &items, &p);
	with.catalog = ret->catalog;
	for (size_t i = 0; i < items.v.nr; i++)
		code = exit_worse(code, load_model(c, &with, rq, &items.v.v[i], ret, &p));
	if (rq->batch)
		batch_check_logins(&ret->plan, &p);
	if (p.lines.nr)
		code = exit_worse(code, EXIT_CONFIG);
	cli_problems(&p);
	problems_release(&p);
	manifest_context_keep(o, &ret->plan, &left_out);
	for (size_t i = 0; i < left_out.nr && code == EXIT_DONE && !strcmp(c->name, "build"); i++)
		log_warn("'%s' of the context holds a secret, which no manifest keeps: give it "
			 "again to 'run --manifest'",
			 left_out.v[i]);
	for (size_t i = 0; i < ret->plan.notes.nr && code == EXIT_DONE; i++)
		log_warn("%s", ret->plan.notes.v[i]);
	return code;
}

void build_set_release(struct build_set *s)
{
	image_plan_release(&s->plan);
	for (size_t i = 0; i < s->confs.nr; i++) {
		runconf_release(s->confs.v[i]);
		free(s->confs.v[i]);
	}
	VEC_RELEASE(&s->confs);
	strvec_release(&s->words);
	tool_set_release(&s->tools);
	catalog_free(s->catalog);
}

/* --- building --- */

static void on_phase(void *ctx, const char *phase)
{
	(void)ctx;
	progress_phase("%s", phase);
}

static void on_line(void *ctx, const char *line)
{
	const bool *live = ctx;

	if (*live)
		fprintf(stderr, "%s\n", line);
	else
		progress_note(line);
}

static void on_tick(void *ctx)
{
	(void)ctx;
	progress_tick();
}

static void say_failure(const struct image_job *j)
{
	if (j->status == IMAGE_FAILED) {
		log_error("image '%s' of model '%s': %s", j->image, j->conf->model_name, j->error);
		for (size_t i = 0; log_level() >= 0 && i < j->tail.nr; i++) {
			fputs("    ", stderr);
			cli_put(stderr, j->tail.v[i], 200);
			fputc('\n', stderr);
		}
		if (j->log)
			log_error("the whole of it: %s", j->log);
	} else if (j->push_error) {
		log_error("image '%s' could not be pushed as '%s': %s", j->image, j->registry_image,
			  j->push_error);
	}
}

static int judge(const struct build_set *s)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < s->plan.jobs.nr; i++) {
		const struct image_job *j = &s->plan.jobs.v[i];
		char took[32];

		say_failure(j);
		if (j->status == IMAGE_FAILED || j->push_error) {
			code = EXIT_WORKLOAD;
			continue;
		}
		if (j->status == IMAGE_PREBUILT && !j->id)
			log_warn("image '%s' is not here; a run would pull it", j->image);
		if (j->status == IMAGE_BUILT)
			log_notice("built    %s in %s%s%s", j->image, cli_si(j->build_s, "s", took),
				   j->pushed ? ", pushed as " : "",
				   j->pushed ? j->registry_image : "");
	}
	return code;
}

static int check_manifest(const char *manifest)
{
	CLEANUP(xfreep) char *dir = fs_dir(manifest);

	if (fs_is_dir(manifest)) {
		log_error("--manifest-output '%s' is a folder, want a file", manifest);
		return EXIT_USAGE;
	}
	return output_code(dir);
}

int build_run(struct build_set *s, const struct build_request *rq, const char *builds_dir,
	      const char *manifest, char **ret_manifest)
{
	CLEANUP(xfreep) char *id = run_new_id("build");
	CLEANUP(xfreep) char *top = fs_abs(builds_dir);
	CLEANUP(xfreep) char *dir = fs_join(top, id);
	bool live = rq->live;
	struct image_opts o = {
		.builds_dir = dir,
		.no_cache = rq->no_cache,
		.interrupt = &cli_interrupt,
		.phase = on_phase,
		.line = on_line,
		.tick = on_tick,
		.ctx = &live,
	};
	struct err err = ERR_INIT;
	int code, r;

	if (!manifest)
		manifest = *ret_manifest = fs_join(dir, "manifest.json");
	code = check_manifest(manifest);
	if (code == EXIT_DONE)
		code = pick(s);
	if (code != EXIT_DONE)
		return code;
	if (!rq->use_image && fs_mkdirs(dir, 0777, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	o.engine = s->engine;
	r = image_build_all(&s->plan, &o, &err);
	progress_end();
	if (r < 0 && r != -EINTR) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	s->tried = true;
	code = judge(s);
	if (manifest_write(&s->plan, s->engine->name, id, PROFRIG_VERSION, manifest, &err) < 0) {
		log_error("%s", err.msg);
		code = exit_worse(code, EXIT_MISSING);
	}
	return cli_interrupt ? cli_interrupt_code(cli_interrupt) : code;
}
