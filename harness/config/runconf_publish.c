/* The key publish: of a configuration. */
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define TIMEOUT_S 5.0
#define MAX_TARGETS 64

static const struct publisher_keys {
	const char *to, *needs, *may;
} keys[] = {
#define KEYS_ROW(name, needs, may) { #name, needs, may },
	PUBLISHERS(KEYS_ROW)
};

FIELD_TABLE(target_fields,
	    TEXT_FIELDS(struct publish_target, to, name, url, job, group, database, connection,
			path),
	    TEXT_FIELDS(struct publish_target, user, where),
	    SECRET_FIELDS(struct publish_target, password));
FIELD_TABLE(publish_fields, FIELD_VEC(struct publish_conf, targets, target_fields));

void publish_conf_release(struct publish_conf *pc)
{
	fields_release(pc, publish_fields);
}

static const struct publisher_keys *keys_of(const struct cfg_node *to)
{
	for (size_t i = 0; to && i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].to, to->s))
			return &keys[i];
	return NULL;
}

/* Whether the entry has what its publisher needs, and nothing that is another one's. */
static bool keys_fit(struct loader *l, const struct cfg_node *entry, const struct publisher_keys *k)
{
	CLEANUP(strvec_release) struct strvec needs = STRVEC_INIT;
	bool fit = true;

	strvec_split(&needs, k->needs, " ");
	for (size_t i = 0; i < needs.nr; i++)
		if (!cfg_text(entry, needs.v[i])) {
			cfg_problem(l->p, entry, "publish: %s needs %s", k->to, needs.v[i]);
			fit = false;
		}
	CFG_EACH(n, entry, CFG_MAP) {
		/* What no publisher has is reported by the schema; defaults are no one's choice. */
		if (n->layer == LAYER_BUILTIN || n->kind == CFG_NULL || !strcmp(n->key, "to") ||
		    !strcmp(n->key, "timeout") || text_in_list(k->needs, ' ', n->key) ||
		    text_in_list(k->may, ' ', n->key))
			continue;
		cfg_problem(l->p, n, "publish: %s has no key '%.*s'; it has %s%s%s, timeout", k->to,
			    schema_shown_len(n->key), n->key, k->needs, *k->may ? " " : "", k->may);
		fit = false;
	}
	return fit;
}

/* "password=…" of a connection, also of an URL's query; not the name of a database. */
static bool has_password(const char *connection)
{
	for (const char *at = connection; (at = strcasestr(at, "password")); at += 8) {
		size_t blanks = strspn(at + 8, " \t");

		if (at[8 + blanks] == '=')
			return true;
	}
	return false;
}

/*
 * "user:password@host", also behind a scheme, whatever the password holds; of words with "=" in
 * front, as libpq has them, no part is one.
 */
static bool has_user(const char *s)
{
	const char *scheme = strstr(s, "://"), *start = scheme ? scheme + 3 : s;
	const char *at = strrchr(start, '@'), *colon = strpbrk(start, ":=");

	return at && colon && *colon == ':' && colon < at;
}

/* A password in an address would be in plans, messages and run.json; the node shows none. */
static bool address_ok(struct loader *l, struct cfg_node *n, bool http)
{
	bool scheme = !strncmp(n->s, "http://", 7) || !strncmp(n->s, "https://", 8);
	const char *host = strstr(n->s, "://");
	size_t len = host ? strcspn(host + 3, "/?#") : 0;

	if (http ? strchr(n->s, '@') != NULL : has_user(n->s) || has_password(n->s)) {
		cfg_problem(l->p, n,
			    "publish: take the %spassword out of %s and write 'password: {secret: "
			    "NAME}', an entry of secrets, or {from_env: VARIABLE}",
			    http ? "user and " : "", n->key);
		n->s = "***";
		return false;
	}
	if (http && (!scheme || !len || strpbrk(n->s, " \t\r\n\"?#"))) {
		cfg_problem(l->p, n,
			    "publish: want an url such as http://host:8086, without a query, not "
			    "'%.200s'",
			    n->s);
		return false;
	}
	return true;
}

/* Of an entry of secrets: a run has read it, and has reported what is wrong with it. */
static char *named_secret(struct loader *l, const struct cfg_node *n)
{
	const struct cfg_node *all = conf_map(l->tree.root, "secrets"), *one = cfg_get(all, n->s);
	const struct runconf_env *e = VEC_FIND(&l->rc->env, x, x->secret && !strcmp(x->name, n->s));
	const char *from;

	if (e)
		return xstrdup(e->value);
	if (!one)
		cfg_problem(l->p, n, "publish: secrets has no entry '%.80s'", n->s);
	else if (l->only_publish)
		return conf_secret_value(l, one, &from);
	return NULL;
}

