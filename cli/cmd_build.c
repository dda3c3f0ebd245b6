/*
 * build: models → Dockerfiles that fit → images → registry → manifest.
 *
 * Exit codes: 0 all images are there (and pushed, with a registry); 1 an image could not be built
 * or pushed; 2, 3 as for run, 3 also when no Dockerfile fits; 4 no engine that builds, a login that
 * is refused, no builder that keeps secrets, a manifest that cannot be written; 130, 143
 * interrupted. The manifest is written whenever a build was tried.
 */
#include "build_images.h"
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/image/image.h"

struct build_options {
	struct run_options run; /* options shared by builds and runs */
	struct build_request rq;
	const char *builds_dir, *manifest;
	bool dry;
};

static void print_dry(const struct image_plan *ip)
{
	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct image_job *j = &ip->jobs.v[i];

		printf("%s\t%s\t%s%s%s\n", j->conf->model_name, j->image,
		       j->dockerfile ? j->dockerfile : "as it is", j->registry_image ? "\t" : "",
		       j->registry_image ? j->registry_image : "");
	}
}

static void print_json(const struct image_plan *ip, const char *manifest)
{
	struct json_out j;

	json_out_init(&j, stdout, 0);
	json_obj(&j, NULL);
	json_str(&j, "manifest", manifest);
	json_arr(&j, "images");
	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct image_job *job = &ip->jobs.v[i];

		json_obj(&j, NULL);
		json_str(&j, "model", job->conf->model_name);
		json_str(&j, "image", job->image);
		json_str(&j, "dockerfile", job->dockerfile);
		json_bool(&j, "ok", job->status != IMAGE_FAILED && job->status != IMAGE_PLANNED);
		json_str(&j, "image_id", job->id);
		json_str(&j, "registry_image", job->pushed ? job->registry_image : NULL);
		json_str(&j, "repo_digest", job->digest);
		json_f64(&j, "build_s", job->build_s);
		json_str(&j, "error", job->error ? job->error : job->push_error);
		json_str(&j, "log", job->log);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
}

/* -1 to go on, or 2 after printing the reason. */
static int bad_call(const struct command *c, const struct build_options *o,
		    const struct strvec *operands)
{
	if (o->rq.batch && (operands->nr || o->run.tags.nr))
		return cli_usage(c, "--batch-manifest names the models: leave out %s",
				 operands->nr ? operands->v[0] : "--tags");
	if (o->rq.batch && o->rq.use_image)
		return cli_usage(c, "--batch-manifest says of each model whether it is built: "
				    "leave out --use-image");
	if (!operands->nr && !o->run.tags.nr && !o->run.conf.config_files.nr && !o->rq.batch)
		return cli_usage(c, "no model: profrig build MODEL");
	if (o->rq.use_image && o->rq.registry)
		return cli_usage(c, "--use-image builds nothing that --registry could take");
	return -1;
}

static int build_main(const struct command *c, int argc, char **argv)
{
	struct build_options o = { .builds_dir = "builds", .manifest = "build_manifest.json" };
	CLEANUP(strvec_release) struct strvec operands = STRVEC_INIT;
	struct build_set set;
	char **rest;
	int code;

	run_options_init(&o.run);
	build_request_init(&o.rq);
	const struct opt opts[] = {
		PACKAGE_OPTS(&o.run),
		{ "build-arg", 0, OPT_LIST, &o.rq.args, "K=V", "build argument (repeatable)" },
		{ "target-archs", 'a', OPT_LIST, &o.rq.archs, "A,B,…",
		  "one image for each architecture" },
		{ "registry", 'r', OPT_STR, &o.rq.registry, "HOST", "push the images there" },
		{ "use-image", 0, OPT_STR, &o.rq.use_image, "NAME",
		  "build nothing, take this image (auto: model.image)" },
		{ "batch-manifest", 0, OPT_STR, &o.rq.batch, "FILE",
		  "the models of a JSON list, and which of them to build" },
		{ "clean-cache", 0, OPT_FLAG, &o.rq.no_cache, NULL, "build every layer anew" },
		{ "manifest-output", 'm', OPT_STR, &o.manifest, "FILE",
		  "where the manifest goes (build_manifest.json)" },
		{ "output", 'o', OPT_STR, &o.builds_dir, "DIR", "where logs go (./builds)" },
		{ "engine", 0, OPT_CONF_STR, GIVEN(&o.run, "engine"), "NAME",
		  "auto, docker or podman" },
		{ "config", 0, OPT_LIST, &o.run.conf.config_files, "FILE",
		  "configuration, YAML or JSON (repeatable, last wins)" },
		{ "set", 0, OPT_LIST, &o.run.conf.sets, "KEY=VALUE",
		  "one value, such as context.gpu_vendor=AMD" },
		{ "live", 0, OPT_FLAG, &o.rq.live, NULL, "show the builds' output" },
		{ "dry-run", 'n', OPT_FLAG, &o.dry, NULL,
		  "say what would be built, build nothing" },
		MAD_BUILD_OPTS(&o),
		{ 0 },
	};
	code = cli_parse(c, opts, &o.run.json, argc, argv, &operands, &rest);
	if (code < 0 && rest)
		code = cli_usage(c, "a command has no image of its own: name models");
	if (code < 0)
		code = bad_call(c, &o, &operands);
	if (code >= 0) {
		build_request_release(&o.rq);
		run_options_release(&o.run);
		return code;
	}
	cli_catch_signals();
	code = build_plan(c, &o.run, &o.rq, &operands, &set);
	if (code == EXIT_DONE && set.words.nr > set.confs.nr)
		log_notice("a model that is named with several arguments has one image, which the "
			   "manifest runs with the first of them: "
			   "profrig run --manifest FILE -t MODEL:key=value");
	if (code == EXIT_DONE && o.dry) {
		print_dry(&set.plan);
	} else if (code == EXIT_DONE) {
		CLEANUP(xfreep) char *manifest = fs_abs(o.manifest);

		code = build_run(c, &set, &o.rq, o.builds_dir, manifest, NULL);
		if (o.run.json)
			print_json(&set.plan, manifest);
		else if (set.tried)
			printf("%s\n", manifest);
	}
	build_set_release(&set);
	build_request_release(&o.rq);
	run_options_release(&o.run);
	return code;
}

extern const struct command cmd_build;
const struct command cmd_build = { "build", "MODEL…",
				   "build the images of models, and say which in a manifest",
				   "profrig build resnet && "
				   "profrig run --manifest build_manifest.json",
				   build_main };
