/* Clocks by messages: known answers, laws on random ones, and the four ranks of a trace. */
#include "clock_bounds.h"
#include "readers_test.h"
#include "stats_test.h"

#include <math.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/mix.h"
#include "profrig/base/strbuf.h"

struct sent {
	VEC(struct clock_message) v;
};

static void send_at(struct sent *s, uint32_t from, uint32_t to, int64_t sent, int64_t received)
{
	VEC_PUSH(&s->v, ((struct clock_message){ from, to, sent, received }));
}

/* Messages of a component that are received before they were sent, on its clock. */
static uint64_t reversed(const struct sent *s, const struct clock_alignment *ca)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->v.nr; i++) {
		const struct clock_message *m = &s->v.v[i];

		n += clock_common_ns(&ca->ranks.v[m->to], m->received_ns) <
		     clock_common_ns(&ca->ranks.v[m->from], m->sent_ns);
	}
	return n;
}

/* Rank 1 is 1000 ahead. There the quickest message takes 30, back 10: ±20 around 1010. */
TEST(two_sides)
{
	struct sent s = { VEC_INIT };
	struct clock_alignment ca;

	send_at(&s, 0, 1, 0, 1030);
	send_at(&s, 0, 1, 500, 1600);
	send_at(&s, 1, 0, 2000, 1010);
	clock_bounds(s.v.v, s.v.nr, 3, &ca);
	assert_int_equal(ca.components.nr, 1);
	assert_int_equal(ca.ranks.v[1].offset_ns - ca.ranks.v[0].offset_ns, 1010);
	assert_int_equal(ca.ranks.v[0].offset_ns, -505);
	assert_float_equal(ca.ranks.v[1].bound_ns, 20, 0);
	assert_int_equal(ca.ranks.v[0].reversed, 1);
	assert_int_equal(ca.ranks.v[0].reversed_left, 0);
	assert_int_equal(ca.ranks.v[2].component, CLOCK_ALONE);
	assert_float_equal(ca.components.v[0].raw_sum_ns, 990, 0);
	assert_int_equal(reversed(&s, &ca), 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&s.v);
}

/* In one direction alone a clock moves as far as it must, and not where nothing is reversed. */
TEST(one_side)
{
	struct sent s = { VEC_INIT };
	struct clock_alignment ca;

	send_at(&s, 0, 1, 1000, 400);
	send_at(&s, 2, 3, 1000, 1400);
	clock_bounds(s.v.v, s.v.nr, 4, &ca);
	assert_int_equal(ca.components.nr, 2);
	assert_int_equal(ca.ranks.v[1].offset_ns - ca.ranks.v[0].offset_ns, -600);
	assert_int_equal(ca.ranks.v[3].offset_ns, 0);
	assert_true(isinf(ca.ranks.v[0].bound_ns) && isinf(ca.ranks.v[3].bound_ns));
	assert_int_equal(reversed(&s, &ca), 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&s.v);
}

/* Rank 0 and 2 exchange nothing: rank 1 bounds them both. */
TEST(by_way_of_another)
{
	struct sent s = { VEC_INIT };
	struct clock_alignment ca;

	send_at(&s, 0, 1, 0, 510);
	send_at(&s, 1, 0, 510, 20);
	send_at(&s, 1, 2, 1000, 210);
	send_at(&s, 2, 1, 220, 1030);
	clock_bounds(s.v.v, s.v.nr, 3, &ca);
	assert_int_equal(ca.ranks.v[1].offset_ns - ca.ranks.v[0].offset_ns, 500);
	assert_int_equal(ca.ranks.v[2].offset_ns - ca.ranks.v[1].offset_ns, -800);
	assert_float_equal(ca.ranks.v[2].bound_ns, 20, 0);
	assert_int_equal(reversed(&s, &ca), 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&s.v);
}

/* Rank 1 runs 50 ppm fast, which no offset holds over a second. */
TEST(drift)
{
	struct sent s = { VEC_INIT };
	struct clock_alignment ca;

	for (int64_t i = 0; i < 100; i++) {
		int64_t t = i * 10000000;

		send_at(&s, 0, 1, t, 7000 + t + t / 20000 + 900 + i % 7 * 100);
		send_at(&s, 1, 0, 7000 + t + 5000 + t / 20000, t + 5000 + 900 + i % 5 * 100);
	}
	clock_bounds(s.v.v, s.v.nr, 2, &ca);
	assert_true(ca.components.v[0].drifts);
	assert_float_equal((ca.ranks.v[1].drift - ca.ranks.v[0].drift) * 1e6, 50, 2.5);
	assert_int_equal(reversed(&s, &ca), 0);
	assert_true(ca.ranks.v[0].residual_max_ns == 0 && ca.ranks.v[0].reversed > 0);
	clock_alignment_release(&ca);
	VEC_RELEASE(&s.v);
}

/* Two messages that no clocks explain: both give way by the same. */
TEST(contradiction)
{
	struct sent s = { VEC_INIT };
	struct clock_alignment ca;

	send_at(&s, 0, 1, 0, 100);
	send_at(&s, 1, 0, 0, -300);
	clock_bounds(s.v.v, s.v.nr, 2, &ca);
	assert_float_equal(ca.ranks.v[0].residual_max_ns, 100, 1);
	assert_float_equal(ca.components.v[0].offset_sum_ns, 200, 2);
	assert_int_equal(reversed(&s, &ca), 2);
	clock_alignment_release(&ca);
	VEC_RELEASE(&s.v);
}

static uint64_t draw(uint64_t *seed, uint64_t n)
{
	return mix64((*seed)++) % n;
}

/*
 * Random clocks and messages: nothing is reversed, offsets are within their bounds, and neither
 * the order of messages nor a shift of all times changes the answer.
 */
