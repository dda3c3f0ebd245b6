#include "bench_machine.h"
#include "bench_measure.h"
#include "bench_rows.h"
#include "bench_set.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_peak.h"
#include "profrig/bench/bench_vendor.h"

struct running_meter {
	const char *source;
	struct bench_meter *meter; /* NULL: it does not work here */
};

struct running {
	const struct bench_opts *o;
	struct bench_back_ends *ends;
	struct bench_outcome *out;
	struct bench_rows rows;
	VEC(struct running_meter) meters; /* by source, opened at first use */
	struct strbuf cpus;
	char *device;
	int64_t begin_ns;
	struct err *err;
};

/* ---- back ends ---- */

static void identity_read(const struct bench_line *line, struct bench_identity *ret)
{
	int64_t threads;

	ret->wide = !strcmp(line->field[1], "1");
	if (num_i64(line->field[2], strlen(line->field[2]), &threads) == 0 && threads > 0 &&
	    threads < 1 << 20)
		ret->threads = (int)threads;
	ret->path = xstrdup(line->field[3]);
	ret->version = xasprintf("%s%s", line->field[4], ret->wide ? " (64-bit integers)" : "");
	ret->device = xstrdup(line->field[5]);
}

static void end_try(struct running *run, struct bench_end *e)
{
	struct bench_process p;

	e->status = BENCH_SKIPPED;
	if (e->vendor && !e->path) {
		e->reason = bench_vendor_missing(e->vendor);
		return;
	}
	if (e->vendor) {
		e->loaded = true;
		e->identity.path = xstrdup(e->path);
		return;
	}
	if (!e->path) {
		e->reason = xasprintf("not installed: apt-get install %s", e->package);
		return;
	}
	e->status = bench_process_start(&p, e, run->cpus.buf, run->o);
	e->loaded = e->status == BENCH_OK;
	if (e->loaded)
		identity_read(&p.line, &e->identity);
	else
		e->reason = xstrdup(p.reason);
	bench_process_end(&p);
}

static int ends_try(struct running *run)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	bool any = false;

	for (size_t i = 0; i < run->ends->v.nr; i++) {
		struct bench_end *e = &run->ends->v.v[i];

		end_try(run, e);
		any |= e->loaded;
		if (e->reason)
			strbuf_addf(&why, "%s%s: %s", why.len ? "; " : "", e->name, e->reason);
	}
	if (any)
		return 0;
	return err_set(run->err, ENODEV, "no back end loads: %.400s", why.buf);
}

/* ---- rows ---- */

/* What may have another reason the next time: a library that is missing, memory that is short. */
static bool may_pass(int status)
{
	return status == BENCH_SKIPPED || status == BENCH_FAILED;
}

static int row_add(struct running *run, struct bench_row *row)
{
	int known = bench_rows_status(&run->rows, row->config, row->back_end), r;

	/* tried again, with the same end */
	if (!run->o->again && may_pass(known) && known == (int)row->status)
		return 0;
	r = bench_rows_add(&run->rows, row, run->err);
	if (r < 0)
		return r;
	run->out->rows++;
	run->out->of[row->status]++;
	if (run->o->listener.row)
		run->o->listener.row(run->o->listener.ctx, row);
	return 0;
}

/* NULL: the processor. */
static const char *device_of(const struct bench_end *e)
{
	return e->loaded && e->identity.device && *e->identity.device ? e->identity.device : NULL;
}

static struct bench_row row_of(const struct bench_config *c, const struct bench_end *e,
			       enum bench_status status, const char *reason)
{
	struct bench_row row = { .config = c,
				 .back_end = e->name,
				 .identity = e->loaded ? &e->identity : NULL,
				 .timer = e->driver ? e->driver->timer : NULL,
				 .device = device_of(e),
				 .status = status,
				 .reason = reason ? reason : "",
				 .gflops = NAN,
				 .gbps = NAN,
				 .clock_mhz = NAN,
				 .loop_gflops = NAN,
				 .energy_j = NAN,
				 .temperature_c = NAN,
				 .peak_share = NAN,
				 .others = NAN,
				 .process_us = "",
				 .level_us = "",
				 .solution = BENCH_SOLUTION_NONE };

	bench_stats(NULL, 0, &row.figures);
	return row;
}

static void note_add(struct strbuf *to, const char *fmt, double v)
{
	char text[120];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), fmt, v);
#pragma GCC diagnostic pop
	strbuf_addf(to, "%s%s", to->len ? "; " : "", text);
}

