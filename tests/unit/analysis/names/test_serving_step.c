/* Names of steps of servers: vLLM, SGLang, ATOM. */
#include "dice.h"
#include "test.h"

#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/names/serving_step.h"

#define NONE SERVING_ABSENT

TEST(test_known_names)
{
	static const struct {
		const char *name, *phase; /* NULL: no step */
		int64_t requests, tokens;
	} cases[] = {
		{ "execute_context_2(14721)_generation_0(0)", "prefill", 2, 14721 },
		{ "execute_context_0(0)_generation_32(128)", "decode", 32, 128 },
		{ "execute_context_2(6144)_generation_3(3)", "mixed", 5, 6147 },
		{ "execute_context_0(0)_generation_0(0)", "idle", 0, 0 },
		{ "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)"
		  "_generation_3(sq3sk6144sqsq3sqsk6144)",
		  "mixed", 5, 6147 },
		{ "execute_context_2(6144)_generation_3(3) ", NULL, 0, 0 },
		{ "execute_context_2(6144)_generation_3", NULL, 0, 0 },
		{ "execute_context_(6144)_generation_3(3)", NULL, 0, 0 },
		{ "execute_context_2(99999999999999999999)_generation_3(3)", NULL, 0, 0 },
		{ "execute_model", NULL, 0, 0 },
		{ "step[EXTEND bs=2 toks=12]", "prefill", 2, 12 },
		{ "step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]", "prefill", 2, 12 },
		{ "step[EXTEND bs=2]", "prefill", 2, NONE },
		{ "step[DECODE bs=64]", "decode", 64, 64 },
		{ "step[DECODE bs=64 g_sq=128 g_sqsq=256]", "decode", 64, 128 },
		{ "step[MIXED bs=2]", "mixed", 2, NONE },
		{ "step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 g_sq=3 g_sk=6144]", "mixed", 5,
		  6147 },
		{ "step[MIXED bs=1 c=1 g=0 c_sq=3 g_sq=0]", "prefill", 1, 3 },
		{ "step[TARGET_VERIFY bs=4]", "target_verify", 4, NONE },
		{ "step[A_WORD_THAT_IS_MUCH_TOO_LONG_FOR_A_PHASE bs=4]", "a_word_that_is_much_too",
		  4, NONE },
		{ "step[DECODE]", NULL, 0, 0 },
		{ "step[DECODE bs=many]", NULL, 0, 0 },
		{ "step[decode bs=1]", NULL, 0, 0 },
		{ "step[DECODE bs=64", NULL, 0, 0 },
		{ "step[DECODE bs=64] x", NULL, 0, 0 },
		{ "prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "prefill", 2, 14721 },
		{ "prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3 sk=17408 tbo=1]", "prefill",
		  6, 17408 },
		{ "decode[bs=64 tok=64 d=64]", "decode", 64, 64 },
		{ "decode[bs=117/128 tok=117 d=117]", "decode", 117, 117 },
		{ "decode[bs=117/128]", "decode", 117, 117 },
		{ "decode[bs=32 tok=128 d=32 spec=3]", "decode", 32, 128 },
		{ "decode[bs=128 tok=384 p=2 d=126 sk=258048 tbo=1]", "mixed", 128, 384 },
		{ "eager_decode[bs=32]", "decode", 32, 32 },
		{ "prefill[bs=2]", "prefill", 2, NONE },
		{ "prefill[]", NULL, 0, 0 },
		{ "decode", NULL, 0, 0 },
		{ "ProfilerStep#3", NULL, 0, 0 },
		{ "", NULL, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct serving_step s;
		bool is = serving_step(cases[i].name, &s);

		if (is != (cases[i].phase != NULL))
			ROW_FAIL(i, "'%s' is %s step", cases[i].name, is ? "a" : "no");
		if (is && (strcmp(s.phase, cases[i].phase) != 0 ||
			   s.requests != cases[i].requests || s.tokens != cases[i].tokens))
			ROW_FAIL(i, "'%s': %s %lld %lld", cases[i].name, s.phase,
				 (long long)s.requests, (long long)s.tokens);
	}
}

/* Names put together of what steps have: whatever they are, a step has a phase and no negative
 * numbers, and a name with a letter behind its end is none. */
TEST(test_random_names)
{
	static const char *const parts[] = { "execute_",
					     "context_",
					     "_generation_",
					     "step[",
					     "prefill[",
					     "decode[",
					     "eager_",
					     "EXTEND",
					     "DECODE",
					     "MIXED",
					     " bs=",
					     " toks=",
					     " tok=",
					     " c=",
					     " g=",
					     " c_sq=",
					     " g_sq=",
					     "(",
					     ")",
					     "]",
					     "[",
					     " ",
					     "/",
					     "=",
					     "sq",
					     "sk",
					     "1",
					     "2",
					     "0",
					     "64",
					     "99999999999999999999",
					     "\xff",
					     "p=1",
					     "d=2" };
	struct dice d = { .x = 3 };
	size_t steps = 0;

	for (int round = 0; round < 200000; round++) {
		CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT;
		struct serving_step s;

		/* half of them begin as a step does */
		if (below(&d, 2))
			strbuf_addstr(&name, below(&d, 2) ? "decode[bs=" : "step[DECODE bs=");
		for (uint32_t n = below(&d, 8); n > 0; n--)
			strbuf_addstr(&name, parts[below(&d, ARRAY_LEN(parts))]);
		if (!serving_step(name.buf, &s))
			continue;
		steps++;
		assert_true(*s.phase && strlen(s.phase) < SERVING_PHASE_MAX);
		assert_true(s.requests >= 0 || s.requests == NONE);
		assert_true(s.tokens >= 0 || s.tokens == NONE);
		strbuf_addch(&name, 'x');
		assert_false(serving_step(name.buf, &s));
	}
	assert_true(steps > 100);
}
