/*
 * The sampling thread while others mark, pause and ask all the time: whichever thread takes
 * readings in, the file has each of them once and in its order, no mark stands before what was read
 * earlier, and the figures are those of the file.
 */
#include "sampler_test.h"

#include <pthread.h>
#include <stdatomic.h>

#define DEVICES 3

/* Values count the device's readings. */
struct sampler_state {
	struct sampler_device dev[DEVICES];
	uint64_t given[DEVICES], calls;
	uint64_t die_at, hang_at; /* that call; 0: none */
	uint64_t still;           /* readings until a value changes */
	bool bursts;              /* most rounds are followed by another one at once */
};

static struct sampler_state counting;
static atomic_bool hang;
static atomic_int closes;
static char *dir, *path;

/* What reading k of a device gives. */
static double value_of(uint64_t k)
{
	uint64_t step = k / counting.still;

	return (double)step;
}

static int counting_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	(void)o;
	(void)err;
	for (size_t d = 0; d < DEVICES; d++) {
		struct sampler_device *dev = &counting.dev[d];

		snprintf(dev->id, sizeof(dev->id), "gpu%zu", d);
		snprintf(dev->series[0].name, sizeof(dev->series[0].name), "count.gpu%zu", d);
		snprintf(dev->series[0].unit, sizeof(dev->series[0].unit), "1");
		dev->nr = 1;
	}
	*ret = &counting;
	return 0;
}

static size_t counting_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = st->dev;
	return DEVICES;
}

static int counting_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	uint64_t call = st->calls++;

	v[0] = -1;
	if (st->die_at && call >= st->die_at) {
		*reason = "fell off the bus";
		return -ENODEV;
	}
	while (hang && call == st->hang_at)
		sleep_ms(2);
	if (call % 7 == 6)
		return 1;
	v[0] = value_of(st->given[d]++);
	return st->bursts && call % 64 < 48 ? 2 : 0;
}

static void counting_close(struct sampler_state *st)
{
	(void)st;
	closes++;
}

static const struct sampler source = {
	.name = "counting",
	.vendor = "any",
	.open = counting_open,
	.devices = counting_devices,
	.read = counting_read,
	.close = counting_close,
};

/* --- those who disturb it --- */

static struct disturb {
	struct sampling *sp;
	atomic_bool end, wrong; /* wrong: a summary */
	bool pauses;
	int64_t marks;
} disturb;

static void *make_marks(void *arg)
{
	char name[32];

	(void)arg;
	while (!disturb.end) {
		snprintf(name, sizeof(name), "%" PRId64, disturb.marks++);
		sampling_mark(disturb.sp, name);
		if (disturb.marks % 4 == 0)
			sleep_ms(1 + (int)(disturb.marks % 13));
	}
	return NULL;
}

static void *make_questions(void *arg)
{
	struct sampling_summary s;
	uint64_t before = 0;

	(void)arg;
	for (uint64_t k = 0; !disturb.end; k++) {
		sampling_summary(disturb.sp, k % DEVICES, 0, &s);
		disturb.wrong |= s.failed > 0 || s.sum < 0 || s.last > s.max;
		if (k % DEVICES == 0) {
			disturb.wrong |= s.samples < before;
			before = s.samples;
		}
		if (disturb.pauses)
			sampling_pause(disturb.sp, k % 4 == 0);
		sleep_ms((int)(k % 3));
	}
	return NULL;
}

static void sample_for(int ms, double period_s, const char *storage, struct sampling_stats *ret)
{
	struct sampling_opts o = { .sampler = &source, .path = path };
	pthread_t marks, questions;

	sampler_options(&o.source, NULL, period_s, "storage", storage, NULL);
	assert_int_equal(sampling_open(&o, &disturb.sp, NULL), 0);
	options_release(&o.source);
	assert_int_equal(sampling_start(disturb.sp, NULL), 0);
	assert_int_equal(pthread_create(&marks, NULL, make_marks, NULL), 0);
	assert_int_equal(pthread_create(&questions, NULL, make_questions, NULL), 0);
	sleep_ms(ms);
	disturb.end = true;
	pthread_join(marks, NULL);
	pthread_join(questions, NULL);
	sampling_stop(disturb.sp, ret);
}

/* --- what is in the file then --- */

struct found {
	uint64_t rows, of[DEVICES];
	int64_t marks, mark_ns; /* the last of them */
	int64_t t_ns;           /* of the row before */
	int early;              /* rows behind that mark which were read before it */
	double last[DEVICES];
};

static void found_mark(struct found *f, const char *text)
{
	char *end;

	f->mark_ns = strtoll(text, &end, 10);
	assert_int_equal(strtoll(end, NULL, 10), f->marks++);
	f->early = 0;
}

