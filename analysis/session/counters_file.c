#include "profrig/session/counters_file.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/config/runconf.h"

#define MOST_TAU_S 3600.0

static const struct schema_key counters_keys[] = {
	{ .path = "counters", .type = "list of maps", .required = true },
	{ .path = "counters[].match", .type = "string", .required = true },
	{ .path = "counters[].kind", .type = "string", .choices = "cumulative|gauge" },
	{ .path = "counters[].quantity", .type = "string", .choices = "energy|power|other" },
	{ .path = "counters[].unit", .type = "string" },
	{ .path = "counters[].scale", .type = "float", .min = 1e-30, .max = 1e30 },
	{ .path = "counters[].modulus", .type = "float", .max = 1e30 },
	{ .path = "counters[].max_rate", .type = "float", .max = 1e30 },
	{ .path = "counters[].period_s", .type = "float", .max = 86400 },
	{ .path = "counters[].tau_s", .type = "float", .max = MOST_TAU_S },
	{ .path = "counters[].device", .type = "string" },
	{ .path = "counters[].exact_units", .type = "bool" },
	{ .path = NULL },
};

void counter_options_init(struct counter_options *o)
{
	*o = (struct counter_options){ .rules = COUNTER_RULES_INIT };
	cfg_init(&o->file);
}

void counter_options_release(struct counter_options *o)
{
	counter_rules_release(&o->rules);
	cfg_release(&o->file);
}

/* The node at key when it has a value; schema_check has reported one of a wrong kind. */
static const struct cfg_node *rule_given(const struct cfg_node *map, const char *key,
					 struct counter_rule *r, enum counter_field field)
{
	const struct cfg_node *n = cfg_get(map, key);

	if (!n || n->kind == CFG_NULL || !n->s)
		return NULL;
	r->given |= field;
	return n;
}

static void rule_number(const struct cfg_node *map, const char *key, struct counter_rule *r,
			enum counter_field field, double *to)
{
	const struct cfg_node *n = rule_given(map, key, r, field);

	if (n)
		*to = n->f;
}

static void rule_words(const struct cfg_node *map, struct counter_rule *r)
{
	const struct cfg_node *n = rule_given(map, "kind", r, RULE_KIND);

	if (n)
		r->kind = strcmp(n->s, "gauge") == 0 ? SERIES_GAUGE : SERIES_CUMULATIVE;
	n = rule_given(map, "quantity", r, RULE_QUANTITY);
	if (n)
		r->quantity = strcmp(n->s, "energy") == 0  ? QUANTITY_ENERGY
			      : strcmp(n->s, "power") == 0 ? QUANTITY_POWER
							   : QUANTITY_OTHER;
	n = rule_given(map, "unit", r, RULE_UNIT);
	r->unit = n ? n->s : NULL;
	n = rule_given(map, "device", r, RULE_DEVICE);
	r->device = n ? n->s : NULL;
	n = rule_given(map, "exact_units", r, RULE_EXACT);
	r->exact_units = n && n->b;
}

/* Rules across keys: energy is cumulative and in joules, power is a gauge in watts. */
static void check_rule(const struct cfg_node *map, const struct counter_rule *r, struct problems *p)
{
	static const char *const units[] = { NULL, "J", "W" };
	static const char *const kinds[] = { NULL, "cumulative", "gauge" };
	static const enum series_kind kind_of[] = { SERIES_UNKNOWN, SERIES_CUMULATIVE,
						    SERIES_GAUGE };
	const char *base = "";
	double scale;

	if (r->match && map->nr == 1)
		cfg_problem(p, map, "'%.80s': says nothing but match", r->match);
	if (r->device && strlen(r->device) >= sizeof(((struct counter_info *)0)->device))
		cfg_problem(p, cfg_get(map, "device"), "device: '%.80s' is too long", r->device);
	if (r->quantity == QUANTITY_OTHER)
		return;
	if (r->given & RULE_KIND && r->kind != kind_of[r->quantity])
		cfg_problem(p, cfg_get(map, "kind"), "kind: of quantity '%s' it is %s",
			    cfg_text(map, "quantity"), kinds[r->quantity]);
	if (r->unit &&
	    (!counter_unit(r->unit, &base, &scale) || strcmp(base, units[r->quantity]) != 0))
		cfg_problem(p, cfg_get(map, "unit"),
			    "unit: quantity '%s' is in %s or a multiple such as m%s, not '%.80s'",
			    cfg_text(map, "quantity"), units[r->quantity], units[r->quantity],
			    r->unit);
}

static void rules_of(const struct cfg_node *list, struct counter_rules *ret, struct problems *p)
{
	for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++) {
		const struct cfg_node *map = list->child[i];
		struct counter_rule r = { .match = cfg_text(map, "match") };

		if (map->kind != CFG_MAP)
			continue;
		rule_words(map, &r);
		rule_number(map, "scale", &r, RULE_SCALE, &r.scale);
		rule_number(map, "modulus", &r, RULE_MODULUS, &r.modulus);
		rule_number(map, "max_rate", &r, RULE_MAX_RATE, &r.max_rate);
		rule_number(map, "period_s", &r, RULE_PERIOD, &r.period_s);
		rule_number(map, "tau_s", &r, RULE_TAU, &r.tau_s);
		check_rule(map, &r, p);
		VEC_PUSH(&ret->v, r);
	}
}

int counter_options_file(struct counter_options *o, const char *path, struct problems *p,
			 struct err *err)
{
	struct err why = ERR_INIT;
	int r = cfg_parse_file(&o->file, path, LAYER_FILE, &why);

	if (r < 0 && !o->file.root && r != -EINVAL)
		return err_set(err, -r, "%s", why.msg);
	if (!o->file.root)
		cfg_problem(p, NULL, "%s", why.msg);
	for (size_t i = 0; i < o->file.problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", o->file.problems.lines.v[i]);
	if (o->file.root) {
		schema_check(o->file.root, counters_keys, p);
		rules_of(cfg_get(o->file.root, "counters"), &o->rules, p);
	}
	return p->lines.nr ? -EINVAL : 0;
}

int counter_options_tau(struct counter_options *o, const char *tau, struct err *err)
{
	double s = 0;

	o->rules.tau_fit = strcmp(tau, "fit") == 0;
	if (!o->rules.tau_fit && strcmp(tau, "none") != 0 &&
	    (num_seconds(tau, strlen(tau), &s) < 0 || !(s >= 0 && s <= MOST_TAU_S)))
		return err_set(err, EINVAL,
			       "tau is none, fit or a time up to an hour such as 0.1 or 100ms, not "
			       "'%s'",
			       tau);
	o->rules.tau_s = s;
	return 0;
}
