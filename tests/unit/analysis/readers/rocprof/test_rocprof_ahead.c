/*
 * Rows parsed ahead by several threads are those of the file: random API calls with fields that go
 * over lines, quotes that are not doubled, lines that are no rows, damage and rows longer than what
 * a thread takes at a time, read by one thread and by more. The generator knows how many rows there
 * are.
 */
#include "model_dump.h"
#include "readers_test.h"

#include "profrig/base/workers.h"

#define CALLS \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

static uint64_t seed;

static uint64_t dice_roll(uint64_t n)
{
	return rnd(&seed) % n;
}

static struct reading read_by(const char *path, unsigned threads)
{
	CLEANUP(workers_freep) struct workers *w = workers_new(threads);
	struct reading rd = { .m = model_new(), .err = ERR_INIT };
	struct read_opts o = { .workers = w };

	model_set_workers(rd.m, w);
	rd.r = reader_find("rocprof_csv")->read(path, model_sink(rd.m), &o, &rd.err);
	model_finish(rd.m);
	return rd;
}

/* A name of one of the first kinds. */
static void name_add(struct strbuf *sb, uint64_t kinds)
{
	switch (dice_roll(kinds)) {
	default:
		strbuf_addf(sb, "\"hipLaunch%d\"", (int)dice_roll(40));
		break;
	case 1:
		strbuf_addf(sb, "f%d", (int)dice_roll(3000));
		break;
	case 2:
		strbuf_addstr(sb, "\"over\nlines, with \"\"quotes\"\"\n and commas\"");
		break;
	case 3:
		strbuf_addf(sb, "\"bare \"%c\", quotes\"", (char)('a' + dice_roll(26)));
		break;
	case 4:
		strbuf_addch(sb, '"');
		for (uint64_t n = dice_roll(2) ? 300 : 150000 + dice_roll(100000); n > 0; n--)
			strbuf_addch(sb, n % 71 ? 'x' : '\n');
		strbuf_addch(sb, '"');
		break;
	}
}

static uint64_t row_add(struct strbuf *sb, uint64_t i, uint64_t kinds)
{
	if (kinds > 4 && dice_roll(300) == 0)
		strbuf_addstr(sb, dice_roll(2) ? "\n\r\n" : "no row, at all\n");
	strbuf_addf(sb, "\"%s\",", dice_roll(9) ? "HIP_RUNTIME_API" : "MARKER_CORE_API");
	name_add(sb, kinds > 4 && dice_roll(400) ? 4 : kinds);
	strbuf_addf(sb, ",%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%s\n", 1 + (int)dice_roll(2),
		    100 + (int)dice_roll(5), i, 1000000 + 100 * i,
		    1000000 + 100 * i + dice_roll(90), dice_roll(20) ? "" : "\r");
	return 1;
}

static void compare_threads(struct strbuf *sb, uint64_t rows, int i)
{
	CLEANUP(xfreep) char *path = temp_file(sb->buf, sb->len);
	READING one = read_by(path, 1);

	if (rows && one.m->spans.nr != rows)
		ROW_FAIL(i, "%zu spans of %" PRIu64 " rows", one.m->spans.nr, rows);
	for (unsigned threads = 2; threads < 6; threads += threads == 3 ? 2 : 1) {
		READING more = read_by(path, threads);

		assert_int_equal(one.r, more.r);
		assert_models_equal(one.m, more.m, "threads");
		assert_int_equal(one.m->warnings.nr, more.m->warnings.nr);
		for (size_t k = 0; k < one.m->warnings.nr; k++) {
			assert_int_equal(one.m->warnings.v[k].count, more.m->warnings.v[k].count);
			assert_string_equal(one.m->warnings.v[k].text, more.m->warnings.v[k].text);
		}
	}
	unlink(path);
}

TEST(same_rows)
{
	for (int i = 0; i < 6; i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		uint64_t rows = 0, kinds = i < 2 ? 2 : i < 4 ? 4 : 5;

		seed = 20260 + (uint64_t)i;
		strbuf_addstr(&sb, CALLS);
		while (sb.len < (size_t)3 << 19)
			rows += row_add(&sb, rows + 1, kinds);
		compare_threads(&sb, rows, i);
	}
}

/* Bytes changed here and there, and the end cut off: what it is taken for is no concern here. */
TEST(same_damage)
{
	static const char bytes[] = "\"\",\n\r0-x";

	for (int i = 0; i < 6; i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		size_t begin = sizeof(CALLS) - 1;

		seed = 30260 + (uint64_t)i;
		strbuf_addstr(&sb, CALLS);
		for (uint64_t k = 1; sb.len < (size_t)5 << 18; k++)
			row_add(&sb, k, 5);
		for (uint64_t n = UINT64_C(1) << (2 * i); n > 0; n--)
			sb.buf[begin + dice_roll(sb.len - begin)] =
				bytes[dice_roll(sizeof(bytes) - 1)];
		sb.len -= dice_roll(100);
		compare_threads(&sb, 0, i);
	}
}

/* More texts than have numbers, and more threads than there may be of a process. */
TEST(many_texts)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	enum { ROWS = 50000 };

	strbuf_addstr(&sb, CALLS);
	for (int i = 0; i < ROWS; i++)
		strbuf_addf(&sb, "H,function_%d,7,%d,%d,%d,%d\n", i % 40000, 1 + i % 30000, i + 1,
			    1000 + 10 * i, 1005 + 10 * i);
	compare_threads(&sb, ROWS, 0);
}
