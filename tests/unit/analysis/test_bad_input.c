/*
 * Every reader against the same attacks on a small valid file of its format (bad_input.h): cut at
 * any byte, bytes changed, parts there twice or missing, absurd values, names that are no text or
 * very long, nesting without end, tables and columns that are not there. Whatever the input, a read
 * ends soon with a result of its class and words about it, takes memory in proportion to the input,
 * and leaves the file and its folder as they were.
 *
 * What a reader makes of single odd rows is in its own test; libotf2's formats are gone through
 * byte by byte in test_otf2_bytes.c.
 *
 *	PROFRIG_LONG_STRING=BYTES	how long a long name is, 64 MiB unless said
 */
#include "../../fixtures/gen/otf2_gen.c"
#include "bad_input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "profrig/strvec.h"

/* libotf2 forgets memory when a file is damaged. */
/* NOLINTBEGIN(bugprone-reserved-identifier): what the sanitizer asks for */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}
/* NOLINTEND(bugprone-reserved-identifier) */

#define PATIENCE_S 120 /* for all attacks of one kind on one format */
#define MOST_CUTS 1500
#define MUTATIONS 600

struct target {
	const struct format *f;
	char *dir, *file, *open;
	char *sound;
	size_t n;
	size_t row;
	const char *attack;
	uint64_t reads, whole, partial, refused;
};

/* --- making it --- */

/* The text with something in the places of its marks. */
static char *filled(const struct format *f, const char *t, const char *end, const char *name)
{
	struct strbuf out = STRBUF_INIT;

	for (const char *p = f->text; *p; p++) {
		if (*p == '\1')
			strbuf_addstr(&out, t);
		else if (*p == '\2')
			strbuf_addstr(&out, end);
		else if (*p == '\3')
			strbuf_addstr(&out, name);
		else
			strbuf_addch(&out, *p);
	}
	return strbuf_steal(&out);
}

static void target_write(const struct target *t, const void *data, size_t n)
{
	int fd;

	/* a new file: some file systems flush one that is overwritten */
	unlink(t->file);
	fd = open(t->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	for (size_t at = 0; at < n;) {
		ssize_t k = write(fd, (const char *)data + at, n - at);

		assert_true(k > 0);
		at += (size_t)k;
	}
	close(fd);
}

static void target_open(struct target *t, size_t row)
{
	const struct format *f = &formats[row];

	*t = (struct target){ .f = f, .row = row, .dir = test_dir() };
	t->file = fs_join(t->dir, f->file);
	t->open = fs_join(t->dir, f->open ? f->open : f->file);
	if (f->text) {
		CLEANUP(xfreep) char *text = filled(f, f->time, f->end, "name");

		target_write(t, text, strlen(text));
	} else if (f->sql) {
		free(db_make(t->dir, f->file, f->sql));
	} else {
		f->make(t->dir);
	}
	assert_true(fs_read(t->file, 1 << 24, &t->sound, &t->n, NULL) >= 0);
}

static void target_close(struct target *t)
{
	test_dir_done(&t->dir);
	free(t->file);
	free(t->open);
	free(t->sound);
}

/* --- reading it --- */

struct scene {
	struct stat st;
	size_t files;
};

static struct scene scene_of(const struct target *t)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	struct scene s;

	assert_int_equal(stat(t->file, &s.st), 0);
	assert_true(fs_glob(t->dir, "**", &files, NULL) >= 0);
	s.files = files.nr;
	return s;
}

static bool is_untouched(const struct scene *a, const struct scene *b)
{
	return a->files == b->files && a->st.st_size == b->st.st_size &&
	       a->st.st_ino == b->st.st_ino && a->st.st_mtim.tv_sec == b->st.st_mtim.tv_sec &&
	       a->st.st_mtim.tv_nsec == b->st.st_mtim.tv_nsec &&
	       a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
	       a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}

