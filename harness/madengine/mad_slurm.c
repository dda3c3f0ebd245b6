#include "mad_slurm.h"
#include "mad_int.h"
#include "schema.h"
#include "slurm_settings.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

struct section {
	struct cfg *ret;
	struct cfg_node *map; /* of it, with the keys of slurm_schema */
	struct problems *p;
	struct strvec *notes;
};

typedef void section_fn(struct section *s, const struct cfg_node *n);

static void put(struct section *s, const char *key, enum cfg_kind kind, const char *text,
		const struct cfg_node *from)
{
	mad_put(s->ret, s->map, key, kind, text, from);
}

/* ---- keys ---- */

static void map_text(struct section *s, const struct cfg_node *n)
{
	put(s, n->key, CFG_STR, n->s, n);
}

/* In madengine 0 is a number of GPUs, too. */
static void map_gpus(struct section *s, const struct cfg_node *n)
{
	if (n->s && !strcmp(n->s, "0"))
		put(s, n->key, CFG_NULL, NULL, n);
	else
		map_text(s, n);
}

/* "2" counts as 2. */
static void int_put(struct section *s, const char *key, const char *shown, const struct cfg_node *n)
{
	int64_t v;

	if (!n->s || num_i64(n->s, strlen(n->s), &v) < 0)
		cfg_problem(s->p, n, "%s: want a whole number", shown);
	else
		put(s, key, CFG_INT, n->s, n);
}

static void map_int(struct section *s, const struct cfg_node *n)
{
	CLEANUP(xfreep) char *shown = xasprintf("slurm.%s", n->key);

	int_put(s, n->key, shown, n);
}

/* As Slurm reads it: a plain number is minutes. */
static void map_time(struct section *s, const struct cfg_node *n)
{
	double s_limit;

	if (!n->s || slurm_time_parse(n->s, &s_limit) < 0) {
		cfg_problem(s->p, n,
			    "slurm.time: want a time as Slurm writes it, such as 24:00:00");
		return;
	}
	CLEANUP(xfreep) char *text = xasprintf("%.0fs", s_limit);

	put(s, "time", CFG_STR, text, n);
}

static void map_truth(struct section *s, const struct cfg_node *n)
{
	int on = mad_truth(n);

	if (on < 0)
		cfg_problem(s->p, n, "slurm.%s: want true or false", n->key);
	else
		put(s, n->key, CFG_BOOL, on ? "true" : "false", n);
}

/* "n1,n2", which may have commas in brackets, or a list. */
static void map_nodes(struct section *s, const struct cfg_node *n)
{
	struct cfg_node *list = mad_list(s->ret, s->map, n->key, n);

	CFG_EACH(kid, n, CFG_SEQ)
		mad_add(s->ret, list, CFG_STR, kid->s ? kid->s : "", n);
	if (n->kind != CFG_SEQ)
		mad_add(s->ret, list, CFG_STR, n->s ? n->s : "", n);
}

static void map_list(struct section *s, const struct cfg_node *n)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_words(n, &words);
	mad_put_words(s->ret, s->map, n->key, &words, n);
}

static struct cfg_node *list_of(struct section *s, const char *key, const struct cfg_node *n)
{
	struct cfg_node *list = cfg_get(s->map, key);

	return list ? list : mad_list(s->ret, s->map, key, n);
}

static void map_mail(struct section *s, const struct cfg_node *n)
{
	CLEANUP(xfreep)
	char *option = xasprintf("--mail-%s=%s", n->key + strlen("mail_"), n->s ? n->s : "");

	mad_add(s->ret, list_of(s, "options", n), CFG_STR, option, n);
}

/* A name of at most 15 bytes, as the kernel has it; several with commas. */
static void map_interface(struct section *s, const struct cfg_node *n)
{
	size_t len = n->s ? strlen(n->s) : 0;
	bool odd = len == 0 || len > 200;

	for (size_t i = 0; !odd && i < len; i++)
		odd = !isalnum((unsigned char)n->s[i]) && !strchr("._-,^=", n->s[i]);
	if (odd) {
		cfg_problem(s->p, n, "slurm.network_interface: want the name of an interface");
		return;
	}
	CLEANUP(xfreep)
	char *line = xasprintf("export NCCL_SOCKET_IFNAME=%s GLOO_SOCKET_IFNAME=%s", n->s, n->s);

	mad_add(s->ret, list_of(s, "setup", n), CFG_STR, line, n);
}

static void map_not(struct section *s, const struct cfg_node *n)
{
	mad_note(s->notes, n, "slurm.%s: has no effect", n->key);
}

