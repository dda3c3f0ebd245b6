/*
 * Every reader against what is large for a small file: names of many megabytes, nesting without
 * end. Memory stays in proportion to the input, the rest is as in test_bad_input.c.
 *
 *	PROFRIG_LONG_STRING=BYTES	how long a long name is, 64 MiB unless said
 */
#define PATIENCE_S 1800 /* disks are slow */
#include "bad_input_attack.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* --- a read in a process of its own, whose memory is measured --- */

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
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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

/* The file is made in a process of its own too: what that leaves in memory does not count. */
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

TEST(long_names)
{
	each_format("long", long_name);
}

/* 10^6 brackets in place of a name, a time, the arguments. */
static void json_nest(struct target *t)
{
	static const size_t deep = 1000000;
	static const char *const opens[] = { "[", "{\"a\":", "[{\"a\":" };

	if (!t->f->json)
		return;
	for (size_t i = 0; i < ARRAY_LEN(opens) * 3; i++) {
		CLEANUP(strbuf_release) struct strbuf brackets = STRBUF_INIT;
		const char *one = opens[i % 3];
		bool closed = i / 3 == 1, inside = i / 3 == 2;

		for (size_t k = 0; k < deep; k++)
			strbuf_addstr(&brackets, one);
		for (size_t k = deep; closed && k > 0; k--)
			strbuf_addstr(&brackets, i % 3 == 0 ? "]" : i % 3 == 1 ? "}" : "}]");
		CLEANUP(xfreep)
		char *text = filled(t->f, brackets.buf, t->f->end, inside ? "\",\"x\":[[[[" : "n");
		target_write(t, text, strlen(text));
		attack_apart(t, i);
	}
}

TEST(nesting)
{
	each_format("nested", json_nest);
}
