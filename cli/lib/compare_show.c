#include "compare_show.h"
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"

#define SHOWN 20
#define LEFT_SHOWN 10
#define KEY_SHOWN 56

const char *compare_side_name(uint32_t side, char buf[16])
{
	if (side < 26)
		snprintf(buf, 16, "%c", 'A' + (int)side);
	else
		snprintf(buf, 16, "%" PRIu32, side + 1);
	return buf;
}

const char *compare_verdict(const struct bench_comparison *c)
{
	static const enum bench_verdict worst[] = { BENCH_SLOWER, BENCH_UNCLEAR, BENCH_SAME };

	for (size_t i = 0; i < c->versus.nr; i++)
		if (!c->versus.v[i].comparable)
			return "not comparable";
	for (size_t w = 0; w < ARRAY_LEN(worst); w++)
		for (size_t i = 0; i < c->versus.nr; i++)
			if (c->versus.v[i].verdict == worst[w])
				return bench_verdict_name(worst[w]);
	return bench_verdict_name(BENCH_FASTER);
}

static const char *text_of(const struct bench_table_row *r)
{
	return *r->key ? r->key : r->config;
}

/* "B", or "A=" where another side is as fast; "-" of a pair that was refused. */
static const char *winner_of(const struct bench_pair *p, char buf[16])
{
	char name[16];

	if (p->winner == UINT32_MAX)
		return "-";
	snprintf(buf, 16, "%.8s%s", compare_side_name(p->winner, name), p->tied ? "=" : "");
	return buf;
}

/* ---- a terminal ---- */

static void side_say(const struct bench_tables *t, uint32_t side, FILE *f)
{
	const struct bench_table_side *s = &t->sides.v[side];
	char name[16];

	fprintf(f, "%-2s ", compare_side_name(side, name));
	cli_put(f, s->back_end, 0);
	fputs("  ", f);
	cli_put(f, t->files.v[s->file].path, 0);
	if (*s->version) {
		fputs("  ", f);
		cli_put(f, s->version, 48);
	}
	fputc('\n', f);
}

char *compare_signed(double v, const char *unit, char *buf)
{
	char plain[32];

	snprintf(buf, 40, "%s%s", v < 0 ? "-" : "+", cli_si(fabs(v), unit, plain));
	return buf;
}

char *compare_predicted(const struct bench_versus *v, const char *name)
{
	struct strbuf words = STRBUF_INIT;
	char a[32], b[32], change[40];

	if (!isfinite(v->seconds.value) || !(v->a_s > 0))
		return NULL;
	strbuf_addf(&words, "predicted with %s: these calls take %s instead of %s: %s, %+.1f %%",
		    name, cli_si(v->b_s, "s", b), cli_si(v->a_s, "s", a),
		    compare_signed(v->seconds.value, "s", change), v->relative.value * 100);
	if (!isnan(v->relative.low))
		strbuf_addf(&words, " (%+.1f to %+.1f)", v->relative.low * 100,
			    v->relative.high * 100);
	if (v->with_energy) {
		strbuf_addf(&words, ", %s", compare_signed(v->joules.value, "J", change));
		if (v->with_energy < v->pairs - v->refused)
			strbuf_addf(&words, " of %zu calls with energy", v->with_energy);
	}
	return strbuf_steal(&words);
}

static void predicted_say(const struct bench_versus *v, const char *name, FILE *f)
{
	CLEANUP(xfreep) char *words = compare_predicted(v, name);

	if (words)
		fprintf(f, "  %s\n", words);
}

static void pair_say(const struct bench_pair *p, FILE *f)
{
	char saves[40], winner[16];

	fprintf(f, "  %10s %10.2f %10.2f",
		isnan(p->seconds.value) ? "-" : compare_signed(p->seconds.value, "s", saves),
		p->a->mean, p->b->mean);
	if (isnan(p->c.low))
		fprintf(f, " %7.3f %15s %7s", p->c.ratio, "-", "-");
	else
		fprintf(f, " %7.3f %6.3f to %5.3f %7.2g", p->c.ratio, p->c.low, p->c.high,
			p->p_adj);
	fprintf(f, " %-8s %-6s ", p->refused ? "refused" : bench_verdict_name(p->verdict),
		winner_of(p, winner));
	cli_put(f, text_of(p->a), KEY_SHOWN);
	if (p->reason) {
		fputs(": ", f);
		cli_put(f, p->reason, 0);
	}
	fputc('\n', f);
}