static void notes_of(const struct running *run, const struct bench_side *s, struct strbuf *to)
{
	const struct bench_identity *id = &s->end->identity;

	if (s->chosen[0])
		strbuf_addf(to, "by %s", s->chosen);
	if (s->figures.drifts)
		note_add(to, "its time drifts by %+.1f %%", s->figures.drift * 100);
	if (id->threads && (unsigned)id->threads != run->o->threads)
		note_add(to, "the library uses %.0f threads", id->threads);
	if (s->figures.processes < BENCH_ROUNDS_MIN)
		note_add(to, "the budget ended after %.0f processes", (double)s->figures.processes);
	else if (!(s->figures.high - s->figures.mean <= 2 * run->o->precision * s->figures.mean))
		note_add(to, "the interval stays at %.1f %%",
			 (s->figures.high - s->figures.mean) / s->figures.mean * 100);
}

/* Of blocks that lie together; rounds of all sides have the same numbers. */
static void process_means(const struct bench_side *s, struct strbuf *to)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->blocks.nr; i++) {
		char text[32];

		sum += s->blocks.v[i].us;
		n++;
		if (i + 1 < s->blocks.nr && s->blocks.v[i + 1].process == s->blocks.v[i].process)
			continue;
		num_fmt_f64(text, sum / (double)n);
		strbuf_addf(to, "%s%s", to->len ? " " : "", text);
		sum = 0;
		n = 0;
	}
}

static void process_levels(const struct bench_side *s, struct strbuf *to)
{
	for (size_t i = 0; i < s->processes; i++) {
		char text[32];

		num_fmt_f64(text, s->levels[i]);
		strbuf_addf(to, "%s%s", i ? " " : "", text);
	}
}

static int side_row(struct running *run, const struct bench_config *c,
		    const struct bench_measure *m, const struct bench_side *s)
{
	CLEANUP(strbuf_release) struct strbuf notes = STRBUF_INIT, means = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf levels = STRBUF_INIT;
	struct bench_row row = row_of(c, s->end, s->status, s->reason);

	if (s->status != BENCH_OK)
		return row_add(run, &row);
	notes_of(run, s, &notes);
	row.reason = notes.buf;
	row.repeats = s->repeats;
	row.figures = s->figures;
	row.gflops = (double)s->work.flops / s->figures.mean / 1e3;
	row.gbps = (double)s->work.bytes / s->figures.mean / 1e3;
	row.measured_ms = m->begun_ms;
	row.others = m->others;
	process_means(s, &means);
	row.process_us = means.buf;
	process_levels(s, &levels);
	row.level_us = levels.buf;
	row.solution = s->solution;
	row.clock_mhz = s->clock_mhz;
	row.loop_gflops = s->loop_gflops;
	row.energy_j = s->energy_j;
	row.temperature_c = s->temperature_c;
	row.peak_share = bench_peak_share(run->o->peaks, &s->work, row.gflops);
	return row_add(run, &row);
}

static int vendor_row(struct running *run, const struct bench_config *c, const struct bench_end *e,
		      double seconds)
{
	struct bench_row row = row_of(c, e, BENCH_OK, "");
	struct bench_identity identity = e->identity;
	struct bench_vendor_row v;

	row.status = bench_vendor_measure(e->vendor, c->key, run->o->cache, run->o, seconds, &v);
	identity.version = v.version;
	row.identity = &identity;
	row.reason = v.reason;
	row.timer = v.timer;
	row.init = v.init;
	row.device = e->vendor->device;
	if (row.status == BENCH_OK) {
		row.repeats = v.repeats;
		row.figures = v.figures;
		row.gflops = v.gflops;
		row.gbps = v.gbps;
		row.solution = v.solution;
	}
	return row_add(run, &row);
}

/* ---- configurations ---- */

static int measured(struct running *run, const struct bench_config *c, struct bench_side *sides,
		    size_t nr, double seconds)
{
	struct bench_measure m = { .key = c->key,
				   .cpus = run->cpus.buf,
				   .o = run->o,
				   .sides = sides,
				   .nr = nr,
				   .seconds = seconds,
				   .begun_ms = clock_realtime_ns() / NS_PER_MS };
	int64_t begin = clock_monotonic_ns();
	int r = 0;

	bench_measure(&m);
	run->out->overhead_s += (double)(clock_monotonic_ns() - begin - m.work_ns) / 1e9;
	run->out->pairs += nr;
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = side_row(run, c, &m, &sides[i]);
	return r;
}

/* Why a back end cannot measure it; BENCH_OK: it can. */
static enum bench_status obstacle(const struct bench_config *c, const struct bench_end *e,
				  struct bench_work *work, struct err *err)
{
	if (c->problem) {
		err_set(err, EINVAL, "%s", c->problem);
		return BENCH_SKIPPED;
	}
	if (!*c->key) {
		err_set(err, ENOTSUP, "there is no key");
		return BENCH_UNSUPPORTED;
	}
	switch (e->driver ? e->driver->work(c->key, work, err) : 0) {
	case 0:
		break;
	case -EINVAL:
	case -ERANGE:
		return BENCH_SKIPPED;
	default:
		return BENCH_UNSUPPORTED;
	}
	if (e->loaded)
		return BENCH_OK;
	err_set(err, ENODEV, "%s", e->reason);
	return (enum bench_status)e->status;
}

