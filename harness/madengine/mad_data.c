/*
 * data.json and credential.json:
 *
 *	{"DATANAME": {"PROVIDER": {"path": …, "home": …, "mirrorlocal": …, "args": …}}}
 *	{"NAME": {"username": …, "password": …, …}}
 *
 * Of several providers of one name, the first in the order of `providers` below that has the data
 * is used. A value of credential.json never enters a configuration tree: only its file and key do.
 */
#include "mad_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/shell_words.h"

/* In the order in which they are tried. cred: the provider's entry of credential.json. */
static const struct provider {
	const char *name, *ours, *cred;
} providers[] = {
	{ "custom", "script", NULL }, { "local", "local", NULL },    { "minio", "s3", "MAD_MINIO" },
	{ "nas", "nas", NULL },       { "aws", "s3", "MAD_AWS_S3" },
};

/* 1: read; 0: the file does not exist. */
static int read_file(const char *dir, const char *name, struct cfg *c, struct problems *p,
		     const struct cfg_node *at)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	size_t n;
	int r;

	cfg_init(c);
	if (!fs_is_file(path))
		return 0;
	r = fs_read(path, (size_t)4 << 20, &text, &n, &err);
	if (r < 0) {
		cfg_problem(p, at, "%s: %s", name, err.msg);
		return -EINVAL;
	}
	r = cfg_parse_value(c, text, n, path, CFG_JSON, LAYER_MODEL, &err);
	if (r == 0 && c->root->kind == CFG_MAP) {
		mad_drop_comments(c->root);
		return 1;
	}
	/*
	 * The parser's message may repeat the text. For credential.json only the place is reported.
	 */
	if (r == 0 || !strcmp(name, "credential.json"))
		cfg_problem(p, at, "%s: '%s' is no JSON map, or has a key twice", name, path);
	else
		cfg_problem(p, NULL, "%s", err.msg);
	return -EINVAL;
}

/* --- credential.json --- */

/* A name for a variable: characters that a variable's name may not hold become '_'. */
static char *data_variable(const char *a, const char *b)
{
	char *name = b ? xasprintf("%s_%s", a, b) : xstrdup(a);

	for (char *s = name; *s; s++) {
		if (!isalnum((unsigned char)*s))
			*s = '_';
		else if (s > name + strlen(a))
			*s = (char)toupper((unsigned char)*s);
	}
	if (isdigit((unsigned char)*name))
		*name = '_';
	return name;
}

static void put_secret(struct cfg *ret, const char *dir, const char *cred, const char *key,
		       const struct cfg_node *at)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "credential.json");
	CLEANUP(xfreep) char *name = data_variable(cred, key);
	struct cfg_node *secrets = mad_map(ret, ret->root, "secrets", at);
	struct cfg_node *s = mad_map(ret, secrets, name, at), *list;

	mad_put(ret, s, "from_file", CFG_STR, path, at);
	list = mad_put(ret, s, "key", CFG_SEQ, NULL, at);
	mad_add(ret, list, CFG_STR, cred, at);
	mad_add(ret, list, CFG_STR, key, at);
}

/* An endpoint is among the secrets and may be shown. */
static bool is_address(const char *key)
{
	return strcasestr(key, "endpoint") != NULL;
}

static void put_address(struct cfg *ret, const char *cred, const struct cfg_node *n,
			const struct cfg_node *at)
{
	CLEANUP(xfreep) char *name = data_variable(cred, n->key);

	mad_put(ret, mad_map(ret, ret->root, "env", at), name, CFG_STR, n->s, at);
}

/* Adds every text of the entry `cred`. Returns how many; -1: there is no such entry. */
static int put_secrets(const char *dir, const char *cred, const struct cfg_node *at,
		       struct cfg *ret, struct problems *p)
{
	const struct cfg_node *entry;
	struct cfg c;
	int n = -1;

	if (read_file(dir, "credential.json", &c, p, at) > 0) {
		entry = cfg_get(c.root, cred);
		CFG_EACH(kid, entry, CFG_MAP) {
			if (!kid->s || kid->kind == CFG_NULL)
				continue;
			if (is_address(kid->key))
				put_address(ret, cred, kid, at);
			else
				put_secret(ret, dir, cred, kid->key, at);
		}
		n = entry && entry->kind == CFG_MAP ? (int)entry->nr : -1;
	}
	cfg_release(&c);
	return n;
}

char *mad_cred_config(const char *dir, const struct cfg_node *n, struct cfg *ret,
		      struct problems *p)
{
	size_t before = p->lines.nr;

	if (put_secrets(dir, n->s, n, ret, p) < 0 && p->lines.nr == before)
		cfg_problem(p, n, "cred: '%.80s' is not in credential.json of '%s'", n->s, dir);
	return data_variable(n->s, NULL);
}

/* --- data.json --- */

static void put_credentials(const char *dir, const struct provider *pr, struct cfg *ret,
			    struct cfg_node *entry, const struct cfg_node *at, struct problems *p)
{
	static const char *const roles[][2] = { { "USERNAME", "user_env" },
						{ "PASSWORD", "password_env" } };

	if (!pr->cred || put_secrets(dir, pr->cred, at, ret, p) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		CLEANUP(xfreep) char *name = data_variable(pr->cred, roles[i][0]);

		if (cfg_get(cfg_get(ret->root, "secrets"), name))
			mad_put(ret, entry, roles[i][1], CFG_STR, name, at);
	}
}