TEST(laws)
{
	for (uint64_t round = 0; round < 300; round++) {
		uint64_t seed = round * 1000003 + 1;
		uint32_t ranks = 2 + (uint32_t)draw(&seed, 7);
		int64_t clock[8], shift = (int64_t)draw(&seed, 1 << 30);
		struct sent s = { VEC_INIT }, back = { VEC_INIT };
		struct clock_alignment ca, cb;
		size_t nr = 1 + draw(&seed, 40);

		for (uint32_t r = 0; r < ranks; r++)
			clock[r] = (int64_t)draw(&seed, 2000000) - 1000000;
		for (size_t i = 0; i < nr; i++) {
			uint32_t a = (uint32_t)draw(&seed, ranks), b = (uint32_t)draw(&seed, ranks);
			int64_t t = (int64_t)draw(&seed, 100000000);

			send_at(&s, a, b, t + clock[a],
				t + 1 + (int64_t)draw(&seed, 5000) + clock[b]);
		}
		for (size_t i = nr; i-- > 0;)
			send_at(&back, s.v.v[i].from, s.v.v[i].to, s.v.v[i].sent_ns + shift,
				s.v.v[i].received_ns + shift);
		clock_bounds(s.v.v, nr, ranks, &ca);
		clock_bounds(back.v.v, nr, ranks, &cb);
		assert_int_equal(reversed(&s, &ca), 0);
		for (uint32_t r = 0; r < ranks; r++) {
			const struct clock_rank *cr = &ca.ranks.v[r];
			double error = NAN;

			assert_int_equal(cr->offset_ns, cb.ranks.v[r].offset_ns);
			assert_true(cr->residual_max_ns == 0 && cr->drift == 0);
			/* of the lowest rank of a component that reaches all others */
			for (uint32_t k = 0; k < r && cr->component != CLOCK_ALONE; k++)
				if (ca.ranks.v[k].component == cr->component &&
				    ca.ranks.v[k].bound_ns == 0 && isnan(error))
					error = (double)(cr->offset_ns - ca.ranks.v[k].offset_ns) -
						(double)(clock[r] - clock[k]);
			if (ca.components.nr == 1 && ranks == 2 && !isnan(error))
				assert_true(fabs(error) <= cr->bound_ns + 1);
		}
		clock_alignment_release(&ca);
		clock_alignment_release(&cb);
		VEC_RELEASE(&s.v);
		VEC_RELEASE(&back.v);
	}
}

/* ---- four ranks of AIUs ---- */

/* The events of one pid of a list without braces in its texts; of all: -1. Owned. */
static char *events_of(const char *path, int pid)
{
	CLEANUP(xfreep) char *in = NULL;
	CLEANUP(xfreep) char *word = xasprintf("\"pid\": %d,", pid);
	struct strbuf out = STRBUF_INIT;
	const char *begin = NULL;
	size_t n;
	int depth = 0;

	assert_int_equal(fs_read(path, 1 << 20, &in, &n, NULL), 0);
	for (const char *p = in; p < in + n; p++) {
		if (*p == '{' && depth++ == 0)
			begin = p;
		if (*p != '}' || --depth > 0)
			continue;
		if (pid < 0 || memmem(begin, (size_t)(p - begin), word, strlen(word)))
			strbuf_addf(&out, "%s%.*s", out.len ? "," : "[", (int)(p - begin + 1),
				    begin);
	}
	strbuf_addch(&out, ']');
	return strbuf_steal(&out);
}

/* One input of the ranks, or one of each. */
static struct model *four_ranks(const char *path, bool split)
{
	struct model *m = model_new();
	struct read_opts o = { .facts = true };

	for (int pid = split ? 0 : -1; pid < (split ? 4 : 0); pid++) {
		CLEANUP(xfreep) char *text = events_of(path, pid);
		CLEANUP(xfreep) char *file = temp_file(text, strlen(text));

		assert_int_equal(reader_find("tef")->read(file, model_sink(m), &o, NULL), 0);
		unlink(file);
	}
	model_finish(m);
	return m;
}

/* Six messages; as recorded three of them are received up to 838.6 µs before they were sent. */
TEST(four_ranks_of_a_trace)
{
	CLEANUP(xfreep) char *path = test_trace("aiu/samples/allreduce_tp4.json");

	for (int split = 0; split < 2; split++) {
		CLEANUP(model_freep) struct model *m = four_ranks(path, split);
		CLEANUP(table_set_release)
		struct table_set ts = analyse(m, &analysis_collectives);
		const struct table *t = table_set_find(&ts, "alignment");
		const struct table *waits = table_set_find(&ts, "collective_instances");

		expect_table(t, "group track events used why by drift_ppm residual_max_ns reversed "
				"reversed_left group_sum_ns offset_ns\n"
				"0 'rank 0' 2 yes aligned messages 0 0 1 0 0 823378\n"
				"0 'rank 1' 3 yes aligned messages 0 0 2 0 0 -358717\n"
				"0 'rank 2' 3 yes aligned messages 0 0 1 0 0 -299044\n"
				"0 'rank 3' 4 yes aligned messages 0 0 2 0 0 -165617\n");
		expect_table(table_set_find(&ts, "message_collectives"),
			     "group seq collective algorithm ranks messages bytes moved_bytes\n"
			     "AllReduce_all_reduce_4 0 allreduce chain 4 6 524288 3145728\n");
		assert_int_equal(m->links.nr, split ? 0 : 6);
		for (size_t r = 0; r < table_rows(waits); r++)
			if (num_of(waits, r, "ranks") == 2)
				assert_true(num_of(waits, r, "transfer_ns") >= 0);
	}
}
