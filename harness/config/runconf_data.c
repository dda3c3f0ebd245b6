/* The keys data: and data_cache: of a configuration. Entries of one name form one data set. */
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"

#define SCRIPT_TIMEOUT_S 1200.0

#define DATA_PROVIDER_NAME(value, name) [value] = name,
static const char *const names[] = { DATA_PROVIDERS(DATA_PROVIDER_NAME) };

const char *data_provider_name(enum data_provider p)
{
	return names[p];
}

/* The order in which sources are tried. */
static int rank_of(const struct data_source *s)
{
	switch (s->provider) {
	case DATA_SCRIPT:
		return 0;
	case DATA_LOCAL:
		return 1;
	case DATA_S3:
		return s->endpoint ? 2 : 4;
	case DATA_NAS:
		return 3;
	case DATA_HTTP:
		break;
	}
	return 5;
}

static void sort_sources(struct data_set *d)
{
	for (size_t i = 1; i < d->sources.nr; i++)
		for (size_t k = i; k > 0; k--) {
			struct data_source *a = &d->sources.v[k - 1], *b = &d->sources.v[k], t = *a;

			if (rank_of(a) <= rank_of(b))
				break;
			*a = *b;
			*b = t;
		}
}

static char *variable_of(const char *name)
{
	char *v = xasprintf("PROFRIG_DATA_%s", name);

	for (char *s = v; *s; s++)
		*s = isalnum((unsigned char)*s) ? (char)toupper((unsigned char)*s) : '_';
	return v;
}

static struct data_set *set_of(struct loader *l, const struct cfg_node *name)
{
	struct data_conf *d = &l->rc->data;
	CLEANUP(xfreep) char *variable = variable_of(name->s);

	for (size_t i = 0; i < d->sets.nr; i++) {
		if (!strcmp(d->sets.v[i].name, name->s))
			return &d->sets.v[i];
		if (!strcmp(d->sets.v[i].variable, variable))
			cfg_problem(l->p, name, "data '%.80s' and '%.80s' would both be %s",
				    d->sets.v[i].name, name->s, variable);
	}
	VEC_PUSH(&d->sets,
		 ((struct data_set){ .name = xstrdup(name->s), .variable = STEAL(variable) }));
	return &d->sets.v[d->sets.nr - 1];
}

static void fill_home(struct loader *l, struct data_set *d, const struct cfg_node *entry)
{
	const struct cfg_node *home = conf_scalar(entry, "home"), *opt = cfg_get(entry, "optional");

	if (home && (home->s[0] != '/' || !home->s[1] || strstr(home->s, "/../")))
		cfg_problem(l->p, home, "data.home: want an absolute path, not '%.200s'", home->s);
	else if (home && !d->home)
		d->home = xstrdup(home->s);
	if (opt && opt->kind == CFG_BOOL && opt->b)
		d->optional = true;
}

