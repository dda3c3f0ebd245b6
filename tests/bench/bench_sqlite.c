/*
 * What reading a database costs, as a ratio to a loop that only steps over the same rows (aim: at
 * most 2.3). BENCH_ROWS says how many calls (1000000). Medians of seven, of CPU time (one thread);
 * the file is in the page cache.
 *
 *	ranges	RPD: rows of rocpd_api, nested five deep: call stacks are a matter of model_finish
 *	trace	RPD: half as many launches, each with one op and one row that links them
 *	nsys	Nsight Systems: as many launches and as many kernels, with all their columns
 *	rocpd	rocprofiler-sdk: as many regions and dispatches, and an event for each
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/readers/reader.h"

#define RUNS 7
#define DEPTH 5

static const char rpd_schema[] =
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

static const char nsys_schema[] =
	"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
	"INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel');"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER"
	" NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
	" correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName"
	" INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,"
	" registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,"
	" gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ"
	" INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT"
	" NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL);"
	"CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
	"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.5');";

#define SUFFIX "_01900000_0000_7000_8000_000000000001"
#define GUID "guid TEXT DEFAULT '01900000-0000-7000-8000-000000000001'"

static const char rocpd_schema[] =
	"CREATE TABLE rocpd_metadata" SUFFIX "(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
	"INSERT INTO rocpd_metadata" SUFFIX "(tag, value) VALUES ('schema_version', '3');"
	"CREATE TABLE rocpd_string" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", string TEXT);"
	"INSERT INTO rocpd_string" SUFFIX "(id, string) VALUES (1, 'HIP_RUNTIME_API_EXT'),"
	" (2, 'KERNEL_DISPATCH'), (3, 'hipLaunchKernel');"
	"CREATE TABLE rocpd_info_node" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", hostname TEXT);"
	"INSERT INTO rocpd_info_node" SUFFIX "(id, hostname) VALUES (1, 'node');"
	"CREATE TABLE rocpd_info_process" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid INTEGER,"
	" ppid INTEGER, pid INTEGER, command TEXT);"
	"INSERT INTO rocpd_info_process" SUFFIX "(id, nid, ppid, pid) VALUES (1, 1, 1, 4711);"
	"CREATE TABLE rocpd_info_thread" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid INTEGER,"
	" ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT);"
	"INSERT INTO rocpd_info_thread" SUFFIX
	"(id, nid, ppid, pid, tid) VALUES (1, 1, 1, 1, 4711);"
	"CREATE TABLE rocpd_info_agent" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid INTEGER,"
	" pid INTEGER, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index"
	" INTEGER, name TEXT);"
	"INSERT INTO rocpd_info_agent" SUFFIX "(id, nid, pid, type, absolute_index, logical_index,"
	" type_index, name) VALUES (1, 1, 1, 'GPU', 1, 1, 0, 'gfx942');"
	"CREATE TABLE rocpd_info_queue" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid INTEGER,"
	" pid INTEGER, name TEXT);"
	"CREATE TABLE rocpd_info_kernel_symbol" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid"
	" INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT);"
	"CREATE TABLE rocpd_event" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", category_id INTEGER,"
	" stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, call_stack TEXT,"
	" line_info TEXT, extdata TEXT DEFAULT '{}');"
	"CREATE TABLE rocpd_region" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid INTEGER, pid"
	" INTEGER, tid INTEGER, start INTEGER, end INTEGER, name_id INTEGER, event_id INTEGER,"
	" extdata TEXT DEFAULT '{}');"
	"CREATE TABLE rocpd_kernel_dispatch" SUFFIX "(id INTEGER PRIMARY KEY, " GUID ", nid"
	" INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id"
	" INTEGER, queue_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER,"
	" private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER,"
	" workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y"
	" INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, extdata TEXT"
	" DEFAULT '{}');";

static void sql_run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_sqlite: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
}

static sqlite3_stmt *statement_prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) {
		fprintf(stderr, "bench_sqlite: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
	return st;
}

static void rows_insert(sqlite3_stmt *st, const int64_t *v, int n)
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
	sqlite3_stmt *api =
		statement_prepare(db, "INSERT INTO rocpd_api(pid, tid, start, end, apiName_id,"
				      " args_id) VALUES (4711, ?, ?, ?, ?, 1)");
	uint64_t done = 0;

	for (uint64_t tree = 0; done < rows; tree++) {
		int64_t at = EPOCH + (int64_t)tree * 10000;

		for (int node = 1; node < 1 << DEPTH && done < rows; node++, done++) {
			int level = 31 - __builtin_clz((unsigned)node);
			int64_t len = 8192 >> level, k = node - (1 << level);

			rows_insert(api,
				    (int64_t[]){ 4711 + (int64_t)(tree % 4), at + k * len + level,
						 at + (k + 1) * len - level, 4 + node % 20 },
				    4);
		}
	}
	sqlite3_finalize(api);
}

static void make_trace(sqlite3 *db, uint64_t rows)
{
	sqlite3_stmt *api =
		statement_prepare(db, "INSERT INTO rocpd_api(pid, tid, start, end, apiName_id,"
				      " args_id) VALUES (4711, 4711, ?, ?, 3, 1)");
	sqlite3_stmt *op =
		statement_prepare(db, "INSERT INTO rocpd_op(gpuId, queueId, sequenceId,"
				      " completionSignal, start, end, description_id, opType_id)"
				      " VALUES (2, ?, 0, '', ?, ?, ?, 2)");
	sqlite3_stmt *link =
		statement_prepare(db, "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (?, ?)");

	for (uint64_t i = 0; i < rows / 2; i++) {
		int64_t at = EPOCH + (int64_t)i * 5000, n = (int64_t)i + 1;

		rows_insert(api, (int64_t[]){ at, at + 2000 }, 2);
		rows_insert(op, (int64_t[]){ n % 3, at + 3000, at + 7000, 4 + n % 20 }, 4);
		rows_insert(link, (int64_t[]){ n, n }, 2);
	}
	sqlite3_finalize(api);
	sqlite3_finalize(op);
	sqlite3_finalize(link);
}

static void make_nsys(sqlite3 *db, uint64_t rows)
{
	static const int64_t pid = (INT64_C(1) << 48) + (INT64_C(4711) << 24);
	sqlite3_stmt *call =
		statement_prepare(db, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0,"
				      " ?, ?, 1, 0, NULL)");
	sqlite3_stmt *kernel = statement_prepare(
		db,
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?, ?, 1, 0,"
		" 32, 1024, 1, 1, 256, 1, 1, 0, 1024, 0, 145752064)");

	for (uint64_t i = 0; i < rows; i++) {
		int64_t at = 1000000000 + (int64_t)i * 5000, n = (int64_t)i + 1, name = 4 + n % 20;

		rows_insert(call, (int64_t[]){ at, at + 2000, pid + 4711 + n % 3, n }, 4);
		rows_insert(
			kernel,
			(int64_t[]){ at + 3000, at + 7000, 7 + n % 3, n, pid, name, name, name },
			8);
	}
	sqlite3_finalize(call);
	sqlite3_finalize(kernel);
}

static void make_rocpd(sqlite3 *db, uint64_t rows)
{
	sqlite3_stmt *event =
		statement_prepare(db, "INSERT INTO rocpd_event" SUFFIX "(id, category_id,"
				      " stack_id, parent_stack_id, correlation_id) VALUES (?, ?,"
				      " ?, ?, 0)");
	sqlite3_stmt *region =
		statement_prepare(db, "INSERT INTO rocpd_region" SUFFIX "(id, nid, pid, tid,"
				      " start, end, name_id, event_id) VALUES (?, 1, 1, 1, ?, ?,"
				      " 3, ?)");
	sqlite3_stmt *kernel = statement_prepare(
		db,
		"INSERT INTO rocpd_kernel_dispatch" SUFFIX
		"(id, nid, pid, tid, agent_id, kernel_id,"
		" dispatch_id, queue_id, stream_id, start, end, private_segment_size,"
		" group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z,"
		" grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id) VALUES (?, 1, 1,"
		" 1, 1, ?, ?, 1, ?, ?, ?, 0, 1024, 256, 1, 1, 262144, 1, 1, NULL, ?)");

	for (int64_t i = 4; i < 24; i++) {
		CLEANUP(xfreep)
		char *sql = xasprintf("INSERT INTO rocpd_info_kernel_symbol" SUFFIX
				      "(id, nid, pid, kernel_name, display_name) VALUES (%d, 1, 1,"
				      " 'kernel %d', 'kernel %d')",
				      (int)i, (int)i, (int)i);

		sql_run(db, sql);
	}
	for (uint64_t i = 0; i < rows; i++) {
		int64_t at = EPOCH + (int64_t)i * 5000, n = (int64_t)i + 1;

		rows_insert(event, (int64_t[]){ 2 * n, 1, n, n }, 4);
		rows_insert(event, (int64_t[]){ 2 * n + 1, 2, n, n }, 4);
		rows_insert(region, (int64_t[]){ n, at, at + 2000, 2 * n }, 4);
		rows_insert(
			kernel,
			(int64_t[]){ n, 4 + n % 20, n, 1 + n % 3, at + 3000, at + 7000, 2 * n + 1 },
			7);
	}
	sqlite3_finalize(event);
	sqlite3_finalize(region);
	sqlite3_finalize(kernel);
}

/* A file that is read. strings: the table that has names 4 to 23, and their columns. */
static const struct made {
	const char *what, *reader, *schema, *strings;
	void (*make)(sqlite3 *, uint64_t);
} files[] = {
	{ "ranges", "rpd", rpd_schema, "rocpd_string(id, string)", make_ranges },
	{ "trace", "rpd", rpd_schema, "rocpd_string(id, string)", make_trace },
	{ "nsys", "nsys", nsys_schema, "StringIds(id, value)", make_nsys },
	{ "rocpd", "rocpd", rocpd_schema, "rocpd_string" SUFFIX "(id, string)", make_rocpd },
};

