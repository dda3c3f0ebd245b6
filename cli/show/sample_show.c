#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/table.h"

/* --- figures --- */

static struct sample_figures *figures_of(struct sample_figures *f, size_t *nr, size_t max,
					 const char *id)
{
	for (size_t i = 0; i < *nr && i < max; i++)
		if (strcmp(f[i].id, id) == 0)
			return &f[i];
	if (*nr >= max)
		return NULL;
	f[*nr] = (struct sample_figures){ .power_w = NAN,
					  .mean_w = NAN,
					  .max_w = NAN,
					  .counter_j = NAN,
					  .integral_j = NAN,
					  .used_bytes = NAN,
					  .max_used_bytes = NAN,
					  .total_bytes = NAN,
					  .busy = NAN,
					  .mean_busy = NAN };
	snprintf(f[*nr].id, sizeof(f[*nr].id), "%s", id);
	return &f[(*nr)++];
}

static double span_s(const struct sampling_summary *s)
{
	return (double)(s->last_ns - s->first_ns) / 1e9;
}

/* The mean over time, kept within the values that were read in spite of rounding. */
static double mean_of(const struct sampling_summary *s)
{
	double mean = span_s(s) > 0 ? s->integral / span_s(s) : s->sum / (double)s->samples;

	return fmin(fmax(mean, s->min), s->max);
}

static bool name_is(const char *series, const char *name)
{
	size_t n = strlen(name);

	return strncmp(series, name, n) == 0 && series[n] == '.';
}

static void take_power(struct sample_figures *f, const struct sampling_summary *s)
{
	f->power_w = s->last;
	f->mean_w = mean_of(s);
	f->max_w = s->max;
	f->integral_j = s->integral;
}

static void figures_take(struct sample_figures *f, const char *series,
			 const struct sampling_summary *s)
{
	if (s->samples == 0)
		return;
	if (name_is(series, "power") || (name_is(series, "power_instant") && isnan(f->power_w))) {
		take_power(f, s);
	} else if (name_is(series, "energy")) {
		/* a counter that went back gives no total */
		f->counter_j = s->last >= s->first && s->min >= s->first ? s->last - s->first : NAN;
		if (isnan(f->mean_w) && span_s(s) > 0)
			f->mean_w = f->counter_j / span_s(s);
	} else if (name_is(series, "vram_used") || name_is(series, "rss")) {
		f->used_bytes = s->last;
		f->max_used_bytes = s->max;
	} else if (name_is(series, "vram_total")) {
		f->total_bytes = s->last;
	} else if (name_is(series, "busy") || name_is(series, "cpu")) {
		f->busy = s->last;
		f->mean_busy = mean_of(s);
	}
}

size_t sample_figures(const struct sample *s, struct sample_figures *ret, size_t max)
{
	size_t nr = 0, left_out = 0;

	for (size_t k = 0; k < s->source.nr; k++) {
		const struct sample_source *src = &s->source.v[k];
		const struct sampler_device *d;
		size_t n = src->sampling ? sampling_devices(src->sampling, &d) : 0;

		for (size_t i = 0; i < n; i++) {
			struct sample_figures *f = figures_of(ret, &nr, max, d[i].id);

			left_out += !f;
			for (size_t j = 0; f && j < d[i].nr; j++) {
				struct sampling_summary sum;

				sampling_summary(src->sampling, i, j, &sum);
				figures_take(f, d[i].series[j].name, &sum);
			}
			if (f)
				f->estimated |= src->sampler->estimated || d[i].estimated;
		}
	}
	return nr + left_out;
}

/* --- the live line --- */

static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

void sample_live_init(struct sample_live *l)
{
	*l = (struct sample_live){ .utf8 = is_utf8() };
	for (size_t i = 0; i < SAMPLE_SHOWN; i++)
		for (size_t k = 0; k < SAMPLE_SPARKS; k++)
			l->spark[i].w[k] = NAN;
}

size_t sample_terminal_width(void)
{
	struct winsize ws;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ? ws.ws_col : 80;
}

static size_t text_cells(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Drawn from zero to the largest value shown, so that a small change looks small. */
static void put_spark(const struct sample_spark *sp, struct strbuf *to)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double high = 0;

	for (size_t i = 0; i < SAMPLE_SPARKS; i++)
		high = fmax(high, sp->w[i]);
	for (size_t i = 0; i < SAMPLE_SPARKS; i++) {
		double share = high > 0 ? fmax(sp->w[i], 0) / high : 0;

		strbuf_addstr(to, isnan(sp->w[i]) ? " " : bars[(size_t)(share * 7 + 0.5)]);
	}
}

static void put_si(struct strbuf *to, double v, const char *unit)
{
	char b[32];

	if (!isnan(v))
		strbuf_addf(to, " %s", cli_si(v, unit, b));
}