static char *password_of(struct loader *l, struct cfg_node *n)
{
	const struct cfg_node *secret = conf_scalar(n, "secret");
	const char *from;
	char *value;

	if (!n || n->kind == CFG_NULL)
		return NULL;
	if (n->kind != CFG_MAP) {
		/* The schema has said that it is no map; it was meant to be the password. */
		n->s = "***";
		n->nr = 0;
		return NULL;
	}
	if (secret && n->nr > 1)
		cfg_problem(l->p, n,
			    "publish: password: want secret alone, or from_env, or "
			    "from_file");
	value = secret ? named_secret(l, secret) : conf_secret_value(l, n, &from);
	if (value && strpbrk(value, "\r\n")) {
		cfg_problem(l->p, n, "publish: password: it has more than one line");
		explicit_bzero(value, strlen(value));
		free(value);
		return NULL;
	}
	redact_learn(value);
	return value;
}

static char *text_of(const struct cfg_node *entry, const char *key, const char *def)
{
	const char *s = cfg_text(entry, key);

	return xstrdup_null(s ? s : def);
}

static void name_target(struct publish_target *t)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s %s", t->to, t->url ? t->url : t->path ? t->path : t->connection);
	if (t->database)
		strbuf_addf(&sb, " %s", t->database);
	if (!strcmp(t->to, "pushgateway"))
		strbuf_addf(&sb, " %s", t->job);
	t->name = strbuf_steal(&sb);
	text_no_controls(t->name, ' ');
}

static void target_add(struct loader *l, struct publish_conf *pc, const struct cfg_node *entry)
{
	const struct publisher_keys *k = keys_of(conf_scalar(entry, "to"));
	struct cfg_node *url = cfg_text(entry, "url") ? cfg_get(entry, "url") : NULL;
	struct cfg_node *words =
		cfg_text(entry, "connection") ? cfg_get(entry, "connection") : NULL;
	const struct cfg_node *path = conf_scalar(entry, "path");
	const struct cfg_node *limit = conf_scalar(entry, "timeout");
	struct publish_target t = { .timeout_s = TIMEOUT_S };
	bool ok = k && keys_fit(l, entry, k);

	/* Both hide what must not be shown, so both are called. */
	ok = (!url || address_ok(l, url, true)) && ok;
	ok = (!words || address_ok(l, words, false)) && ok;
	t.password = password_of(l, cfg_get(entry, "password"));
	if (!ok) {
		if (t.password)
			explicit_bzero(t.password, strlen(t.password));
		free(t.password);
		return;
	}
	t.to = xstrdup(k->to);
	t.url = url ? xstrdup(url->s) : NULL;
	for (size_t n = url ? strlen(t.url) : 0; n > 8 && t.url[n - 1] == '/'; n--)
		t.url[n - 1] = '\0';
	t.connection = words ? xstrdup(words->s) : NULL;
	t.path = path ? conf_resolve(l, path) : NULL;
	t.database = text_of(entry, "database", NULL);
	t.job = text_of(entry, "job", "profrig");
	t.group = text_of(entry, "group", "cell");
	t.user = text_of(entry, "user", NULL);
	if (limit)
		schema_seconds(limit, &t.timeout_s);
	t.where = conf_origin(entry);
	name_target(&t);
	if (VEC_FIND(&pc->targets, x, !strcmp(x->name, t.name)))
		cfg_problem(l->p, entry, "publish: '%.200s' is named twice", t.name);
	VEC_PUSH(&pc->targets, t);
}

void runconf_fill_publish(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *list = cfg_get(root, "publish");

	if (list && list->kind == CFG_SEQ && list->nr > MAX_TARGETS) {
		cfg_problem(l->p, list, "publish: more than %d entries", MAX_TARGETS);
		return;
	}
	CFG_EACH(n, list, CFG_SEQ)
		if (n->kind == CFG_MAP)
			target_add(l, &l->rc->publish, n);
}

/* --- a file alone --- */

static void keep_keys(struct cfg_node *root)
{
	size_t nr = 0;

	for (size_t i = 0; i < root->nr; i++)
		if (!strcmp(root->child[i]->key, "publish") ||
		    !strcmp(root->child[i]->key, "secrets"))
			root->child[nr++] = root->child[i];
	root->nr = nr;
}

int publishconf_load(const char *file, struct publish_conf *ret, struct problems *p,
		     struct err *err)
{
	struct runconf rc = { .env = VEC_INIT };
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	const struct runconf_request rq = { .cwd = cwd };
	struct loader l = { .rc = &rc, .rq = &rq, .p = p, .only_publish = true };
	size_t before = p->lines.nr;
	int r;

	*ret = (struct publish_conf)PUBLISH_CONF_INIT;
	cfg_init(&l.tree);
	r = cfg_parse_file(&l.tree, file, LAYER_FILE, err);
	if (r < 0 && !l.tree.root) {
		cfg_release(&l.tree);
		return r;
	}
	for (size_t i = 0; i < l.tree.problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", l.tree.problems.lines.v[i]);
	keep_keys(l.tree.root);
	schema_expand(&l.tree, schema_table);
	schema_check(l.tree.root, schema_table, p);
	runconf_fill_publish(&l, l.tree.root);
	*ret = rc.publish;
	cfg_release(&l.tree);
	return p->lines.nr > before ? err_set(err, EINVAL, "%s", p->lines.v[before]) : 0;
}
