#include "profrig/counters/idle.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/search.h"

#define MAX_BLOCKS 40
#define MIN_BLOCKS 5
#define MAX_IDLE_W 1e6

/* What makes a window unsettled; all three are exceeded. */
#define TREND_SIGMAS 3
#define TREND_SHARE 0.05
#define TREND_W 1.0

/* Their energy is not known, or not when it was spent. */
#define BAD_MARKS (CURVE_DEAD | CURVE_RESET | CURVE_GAP | CURVE_STUCK)

const char *idle_method_name(enum idle_method m)
{
	static const char *const names[] = { "none", "before", "after", "both", "stated" };

	return names[m];
}

/* ---- statements of the user ---- */

void idle_opts_release(struct idle_opts *o)
{
	VEC_RELEASE(&o->stated);
}

static int state_one(struct idle_opts *o, const char *text, size_t n, struct err *err)
{
	const char *eq = memchr(text, '=', n);
	size_t len = eq ? (size_t)(eq - text) : 0, from = eq ? len + 1 : 0;
	struct idle_stated st = { .power_w = NAN };

	if (n == 0 || (eq && len == 0) || len >= sizeof(st.device))
		return err_set(err, EINVAL, "want watts, or devices and watts such as gpu0=90");
	memcpy(st.device, text, len);
	if (num_f64(text + from, n - from, &st.power_w) < 0 || !(st.power_w >= 0) ||
	    st.power_w > MAX_IDLE_W)
		return err_set(err, EINVAL, "'%.*s' is no power in W from 0 to 1e6",
			       n - from < 80 ? (int)(n - from) : 80, text + from);
	for (size_t i = 0; i < o->stated.nr; i++)
		if (strcmp(o->stated.v[i].device, st.device) == 0)
			return err_set(err, EINVAL, "%s is stated twice",
				       len ? st.device : "the power of all devices");
	VEC_PUSH(&o->stated, st);
	return 0;
}

int idle_state(struct idle_opts *o, const char *text, struct err *err)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		int r = state_one(o, text, n, err);

		if (r < 0 || !text[n])
			return r;
		text += n + 1;
	}
}

/* "gpu" of "gpu12" */
static bool is_of_kind(const char *id, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(id, kind, n) == 0 && strspn(id + n, "0123456789") == strlen(id + n);
}

/* 0 not about it, else the closer the higher. */
static int stated_closeness(const struct idle_stated *st, const struct model *m, series_id s,
			    const struct counter_info *ci)
{
	const char *node = model_str(m, m->series.v[s].node), *colon = strrchr(ci->device, ':');
	const char *id = colon ? colon + 1 : ci->device;
	size_t n = strlen(node);

	if (!*st->device)
		return 1;
	if (strcmp(st->device, ci->device) == 0 ||
	    (n && strncmp(st->device, node, n) == 0 && st->device[n] == ':' &&
	     strcmp(st->device + n + 1, id) == 0))
		return 4;
	if (strcmp(st->device, id) == 0)
		return 3;
	return isdigit((unsigned char)st->device[strlen(st->device) - 1]) == 0 &&
			       is_of_kind(id, st->device)
		       ? 2
		       : 0;
}

bool idle_is_about(const struct idle_stated *st, const struct model *m, series_id s,
		   const struct counter_info *ci)
{
	return stated_closeness(st, m, s, ci) > 0;
}

static double stated_w(const struct idle_opts *o, const struct model *m, series_id s,
		       const struct counter_info *ci)
{
	double w = NAN;
	int best = 0;

	for (size_t i = 0; i < o->stated.nr; i++) {
		int close = stated_closeness(&o->stated.v[i], m, s, ci);

		if (close > best) {
			best = close;
			w = o->stated.v[i].power_w;
		}
	}
	return w;
}

/* ---- one window ---- */

struct block {
	double power_w;
	uint64_t samples;
	int64_t duration_ns;
};

struct found {
	double level_w, stderr_w; /* NaN: not found, see why */
	uint64_t samples;
	int64_t duration_ns;
	bool settled;
	const char *why;
};

/* First knot at or after t. */
static size_t knot_from(const struct curve *c, int64_t t_ns)
{
	return LOWER_BOUND(i, 0, c->n, c->t_ns[i] < t_ns);
}

static bool is_bad(const struct curve *c, int64_t start_ns, int64_t end_ns)
{
	size_t i = knot_from(c, start_ns);

	if (!c->marks)
		return false;
	if (i > 0 && (i == c->n || c->t_ns[i] > start_ns))
		i--;
	for (; i + 1 < c->n && c->t_ns[i] < end_ns; i++)
		if (c->marks[i] & BAD_MARKS)
			return true;
	return false;
}

