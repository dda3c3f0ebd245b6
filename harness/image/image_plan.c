/* From configurations to planned images. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/image/image.h"

/*
 * A path component of an image's name is [a-z0-9]+ joined by '.', '_', '__' or any number of '-'.
 * Everything else becomes '_', and a run of separators that no name may hold becomes one '_'.
 */
static char *clean_name(const char *text)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	for (const char *s = text; *s;) {
		size_t n = 0, dashes = 0, lines = 0, dots = 0;

		if (isascii((unsigned char)*s) && isalnum((unsigned char)*s)) {
			strbuf_addch(&out, tolower((unsigned char)*s++));
			continue;
		}
		for (; s[n] && !(isascii((unsigned char)s[n]) && isalnum((unsigned char)s[n])); n++)
			if (s[n] == '-')
				dashes++;
			else if (s[n] == '.')
				dots++;
			else
				lines++;
		if (out.len && s[n]) {
			if (dashes == n)
				strbuf_add(&out, s, n);
			else if (dots == 1 && n == 1)
				strbuf_addch(&out, '.');
			else
				strbuf_addstr(&out, lines == n && n == 2 ? "__" : "_");
		}
		s += n;
	}
	return strbuf_steal(&out);
}

char *image_name(const char *model, const char *dockerfile, const char *arch)
{
	const char *base = dockerfile ? fs_base(dockerfile) : NULL;
	const char *end = base ? text_suffix(base, ".Dockerfile") : NULL;
	CLEANUP(xfreep)
	char *stem = base ? xstrndup(base, end ? (size_t)(end - base) : strlen(base)) : NULL;
	CLEANUP(xfreep)
	char *all = xasprintf("ci-%s%s%s%s%s", model, stem ? "_" : "", stem ? stem : "",
			      arch ? "_" : "", arch ? arch : "");

	return clean_name(all);
}

char *image_registry_name(const char *registry, const char *repository, const char *image)
{
	if (repository && *repository) {
		CLEANUP(xfreep) char *tag = xstrdup(image);

		/* A tag may hold neither '/' nor ':'. */
		for (char *c = tag; *c; c++)
			if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
				*c = '_';
		return xasprintf("%s/%s:%s", registry, repository, tag);
	}
	return xasprintf("%s/%s", registry, image);
}

size_t image_registry_len(const char *image)
{
	size_t n = strcspn(image, "/");

	/* Without a dot or a port it is the first folder of a repository. */
	return image[n] && (memchr(image, '.', n) || memchr(image, ':', n) ||
			    (n == 9 && !strncmp(image, "localhost", n)))
		       ? n
		       : 0;
}

static char *context_words(const struct build_conf *b)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < b->context.nr; i++)
		strbuf_addf(&sb, "%s%s %s", i ? ", " : "", b->context.v[i].name,
			    b->context.v[i].value);
	return strbuf_steal(&sb);
}

static void none_fits(const struct runconf *conf, const struct dockerfiles *all, struct problems *p)
{
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;
	CLEANUP(xfreep) char *context = context_words(&conf->build);

	for (size_t i = 0; i < all->v.nr; i++)
		strbuf_addf(&list, "%s%s %s", i ? "; " : "", fs_base(all->v.v[i].path),
			    all->v.v[i].why);
	cfg_problem(p, NULL,
		    "%s: no Dockerfile of model '%s' fits the context (%s): %s; add one, or say "
		    "what is meant with --set context.KEY=VALUE",
		    conf->build.dockerfile_where, conf->model_name, context, list.buf);
}

static const char *vendor_of(const struct dockerfile *d)
{
	return d->context.root ? cfg_text(d->context.root, "gpu_vendor") : NULL;
}

/* The vendor of images when neither the configuration nor a GPU of this machine gives one. */
#define DEFAULT_VENDOR "AMD"

static bool vendor_is_known(const struct build_conf *b)
{
	return VEC_FIND(&b->context, x, !strcmp(x->name, "gpu_vendor"));
}

/* Without a GPU here and without a choice of the user's, images for two vendors would be built by
 * accident. */
static void one_vendor(struct image_plan *ip, const struct runconf *conf, struct dockerfiles *all)
{
	bool ours = false;
	const char *left_out = NULL;

	for (size_t i = 0; i < all->v.nr; i++)
		ours |= !all->v.v[i].why && vendor_of(&all->v.v[i]) &&
			!strcasecmp(vendor_of(&all->v.v[i]), DEFAULT_VENDOR);
	for (size_t i = 0; ours && i < all->v.nr; i++) {
		struct dockerfile *d = &all->v.v[i];
		const char *vendor = d->why ? NULL : vendor_of(d);

		if (!vendor || !strcasecmp(vendor, DEFAULT_VENDOR))
			continue;
		d->why = xasprintf("wants gpu_vendor %s", vendor);
		left_out = vendor;
	}
	if (left_out)
		strvec_pushf(&ip->notes,
			     "model '%s' has Dockerfiles for %s and for %s, and this machine has "
			     "no GPU: those for %s are taken; --set context.gpu_vendor=%s takes "
			     "the others",
			     conf->model_name, DEFAULT_VENDOR, left_out, DEFAULT_VENDOR, left_out);
}

