/*
 * What reading a database costs, as a ratio to a loop that only steps over the same rows: a made
 * RPD file of ranges nested five deep, and one of calls with device work. BENCH_ROWS says how many
 * calls (1000000). Medians of seven, of CPU time (one thread); the file is in the page cache.
 *
 *	ranges	1 M rows of rocpd_api, nothing else: call stacks are a matter of model_finish
 *	trace	half as many launches, each with one op and one row that links them
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "profrig/fs.h"
#include "profrig/num.h"
#include "profrig/reader.h"
#include "profrig/xalloc.h"

#define RUNS 7
#define DEPTH 5

static const char schema[] =
	"CREATE TABLE rocpd_metadata(id integer PRIMARY KEY AUTOINCREMENT, tag text, value text);"
	"CREATE TABLE rocpd_string(id integer PRIMARY KEY AUTOINCREMENT, string text);"
	"CREATE TABLE rocpd_api(id integer PRIMARY KEY AUTOINCREMENT, pid integer, tid integer,"
	" start integer, end integer, apiName_id integer, args_id integer);"
	"CREATE TABLE rocpd_op(id integer PRIMARY KEY AUTOINCREMENT, gpuId integer, queueId"
	" integer, sequenceId integer, completionSignal text, start integer, end integer,"
	" description_id integer, opType_id integer);"
	"CREATE TABLE rocpd_api_ops(id integer PRIMARY KEY AUTOINCREMENT, api_id integer, op_id"
	" integer);"
	"INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '2');"
	"INSERT INTO rocpd_string(string) VALUES (''), ('KernelExecution'), ('hipLaunchKernel');";

static const char *const all_tables[] = { "rocpd_string", "rocpd_api_ops", "rocpd_api",
					  "rocpd_op" };

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_sqlite: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_sqlite: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	return st;
}

static void insert(sqlite3_stmt *st, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(st, i + 1, v[i]);
	sqlite3_step(st);
	sqlite3_reset(st);
}

#define EPOCH INT64_C(8306017478773569)

/* A call around two, each around two …; 31 calls of depth 5 in the end, and the next tree. */
static void make_ranges(sqlite3 *db, uint64_t rows)
{
	sqlite3_stmt *api = prepare(db, "INSERT INTO rocpd_api(pid, tid, start, end, apiName_id,"
					" args_id) VALUES (4711, ?, ?, ?, ?, 1)");
	uint64_t done = 0;

	for (uint64_t tree = 0; done < rows; tree++) {
		int64_t at = EPOCH + (int64_t)tree * 10000;

		for (int node = 1; node < 1 << DEPTH && done < rows; node++, done++) {
			int level = 31 - __builtin_clz((unsigned)node);
			int64_t len = 8192 >> level, k = node - (1 << level);

			insert(api,
			       (int64_t[]){ 4711 + (int64_t)(tree % 4), at + k * len + level,
					    at + (k + 1) * len - level, 4 + node % 20 },
			       4);
		}
	}
	sqlite3_finalize(api);
}

static void make_trace(sqlite3 *db, uint64_t rows)
{
	sqlite3_stmt *api = prepare(db, "INSERT INTO rocpd_api(pid, tid, start, end, apiName_id,"
					" args_id) VALUES (4711, 4711, ?, ?, 3, 1)");
	sqlite3_stmt *op = prepare(db, "INSERT INTO rocpd_op(gpuId, queueId, sequenceId,"
				       " completionSignal, start, end, description_id, opType_id)"
				       " VALUES (2, ?, 0, '', ?, ?, ?, 2)");
	sqlite3_stmt *link = prepare(db, "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (?, ?)");

	for (uint64_t i = 0; i < rows / 2; i++) {
		int64_t at = EPOCH + (int64_t)i * 5000, n = (int64_t)i + 1;

		insert(api, (int64_t[]){ at, at + 2000 }, 2);
		insert(op, (int64_t[]){ n % 3, at + 3000, at + 7000, 4 + n % 20 }, 4);
		insert(link, (int64_t[]){ n, n }, 2);
	}
	sqlite3_finalize(api);
	sqlite3_finalize(op);
	sqlite3_finalize(link);
}