/* The part of a window that is sampled; empty: end = start. */
static struct idle_window sampled_part(const struct curve *c, struct idle_window w)
{
	if (c->n < 2)
		return (struct idle_window){ 0, 0 };
	if (w.start_ns < c->t_ns[0])
		w.start_ns = c->t_ns[0];
	if (w.end_ns > c->t_ns[c->n - 1])
		w.end_ns = c->t_ns[c->n - 1];
	if (w.end_ns < w.start_ns)
		w.end_ns = w.start_ns;
	return w;
}

/* period_ns 0: as many as there may be. Returns how many are good. */
static size_t window_cut(const struct curve *c, struct idle_window w, int64_t period_ns,
			 struct block *b)
{
	int64_t span = w.end_ns - w.start_ns;
	int64_t k = period_ns > 0 && span / period_ns < MAX_BLOCKS ? span / period_ns : MAX_BLOCKS;
	size_t n = 0, hint = 0;

	for (int64_t i = 0; i < k; i++) {
		int64_t from = w.start_ns + (int64_t)((__int128)span * i / k);
		int64_t to = w.start_ns + (int64_t)((__int128)span * (i + 1) / k);
		double e = curve_at(c, from, &hint);

		if (to <= from || is_bad(c, from, to))
			continue;
		b[n++] = (struct block){
			.power_w = (curve_at(c, to, &hint) - e) / ((double)(to - from) * 1e-9),
			.samples = knot_from(c, to) - knot_from(c, from),
			.duration_ns = to - from,
		};
	}
	return n;
}

static double mean_of(const struct block *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += b[i].power_w;
	return sum / (double)n;
}

static double squares_of(const struct block *b, size_t n)
{
	double mean = mean_of(b, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (b[i].power_w - mean) * (b[i].power_w - mean);
	return sum;
}

/* How many blocks to drop. */
static size_t settling_blocks(const struct block *b, size_t n)
{
	double best = INFINITY;
	size_t drop = 0;

	for (size_t d = 0; d <= n / 2; d++) {
		double left = (double)(n - d);
		double error = squares_of(b + d, n - d) / (left * left);

		if (error < best) {
			best = error;
			drop = d;
		}
	}
	return drop;
}

static bool is_settled(const struct block *b, size_t n)
{
	size_t half = n / 2, rest = n - half;
	double early = mean_of(b, half), late = mean_of(b + half, rest), steps = 0, sigma;
	double trend = fabs(late - early);

	for (size_t i = 1; i < n; i++)
		steps += (b[i].power_w - b[i - 1].power_w) * (b[i].power_w - b[i - 1].power_w);
	sigma = sqrt(steps / (2 * (double)(n - 1)) * (1 / (double)half + 1 / (double)rest));
	return trend <= TREND_SIGMAS * sigma || trend <= TREND_SHARE * fabs(late) ||
	       trend <= TREND_W;
}

static struct found level_in(const struct curve *c, struct idle_window w, int64_t period_ns)
{
	struct found f = { .level_w = NAN, .stderr_w = NAN, .why = "" };
	struct block b[MAX_BLOCKS];
	size_t n, drop;

	if (w.end_ns <= w.start_ns) {
		f.why = "no idle window";
		return f;
	}
	w = sampled_part(c, w);
	n = w.end_ns > w.start_ns ? window_cut(c, w, period_ns, b) : 0;
	if (n < MIN_BLOCKS) {
		f.why = w.end_ns > w.start_ns ? "too few readings" : "not sampled";
		return f;
	}
	drop = settling_blocks(b, n);
	n -= drop;
	f.level_w = mean_of(b + drop, n);
	f.stderr_w = sqrt(squares_of(b + drop, n) / (double)(n - 1) / (double)n);
	f.settled = is_settled(b + drop, n);
	for (size_t i = drop; i < drop + n; i++) {
		f.samples += b[i].samples;
		f.duration_ns += b[i].duration_ns;
	}
	return f;
}

double idle_mean(const struct curve *c, struct idle_window w)
{
	struct idle_window in = sampled_part(c, w);
	int64_t span = in.end_ns - in.start_ns;
	size_t hint = 0;
	double e;

	if (span <= 0 || span < (w.end_ns - w.start_ns) / 2)
		return NAN;
	e = curve_at(c, in.start_ns, &hint);
	return (curve_at(c, in.end_ns, &hint) - e) / ((double)span * 1e-9);
}

static double energy_in(const struct curve *c, struct idle_window w)
{
	struct idle_window in = sampled_part(c, w);
	size_t hint = 0;
	double e;

	if (in.end_ns <= in.start_ns)
		return 0;
	e = curve_at(c, in.start_ns, &hint);
	return curve_at(c, in.end_ns, &hint) - e;
}

double idle_energy_j(const struct model *m, const struct curve *c, const struct idle_opts *o)
{
	const struct idle_window both[] = { o->before, o->after };
	double sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		if (m->windows.nr == 0)
			sum += energy_in(c, both[i]);
		for (size_t k = 0; k < m->windows.nr; k++) {
			struct idle_window w = both[i];

			w.start_ns = w.start_ns > m->windows.v[k].from_ns ? w.start_ns
									  : m->windows.v[k].from_ns;
			w.end_ns =
				w.end_ns < m->windows.v[k].to_ns ? w.end_ns : m->windows.v[k].to_ns;
			sum += energy_in(c, w);
		}
	}
	return sum;
}

