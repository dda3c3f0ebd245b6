#include "profrig/bench/bench_child.h"
#include "bench_link.h"
#include "bench_speed.h"
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
#include "profrig/bench/bench_driver.h"

#define SAID_MAX 65536 /* bytes that the library may leave on stderr, a file in memory */
/* Runtimes of devices may keep files of shared memory and of compiled kernels. */
#define DEVICE_FILE_MAX (64 << 20)
#define CALLS_MAX (UINT64_C(1) << 30)

struct child {
	struct bench_link link;
	const struct bench_driver *driver;
	bool ready; /* there are operands */
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

static void block_run(struct child *ch, const struct bench_line *line)
{
	bool on_processor = !strcmp(ch->driver->timer, "host");
	struct bench_speed speed = { 0 };
	int64_t first, ns;
	struct err err = ERR_INIT;
	enum bench_status s;
	uint64_t n;

	if (!ch->ready || num_u64(line->field[1], strlen(line->field[1]), &n) < 0 || n == 0 ||
	    n > CALLS_MAX) {
		answer(ch, "no\tfailed\tno such block");
		return;
	}
	if (on_processor)
		speed = bench_speed_now();
	first = clock_monotonic_ns();
	s = ch->driver->block(n, &ns, &err);
	if (s != BENCH_OK)
		refuse(ch, s, &err);
	else
		answer(ch, "ok\t%" PRId64 "\t%" PRId64 "\t%.1f\t%.3f", ns,
		       clock_monotonic_ns() - first, speed.clock_mhz, speed.loop_gflops);
}

static void result_check(struct child *ch)
{
	int64_t begin = clock_monotonic_ns();
	struct err err = ERR_INIT;
	enum bench_status s;
	char error[32];
	double worst;

	if (!ch->ready) {
		answer(ch, "no\tfailed\tnothing to check");
		return;
	}
	s = ch->driver->check(&worst, &err);
	if (s != BENCH_OK) {
		refuse(ch, s, &err);
		return;
	}
	num_fmt_f64(error, worst);
	answer(ch, "ok\t%s\t%" PRId64, error, clock_monotonic_ns() - begin);
}

static enum bench_status op_ready(struct child *ch, const struct bench_line *line,
				  size_t *ret_bytes, struct err *err)
{
	struct bench_request r = { .key = line->field[4] };
	struct bench_work work;

	if (!bench_cache_parse(line->field[1], &r.cache) ||
	    num_u64(line->field[2], strlen(line->field[2]), &r.rotate) < 0 ||
	    num_u64(line->field[3], strlen(line->field[3]), &r.limit) < 0) {
		err_set(err, EINVAL, "no such request");
		return BENCH_FAILED;
	}
	if (ch->driver->work(r.key, &work, err) < 0)
		return BENCH_UNSUPPORTED;
	return ch->driver->prepare(&r, ret_bytes, err);
}

static void op_prepare(struct child *ch, const struct bench_line *line)
{
	int64_t begin = clock_monotonic_ns();
	struct err err = ERR_INIT;
	size_t bytes = 0;
	enum bench_status s = op_ready(ch, line, &bytes, &err);
	const char *chosen = s == BENCH_OK && ch->driver->chosen ? ch->driver->chosen() : NULL;
	int32_t solution = s == BENCH_OK && ch->driver->solution ? ch->driver->solution()
								 : BENCH_SOLUTION_NONE;

	ch->ready = s == BENCH_OK;
	if (!ch->ready)
		refuse(ch, s, &err);
	else
		answer(ch, "ok\t%zu\t%" PRId64 "\t%s\t%" PRId32, bytes,
		       clock_monotonic_ns() - begin, chosen ? chosen : "", solution);
}

/* Giving back memory takes time, too, which the parent wants to know. */
static void operands_drop(struct child *ch)
{
	int64_t begin = clock_monotonic_ns();

	ch->driver->drop();
	ch->ready = false;
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

static void limits_set(const struct bench_driver *d)
{
	rlim_t bytes = d && d->node ? DEVICE_FILE_MAX : SAID_MAX;
	const struct rlimit none = { 0, 0 }, file = { bytes, bytes };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &file);
}

void bench_child_main(int fd, const char *cpus, const char *driver, const char *library)
{
	static struct child ch;
	struct bench_hello hello = { 0 };
	struct bench_line line;
	struct err err = ERR_INIT;

	ch.link.fd = fd;
	ch.driver = bench_driver_named(driver);
	limits_set(ch.driver);
	cpus_keep(cpus);
	if (!strcmp(driver, PEAK_CHILD)) {
		peak_child_serve(&ch.link);
		_exit(0);
	}
	if (!ch.driver) {
		answer(&ch, "no\tfailed\tno such driver");
		_exit(0);
	}
	if (ch.driver->open(library, &hello, &err) < 0) {
		refuse(&ch, BENCH_FAILED, &err);
		_exit(0);
	}
	answer(&ch, "hello\t%d\t%d\t%s\t%s\t%s", hello.wide, hello.threads, hello.path,
	       hello.version, hello.device);
	while (bench_link_read(&ch.link, -1, &line, NULL) > 0) {
		if (!strcmp(line.field[0], "op"))
			op_prepare(&ch, &line);
		else if (!strcmp(line.field[0], "check"))
			result_check(&ch);
		else if (!strcmp(line.field[0], "block"))
			block_run(&ch, &line);
		else if (!strcmp(line.field[0], "drop"))
			operands_drop(&ch);
		else
			answer(&ch, "no\tfailed\tno such request");
	}
	_exit(0);
}
