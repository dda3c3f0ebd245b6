/*
 * The manifest: one JSON object. Keys that madengine reads:
 *
 *	built_images	image → {model, docker_image, dockerfile, base_docker, docker_sha,
 *			build_duration, build_command, log_file, gpu_vendor, [gpu_architecture,
 *			registry_image, registry, push_error]}
 *	built_models	image → the model's entry
 *	context		docker_env_vars, docker_mounts, docker_build_arg, gpu_vendor, guest_os,
 *			docker_gpus
 *	credentials_required, deployment_config, summary, [push_failures]
 *
 * profrig adds: schema, created_utc, engine, build_id, folder, failed_images; to an image status,
 * image_id, repo_digest, docker_context; and to a model the word that selected it. An image that
 * could not be built is in failed_images only: every image of built_images may be run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/image/image.h"

#define MAX_MANIFEST ((size_t)16 << 20)

/* NULL: unknown. Without a GPU on this machine only the Dockerfile gives the vendor. */
static const char *context_value(const struct image_job *j, const char *key)
{
	const struct build_conf *b = &j->conf->build;

	for (size_t i = 0; i < b->context.nr; i++)
		if (!strcmp(b->context.v[i].name, key))
			return b->context.v[i].value;
	return !strcmp(key, "gpu_vendor") ? j->vendor : NULL;
}

/* The image's key. Several models may share a prebuilt image, so its key is the model's name. */
static char *key_of(const struct image_job *j)
{
	return j->status == IMAGE_PREBUILT ? image_name(j->conf->model_name, NULL, NULL)
					   : xstrdup(j->image);
}

static bool is_good(const struct image_job *j)
{
	return j->status == IMAGE_BUILT || j->status == IMAGE_PREBUILT;
}

static const char *status_name(enum image_status s)
{
	static const char *const names[] = { "not built", "built", "prebuilt", "failed" };

	return names[s];
}

static void put_image(struct json_out *out, const struct image_job *j)
{
	CLEANUP(xfreep) char *key = key_of(j);

	json_obj(out, key);
	json_str(out, "model", j->conf->model_name);
	json_str(out, "docker_image", j->image);
	json_str(out, "status", status_name(j->status));
	json_str(out, "dockerfile", j->dockerfile);
	json_str(out, "docker_context", j->context);
	json_str(out, "base_docker", j->base ? j->base : "");
	json_str(out, "docker_sha", j->base_id ? j->base_id : "");
	json_str(out, "image_id", j->id);
	json_str(out, "repo_digest", j->digest);
	json_f64(out, "build_duration", j->build_s);
	json_str(out, "build_command", j->command);
	json_str(out, "log_file", j->log);
	json_str(out, "gpu_vendor", context_value(j, "gpu_vendor"));
	if (j->arch)
		json_str(out, "gpu_architecture", j->arch);
	if (j->registry_image && (j->pushed || j->status == IMAGE_PREBUILT)) {
		json_str(out, "registry_image", j->registry_image);
		json_str(out, "registry", j->conf->build.registry.name);
	}
	if (j->error)
		json_str(out, "error", j->error);
	if (j->push_error)
		json_str(out, "push_error", j->push_error);
	json_end(out);
}

/* The entry's script as its package writes it: "scripts/x/run.sh"; for other models the program. */
static char *scripts_of(const struct runconf *rc)
{
	CLEANUP(xfreep) char *package = NULL;
	CLEANUP(xfreep) char *path = NULL;
	const char *below = NULL;

	if (!rc->mad_model || !rc->source.copy || rc->command.nr < 2)
		return xstrdup(rc->command.nr ? rc->command.v[0] : "");
	path = fs_join(rc->source.copy, rc->command.v[1]);
	package = rc->source.scripts ? fs_dir(rc->source.scripts) : NULL;
	below = package ? fs_below(package, path) : NULL;
	return xstrdup(below ? below : path);
}

static const char *gpus_of(const struct runconf *rc)
{
	if (rc->n_gpus)
		return rc->n_gpus;
	return rc->gpus && strcmp(rc->gpus, "all") != 0 ? rc->gpus : "-1";
}

