/* Names of ranges that are PyTorch's names of operators. */
#include "op_range.h"
#include "test.h"

#include "profrig/base/strbuf.h"
#include "profrig/model/facts.h"

#define NO FACT_ABSENT

TEST(test_names)
{
	static const struct {
		const char *text, *name, *sizes;
		int64_t sequence, op_id;
	} cases[] = {
		{ "aten::mm, seq = 1, op_id = 11, sizes = [[2, 3], [3, 4]], input_op_ids = "
		  "[(9,0), (10,0)]",
		  "aten::mm", "[[2, 3], [3, 4]]", 1, 11 },
		{ "aten::add, op_id = 12, sizes = [[2, 4], []], input_op_ids = []", "aten::add",
		  "[[2, 4], []]", NO, 12 },
		{ "aten::relu, seq = 5, op_id = 14", "aten::relu", NULL, 5, 14 },
		{ "aten::x, op_id = 15", "aten::x", NULL, NO, 15 },
		{ "aten::x, seq = 7", "aten::x", NULL, 7, NO },
		{ "aten::x, seq = -1, op_id = 3", "aten::x", NULL, -1, 3 },
		{ "aten::y, seq = 3, sizes = [[4]]", "aten::y", "[[4]]", 3, NO },
		{ "f, a, op_id = 1", "f, a", NULL, NO, 1 },
		{ "f, op_id = 1, op_id = 2", "f, op_id = 1", NULL, NO, 2 },
		ROW("AddmmBackward0, seq = 9223372036854775807, op_id = 0", "AddmmBackward0", NULL,
		    INT64_MAX, 0),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct op_range r;

		if (!op_range_parse(cases[i].text, strlen(cases[i].text), &r))
			ROW_FAIL(i, "%s is no operator", cases[i].text);
		assert_int_equal(r.name_n, strlen(cases[i].name));
		assert_memory_equal(cases[i].text, cases[i].name, r.name_n);
		assert_int_equal(r.sequence, cases[i].sequence);
		assert_int_equal(r.op_id, cases[i].op_id);
		assert_true(!r.sizes == !cases[i].sizes);
		if (r.sizes) {
			assert_int_equal(r.sizes_n, strlen(cases[i].sizes));
			assert_memory_equal(r.sizes, cases[i].sizes, r.sizes_n);
		}
	}
}

TEST(test_plain_ranges)
{
	static const char *const texts[] = {
		"",
		",",
		"weird, sizes = [1]",
		"aten::mm",
		", op_id = 3",
		"a, op_id = ",
		"a, op_id = x",
		"a, op_id = 3 ",
		"a, op_id = 3, b",
		"a, seq = -, op_id = 3x",
		"a, op_id = 99999999999999999999",
		"a, op_id = 3, sizes = [[2]",
		"a, op_id = 3, sizes = 2",
		"a, op_id = 3, sizes = ",
		"a, seq = 1, op_id = ",
		"a, op_id = 1, seq = 2, c",
		"a, op_id = 3, input_op_ids = [(1,2)",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct op_range r;

		if (op_range_parse(texts[i], strlen(texts[i]), &r))
			ROW_FAIL(i, "'%s' is an operator", texts[i]);
	}
}

/* Long texts that look like operators again and again cost a few looks. */
TEST(test_hostile)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct op_range r;

	for (int i = 0; i < 100000; i++)
		strbuf_addstr(&text, ", op_id = 1, sizes = [");
	for (int i = 0; i < 20; i++)
		assert_false(op_range_parse(text.buf, text.len, &r));
}
