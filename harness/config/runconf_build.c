/* The keys build:, context: and registry: of a configuration. */
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/madengine/mad.h"

#define USER_ENV "PROFRIG_REGISTRY_USER"
#define PASSWORD_ENV "PROFRIG_REGISTRY_PASSWORD"

char *conf_secret(const struct loader *l, const char *name)
{
	const struct runconf_env *e = VEC_FIND(&l->rc->env, x, x->secret && !strcmp(x->name, name));

	return xstrdup_null(e ? e->value : getenv(name));
}

static struct conf_word word_of(const struct cfg_node *n)
{
	return (struct conf_word){ xstrdup(n->key), xstrdup(n->s), conf_origin(n) };
}

static void fill_args(struct loader *l, const struct cfg_node *build)
{
	CFG_EACH(n, conf_map(build, "args"), CFG_MAP) {
		if (!schema_env_name(n->key))
			cfg_problem(l->p, n, "build.args: '%.*s' is no name of an argument",
				    schema_shown_len(n->key), n->key);
		else if (runconf_is_secret_name(n->key))
			cfg_problem(l->p, n,
				    "build.args.%s: an argument stays in the image's history; put "
				    "it under build.secrets and read it with RUN "
				    "--mount=type=secret,id=%s",
				    n->key, n->key);
		else if (n->s)
			VEC_PUSH(&l->rc->build.args, word_of(n));
	}
}

static struct build_secret *secret_find(struct build_conf *b, const char *id)
{
	return VEC_FIND(&b->secrets, x, !strcmp(x->id, id));
}

static void put_secret(struct build_conf *b, const char *id, char *value, char *origin)
{
	struct build_secret *s = secret_find(b, id);

	if (!s) {
		VEC_PUSH(&b->secrets, ((struct build_secret){ .id = xstrdup(id) }));
		s = &b->secrets.v[b->secrets.nr - 1];
	}
	free(s->value);
	free(s->origin);
	s->value = value;
	s->origin = origin;
}

static bool is_id(const char *id)
{
	for (const char *s = id; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_.-", *s))
			return false;
	return *id != '\0' && strlen(id) <= 100;
}

static void fill_secrets(struct loader *l, const struct cfg_node *build)
{
	const struct runconf *rc = l->rc;

	for (size_t i = 0; i < rc->env.nr; i++)
		if (rc->env.v[i].secret)
			put_secret(&l->rc->build, rc->env.v[i].name, xstrdup(rc->env.v[i].value),
				   xstrdup(rc->env.v[i].origin));
	CFG_EACH(n, conf_map(build, "secrets"), CFG_MAP) {
		const char *from;
		char *value = NULL;

		if (!is_id(n->key))
			cfg_problem(l->p, n, "build.secrets: '%.80s' is no id", n->key);
		/* A run does not use them. */
		else if (l->rq->builds)
			value = conf_secret_value(l, n, &from);
		if (value)
			put_secret(&l->rc->build, n->key, value, conf_origin(n));
	}
}

/* The vendor of this machine's GPU, for a configuration that names none for an image. */
static const char *vendor_here(void)
{
	if (fs_exists("/dev/kfd"))
		return "AMD";
	return fs_exists("/dev/nvidiactl") ? "NVIDIA" : NULL;
}

static bool has_context(const struct build_conf *b, const char *key)
{
	return VEC_FIND(&b->context, x, !strcmp(x->name, key));
}

static void add_context(struct build_conf *b, const char *key, const char *value,
			const char *origin)
{
	if (value && !has_context(b, key))
		VEC_PUSH(&b->context,
			 ((struct conf_word){ xstrdup(key), xstrdup(value), xstrdup(origin) }));
}

static void check_choice(struct loader *l, const struct cfg_node *n, const char *choices)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, choices, ",");
	for (size_t i = 0; i < words.nr; i++)
		if (!strcasecmp(words.v[i], n->s))
			return;
	cfg_problem(l->p, n, "context.%s: want one of %s, not '%.80s'", n->key, choices, n->s);
}