static const char *wrong_with(const struct model *m)
{
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (m->spans.end_ns[i] < m->spans.start_ns[i])
			return "a span ends before it starts";
		if (m->spans.start_ns[i] < TIME_MIN || m->spans.end_ns[i] > TIME_MAX)
			return "a time is out of range";
		if (m->spans.track[i] >= m->tracks.nr)
			return "a span is on no track";
	}
	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.from[i] >= m->spans.nr || m->links.to[i] >= m->spans.nr)
			return "a link joins no spans";
	return NULL;
}

static const char *error_of(const struct model *m)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (m->warnings.v[i].severity == SEV_ERROR && m->warnings.v[i].text[0])
			return m->warnings.v[i].text;
	return NULL;
}

/* A refusal names the file, and where in it, or what of it is missing. */
static bool is_placed(const struct target *t, const char *msg)
{
	static const char *const places[] = { "byte",   "offset", "line",   "table", "empty",
					      "column", "page",   "header", "file",  "database" };

	if (!strstr(msg, t->dir))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (strstr(strstr(msg, t->dir) + strlen(t->dir), places[i]))
			return true;
	return t->f->make != NULL; /* libotf2 does not tell */
}

#define BAD(t, at, ...) \
	do { \
		print_error("%s, %s, %s, case %zu: ", (t)->f->reader, (t)->f->about, (t)->attack, \
			    (size_t)(at)); \
		ROW_FAIL((t)->row, __VA_ARGS__); \
	} while (0)

/* Reads what lies there. Returns whether something is said against it. */
static bool attack(struct target *t, size_t at)
{
	struct scene before = scene_of(t), after;
	struct reading rd = read_path(t->f->reader, t->open, at % 2);
	const char *wrong = wrong_with(rd.m);
	bool told = rd.r != 0 || rd.m->warnings.nr > 0;

	after = scene_of(t);
	t->reads++;
	t->whole += rd.r == 0;
	t->partial += rd.r == READ_PARTIAL;
	t->refused += rd.r < 0;
	if (rd.r > READ_PARTIAL)
		BAD(t, at, "result %d", rd.r);
	if (rd.r < 0 && !is_placed(t, rd.err.msg))
		BAD(t, at, "'%s' has no file or no place", rd.err.msg);
	if (rd.r == READ_PARTIAL && (!error_of(rd.m) || !rd.m->inputs.v[0].partial))
		BAD(t, at, "partial without a reason");
	if (rd.r == 0 && error_of(rd.m))
		BAD(t, at, "whole, and yet: %s", error_of(rd.m));
	if (wrong)
		BAD(t, at, "%s", wrong);
	if (!is_untouched(&before, &after))
		BAD(t, at, "the file or its folder was changed");
	reading_release(&rd);
	return told;
}

static bool attack_with(struct target *t, size_t at, const void *data, size_t n)
{
	target_write(t, data, n);
	return attack(t, at);
}

static void each_format(const char *name, void (*fn)(struct target *t))
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct target t;

		target_open(&t, i);
		t.attack = name;
		alarm(PATIENCE_S);
		fn(&t);
		alarm(0);
		print_message("%-9s %-11s %-13s %6" PRIu64 " reads, %" PRIu64 " whole, %" PRIu64
			      " partial, %" PRIu64 " refused\n",
			      name, t.f->reader, t.f->about, t.reads, t.whole, t.partial,
			      t.refused);
		target_close(&t);
	}
}

/* --- the attacks --- */

static void sound(struct target *t)
{
	struct reading rd = read_path(t->f->reader, t->open, true);

	if (rd.r != 0 || rd.m->spans.nr + rd.m->series.nr == 0)
		BAD(t, 0, "the valid file: %d %s", rd.r, rd.err.msg);
	for (size_t i = 0; i < rd.m->warnings.nr; i++)
		if (rd.m->warnings.v[i].severity != SEV_NOTE)
			BAD(t, 0, "the valid file: %s", rd.m->warnings.v[i].text);
	reading_release(&rd);
	assert_true(!attack(t, 0) || t->whole == 1);
}