/* Values rise by one; where not each is a row, one may come again, and none is left out. */
static void found_row(struct found *f, const char *line, bool every)
{
	char *at;
	int64_t t = strtoll(line, &at, 10);
	size_t d = strspn(at, ",") - 1;
	double v = strtod(at + d + 1, NULL);

	assert_true(d < DEVICES);
	if (every)
		assert_true(v == value_of(f->of[d]));
	else
		assert_true(v == f->last[d] || v == f->last[d] + 1);
	assert_true(t >= f->t_ns || !every);
	/* one read may be on its way at a mark, and the next begins where that one ended */
	f->early += t < f->mark_ns;
	assert_true(f->early <= 2 || !every);
	f->last[d] = v;
	f->of[d]++;
	f->rows++;
	f->t_ns = t;
}

static void read_file(struct found *f, bool every)
{
	char *text, *save = NULL;
	size_t len;

	*f = (struct found){ .last = { -1, -1, -1 } };
	assert_int_equal(fs_read(path, (size_t)1 << 30, &text, &len, NULL), 0);
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (strncmp(l, "# mark: ", 8) == 0)
			found_mark(f, l + 8);
		else if (*l >= '0' && *l <= '9')
			found_row(f, l, every);
	free(text);
}

static void busy_check(const struct sampling_stats *s, bool every)
{
	struct sampling_summary sum;
	struct found f;

	read_file(&f, every);
	assert_false(disturb.wrong);
	assert_true(f.rows > 0 || disturb.pauses);
	/* a file that has met its end takes none */
	assert_true(counting.die_at ? f.marks <= disturb.marks : f.marks == disturb.marks);
	assert_int_equal(f.rows, s->rows);
	for (size_t d = 0; d < DEVICES; d++) {
		uint64_t given = counting.given[d];

		sampling_summary(disturb.sp, d, 0, &sum);
		assert_int_equal(sum.samples, given);
		assert_true(f.last[d] == (given ? value_of(given - 1) : -1));
		assert_true(every ? f.of[d] == given : f.of[d] <= given);
	}
}

static void disturbed(double period_s, const char *storage, struct sampler_state st, bool pauses)
{
	CLEANUP(sampling_stats_release) struct sampling_stats s;

	counting = st;
	disturb = (struct disturb){ .pauses = pauses };
	sample_for(150, period_s, storage, &s);
	busy_check(&s, strcmp(storage, "every") == 0);
	assert_int_equal(s.error, st.hang_at ? -ETIMEDOUT : st.die_at ? -ENODEV : 0);
	sampling_free(disturb.sp);
}

static const double periods[] = { 0.0001, 0.001, 0.012, 0.05 };

static int set_up(void **state UNUSED)
{
	dir = test_dir();
	path = fs_join(dir, "busy.csv");
	return 0;
}

static int tear_down(void **state UNUSED)
{
	fs_remove_tree(dir, NULL);
	free(path);
	free(dir);
	return 0;
}

#define BUSY_TEST(f) TEST_WITH(f, set_up, tear_down)

BUSY_TEST(rows_and_marks)
{
	for (size_t i = 0; i < ARRAY_LEN(periods); i++)
		disturbed(periods[i], "every", (struct sampler_state){ .still = 1 }, false);
}

BUSY_TEST(while_paused_and_not)
{
	for (size_t i = 0; i < ARRAY_LEN(periods); i++)
		disturbed(periods[i], "every", (struct sampler_state){ .still = 1 }, true);
}

BUSY_TEST(only_changes)
{
	for (size_t i = 0; i < ARRAY_LEN(periods); i++)
		disturbed(periods[i], "change", (struct sampler_state){ .still = 10 }, i % 2);
}

BUSY_TEST(in_bursts)
{
	for (size_t i = 0; i < ARRAY_LEN(periods); i++)
		disturbed(periods[i], "every", (struct sampler_state){ .still = 1, .bursts = true },
			  i % 2);
}

/* What was read before is in the file, to the last one, in whatever place of a round it dies. */
BUSY_TEST(until_it_dies)
{
	for (uint64_t at = 1; at < 40; at += 3 + at % 2)
		disturbed(0.0005, "every", (struct sampler_state){ .still = 1, .die_at = at },
			  false);
}

/* What others took in while it hung, and what its round had read before, once each. */
BUSY_TEST(until_it_hangs)
{
	hang = true;
	closes = 0;
	disturbed(0.001, "every", (struct sampler_state){ .still = 1, .hang_at = 100 }, false);
	assert_int_equal(closes, 0);
	hang = false;
	WAIT_UNTIL(closes == 1);
	assert_int_equal(closes, 1);
}
