/* Executes an image_plan: builds, inspects the results, pushes. */
#include "image_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/proc_watch.h"

#define PROBE_TIMEOUT_MS 15000
#define PUSH_TIMEOUT_S 0.0

struct builder {
	struct image_plan *ip;
	const struct image_opts *o;
	bool secrets_work;
	VEC(struct login {
		const char *registry; /* borrowed from a configuration */
		struct private_dir dir;
		struct image_auth auth;
	}) logins; /* one for each registry */
};

static void report_phase(const struct builder *bu, const char *verb, const char *image, size_t i)
{
	CLEANUP(xfreep)
	char *text = bu->ip->jobs.nr > 1
			     ? xasprintf("%s %s (%zu of %zu)", verb, image, i + 1, bu->ip->jobs.nr)
			     : xasprintf("%s %s", verb, image);

	if (bu->o->phase)
		bu->o->phase(bu->o->ctx, text);
}

static bool any_secrets(const struct image_plan *ip)
{
	return VEC_FIND(&ip->jobs, x, x->status == IMAGE_PLANNED && x->secrets);
}

static int probe_builder(struct builder *bu, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;

	bu->o->engine->build(NULL, &argv);
	if (proc_capture(argv.v, PROBE_TIMEOUT_MS, 1 << 20, &out, NULL, &x, NULL) == 0)
		bu->secrets_work = x.code == 0 && strstr(out.buf, "--secret");
	if (bu->secrets_work || !any_secrets(bu->ip))
		return 0;
	return err_set(err, ENOTSUP,
		       "a Dockerfile mounts secrets, and this docker has no BuildKit, which alone "
		       "keeps them out of the image: install its buildx plug-in, or use --engine "
		       "podman");
}

/* --- one image --- */

