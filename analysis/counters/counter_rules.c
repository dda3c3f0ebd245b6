#include "attribution_private.h"

#include <stdio.h>
#include <string.h>

#include "profrig/counters/tau_fit.h"

static unsigned char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : (unsigned char)c;
}

/* Behind "[a-z_]", or NULL when the bracket is not closed and so is an ordinary character. */
static const char *set_end(const char *p)
{
	p += 1 + (p[1] == '!' || p[1] == '^');
	if (*p)
		p++; /* a ']' that comes first is one of the set */
	p = strchr(p, ']');
	return p ? p + 1 : NULL;
}

static bool in_set(const char *p, const char *end, unsigned char c)
{
	bool other = p[1] == '!' || p[1] == '^', found = false;

	for (p += 1 + other; p < end - 1; p++) {
		bool range = p[1] == '-' && p + 2 < end - 1;

		found |= range ? c >= char_lower(p[0]) && c <= char_lower(p[2])
			       : c == char_lower(*p);
		p += range ? 2 : 0;
	}
	return found != other;
}

/* One character of a name by the pattern at p: what follows in the pattern, NULL it does not fit.
 */
static const char *pattern_step(const char *p, unsigned char c)
{
	const char *end = *p == '[' ? set_end(p) : NULL;

	if (!*p)
		return NULL;
	if (end)
		return in_set(p, end, c) ? end : NULL;
	return *p == '?' || char_lower(*p) == c ? p + 1 : NULL;
}

/*
 * As fnmatch(3) without escapes and case. That one takes hours for many stars and a long name,
 * which a trace brings along: here a later star only ever needs the shortest match of those before
 * it.
 */
bool counter_matches(const char *pattern, const char *name)
{
	const char *p = pattern, *star = NULL, *from = NULL;

	while (*name) {
		const char *next = *p == '*' ? NULL : pattern_step(p, char_lower(*name));

		if (*p == '*') {
			star = ++p;
			from = name;
			if (!*p)
				return true;
		} else if (next) {
			p = next;
			name++;
		} else if (star) {
			p = star;
			name = ++from;
		} else {
			return false;
		}
	}
	return p[strspn(p, "*")] == '\0';
}

/* Field by field, the first entry that matches and gives it. */
static struct counter_rule rule_for(const struct counter_rules *rules, const char *name)
{
	struct counter_rule all = { .given = 0 };

	for (size_t i = 0; i < rules->v.nr; i++) {
		const struct counter_rule *r = &rules->v.v[i];
		unsigned news = r->given & ~all.given;

		if (!news || !counter_matches(r->match, name))
			continue;
		all.given |= news;
		all.kind = news & RULE_KIND ? r->kind : all.kind;
		all.quantity = news & RULE_QUANTITY ? r->quantity : all.quantity;
		all.unit = news & RULE_UNIT ? r->unit : all.unit;
		all.scale = news & RULE_SCALE ? r->scale : all.scale;
		all.modulus = news & RULE_MODULUS ? r->modulus : all.modulus;
		all.max_rate = news & RULE_MAX_RATE ? r->max_rate : all.max_rate;
		all.period_s = news & RULE_PERIOD ? r->period_s : all.period_s;
		all.tau_s = news & RULE_TAU ? r->tau_s : all.tau_s;
		all.device = news & RULE_DEVICE ? r->device : all.device;
		all.exact_units = news & RULE_EXACT ? r->exact_units : all.exact_units;
	}
	return all;
}

static void apply_scale(const struct counter_rule *r, struct counter_info *ci)
{
	double unit_scale = 1;

	if (r->given & RULE_UNIT && !counter_unit(r->unit, &ci->unit, &unit_scale))
		ci->unit = r->unit;
	if (r->given & RULE_SCALE)
		ci->scale = r->scale * unit_scale;
	else if (r->given & RULE_UNIT)
		ci->scale = unit_scale;
	if (r->given & (RULE_SCALE | RULE_UNIT))
		ci->step_raw = ci->step = 0; /* the table's steps are of its own scale */
}

