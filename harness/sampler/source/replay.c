/*
 * replay: plays a recorded samples file as if its machine were here: for demonstrations, for tests
 * of all that reads samples, for comparing attribution settings on one recording.
 *
 * Rows come out when they are due: the recording's first row at the first tick, the others at their
 * recorded distance (option speed: times as fast). Their times are at exactly these distances and
 * not those of the ticks. Option file names the recording. With loop=yes it starts again at its
 * end, as if the last interval came once more (cumulative series continue from their last value).
 * "estimated" and "storage: change" are passed on to the new file.
 *
 * A row of several devices is played as one row for each. The last line of a recording that was cut
 * off (kill -9, full disk) is not used.
 */
#include "samplers_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/samples_file.h"
#include "profrig/base/vec.h"

#define MAX_BYTES ((size_t)1 << 30)
#define MAX_CELLS ((size_t)64 << 20)
#define MAX_EVENTS ((size_t)32 << 20)
#define MAX_DEVICES 1024
#define MIN_SPEED 0.01
#define MAX_SPEED 1e6
#define MAX_LENGTH_NS (INT64_C(366) * 86400 * NS_PER_S)

struct column {
	size_t device, series;
	bool cumulative;
	double first, last; /* of one lap; NaN: no value yet */
	double base;        /* added in this lap */
};

/* One device's part of a row: its series' values begin at `cell`. */
struct event {
	int64_t t_ns; /* since the recording's first row */
	uint32_t device;
	size_t cell;
};

struct sampler_state {
	VEC(struct sampler_device) dev;
	VEC(struct column) col;
	VEC(struct event) event;
	VEC(double) cell;
	int64_t first_ns;
	struct samples_header head;
	size_t next;
	int64_t begun_ns, stamp_ns, lap_ns;
	double speed;
	bool loop;
};

static void replay_close(struct sampler_state *st)
{
	VEC_RELEASE(&st->dev);
	VEC_RELEASE(&st->col);
	VEC_RELEASE(&st->event);
	VEC_RELEASE(&st->cell);
	samples_header_release(&st->head);
	free(st);
}

/* --- header --- */

static int add_device(struct sampler_state *st, const char *id, size_t n, size_t *ret,
		      struct err *err)
{
	struct sampler_device d = { 0 };

	if (n == 0 || n >= sizeof(d.id))
		return err_set(err, EINVAL, "'%.*s' is no device", (int)(n < 60 ? n : 60), id);
	snprintf(d.id, sizeof(d.id), "%.*s", (int)n, id);
	for (size_t i = 0; i < st->dev.nr; i++)
		if (strcmp(st->dev.v[i].id, d.id) == 0) {
			*ret = i;
			return 0;
		}
	if (st->dev.nr == MAX_DEVICES)
		return err_set(err, E2BIG, "more than %d devices", MAX_DEVICES);
	snprintf(d.facts, sizeof(d.facts), "replayed");
	*ret = st->dev.nr;
	VEC_PUSH(&st->dev, d);
	return 0;
}

static bool has_series(const struct sampler_device *d, const char *name)
{
	for (size_t i = 0; i < d->nr; i++)
		if (strcmp(d->series[i].name, name) == 0)
			return true;
	return false;
}

/* "power.gpu0[W]" → device gpu0, series power, unit W. The device is what follows the last dot. */
static int add_column(struct sampler_state *st, const char *head, struct err *err)
{
	const struct samples_column parts = samples_column_take(head);
	struct column c = { .first = NAN, .last = NAN, .cumulative = parts.cumulative };
	char name[64], full[128], unit[32];
	int r;

	if (!parts.device || parts.name_n == 0 || !parts.unit || strpbrk(head, ",\"\n\r\t "))
		return err_set(err, EINVAL, "column '%.60s' is not name.device[unit]", head);
	r = add_device(st, parts.device, parts.device_n, &c.device, err);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%.*s", (int)parts.name_n, head);
	snprintf(full, sizeof(full), "%.*s", (int)parts.series_n, head);
	snprintf(unit, sizeof(unit), "%.*s", (int)parts.unit_n, parts.unit);
	if (has_series(&st->dev.v[c.device], full))
		return err_set(err, EINVAL, "column '%.60s' stands twice", head);
	c.series = st->dev.v[c.device].nr;
	if (!sampler_device_add(&st->dev.v[c.device], name, unit))
		return err_set(err, E2BIG,
			       "column '%.60s' is too long or one too many of its device", head);
	VEC_PUSH(&st->col, c);
	return 0;
}

static void take_comment(void *ctx, const char *line)
{
	struct sampler_state *st = ctx;

	samples_header_take(&st->head, line, strlen(line));
}

/* Adds the devices that the header describes; those without a column are dropped later. */
static void add_described(struct sampler_state *st)
{
	for (size_t i = 0; i < st->head.devices.nr; i++) {
		const struct samples_device *of = &st->head.devices.v[i];
		size_t d;

		if (add_device(st, of->id, strlen(of->id), &d, NULL) < 0)
			continue;
		snprintf(st->dev.v[d].facts, sizeof(st->dev.v[d].facts), "replayed: %.240s",
			 of->facts);
		snprintf(st->dev.v[d].pci, sizeof(st->dev.v[d].pci), "%s", of->pci);
	}
}

