/*
 * sampler_test: what the samplers' tests share: opened sources with options in one line, and
 * samples files read by the rules of docs/contract.md "Sampling files".
 */
#ifndef PROFRIG_SAMPLER_TEST_H
#define PROFRIG_SAMPLER_TEST_H

#include "base_test.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "profrig/base/clock.h"
#include "profrig/base/csv.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/sampler/sampler.h"

/*
 * Options as pairs ended by NULL: sampler_options(&o, "all", 0.01, "file", path, NULL). Released by
 * options_release.
 */
static inline void sampler_options(struct sampler_opts *o, const char *device, double period_s, ...)
{
	va_list ap;
	char *name;

	memset(o, 0, sizeof(*o));
	o->device = device;
	o->period_s = period_s;
	va_start(ap, period_s);
	while ((name = va_arg(ap, char *)))
		VEC_PUSH(&o->options, ((struct sampler_option){ name, va_arg(ap, char *) }));
	va_end(ap);
}

static inline void options_release(struct sampler_opts *o)
{
	VEC_RELEASE(&o->options);
}

static inline void sleep_ms(int ms)
{
	clock_sleep_until_ns(clock_monotonic_ns() + ms * NS_PER_MS);
}

/* As long as a machine may take whose CPUs are wanted by others: a minute. */
#define WAIT_UNTIL(condition) \
	do { \
		int64_t wait_end = clock_monotonic_ns() + 60 * NS_PER_S; \
		while (!(condition) && clock_monotonic_ns() < wait_end) \
			sleep_ms(2); \
	} while (0)

/* A samples file. Cells: NaN for NA, SAMPLER_ABSENT for empty. */
struct samples_file {
	struct strvec comments; /* in order, all of them */
	struct strvec columns;  /* without t_ns */
	VEC(int64_t) t_ns;
	VEC(double) cell;
};

static inline void samples_comment(void *ctx, const char *line)
{
	strvec_push(&((struct samples_file *)ctx)->comments, line);
}

static inline void samples_release(struct samples_file *f)
{
	strvec_release(&f->comments);
	strvec_release(&f->columns);
	VEC_RELEASE(&f->t_ns);
	VEC_RELEASE(&f->cell);
}

static inline UNUSED double samples_cell(const struct samples_file *f, size_t row, size_t column)
{
	return f->cell.v[row * f->columns.nr + column];
}

/* Fails the test on anything the contract does not allow. */
static inline void samples_read(const char *path, struct samples_file *f)
{
	struct err err = ERR_INIT;
	struct csv_reader *csv;
	char *text;
	char *const *field;
	size_t n, len;

	memset(f, 0, sizeof(*f));
	strvec_init(&f->comments);
	strvec_init(&f->columns);
	assert_int_equal(fs_read(path, (size_t)1 << 30, &text, &len, NULL), 0);
	assert_true(len > 0 && text[len - 1] == '\n');
	assert_int_equal(strlen(text), len);
	csv = csv_open_mem(text, len);
	csv_comments(csv, samples_comment, f);
	assert_int_equal(csv_next(csv, &field, &n, &err), 1);
	assert_string_equal(field[0], "t_ns");
	for (size_t i = 1; i < n; i++) {
		size_t l = strlen(field[i]);

		strvec_push(&f->columns, field[i]);
		assert_true(strchr(field[i], '.') && strchr(field[i], '['));
		assert_true(field[i][l - 1] == ']');
	}
	while (csv_next(csv, &field, &n, &err) == 1) {
		int64_t t;

		assert_int_equal(n, f->columns.nr + 1);
		assert_int_equal(num_i64(field[0], strlen(field[0]), &t), 0);
		VEC_PUSH(&f->t_ns, t);
		for (size_t i = 1; i < n; i++) {
			double v = SAMPLER_ABSENT;

			if (strcmp(field[i], "NA") == 0)
				v = NAN;
			else if (*field[i])
				assert_int_equal(num_f64(field[i], strlen(field[i]), &v), 0);
			VEC_PUSH(&f->cell, v);
		}
	}
	assert_int_equal(err.code, 0);
	csv_free(csv);
	free(text);
}

static inline UNUSED struct samples_file samples_of(const char *path)
{
	struct samples_file f;

	samples_read(path, &f);
	return f;
}

/* The value of "# key: value", or NULL. */
static inline UNUSED const char *samples_header(const struct samples_file *f, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < f->comments.nr; i++)
		if (strncmp(f->comments.v[i], key, n) == 0 &&
		    strncmp(f->comments.v[i] + n, ": ", 2) == 0)
			return f->comments.v[i] + n + 2;
	return NULL;
}

static inline UNUSED size_t samples_column(const struct samples_file *f, const char *name)
{
	for (size_t i = 0; i < f->columns.nr; i++)
		if (strcmp(f->columns.v[i], name) == 0)
			return i;
	print_error("no column %s\n", name);
	fail();
	return 0;
}

/* An opened source, read directly. */
struct opened {
	const struct sampler *s;
	struct sampler_state *st;
	const struct sampler_device *dev;
	size_t nr;
	const char *reason;
};

static inline UNUSED int source_open(const char *name, const struct sampler_opts *o,
				     struct opened *ret, struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->s = sampler_find(name);
	assert_non_null(ret->s);
	r = ret->s->open(o, &ret->st, err);
	if (r == 0)
		ret->nr = ret->s->devices(ret->st, &ret->dev);
	return r;
}

/* Opens a source that is there. */
static inline UNUSED struct opened source_opened(const char *name, const struct sampler_opts *o)
{
	struct opened s;

	assert_int_equal(source_open(name, o, &s, NULL), 0);
	return s;
}

static inline UNUSED void source_close(struct opened *s)
{
	s->s->close(s->st);
}

/* Series of device d by its name without the device, or -1. */
static inline UNUSED int series_index(const struct opened *s, size_t d, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < s->dev[d].nr; i++)
		if (strncmp(s->dev[d].series[i].name, name, n) == 0 &&
		    s->dev[d].series[i].name[n] == '.')
			return (int)i;
	return -1;
}

/* Reads a device that must give a row; v holds SAMPLER_MAX_SERIES. */
static inline UNUSED void source_read(struct opened *s, size_t d, double *v)
{
	s->reason = NULL;
	assert_int_equal(s->s->read(s->st, d, v, &s->reason), 0);
}

/* One series of one device, read now. */
static inline UNUSED double source_value(struct opened *s, size_t d, const char *name)
{
	double v[SAMPLER_MAX_SERIES];
	int i = series_index(s, d, name);

	if (i < 0) {
		print_error("no series %s of device %zu\n", name, d);
		fail();
	}
	source_read(s, d, v);
	return v[i];
}

/*
 * Whether the energy of a device that takes `watts` says so over 300 ms, within what the lengths of
 * the two reads leave open and 2 %.
 */
static inline UNUSED bool energy_rises_at(struct opened *s, size_t d, double watts)
{
	int64_t t[4];
	double from, to;

	t[0] = clock_monotonic_ns();
	from = source_value(s, d, "energy");
	t[1] = clock_monotonic_ns();
	sleep_ms(300);
	t[2] = clock_monotonic_ns();
	to = source_value(s, d, "energy");
	t[3] = clock_monotonic_ns();
	return to - from > 0.98 * watts * (double)(t[2] - t[1]) / 1e9 &&
	       to - from < 1.02 * watts * (double)(t[3] - t[0]) / 1e9;
}

#endif
