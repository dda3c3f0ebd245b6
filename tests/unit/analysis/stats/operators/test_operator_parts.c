#include "operator_parts.h"
#include "trace_text.h"

#include "profrig/base/xalloc.h"

/* "from-to:device,device" of each part. */
static void expect_parts(const char *trace, const char *want)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, trace);
	struct works *w = works_new(m);
	struct operator_parts *parts = operator_parts_new(w);
	char have[256] = "";
	size_t n = 0, to = 0;

	for (size_t i = 0; i < parts->v.nr; i++) {
		const struct operator_part *p = &parts->v.v[i];

		assert_int_equal(p->from, to);
		to = p->to;
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%zu-%zu:", i ? " " : "",
				      p->from, p->to);
		for (size_t d = 0; d < p->nr; d++)
			n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s", d ? "," : "",
					      model_str(m, w->devices.v[p->devices[d]].name));
	}
	assert_int_equal(to, m->spans.nr);
	assert_string_equal(have, want);
	operator_parts_free(parts);
	works_free(w);
}

TEST(test_operator_parts)
{
	static const struct {
		const char *trace, *want;
	} row[] = {
		{ "", "0-0:" },
		{ "thread 1/1 name=a: x 0-1 y 1-2\n", "0-2:" },
		/* two ranks; a thread between them is the later one's, as are spans at the end */
		{ "thread 1/1 name=a: x#1 0-1 y 1-2\n"
		  "thread 1/2 name=b: z 0-1\n"
		  "thread 2/1 name=c: x#2 0-1 y 1-2\n"
		  "queue gpu0/1: k#1 10-20\n"
		  "queue gpu1/1: k#2 10-20\n",
		  "0-2:gpu0 2-7:gpu1" },
		/* what launched gpu0's work is around what launched gpu1's */
		{ "thread 1/1 name=a: x#1 0-1 y 1-2\n"
		  "thread 1/2 name=b: z#2 0-1\n"
		  "thread 1/3 name=c: x#3 0-1\n"
		  "thread 1/4 name=d: x#4 0-1\n"
		  "queue gpu0/1: k#1 10-20 k#3 20-30\n"
		  "queue gpu1/1: k#2 10-20\n"
		  "queue gpu2/1: k#4 10-20\n",
		  "0-4:gpu0,gpu1 4-9:gpu2" },
		/* in the order of spans, not of devices */
		{ "thread 1/1 name=a: x#1 0-1\n"
		  "thread 1/2 name=b: z#2 0-1\n"
		  "queue gpu0/1: k#2 10-20\n"
		  "queue gpu1/1: k#1 10-20\n",
		  "0-1:gpu1 1-4:gpu0" },
		/* a device without launches */
		{ "thread 1/1 name=a: x#1 0-1\n"
		  "queue gpu0/1: k#1 10-20\n"
		  "queue gpu1/1: k 10-20\n",
		  "0-3:gpu0,gpu1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		expect_parts(row[i].trace, row[i].want);
	operator_parts_free(NULL);
}
