/*
 * Building images, with progress on a terminal: shared by `build`, `run --build` and models with a
 * dockerfile.
 */
#include "build_images.h"
#include "manifest_models.h"
#include "package_images.h"
#include "pick_models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"

int build_plan(const struct command *c, const struct run_options *o, const struct build_request *rq,
	       const struct strvec *words, struct build_set *ret)
{
	struct problems problems = PROBLEMS_INIT;
	struct said said = SAID_INIT;
	struct err err = ERR_INIT;
	int r = build_prepare(c->name, o, rq, words, ret, &problems, &said, &err);
	int code;

	cli_said(&said);
	code = cli_failed(c, r, &err);
	cli_problems(&problems);
	problems_release(&problems);
	return code;
}

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

static int builds_judge(const struct build_set *s)
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

int build_run(const struct command *c, struct build_set *s, const struct build_request *rq,
	      const char *builds_dir, const char *manifest, char **ret_manifest)
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
		code = cli_failed(c, build_engine(s, &err), &err);
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
	code = builds_judge(s);
	if (manifest_write(&s->plan, s->engine->name, id, PROFRIG_VERSION, manifest, &err) < 0) {
		log_error("%s", err.msg);
		code = exit_worse(code, EXIT_MISSING);
	}
	return cli_interrupt ? cli_interrupt_code(cli_interrupt) : code;
}

/*
 * Where to write the manifest of images that a run builds for itself. A manifest of `profrig build`
 * is kept: when its name is taken, NULL is returned and the new one goes beside the logs.
 */
static char *manifest_of_run(const struct run_options *o)
{
	const char *name = o->manifest ? o->manifest : "build_manifest.json";

	return o->manifest || !fs_exists(name) ? fs_abs(name) : NULL;
}

int build_first(const struct command *c, struct run_options *o, const struct strvec *words)
{
	struct build_request rq;
	struct build_set set;
	int code;

	if (o->manifest && fs_exists(o->manifest))
		return cli_usage(c,
				 "--manifest: '%s' is there already, and --build writes one: "
				 "leave out --build to run its images",
				 o->manifest);
	build_request_init(&rq);
	code = build_plan(c, o, &rq, words, &set);
	if (code == EXIT_DONE) {
		CLEANUP(xfreep) char *manifest = manifest_of_run(o);

		code = build_run(c, &set, &rq, "builds", manifest, &o->manifest_made);
		if (manifest)
			o->manifest_made = STEAL(manifest);
		o->manifest = o->manifest_made;
	}
	if (code == EXIT_WORKLOAD && !cli_interrupt) {
		o->build_code = code;
		code = unbuilt_add(o, &set) ? EXIT_DONE : code;
	}
	build_set_release(&set);
	build_request_release(&rq);
	return code == EXIT_DONE ? -1 : code;
}

int build_foresee(const struct command *c, struct run_options *o, const struct strvec *words,
		  bool tell, struct strvec *models)
{
	struct build_request rq;
	struct build_set set;
	int code;

	build_request_init(&rq);
	code = build_plan(c, o, &rq, words, &set);
	for (size_t i = 0; code == EXIT_DONE && i < set.plan.jobs.nr; i++) {
		const struct image_job *j = &set.plan.jobs.v[i];

		planned_add(o, &set, j, models);
		if (tell)
			log_notice("'run' builds image '%s' of '%s' first", j->image,
				   j->dockerfile);
	}
	build_set_release(&set);
	build_request_release(&rq);
	return code == EXIT_DONE ? -1 : code;
}

int choose_images(const struct command *c, struct run_options *o, const struct strvec *words,
		  struct catalog **ret_catalog, struct strvec *models)
{
	struct said said = SAID_INIT;
	struct err err = ERR_INIT;
	int r = manifest_models(o, words, ret_catalog, models, &said, &err);

	cli_said(&said);
	return r < 0 ? cli_failed(c, r, &err) : -1;
}

static int build_wanted(const struct command *c, struct run_options *o, const struct strvec *wanted,
			struct strvec *built)
{
	struct catalog *cat = NULL;
	int code = build_first(c, o, wanted);

	if (code < 0)
		code = choose_images(c, o, wanted, &cat, built);
	catalog_free(cat);
	return code;
}

int package_images(const struct command *c, struct run_options *o, bool dry, struct strvec *models)
{
	CLEANUP(strvec_release) struct strvec wanted = STRVEC_INIT, built = STRVEC_INIT;
	struct said said = SAID_INIT;
	int code;

	package_images_wanted(o, models, &wanted, &said);
	cli_said(&said);
	if (!wanted.nr)
		return -1;
	/* The tags have selected the models already. */
	strvec_clear(&o->tags);
	code = dry ? build_foresee(c, o, &wanted, true, &built)
		   : build_wanted(c, o, &wanted, &built);
	/* When no image could be built, some models may not need one. */
	if (code == o->build_code && o->unbuilt.nr && models->nr > wanted.nr)
		code = -1;
	if (code < 0)
		package_images_join(o, &wanted, &built, models);
	return code;
}