static char *make_file(const char *dir, const struct made *m, uint64_t rows)
{
	char *path = fs_join(dir, m->what);
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(1);
	sql_run(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
	sql_run(db, m->schema);
	for (int i = 4; i < 24; i++) {
		CLEANUP(xfreep)
		char *sql = xasprintf("INSERT INTO %s VALUES (%d, 'name %d')", m->strings, i, i);

		sql_run(db, sql);
	}
	m->make(db, rows);
	sql_run(db, "COMMIT");
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

/* The loop that every reader needs. fetch: it looks at every column, as integer. */
static double bare_s(const char *path, bool fetch, uint64_t *ret_rows)
{
	double t0 = cpu_s();
	volatile int64_t sum = 0;
	uint64_t rows = 0;
	sqlite3_stmt *names;
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		exit(1);
	names = statement_prepare(
		db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE"
		    " 'sqlite%'");
	while (sqlite3_step(names) == SQLITE_ROW) {
		CLEANUP(xfreep)
		char *sql = xasprintf("SELECT * FROM \"%s\"",
				      (const char *)sqlite3_column_text(names, 0));
		sqlite3_stmt *st = statement_prepare(db, sql);
		int n = sqlite3_column_count(st);

		for (; sqlite3_step(st) == SQLITE_ROW; rows++)
			for (int i = 0; fetch && i < n; i++)
				sum += sqlite3_column_int64(st, i);
		sqlite3_finalize(st);
	}
	sqlite3_finalize(names);
	sqlite3_close(db);
	*ret_rows = rows;
	return cpu_s() - t0;
}

struct cost {
	double read_s, whole_s;
	uint64_t spans, links;
};

static struct cost ours(const char *reader, const char *path)
{
	static const struct read_opts o = { .keep_args = false };
	double t0 = cpu_s();
	struct model *m = model_new();
	struct err e = ERR_INIT;
	struct cost c = { .spans = 0 };

	if (reader_find(reader)->read(path, model_sink(m), &o, &e) != 0) {
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

static void reader_measure(const struct made *m, const char *path)
{
	double bare[RUNS], fetch[RUNS], read[RUNS], whole[RUNS];
	uint64_t rows = 0;
	struct cost c = { .spans = 0 };
	struct rusage ru;

	for (int i = 0; i < RUNS; i++) {
		bare[i] = bare_s(path, false, &rows);
		fetch[i] = bare_s(path, true, &rows);
		c = ours(m->reader, path);
		read[i] = c.read_s;
		whole[i] = c.whole_s;
	}
	getrusage(RUSAGE_SELF, &ru);
	printf("%-7s %" PRIu64 " rows, %.1f MB: stepping %.3f s, with columns %.3f s, read %.3f s "
	       "(%.2fx, %.2fx), with call stacks %.3f s (%.2fx); %" PRIu64 " spans, %" PRIu64
	       " links; %.2f M rows/s, peak %ld MB\n",
	       m->what, rows, (double)fs_size(path) / 1e6, median(bare), median(fetch),
	       median(read), median(read) / median(bare), median(read) / median(fetch),
	       median(whole), median(whole) / median(bare), c.spans, c.links,
	       (double)rows / median(read) / 1e6, ru.ru_maxrss / 1024);
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
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		CLEANUP(xfreep) char *path = make_file(dir, &files[i], rows);

		reader_measure(&files[i], path);
		unlink(path);
	}
	fs_remove_tree(dir, NULL);
	return 0;
}