static bool dockerfile_declares(const struct dockerfile *d, const char *name)
{
	return VEC_FIND(&d->args, x, !strcmp(x->name, name));
}

static bool arg_is_given(const struct build_conf *b, const char *name)
{
	return VEC_FIND(&b->args, x, !strcmp(x->name, name));
}

/* An ARG with the name of a secret: madengine passes it as an argument, which the image's history
 * shows. */
static void secret_args(struct image_plan *ip, const struct dockerfile *d,
			const struct build_conf *b)
{
	for (size_t i = 0; i < d->args.nr; i++)
		for (size_t k = 0; k < b->secrets.nr; k++)
			if (!strcmp(d->args.v[i].name, b->secrets.v[k].id))
				strvec_pushf(&ip->notes,
					     "%s: ARG %s is left empty: an argument stays in the "
					     "image's history; read the secret with RUN "
					     "--mount=type=secret,id=%s",
					     d->args.v[i].origin, d->args.v[i].name,
					     d->args.v[i].name);
}

/* "${BASE_DOCKER}" and "$BASE_DOCKER" stand for the argument. Owned, NULL: unknown. */
static char *base_of(const struct dockerfile *d, const struct build_conf *b)
{
	const char *base = dockerfile_arg(d, b, IMAGE_BASE_ARG), *from = d->from;

	if (from && *from == '$') {
		CLEANUP(xfreep) char *name = xstrdup(from + 1 + (from[1] == '{'));
		const char *value;

		name[strcspn(name, "}:-")] = '\0';
		value = dockerfile_arg(d, b, name);
		return xstrdup_null(value ? value : base);
	}
	return xstrdup_null(base ? base : from);
}

static void add_job(struct image_plan *ip, const struct runconf *conf, const char *word,
		    const struct dockerfile *d, const char *arch, bool only)
{
	const struct build_conf *b = &conf->build;
	struct image_job j = { .conf = conf,
			       .word = xstrdup(word),
			       .dockerfile = xstrdup(d->path),
			       .context = b->folder ? xstrdup(b->folder) : fs_dir(d->path),
			       .arch = xstrdup_null(arch),
			       .vendor = xstrdup_null(vendor_of(d)),
			       .base = base_of(d, b),
			       .args = STRVEC_INIT,
			       .secrets = d->secrets && b->secrets.nr,
			       .tail = STRVEC_INIT,
			       .build_s = 0 };

	j.image = only && conf->image ? xstrdup(conf->image)
				      : image_name(conf->model_name, d->path, arch);
	if (b->registry.name)
		j.registry_image =
			image_registry_name(b->registry.name, b->registry.repository, j.image);
	for (size_t i = 0; i < b->args.nr; i++)
		if (!arch || strcmp(b->args.v[i].name, IMAGE_ARCH_ARG) != 0)
			strvec_pushf(&j.args, "%s=%s", b->args.v[i].name, b->args.v[i].value);
	if (arch)
		strvec_pushf(&j.args, "%s=%s", IMAGE_ARCH_ARG, arch);
	VEC_PUSH(&ip->jobs, j);
}

static void add_dockerfile(struct image_plan *ip, const struct runconf *conf, const char *word,
			   const struct dockerfile *d, bool only)
{
	const struct build_conf *b = &conf->build;
	bool wants = dockerfile_declares(d, IMAGE_ARCH_ARG);

	secret_args(ip, d, b);
	if (wants && !b->archs.nr && !arg_is_given(b, IMAGE_ARCH_ARG) &&
	    !dockerfile_arg(d, b, IMAGE_ARCH_ARG))
		strvec_pushf(&ip->notes,
			     "%s wants to know the architecture (ARG %s) and none is given: "
			     "--target-archs gfx942, for one",
			     d->path, IMAGE_ARCH_ARG);
	if (!wants && b->archs.nr)
		strvec_pushf(&ip->notes,
			     "%s does not declare ARG %s: one image for all architectures", d->path,
			     IMAGE_ARCH_ARG);
	for (size_t i = 0; wants && i < b->archs.nr; i++)
		add_job(ip, conf, word, d, b->archs.v[i], only && b->archs.nr == 1);
	if (!wants || !b->archs.nr)
		add_job(ip, conf, word, d, NULL, only);
}

