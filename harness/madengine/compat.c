/*
 * Views of a samples file in the form of madengine's own power and memory tools: one row per tick
 * with a column for each GPU, local time without a zone, CRLF line ends as Python's csv module
 * writes them.
 *
 * A row of a samples file belongs to one device. Consecutive rows of different devices within half
 * a period form one tick. With change-point storage an empty field repeats the value before it.
 */
#include "samplers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/csv.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/samples_file.h"
#include "profrig/base/strbuf.h"

#define NONE SIZE_MAX

/* One GPU: the fields of its values, and the values of the current tick. */
struct gpu {
	char id[32];
	size_t power, instant, used, total; /* fields, NONE */
	double power_w, used_bytes, total_bytes;
	bool in_tick;
};

struct view {
	const char *name, *column;
	bool (*shown)(const struct gpu *g);
	double (*value)(const struct gpu *g);
	FILE *f;
	char *path;
	struct err err;
};

struct compat {
	VEC(struct gpu) gpu;
	struct samples_header head;
	int64_t realtime_minus_monotonic_ns, half_period_ns, tick_ns;
};

/* --- the file --- */

static void take_comment(void *ctx, const char *line)
{
	struct compat *c = ctx;

	samples_header_take(&c->head, line, strlen(line));
}

/* Called when the header is complete. False: it has no time of day. */
static bool take_header(struct compat *c)
{
	if (c->head.period_s < 1e6)
		c->half_period_ns = (int64_t)(c->head.period_s * 5e8);
	return c->head.anchored &&
	       !__builtin_sub_overflow(c->head.anchor.realtime_ns, c->head.anchor.monotonic_ns,
				       &c->realtime_minus_monotonic_ns);
}

static struct gpu *gpu_of(struct compat *c, const char *id, size_t n)
{
	struct gpu g = { .power = NONE, .instant = NONE, .used = NONE, .total = NONE };

	for (size_t i = 0; i < c->gpu.nr; i++)
		if (strlen(c->gpu.v[i].id) == n && memcmp(c->gpu.v[i].id, id, n) == 0)
			return &c->gpu.v[i];
	snprintf(g.id, sizeof(g.id), "%.*s", (int)n, id);
	g.power_w = g.used_bytes = g.total_bytes = NAN;
	VEC_PUSH(&c->gpu, g);
	return &c->gpu.v[c->gpu.nr - 1];
}

/* Notes a column such as "power.gpu0[W]" in field i. */
static void take_column(struct compat *c, const char *head, size_t i)
{
	const struct samples_column col = samples_column_take(head);
	static const char *const names[] = { "power", "power_instant", "vram_used", "vram_total" };
	struct gpu *g;

	for (size_t k = 0; col.device && col.unit && k < ARRAY_LEN(names); k++) {
		if (strlen(names[k]) != col.name_n || memcmp(head, names[k], col.name_n) != 0)
			continue;
		/* processors and memory have power too */
		if (strncmp(col.device, "gpu", 3) != 0)
			return;
		g = gpu_of(c, col.device, col.device_n);
		*(k == 0 ? &g->power : k == 1 ? &g->instant : k == 2 ? &g->used : &g->total) = i;
	}
}

static size_t power_field(const struct gpu *g)
{
	return g->power != NONE ? g->power : g->instant;
}

static bool has_any(const struct gpu *g, char *const *field, size_t n)
{
	const size_t at[] = { power_field(g), g->used, g->total };

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		if (at[i] < n && *field[at[i]])
			return true;
	return false;
}

static void take_value(char *const *field, size_t n, size_t at, double *ret)
{
	if (at >= n || !*field[at])
		return;
	samples_value_take(field[at], strlen(field[at]), ret);
	if (!isfinite(*ret))
		*ret = NAN;
}

static void compat_row_take(struct gpu *g, char *const *field, size_t n)
{
	take_value(field, n, power_field(g), &g->power_w);
	take_value(field, n, g->used, &g->used_bytes);
	take_value(field, n, g->total, &g->total_bytes);
}

/* --- the views --- */

static bool shows_power(const struct gpu *g)
{
	return g->power != NONE || g->instant != NONE;
}

static double power_of(const struct gpu *g)
{
	return g->power_w;
}

static bool shows_vram(const struct gpu *g)
{
	return g->used != NONE && g->total != NONE;
}

static double vram_of(const struct gpu *g)
{
	return g->total_bytes > 0 ? 100 * g->used_bytes / g->total_bytes : NAN;
}

static bool any_shown(const struct compat *c, const struct view *w)
{
	return VEC_FIND(&c->gpu, x, w->shown(x));
}

static int open_view(const struct compat *c, struct view *w, const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, w->name);

	w->f = door_fopen(path, "we");
	if (!w->f)
		return err_sys(err, errno, "cannot write %s", path);
	w->path = STEAL(path);
	fputs("time", w->f);
	for (size_t i = 0; i < c->gpu.nr; i++)
		if (w->shown(&c->gpu.v[i]))
			fprintf(w->f, ",%s GPU%s", w->column, c->gpu.v[i].id + 3);
	fputs("\r\n", w->f);
	return 0;
}