static void pairs_say(const struct bench_comparison *c, const struct bench_versus *v,
		      const char *name, FILE *f)
{
	size_t shown = 0;
	char mean[24];

	if (!v->pairs)
		return;
	snprintf(mean, sizeof(mean), "%s µs", name);
	fprintf(f, "  %10s %10s %10s %7s %15s %7s %-8s %-6s %s\n", "effect", "A µs", mean, "ratio",
		"interval", "p", "verdict", "winner", "call");
	for (size_t i = 0; i < c->pairs.nr; i++)
		if (c->pairs.v[i].side == v->side && shown++ < SHOWN)
			pair_say(&c->pairs.v[i], f);
	if (shown > SHOWN)
		fprintf(f, "  … and %zu more\n", shown - SHOWN);
}

static void left_say(const struct bench_comparison *c, const struct bench_versus *v,
		     const char *name, FILE *f)
{
	size_t shown = 0;

	for (size_t i = 0; i < c->left.nr; i++) {
		const struct bench_left *l = &c->left.v[i];

		if (l->side != v->side || shown++ >= LEFT_SHOWN)
			continue;
		if (l->in == BENCH_NEITHER)
			fprintf(f, "  no time in either: ");
		else
			fprintf(f, "  only in %s: ", l->in == BENCH_ONLY_A ? "A" : name);
		cli_put(f, text_of(l->row), KEY_SHOWN);
		fprintf(f, " (%s", l->why);
		if (*l->detail) {
			fputs(": ", f);
			cli_put(f, l->detail, 80);
		}
		fputs(")\n", f);
	}
	if (shown > LEFT_SHOWN)
		fprintf(f, "  … and %zu more without a time in both\n", shown - LEFT_SHOWN);
}

static void versus_say(const struct bench_comparison *c, const struct bench_versus *v, FILE *f)
{
	char name[16];
	const char *between = "";

	compare_side_name(v->side, name);
	fprintf(f, "%s against A: %zu calls: ", name, v->pairs);
	for (int i = 0; i <= BENCH_UNCLEAR; i++)
		if (v->of[i]) {
			fprintf(f, "%s%zu %s", between, v->of[i],
				bench_verdict_name((enum bench_verdict)i));
			between = ", ";
		}
	if (v->refused)
		fprintf(f, " (%zu refused)", v->refused);
	fprintf(f, "%swith all: %s\n", v->pairs ? "; " : "",
		v->comparable ? bench_verdict_name(v->verdict) : "not comparable");
	pairs_say(c, v, name, f);
	left_say(c, v, name, f);
	predicted_say(v, name, f);
}

void compare_text(const struct bench_tables *t, const struct bench_comparison *c, FILE *f)
{
	for (uint32_t i = 0; i < t->sides.nr; i++)
		side_say(t, i, f);
	for (size_t i = 0; i < c->versus.nr; i++)
		versus_say(c, &c->versus.v[i], f);
}

/* ---- JSON ---- */

static void json_count(struct json_out *j, const char *key, uint64_t v)
{
	if (v)
		json_u64(j, key, v);
	else
		json_nil(j, key);
}

/* Processes; of a table that does not tell them, repeats. */
static uint64_t count_of(const struct bench_table_row *r)
{
	return r->processes ? r->processes : r->repeats;
}

/* The sum of what both tell; 0: they do not. */
static uint64_t count_of_both(const struct bench_table_row *a, const struct bench_table_row *b)
{
	if (a->processes && b->processes)
		return a->processes + b->processes;
	return a->repeats && b->repeats ? a->repeats + b->repeats : 0;
}

static void json_row(struct json_out *j, const char *key, const struct bench_table_row *r)
{
	json_obj(j, key);
	json_count(j, "n", count_of(r));
	json_u64(j, "repeats", r->repeats);
	json_f64(j, "mean", r->mean);
	json_f64(j, "median", r->median);
	json_f64(j, "stddev", r->stddev);
	json_f64(j, "min", r->min);
	json_f64(j, "ci_low", r->low);
	json_f64(j, "ci_high", r->high);
	json_f64(j, "gflops", r->gflops);
	json_f64(j, "gbps", r->gbps);
	json_f64(j, "clock_mhz", r->clock_mhz);
	json_f64(j, "loop_gflops", r->loop_gflops);
	json_str(j, "cache", bench_cache_name(r->cache));
	json_u64(j, "threads", r->threads);
	json_end(j);
}

static void json_effect(struct json_out *j, const char *const keys[3], const struct bench_effect *e)
{
	json_f64(j, keys[0], e->value);
	json_f64(j, keys[1], e->low);
	json_f64(j, keys[2], e->high);
}

static const char *const effect_s[] = { "effect_s", "effect_s_low", "effect_s_high" };
static const char *const effect_j[] = { "effect_j", "effect_j_low", "effect_j_high" };
static const char *const effect_rel[] = { "effect_rel", "effect_rel_low", "effect_rel_high" };