static void valid(void **state)
{
	(void)state;
	each_format("valid", sound);
}

/* What ends early is never taken for whole, but for formats that are written by appending. */
static void cuts(struct target *t)
{
	bool appended = !t->f->json && t->f->text;
	size_t step = 1 + t->n / MOST_CUTS;

	for (size_t n = 0; n + 2 < t->n; n += step)
		if (!attack_with(t, n, t->sound, n) && !appended)
			BAD(t, n, "nothing is said of the cut");
}

static void cut_everywhere(void **state)
{
	(void)state;
	each_format("cut", cuts);
}

static void mutate(struct target *t)
{
	uint64_t seed = 0x9e3779b97f4a7c15 + t->row;

	for (size_t i = 0; i < MUTATIONS; i++) {
		CLEANUP(xfreep) char *bad = xmalloc(2 * t->n + 64);
		size_t n = t->n, from = rnd(&seed) % n, len = rnd(&seed) % 40 % (n - from) + 1;

		memcpy(bad, t->sound, n);
		switch (rnd(&seed) % 5) {
		case 0: /* bytes of any value */
			for (uint64_t k = rnd(&seed) % 6 + 1; k > 0; k--)
				bad[rnd(&seed) % n] = (char)rnd(&seed);
			break;
		case 1: /* a bit */
			bad[from] = (char)(bad[from] ^ 1 << rnd(&seed) % 8);
			break;
		case 2: /* a part is there twice */
			memmove(bad + from + len, bad + from, n - from);
			n += len;
			break;
		case 3: /* a part is missing */
			memmove(bad + from, bad + from + len, n - from - len);
			n -= len;
			break;
		default: /* a hole */
			memset(bad + from, rnd(&seed) % 2 ? 0 : 0xff, len);
			break;
		}
		attack_with(t, i, bad, n);
	}
}

static void mutations(void **state)
{
	(void)state;
	each_format("mutated", mutate);
}

/* What can be no number is told, what is too large for a time where one is wanted. */
enum absurdity { ODD, TOO_LARGE, NO_NUMBER };

static const struct {
	const char *text;
	enum absurdity absurd;
} values[] = {
	{ "0", ODD },
	{ "-1", ODD },
	{ "-0.0", ODD },
	{ "9223372036854775807", ODD },
	{ "-9223372036854775808", ODD },
	{ "1e-400", ODD },
	{ "18446744073709551616", TOO_LARGE },
	{ "99999999999999999999999999999999999999999999999999", TOO_LARGE },
	{ "1e400", NO_NUMBER },
	{ "-1e400", NO_NUMBER },
	{ "1e999999999999999999999", NO_NUMBER },
	{ "NaN", NO_NUMBER },
	{ "-Infinity", NO_NUMBER },
	{ "0x10", NO_NUMBER },
	{ "1_000", NO_NUMBER },
	{ "12:30", NO_NUMBER },
	{ "\xd9\xa1\xd9\xa2", NO_NUMBER }, /* digits of another script */
	{ "\xff\xfe", NO_NUMBER },
	{ "..", NO_NUMBER },
	{ "+-1", NO_NUMBER },
};

static void absurd_text(struct target *t)
{
	for (size_t i = 0; i < ARRAY_LEN(values) * 2; i++) {
		const char *v = values[i / 2].text;
		CLEANUP(xfreep)
		char *text = i % 2 ? filled(t->f, t->f->time, v, "name")
				   : filled(t->f, v, t->f->end, "name");

		bool tell = values[i / 2].absurd == NO_NUMBER ||
			    (values[i / 2].absurd == TOO_LARGE && !(i % 2 && t->f->end_is_value));

		if (!attack_with(t, i, text, strlen(text)) && tell)
			BAD(t, i, "nothing is said of '%s'", v);
	}
}

