/*
 * What recordings of compiled programs cost, read into a finished model with all facts: M events a
 * second of CPU time (one thread; median of seven), and the memory that the process then has held
 * at most. BENCH_EVENTS says how many of each (2000000).
 *
 *	xplane	an XSpace file of make_xplane, whose path is the first argument (aim: 5)
 *	nsys	ranges of XLA in an export of Nsight Systems: executions of 100 operations on four
 *		threads that launch (aim: 1)
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/readers/reader.h"

#define RUNS 7
#define OPS 100
#define TID(i) "(2 << 24 | 70 + " i " %% 4)"

struct reading {
	const char *reader;
	double aim; /* M events/s */
	void (*make)(const char *program, const char *path, uint64_t events);
};

static uint64_t events_wanted(void)
{
	const char *text = getenv("BENCH_EVENTS");
	uint64_t n = 2000000;

	if (text && (num_u64(text, strlen(text), &n) < 0 || n < 1000)) {
		fprintf(stderr, "bench_xplane: BENCH_EVENTS=%s\n", text);
		exit(2);
	}
	return n;
}

static void xplane_make(const char *program, const char *path, uint64_t events)
{
	char number[24];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		snprintf(number, sizeof(number), "%" PRIu64, events);
		if (freopen(path, "w", stdout))
			execl(program, program, number, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench_xplane: %s fails\n", program);
		exit(1);
	}
}

/* Range i of a thread: 0 a module, 1 … OPS its operations. */
static void nsys_make(const char *program, const char *path, uint64_t events)
{
	CLEANUP(xfreep)
	char *sql = xasprintf(
		"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
		"CREATE TABLE ThreadNames(nameId, priority, globalTid);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId,"
		" correlationId, globalPid, shortName);"
		"CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, text"
		" TEXT, textId INTEGER, globalTid INTEGER, domainId INTEGER);"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d)"
		" INSERT INTO StringIds SELECT i,"
		" 'TSL:Thunk:#hlo_op=loop_fusion.' || i || '#' FROM n;"
		"INSERT INTO StringIds VALUES"
		" (1000, 'TSL:XlaModule:#hlo_module=jit_step,program_id=7#');"
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<3)"
		" INSERT INTO StringIds SELECT 2000 + i,"
		" 'XlaLauncher:#global=' || i || ',local=' || i || ',process=0,slice=0#' FROM n;"
		"INSERT INTO ThreadNames SELECT id, 20, " TID(
			"id") " FROM StringIds WHERE id>=2000;"
			      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE "
			      "i<%" PRIu64 ")"
			      " INSERT INTO NVTX_EVENTS SELECT i/4*10, CASE i/4%%%d WHEN 0 THEN"
			      " i/4*10+%d ELSE i/4*10+8 END, 59, NULL, CASE i/4%%%d WHEN 0 THEN "
			      "1000 ELSE"
			      " i/4%%%d END, " TID("i") ", 0 FROM n;",
		OPS, events - 1, OPS + 1, (OPS + 1) * 10, OPS + 1, OPS + 1);
	sqlite3 *db;

	(void)program;
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_xplane: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_close(db);
}

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* In a process of its own: ret_kb is the most memory that it had. */
static double read_s(const struct reading *rd, const char *path, uint64_t events, long *ret_kb)
{
	struct rusage use;
	double s = 0;
	int fd[2], status;
	pid_t pid;

	if (pipe(fd) < 0 || (pid = fork()) < 0)
		exit(2);
	if (pid == 0) {
		struct model *m = model_new();
		struct read_opts o = { .facts = true };
		double begun = cpu_s();
		int r = reader_find(rd->reader)->read(path, model_sink(m), &o, NULL);

		model_finish(m);
		s = cpu_s() - begun;
		if (r != 0 || m->spans.nr < events || m->facts.programs.nr == 0 || m->warnings.nr) {
			fprintf(stderr, "bench_xplane: %s: %d, %zu spans: %s\n", rd->reader, r,
				m->spans.nr, m->warnings.nr ? m->warnings.v[0].text : "");
			_exit(1);
		}
		_exit(write(fd[1], &s, sizeof(s)) != sizeof(s));
	}
	if (wait4(pid, &status, 0, &use) != pid || status != 0 ||
	    read(fd[0], &s, sizeof(s)) != sizeof(s))
		exit(1);
	close(fd[0]);
	close(fd[1]);
	*ret_kb = use.ru_maxrss;
	return s;
}

static int by_value(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	static const struct reading readings[] = { { "xplane", 5, xplane_make },
						   { "nsys", 1, nsys_make } };
	uint64_t events = events_wanted();

	for (size_t i = 0; argc == 2 && i < sizeof(readings) / sizeof(*readings); i++) {
		const struct reading *rd = &readings[i];
		char path[] = "/tmp/profrig-bench-XXXXXX";
		double s[RUNS];
		struct stat st;
		long kb = 0;
		int fd = mkstemp(path);

		if (fd < 0 || close(fd) < 0)
			return 2;
		rd->make(argv[1], path, events);
		for (int k = 0; k < RUNS; k++)
			s[k] = read_s(rd, path, events, &kb);
		qsort(s, RUNS, sizeof(*s), by_value);
		stat(path, &st);
		unlink(path);
		printf("%s: %.1f bytes an event, %.2f M events/s with the finished model (aim "
		       "%.0f), %ld MB of memory for a file of %ld MB\n",
		       rd->reader, (double)st.st_size / (double)events,
		       (double)events / 1e6 / s[RUNS / 2], rd->aim, kb >> 10,
		       (long)(st.st_size >> 20));
	}
	return argc == 2 ? 0 : 2;
}