/* How much is shown of each device: as much as lets all of them fit. */
enum detail { POWER, POWER_AND_USE, FIGURES, HISTORY };

/* "gpu0 305 W ▂▄▆█ 1.24 kJ 20.1 GB 87 %" */
static void put_device(const struct sample_figures *f, const struct sample_spark *spark,
		       enum detail detail, struct strbuf *to)
{
	strbuf_addf(to, "  %s", f->id);
	put_si(to, f->power_w, "W");
	if (detail == HISTORY && !isnan(f->power_w)) {
		strbuf_addch(to, ' ');
		put_spark(spark, to);
	}
	if (detail >= FIGURES) {
		put_si(to, isnan(f->counter_j) ? f->integral_j : f->counter_j, "J");
		put_si(to, f->used_bytes, "B");
	}
	if (!isnan(f->busy) && (detail >= POWER_AND_USE || isnan(f->power_w)))
		strbuf_addf(to, " %.0f %%", f->busy);
}

static void spark_push(struct sample_spark *s, double w)
{
	memmove(s->w, s->w + 1, sizeof(s->w) - sizeof(*s->w));
	s->w[SAMPLE_SPARKS - 1] = w;
}

/* The elapsed time, and the sum of several GPUs. */
static void put_begin(const struct sample_figures *f, size_t nr, int64_t lasted_ns,
		      struct strbuf *to)
{
	double w = 0, j = 0;
	size_t gpus = 0;

	strbuf_addf(to, "%.0f s", floor((double)lasted_ns / 1e9));
	for (size_t i = 0; i < nr; i++) {
		if (strncmp(f[i].id, "gpu", 3) != 0 || isnan(f[i].power_w))
			continue;
		gpus++;
		w += f[i].power_w;
		j += isnan(f[i].counter_j) ? f[i].integral_j : f[i].counter_j;
	}
	if (gpus < 2)
		return;
	strbuf_addf(to, "  %zu GPUs", gpus);
	put_si(to, w, "W");
	put_si(to, j, "J");
}

/* Adds devices while they fit and counts the rest. False: one was left out. */
static bool put_devices(const struct sample_figures *f, size_t shown, size_t all,
			const struct sample_live *l, enum detail detail, size_t width,
			struct strbuf *to)
{
	for (size_t i = 0; i < shown; i++) {
		CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT;
		/* room for " +12" behind it, but for the last one */
		size_t after = i + 1 < all ? 4 : 0;

		put_device(&f[i], &l->spark[i], detail, &one);
		if (text_cells(to->buf) + text_cells(one.buf) + after > width) {
			strbuf_addf(to, " +%zu", all - i);
			return false;
		}
		strbuf_add(to, one.buf, one.len);
	}
	return shown == all;
}

char *sample_live_line(struct sample_live *l, const struct sample *s, size_t width)
{
	struct sample_figures f[SAMPLE_SHOWN];
	size_t all = sample_figures(s, f, SAMPLE_SHOWN);
	size_t shown = all < SAMPLE_SHOWN ? all : SAMPLE_SHOWN;
	int64_t lasted_ns = clock_monotonic_ns() - s->started_ns;
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	enum detail detail = l->utf8 ? HISTORY : FIGURES;
	bool fits = false;

	for (size_t i = 0; i < shown; i++)
		spark_push(&l->spark[i], f[i].power_w);
	for (; !fits; detail--) {
		strbuf_clear(&line);
		put_begin(f, shown, lasted_ns, &line);
		fits = put_devices(f, shown, all, l, detail, width, &line);
		if (detail == POWER)
			break;
	}
	return strbuf_steal(&line);
}

/* --- at the end --- */

static const struct {
	const char *name;
	size_t at;
	const char *unit; /* of cli_si; NULL: % */
} columns[] = {
	{ "mean power", offsetof(struct sample_figures, mean_w), "W" },
	{ "max power", offsetof(struct sample_figures, max_w), "W" },
	{ "energy, counter", offsetof(struct sample_figures, counter_j), "J" },
	{ "energy, integral", offsetof(struct sample_figures, integral_j), "J" },
	{ "max memory", offsetof(struct sample_figures, max_used_bytes), "B" },
	{ "mean busy", offsetof(struct sample_figures, mean_busy), NULL },
};

static double figure_of(const struct sample_figures *f, size_t column)
{
	double v;

	memcpy(&v, (const char *)f + columns[column].at, sizeof(v));
	return v;
}

