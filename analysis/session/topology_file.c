#include "profrig/session/topology_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"

#define MAX_RANK INT32_MAX
#define MAX_GPU 4095
#define MAX_WEIGHT 1e9

/* Every key of a map is one of those, else it is a problem with a suggestion. */
static bool is_map_of(const struct cfg_node *n, const char *what, const char *const *keys,
		      struct problems *p)
{
	if (n->kind != CFG_MAP) {
		cfg_problem(p, n, "%s: want a map", what);
		return false;
	}
	for (size_t i = 0; i < n->nr; i++) {
		const char *key = n->child[i]->key, *near;
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], key) != 0)
			k++;
		if (keys[k])
			continue;
		near = cfg_did_you_mean(key, keys);
		if (near)
			cfg_problem(p, n->child[i], "%s: unknown key '%.80s'; did you mean '%s'?",
				    what, key, near);
		else
			cfg_problem(p, n->child[i], "%s: unknown key '%.80s'", what, key);
	}
	return true;
}

static bool is_word(const struct cfg_node *n)
{
	return n->kind != CFG_NULL && n->kind != CFG_MAP && n->kind != CFG_SEQ && *n->s;
}

/* A word or a list of words, each with its line; NULL when there is none. */
typedef void word_fn(void *to, const struct cfg_node *n, struct problems *p);

static void each_word(const struct cfg_node *n, const char *what, word_fn *fn, void *to,
		      struct problems *p)
{
	if (!n)
		return;
	if (is_word(n)) {
		fn(to, n, p);
		return;
	}
	if (n->kind != CFG_SEQ || n->nr == 0) {
		cfg_problem(p, n, "%s: want a word or a list of words", what);
		return;
	}
	for (size_t i = 0; i < n->nr; i++) {
		if (is_word(n->child[i]))
			fn(to, n->child[i], p);
		else
			cfg_problem(p, n->child[i], "%s[%zu]: want a word", what, i);
	}
}

/* ---- numbers ---- */

struct ranges {
	VEC(struct topology_range) v;
};

/* "3", "0-3" */
static bool range_parse(const char *s, int64_t max, struct topology_range *ret)
{
	const char *dash = strchr(s, '-');
	size_t n = dash ? (size_t)(dash - s) : strlen(s);

	if (num_i64(s, n, &ret->first) < 0 || ret->first < 0)
		return false;
	ret->last = ret->first;
	if (dash && num_i64(dash + 1, strlen(dash + 1), &ret->last) < 0)
		return false;
	return ret->first <= ret->last && ret->last <= max;
}

static bool ranges_parse(const char *s, int64_t max, struct ranges *to)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, s, ",");
	for (size_t i = 0; i < words.nr; i++) {
		struct topology_range r;

		if (!range_parse(words.v[i], max, &r))
			return false;
		VEC_PUSH(&to->v, r);
	}
	return words.nr > 0;
}

static void take_ranks(void *to, const struct cfg_node *n, struct problems *p)
{
	if (!ranges_parse(n->s, MAX_RANK, to))
		cfg_problem(p, n, "'%.80s' is no list of ranks such as 0-3,8", n->s);
}

/* ---- names ---- */

static void take_word(void *to, const struct cfg_node *n, struct problems *p)
{
	(void)p;
	strvec_push(to, n->s);
}

static bool is_numbers(const char *s)
{
	return s[strspn(s, "0123456789,- ")] == '\0';
}

/* Numbers are GPUs. Returns whether it was a list of numbers, right or wrong. */
static bool take_numbers(struct strvec *to, const struct cfg_node *n, struct problems *p)
{
	struct ranges r = { VEC_INIT };

	if (!is_numbers(n->s))
		return false;
	if (!ranges_parse(n->s, MAX_GPU, &r))
		cfg_problem(p, n, "'%.80s' is no list of devices such as 0-3 or gpu0", n->s);
	for (size_t i = 0; i < r.v.nr; i++)
		for (int64_t gpu = r.v.v[i].first; gpu <= r.v.v[i].last && to->nr <= MAX_GPU; gpu++)
			strvec_pushf(to, "gpu%" PRId64, gpu);
	if (to->nr > MAX_GPU)
		cfg_problem(p, n, "more than %d devices", MAX_GPU);
	VEC_RELEASE(&r.v);
	return true;
}

static void take_device(void *to, const struct cfg_node *n, struct problems *p)
{
	const char *id = strrchr(n->s, ':');

	if (take_numbers(to, n, p))
		return;
	if (id && (id == n->s || !id[1]))
		cfg_problem(p, n, "'%.80s' is no device such as gpu0 or node3:gpu2", n->s);
	else
		strvec_push(to, n->s);
}

/* One device of the counter's own node. */
static void take_measured(void *to, const struct cfg_node *n, struct problems *p)
{
	if (strpbrk(n->s, ":*?["))
		cfg_problem(p, n,
			    "'%.80s': want the id of a device on the counter's node, such as gpu1",
			    n->s);
	else if (!take_numbers(to, n, p))
		strvec_push(to, n->s);
}

static bool visible_has(const struct topology_rule *r, int64_t gpu)
{
	for (size_t i = 0; i < r->visible.nr; i++)
		if (r->visible.v[i] == gpu)
			return true;
	return false;
}