static bool is_no_time(const char *value, const char *column)
{
	static const char *const none[] = { "1e300", "9e999", "'x'", "x'00ff80'" };

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (strcmp(value, none[i]) == 0)
			return strcmp(column, "value") != 0;
	return false;
}

static void absurd_rows(struct target *t)
{
	static const char *const rows[] = { "0",
					    "-1",
					    "9223372036854775807",
					    "-9223372036854775808",
					    "1e300",
					    "-1e300",
					    "9e999",
					    "0.5",
					    "'x'",
					    "''",
					    "NULL",
					    "x'00ff80'",
					    "zeroblob(100000)" };

	for (size_t c = 0; c < ARRAY_LEN(t->f->columns) && t->f->columns[c]; c++) {
		const char *dot = strchr(t->f->columns[c], '.');

		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			sqlite3 *db;
			CLEANUP(xfreep)
			char *sql = xasprintf("UPDATE \"%.*s\" SET \"%s\" = %s",
					      (int)(dot - t->f->columns[c]), t->f->columns[c],
					      dot + 1, rows[i]);

			target_write(t, t->sound, t->n);
			assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
			db_exec(db, sql);
			sqlite3_close(db);
			if (!attack(t, c * 100 + i) && is_no_time(rows[i], dot + 1))
				BAD(t, c * 100 + i, "nothing is said of: %s", sql);
		}
	}
}

static void absurd(struct target *t)
{
	if (t->f->text)
		absurd_text(t);
	else if (t->f->sql)
		absurd_rows(t);
}

static void absurd_values(void **state)
{
	(void)state;
	each_format("absurd", absurd);
}

/* Names that are no UTF-8, hold what a terminal obeys, or end in the middle of a character. */
static void name(struct target *t)
{
	static const char *const names[] = {
		"\xff\xfe\xfd",
		"a\x80z",
		"\xc3",
		"\xe2\x82",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xc0\xaf",
		"\x1b[31m",
		"\x7f\x08",
		"",
		" ",
		"\xef\xbf\xbd",
		"\xf0\x9f\x8e\x89",
		"a\rb",
		"%s%n",
	};

	for (size_t i = 0; t->f->text && i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *text = filled(t->f, t->f->time, t->f->end, names[i]);

		attack_with(t, i, text, strlen(text));
	}
}

static void names(void **state)
{
	(void)state;
	each_format("names", name);
}

/* --- tables and columns --- */

typedef void schema_fn(struct target *t, size_t at, const char *table, const char *column);

static void schema_change(struct target *t, size_t at, const char *sql)
{
	sqlite3 *db;
	int r;

	target_write(t, t->sound, t->n);
	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	if (r == SQLITE_OK) /* keys cannot be dropped */
		attack(t, at);
}

static void without_column(struct target *t, size_t at, const char *table, const char *column)
{
	CLEANUP(xfreep)
	char *drop = xasprintf("ALTER TABLE \"%s\" DROP COLUMN \"%s\"", table, column);
	CLEANUP(xfreep)
	char *other = xasprintf("ALTER TABLE \"%s\" RENAME COLUMN \"%s\" TO x", table, column);

	schema_change(t, at, drop);
	schema_change(t, at + 1, other);
}

static void without_table(struct target *t, size_t at, const char *table)
{
	CLEANUP(xfreep) char *drop = xasprintf("DROP TABLE \"%s\"", table);
	CLEANUP(xfreep) char *empty = xasprintf("DELETE FROM \"%s\"", table);
	CLEANUP(xfreep)
	char *view = xasprintf("ALTER TABLE \"%s\" RENAME TO was; CREATE VIEW \"%s\" AS SELECT * "
			       "FROM was; INSERT INTO was SELECT * FROM was LIMIT 0",
			       table, table);

	schema_change(t, at, drop);
	schema_change(t, at + 1, empty);
	schema_change(t, at + 2, view);
}