/* The address of a MinIO server is kept among the secrets, but is none. */
static void put_endpoint(const char *dir, struct cfg *ret, struct cfg_node *entry,
			 const struct cfg_node *at, struct problems *p)
{
	const struct cfg_node *cred;
	struct cfg c;

	if (read_file(dir, "credential.json", &c, p, at) > 0) {
		cred = cfg_get(c.root, "MAD_MINIO");
		if (cfg_text(cred, "MINIO_ENDPOINT"))
			mad_put(ret, entry, "endpoint", CFG_STR, cfg_text(cred, "MINIO_ENDPOINT"),
				at);
		else if (cfg_text(cred, "AWS_ENDPOINT_URL_S3"))
			mad_put(ret, entry, "endpoint", CFG_STR,
				cfg_text(cred, "AWS_ENDPOINT_URL_S3"), at);
	}
	cfg_release(&c);
}

/* madengine's keys, and profrig's "optional". */
static const struct schema_key provider_table[] = {
	{ .path = "path", .type = "any" },        { .path = "home", .type = "any" },
	{ .path = "mirrorlocal", .type = "any" }, { .path = "args", .type = "any" },
	{ .path = "optional", .type = "any" },    { .path = NULL },
};

static void put_optional(struct cfg *ret, struct cfg_node *entry, const struct cfg_node *n,
			 struct problems *p)
{
	int on = n && n->s ? mad_truth(n) : 0;

	if (on < 0)
		cfg_problem(p, n, "optional: want true or false, not '%.40s'", n->s);
	else if (on)
		mad_put(ret, entry, "optional", CFG_BOOL, "true", n);
}

static void put_provider(const char *dir, const struct provider *pr, const char *name,
			 const struct cfg_node *given, struct cfg *ret, struct problems *p)
{
	const struct cfg_node *path = cfg_get(given, "path"), *args = cfg_get(given, "args");
	struct cfg_node *list = mad_list(ret, ret->root, "data", given), *e;
	bool local = strcmp(pr->ours, "s3") != 0;

	if (!path || !path->s || !*path->s) {
		cfg_problem(p, given, "data '%s': provider '%s' has no path", name, pr->name);
		return;
	}
	e = mad_add(ret, list, CFG_MAP, NULL, given);
	mad_put(ret, e, "name", CFG_STR, name, given);
	mad_put(ret, e, "provider", CFG_STR, pr->ours, given);
	if (local) {
		CLEANUP(xfreep) char *full = fs_join(dir, path->s);

		mad_put(ret, e, "path", CFG_STR, full, path);
	} else {
		mad_put_text(ret, e, "path", path);
	}
	if (cfg_text(given, "home") && *cfg_text(given, "home"))
		mad_put_text(ret, e, "home", cfg_get(given, "home"));
	if (cfg_text(given, "mirrorlocal") && *cfg_text(given, "mirrorlocal"))
		mad_put_text(ret, e, "mirrorlocal", cfg_get(given, "mirrorlocal"));
	if (args && args->s && *args->s) {
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

		mad_shell_words(args, "args", &words, p, &(struct strvec)STRVEC_INIT);
		mad_put_words(ret, e, "args", &words, args);
	}
	put_optional(ret, e, cfg_get(given, "optional"), p);
	put_credentials(dir, pr, ret, e, given, p);
	if (!strcmp(pr->name, "minio"))
		put_endpoint(dir, ret, e, given, p);
}

static bool known_provider(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(providers); i++)
		if (!strcmp(providers[i].name, name))
			return true;
	return false;
}

static void put_data(const char *dir, const char *name, const struct cfg_node *entry,
		     struct cfg *ret, struct problems *p, struct problems *unknown)
{
	if (entry->kind != CFG_MAP || !entry->nr) {
		cfg_problem(p, entry, "data '%s': want a map of providers", name);
		return;
	}
	for (size_t i = 0; i < entry->nr; i++)
		if (!known_provider(entry->child[i]->key))
			cfg_problem(p, entry->child[i],
				    "data '%s': unknown provider '%.40s' (one of: custom, local, "
				    "minio, nas, aws)",
				    name, entry->child[i]->key);
	for (size_t i = 0; i < ARRAY_LEN(providers); i++) {
		const struct cfg_node *given = cfg_get(entry, providers[i].name);

		if (given && given->kind == CFG_MAP) {
			schema_check_keys(given, provider_table, p, unknown);
			put_provider(dir, &providers[i], name, given, ret, p);
		}
		if (given && given->kind != CFG_MAP)
			cfg_problem(p, given, "data '%s': provider '%s' is no map", name,
				    providers[i].name);
	}
}

void mad_data_config(const char *dir, const struct cfg_node *names, const struct cfg *context,
		     struct cfg *ret, struct problems *p, struct problems *unknown)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const struct cfg_node *own = context ? cfg_get(context->root, "data") : NULL;
	struct cfg c;

	mad_words(names, &words);
	read_file(dir, "data.json", &c, p, names);
	for (size_t i = 0; i < words.nr; i++) {
		const struct cfg_node *entry = cfg_get(own, words.v[i]);

		entry = entry ? entry : cfg_get(c.root, words.v[i]);
		if (entry)
			put_data(dir, words.v[i], entry, ret, p, unknown);
		else
			cfg_problem(p, names, "data: '%.80s' is not in data.json of '%s'",
				    words.v[i], dir);
	}
	cfg_release(&c);
}
