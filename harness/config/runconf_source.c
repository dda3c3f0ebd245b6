/* The sources of a run's model, the words around its command, and the sources of secrets. */
#include "conf_read.h"
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/devices/devices.h"

#define MAX_SECRET_FILE ((size_t)1 << 20)

/* --- secrets --- */

static char *from_env(struct loader *l, const struct cfg_node *n, const struct cfg_node *from)
{
	const char *value = getenv(from->s);

	if (!schema_env_name(from->s))
		cfg_problem(l->p, from, "secrets.%s: '%.80s' is no name of a variable", n->key,
			    from->s);
	else if (!value)
		cfg_problem(l->p, from, "secrets.%s: the variable %.80s is not set", n->key,
			    from->s);
	else
		return xstrdup(value);
	return NULL;
}

/* The scalar at the path `key`. */
static char *member_of(struct loader *l, const struct cfg_node *n, const char *path,
		       const char *text, size_t len, const struct strvec *key)
{
	const struct cfg_node *at;
	char *value = NULL;
	struct cfg c;

	cfg_init(&c);
	/* The parser's message would repeat some of the text. */
	if (cfg_parse_value(&c, text, len, path, CFG_JSON, LAYER_FILE, NULL) < 0) {
		cfg_problem(l->p, n, "secrets.%s: '%s' is no JSON", n->key, path);
	} else {
		at = c.root;
		for (size_t i = 0; at && i < key->nr; i++)
			at = cfg_get(at, key->v[i]);
		if (at && at->s && at->kind != CFG_NULL)
			value = xstrdup(at->s);
		else
			cfg_problem(l->p, n, "secrets.%s: '%s' has no text at '%s'", n->key, path,
				    key->v[key->nr - 1]);
	}
	cfg_release(&c);
	return value;
}

static char *from_file(struct loader *l, const struct cfg_node *n, const struct cfg_node *file)
{
	CLEANUP(strvec_release) struct strvec key = STRVEC_INIT;
	CLEANUP(xfreep) char *path = conf_resolve(l, file);
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	size_t len;

	cfg_words(n, "key", &key);
	if (conf_read(path, MAX_SECRET_FILE, &text, &len, &err) < 0) {
		cfg_problem(l->p, file, "secrets.%s: %s", n->key, err.msg);
		return NULL;
	}
	if (key.nr)
		return member_of(l, n, path, text, len, &key);
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		text[--len] = '\0';
	if (strlen(text) == len)
		return STEAL(text);
	cfg_problem(l->p, file, "secrets.%s: '%s' holds a NUL byte", n->key, path);
	return NULL;
}

char *conf_secret_value(struct loader *l, const struct cfg_node *n, const char **ret_from)
{
	const struct cfg_node *env = conf_scalar(n, "from_env"),
			      *file = conf_scalar(n, "from_file");

	*ret_from = env ? env->s : NULL;
	if (env && file)
		cfg_problem(l->p, n, "secrets.%s: from_env and from_file: want one of them",
			    n->key);
	else if (env)
		return from_env(l, n, env);
	else if (file)
		return from_file(l, n, file);
	else if (n->kind == CFG_MAP)
		cfg_problem(l->p, n, "secrets.%s: want from_env or from_file", n->key);
	return NULL;
}

/* --- words around the command --- */

void runconf_fill_words(struct loader *l, const struct cfg_node *model)
{
	CLEANUP(strvec_release) struct strvec all = STRVEC_INIT;
	struct strvec was;

	cfg_words(model, "wrap", &all);
	strvec_pushv(&all, l->rc->command.v);
	cfg_words(model, "args", &all);
	/* A model without a command is reported elsewhere; its command stays empty. */
	if (!l->rc->command.nr)
		return;
	was = l->rc->command;
	l->rc->command = all;
	all = was;
}

/* --- how many GPUs --- */

static bool has_gpus(void)
{
	struct devices d;
	bool any;

	devices_find(&d, devices_root());
	any = devices_vendor(&d) != GPU_NONE;
	devices_release(&d);
	return any;
}

static void put_gpus(struct loader *l, const struct cfg_node *from, const char *text)
{
	struct cfg_node *n =
		cfg_put(&l->tree, l->tree.root, "gpus", CFG_STR, text, from->file, from->layer);

	n->line = from->line;
}

/* The first n of a list such as 0,2-4; -EINVAL when it has fewer, or is none. */
static int first_of(const char *list, int64_t n, struct strbuf *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, list, ",");
	for (size_t i = 0; i < words.nr && n > 0; i++) {
		const char *w = words.v[i], *dash = strchr(w, '-');
		uint64_t from, to;

		if (num_u64(w, dash ? (size_t)(dash - w) : strlen(w), &from) < 0)
			return -EINVAL;
		to = from;
		if (dash && num_u64(dash + 1, strlen(dash + 1), &to) < 0)
			return -EINVAL;
		for (; from <= to && n > 0; from++, n--)
			strbuf_addf(ret, "%s%llu", ret->len ? "," : "", (unsigned long long)from);
	}
	return n > 0 ? -EINVAL : 0;
}