/* ---- both windows ---- */

static void level_take(struct idle_level *l, enum idle_method method, const struct found *f)
{
	l->method = method;
	l->level_w = f->level_w;
	l->stderr_w = f->stderr_w;
	l->samples = f->samples;
	l->duration_ns = f->duration_ns;
	l->unsettled = !f->settled;
}

static void level_take_both(struct idle_level *l, const struct found *b, const struct found *a)
{
	double noise = (b->stderr_w * b->stderr_w + a->stderr_w * a->stderr_w) / 4;

	l->method = IDLE_BOTH;
	l->level_w = (b->level_w + a->level_w) / 2;
	l->stderr_w = sqrt(noise + l->drift_w * l->drift_w / 12);
	l->samples = b->samples + a->samples;
	l->duration_ns = b->duration_ns + a->duration_ns;
	l->unsettled = !b->settled;
}

/* In words that name the window, since each has its own. */
static const char *why_not(const char *when, const struct found *f)
{
	static const struct {
		const char *why, *before, *after;
	} words[] = {
		{ "no idle window", "", "" }, /* one window is wanted, or the only one there was */
		{ "not sampled", "before: not sampled", "after: not sampled" },
		{ "too few readings", "before: too few readings", "after: too few readings" },
	};

	if (!isnan(f->level_w))
		return *when == 'b' ? "before: not settled" : "after: not settled";
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(f->why, words[i].why) == 0)
			return *when == 'b' ? words[i].before : words[i].after;
	return "";
}

static bool is_too_few(const struct found *f)
{
	return strcmp(f->why, "too few readings") == 0;
}

static void level_measure(const struct curve *c, const struct idle_opts *o, int64_t period_ns,
			  struct idle_level *l)
{
	struct found b = level_in(c, o->before, period_ns), a = level_in(c, o->after, period_ns);
	bool has_b = !isnan(b.level_w), has_a = !isnan(a.level_w);

	l->before_w = b.level_w;
	l->after_w = a.level_w;
	l->drift_w = a.level_w - b.level_w;
	if (has_b && has_a && b.settled == a.settled) {
		level_take_both(l, &b, &a);
	} else if (has_b && (!has_a || b.settled)) {
		level_take(l, IDLE_BEFORE, &b);
		l->reason = why_not("after", &a);
	} else if (has_a) {
		level_take(l, IDLE_AFTER, &a);
		l->reason = why_not("before", &b);
	} else {
		/* the problem of an existing window is the better reason */
		l->reason = strcmp(b.why, "no idle window") == 0 || is_too_few(&a) ? a.why : b.why;
		l->too_few = is_too_few(&b) || is_too_few(&a);
	}
	if (l->unsettled && !*l->reason)
		l->reason = "not settled";
}

void idle_find(const struct model *m, series_id s, const struct counter_info *ci,
	       const struct curve *c, const struct idle_opts *o, struct idle_level *ret)
{
	const struct series *se = &m->series.v[s];
	struct idle_level l = { .level_w = NAN,
				.before_w = NAN,
				.after_w = NAN,
				.drift_w = NAN,
				.stderr_w = NAN,
				.reason = "" };
	double stated = stated_w(o, m, s, ci);

	/* changes do not give the number of samples */
	if (ci->quantity == QUANTITY_OTHER)
		l.reason = "no power or energy";
	else if (!m->inputs.v[se->input].aligned)
		l.reason = "its clock is not that of the run";
	else
		level_measure(c, o, se->change_points ? 0 : c->median_period_ns, &l);
	if (ci->quantity != QUANTITY_OTHER && !isnan(stated)) {
		l.method = IDLE_STATED;
		l.level_w = stated;
		l.stderr_w = NAN;
		l.samples = 0;
		l.duration_ns = 0;
		l.unsettled = l.too_few = false;
		l.reason = "";
	}
	*ret = l;
}

double idle_level_w(const struct model *m, series_id s, const struct counter_info *ci,
		    const struct curve *c, const struct idle_opts *o)
{
	struct idle_level l;

	idle_find(m, s, ci, c, o, &l);
	return l.level_w;
}
