/* Collectives made of messages: what they move, and by which algorithm. */
#include "parts_test.h"

struct message_def {
	int from, to;
	int64_t bytes, start_ns, end_ns;
};

static struct table_set tables_of(const char *group, const struct message_def *v, size_t n)
{
	VEC(struct part_def) parts = VEC_INIT;
	struct table_set ts;
	struct model *m;

	for (size_t i = 0; i < n; i++) {
		VEC_PUSH(&parts, ((struct part_def){
					 PART_INIT, .rank = v[i].from, .start_ns = v[i].start_ns,
					 .end_ns = v[i].end_ns, .name = "send", .in = v[i].bytes,
					 .group = group, .to = v[i].to + 1 }));
		VEC_PUSH(&parts, ((struct part_def){
					 PART_INIT, .rank = v[i].to, .start_ns = v[i].start_ns,
					 .end_ns = v[i].end_ns, .name = "recv", .in = v[i].bytes,
					 .group = group, .from = v[i].from + 1 }));
	}
	m = model_of_parts(parts.v, parts.nr, true);
	ts = analyse(m, &analysis_collectives);
	model_free(m);
	VEC_RELEASE(&parts);
	return ts;
}

#define MESSAGES_HEAD \
	"group seq collective algorithm ranks messages bytes moved_bytes start_ns elapsed_ns " \
	"moved_gbps\n"

/* 2(n − 1) times the bytes of each: 524288 of four ranks in a chain, and in a tree. */
TEST(chain_and_tree)
{
	static const struct message_def chain[] = {
		{ 0, 1, 524288, 0, 10 },  { 1, 2, 524288, 10, 20 }, { 2, 3, 524288, 20, 30 },
		{ 3, 0, 524288, 30, 40 }, { 3, 1, 524288, 30, 40 }, { 3, 2, 524288, 30, 40 },
	};
	static const struct message_def tree[] = {
		{ 1, 0, 524288, 0, 10 },  { 2, 0, 524288, 10, 20 }, { 3, 0, 524288, 20, 30 },
		{ 0, 1, 524288, 30, 40 }, { 0, 2, 524288, 30, 40 }, { 0, 3, 524288, 30, 50 },
	};
	CLEANUP(table_set_release)
	struct table_set a = tables_of("AllReduce_all_reduce_4", chain, ARRAY_LEN(chain));
	CLEANUP(table_set_release)
	struct table_set b = tables_of("AllReduce_all_reduce_4", tree, ARRAY_LEN(tree));

	expect_table(table_set_find(&a, "message_collectives"),
		     MESSAGES_HEAD "AllReduce_all_reduce_4 0 allreduce chain 4 6 524288 3145728 0 "
				   "40 78643.2\n");
	expect_table(table_set_find(&b, "message_collectives"),
		     MESSAGES_HEAD "AllReduce_all_reduce_4 0 allreduce tree 4 6 524288 3145728 0 "
				   "50 62914.56\n");
}

/* 104506 bytes in 10 µs are 10.4506 GB/s; twice, in executions of their own. */
TEST(bandwidth)
{
	static const struct message_def v[] = {
		{ 0, 1, 52253, 20000, 25000 },
		{ 1, 0, 52253, 25000, 30000 },
		{ 0, 1, 52253, 60000, 65000 },
		{ 1, 0, 52253, 65000, 85000 },
	};
	CLEANUP(table_set_release)
	struct table_set ts = tables_of("AllReduce_1", v, ARRAY_LEN(v));
	CLEANUP(table_set_release)
	struct table_set plain = tables_of("pipeline", v, ARRAY_LEN(v));

	expect_table(table_set_find(&ts, "message_collectives"), MESSAGES_HEAD
		     "AllReduce_1 0 allreduce chain 2 2 52253 104506 0 10000 10.4506\n"
		     "AllReduce_1 1 allreduce chain 2 2 52253 104506 40000 25000 4.18024\n");
	/* sends of a group that is no collective are sends */
	assert_null(table_set_find(&plain, "message_collectives"));
	assert_non_null(table_set_find(&plain, "collective_instances"));
}

/* A message that is not there leaves the algorithm open, and is not made up. */
TEST(incomplete)
{
	static const struct message_def v[] = {
		{ 0, 1, 64, 0, 10 },
		{ 1, 2, 64, 10, 20 },
		{ 2, 0, 64, 20, 30 },
	};
	CLEANUP(table_set_release)
	struct table_set ts = tables_of("AllReduce_1", v, ARRAY_LEN(v));

	expect_table(table_set_find(&ts, "message_collectives"),
		     MESSAGES_HEAD "AllReduce_1 0 allreduce - 3 3 64 192 0 30 6.4\n");
}