/* Row: key, type, function, madengine's default (NULL: none). */
static const struct {
	const char *key, *type;
	section_fn *map;
	const char *def;
	enum cfg_kind def_kind;
} keys[] = {
	{ "partition", "string", map_text, "amd-rccl", CFG_STR },
	{ "account", "string", map_text, NULL, CFG_NULL },
	{ "qos", "string", map_text, NULL, CFG_NULL },
	{ "reservation", "string", map_text, NULL, CFG_NULL },
	{ "constraint", "string", map_text, NULL, CFG_NULL },
	{ "nodes", "scalar", map_int, "1", CFG_INT },
	{ "gpus_per_node", "scalar", map_gpus, "8", CFG_STR },
	{ "time", "scalar", map_time, "24:00:00", CFG_STR },
	{ "exclusive", "scalar", map_truth, "true", CFG_BOOL },
	{ "mem", "scalar", map_text, NULL, CFG_NULL },
	{ "nodelist", "words", map_nodes, NULL, CFG_NULL },
	{ "exclude", "words", map_nodes, NULL, CFG_NULL },
	{ "modules", "words", map_list, NULL, CFG_NULL },
	{ "mail_user", "string", map_mail, NULL, CFG_NULL },
	{ "mail_type", "string", map_mail, NULL, CFG_NULL },
	{ "network_interface", "string", map_interface, NULL, CFG_NULL },
	{ "output_dir", "any", map_not, NULL, CFG_NULL },
	{ "results_dir", "any", map_not, NULL, CFG_NULL },
	{ "shared_workspace", "any", map_not, NULL, CFG_NULL },
	{ "enable_node_check", "any", map_not, NULL, CFG_NULL },
	{ "auto_cleanup_nodes", "any", map_not, NULL, CFG_NULL },
	{ "allow_submit_without_clean_nodes", "any", map_not, NULL, CFG_NULL },
	{ "verbose_node_check", "any", map_not, NULL, CFG_NULL },
};

static void keys_check(const struct cfg_node *slurm, bool lenient, struct section *s)
{
	struct schema_key table[ARRAY_LEN(keys) + 1] = { { .path = NULL } };
	struct problems unknown = PROBLEMS_INIT;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		table[i] = (struct schema_key){ .path = keys[i].key, .type = keys[i].type };
	schema_check_keys(slurm, table, s->p, &unknown);
	mad_unknown(&unknown, lenient, s->p, s->notes);
	problems_release(&unknown);
}

static bool is_given(const struct cfg_node *n)
{
	return n && n->kind != CFG_NULL && (n->kind != CFG_STR || *n->s);
}

static void keys_map(const struct cfg_node *slurm, struct section *s)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct cfg_node *n = cfg_get(slurm, keys[i].key);

		if (is_given(n))
			keys[i].map(s, n);
	}
}

/* ---- distributed ---- */

static void launcher_map(struct section *s, const struct cfg_node *n)
{
	static const char *const torch[] = { "torchrun",    "torchtitan", "deepspeed",
					     "megatron-lm", "megatron",   "primus" };
	const char *launcher = "plain";

	for (size_t i = 0; i < ARRAY_LEN(torch); i++)
		if (!strcmp(n->s, torch[i]))
			launcher = "torchrun";
	if (!strcmp(n->s, "mpirun"))
		launcher = "mpirun";
	put(s, "launcher", CFG_STR, launcher, n);
}

static void distributed_map(const struct cfg_node *d, const struct cfg_node *slurm,
			    struct section *s)
{
	const struct cfg_node *launcher = cfg_get(d, "launcher"), *each, *port, *nodes;

	if (d && d->kind != CFG_MAP) {
		cfg_problem(s->p, d, "distributed: want a map");
		return;
	}
	each = cfg_get(d, "nproc_per_node");
	nodes = cfg_get(d, "nnodes");
	port = cfg_get(d, "master_port");
	if (!is_given(port))
		port = cfg_get(d, "port");
	if (is_given(launcher) && launcher->s)
		launcher_map(s, launcher);
	if (is_given(each))
		int_put(s, "nproc_per_node", "distributed.nproc_per_node", each);
	if (is_given(port))
		int_put(s, "master_port", "distributed.port", port);
	if (!is_given(nodes))
		return;
	if (!is_given(cfg_get(slurm, "nodes"))) {
		int_put(s, "nodes", "distributed.nnodes", nodes);
	} else {
		const char *of_slurm = cfg_text(slurm, "nodes");

		if (!of_slurm || !nodes->s || strcmp(of_slurm, nodes->s) != 0)
			cfg_problem(s->p, nodes, "distributed.nnodes: and slurm.nodes differ");
	}
}

void mad_slurm_config(const struct cfg_node *slurm, const struct cfg_node *distributed,
		      bool lenient, struct cfg *to, struct problems *p, struct strvec *notes)
{
	struct section s = { .ret = to, .p = p, .notes = notes };
	size_t before = p->lines.nr;

	if (slurm && slurm->kind != CFG_MAP) {
		cfg_problem(p, slurm, "slurm: want a map");
		return;
	}
	if (!slurm && !distributed)
		return;
	s.map = mad_map(to, to->root, "slurm", slurm ? slurm : distributed);
	if (slurm)
		keys_check(slurm, lenient, &s);
	if (p->lines.nr > before)
		return;
	keys_map(slurm, &s);
	distributed_map(distributed, slurm, &s);
}

void mad_slurm_defaults(struct cfg *to, const struct cfg_node *at, struct strvec *notes)
{
	struct section s = { .ret = to, .map = cfg_get(to->root, "slurm"), .notes = notes };

	for (size_t i = 0; s.map && s.map->kind == CFG_MAP && i < ARRAY_LEN(keys); i++) {
		struct cfg_node def = *at;

		if (!keys[i].def || cfg_get(s.map, keys[i].key))
			continue;
		def.key = keys[i].key;
		def.kind = keys[i].def_kind;
		def.s = keys[i].def;
		def.b = true;
		def.nr = 0;
		mad_note(notes, at, "slurm.%s: %s, as in madengine", keys[i].key, keys[i].def);
		keys[i].map(&s, &def);
	}
}