static void put_time(FILE *f, int64_t realtime_ns)
{
	time_t s = (time_t)(realtime_ns / NS_PER_S);
	struct tm tm;
	char text[32];

	localtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(f, "%s.%06d", text, (int)(realtime_ns % NS_PER_S / 1000));
}

static void put_tick(const struct compat *c, struct view *w)
{
	char text[32];

	put_time(w->f, c->tick_ns + c->realtime_minus_monotonic_ns);
	for (size_t i = 0; i < c->gpu.nr; i++) {
		const struct gpu *g = &c->gpu.v[i];
		double v = g->in_tick || c->head.changes ? w->value(g) : NAN;

		if (!w->shown(g))
			continue;
		fputc(',', w->f);
		if (isfinite(v)) {
			num_fmt_f64(text, round(v * 100) / 100);
			fputs(text, w->f);
		}
	}
	fputs("\r\n", w->f);
}

static void end_tick(struct compat *c, struct view *views, size_t nr)
{
	bool any = false;

	for (size_t i = 0; i < c->gpu.nr; i++)
		any |= c->gpu.v[i].in_tick;
	for (size_t i = 0; any && i < nr; i++)
		if (views[i].f)
			put_tick(c, &views[i]);
	for (size_t i = 0; i < c->gpu.nr; i++) {
		struct gpu *g = &c->gpu.v[i];

		g->in_tick = false;
		if (!c->head.changes)
			g->power_w = g->used_bytes = NAN;
	}
}

static int compat_row_add(struct compat *c, char *const *field, size_t n, struct view *views,
			  size_t nr, struct err *err)
{
	int64_t t;

	if (num_i64(field[0], strlen(field[0]), &t) < 0)
		return err_set(err, EINVAL, "'%.40s' is no time in ns", field[0]);
	for (size_t i = 0; i < c->gpu.nr; i++) {
		struct gpu *g = &c->gpu.v[i];

		if (!has_any(g, field, n))
			continue;
		if (g->in_tick || t - c->tick_ns > c->half_period_ns) {
			end_tick(c, views, nr);
			c->tick_ns = t;
		}
		compat_row_take(g, field, n);
		g->in_tick = true;
	}
	return 0;
}

static int open_views(struct compat *c, struct csv_reader *csv, struct view *views, size_t nr,
		      const char *dir, struct err *err)
{
	char *const *field;
	size_t n, opened = 0;
	int r = csv_next(csv, &field, &n, err);

	if (r < 0)
		return r;
	if (r == 0 || strcmp(field[0], "t_ns") != 0)
		return err_set(err, EINVAL, "no samples file: the first column is not t_ns");
	for (size_t i = 1; i < n; i++)
		take_column(c, field[i], i);
	for (size_t i = 0; i < nr; i++) {
		if (!any_shown(c, &views[i]))
			continue;
		opened++;
		r = open_view(c, &views[i], dir, err);
		if (r < 0)
			return r;
	}
	if (!take_header(c))
		return err_set(err, EINVAL, "no line '# anchor: …', so no time of day");
	return opened ? 0
		      : err_set(err, ENODATA,
				"neither the power of a GPU nor its memory, used and total");
}

static int close_views(struct view *views, size_t nr, int r, struct strvec *written,
		       struct err *err)
{
	for (size_t i = 0; i < nr; i++) {
		bool bad;

		if (!views[i].f)
			continue;
		bad = ferror(views[i].f) != 0;
		bad |= fclose(views[i].f) != 0;
		if (bad && r == 0)
			r = err_sys(err, errno, "cannot write %s", views[i].path);
		if (r == 0)
			strvec_push(written, views[i].path);
		else
			door_unlink(views[i].path); /* half a file would be taken for the whole */
		free(views[i].path);
	}
	return r;
}

int sampler_compat_write(const char *samples, const char *dir, struct strvec *written,
			 struct err *err)
{
	struct view views[] = {
		{ .name = "gpu_info_power_profiler_output.csv",
		  .column = "Power(Watt)",
		  .shown = shows_power,
		  .value = power_of },
		{ .name = "gpu_info_vram_profiler_output.csv",
		  .column = "vram(%)",
		  .shown = shows_vram,
		  .value = vram_of },
	};
	struct compat c = { .head = SAMPLES_HEADER_INIT, .half_period_ns = NS_PER_S / 20 };
	struct csv_reader *csv = NULL;
	char *const *field;
	size_t n;
	int r = csv_open_file(samples, &csv, err), more = 0;

	if (r < 0)
		return r;
	csv_comments(csv, take_comment, &c);
	r = open_views(&c, csv, views, ARRAY_LEN(views), dir, err);
	while (r == 0 && (more = csv_next(csv, &field, &n, err)) == 1)
		r = compat_row_add(&c, field, n, views, ARRAY_LEN(views), err);
	if (more < 0)
		r = more;
	end_tick(&c, views, ARRAY_LEN(views));
	r = close_views(views, ARRAY_LEN(views), r, written, err);
	csv_free(csv);
	VEC_RELEASE(&c.gpu);
	samples_header_release(&c.head);
	return r < 0 ? err_wrap(err, r, "%s", samples) : 0;
}
