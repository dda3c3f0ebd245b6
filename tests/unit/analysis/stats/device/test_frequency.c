/* Clocks while devices compute: levels by time, usual, idle and low ones. */
#include "stats_test.h"

#include "profrig/model/facts.h"

#define COLUMNS \
	"series domain min_hz max_hz mean_hz busy_ns busy_hz usual_hz idle_hz top_hz low_ns " \
	"at_idle_ns lost_ns\n"

/* Times are µs; a kernel of 10 ms, then 30 ms idle, then another one. */
#define TWO_KERNELS "queue gpu0/1: a 0-10000 b 40000-50000\n"

/* A clock that follows the work is not low, one that comes late is until then. */
TEST(test_changes)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1000, TWO_KERNELS
		"series sclk.gpu0 MHz gauge changes: 0 2000 10000 500 42000 2000 50000 500 60000 "
		"500\n"
		"series mclk.gpu0 MHz gauge changes: 0 900 60000 900\n"
		"series sclk.gpu7 MHz gauge changes: 0 100 30000 300 60000 300\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);

	expect_table(table_set_find(&ts, "frequency"), COLUMNS
		     "mclk.gpu0 memory 900e6 900e6 900e6 20e6 900e6 900e6 900e6 900e6 0 0 0\n"
		     "sclk.gpu0 core 500e6 2000e6 950e6 20e6 1850e6 2000e6 500e6 2000e6 2e6 "
		     "2e6 1.5e6\n"
		     "sclk.gpu7 core 100e6 300e6 200e6 - - - - - - - -\n");
}

/* All of the busy time at the idle clock, which is far below the highest one seen. */
TEST(test_idle_clock)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1000, TWO_KERNELS
		"series sclk.gpu0 MHz gauge changes: 0 500 20000 2000 21000 500 60000 500\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);

	expect_table(table_set_find(&ts, "frequency"),
		     "busy_hz usual_hz idle_hz top_hz low_ns at_idle_ns lost_ns\n"
		     "500e6 500e6 500e6 2000e6 20e6 20e6 15e6\n");
}

/* A pinned clock is never low; nor is time of copies, which need no clock. */
TEST(test_pinned_and_copies)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1000, "queue gpu0/1: a 0-10000 c!c 20000-40000\n"
		      "queue gpu1/1: a 0-10000\n"
		      "series clock.gpu0 MHz gauge changes: 0 2000 10000 300 60000 300\n"
		      "series clock.gpu1 MHz gauge changes: 0 1200 60000 1200\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);

	expect_table(table_set_find(&ts, "frequency"), "device busy_ns low_ns\n"
						       "gpu0 10e6 0\n"
						       "gpu1 10e6 0\n");
}

/* Readings 10 ms apart say nothing of a kernel of 1 ms between two of them. */
TEST(test_rare_readings)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1000, "queue gpu0/1: a 4000-5000 b 20000-48000\n"
		      "series clock.gpu0 MHz gauge: 0 300 10000 300 20000 2000 30000 2000 40000 "
		      "2000 50000 2000\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);

	expect_table(table_set_find(&ts, "frequency"), "busy_ns busy_hz usual_hz low_ns\n"
						       "28e6 2000e6 2000e6 0\n");
}

/* The trace says what the device can do: one that never leaves its idle clock is far below. */
TEST(test_stated_clock)
{
	struct maker k = make_begin();
	struct device_facts d = DEVICE_FACTS_NONE;
	CLEANUP(model_freep) struct model *m = k.m;

	d.number = 0;
	d.clock_hz = 2000000000;
	k.s->ops->device(k.s, &d);
	trace_text(k.s, 1000, TWO_KERNELS "series clock.gpu0 MHz gauge changes: 0 500 60000 500\n");
	make_end(&k);

	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);

	expect_table(table_set_find(&ts, "frequency"),
		     "max_hz top_hz usual_hz low_ns at_idle_ns lost_ns\n"
		     "500e6 2000e6 500e6 20e6 20e6 15e6\n");
}

TEST(test_no_clocks)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, "queue gpu0/1: a 0-1\n");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .shared = NULL };

	assert_int_equal(analysis_run(&analysis_frequency, m, NULL, &o, &ts, NULL),
			 ANALYSIS_SKIPPED);
}

/* Busy and idle times of any series and works are parts of the time, and low ones of busy ones. */
TEST(test_laws)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		uint64_t rs = seed;
		int64_t t = 0;

		strbuf_addstr(&text, "queue gpu0/1:");
		for (int i = 0; i < 20; i++, t += (int64_t)(rnd(&rs) % 50)) {
			strbuf_addf(&text, " k %d-", (int)t);
			t += 1 + (int64_t)(rnd(&rs) % 100);
			strbuf_addf(&text, "%d", (int)t);
		}
		strbuf_addf(&text, "\nseries clock.gpu0 MHz gauge%s:", seed % 2 ? " changes" : "");
		for (int64_t at = 0; at < t; at += 1 + (int64_t)(rnd(&rs) % 100))
			strbuf_addf(&text, " %d %d", (int)at, (int)(rnd(&rs) % 5) * 400 + 100);
		strbuf_addch(&text, '\n');

		CLEANUP(model_freep) struct model *m = model_of_text(1000, text.buf);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_frequency);
		const struct table *f = table_set_find(&ts, "frequency");
		double busy = num_of(f, 0, "busy_ns");

		if (isnan(busy))
			continue;
		assert_true(busy > 0 && busy <= (double)t * 1000);
		assert_true(num_of(f, 0, "low_ns") <= busy);
		assert_true(num_of(f, 0, "at_idle_ns") <= num_of(f, 0, "low_ns"));
		assert_true(num_of(f, 0, "lost_ns") <= num_of(f, 0, "low_ns"));
		assert_true(num_of(f, 0, "min_hz") <= num_of(f, 0, "usual_hz"));
		assert_true(num_of(f, 0, "usual_hz") <= num_of(f, 0, "top_hz"));
	}
}
