#include "profrig/bench/bench_child.h"
#include "bench_buffers.h"
#include "bench_lib.h"
#include "bench_link.h"
#include "peak_child.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#define SAID_MAX 65536 /* bytes that the library may leave on stderr, a file in memory */
#define CALLS_MAX (UINT64_C(1) << 30)

struct child {
	struct bench_link link;
	struct bench_lib lib;
	struct bench_op op;
	struct bench_call call;
	struct bench_buffers buffers; /* map NULL: there is no op */
};

/* Ends the process where the other side is gone. */
static void answer_sent(int r)
{
	if (r < 0)
		_exit(0);
}

#define answer(ch, ...) answer_sent(bench_link_write(&(ch)->link, __VA_ARGS__))

static void refuse(struct child *ch, enum bench_status status, const struct err *err)
{
	answer(ch, "no\t%s\t%s", bench_status_name(status), err->msg);
}

/* ---- calls ---- */

static void call_on(const struct child *ch, const char *a, const char *b, char *c)
{
	const struct bench_op *op = &ch->op;
	size_t size = bench_type_size(op->type);

	if (ch->call.whole) {
		ch->call.call(op, ch->call.fn, a, b, c);
		return;
	}
	for (int64_t i = 0; i < op->batch; i++) {
		ch->call.call(op, ch->call.fn, a, b, c);
		a += (size_t)op->of[OPERAND_A].stride * size;
		b += (size_t)op->of[OPERAND_B].stride * size;
		c += (size_t)op->of[OPERAND_C].stride * size;
	}
}

static void call_next(struct child *ch)
{
	struct bench_buffers *b = &ch->buffers;
	uint64_t set = b->at++;

	call_on(ch, bench_buffer(b, OPERAND_A, set), bench_buffer(b, OPERAND_B, set),
		bench_buffer(b, OPERAND_C, set));
}

static void block_run(struct child *ch, const struct bench_line *line)
{
	int64_t first = clock_monotonic_ns(), begin, end;
	uint64_t n;

	if (!ch->buffers.map || num_u64(line->field[1], strlen(line->field[1]), &n) < 0 || n == 0 ||
	    n > CALLS_MAX) {
		answer(ch, "no\tfailed\tno such block");
		return;
	}
	bench_buffers_refresh(&ch->buffers);
	call_next(ch);
	begin = clock_monotonic_ns();
	for (uint64_t i = 0; i < n; i++)
		call_next(ch);
	end = clock_monotonic_ns();
	answer(ch, "ok\t%" PRId64 "\t%" PRId64, end - begin, end - first);
}

static void result_check(struct child *ch)
{
	struct bench_buffers *b = &ch->buffers;
	int64_t begin = clock_monotonic_ns();
	struct err err = ERR_INIT;
	char error[32];
	double worst;

	if (!b->map) {
		answer(ch, "no\tfailed\tnothing to check");
		return;
	}
	bench_op_fill(&ch->op, OPERAND_C, b->base[OPERAND_C]);
	call_on(ch, b->base[OPERAND_A], b->base[OPERAND_B], b->base[OPERAND_C]);
	if (bench_op_check(&ch->op, b->base[OPERAND_C], &worst, &err) < 0) {
		refuse(ch, BENCH_WRONG, &err);
		return;
	}
	num_fmt_f64(error, worst);
	answer(ch, "ok\t%s\t%" PRId64, error, clock_monotonic_ns() - begin);
}

static enum bench_status op_ready(struct child *ch, const struct bench_line *line, struct err *err)
{
	uint64_t rotate, limit;
	enum bench_cache cache;
	int r;

	if (!bench_cache_parse(line->field[1], &cache) ||
	    num_u64(line->field[2], strlen(line->field[2]), &rotate) < 0 ||
	    num_u64(line->field[3], strlen(line->field[3]), &limit) < 0) {
		err_set(err, EINVAL, "no such request");
		return BENCH_FAILED;
	}
	r = bench_op_parse(line->field[4], &ch->op, err);
	if (r < 0)
		return BENCH_UNSUPPORTED;
	if (!ch->op.flops) {
		err_set(err, EINVAL, "there is nothing to compute");
		return BENCH_SKIPPED;
	}
	if (!ch->lib.wide && !bench_op_fits_int32(&ch->op)) {
		err_set(err, ERANGE, "its sizes need 64-bit integers, the library has 32 bits");
		return BENCH_UNSUPPORTED;
	}
	if (bench_lib_call(&ch->lib, &ch->op, &ch->call, err) < 0)
		return BENCH_UNSUPPORTED;
	bench_buffers_release(&ch->buffers);
	if (bench_buffers_make(&ch->op, cache, rotate, limit, &ch->buffers, err) < 0)
		return BENCH_SKIPPED;
	return BENCH_OK;
}

static void op_prepare(struct child *ch, const struct bench_line *line)
{
	int64_t begin = clock_monotonic_ns();
	struct err err = ERR_INIT;
	enum bench_status s = op_ready(ch, line, &err);

	if (s != BENCH_OK)
		refuse(ch, s, &err);
	else
		answer(ch, "ok\t%zu\t%" PRId64, ch->buffers.bytes, clock_monotonic_ns() - begin);
}

/* Giving back memory takes time, too, which the parent wants to know. */
static void buffers_drop(struct child *ch)
{
	int64_t begin = clock_monotonic_ns();

	bench_buffers_release(&ch->buffers);
	answer(ch, "ok\t%" PRId64, clock_monotonic_ns() - begin);
}

/* ---- the process ---- */

static void cpus_keep(const char *cpus)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	cpu_set_t set;
	uint64_t cpu;

	CPU_ZERO(&set);
	strvec_split(&words, cpus, ",");
	for (size_t i = 0; i < words.nr; i++)
		if (num_u64(words.v[i], strlen(words.v[i]), &cpu) == 0 && cpu < CPU_SETSIZE)
			CPU_SET((int)cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

static void limits_set(void)
{
	const struct rlimit none = { 0, 0 }, said = { SAID_MAX, SAID_MAX };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &said);
}

void bench_child_main(int fd, const char *cpus, const char *library)
{
	static struct child ch;
	struct bench_line line;
	struct err err = ERR_INIT;

	ch.link.fd = fd;
	limits_set();
	cpus_keep(cpus);
	if (!strcmp(library, PEAK_CHILD)) {
		peak_child_serve(&ch.link);
		_exit(0);
	}
	if (bench_lib_open(library, &ch.lib, &err) < 0) {
		refuse(&ch, BENCH_FAILED, &err);
		_exit(0);
	}
	answer(&ch, "hello\t%d\t%d\t%s\t%s%s%s", ch.lib.wide, ch.lib.threads, ch.lib.path,
	       ch.lib.version, ch.lib.core[0] ? " on " : "", ch.lib.core);
	while (bench_link_read(&ch.link, -1, &line, NULL) > 0) {
		if (!strcmp(line.field[0], "op"))
			op_prepare(&ch, &line);
		else if (!strcmp(line.field[0], "check"))
			result_check(&ch);
		else if (!strcmp(line.field[0], "block"))
			block_run(&ch, &line);
		else if (!strcmp(line.field[0], "drop"))
			buffers_drop(&ch);
		else
			answer(&ch, "no\tfailed\tno such request");
	}
	_exit(0);
}
