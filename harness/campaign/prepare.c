/*
 * From the command line to a plan: tools, configuration, engine, run id. Used by run and plan.
 */
#include "prepare.h"
#include "run_replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

FIELD_TABLE(unbuilt_fields, TEXT_FIELDS(struct unbuilt, word, image, dockerfile, base, why));
FIELD_TABLE(option_fields,
	    WORDS_FIELDS(struct run_options, tags, tools_dirs, images, names, dockerfiles, bases),
	    WORDS_FIELDS(struct run_options, conf.config_files, conf.sets, conf.labels),
	    TEXT_FIELDS(struct run_options, manifest_context, manifest_made),
	    FIELD_VEC(struct run_options, unbuilt, unbuilt_fields),
	    FIELD_VEC(struct run_options, builds_s, NULL));

void run_options_init(struct run_options *o)
{
	*o = (struct run_options){
		.build_s = NAN, .runs_dir = "runs", .format = "text", .repeat = 1
	};
	fields_init(o, option_fields);
	cfg_init(&o->conf.given);
}

const char *run_given_engine(const struct run_options *o)
{
	return cfg_text(o->conf.given.root, "engine");
}

const char *run_given_image(const struct run_options *o)
{
	return cfg_text(cfg_get(o->conf.given.root, "model"), "image");
}

void run_options_release(struct run_options *o)
{
	cfg_release(&o->conf.given);
	fields_release(o, option_fields);
}

/*
 * An unknown engine is a usage error on the command line, and a configuration error in a file.
 */
static int pick_engine(const struct run_options *o, struct prepared *p, struct said *said,
		       struct err *err)
{
	struct err why = ERR_INIT;
	CLEANUP(xfreep) char *notice = NULL;

	p->engine = run_pick_engine(p->conf.engine, p->conf.image, &notice, &why);
	if (notice)
		said_add(said, SAID_NOTICE, "%s", notice);
	return p->engine ? 0 : err_set(err, run_given_engine(o) ? ENOENT : EBADMSG, "%s", why.msg);
}

/*
 * Settings for containers that a workload on the host does not use. --engine may run a model with
 * an image on the host for once: for values from a lower layer than the choice of the engine, the
 * image is not mentioned and the rest is a notice, not a warning.
 */
static void say_host(const struct prepared *p, struct said *said)
{
	static const char *const keys[] = { "model.image",        "mounts",
					    "container.network",  "container.ipc",
					    "container.shm_size", "container.user",
					    "container.workdir",  "container.caps",
					    "container.options" };
	const struct cfg_node *root = p->conf.effective.root, *e = cfg_path(root, "engine");
	CLEANUP(strbuf_release) struct strbuf near = STRBUF_INIT, far = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct cfg_node *n = cfg_path(root, keys[i]);
		bool close = n && (!e || n->layer >= e->layer);
		struct strbuf *to = close ? &near : &far;

		if (!n || n->kind == CFG_NULL || n->layer <= LAYER_TOOL ||
		    ((n->kind == CFG_SEQ || n->kind == CFG_MAP) && !n->nr) ||
		    (i == 0 && (!close || strcmp(p->conf.engine, "auto") == 0)))
			continue;
		strbuf_addf(to, "%s%s", to->len ? ", " : "", keys[i]);
	}
	if (near.len)
		said_add(said, SAID_WARNING_ONCE, "engine '%s' ignores container settings: %s",
			 p->engine->name, near.buf);
	if (far.len)
		said_add(said, SAID_NOTICE,
			 "engine '%s' ignores container settings of the model: %s", p->engine->name,
			 far.buf);
}

static void say_notes(const struct prepared *p, struct said *said)
{
	said_once(said, &p->conf.notes);
	for (size_t i = 0; i < p->conf.tools.nr; i++)
		said_once(said, &p->conf.tools.v[i].tool->notes);
}

