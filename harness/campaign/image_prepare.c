#include "image_prepare.h"
#include "manifest_context.h"
#include "pick_models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/cfg.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
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

static int check_args(const struct build_request *rq, struct err *err)
{
	for (size_t i = 0; i < rq->args.nr; i++) {
		const char *word = rq->args.v[i], *eq = strchr(word, '=');
		CLEANUP(xfreep) char *name = xstrndup(word, eq ? (size_t)(eq - word) : 0);

		if (!eq || eq == word)
			return err_set(err, EINVAL, "--build-arg wants NAME=VALUE");
		if (name[strspn(name, NAME_CHARS)])
			return err_set(err, EINVAL, "--build-arg: '%s' is no name of an argument",
				       name);
		if (runconf_is_secret_name(name))
			return err_set(err, EINVAL,
				       "--build-arg %s: an argument stays in the image's history "
				       "and in the process list; use build.secrets and RUN "
				       "--mount=type=secret,id=%s",
				       name, name);
	}
	return 0;
}

static char *value_quoted(const char *value)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	json_quote(&sb, value, strlen(value));
	return strbuf_steal(&sb);
}

/* Options of the command line as --set values; they go in front of --set, which wins. */
static void put_sets(const struct build_request *rq, const char *registry,
		     const struct run_options *o, struct strvec *sets)
{
	for (size_t i = 0; i < rq->args.nr; i++) {
		const char *eq = strchr(rq->args.v[i], '=');
		CLEANUP(xfreep) char *value = value_quoted(eq + 1);

		strvec_pushf(sets, "build.args.%.*s=%s", (int)(eq - rq->args.v[i]), rq->args.v[i],
			     value);
	}
	if (rq->archs.nr) {
		CLEANUP(strvec_release) struct strvec archs = STRVEC_INIT;
		CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;

		for (size_t i = 0; i < rq->archs.nr; i++)
			strvec_split(&archs, rq->archs.v[i], ", ");
		for (size_t i = 0; i < archs.nr; i++) {
			CLEANUP(xfreep) char *word = value_quoted(archs.v[i]);

			strbuf_addf(&list, "%s%s", i ? ", " : "", word);
		}
		strvec_pushf(sets, "build.target_archs=[%s]", list.buf);
	}
	if (registry) {
		CLEANUP(xfreep) char *name = value_quoted(registry);

		strvec_pushf(sets, "registry.name=%s", name);
	}
	strvec_pushv(sets, o->conf.sets.v);
}

static int load_model(const struct run_options *o, const struct build_request *rq,
		      const struct build_item *item, struct build_set *s, struct problems *p,
		      struct said *said, struct err *err)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(strvec_release) struct strvec sets = STRVEC_INIT;
	struct runconf *rc = xcalloc(1, sizeof(*rc));
	struct problems found = PROBLEMS_INIT;
	struct err why = ERR_INIT;
	size_t from = s->plan.jobs.nr;
	int r;

	put_sets(rq, item->registry, o, &sets);
	struct runconf_request request = run_request(o, item->word, NULL, cwd);

	request.sets = sets;
	request.builds = true;
	r = runconf_load(rc, &request, &s->tools, &found, &why);
	VEC_PUSH(&s->confs, rc);
	said_once(said, &rc->notes);
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
		return -EBADMSG;
	return r < 0 ? err_set(err, EINVAL, "%s", why.msg) : 0;
}

int build_engine(struct build_set *s, struct err *err)
{
	const char *name = s->confs.nr ? s->confs.v[0]->engine : "auto";
	CLEANUP(xfreep) char *notice = NULL;
	struct err why = ERR_INIT;
	/* With an image, auto selects the first container engine that answers. */
	const struct engine *e = run_pick_engine(name, "image", &notice, &why);

	s->engine = e && e->build ? e : NULL;
	if (s->engine && !strcmp(name, "auto"))
		return 0;
	if (!e)
		return err_set(err, ENOENT, "%s", why.msg);
	if (!s->engine && strcmp(name, "auto") != 0)
		return err_set(err, ENODEV,
			       "engine '%s' builds no images: --engine docker or --engine podman",
			       e->name);
	if (!s->engine)
		return err_set(err, ENODEV,
			       "no engine that builds images answers ('profrig doctor' says why)");
	if (run_engine_answers(e, &why) < 0)
		return err_set(err, ENODEV, "engine '%s' does not answer (%s): %s", e->name,
			       why.msg, engine_remedy(e, why.msg));
	return 0;
}

FIELD_TABLE(item_fields,
	    TEXT_FIELDS(struct build_item, word, registry, registry_image, use_image, where));
FIELD_TABLE(items_fields, FIELD_VEC(struct build_items, v, item_fields));

static void build_items_release(struct build_items *b)
{
	fields_release(b, items_fields);
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

/* Adds a model once, whatever its arguments. */
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

static int items_of(const char *command, const struct run_options *o,
		    const struct build_request *rq, const struct strvec *words,
		    struct build_set *set, struct build_items *ret, struct problems *p,
		    struct said *said, struct err *err)
{
	struct problems found = PROBLEMS_INIT;
	int r;

	if (rq->batch)
		return batch_models(o, rq, &set->catalog, ret, p, said, err);
	r = models_pick(command, o, words, &set->catalog, &set->words, &found, err);
	for (size_t i = 0; r == -EBADMSG && i < found.lines.nr; i++)
		cfg_problem(p, NULL, "%s", found.lines.v[i]);
	problems_release(&found);
	if (r < 0)
		return r;
	for (size_t i = 0; i < set->words.nr; i++)
		add_word(ret, rq, set->words.v[i]);
	if (!set->words.nr)
		add_word(ret, rq, NULL);
	return 0;
}

/* A usage error takes precedence over a configuration error. */
static int code_worse(int r, int of_model)
{
	return r == -EINVAL || r == -ENOENT || of_model == 0 ? r : of_model;
}

int build_prepare(const char *command, const struct run_options *o, const struct build_request *rq,
		  const struct strvec *words, struct build_set *ret, struct problems *p,
		  struct said *said, struct err *err)
{
	CLEANUP(build_items_release) struct build_items items = { VEC_INIT };
	CLEANUP(strvec_release) struct strvec left_out = STRVEC_INIT;
	struct run_options with = *o;
	int r;

	*ret = (struct build_set){ .confs = VEC_INIT };
	ret->plan.notes = ret->words = (struct strvec)STRVEC_INIT;
	r = check_args(rq, err);
	if (r == 0)
		r = tools_load(&o->tools_dirs, &ret->tools, said, err);
	if (r == 0)
		r = items_of(command, o, rq, words, ret, &items, p, said, err);
	with.conf.catalog = ret->catalog;
	for (size_t i = 0; i < items.v.nr; i++)
		r = code_worse(r, load_model(&with, rq, &items.v.v[i], ret, p, said,
					     r == -EINVAL ? NULL : err));
	if (rq->batch)
		batch_check_logins(&ret->plan, p);
	if (p->lines.nr)
		r = code_worse(r, -EBADMSG);
	manifest_context_keep(o, &ret->plan, &left_out);
	for (size_t i = 0; i < left_out.nr && r == 0 && !strcmp(command, "build"); i++)
		said_add(said, SAID_WARNING,
			 "'%s' of the context holds a secret, which no manifest keeps: give it "
			 "again to 'run --manifest'",
			 left_out.v[i]);
	for (size_t i = 0; i < ret->plan.notes.nr && r == 0; i++)
		said_add(said, SAID_WARNING, "%s", ret->plan.notes.v[i]);
	return r;
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