static void job_failed(struct image_job *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void job_failed(struct image_job *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	free(j->error);
	j->error = xvasprintf(fmt, ap);
	va_end(ap);
	j->status = IMAGE_FAILED;
}

static void secret_masks(const struct build_conf *b, struct strvec *mask)
{
	for (size_t i = 0; i < b->secrets.nr; i++)
		strvec_push(mask, b->secrets.v[i].value);
	if (b->registry.password)
		strvec_push(mask, b->registry.password);
}

static void secrets_forget(struct strvec *secrets)
{
	for (size_t i = 0; i < secrets->nr; i++)
		explicit_bzero(secrets->v[i], strlen(secrets->v[i]));
	strvec_release(secrets);
}

static int secret_files(const struct build_conf *b, const struct private_dir *d,
			struct strvec *words, struct err *err)
{
	for (size_t i = 0; i < b->secrets.nr; i++) {
		const struct build_secret *s = &b->secrets.v[i];
		CLEANUP(xfreep) char *path = private_file(d, s->id, s->value, err);

		if (!path)
			return -EIO;
		strvec_pushf(words, "id=%s,src=%s", s->id, path);
	}
	return 0;
}

static int builder_watch(const struct builder *bu, const struct image_job *j, char *const *argv,
			 int log, double timeout_s, struct strvec *tail, struct proc_exit *x,
			 struct err *err)
{
	CLEANUP(secrets_forget) struct strvec mask = STRVEC_INIT;
	struct proc_watch w = PROC_WATCH_INIT;

	secret_masks(&j->conf->build, &mask);
	w.argv = argv;
	w.mask = mask.v;
	w.log_fd = log;
	w.timeout_s = timeout_s;
	w.interrupt = bu->o->interrupt;
	w.line = bu->o->line;
	w.tick = bu->o->tick;
	w.ctx = bu->o->ctx;
	return proc_watch(&w, tail, x, err);
}

static int open_log(const struct builder *bu, struct image_job *j, struct err *err)
{
	CLEANUP(xfreep) char *name = xstrdup(j->image);
	int fd;

	for (char *c = name; *c; c++)
		if (strchr("/:@", *c))
			*c = '_';
	j->log = xasprintf("%s/%s.log", bu->o->builds_dir, name);
	fd = open(j->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	return fd >= 0 ? fd : err_sys(err, errno, "cannot write '%s'", j->log);
}

static void image_learn(const struct builder *bu, struct image_job *j)
{
	char *none;

	free(j->id);
	free(j->digest);
	image_facts(bu->o->engine, j->image, j->pushed ? j->registry_image : NULL, &j->id,
		    &j->digest);
	if (j->base && !j->base_id) {
		image_facts(bu->o->engine, j->base, NULL, &j->base_id, &none);
		free(none);
	}
}

static int run_build(const struct builder *bu, struct image_job *j, const struct strvec *secrets,
		     int log, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, labels = STRVEC_INIT;
	const struct build_conf *b = &j->conf->build;
	struct image_build ib = {
		.image = j->image,
		.dockerfile = j->dockerfile,
		.context = j->context,
		.target = b->target,
		.network = b->network,
		.args = &j->args,
		.labels = &labels,
		.secrets = secrets,
		.options = &b->options,
		.no_cache = bu->o->no_cache,
		.secrets_work = bu->secrets_work,
	};
	int64_t began = clock_monotonic_ns();
	struct proc_exit x;
	int r;

	strvec_pushf(&labels, "profrig.model=%s", j->conf->model_name);
	bu->o->engine->build(&ib, &argv);
	j->command = strvec_shell(&argv);
	if (log >= 0)
		dprintf(log, "$ %s\n", j->command);
	r = builder_watch(bu, j, argv.v, log, b->timeout_s, &j->tail, &x, err);
	j->build_s = (double)(clock_monotonic_ns() - began) / 1e9;
	if (r < 0)
		job_failed(j, "%s", err->msg);
	else if (x.code != 0)
		job_failed(j, "%s build ended with status %d", bu->o->engine->name,
			   x.code > 0 ? x.code : 128 + x.signal);
	else
		j->status = IMAGE_BUILT;
	return r;
}

static int build_one(const struct builder *bu, struct image_job *j, struct err *err)
{
	CLEANUP(private_dir_remove) struct private_dir dir = PRIVATE_DIR_INIT;
	CLEANUP(strvec_release) struct strvec secrets = STRVEC_INIT;
	CLEANUP(xclosep) int log = -1;
	int r = 0;

	log = open_log(bu, j, err);
	if (log < 0)
		r = log;
	if (r == 0 && j->secrets)
		r = private_dir_make(&dir, err);
	if (r == 0 && j->secrets)
		r = secret_files(&j->conf->build, &dir, &secrets, err);
	if (r < 0) {
		job_failed(j, "%s", err->msg);
		return r;
	}
	r = run_build(bu, j, &secrets, log, err);
	if (j->status == IMAGE_BUILT)
		image_learn(bu, j);
	return r;
}

/* The digest that podman wrote at the push: "sha256:…". */
static void told_digest(struct image_job *j, const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *base = strrchr(j->registry_image, '/');
	size_t n, repo = (size_t)(base - j->registry_image) + strcspn(base, ":");

	if (fs_read(path, 256, &text, &n, NULL) < 0)
		return;
	unlink(path);
	text[strcspn(text, " \r\n")] = '\0';
	if (strncmp(text, "sha256:", 7) != 0)
		return;
	free(j->digest);
	j->digest = xasprintf("%.*s@%s", (int)repo, j->registry_image, text);
}

static struct login *login_of(const struct builder *bu, const char *registry)
{
	return VEC_FIND(&bu->logins, x, !strcmp(x->registry, registry));
}

/* Before any build, as a refused login would otherwise be found late. */
static int log_in(struct builder *bu, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < bu->ip->jobs.nr; i++) {
		const struct image_job *j = &bu->ip->jobs.v[i];
		const struct build_conf *b = &j->conf->build;
		struct login l = { .registry = b->registry.name, .dir = PRIVATE_DIR_INIT };

		if (j->status != IMAGE_PLANNED || !j->registry_image || !l.registry ||
		    login_of(bu, l.registry))
			continue;
		if (bu->o->phase && b->registry.user)
			bu->o->phase(bu->o->ctx, "login");
		r = image_login(bu->o->engine, b, bu->o, &l.dir, &l.auth, err);
		VEC_PUSH(&bu->logins, l);
	}
	return r;
}

static void log_out(struct builder *bu)
{
	for (size_t i = 0; i < bu->logins.nr; i++)
		private_dir_remove(&bu->logins.v[i].dir);
	VEC_RELEASE(&bu->logins);
}

static int image_push_one(const struct builder *bu, struct image_job *j, struct err *err)
{
	CLEANUP(strvec_release)
	struct strvec tag = STRVEC_INIT, push = STRVEC_INIT, tail = STRVEC_INIT;
	CLEANUP(xclosep)
	int log = open(j->log, O_WRONLY | O_APPEND | O_CLOEXEC);
	CLEANUP(xfreep) char *digest = xasprintf("%s.digest", j->log);
	const struct login *l = login_of(bu, j->conf->build.registry.name);
	struct proc_exit x = { 0 };
	int r;

	engine_ask(bu->o->engine, ENGINE_TAG, &tag, .of = j->image, .with = j->registry_image);
	engine_ask(bu->o->engine, ENGINE_PUSH, &push, .of = j->registry_image, .with = digest,
		   .auth = &l->auth);
	r = builder_watch(bu, j, tag.v, log, 0, &tail, &x, err);
	if (r == 0 && x.code == 0)
		r = builder_watch(bu, j, push.v, log, PUSH_TIMEOUT_S, &tail, &x, err);
	if (r < 0)
		j->push_error = xstrdup(err->msg);
	else if (x.code != 0)
		j->push_error = xasprintf("%.400s", image_last_words(&tail));
	else
		j->pushed = true;
	if (j->pushed) {
		image_learn(bu, j);
		told_digest(j, digest);
	}
	return r;
}

int image_build_all(struct image_plan *ip, const struct image_opts *o, struct err *err)
{
	struct builder bu = { .ip = ip, .o = o, .logins = VEC_INIT };
	int r;

	image_sweep();
	r = probe_builder(&bu, err);
	if (r == 0)
		r = log_in(&bu, err);
	for (size_t i = 0; r == 0 && i < ip->jobs.nr; i++) {
		struct image_job *j = &ip->jobs.v[i];
		struct err why = ERR_INIT;

		if (j->status == IMAGE_PREBUILT) {
			image_learn(&bu, j);
			continue;
		}
		report_phase(&bu, "build", j->image, i);
		if (build_one(&bu, j, &why) == -EINTR)
			r = -EINTR;
		if (r == 0 && j->status == IMAGE_BUILT && j->registry_image) {
			report_phase(&bu, "push", j->registry_image, i);
			if (image_push_one(&bu, j, &why) == -EINTR)
				r = -EINTR;
		}
	}
	log_out(&bu);
	return r == -EINTR ? err_set(err, EINTR, "interrupted") : r;
}