static void print_figures(const struct sample_figures *f, size_t nr)
{
	struct table *t = table_new("sampled");
	bool used[ARRAY_LEN(columns)] = { false }, any = false;

	table_col(t, "device", TABLE_STR, NULL);
	for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
		for (size_t i = 0; i < nr; i++)
			used[c] |= !isnan(figure_of(&f[i], c));
		any |= used[c];
		if (used[c])
			table_col(t, columns[c].name, TABLE_STR, NULL);
	}
	for (size_t i = 0; i < nr; i++) {
		CLEANUP(xfreep)
		char *name = xasprintf("%s%s", f[i].id, f[i].estimated ? " (estimated)" : "");

		table_str(t, name);
		for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
			double v = figure_of(&f[i], c);
			char b[32] = "";

			if (!used[c])
				continue;
			if (!isnan(v) && columns[c].unit)
				cli_si(v, columns[c].unit, b);
			else if (!isnan(v))
				snprintf(b, sizeof(b), "%.1f %%", v);
			table_str(t, b);
		}
		table_row(t);
	}
	if (any)
		table_write_text(t, stderr, 0, 0);
	table_free(t);
}

static void print_ticks(const struct sample_source *src)
{
	const struct sampling_stats *st = &src->stats;
	char period[32], worst[32];

	fprintf(stderr,
		"%s: %" PRIu64 " ticks of %s, %" PRIu64 " left out, %" PRIu64 " late (worst %s)",
		src->sampler->name, st->ticks, cli_si((double)st->period_ns / 1e9, "s", period),
		st->overruns, st->late, cli_si((double)st->tick_error_max_ns / 1e9, "s", worst));
	if (st->failed)
		fprintf(stderr, ", %" PRIu64 " readings failed", st->failed);
	for (size_t i = 0; i < st->reasons.nr && i < 3; i++)
		fprintf(stderr, "%s%s", i ? ", " : ": ", st->reasons.v[i].text);
	fputc('\n', stderr);
}

void sample_print_summary(const struct sample *s)
{
	struct sample_figures f[SAMPLE_SHOWN];
	size_t all, shown;
	char b[32];

	if (log_level() <= 0)
		return;
	all = sample_figures(s, f, SAMPLE_SHOWN);
	shown = all < SAMPLE_SHOWN ? all : SAMPLE_SHOWN;
	fprintf(stderr, "sampled for %s\n", cli_si(s->lasted_s, "s", b));
	print_figures(f, shown);
	if (shown < all)
		fprintf(stderr, "and %zu more devices\n", all - shown);
	for (size_t i = 0; i < s->source.nr; i++)
		print_ticks(&s->source.v[i]);
	for (size_t i = 0; s->keeps && i < s->source.nr; i++)
		fprintf(stderr, "written: %s\n", s->source.v[i].path);
	for (size_t i = 0; i < s->views.nr; i++)
		fprintf(stderr, "written: %s\n", s->views.v[i]);
}

static void json_series(struct json_out *j, const struct sample_source *src)
{
	const struct sampler_device *d;
	size_t n = sampling_devices(src->sampling, &d);

	json_arr(j, "series");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < d[i].nr; k++) {
			struct sampling_summary s;
			bool any;

			sampling_summary(src->sampling, i, k, &s);
			any = s.samples > 0;
			json_obj(j, NULL);
			json_str(j, "name", d[i].series[k].name);
			json_str(j, "unit", d[i].series[k].unit);
			json_u64(j, "samples", s.samples);
			json_u64(j, "failed", s.failed);
			json_f64(j, "first", any ? s.first : NAN);
			json_f64(j, "last", any ? s.last : NAN);
			json_f64(j, "min", any ? s.min : NAN);
			json_f64(j, "max", any ? s.max : NAN);
			json_f64(j, "mean", any ? mean_of(&s) : NAN);
			json_f64(j, "integral", any ? s.integral : NAN);
			json_end(j);
		}
	json_end(j);
}

static void json_source(struct json_out *j, const struct sample *s, const struct sample_source *src)
{
	const struct sampling_stats *st = &src->stats;

	json_obj(j, NULL);
	json_str(j, "source", src->sampler->name);
	json_str(j, "path", s->keeps ? src->path : NULL);
	json_put(j, struct sampling_stats, st, rows, ticks, overruns, late, failed, period_ns);
	json_put(j, struct sampling_stats, st, median_period_ns, tick_error_p99_ns,
		 tick_error_max_ns, realtime, cpu_s);
	json_str(j, "error", st->error ? st->error_text : NULL);
	json_series(j, src);
	json_end(j);
}

void sample_print_json(const struct sample *s, int code, int workload_code, int workload_signal)
{
	struct json_out j;

	json_out_init(&j, stdout, 0);
	json_obj(&j, NULL);
	json_f64(&j, "duration_s", s->lasted_s);
	json_i64(&j, "exit_code", code);
	json_i64(&j, "workload_exit_code", workload_code);
	json_i64(&j, "workload_signal", workload_signal);
	json_arr(&j, "sources");
	for (size_t i = 0; i < s->source.nr; i++)
		json_source(&j, s, &s->source.v[i]);
	json_end(&j);
	json_words(&j, "views", &s->views);
	json_end(&j);
	putchar('\n');
}