static void schema(struct target *t)
{
	CLEANUP(strvec_release) struct strvec tables = STRVEC_INIT, columns = STRVEC_INIT;
	static const char all[] = "SELECT t.name, c.name FROM sqlite_master t, "
				  "pragma_table_info(t.name) c WHERE t.type = 'table'";
	sqlite3_stmt *q;
	sqlite3 *db;

	if (!t->f->sql)
		return;
	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, all, -1, &q, NULL), SQLITE_OK);
	while (sqlite3_step(q) == SQLITE_ROW) {
		strvec_push(&tables, (const char *)sqlite3_column_text(q, 0));
		strvec_push(&columns, (const char *)sqlite3_column_text(q, 1));
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	for (size_t i = 0; i < tables.nr; i++) {
		if (i == 0 || strcmp(tables.v[i], tables.v[i - 1]) != 0)
			without_table(t, i * 10, tables.v[i]);
		without_column(t, i * 10 + 3, tables.v[i], columns.v[i]);
	}
	assert_true(t->reads > tables.nr);
}

/* The nth field of each line of a text that has no quoted commas, left out. */
static char *without_field(const char *text, size_t nth)
{
	struct strbuf out = STRBUF_INIT;
	size_t field = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '\n')
			field = 0;
		if (*p == ',' && ++field == (nth ? nth : 1))
			continue;
		if (field != nth || *p == '\n' || *text == '#')
			strbuf_addch(&out, *p);
	}
	return strbuf_steal(&out);
}

static void fields(struct target *t)
{
	size_t n = strlen(t->f->file);

	if (!t->f->text || strcmp(t->f->file + n - 4, ".csv") != 0)
		return;
	for (size_t i = 0; i < 12; i++) {
		CLEANUP(xfreep) char *text = without_field(t->sound, i);

		attack_with(t, i, text, strlen(text));
	}
}

static void missing_tables_and_columns(void **state)
{
	(void)state;
	each_format("schema", schema);
	each_format("columns", fields);
}

/* --- what says that it is of another time, and numbers that are there twice --- */

#define KERNEL_OF(id) \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":9,\"dur\":1," \
	"\"args\":{\"stream\":7,\"correlation\":" id "}}"
#define CALL_OF(id) \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"pid\":9,\"tid\":9,\"ts\":5," \
	"\"dur\":1,\"args\":{\"correlation\":" id "}}"
#define V3_OF(lists) \
	"{\"rocprofiler-sdk-tool\":[{\"strings\":{\"buffer_records\":[{\"kind\":\"A\"," \
	"\"operations\":[\"f\"]}]}," lists "}]}"