void runconf_count_gpus(struct loader *l, const struct cfg_node *model)
{
	const struct cfg_node *count = conf_scalar(model, "n_gpus");
	const struct cfg_node *gpus = conf_scalar(l->tree.root, "gpus");
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int64_t n;

	if (!count)
		return;
	if (num_i64(count->s, strlen(count->s), &n) < 0 || n < -1 || n > 1024) {
		cfg_problem(l->p, count,
			    "model.n_gpus: want a number of GPUs, or -1 for all, not '%.40s'",
			    count->s);
		return;
	}
	if (gpus && strcmp(gpus->s, "all") != 0) {
		/* A malformed list is reported where gpus is checked. */
		if (n > 0 && strcmp(gpus->s, "none") != 0 && strspn(gpus->s, "0123456789,- ") &&
		    first_of(gpus->s, n, &text) == 0)
			put_gpus(l, gpus, text.buf);
		else if (n > 0 && text.len)
			cfg_problem(l->p, count, "model.n_gpus: %lld, but gpus names fewer: %.80s",
				    (long long)n, gpus->s);
		return;
	}
	/* of the nodes nothing is known here */
	if (!gpus && conf_map(l->tree.root, "slurm"))
		return;
	if (!gpus && !has_gpus()) {
		strvec_push(&l->rc->notes,
			    "this machine has no GPU, so the model gets none (model.n_gpus)");
		return;
	}
	if (n == 0)
		strbuf_addstr(&text, "none");
	else if (n == -1)
		strbuf_addstr(&text, "all");
	else
		strbuf_addf(&text, n > 1 ? "0-%lld" : "%lld", (long long)n - 1);
	put_gpus(l, gpus && n > 0 ? gpus : count, text.buf);
}

/* How many GPUs the model will see: its n_gpus, else the number in `gpus`; -1 all. */
static int gpus_asked(const struct loader *l)
{
	const char *count = cfg_text(cfg_get(l->tree.root, "model"), "n_gpus");
	const char *gpus = cfg_text(l->tree.root, "gpus");
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;
	int64_t n = -1;

	if (count && num_i64(count, strlen(count), &n) == 0 && n >= 0 && n <= 1024)
		return (int)n;
	if (!gpus || !strcmp(gpus, "all"))
		return -1;
	first_of(gpus, INT64_MAX, &list);
	n = list.len > 0;
	for (const char *s = list.buf; *s; s++)
		n += *s == ',';
	return (int)n;
}

void runconf_machine_env(struct loader *l)
{
	const struct cfg_node from = { .file = CONF_OF_MACHINE, .layer = LAYER_MODEL };
	struct cfg_node *env = cfg_get(l->tree.root, "env");
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct devices d;

	if (!l->package || !env || env->kind != CFG_MAP)
		return;
	devices_find(&d, devices_root());
	devices_mad_env(&d, gpus_asked(l), &words);
	devices_release(&d);
	for (size_t i = 0; i < words.nr; i++) {
		CLEANUP(xfreep) char *name = xstrndup(words.v[i], strcspn(words.v[i], "="));

		if (!cfg_get(env, name))
			cfg_put(&l->tree, env, name, CFG_STR, words.v[i] + strlen(name) + 1,
				from.file, from.layer);
	}
}

/* --- the run's own folder --- */

static char *secret_of(const struct runconf *rc, const char *cred, const char *what)
{
	CLEANUP(xfreep) char *name = xasprintf("%s_%s", cred, what);

	const struct runconf_env *e = VEC_FIND(&rc->env, x, x->secret && !strcmp(x->name, name));

	return e ? xstrdup(e->value) : NULL;
}

/* "https://user:word@host/…": the part between "://" and '@'; 0 when there is none. */
static size_t user_part(const char *url, const char **ret)
{
	const char *start = strstr(url, "://"), *at;
	size_t n;

	if (!start)
		return 0;
	start += 3;
	n = strcspn(start, "/?#");
	at = memrchr(start, '@', n);
	*ret = start;
	return at ? (size_t)(at - start) : 0;
}

static void fill_url(struct loader *l, const struct cfg_node *model, struct cfg_node *url)
{
	const struct cfg_node *cred = conf_scalar(model, "cred");
	struct runconf *rc = l->rc;
	const char *user = NULL;
	size_t n = user_part(url->s, &user);

	if (n && memchr(user, ':', n)) {
		cfg_problem(l->p, url,
			    "model.url: holds a password; name it under secrets, and that secret "
			    "under model.cred");
		/* The address holds a password and must not be printed. */
		url->s = "***";
		return;
	}
	if (*url->s == '-' || !*url->s) {
		cfg_problem(l->p, url, "model.url: '%.100s' is no address", url->s);
		return;
	}
	rc->source.url = xstrdup(url->s);
	if (!cred)
		return;
	rc->source.user = secret_of(rc, cred->s, "USERNAME");
	rc->source.password = secret_of(rc, cred->s, "PASSWORD");
	rc->source.ssh_key = secret_of(rc, cred->s, "SSH_KEY_FILE");
	if (!rc->source.user && !rc->source.password && !rc->source.ssh_key)
		cfg_problem(l->p, cred,
			    "model.cred: there is no secret %.80s_USERNAME, _PASSWORD or "
			    "_SSH_KEY_FILE",
			    cred->s);
}

static char *folder(struct loader *l, const struct cfg_node *model, const char *key)
{
	const struct cfg_node *n = conf_scalar(model, key);
	char *path = n ? conf_resolve(l, n) : NULL;

	if (path && !fs_is_dir(path))
		cfg_problem(l->p, n, "model.%s: no folder '%.200s'", key, path);
	return path;
}

void runconf_fill_source(struct loader *l, const struct cfg_node *model)
{
	struct cfg_node *url = cfg_text(model, "url") ? cfg_get(model, "url") : NULL;
	struct runconf *rc = l->rc;

	if (url)
		fill_url(l, model, url);
	rc->source.copy = folder(l, model, "copy");
	rc->source.scripts = folder(l, model, "scripts");
	if (rc->container.workdir && (rc->source.url || rc->source.copy))
		cfg_problem(l->p, url ? url : cfg_get(model, "copy"),
			    "model.url and model.copy make a folder of the run's own: leave "
			    "container.workdir out");
}