static void fill_context(struct loader *l, const struct cfg_node *root)
{
	struct build_conf *b = &l->rc->build;

	CFG_EACH(n, conf_map(root, "context"), CFG_MAP) {
		if (n->s && !strcmp(n->key, "gpu_vendor"))
			check_choice(l, n, "AMD, NVIDIA");
		else if (n->s && !strcmp(n->key, "guest_os"))
			check_choice(l, n, "UBUNTU, CENTOS");
		if (n->s)
			VEC_PUSH(&b->context, word_of(n));
	}
	add_context(b, "gpu_vendor", vendor_here(), "this machine");
	add_context(b, "guest_os", "UBUNTU", "built-in");
}

static bool is_hub(const char *server)
{
	return !strcmp(server, "docker.io") || !strcmp(server, "dockerhub");
}

/* The value in a package's credential.json for this registry, under the registry's name or
 * dockerhub. Owned, NULL: none. */
static char *package_word(const struct loader *l, const char *server, const char *key)
{
	CLEANUP(xfreep) char *dir = loader_package_dir(l);
	CLEANUP(xfreep) char *path = fs_join(dir, "credential.json");
	const struct cfg_node *entry;
	char *value = NULL;
	struct cfg c;

	if (!fs_is_file(path))
		return NULL;
	cfg_init(&c);
	/* A broken file is reported where a model needs it. */
	if (cfg_parse_file(&c, path, LAYER_FILE, NULL) == 0) {
		entry = cfg_get(c.root, server);
		if (!entry && is_hub(server))
			entry = cfg_get(c.root, "dockerhub");
		value = xstrdup_null(cfg_text(entry, key));
	}
	cfg_release(&c);
	return value;
}

/* madengine's variables for Docker Hub and its credential.json count as well. */
static char *registry_word(const struct loader *l, const struct cfg_node *registry, const char *key,
			   const char *usual, const char *hub, const char *entry)
{
	const char *name = cfg_text(registry, key);
	char *value = conf_secret(l, name ? name : usual);
	const char *server = cfg_text(registry, "name");

	if (!value && server && is_hub(server))
		value = xstrdup_null(getenv(hub));
	return value || !server ? value : package_word(l, server, entry);
}

static void fill_registry(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *r = conf_map(root, "registry"), *name = conf_scalar(r, "name");
	struct build_conf *b = &l->rc->build;

	if (!name || !*name->s)
		return;
	if (name->s[0] == '-' || strpbrk(name->s, " @\t") || strstr(name->s, "://"))
		cfg_problem(l->p, name, "registry.name: want HOST or HOST:PORT, not '%.80s'",
			    strchr(name->s, '@') ? "…@…" : name->s);
	b->registry.name = xstrdup(strcmp(name->s, "dockerhub") ? name->s : "docker.io");
	b->registry.user =
		registry_word(l, r, "user_env", USER_ENV, "MAD_DOCKERHUB_USER", "username");
	b->registry.password = registry_word(l, r, "password_env", PASSWORD_ENV,
					     "MAD_DOCKERHUB_PASSWORD", "password");
	if (!b->registry.repository && !strcmp(b->registry.name, "docker.io"))
		b->registry.repository = xstrdup_null(getenv("MAD_DOCKERHUB_REPO"));
	if (!b->registry.repository && b->registry.user)
		b->registry.repository = package_word(l, name->s, "repository");
	if (b->registry.user && !b->registry.password)
		cfg_problem(l->p, name,
			    "registry: a user is given but no password: set the variable %s",
			    cfg_text(r, "password_env") ? cfg_text(r, "password_env")
							: PASSWORD_ENV);
}

void runconf_fill_build(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *build = conf_map(root, "build"),
			      *folder = conf_scalar(build, "context");
	const struct cfg_node *file = conf_scalar(conf_map(root, "model"), "dockerfile");
	struct build_conf *b = &l->rc->build;

	fill_args(l, build);
	fill_secrets(l, build);
	fill_context(l, root);
	fill_registry(l, root);
	b->dockerfile_where = file ? conf_origin(file) : NULL;
	b->folder = folder ? conf_resolve(l, folder) : NULL;
	if (folder && !fs_is_dir(b->folder))
		cfg_problem(l->p, folder, "build.context: no folder '%.200s'", b->folder);
	b->timeout_s = conf_seconds(build, "timeout");
}
