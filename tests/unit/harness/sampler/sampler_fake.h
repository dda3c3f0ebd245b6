/* sampler_fake: a source that does what a test of the loop wants, and a folder for its file. */
#ifndef PROFRIG_SAMPLER_FAKE_H
#define PROFRIG_SAMPLER_FAKE_H

#include "sampler_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* --- a source that does what a test wants --- */

struct sampler_state {
	int unused;
};

static struct fake {
	size_t nr_dev;
	struct sampler_device dev[3];
	int open_code;
	int read_ms;          /* each read takes that long */
	int die_at, die_code; /* from that read on; 0: never */
	const char *die_reason;
	_Atomic bool hang; /* reads block while set, of devices from hang_from on */
	size_t hang_from;
	uint64_t due; /* that many rows come at once (read returns 2) */
	bool own_times;
	double value[4]; /* of every device */
	const char *reason;
	/* what happened */
	_Atomic int reads, reading, closes, target, target_calls;
	_Atomic bool int_blocked;
	int64_t stamp_ns;
	uint64_t given;
} fake;

static struct sampler_state fake_state;

static inline UNUSED int fake_probe(const struct sampler_opts *o, struct err *err)
{
	(void)o;
	(void)err;
	return 0;
}

static inline UNUSED int fake_open(const struct sampler_opts *o, struct sampler_state **ret,
				   struct err *err)
{
	(void)o;
	if (fake.open_code)
		return err_set(err, -fake.open_code, "no such luck");
	*ret = &fake_state;
	return 0;
}

static inline UNUSED size_t fake_devices(struct sampler_state *st,
					 const struct sampler_device **ret)
{
	(void)st;
	*ret = fake.dev;
	return fake.nr_dev;
}

/* 1 ms apart in the first third, 3 ms later. */
static inline UNUSED int fake_many(void)
{
	if (fake.given >= fake.due)
		return 1;
	fake.stamp_ns += fake.given < fake.due / 3 ? NS_PER_MS : 3 * NS_PER_MS;
	fake.given++;
	return 2;
}

static inline UNUSED int fake_read(struct sampler_state *st, size_t d, double *v,
				   const char **reason)
{
	sigset_t mask;
	int n = ++fake.reads;

	(void)st;
	fake.reading = 1;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	fake.int_blocked = sigismember(&mask, SIGINT) == 1;
	if (fake.read_ms)
		sleep_ms(fake.read_ms);
	while (fake.hang && d >= fake.hang_from)
		sleep_ms(2);
	fake.reading = 0;
	for (size_t i = 0; i < fake.dev[d].nr; i++)
		v[i] = fake.value[i];
	*reason = fake.reason;
	if (fake.die_at && n >= fake.die_at) {
		*reason = fake.die_reason;
		return fake.die_code;
	}
	return fake.due ? fake_many() : 0;
}

static inline UNUSED void fake_target(struct sampler_state *st, pid_t pid)
{
	(void)st;
	fake.target = pid;
	fake.target_calls++;
}

static inline UNUSED int64_t fake_stamp(struct sampler_state *st)
{
	(void)st;
	return fake.stamp_ns;
}

static inline UNUSED void fake_close(struct sampler_state *st)
{
	(void)st;
	fake.closes++;
}

static const UNUSED struct sampler source = {
	.name = "fake",
	.vendor = "any",
	.probe = fake_probe,
	.open = fake_open,
	.devices = fake_devices,
	.read = fake_read,
	.target = fake_target,
	.close = fake_close,
};

static const UNUSED struct sampler source_with_times = {
	.name = "fake",
	.vendor = "any",
	.estimated = true,
	.probe = fake_probe,
	.open = fake_open,
	.devices = fake_devices,
	.read = fake_read,
	.stamp = fake_stamp,
	.close = fake_close,
};

static inline UNUSED void fake_device(const char *id, int series)
{
	static const char *const names[] = { "power", "energy", "busy", "temperature" };
	static const char *const units[] = { "W", "J", "%", "degC" };
	struct sampler_device *d = &fake.dev[fake.nr_dev++];

	snprintf(d->id, sizeof(d->id), "%s", id);
	snprintf(d->facts, sizeof(d->facts), "a fake, pci 0000:03:00.0");
	for (int i = 0; i < series; i++) {
		struct sampler_series *s = &d->series[d->nr++];

		snprintf(s->name, sizeof(s->name), "%.14s.%.31s", names[i], id);
		snprintf(s->unit, sizeof(s->unit), "%s", units[i]);
	}
}

/* --- around each test --- */

static char *dir, *path;

static inline UNUSED int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	for (int i = 0; i < 4; i++)
		fake.value[i] = i + 0.5;
	dir = test_dir();
	path = fs_join(dir, "fake.csv");
	return 0;
}

static inline UNUSED int tear_down(void **state)
{
	(void)state;
	fs_remove_tree(dir, NULL);
	free(path);
	free(dir);
	return 0;
}

#define SAMPLER_TEST(f) TEST_WITH(f, set_up, tear_down)

static inline UNUSED struct sampling *fake_begin(double period_s)
{
	struct sampling_opts o = { .sampler = &source,
				   .source.period_s = period_s,
				   .path = path,
				   .run_id = "20260101T000000Z-x-abcdef" };
	struct sampling *sp = NULL;

	assert_int_equal(sampling_open(&o, &sp, NULL), 0);
	assert_int_equal(sampling_start(sp, NULL), 0);
	return sp;
}

static inline UNUSED double ms_since(int64_t t_ns)
{
	return (double)(clock_monotonic_ns() - t_ns) / 1e6;
}

#endif