struct runconf_request run_request(const struct run_options *o, const char *model, char *const *cmd,
				   const char *cwd)
{
	struct runconf_request rq = o->conf;

	rq.model = model;
	rq.command = cmd;
	rq.cwd = cwd;
	if (o->replay)
		rq.replay = &o->replay->conf;
	rq.context_base = o->manifest_context;
	rq.context_base_name = o->manifest;
	return rq;
}

static int load_conf(const struct run_options *o, const char *model, char *const *cmd,
		     struct prepared *p, struct problems *problems, struct said *said,
		     struct err *err)
{
	struct err why = ERR_INIT;
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	struct runconf_request rq = run_request(o, model, cmd, cwd);
	int r = runconf_load(&p->conf, &rq, o->tools ? o->tools : &p->tools, problems, &why);

	say_notes(p, said);
	if (problems->lines.nr)
		return -EBADMSG;
	return r < 0 ? err_set(err, EINVAL, "%s", why.msg) : 0;
}

static int make_plan(struct prepared *p, struct problems *problems, struct err *err)
{
	CLEANUP(strvec_release) struct strvec real = STRVEC_INIT;
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	struct plan_request rq = {
		.host = host,
		.conf = &p->conf,
		.engine = p->engine,
		.run_id = p->run_id,
		.run_dir = p->run_dir,
		.lib_dir = p->lib_dir,
		.devices = &p->devices,
		.real = &real,
		.replay = p->replay.of ? &p->replay : NULL,
	};

	pins_real(p, &real);
	engine_limits_read(&rq.limits);
	return plan_make(&rq, &p->plan, problems, err);
}

static void name_run(struct prepared *p)
{
	free(p->run_id);
	free(p->run_dir);
	p->run_id = run_new_id(p->conf.model_name);
	p->run_dir = fs_join(p->runs_dir, p->run_id);
}

static int plan_again(struct prepared *p, struct err *err)
{
	struct problems problems = PROBLEMS_INIT;
	int r;

	plan_release(&p->plan);
	r = make_plan(p, &problems, err);
	problems_release(&problems);
	return r;
}

int prepare_again(struct prepared *p, struct err *err)
{
	int r = pins_hold(p, err);

	if (r < 0)
		return r;
	name_run(p);
	return plan_again(p, err);
}

int prepare_at(struct prepared *p, const char *run_id, const char *run_dir, struct err *err)
{
	int r = pins_hold(p, err);

	if (r < 0)
		return r;
	free(p->run_id);
	free(p->run_dir);
	p->run_id = xstrdup(run_id);
	p->run_dir = xstrdup(run_dir);
	return plan_again(p, err);
}

void prepare_label(struct prepared *p, const char *name, const char *value)
{
	for (size_t i = 0; i < p->conf.labels.nr; i++)
		if (!strcmp(p->conf.labels.v[i].name, name)) {
			free(p->conf.labels.v[i].value);
			p->conf.labels.v[i].value = xstrdup(value);
			return;
		}
	VEC_PUSH(&p->conf.labels, ((struct name_value){ xstrdup(name), xstrdup(value) }));
}

/* Tools of a package in this folder. A broken package stops no run, as it may be there for other
 * reasons. */
static void add_package_tools(struct tool_set *ts, struct said *said)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(xfreep) char *dir = mad_package_dir(cwd);
	CLEANUP(xfreep) char *path = fs_join(dir, "scripts/common/tools.json");
	struct err err = ERR_INIT;

	if (fs_is_file(path) && mad_tools_add(ts, path, dir, false, &err) < 0)
		said_add(said, SAID_WARNING_ONCE, "its tools are left out: %s", err.msg);
}

/* Tools of --tools-config. */
static int add_named_tools(const struct run_options *o, struct tool_set *ts, struct err *err)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	CLEANUP(xfreep) char *dir = mad_package_dir(cwd);
	struct err why = ERR_INIT;
	int r = o->tools_config ? mad_tools_add(ts, o->tools_config, dir, true, &why) : 0;

	if (r == -ENOENT)
		return err_set(err, EINVAL, "--tools-config: %s", why.msg);
	return r == 0 ? 0 : err_set(err, EBADMSG, "%s", why.msg);
}