static void check_names(const struct image_plan *ip, size_t from, struct problems *p)
{
	for (size_t i = from; i < ip->jobs.nr; i++)
		for (size_t k = 0; k < i; k++) {
			const struct image_job *a = &ip->jobs.v[k], *b = &ip->jobs.v[i];

			if (!strcmp(a->image, b->image))
				cfg_problem(p, NULL,
					    "'%s' of model '%s' and '%s' of model '%s' would both "
					    "be image '%s': state model.image for one of them",
					    a->dockerfile ? a->dockerfile : "an image",
					    a->conf->model_name,
					    b->dockerfile ? b->dockerfile : "an image",
					    b->conf->model_name, a->image);
		}
}

static void add_built(struct image_plan *ip, const struct runconf *conf, const char *word,
		      struct problems *p)
{
	struct dockerfiles all;
	struct err err = ERR_INIT;
	size_t kept = 0;

	if (dockerfiles_find(conf->dockerfile, &conf->build, &all, &err) < 0) {
		cfg_problem(p, NULL, "%s: model.dockerfile: %s", conf->build.dockerfile_where,
			    err.msg);
		dockerfiles_release(&all);
		return;
	}
	if (!vendor_is_known(&conf->build))
		one_vendor(ip, conf, &all);
	for (size_t i = 0; i < all.v.nr; i++)
		kept += !all.v.v[i].why;
	if (!kept)
		none_fits(conf, &all, p);
	for (size_t i = 0; i < all.v.nr; i++)
		if (!all.v.v[i].why)
			add_dockerfile(ip, conf, word, &all.v.v[i], kept == 1);
	dockerfiles_release(&all);
}

void image_plan_add(struct image_plan *ip, const struct runconf *conf, const char *word,
		    const char *use_image, struct problems *p)
{
	size_t from = ip->jobs.nr;

	if (use_image && !strcmp(use_image, "auto") && !conf->image)
		cfg_problem(p, NULL, "model '%s' states no image (model.image): --use-image NAME",
			    conf->model_name);
	else if (use_image)
		VEC_PUSH(&ip->jobs, ((struct image_job){ .conf = conf,
							 .word = xstrdup(word),
							 .image = xstrdup(strcmp(use_image, "auto")
										  ? use_image
										  : conf->image),
							 .args = STRVEC_INIT,
							 .tail = STRVEC_INIT,
							 .status = IMAGE_PREBUILT }));
	else if (!conf->dockerfile)
		cfg_problem(p, NULL,
			    "model '%s' states no Dockerfile (model.dockerfile), so there is "
			    "nothing to build",
			    conf->model_name);
	else
		add_built(ip, conf, word, p);
	if (!use_image)
		check_names(ip, from, p);
}

void image_plan_call(struct image_plan *ip, size_t from, const char *name, const char *where,
		     struct problems *p)
{
	struct image_job *j = from < ip->jobs.nr ? &ip->jobs.v[from] : NULL;
	const char *registry = j ? j->conf->build.registry.name : NULL;
	bool full = image_registry_len(name) > 0;

	if (!j)
		return;
	if (ip->jobs.nr - from > 1) {
		cfg_problem(p, NULL,
			    "%s: model '%s' has %zu images (%s, %s%s), and registry_image names "
			    "one: leave it out, or say which with context.KEY",
			    where, j->conf->model_name, ip->jobs.nr - from, j->image, j[1].image,
			    ip->jobs.nr - from > 2 ? ", …" : "");
		return;
	}
	if (!full && !registry && j->status != IMAGE_PREBUILT) {
		cfg_problem(p, NULL,
			    "%s: registry_image '%s' names no registry, and none is given: add "
			    "\"registry\", or --registry HOST",
			    where, name);
		return;
	}
	free(j->registry_image);
	j->registry_image =
		full || !registry ? xstrdup(name) : image_registry_name(registry, NULL, name);
}

FIELD_TABLE(job_fields,
	    TEXT_FIELDS(struct image_job, word, image, registry_image, dockerfile, context, arch,
			base),
	    TEXT_FIELDS(struct image_job, command, log, error, push_error, id, digest, base_id,
			vendor),
	    WORDS_FIELDS(struct image_job, args, tail));
FIELD_TABLE(plan_fields, TEXT_FIELDS(struct image_plan, context),
	    WORDS_FIELDS(struct image_plan, notes), FIELD_VEC(struct image_plan, jobs, job_fields));

void image_plan_release(struct image_plan *ip)
{
	fields_release(ip, plan_fields);
}