static void put_models(struct json_out *out, const struct image_plan *ip)
{
	json_obj(out, "built_models");
	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct image_job *j = &ip->jobs.v[i];
		const struct runconf *rc = j->conf;
		CLEANUP(xfreep) char *key = key_of(j);
		CLEANUP(xfreep) char *scripts = scripts_of(rc);

		if (!is_good(j))
			continue;
		json_obj(out, key);
		json_str(out, "name", rc->model_name);
		json_str(out, "word", j->word);
		json_str(out, "dockerfile", rc->dockerfile ? rc->dockerfile : "");
		json_str(out, "scripts", scripts);
		json_str(out, "n_gpus", gpus_of(rc));
		json_f64(out, "timeout", rc->timeout_s);
		json_words(out, "tags", &rc->tags);
		json_end(out);
	}
	json_end(out);
}

static void put_context(struct json_out *out, const struct image_job *j)
{
	json_obj(out, "context");
	json_obj(out, "docker_env_vars");
	for (size_t i = 0; j && i < j->conf->env.nr; i++)
		if (!j->conf->env.v[i].secret)
			json_str(out, j->conf->env.v[i].name, j->conf->env.v[i].value);
	json_end(out);
	json_obj(out, "docker_mounts");
	for (size_t i = 0; j && i < j->conf->mounts.nr; i++)
		json_str(out, j->conf->mounts.v[i].container, j->conf->mounts.v[i].host);
	json_end(out);
	json_obj(out, "docker_build_arg");
	for (size_t i = 0; j && i < j->conf->build.args.nr; i++)
		json_str(out, j->conf->build.args.v[i].name, j->conf->build.args.v[i].value);
	json_end(out);
	json_str(out, "gpu_vendor", j ? context_value(j, "gpu_vendor") : NULL);
	json_str(out, "guest_os", j ? context_value(j, "guest_os") : NULL);
	json_str(out, "docker_gpus", j && j->conf->gpus ? j->conf->gpus : "");
	json_end(out);
}

static void put_names(struct json_out *out, const char *key, const struct image_plan *ip,
		      bool (*want)(const struct image_job *j))
{
	json_arr(out, key);
	for (size_t i = 0; i < ip->jobs.nr; i++)
		if (want(&ip->jobs.v[i]))
			json_str(out, NULL, ip->jobs.v[i].image);
	json_end(out);
}

static bool is_bad(const struct image_job *j)
{
	return !is_good(j);
}

static bool is_pushed(const struct image_job *j)
{
	return j->pushed;
}

static bool not_pushed(const struct image_job *j)
{
	return j->push_error != NULL;
}

static void put_summary(struct json_out *out, const struct image_plan *ip)
{
	double total = 0;

	for (size_t i = 0; i < ip->jobs.nr; i++)
		total += ip->jobs.v[i].build_s;
	json_obj(out, "summary");
	put_names(out, "successful_builds", ip, is_good);
	put_names(out, "failed_builds", ip, is_bad);
	json_f64(out, "total_build_time", total);
	put_names(out, "successful_pushes", ip, is_pushed);
	put_names(out, "failed_pushes", ip, not_pushed);
	json_end(out);
	json_obj(out, "push_failures");
	for (size_t i = 0; i < ip->jobs.nr; i++)
		if (ip->jobs.v[i].push_error)
			json_str(out, ip->jobs.v[i].image, ip->jobs.v[i].push_error);
	json_end(out);
}

static void put_credentials(struct json_out *out, const struct image_plan *ip)
{
	CLEANUP(strvec_release) struct strvec ids = STRVEC_INIT;

	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct build_conf *b = &ip->jobs.v[i].conf->build;

		for (size_t k = 0; k < b->secrets.nr; k++)
			if (!strvec_has(&ids, b->secrets.v[k].id))
				strvec_push(&ids, b->secrets.v[k].id);
	}
	json_words(out, "credentials_required", &ids);
}

