#include "test.h"

#include <errno.h>
#include <sys/stat.h>

#include "profrig/base/fs.h"
#include "profrig/cost/ideal_cycles.h"

#define HEAD "~~~~ Ideal/Total Cycles ~~~~\n--------\nName      Ideal Cy.\n--------\n"
#define TAIL "--------\nTotal\t\t7\n--------\n====== Perf Summary End ======\n"

static int64_t cycles_of(const struct ideal_table *t, const char *kernel)
{
	const struct ideal_row *r = ideal_row_find(t, kernel);

	return r ? r->cycles : -1;
}

TEST(logs)
{
	struct ideal_cycles *ic = ideal_cycles_new();
	static const char text[] =
		"noise 7\nPREFILL\n" HEAD "mm-BMM_1-opCatBmm_fp16    27648  \r\n"
		"view-VirtualReshape-opCatStcdpLx 5\nadd-NA 3\nw-Precompute-opCatX 9\n"
		"v-LxPreload-opCatX 9\nplain 2\n" TAIL "DECODING\n" HEAD
		"mm-opCatB 1\nmm-opCatB 4\n"
		"open 6";

	assert_int_equal(ideal_cycles_read_text(ic, text, strlen(text), "l", NULL), 0);
	assert_int_equal(ic->tables.nr, 2);
	assert_string_equal(ic->tables.v[0].phase, "TTFT");
	assert_string_equal(ic->tables.v[1].phase, "ITL");
	assert_int_equal(ic->tables.v[0].rows.nr, 4);
	assert_int_equal(ic->tables.v[0].total, 27648 + 5 + 3 + 2);
	assert_int_equal(cycles_of(&ic->tables.v[0], "mm-BMM_1"), 27648);
	assert_string_equal(ideal_row_find(&ic->tables.v[0], "mm-BMM_1")->category, "Bmm_fp16");
	assert_string_equal(ideal_row_find(&ic->tables.v[0], "add")->category, "other");
	assert_int_equal(cycles_of(&ic->tables.v[0], "plain"), 2);
	assert_int_equal(cycles_of(&ic->tables.v[0], "w"), -1);
	assert_int_equal(cycles_of(&ic->tables.v[1], "mm"), 1);
	assert_int_equal(cycles_of(&ic->tables.v[1], "open"), 6);
	ideal_cycles_free(ic);
}

TEST(what_is_no_log)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "no table" },
		{ "mm 7\n", "no table" },
		{ HEAD TAIL, "no table" },
		{ HEAD "mm-opCatB\n" TAIL, "log:5" },
		{ HEAD "mm-opCatB -4\n" TAIL, "log:5" },
		{ HEAD "mm-opCatB 4x\n" TAIL, "log:5" },
		{ HEAD "mm-opCatB 99999999999999\n" TAIL, "log:5" },
		{ HEAD "44\n" TAIL, "log:5" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ideal_cycles *ic = ideal_cycles_new();
		struct err err = ERR_INIT;

		assert_int_equal(ideal_cycles_read_text(ic, cases[i].text, strlen(cases[i].text),
							"log", &err),
				 -EINVAL);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("case %zu: %s", i, err.msg);
		assert_int_equal(ic->tables.nr, 0);
		ideal_cycles_free(ic);
	}
}

static void kernel_write(const char *dir, const char *kernel, const char *json)
{
	CLEANUP(xfreep) char *a = xasprintf("%s/inductor-spyre", dir);
	CLEANUP(xfreep) char *b = xasprintf("%s/%s", a, kernel);
	CLEANUP(xfreep) char *c = xasprintf("%s/perf", b);
	CLEANUP(xfreep) char *file = xasprintf("%s/ideal_cycles.json", c);

	mkdir(a, 0700);
	mkdir(b, 0700);
	mkdir(c, 0700);
	assert_int_equal(fs_write_atomic(file, json, strlen(json), NULL), 0);
}

TEST(folders)
{
	char dir[] = "/tmp/profrig-test-XXXXXX";
	struct ideal_cycles *ic = ideal_cycles_new();
	CLEANUP(xfreep) char *clean = NULL;
	struct err err = ERR_INIT;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(ideal_cycles_read(ic, dir, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "has no inductor-spyre"));
	kernel_write(dir, "mm_1", "{\"op_category\": \"Bmm\", \"ideal_cycles\": 4096, \"x\": [1]}");
	kernel_write(dir, "add", "{\"ideal_cycles\": 0}");
	assert_int_equal(ideal_cycles_read(ic, dir, NULL), 0);
	assert_int_equal(ic->tables.nr, 1);
	assert_int_equal(cycles_of(&ic->tables.v[0], "mm_1"), 4096);
	assert_string_equal(ideal_row_find(&ic->tables.v[0], "mm_1")->category, "Bmm");
	assert_string_equal(ideal_row_find(&ic->tables.v[0], "add")->category, "other");
	kernel_write(dir, "bad", "{\"ideal_cycles\": \"many\"}");
	assert_int_equal(ideal_cycles_read(ic, dir, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "bad/perf"));
	assert_int_equal(ic->tables.nr, 1);
	ideal_cycles_free(ic);
	fs_remove_tree(dir, NULL);
}

/* aiu-trace-analyzer's smallest table. */
TEST(small_table)
{
	struct ideal_cycles *ic = ideal_cycles_new();
	const struct ideal_table *t;

	assert_int_equal(
		ideal_cycles_read(ic, kept(test_trace("aiu/samples/dt_cycles_table.log")), NULL),
		0);
	t = &ic->tables.v[0];
	assert_int_equal(ic->tables.nr, 1);
	assert_int_equal(t->rows.nr, 5);
	assert_int_equal(cycles_of(t, "addmm_MatMul-BMM_1"), 27648);
	assert_int_equal(cycles_of(t, "addmm_1_MatMul-BMM_1"), 27648);
	assert_int_equal(cycles_of(t, "bmm-BMM_1"), 12288);
	assert_int_equal(cycles_of(t, "sub"), 0);
	assert_int_equal(t->total, 67584);
	ideal_cycles_free(ic);
}