static void take_visible(void *to, const struct cfg_node *n, struct problems *p)
{
	struct topology_rule *r = to;
	CLEANUP(strvec_release) struct strvec ids = STRVEC_INIT;

	if (!take_numbers(&ids, n, p))
		strvec_push(&ids, n->s);
	for (size_t i = 0; i < ids.nr; i++) {
		int64_t gpu;

		if (strncmp(ids.v[i], "gpu", 3) != 0 ||
		    num_i64(ids.v[i] + 3, strlen(ids.v[i] + 3), &gpu) < 0 || gpu < 0 ||
		    gpu > MAX_GPU)
			cfg_problem(p, n, "'%.80s' is no GPU such as 2 or gpu2", ids.v[i]);
		else if (visible_has(r, gpu))
			cfg_problem(p, n, "visible: %s stands there twice", ids.v[i]);
		else
			VEC_PUSH(&r->visible, gpu);
	}
}

/* ---- the parts of the file ---- */

static void take_weight(struct topology_rule *r, const struct cfg_node *n, struct problems *p)
{
	bool number = n && (n->kind == CFG_INT || n->kind == CFG_FLOAT);

	if (number && n->f > 0 && n->f <= MAX_WEIGHT)
		r->weight = n->f;
	else if (n)
		cfg_problem(p, n, "weight: want a number above 0");
}

static void read_rule(struct topology *tp, const struct cfg_node *n, struct problems *p)
{
	static const char *const keys[] = { "ranks",   "local_ranks", "hosts",  "processes",
					    "devices", "visible",     "weight", NULL };
	struct ranges ranks = { VEC_INIT }, local = { VEC_INIT };
	struct topology_rule r;

	if (!is_map_of(n, "sharing", keys, p))
		return;
	topology_rule_init(&r);
	each_word(cfg_get(n, "ranks"), "ranks", take_ranks, &ranks, p);
	each_word(cfg_get(n, "local_ranks"), "local_ranks", take_ranks, &local, p);
	each_word(cfg_get(n, "hosts"), "hosts", take_word, &r.hosts, p);
	each_word(cfg_get(n, "processes"), "processes", take_word, &r.processes, p);
	each_word(cfg_get(n, "devices"), "devices", take_device, &r.devices, p);
	each_word(cfg_get(n, "visible"), "visible", take_visible, &r, p);
	take_weight(&r, cfg_get(n, "weight"), p);
	for (size_t i = 0; i < ranks.v.nr; i++)
		VEC_PUSH(&r.ranks, ranks.v.v[i]);
	for (size_t i = 0; i < local.v.nr; i++)
		VEC_PUSH(&r.local_ranks, local.v.v[i]);
	if (!cfg_get(n, "devices") && !cfg_get(n, "visible"))
		cfg_problem(p, n, "sharing: the rule names no device: 'devices' or 'visible'");
	r.where = cfg_where(n);
	topology_add_rule(tp, &r);
	topology_rule_release(&r);
	VEC_RELEASE(&ranks.v);
	VEC_RELEASE(&local.v);
}

static void read_counter(struct topology *tp, const struct cfg_node *n, struct problems *p)
{
	struct topology_counter c = { .measures = STRVEC_INIT };
	bool number = *n->key && n->key[strspn(n->key, "0123456789")] == '\0';

	if (!*n->key || strpbrk(n->key, "*?["))
		cfg_problem(p, n, "counters: '%.80s' is no device such as gpu0 or node3:gpu2",
			    n->key);
	each_word(n, "counters", take_measured, &c.measures, p);
	c.device = number ? xasprintf("gpu%s", n->key) : xstrdup(n->key);
	c.where = cfg_where(n);
	topology_add_counter(tp, &c);
	topology_counter_release(&c);
}

static void read_tree(struct topology *tp, const struct cfg_node *root, struct problems *p)
{
	static const char *const keys[] = { "sharing", "counters", "discover", NULL };
	const struct cfg_node *sharing = cfg_get(root, "sharing"),
			      *counters = cfg_get(root, "counters"),
			      *discover = cfg_get(root, "discover");

	is_map_of(root, "topology", keys, p);
	if (sharing && sharing->kind != CFG_SEQ)
		cfg_problem(p, sharing, "sharing: want a list of rules");
	for (size_t i = 0; sharing && sharing->kind == CFG_SEQ && i < sharing->nr; i++)
		read_rule(tp, sharing->child[i], p);
	if (counters && counters->kind != CFG_MAP)
		cfg_problem(p, counters, "counters: want a map of devices");
	for (size_t i = 0; counters && counters->kind == CFG_MAP && i < counters->nr; i++)
		read_counter(tp, counters->child[i], p);
	if (discover && discover->kind != CFG_BOOL)
		cfg_problem(p, discover, "discover: want true or false");
	else if (discover)
		topology_discover(tp, discover->b);
}

int topology_file_read(struct topology *tp, const char *path, struct problems *p)
{
	CLEANUP(cfg_release) struct cfg c;
	struct err err = ERR_INIT;

	cfg_init(&c);
	if (cfg_parse_file(&c, path, LAYER_FILE, &err) < 0 && !c.root)
		cfg_problem(p, NULL, "%s", err.msg);
	for (size_t i = 0; i < c.problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", c.problems.lines.v[i]);
	if (c.root)
		read_tree(tp, c.root, p);
	return p->lines.nr ? -EINVAL : 0;
}
