/*
 * What reading a Perfetto trace costs: M slices a second of CPU time (one thread; aim: 4), and as a
 * ratio to a loop that only steps over the fields of all packets and their events. BENCH_SLICES
 * says how many (2000000). Medians of seven; the file is in the page cache.
 *
 * The trace is written as the SDK does: eight threads, each a sequence of its own, with interned
 * names, a default track and times as deltas; slices nest four deep.
 */
#include "tests/fixtures/gen/perfetto_gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/mix.h"
#include "profrig/base/num.h"
#include "profrig/readers/reader.h"

#define RUNS 7
#define THREADS 8
#define DEPTH 4
#define NAMES 200
#define BAR 4 /* M slices/s */

static uint64_t slices_wanted(void)
{
	const char *text = getenv("BENCH_SLICES");
	uint64_t n = 2000000;

	if (text && (num_u64(text, strlen(text), &n) < 0 || n < 1000)) {
		fprintf(stderr, "bench_perfetto: BENCH_SLICES=%s\n", text);
		exit(2);
	}
	return n;
}

/* The state of a sequence: clock, default track, names. */
static void put_state(struct strbuf *b, uint32_t seq)
{
	size_t packet = pg_open(b, seq, -1), at = pb_open(b, 6), in;
	char name[32];

	pb_put_u64(b, 13, 1);
	pg_clock(b, 64, 0, true, 0);
	pg_clock(b, 6, 1000000, false, 0);
	pb_close(b, at);
	at = pb_open(b, 59);
	pb_put_u64(b, 58, 64);
	in = pb_open(b, 11);
	pb_put_u64(b, 11, seq);
	pb_close(b, in);
	pb_close(b, at);
	at = pb_open(b, 12);
	pg_intern(b, 1, 1, "category");
	for (uint64_t i = 1; i <= NAMES; i++) {
		snprintf(name, sizeof(name), "function_%" PRIu64, i);
		pg_intern(b, 2, i, name);
	}
	pb_close(b, at);
	pg_close(b, packet);
}

/* One event; all lengths are below 128, and take a byte as the SDK's do. */
static void put_event(struct strbuf *b, uint32_t seq, uint64_t delta, uint64_t name)
{
	size_t event = name ? 6 + (name > 127) : 2;
	size_t packet = 2 + (delta > 127) + 2 + 2 + 2 + event;

	strbuf_addch(b, 0x0a);
	strbuf_addch(b, (int)packet);
	pb_put_u64(b, 8, delta);
	pb_put_u64(b, 10, seq);
	pb_put_u64(b, 13, 2);
	strbuf_addch(b, 11 << 3 | 2);
	strbuf_addch(b, (int)event);
	if (name)
		pb_put_u64(b, 3, 1);
	pb_put_u64(b, 9, name ? PG_BEGIN : PG_END);
	if (name)
		pb_put_u64(b, 10, name);
}

static void make_trace(struct strbuf *b, uint64_t slices)
{
	uint64_t seed = 7, left[THREADS];
	int depth[THREADS] = { 0 };

	for (uint32_t i = 0; i < THREADS; i++) {
		pg_thread(b, i + 1, 7, i + 7, "thread");
		put_state(b, i + 1);
		left[i] = slices / THREADS;
	}
	for (uint32_t i = 0; i < THREADS;) {
		bool enter =
			left[i] && depth[i] < DEPTH && (depth[i] == 0 || splitmix64(&seed) % 2);

		if (!left[i] && !depth[i]) {
			i++;
			continue;
		}
		put_event(b, i + 1, 1 + splitmix64(&seed) % 1000,
			  enter ? 1 + splitmix64(&seed) % NAMES : 0);
		depth[i] += enter ? 1 : -1;
		left[i] -= enter;
	}
}

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double read_s(const char *path, uint64_t slices, bool finish)
{
	struct model *m = model_new();
	struct read_opts o = { .facts = true };
	double begun = cpu_s();
	int r = reader_find("perfetto")->read(path, model_sink(m), &o, NULL);

	if (finish)
		model_finish(m);
	begun = cpu_s() - begun;
	if (r != 0 || m->spans.nr != slices || m->warnings.nr) {
		fprintf(stderr, "bench_perfetto: %d, %zu spans: %s\n", r, m->spans.nr,
			m->warnings.nr ? m->warnings.v[0].text : "");
		exit(1);
	}
	model_free(m);
	return begun;
}

static double step_s(const struct strbuf *b)
{
	struct pb_cursor c = pb_cursor_of(b->buf, b->len);
	struct pb_field f, g, h;
	uint64_t sum = 0;
	double begun = cpu_s();

	while (pb_next(&c, &f))
		for (struct pb_cursor in = pb_inside(&f); pb_next(&in, &g); sum += g.u64)
			for (struct pb_cursor e = pb_inside(&g); g.number == 11 && pb_next(&e, &h);)
				sum += h.u64;
	begun = cpu_s() - begun;
	if (sum == 0)
		exit(1);
	return begun;
}

static int by_value(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

int main(void)
{
	char path[] = "/tmp/profrig-bench-XXXXXX";
	uint64_t slices = slices_wanted() / THREADS * THREADS;
	double read[RUNS], whole[RUNS], step[RUNS], m = (double)slices / 1e6;
	struct strbuf b = STRBUF_INIT;
	int fd = mkstemp(path);

	make_trace(&b, slices);
	if (fd < 0 || fs_write_all(fd, b.buf, b.len) < 0) {
		perror("bench_perfetto");
		return 2;
	}
	close(fd);
	for (int i = 0; i < RUNS; i++) {
		step[i] = step_s(&b);
		read[i] = read_s(path, slices, false);
		whole[i] = read_s(path, slices, true);
	}
	unlink(path);
	qsort(read, RUNS, sizeof(*read), by_value);
	qsort(whole, RUNS, sizeof(*whole), by_value);
	qsort(step, RUNS, sizeof(*step), by_value);
	printf("perfetto: %.1f bytes a slice, read %.2f M slices/s (aim %d), %.1f times the step "
	       "over its fields; with the finished model %.2f M slices/s\n",
	       (double)b.len / (double)slices, m / read[RUNS / 2], BAR,
	       read[RUNS / 2] / step[RUNS / 2], m / whole[RUNS / 2]);
	strbuf_release(&b);
	return 0;
}