static bool has_unit(const struct counter_info *ci, const char *unit)
{
	return strcmp(ci->unit, unit) == 0;
}

/* Only joules that add up are an energy, and only watts that do not are a power. */
static void settle_quantity(const struct counter_rule *r, bool known, struct counter_info *ci)
{
	bool energy = ci->kind == SERIES_CUMULATIVE && has_unit(ci, "J");
	bool power = ci->kind == SERIES_GAUGE && has_unit(ci, "W");

	if (r->given & RULE_QUANTITY)
		ci->quantity = r->quantity;
	else if (!known && r->given & (RULE_KIND | RULE_UNIT))
		ci->quantity = energy ? QUANTITY_ENERGY : power ? QUANTITY_POWER : QUANTITY_OTHER;
	if ((ci->quantity == QUANTITY_ENERGY && !energy) ||
	    (ci->quantity == QUANTITY_POWER && !power))
		ci->quantity = QUANTITY_OTHER;
}

static const struct counter_learned *learned_of(const struct counter_rules *rules, series_id s)
{
	return rules && s < rules->learned_nr ? &rules->learned[s] : NULL;
}

static void apply_exact(const struct counter_learned *learned, bool wanted, struct counter_info *ci)
{
	if (!wanted || !learned || learned->step_raw <= 0 || ci->step <= 0) {
		ci->inexact = wanted && learned && ci->step > 0;
		ci->step_raw = ci->step = 0;
		return;
	}
	ci->step_raw = learned->step_raw;
	ci->scale = ci->step / ci->step_raw;
}

/* An estimate passed no sensor's filter: only a rule for its name gives it one. */
static void apply_tau(const struct counter_rules *rules, const struct counter_learned *learned,
		      const struct counter_rule *r, bool estimated, struct counter_info *ci)
{
	if (ci->quantity != QUANTITY_POWER)
		return;
	if (r->given & RULE_TAU)
		ci->tau_s = r->tau_s;
	else if (!estimated)
		ci->tau_s = rules->tau_s;
	ci->tau_source = ci->tau_s > 0 ? TAU_USER : TAU_NONE;
	if (!(r->given & RULE_TAU) && ci->tau_s <= 0 && rules->tau_fit && learned &&
	    learned->tau_s > 0) {
		ci->tau_s = learned->tau_s;
		ci->tau_source = TAU_FIT;
	}
	if (ci->tau_s > 0)
		ci->tau_error_s = TAU_SPREAD * ci->tau_s;
	else if (!(r->given & RULE_TAU) && !estimated && learned)
		ci->tau_error_s = (1 + TAU_SPREAD) *
				  (isnan(learned->lag_s) ? ci->tau_hint_s : learned->lag_s);
}

void rules_apply(const struct model *m, series_id s, bool known, struct counter_info *ci)
{
	const struct counter_rules *rules = m->counter_rules;
	const struct counter_learned *learned = learned_of(rules, s);
	struct counter_rule r;

	if (!rules) {
		ci->step_raw = ci->step = 0;
		return;
	}
	r = rule_for(rules, model_str(m, m->series.v[s].name));
	ci->kind = r.given & RULE_KIND ? r.kind : ci->kind;
	ci->modulus = r.given & RULE_MODULUS ? r.modulus : ci->modulus;
	ci->max_rate = r.given & RULE_MAX_RATE ? r.max_rate : ci->max_rate;
	ci->period_s = r.given & RULE_PERIOD ? r.period_s : ci->period_s;
	if (r.given & RULE_DEVICE)
		snprintf(ci->device, sizeof(ci->device), "%s", r.device);
	apply_scale(&r, ci);
	settle_quantity(&r, known, ci);
	apply_exact(learned, r.given & RULE_EXACT ? r.exact_units : rules->exact_units, ci);
	apply_tau(rules, learned, &r, m->series.v[s].estimated, ci);
}

void counter_rules_release(struct counter_rules *r)
{
	VEC_RELEASE(&r->v);
	VEC_RELEASE(&r->filters);
	free(r->learned);
	r->learned = NULL;
	r->learned_nr = 0;
}