static void json_pair(struct json_out *j, const struct bench_pair *p)
{
	char name[16];

	json_obj(j, NULL);
	json_str(j, "key", p->a->key);
	json_str(j, "library", p->a->library);
	json_str(j, "config", p->a->config);
	json_str(j, "side", compare_side_name(p->side, name));
	json_u64(j, "calls", p->a->calls ? p->a->calls : p->b->calls);
	json_row(j, "a", p->a);
	json_row(j, "b", p->b);
	json_f64(j, "delta", p->m[1].mean - p->m[0].mean);
	json_f64(j, "delta_rel", p->c.ratio - 1);
	json_f64(j, "ci_low", p->c.low - 1);
	json_f64(j, "ci_high", p->c.high - 1);
	json_f64(j, "ratio", p->c.ratio);
	json_f64(j, "p_value", p->c.p);
	json_f64(j, "p_adj", p->p_adj);
	json_count(j, "n", count_of_both(p->a, p->b));
	json_str(j, "method", p->paired ? "paired-log-holm" : "welch-log-holm");
	json_str(j, "verdict", bench_verdict_name(p->verdict));
	json_bool(j, "refused", p->refused);
	json_str(j, "reason", p->reason);
	json_str(j, "winner", p->winner == UINT32_MAX ? NULL : compare_side_name(p->winner, name));
	json_bool(j, "tied", p->tied);
	json_effect(j, effect_s, &p->seconds);
	json_f64(j, "effect_rel", p->share);
	json_effect(j, effect_j, &p->joules);
	json_end(j);
}

static void json_left(struct json_out *j, const char *key, const struct bench_comparison *c,
		      enum bench_left_in in)
{
	char name[16];

	json_arr(j, key);
	for (size_t i = 0; i < c->left.nr; i++) {
		const struct bench_left *l = &c->left.v[i];

		if (l->in != in)
			continue;
		json_obj(j, NULL);
		json_str(j, "key", l->row->key);
		json_str(j, "library", l->row->library);
		json_str(j, "config", l->row->config);
		json_str(j, "side", compare_side_name(l->side, name));
		json_u64(j, "calls", l->row->calls);
		json_f64(j, "mean", l->row->mean);
		json_str(j, "cache", bench_cache_name(l->row->cache));
		json_u64(j, "threads", l->row->threads);
		json_str(j, "why", l->why);
		json_str(j, "reason", l->detail);
		json_end(j);
	}
	json_end(j);
}

static void json_versus(struct json_out *j, const struct bench_versus *v)
{
	char name[16];

	json_obj(j, NULL);
	json_str(j, "side", compare_side_name(v->side, name));
	json_bool(j, "comparable", v->comparable);
	json_f64(j, "score", v->score);
	json_u64(j, "rows", v->pairs);
	json_u64(j, "refused", v->refused);
	for (int i = 0; i <= BENCH_UNCLEAR; i++)
		json_u64(j, bench_verdict_name((enum bench_verdict)i), v->of[i]);
	json_u64(j, "only_a", v->left[BENCH_ONLY_A]);
	json_u64(j, "only_b", v->left[BENCH_ONLY_B]);
	json_u64(j, "neither", v->left[BENCH_NEITHER]);
	json_f64(j, "a_s", v->a_s);
	json_f64(j, "b_s", v->b_s);
	json_effect(j, effect_s, &v->seconds);
	json_effect(j, effect_rel, &v->relative);
	json_effect(j, effect_j, &v->joules);
	json_u64(j, "energy_rows", v->with_energy);
	json_str(j, "verdict", v->comparable ? bench_verdict_name(v->verdict) : "not comparable");
	json_end(j);
}

static void json_sides(struct json_out *j, const struct bench_tables *t)
{
	char name[16];

	json_arr(j, "sides");
	for (uint32_t i = 0; i < t->sides.nr; i++) {
		const struct bench_table_side *s = &t->sides.v[i];

		json_obj(j, NULL);
		json_str(j, "side", compare_side_name(i, name));
		json_str(j, "file", t->files.v[s->file].path);
		json_str(j, "backend", s->back_end);
		json_str(j, "device", s->device);
		json_str(j, "version", s->version);
		json_end(j);
	}
	json_end(j);
}

static double score_of(const struct bench_comparison *c)
{
	size_t pairs = 0, refused = 0;

	for (size_t i = 0; i < c->versus.nr; i++) {
		pairs += c->versus.v[i].pairs;
		refused += c->versus.v[i].refused;
	}
	return pairs ? (double)(pairs - refused) / (double)pairs : 0;
}