static void other_versions_and_equal_ids(void **state)
{
	const struct {
		const char *reader, *text;
		const char *const *sql;
		const char *code; /* NULL: nothing is said */
		int r;
		size_t spans, links;
	} cases[] = {
		{ "nsys", NULL,
		  SQL(NSYS_SMALL "CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO "
				 "META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '99.0.0');"),
		  W_UNKNOWN_VERSION, 0, 4, 2 },
		{ "rpd", NULL,
		  SQL(RPD_2 RPD_ROWS "UPDATE rocpd_metadata SET value = '99' WHERE tag = "
				     "'schema_version'"),
		  W_UNKNOWN_VERSION, 0, 4, 2 },
		{ "rocpd", NULL,
		  SQL(ROCPD(U1) "UPDATE \"rocpd_metadata" U1 "\" SET value = '99' WHERE tag = "
				"'schema_version'"),
		  W_UNKNOWN_VERSION, 0, 5, 1 },
		{ "samples",
		  "# profrig samples: 99\n# clock: CLOCK_MONOTONIC\nt_ns,power.gpu0[W]\n1000,5\n",
		  NULL, W_UNKNOWN_VERSION, 0, 0, 0 },
		/* a number that two have is the first one's */
		{ "tef",
		  "{\"schemaVersion\":99,\"deviceProperties\":[],\"traceEvents\":[" CALL_OF(
			  "3") "," CALL_OF("3") "," KERNEL_OF("3") "," KERNEL_OF("3") "]}",
		  NULL, NULL, 0, 4, 2 },
		{ "tef",
		  V3_OF("\"kernel_symbols\":[{\"kernel_id\":1,\"kernel_name\":\"a\"},{"
			"\"kernel_id\":1,\"kernel_name\":\"b\"}],\"buffer_records\":{"
			"\"kernel_dispatch\":[{\"start_timestamp\":5,\"end_timestamp\":6,"
			"\"dispatch_info\":{\"kernel_id\":1}}]}"),
		  NULL, W_BAD_EVENT, 0, 1, 0 },
		{ "nsys", NULL,
		  SQL(NSYS_KERNEL
		      "CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO "
		      "StringIds VALUES (1, 'k'), (1, 'other');"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3, 4, 0, 1, 7, 1, " PID(
			      10) ", 1, 1, NULL);"),
		  W_BAD_EVENT, 0, 1, 0 },
		{ "rocprof_db", NULL,
		  SQL(ROCPROF_DB "INSERT INTO HIP VALUES (100, 200, 7, 8, 'hipLaunchKernel', '', 5,"
				 " '', 2, 8);"),
		  W_IGNORED_RECORD, 0, 4, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading rd = cases[i].sql ? read_sql(cases[i].reader, true, cases[i].sql)
						 : read_text(cases[i].reader, cases[i].text);

		if (rd.r != cases[i].r || rd.m->spans.nr != cases[i].spans ||
		    rd.m->links.nr != cases[i].links)
			ROW_FAIL(i, "%d %s, %zu spans, %zu links", rd.r, rd.err.msg, rd.m->spans.nr,
				 rd.m->links.nr);
		if (cases[i].code && warned(rd.m, cases[i].code) != 1)
			ROW_FAIL(i, "no %s", cases[i].code);
		for (size_t k = 0; !cases[i].code && k < rd.m->warnings.nr; k++)
			if (strcmp(rd.m->warnings.v[k].code, W_UNLINKED_WORK) != 0)
				ROW_FAIL(i, "%s: %s", rd.m->warnings.v[k].code,
					 rd.m->warnings.v[k].text);
		reading_release(&rd);
	}
}

/* --- what is large: in a process of its own, whose memory is told --- */

#define ABOVE_TWICE ((size_t)64 << 20)

/* Reads the file that lies there. Returns what is wrong with it, or NULL. */
static const char *read_apart(struct target *t, size_t *ret_rss)
{
	struct rusage ru;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct read_opts o = { .keep_args = true };
		struct model *m = model_new();
		struct err err = ERR_INIT;
		int r;

		alarm(PATIENCE_S);
		r = reader_find(t->f->reader)->read(t->open, model_sink(m), &o, &err);
		model_finish(m);
		if (r > READ_PARTIAL || (r == READ_PARTIAL && !error_of(m)))
			_exit(1);
		if (r < 0 && !is_placed(t, err.msg))
			_exit(2);
		_exit(0);
	}
	assert_int_equal(wait4(pid, &status, 0, &ru), pid);
	*ret_rss = (size_t)ru.ru_maxrss << 10;
	t->reads++;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? "it does not end" : "it crashed";
	return WEXITSTATUS(status) == 1   ? "partial without a reason"
	       : WEXITSTATUS(status) == 2 ? "refused without a place"
					  : NULL;
}

static void attack_apart(struct target *t, size_t at)
{
	struct scene before = scene_of(t), after;
	size_t rss, n = (size_t)before.st.st_size;
	const char *wrong = read_apart(t, &rss);

	after = scene_of(t);
	if (wrong)
		BAD(t, at, "%s", wrong);
	if (!is_untouched(&before, &after))
		BAD(t, at, "the file or its folder was changed");
#ifndef __SANITIZE_ADDRESS__
	if (rss > 2 * n + ABOVE_TWICE)
		BAD(t, at, "%zu MiB of memory for a file of %zu MiB", rss >> 20, n >> 20);
#endif
	print_message("  %s %s: %zu MiB of memory for %zu MiB\n", t->f->reader, t->f->about,
		      rss >> 20, n >> 20);
}