static void manifest_put(struct json_out *out, const struct image_plan *ip, const char *engine,
			 const char *build_id, const char *version)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	char utc[32];

	json_obj(out, NULL);
	json_str(out, "schema", MANIFEST_SCHEMA);
	json_str(out, "created_utc", clock_utc(clock_realtime_ns(), utc));
	json_str(out, "profrig", version);
	json_str(out, "engine", engine);
	json_str(out, "build_id", build_id);
	json_str(out, "folder", cwd);
	json_obj(out, "built_images");
	for (size_t i = 0; i < ip->jobs.nr; i++)
		if (is_good(&ip->jobs.v[i]))
			put_image(out, &ip->jobs.v[i]);
	json_end(out);
	json_obj(out, "failed_images");
	for (size_t i = 0; i < ip->jobs.nr; i++)
		if (!is_good(&ip->jobs.v[i]))
			put_image(out, &ip->jobs.v[i]);
	json_end(out);
	put_models(out, ip);
	put_context(out, ip->jobs.nr ? &ip->jobs.v[0] : NULL);
	if (ip->context)
		json_raw(out, "additional_context", ip->context);
	put_credentials(out, ip);
	json_obj(out, "deployment_config");
	json_str(out, "target", "local");
	json_end(out);
	put_summary(out, ip);
	json_end(out);
}

int manifest_write(const struct image_plan *ip, const char *engine, const char *build_id,
		   const char *version, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	struct json_out out;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&out, f, 2);
	manifest_put(&out, ip, engine, build_id, version);
	putc('\n', f);
	fclose(f);
	return fs_write_atomic(path, text, n, err);
}

/* --- reading --- */

static double number_at(const struct cfg_node *map, const char *key)
{
	const struct cfg_node *n = cfg_get(map, key);

	if (n && n->kind == CFG_FLOAT)
		return n->f;
	return n && n->kind == CFG_INT ? (double)n->i : NAN;
}

static void add_image(struct manifest *m, const struct cfg_node *n)
{
	const struct cfg_node *model = cfg_get(cfg_get(m->tree.root, "built_models"), n->key);
	const char *image = cfg_text(n, "docker_image"), *name = cfg_text(model, "name");

	/* madengine uses the key as the image's name when there is none. */
	VEC_PUSH(&m->images, ((struct manifest_image){
				     .image = xstrdup(image && *image ? image : n->key),
				     .registry_image = xstrdup_null(cfg_text(n, "registry_image")),
				     .id = xstrdup_null(cfg_text(n, "image_id")),
				     .model = xstrdup_null(name ? name : cfg_text(n, "model")),
				     .word = xstrdup_null(cfg_text(model, "word")),
				     .dockerfile = xstrdup_null(cfg_text(n, "dockerfile")),
				     .base = xstrdup_null(cfg_text(n, "base_docker")),
				     .build_s = number_at(n, "build_duration"),
			     }));
}

int manifest_read(struct manifest *m, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	const struct cfg_node *images, *bad_ones;
	const char *schema;
	size_t n;
	int r;

	*m = (struct manifest){ .images = VEC_INIT, .failed = STRVEC_INIT };
	cfg_init(&m->tree);
	r = fs_read(path, MAX_MANIFEST, &text, &n, err);
	if (r == 0)
		r = cfg_parse_text(&m->tree, text, n, path, true, LAYER_FILE, err);
	if (r < 0)
		return r == -ENOENT ? r : err_wrap(err, -EINVAL, "manifest");
	schema = cfg_text(m->tree.root, "schema");
	if (schema && strcmp(schema, MANIFEST_SCHEMA) != 0)
		return err_set(err, EINVAL, "%s: schema '%.60s' is not %s", path, schema,
			       MANIFEST_SCHEMA);
	m->ours = schema != NULL;
	m->folder = xstrdup_null(cfg_text(m->tree.root, "folder"));
	images = cfg_get(m->tree.root, "built_images");
	if (!images || images->kind != CFG_MAP)
		return err_set(err, EINVAL,
			       "%s: no 'built_images' in it: not a manifest of 'profrig build'",
			       path);
	for (size_t i = 0; i < images->nr; i++)
		if (images->child[i]->kind == CFG_MAP)
			add_image(m, images->child[i]);
	bad_ones = cfg_get(m->tree.root, "failed_images");
	CFG_EACH(kid, bad_ones, CFG_MAP)
		strvec_push(&m->failed, kid->key);
	return 0;
}

FIELD_TABLE(image_fields,
	    TEXT_FIELDS(struct manifest_image, image, registry_image, id, model, word, at),
	    TEXT_FIELDS(struct manifest_image, dockerfile, base));
FIELD_TABLE(manifest_fields, TEXT_FIELDS(struct manifest, folder),
	    WORDS_FIELDS(struct manifest, failed),
	    FIELD_VEC(struct manifest, images, image_fields));

void manifest_release(struct manifest *m)
{
	fields_release(m, manifest_fields);
	cfg_release(&m->tree);
}