static void fill_sha256(struct loader *l, struct data_source *s, const struct cfg_node *n)
{
	if (!n)
		return;
	if (strlen(n->s) != 64 || strspn(n->s, "0123456789abcdefABCDEF") != 64) {
		cfg_problem(l->p, n, "data.sha256: want 64 hexadecimal digits");
		return;
	}
	s->sha256 = xstrdup(n->s);
	for (char *c = s->sha256; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

/* A password in an address would be shown in plans, messages and run.json. */
static bool url_ok(struct loader *l, const struct cfg_node *n, const char *what)
{
	bool http = !strncmp(n->s, "http://", 7) || !strncmp(n->s, "https://", 8);
	const char *host = strstr(n->s, "://");
	size_t len = host ? strcspn(host + 3, "/?#") : 0;

	if (!http || !len || strpbrk(n->s, " \t\r\n\"")) {
		cfg_problem(l->p, n, "%s: want http://… or https://…", what);
		return false;
	}
	if (memchr(host + 3, '@', len)) {
		cfg_problem(l->p, n,
			    "%s: take the user and password out of the address, and name the "
			    "variables that hold them: user_env, password_env",
			    what);
		return false;
	}
	return true;
}

static void fill_path(struct loader *l, struct data_source *s, const struct cfg_node *n)
{
	switch (s->provider) {
	case DATA_SCRIPT:
	case DATA_LOCAL:
	case DATA_NAS:
		s->path = conf_resolve(l, n);
		return;
	case DATA_HTTP:
		if (url_ok(l, n, "data.path"))
			s->path = xstrdup(n->s);
		return;
	case DATA_S3:
		s->path = xstrdup(strncmp(n->s, "s3://", 5) ? n->s : n->s + 5);
		for (size_t len = strlen(s->path); len > 0 && s->path[len - 1] == '/';)
			s->path[--len] = '\0';
		if (!strcspn(s->path, "/"))
			cfg_problem(l->p, n, "data.path: want s3://BUCKET/PREFIX, not '%.200s'",
				    n->s);
		return;
	}
}

static char *credential(const struct loader *l, const struct cfg_node *entry, const char *key,
			const char *usual)
{
	const char *name = cfg_text(entry, key);

	if (!name)
		name = usual;
	return name ? conf_secret(l, name) : NULL;
}

static char *first_env(const char *a, const char *b, const char *def)
{
	const char *v = getenv(a);

	v = v && *v ? v : getenv(b);
	return xstrdup(v && *v ? v : def);
}

static void fill_access(struct loader *l, struct data_source *s, const struct cfg_node *entry)
{
	const struct cfg_node *endpoint = conf_scalar(entry, "endpoint");
	const char *region = cfg_text(entry, "region");
	bool s3 = s->provider == DATA_S3;

	s->user = credential(l, entry, "user_env", s3 ? "AWS_ACCESS_KEY_ID" : NULL);
	s->password = credential(l, entry, "password_env", s3 ? "AWS_SECRET_ACCESS_KEY" : NULL);
	s->token = credential(l, entry, "token_env", s3 ? "AWS_SESSION_TOKEN" : NULL);
	if (!s3)
		return;
	if (endpoint && url_ok(l, endpoint, "data.endpoint"))
		s->endpoint = xstrdup(endpoint->s);
	s->region = region ? xstrdup(region)
			   : first_env("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1");
}

static bool provider_of(const struct cfg_node *n, enum data_provider *ret)
{
	for (size_t i = 0; n && i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], n->s)) {
			*ret = (enum data_provider)i;
			return true;
		}
	return false;
}

/* An address may be signed: plans and run.json show it without its query. */
static void hide_query(struct loader *l, struct cfg_node *path)
{
	const char *query = path ? strchr(path->s, '?') : NULL;
	CLEANUP(xfreep)
	char *shown = query ? xasprintf("%.*s?…", (int)(query - path->s), path->s) : NULL;

	if (shown)
		path->s = pool_strdup(&l->tree.pool, shown);
}

static void add_source(struct loader *l, const struct cfg_node *entry)
{
	const struct cfg_node *name = conf_scalar(entry, "name"),
			      *path = conf_scalar(entry, "path");
	const struct cfg_node *mirror = conf_scalar(entry, "mirrorlocal");
	const struct cfg_node *limit = conf_scalar(entry, "timeout");
	struct data_source s = { .args = STRVEC_INIT, .timeout_s = SCRIPT_TIMEOUT_S };
	struct data_set *d;

	/* The schema has reported missing and misspelt keys. */
	if (!name || !path || !provider_of(conf_scalar(entry, "provider"), &s.provider))
		return;
	if (!schema_file_name(name->s) || strlen(name->s) > 64) {
		cfg_problem(l->p, name,
			    "data.name: want letters, digits and ._- (at most 64), not '%.80s'",
			    name->s);
		return;
	}
	d = set_of(l, name);
	fill_home(l, d, entry);
	fill_path(l, &s, path);
	fill_sha256(l, &s, conf_scalar(entry, "sha256"));
	fill_access(l, &s, entry);
	s.mirror = mirror ? conf_resolve(l, mirror) : NULL;
	cfg_words(entry, "args", &s.args);
	if (limit)
		schema_seconds(limit, &s.timeout_s);
	s.where = conf_origin(name);
	hide_query(l, s.provider == DATA_HTTP ? cfg_get(entry, "path") : NULL);
	VEC_PUSH(&d->sources, s);
}

static char *default_cache(void)
{
	char *path = fs_cache_path("data");

	return path ? path : xstrdup("/var/tmp/profrig/data");
}

void runconf_fill_data(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *list = cfg_get(root, "data"),
			      *cache = conf_scalar(root, "data_cache");
	struct data_conf *d = &l->rc->data;

	CFG_EACH(kid, list, CFG_SEQ)
		if (kid->kind == CFG_MAP)
			add_source(l, kid);
	for (size_t i = 0; i < d->sets.nr; i++) {
		sort_sources(&d->sets.v[i]);
		if (!d->sets.v[i].home)
			d->sets.v[i].home = xasprintf("/data/%s", d->sets.v[i].name);
	}
	d->cache = cache ? conf_resolve(l, cache) : default_cache();
}
