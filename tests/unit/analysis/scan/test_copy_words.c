#include "copy_words.h"
#include "test.h"

TEST(words)
{
	static const struct {
		const char *text;
		enum copy_direction direction;
		enum memory_kind from, to;
	} cases[] = {
		{ "Memcpy HtoD (Pageable -> Device)", COPY_H2D, MEMORY_PAGEABLE, MEMORY_DEVICE },
		{ "Memcpy DtoH (Device -> Pinned)", COPY_D2H, MEMORY_DEVICE, MEMORY_PINNED },
		{ "Memcpy HtoD (Host -> Device)", COPY_H2D, MEMORY_UNKNOWN, MEMORY_DEVICE },
		{ "Memcpy PtoP", COPY_P2P, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ "MEMORY_COPY_DEVICE_TO_DEVICE", COPY_D2D, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ "CopyHostToDevice", COPY_H2D, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ "D2H", COPY_D2H, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ "Memset (Managed)", COPY_UNKNOWN, MEMORY_UNKNOWN, MEMORY_MANAGED },
		{ "copy (", COPY_UNKNOWN, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ ") -> (", COPY_UNKNOWN, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
		{ "", COPY_UNKNOWN, MEMORY_UNKNOWN, MEMORY_UNKNOWN },
	};
	char longer[500];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct copy_facts f = COPY_FACTS_NONE;

		copy_words_take(cases[i].text, strlen(cases[i].text), &f);
		if (f.direction != cases[i].direction || f.from != cases[i].from ||
		    f.to != cases[i].to)
			fail_msg("'%s': %d %d %d", cases[i].text, f.direction, f.from, f.to);
	}
	memset(longer, '(', sizeof(longer));
	{
		struct copy_facts f = COPY_FACTS_NONE;

		copy_words_take(longer, sizeof(longer), &f);
		assert_int_equal(f.direction, COPY_UNKNOWN);
	}
	assert_int_equal(copy_direction_of_runtime(0), COPY_H2H);
	assert_int_equal(copy_direction_of_runtime(3), COPY_D2D);
	assert_int_equal(copy_direction_of_runtime(4), COPY_UNKNOWN);
	assert_int_equal(copy_direction_of_runtime(INT64_MIN), COPY_UNKNOWN);
}