/* --- rows --- */

static int cell_value(const char *field, double *ret, struct err *err)
{
	switch (samples_value_take(field, strlen(field), ret)) {
	case SAMPLES_ABSENT:
		*ret = SAMPLER_ABSENT;
		return 0;
	case SAMPLES_FAILED:
		return 0;
	case SAMPLES_NUMBER:
		if (!isinf(*ret))
			return 0;
		break;
	case SAMPLES_BAD:
		break;
	}
	return err_set(err, EINVAL, "'%.40s' is no number", field);
}

static int row_time(struct sampler_state *st, const char *field, int64_t *ret, struct err *err)
{
	int64_t t, since;

	if (num_i64(field, strlen(field), &t) < 0)
		return err_set(err, EINVAL, "'%.40s' is no time in ns", field);
	if (!st->event.nr)
		st->first_ns = t;
	if (__builtin_sub_overflow(t, st->first_ns, &since) || since > MAX_LENGTH_NS)
		return err_set(err, ERANGE, "time %" PRId64 " is more than a year from the first",
			       t);
	if (since < (st->event.nr ? st->event.v[st->event.nr - 1].t_ns : 0))
		return err_set(err, EINVAL, "times go backwards");
	*ret = since;
	return 0;
}

/* The event of this row for a device; made when there is none. */
static struct event *event_of(struct sampler_state *st, size_t row_first, int64_t t_ns,
			      size_t device)
{
	for (size_t i = row_first; i < st->event.nr; i++)
		if (st->event.v[i].device == device)
			return &st->event.v[i];
	VEC_PUSH(&st->event, ((struct event){ t_ns, (uint32_t)device, st->cell.nr }));
	for (size_t i = 0; i < st->dev.v[device].nr; i++)
		VEC_PUSH(&st->cell, SAMPLER_ABSENT);
	return &st->event.v[st->event.nr - 1];
}

static int replay_row_add(struct sampler_state *st, char *const *field, size_t n, struct err *err)
{
	size_t row_first = st->event.nr;
	int64_t t_ns = 0;
	int r;

	if (n != st->col.nr + 1)
		return err_set(err, EINVAL, "%zu fields where the header has %zu", n,
			       st->col.nr + 1);
	r = row_time(st, field[0], &t_ns, err);
	if (r < 0)
		return r;
	if (st->cell.nr + st->col.nr > MAX_CELLS || st->event.nr + st->dev.nr > MAX_EVENTS)
		return err_set(err, EFBIG, "more than %zu values or %zu rows", MAX_CELLS,
			       MAX_EVENTS);
	for (size_t i = 1; i < n; i++) {
		struct column *c = &st->col.v[i - 1];
		size_t at;
		double v;

		r = cell_value(field[i], &v, err);
		if (r < 0)
			return r;
		if (v == SAMPLER_ABSENT)
			continue;
		at = event_of(st, row_first, t_ns, c->device)->cell + c->series;
		st->cell.v[at] = v;
		if (!isnan(v)) {
			c->first = isnan(c->first) ? v : c->first;
			c->last = v;
		}
	}
	return 0;
}

/* --- opening --- */

static int load_header(struct sampler_state *st, struct csv_reader *csv, struct err *err)
{
	char *const *field;
	size_t n;
	int r = csv_next(csv, &field, &n, err);

	if (r == 0)
		return err_set(err, ENODATA, "no header line");
	if (r == 1 && (n < 2 || strcmp(field[0], "t_ns") != 0))
		return err_set(err, EINVAL, "no samples file: the first column is not t_ns");
	if (r == 1)
		add_described(st);
	for (size_t i = 1; r == 1 && i < n; i++) {
		int c = add_column(st, field[i], err);

		r = c < 0 ? c : 1;
	}
	return r < 0 ? r : 0;
}

static int load_text(struct sampler_state *st, const char *path, const char *text, size_t n,
		     struct err *err)
{
	struct csv_reader *csv = csv_open_mem(text, n);
	char *const *field;
	size_t fields;
	int r;

	csv_comments(csv, take_comment, st);
	r = load_header(st, csv, err);
	while (r == 0 && (r = csv_next(csv, &field, &fields, err)) == 1)
		r = replay_row_add(st, field, fields, err);
	if (r == 0 && !st->event.nr)
		r = err_set(err, ENODATA, "no value in it");
	if (r < 0)
		err_wrap(err, r, "%s:%" PRIu64, path, csv_line(csv));
	csv_free(csv);
	return r;
}

static int load_samples(struct sampler_state *st, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *end;
	size_t n;
	int r = fs_read(path, MAX_BYTES, &text, &n, err);

	if (r < 0)
		return r;
	end = memrchr(text, '\n', n);
	return load_text(st, path, text, end ? (size_t)(end + 1 - text) : 0, err);
}

