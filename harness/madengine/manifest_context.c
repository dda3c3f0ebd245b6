#include "manifest_context.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/madengine/mad.h"

#define OURS "additional_context"

/* --- keeping --- */

struct keeping {
	const struct image_plan *ip;
	struct strvec *left_out; /* NULL: every value is kept */
};

static bool in_text(const char *text, const char *secret)
{
	return secret && strlen(secret) >= 8 && strstr(text, secret);
}

static bool holds_secret(const struct image_plan *ip, const char *text)
{
	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct runconf *rc = ip->jobs.v[i].conf;

		for (size_t k = 0; k < rc->env.nr; k++)
			if (rc->env.v[k].secret && in_text(text, rc->env.v[k].value))
				return true;
		for (size_t k = 0; k < rc->build.secrets.nr; k++)
			if (in_text(text, rc->build.secrets.v[k].value))
				return true;
	}
	return false;
}

static json_t *as_json(const struct keeping *a, const struct cfg_node *n, const char *where);

static json_t *map_json(const struct keeping *a, const struct cfg_node *n, const char *where)
{
	json_t *map = json_object(), *v;

	for (size_t i = 0; i < n->nr; i++) {
		const struct cfg_node *child = n->child[i];
		CLEANUP(xfreep)
		char *at = xasprintf("%s%s%s", where, *where ? "." : "", child->key);

		if (!*where && !strcmp(child->key, "docker_build_arg"))
			continue;
		if (a->left_out && child->s && runconf_is_secret_name(child->key))
			strvec_push(a->left_out, at);
		else if ((v = as_json(a, child, at)))
			json_object_set_new(map, child->key, v);
	}
	return map;
}

/* New reference; NULL: the value is left out. */
static json_t *as_json(const struct keeping *a, const struct cfg_node *n, const char *where)
{
	json_t *list, *v;

	if (n->kind == CFG_MAP)
		return map_json(a, n, where);
	if (n->kind == CFG_NULL)
		return json_null();
	if (n->kind == CFG_BOOL)
		return json_boolean(n->b);
	if (n->kind == CFG_INT)
		return json_integer(n->i);
	if (a->left_out && n->kind != CFG_SEQ && n->s && holds_secret(a->ip, n->s)) {
		strvec_push(a->left_out, where);
		return NULL;
	}
	/* A float is kept as text, with its digits. */
	if (n->kind != CFG_SEQ)
		return json_string(n->s ? n->s : "");
	list = json_array();
	for (size_t i = 0; i < n->nr; i++)
		if ((v = as_json(a, n->child[i], where)))
			json_array_append_new(list, v);
	return list;
}

void manifest_context_keep(const struct run_options *o, struct image_plan *ip,
			   struct strvec *left_out)
{
	const struct keeping a = { ip, left_out };
	struct problems p = PROBLEMS_INIT;
	struct cfg given;
	json_t *kept;

	if (!o->conf.context && !o->conf.context_file)
		return;
	cfg_init(&given);
	/* Its problems were reported with the models. */
	if (mad_context_load(&given, NULL, o->conf.context_file, o->conf.context, &p, NULL) == 0) {
		kept = as_json(&a, given.root, "");
		ip->context = json_dumps(kept, JSON_COMPACT);
		json_decref(kept);
	}
	problems_release(&p);
	cfg_release(&given);
}

/* --- taking --- */

static json_t *of_madengine(const struct cfg_node *context)
{
	static const char *const keys[] = {
		"docker_env_vars", "docker_mounts", "docker_gpus",  "gpu_vendor",        "guest_os",
		"tools",           "pre_scripts",   "post_scripts", "encapsulate_script"
	};
	const struct keeping all = { NULL, NULL };
	json_t *kept = json_object();

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct cfg_node *n = cfg_get(context, keys[i]);

		if (n && n->kind != CFG_NULL && (n->kind != CFG_STR || *n->s))
			json_object_set_new(kept, keys[i], as_json(&all, n, keys[i]));
	}
	return kept;
}

void manifest_context_take(struct run_options *o, const struct manifest *m)
{
	const struct keeping all = { NULL, NULL };
	const struct cfg_node *ours = cfg_get(m->tree.root, OURS);
	json_t *kept;

	if (m->ours && (!ours || ours->kind != CFG_MAP))
		return;
	kept = m->ours ? as_json(&all, ours, OURS) : of_madengine(cfg_get(m->tree.root, "context"));
	if (json_object_size(kept)) {
		free(o->manifest_context);
		o->manifest_context = json_dumps(kept, JSON_COMPACT);
	}
	json_decref(kept);
}