static size_t long_bytes(void)
{
	const char *said = getenv("PROFRIG_LONG_STRING");
	uint64_t n = UINT64_C(64) << 20;

	if (said)
		assert_int_equal(num_u64(said, strlen(said), &n), 0);
	return n;
}

/* The texts of a database, wherever they stand. */
static void put_long_cell(struct target *t)
{
	static const char *const texts[] = {
		"UPDATE rocpd_string SET string = printf('%.*c', ?1, 'x') WHERE id = 7",
		"UPDATE OPS SET Name = printf('%.*c', ?1, 'x') WHERE \"Index\" = 6",
		"UPDATE StringIds SET value = printf('%.*c', ?1, 'x') WHERE id = 3",
		"UPDATE \"rocpd_string" U1 "\" SET string = printf('%.*c', ?1, 'x') WHERE id = 3",
	};
	size_t n = long_bytes(), done = 0;
	sqlite3 *db;

	if (n > (size_t)900 << 20)
		n = (size_t)900 << 20; /* what SQLite itself allows */
	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	db_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		sqlite3_stmt *q;

		if (sqlite3_prepare_v2(db, texts[i], -1, &q, NULL) != SQLITE_OK)
			continue;
		sqlite3_bind_int64(q, 1, (int64_t)n);
		assert_int_equal(sqlite3_step(q), SQLITE_DONE);
		sqlite3_finalize(q);
		done++;
	}
	sqlite3_close(db);
	assert_int_equal(done, 1);
}

static void put_long_name(struct target *t)
{
	size_t n = long_bytes();
	CLEANUP(xfreep) char *name = xmalloc(n + 1), *text = NULL;

	memset(name, 'x', n);
	name[n] = '\0';
	text = filled(t->f, t->f->time, t->f->end, name);
	target_write(t, text, strlen(text));
}

/* The file is made in a process of its own too: what that leaves in memory is nobody's. */
static void long_name(struct target *t)
{
	int status;
	pid_t pid;

	if (t->f->make)
		return; /* a string does not fit into a chunk of an archive */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (t->f->sql)
			put_long_cell(t);
		else
			put_long_name(t);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	attack_apart(t, 0);
}

static void long_names(void **state)
{
	(void)state;
	each_format("long", long_name);
}

/* 10^6 brackets in place of a name, a time, the arguments. */
static void nest(struct target *t)
{
	static const size_t deep = 1000000;
	static const char *const opens[] = { "[", "{\"a\":", "[{\"a\":" };

	if (!t->f->json)
		return;
	for (size_t i = 0; i < ARRAY_LEN(opens) * 3; i++) {
		CLEANUP(strbuf_release) struct strbuf brackets = STRBUF_INIT;
		const char *one = opens[i % 3];
		bool closed = i / 3 == 1, inside = i / 3 == 2;
		CLEANUP(xfreep) char *text = NULL;

		for (size_t k = 0; k < deep; k++)
			strbuf_addstr(&brackets, one);
		for (size_t k = deep; closed && k > 0; k--)
			strbuf_addstr(&brackets, i % 3 == 0 ? "]" : i % 3 == 1 ? "}" : "}]");
		text = filled(t->f, brackets.buf, t->f->end, inside ? "\",\"x\":[[[[" : "n");
		target_write(t, text, strlen(text));
		attack_apart(t, i);
	}
}

static void nesting(void **state)
{
	(void)state;
	each_format("nested", nest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid),
		cmocka_unit_test(cut_everywhere),
		cmocka_unit_test(mutations),
		cmocka_unit_test(absurd_values),
		cmocka_unit_test(names),
		cmocka_unit_test(missing_tables_and_columns),
		cmocka_unit_test(other_versions_and_equal_ids),
		cmocka_unit_test(long_names),
		cmocka_unit_test(nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