static int set_options(struct sampler_state *st, const struct sampler_opts *o, struct err *err)
{
	const char *speed = sampler_option(o, "speed", "1");
	const char *loop = sampler_option(o, "loop", "no");

	if (num_f64(speed, strlen(speed), &st->speed) < 0 ||
	    !(st->speed >= MIN_SPEED && st->speed <= MAX_SPEED))
		return err_set(err, EINVAL,
			       "option speed wants a number from 0.01 to 1e6, not '%.40s'", speed);
	st->loop = strcmp(loop, "yes") == 0 || strcmp(loop, "true") == 0;
	if (!st->loop && strcmp(loop, "no") != 0 && strcmp(loop, "false") != 0)
		return err_set(err, EINVAL, "option loop wants yes or no, not '%.40s'", loop);
	return 0;
}

/* Drops devices that a comment names but no column has. */
static void drop_empty_devices(struct sampler_state *st)
{
	size_t kept = 0;

	for (size_t d = 0; d < st->dev.nr; d++) {
		if (!st->dev.v[d].nr)
			continue;
		for (size_t c = 0; c < st->col.nr; c++)
			if (st->col.v[c].device == d)
				st->col.v[c].device = kept;
		for (size_t i = 0; kept != d && i < st->event.nr; i++)
			if (st->event.v[i].device == d)
				st->event.v[i].device = (uint32_t)kept;
		st->dev.v[kept] = st->dev.v[d];
		st->dev.v[kept].estimated = st->head.estimated;
		st->dev.v[kept++].change_points = st->head.changes;
	}
	st->dev.nr = kept;
}

static int replay_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	const char *file = sampler_option(o, "file", "");
	struct sampler_state *st;
	int r;

	if (!*file)
		return err_set(err, EINVAL, "replay needs the option file: the recording to play");
	st = xcalloc(1, sizeof(*st));
	st->head = (struct samples_header)SAMPLES_HEADER_INIT;
	r = set_options(st, o, err);
	if (r == 0)
		r = load_samples(st, file, err);
	if (r == 0 && st->loop && st->event.v[st->event.nr - 1].t_ns == 0)
		r = err_set(err, EINVAL, "%s: takes no time, so it cannot be looped", file);
	if (r < 0) {
		replay_close(st);
		return r;
	}
	drop_empty_devices(st);
	*ret = st;
	return 0;
}

static int replay_probe(const struct sampler_opts *o, struct err *err)
{
	struct sampler_state *st = NULL;
	int r;

	if (!sampler_option(o, "file", NULL))
		return 0; /* a general question: replay works anywhere */
	r = replay_open(o, &st, err);
	if (r == 0)
		replay_close(st);
	return r;
}

static size_t replay_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev.v;
	return st->dev.nr;
}

/* --- playing --- */

static int64_t due_ns(const struct sampler_state *st)
{
	double since = (double)st->event.v[st->next].t_ns;

	if (st->speed == 1)
		return st->begun_ns + st->lap_ns + st->event.v[st->next].t_ns;
	return st->begun_ns + st->lap_ns + (int64_t)(since / st->speed);
}

/* The length of the last interval: the next lap begins this much after the last row. */
static int64_t last_step(const struct sampler_state *st)
{
	size_t i = st->event.nr - 1;
	int64_t end = st->event.v[i].t_ns;

	while (i > 0 && st->event.v[i].t_ns == end)
		i--;
	return end - st->event.v[i].t_ns;
}

static void next_event(struct sampler_state *st)
{
	int64_t lap;

	if (++st->next < st->event.nr || !st->loop)
		return;
	lap = (int64_t)((double)(st->event.v[st->event.nr - 1].t_ns + last_step(st)) / st->speed);
	st->lap_ns += lap > 0 ? lap : 1;
	for (size_t c = 0; c < st->col.nr; c++)
		if (st->col.v[c].cumulative && !isnan(st->col.v[c].first))
			st->col.v[c].base += st->col.v[c].last - st->col.v[c].first;
	st->next = 0;
}

static int replay_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	int64_t now = clock_monotonic_ns();
	const struct event *e;

	if (!st->begun_ns)
		st->begun_ns = now;
	if (st->next >= st->event.nr || due_ns(st) > now)
		return 1;
	e = &st->event.v[st->next];
	if (e->device != d)
		return 1; /* another device's turn comes first */
	for (size_t c = 0; c < st->col.nr; c++) {
		const struct column *col = &st->col.v[c];

		if (col->device == d)
			v[col->series] = st->cell.v[e->cell + col->series] + col->base;
	}
	*reason = "NA in the recording";
	st->stamp_ns = due_ns(st);
	next_event(st);
	return st->next < st->event.nr && due_ns(st) <= now ? 2 : 0;
}

static int64_t replay_stamp(struct sampler_state *st)
{
	return st->stamp_ns;
}

const struct sampler sampler_replay = {
	.name = "replay",
	.about = "plays a recorded samples file (option file)",
	.vendor = "any",
	.options = (const char *const[]){ "file", "speed", "loop", NULL },
	.probe = replay_probe,
	.open = replay_open,
	.devices = replay_devices,
	.read = replay_read,
	.stamp = replay_stamp,
	.close = replay_close,
};