void compare_json(const struct bench_tables *t, const struct bench_comparison *c, FILE *f)
{
	struct json_out j;
	size_t damaged = 0;

	for (size_t i = 0; i < t->files.nr; i++)
		damaged += t->files.v[i].bad;
	json_out_init(&j, f, 2);
	json_obj(&j, NULL);
	json_obj(&j, "comparable");
	json_f64(&j, "score", score_of(c));
	json_words(&j, "reasons", &c->reasons);
	json_end(&j);
	json_f64(&j, "threshold", c->o.threshold);
	json_f64(&j, "confidence", c->o.confidence);
	json_str(&j, "unit", "us");
	json_u64(&j, "damaged", damaged);
	json_sides(&j, t);
	json_arr(&j, "versus");
	for (size_t i = 0; i < c->versus.nr; i++)
		json_versus(&j, &c->versus.v[i]);
	json_end(&j);
	json_arr(&j, "rows");
	for (size_t i = 0; i < c->pairs.nr; i++)
		json_pair(&j, &c->pairs.v[i]);
	json_end(&j);
	json_left(&j, "only_a", c, BENCH_ONLY_A);
	json_left(&j, "only_b", c, BENCH_ONLY_B);
	json_left(&j, "neither", c, BENCH_NEITHER);
	json_str(&j, "verdict", compare_verdict(c));
	json_end(&j);
	fputc('\n', f);
}

/* ---- CSV ---- */

static const char csv_columns[] =
	"rank,key,library,config,calls,a,a_backend,a_file,b,b_backend,b_file,cache,threads,"
	"a_mean_us,b_mean_us,ratio,ci_low,ci_high,p_value,p_adj,verdict,winner,effect_s,"
	"effect_s_low,effect_s_high,effect_rel,effect_j,effect_j_low,effect_j_high,reason\n";

static void csv_side(struct csv_writer *w, const struct bench_tables *t, uint32_t side)
{
	char name[16];

	csv_str(w, compare_side_name(side, name));
	csv_sheet_str(w, t->sides.v[side].back_end);
	csv_sheet_str(w, t->files.v[t->sides.v[side].file].path);
}

static void csv_call(struct csv_writer *w, const struct bench_tables *t,
		     const struct bench_table_row *r, uint32_t side)
{
	csv_sheet_str(w, r->key);
	csv_sheet_str(w, r->library);
	csv_sheet_str(w, r->config);
	csv_u64(w, r->calls);
	csv_side(w, t, 0);
	csv_side(w, t, side);
	csv_str(w, bench_cache_name(r->cache));
	csv_u64(w, r->threads);
}

static void csv_effect(struct csv_writer *w, const struct bench_effect *e)
{
	csv_f64(w, e->value);
	csv_f64(w, e->low);
	csv_f64(w, e->high);
}

static void csv_pair(struct csv_writer *w, const struct bench_tables *t, const struct bench_pair *p,
		     size_t rank)
{
	char winner[16];

	csv_u64(w, rank);
	csv_call(w, t, p->a, p->side);
	csv_f64(w, p->a->mean);
	csv_f64(w, p->b->mean);
	csv_f64(w, p->c.ratio);
	csv_f64(w, p->c.low);
	csv_f64(w, p->c.high);
	csv_f64(w, p->c.p);
	csv_f64(w, p->p_adj);
	csv_str(w, p->refused ? "refused" : bench_verdict_name(p->verdict));
	csv_str(w, winner_of(p, winner));
	csv_effect(w, &p->seconds);
	csv_f64(w, p->share);
	csv_effect(w, &p->joules);
	csv_sheet_str(w, p->reason ? p->reason : "");
	csv_end(w);
}

static void csv_left(struct csv_writer *w, const struct bench_tables *t, const struct bench_left *l)
{
	static const char *const where[] = { "only A", "only B", "neither" };
	CLEANUP(xfreep)
	char *reason = xasprintf("%s%s%s", l->why, *l->detail ? ": " : "", l->detail);

	csv_str(w, "");
	csv_call(w, t, l->row, l->side);
	csv_f64(w, l->in == BENCH_ONLY_A ? l->row->mean : NAN);
	csv_f64(w, l->in == BENCH_ONLY_B ? l->row->mean : NAN);
	for (int i = 0; i < 5; i++)
		csv_str(w, "");
	csv_str(w, where[l->in]);
	for (int i = 0; i < 8; i++)
		csv_str(w, "");
	csv_sheet_str(w, reason);
	csv_end(w);
}

void compare_csv(const struct bench_tables *t, const struct bench_comparison *c, FILE *f)
{
	struct csv_writer w = { f, 0 };

	fputs(csv_columns, f);
	for (size_t i = 0; i < c->pairs.nr; i++)
		csv_pair(&w, t, &c->pairs.v[i], i + 1);
	for (size_t i = 0; i < c->left.nr; i++)
		csv_left(&w, t, &c->left.v[i]);
}