int tools_load(const struct strvec *dirs, struct tool_set *ret, struct said *said, struct err *err)
{
	struct err why = ERR_INIT;
	int r = tool_set_open(ret, dirs, &why);

	/* -ENOENT: a missing --tools-dir */
	if (r < 0)
		return err_set(err, r == -ENOENT ? EINVAL : EBADMSG, "%s", why.msg);
	add_package_tools(ret, said);
	return 0;
}

/*
 * A configuration with problems is planned too, so that problems which only planning finds
 * (conflicts, missing scripts) are reported with the rest and not one run later. Engines are not
 * asked then.
 */
static int plan_first(const struct run_options *o, struct prepared *p, struct problems *problems,
		      struct said *said, struct err *err)
{
	struct err why = ERR_INIT;
	size_t before = problems->lines.nr;
	int r = 0;

	if (before) {
		p->engine = engine_find(p->conf.engine);
		p->engine = p->engine ? p->engine : engine_find("host");
	} else {
		r = pick_engine(o, p, said, err);
	}
	if (r < 0)
		return r;
	if (!before && o->replay)
		replay_image(o->replay, p, said);
	if (!before && !p->engine->container && !p->bare && !p->alone)
		say_host(p, said);
	devices_find(&p->devices, devices_root());
	p->lib_dir = run_lib_dir();
	p->runs_dir = fs_abs(o->runs_dir);
	name_run(p);
	r = make_plan(p, problems, &why);
	if (r == 0)
		pins_take(p);
	if (r == 0 && o->replay)
		replay_compare(o->replay, p);
	if (r < 0 && !problems->lines.nr)
		return err_set(err, EBADMSG, "%s", why.msg);
	return r < 0 || before ? -EBADMSG : 0;
}

int prepare(const struct run_options *o, const char *model, char *const *cmd, struct prepared *p,
	    struct problems *problems, struct said *said, struct err *err)
{
	struct problems found = PROBLEMS_INIT;
	int r;

	memset(p, 0, sizeof(*p));
	strvec_init(&p->pins);
	p->bare = o->conf.bare;
	p->build_s = o->build_s;
	p->alone = o->conf.only_tool != NULL;
	if (o->replay)
		p->replay = (struct plan_replay){ .of = xstrdup(o->replay->id),
						  .dir = xstrdup(o->replay->dir) };
	r = o->tools ? 0 : tools_load(&o->tools_dirs, &p->tools, said, err);
	if (r == 0 && !o->tools)
		r = add_named_tools(o, &p->tools, err);
	if (r == 0)
		r = load_conf(o, model, cmd, p, &found, said, err);
	if (o->dockerfile && *o->dockerfile) {
		free(p->conf.dockerfile);
		p->conf.dockerfile = xstrdup(o->dockerfile);
		p->conf.base_image = o->base && *o->base ? xstrdup(o->base) : NULL;
	}
	if (r == 0 || (r == -EBADMSG && p->conf.engine))
		r = plan_first(o, p, &found, said, err);
	if (found.lines.nr && o->replay)
		replay_explain(o->replay, p, &found);
	/* A problem that two models share is reported once. */
	for (size_t i = 0; i < found.lines.nr; i++)
		cfg_problem(problems, NULL, "%s", found.lines.v[i]);
	problems_release(&found);
	return r;
}

FIELD_TABLE(difference_fields, TEXT_FIELDS(struct plan_difference, what, recorded, today));
FIELD_TABLE(prepared_fields,
	    TEXT_FIELDS(struct prepared, runs_dir, run_id, run_dir, lib_dir, image_named, replay.of,
			replay.dir),
	    FIELD_VEC(struct prepared, replay.differences, difference_fields),
	    WORDS_FIELDS(struct prepared, pins));

void prepared_release(struct prepared *p)
{
	plan_release(&p->plan);
	runconf_release(&p->conf);
	tool_set_release(&p->tools);
	devices_release(&p->devices);
	fields_release(p, prepared_fields);
	memset(p, 0, sizeof(*p));
}