static char *make_file(const char *dir, const char *name, uint64_t rows,
		       void (*make)(sqlite3 *, uint64_t))
{
	char *path = fs_join(dir, name);
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(1);
	run(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
	run(db, schema);
	for (int i = 0; i < 20; i++) {
		CLEANUP(xfreep)
		char *sql = xasprintf("INSERT INTO rocpd_string(string) VALUES ('name %d')", i);

		run(db, sql);
	}
	make(db, rows);
	run(db, "COMMIT");
	sqlite3_close(db);
	return path;
}

/* Of this process: other people's work on the machine does not count. */
static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* The loop that nobody can do without. fetch: it looks at every column, as integer. */
static double bare_s(const char *path, bool fetch, uint64_t *ret_rows)
{
	double t0 = cpu_s();
	volatile int64_t sum = 0;
	uint64_t rows = 0;
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		exit(1);
	for (size_t t = 0; t < ARRAY_LEN(all_tables); t++) {
		CLEANUP(xfreep) char *sql = xasprintf("SELECT * FROM %s", all_tables[t]);
		sqlite3_stmt *st = prepare(db, sql);
		int n = sqlite3_column_count(st);

		for (; sqlite3_step(st) == SQLITE_ROW; rows++)
			for (int i = 0; fetch && i < n; i++)
				sum += sqlite3_column_int64(st, i);
		sqlite3_finalize(st);
	}
	sqlite3_close(db);
	*ret_rows = rows;
	return cpu_s() - t0;
}

struct cost {
	double read_s, whole_s;
	uint64_t spans, links;
};

static struct cost ours(const char *path)
{
	static const struct read_opts o = { .keep_args = false };
	double t0 = cpu_s();
	struct model *m = model_new();
	struct err e = ERR_INIT;
	struct cost c = { .spans = 0 };

	if (reader_find("rpd")->read(path, model_sink(m), &o, &e) != 0) {
		fprintf(stderr, "bench_sqlite: %s\n", e.msg);
		exit(1);
	}
	c.read_s = cpu_s() - t0;
	model_finish(m);
	c.whole_s = cpu_s() - t0;
	c.spans = m->spans.nr;
	c.links = m->links.nr;
	model_free(m);
	return c;
}

static int by_value(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static double median(double *v)
{
	qsort(v, RUNS, sizeof(*v), by_value);
	return v[RUNS / 2];
}

static void measure(const char *what, const char *path)
{
	double bare[RUNS], fetch[RUNS], read[RUNS], whole[RUNS];
	uint64_t rows = 0;
	struct cost c = { .spans = 0 };
	struct rusage ru;

	for (int i = 0; i < RUNS; i++) {
		bare[i] = bare_s(path, false, &rows);
		fetch[i] = bare_s(path, true, &rows);
		c = ours(path);
		read[i] = c.read_s;
		whole[i] = c.whole_s;
	}
	getrusage(RUSAGE_SELF, &ru);
	printf("%-7s %" PRIu64 " rows, %.1f MB: stepping %.3f s, with columns %.3f s, read %.3f s "
	       "(%.2fx, %.2fx), with call stacks %.3f s (%.2fx); %" PRIu64 " spans, %" PRIu64
	       " links; %.2f M rows/s, peak %ld MB\n",
	       what, rows, (double)fs_size(path) / 1e6, median(bare), median(fetch), median(read),
	       median(read) / median(bare), median(read) / median(fetch), median(whole),
	       median(whole) / median(bare), c.spans, c.links, (double)rows / median(read) / 1e6,
	       ru.ru_maxrss / 1024);
}

int main(void)
{
	const char *said = getenv("BENCH_ROWS"), *tmp = getenv("TMPDIR");
	CLEANUP(xfreep) char *dir = fs_join(tmp && *tmp ? tmp : "/tmp", "profrig-bench-XXXXXX");
	uint64_t rows = 1000000;

	if (said && num_u64(said, strlen(said), &rows) < 0)
		return 2;
	if (!mkdtemp(dir))
		return 1;
	for (int i = 0; i < 2; i++) {
		CLEANUP(xfreep)
		char *path = make_file(dir, i ? "trace.rpd" : "ranges.rpd", rows,
				       i ? make_trace : make_ranges);

		measure(i ? "trace" : "ranges", path);
	}
	fs_remove_tree(dir, NULL);
	return 0;
}