/* One that may pass is there for as long as it holds. */
static bool row_is_there(const struct running *run, const struct bench_config *c,
			 const struct bench_end *e)
{
	int known = bench_rows_status(&run->rows, c, e->name);
	struct bench_work work;

	if (run->o->again || known == BENCH_ROW_NONE)
		return false;
	return !may_pass(known) || (int)obstacle(c, e, &work, NULL) == known;
}

static struct bench_meter *meter_of(struct running *run, const char *source)
{
	struct running_meter *known;

	if (!source)
		return NULL;
	known = VEC_FIND(&run->meters, k, !strcmp(k->source, source));
	if (!known) {
		VEC_PUSH(&run->meters,
			 ((struct running_meter){ source, bench_meter_open(source, NULL) }));
		known = &run->meters.v[run->meters.nr - 1];
	}
	return known->meter;
}

static int config_run(struct running *run, const struct bench_config *c, double seconds)
{
	struct bench_side *sides = xcalloc(run->ends->v.nr, sizeof(*sides));
	size_t nr = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < run->ends->v.nr; i++) {
		const struct bench_end *e = &run->ends->v.v[i];
		struct bench_side side = { .end = e, .process = BENCH_PROCESS_INIT };
		struct err why = ERR_INIT;
		struct bench_row row;

		if (row_is_there(run, c, e))
			continue;
		side.status = obstacle(c, e, &side.work, &why);
		if (side.status == BENCH_OK && e->vendor) {
			r = vendor_row(run, c, e, seconds / (double)run->ends->v.nr);
			continue;
		}
		if (side.status == BENCH_OK) {
			side.meter = meter_of(run, e->driver->energy);
			sides[nr++] = side;
			continue;
		}
		row = row_of(c, e, side.status, why.msg);
		r = row_add(run, &row);
	}
	if (r == 0 && nr)
		r = measured(run, c, sides, nr, seconds);
	for (size_t i = 0; i < nr; i++) {
		VEC_RELEASE(&sides[i].blocks);
		VEC_RELEASE(&sides[i].cycles);
		VEC_RELEASE(&sides[i].loops);
	}
	free(sides);
	return r;
}

static bool all_rows_there(const struct running *run, const struct bench_config *c)
{
	for (size_t i = 0; i < run->ends->v.nr; i++)
		if (!row_is_there(run, c, &run->ends->v.v[i]))
			return false;
	return true;
}

static int configs_run(struct running *run, const struct bench_choice *choice)
{
	const struct bench_listener *l = &run->o->listener;

	for (size_t i = 0; i < choice->v.nr; i++) {
		const struct bench_config *c = choice->v.v[i];
		double left =
			run->o->budget_s - (double)(clock_monotonic_ns() - run->begin_ns) / 1e9;
		double seconds =
			run->o->budget_s > 0 ? left / (double)(choice->v.nr - i) : BENCH_CONFIG_S;
		int r;

		if (all_rows_there(run, c)) {
			run->out->resumed++;
			continue;
		}
		if (run->o->budget_s > 0 && left <= 0) {
			run->out->left++;
			continue;
		}
		if (l->config)
			l->config(l->ctx, c, i, choice->v.nr);
		r = config_run(run, c, seconds);
		if (r < 0)
			return r;
	}
	return 0;
}

int bench_run(const struct bench_set *set, struct bench_back_ends *ends, const struct bench_opts *o,
	      struct bench_outcome *ret, struct err *err)
{
	struct running run = { .o = o,
			       .ends = ends,
			       .out = ret,
			       .cpus = STRBUF_INIT,
			       .rows = { .fd = -1 },
			       .begin_ns = clock_monotonic_ns(),
			       .err = err };
	struct bench_choice choice = { VEC_INIT };
	int r;

	*ret = (struct bench_outcome){ 0 };
	r = machine_cpus(o->threads, &run.cpus, err);
	if (r == 0)
		r = ends_try(&run);
	if (r == 0) {
		run.device = machine_processor();
		bench_set_choose(set, o->top, o->min_share, &choice);
		ret->chosen = choice.v.nr;
		r = bench_rows_open(o->output, run.device, o->cache, o->threads, &run.rows, err);
	}
	if (r == 0)
		r = configs_run(&run, &choice);
	for (size_t i = 0; i < run.meters.nr; i++)
		bench_meter_close(run.meters.v[i].meter);
	VEC_RELEASE(&run.meters);
	bench_rows_close(&run.rows);
	strbuf_release(&run.cpus);
	free(run.device);
	VEC_RELEASE(&choice.v);
	return r;
}
