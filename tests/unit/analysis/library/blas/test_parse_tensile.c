#include "library_test.h"

#define NAME "Cijk_Ailk_Bljk_HHS_BH_MT128x64x64_MI16x16x16x1_SN_1LDSB0_APM1"

TEST(kernels_of_all_layouts)
{
	static const struct {
		const char *name, *words;
	} cases[] = {
		{ "Cijk_Ailk_Bljk_HHS_BH_MT128x64x64", "ta=N tb=N a=f16 d=f16 compute=f32" },
		{ "Cijk_Ailk_Bjlk_SB_MT32x32x32_SN", "ta=N tb=T a=f32 d=f32 compute=f32" },
		{ "Cijk_Alik_Bljk_SB_MT32x32x32_SN_1LDSB0", "ta=T tb=N a=f32 d=f32 compute=f32" },
		{ "Cijk_Alik_Bjlk_BBS_BH_MT64", "ta=T tb=T a=bf16 d=bf16 compute=f32" },
		{ "Cijk_AlikC_Bljk_ZB_MT16", "ta=C tb=N a=f64c d=f64c compute=f64c" },
		{ "Cijk_Ailk_BjlkC_CB_MT16", "ta=N tb=C a=f32c d=f32c compute=f32c" },
		{ "Cijk_Ailk_Bljk_I8II_BH_MT16", "ta=N tb=N a=i8 d=i32 compute=i32" },
		{ "Cijk_Ailk_Bljk_4xi8II_BH_MT16", "ta=N tb=N a=i8 d=i32 compute=i32" },
		{ "Cijk_Ailk_Bljk_F8HS_BH_MT16", "ta=N tb=N a=f8 d=f16 compute=f32" },
		{ "Cijk_Ailk_Bljk_DB_MT64", "ta=N tb=N a=f64 d=f64 compute=f64" },
		{ "Cijk_Ailk_Bljk_BB_MT64", "ta=N tb=N a=bf16 d=bf16 compute=bf16" },
		{ "Cijk_Ailk_Bljk_QQQ_BH_MT64", "ta=N tb=N" },
		{ "Cijk_Ailk_Bljk_HHSSH_BH_MT64", "ta=N tb=N" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[200], key[200];

		snprintf(text, sizeof(text), "Running kernel: %s\r\n", cases[i].name);
		snprintf(key, sizeof(key), "kernel name=%s %s", cases[i].name, cases[i].words);
		CLEANUP(logged_release) struct logged l = logged_of(text);
		const struct library_row row = row_with(&l, key);

		assert_counts(&l, 1, 0, 0, 0, 0, 0);
		assert_string_equal(row.library, "tensile");
		assert_string_equal(row.operation, "kernel");
		assert_string_equal(row.config, cases[i].name);
		assert_true(row.flops == LIBRARY_UNKNOWN && row.bytes == LIBRARY_UNKNOWN);
		assert_true(row.inexact);
	}
}

TEST(kernels_anywhere_in_a_line)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("Running kernel: " NAME "\n"
				    "epoch 1: 50%Running kernel: " NAME "  \n"
				    "step 3\rRunning kernel: " NAME "\rstep 4\n"
				    "Running kernel: " NAME " Running kernel: " NAME "\n"
				    "Running kernel: " NAME "Running kernel: " NAME "\n"
				    "Running kernel: vector_add\n"
				    "Kernel (" NAME ") Params:\n");

	assert_counts(&l, 7, 0, 0, 0, 0, 2); /* the torn one is known */
	assert_int_equal(l.n.prefixed, 4);
	assert_int_equal(l.calls->distinct, 1);
	assert_int_equal(l.calls->rows.v[0].calls, 7);
}

/* A name without its end is another kernel. */
TEST(torn_kernels)
{
	static const char *const cases[] = {
		"Running kernel: Cijk_Ail\n",          "Running kernel: Cijk_Ailk_Bljk\n",
		"Running kernel: Cijk_Ailk_Bljk_\n",   "Running kernel: Cijk_Ailk_Bxyk_HHS_BH\n",
		"Running kernel: " NAME " and more\n", "Running kernel: " NAME,
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i]);

		if (l.n.records != 0 || l.n.torn != 1)
			ROW_FAIL(i, "%d calls", (int)l.n.records);
	}
	CLEANUP(logged_release)
	struct logged known = logged_of("Running kernel: " NAME "\nRunning kernel: " NAME);

	assert_counts(&known, 2, 0, 0, 0, 0, 0);
}

TEST(damaged_texts)
{
	assert_damage_is_counted("Running kernel: " NAME "\nRunning kernel: Cijk_Alik_Bljk_SB_MT32 "
				 "\nRunning kernel: " NAME);
}
