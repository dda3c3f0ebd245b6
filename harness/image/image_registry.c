/* Logins, pulls, and an engine's facts about an image. */
#include "image_priv.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/proc_watch.h"

#define FACTS_TIMEOUT_MS 30000
#define LOGIN_TIMEOUT_S 120.0

const char *image_last_words(const struct strvec *tail)
{
	for (size_t i = tail->nr; i-- > 0;)
		if (tail->v[i][strspn(tail->v[i], " \t")])
			return tail->v[i];
	return "it said nothing";
}

/* The folder of docker's configuration. Owned, NULL: there is none. */
static char *docker_folder(const struct engine *e)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *env = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
	const char *said = NULL;

	engine_ask(e, ENGINE_FACTS, &words, .of = "x");
	for (size_t i = 0; i + 1 < words.nr; i++)
		if (!strcmp(words.v[i], "--config"))
			said = words.v[i + 1];
	if (said || (env && *env))
		return xstrdup(said ? said : env);
	return home ? fs_join(home, ".docker") : NULL;
}

/*
 * A private folder hides the user's own, with its contexts and plug-ins. Those are linked to, and
 * config.json is copied without logins and credential helpers: a helper would keep the run's
 * password for ever.
 */
static int docker_home(const struct engine *e, const struct private_dir *d, struct err *err)
{
	CLEANUP(xfreep) char *from = docker_folder(e);
	CLEANUP(xfreep) char *config = from ? fs_join(from, "config.json") : NULL;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(xfreep) char *path = NULL;
	json_t *doc;

	if (!from || fs_list(from, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *there = fs_join(from, names.v[i]);
		CLEANUP(xfreep) char *here = fs_join(d->path, names.v[i]);
		CLEANUP(xfreep) char *full = fs_abs(there);

		if (strcmp(names.v[i], "config.json") != 0 && symlink(full, here) < 0)
			return err_sys(err, errno, "cannot make '%s'", here);
	}
	doc = json_load_file(config, 0, NULL);
	if (!json_is_object(doc)) {
		json_decref(doc);
		return 0;
	}
	json_object_del(doc, "auths");
	json_object_del(doc, "credsStore");
	json_object_del(doc, "credHelpers");
	text = json_dumps(doc, JSON_COMPACT);
	json_decref(doc);
	path = private_file(d, "config.json", text ? text : "{}", err);
	return path ? 0 : -EIO;
}

int image_login(const struct engine *e, const struct build_conf *b, const struct image_opts *o,
		struct private_dir *d, struct image_auth *auth, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, tail = STRVEC_INIT;
	const char *registry = b->registry.name;
	char *mask[] = { b->registry.password, NULL };
	struct proc_watch w = PROC_WATCH_INIT;
	struct proc_exit x;
	int r;

	*auth = (struct image_auth){ .insecure = b->registry.insecure ||
						 (registry && image_registry_is_local(registry)) };
	if (!registry || !b->registry.user || !b->registry.password)
		return 0;
	r = private_dir_make(d, err);
	if (r == 0 && !strcmp(e->name, "docker"))
		r = docker_home(e, d, err);
	if (r < 0)
		return r;
	auth->dir = d->path;
	engine_ask(e, ENGINE_LOGIN, &argv, .of = registry, .with = b->registry.user, .auth = auth);
	w.argv = argv.v;
	w.input = b->registry.password;
	w.mask = mask;
	w.timeout_s = LOGIN_TIMEOUT_S;
	w.interrupt = o ? o->interrupt : NULL;
	r = proc_watch(&w, &tail, &x, err);
	if (r == 0 && x.code != 0)
		r = err_set(err, EACCES, "login to registry '%s' as '%s' is refused (%.300s)",
			    registry, b->registry.user, image_last_words(&tail));
	return r;
}

/* "r:5000/a/b:tag" → the length of "r:5000/a/b". */
static size_t without_tag(const char *image)
{
	const char *base = strrchr(image, '/');

	base = base ? base : image;
	return (size_t)(base - image) + strcspn(base, ":@");
}

void image_facts(const struct engine *e, const char *image, const char *repository, char **ret_id,
		 char **ret_digest)
{
	size_t n = repository ? without_tag(repository) : 0, at;
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, words = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit x;

	*ret_id = *ret_digest = NULL;
	engine_ask(e, ENGINE_FACTS, &argv, .of = image);
	if (proc_question(argv.v, FACTS_TIMEOUT_MS, 65536, &out, NULL, &x, NULL) < 0 || x.code != 0)
		return;
	strvec_split(&words, out.buf, " \t\r\n");
	if (words.nr > 0)
		*ret_id = xstrdup(words.v[0]);
	at = words.nr - 1;
	for (size_t i = 1; n && i < words.nr; i++)
		if (!strncmp(words.v[i], repository, n) && words.v[i][n] == '@')
			at = i;
	if (words.nr > 1)
		*ret_digest = xstrdup(words.v[at]);
}

int image_pull(const struct engine *e, const struct build_conf *b, const char *image,
	       double timeout_s, const struct image_opts *events, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, tail = STRVEC_INIT;
	CLEANUP(private_dir_remove) struct private_dir dir = PRIVATE_DIR_INIT;
	struct image_auth auth = { .insecure = image_registry_is_local(image) };
	struct proc_watch w = PROC_WATCH_INIT;
	struct proc_exit x;
	size_t n = b && b->registry.name ? strlen(b->registry.name) : 0;
	int r = 0;

	/* The login is sent to that registry only. */
	if (n && e->auth && !strncmp(image, b->registry.name, n) && image[n] == '/')
		r = image_login(e, b, events, &dir, &auth, err);
	if (r < 0)
		return r;
	engine_ask(e, ENGINE_PULL, &argv, .of = image, .auth = &auth);
	w.argv = argv.v;
	w.timeout_s = timeout_s;
	if (events) {
		w.interrupt = events->interrupt;
		w.line = events->line;
		w.tick = events->tick;
		w.ctx = events->ctx;
	}
	r = proc_watch(&w, &tail, &x, err);
	if (r == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT,
			       "it took longer than %g s: raise container.pull_timeout, or pull it "
			       "by hand",
			       timeout_s);
	if (r == 0 && x.code != 0)
		return err_set(err, EIO, "%.300s", image_last_words(&tail));
	return r;
}
