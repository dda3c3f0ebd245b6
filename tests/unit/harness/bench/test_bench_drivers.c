/* Which driver has a file, and which of them computes a key. */
#include "../../test.h"

#include "profrig/bench/bench_driver.h"

TEST(drivers_by_file)
{
	static const struct {
		const char *path, *driver;
	} cases[] = {
		{ "/x/libcublas.so.12", "cublas" },
		{ "/x/libcublas-9f3b1c.so.11", "cublas" },
		{ "/x/libcublasLt.so.12", "cublaslt" },
		{ "/x/librocblas.so", "rocblas" },
		{ "/x/librocblas_debug.so.4", "rocblas" },
		{ "/x/libhipblaslt.so.0", "hipblaslt" },
		{ "/x/libcublasXt.so", "blas" },
		{ "/x/libcublas", "blas" },
		{ "/libcublas.so/libblas.so.3", "blas" },
		{ "/x/libopenblas.so.0", "blas" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (strcmp(bench_driver_of_file(cases[i].path)->name, cases[i].driver) != 0)
			ROW_FAIL(i, "%s: %s", cases[i].path,
				 bench_driver_of_file(cases[i].path)->name);
}

/* 2·m·n·k flops in each driver. */
TEST(work_by_driver)
{
	static const struct {
		const char *key;
		int blas, cublas, hipblaslt;
	} cases[] = {
		{ "gemm ta=N tb=N m=2 n=3 k=4 a=f32", 0, 0, 0 },
		{ "gemm ta=N tb=N m=2 n=3 k=4 a=bf16", -ENOTSUP, 0, 0 },
		{ "gemm ta=N tb=N m=2 n=3 k=4 a=f16 compute=f32", -ENOTSUP, 0, 0 },
		{ "gemm ta=N tb=N m=2 n=3 k=4 a=f32 compute=tf32", -ENOTSUP, 0, 0 },
		{ "gemm ta=N tb=N m=2 n=3 k=0 a=f32", -EINVAL, -EINVAL, -EINVAL },
		{ "axpy n=24 type=f64", 0, 0, -ENOTSUP },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench_work w = { .flops = 48 };
		struct err err = ERR_INIT;

		if (bench_driver_blas.work(cases[i].key, &w, &err) != cases[i].blas ||
		    bench_driver_cublas.work(cases[i].key, &w, &err) != cases[i].cublas ||
		    bench_driver_hipblaslt.work(cases[i].key, &w, &err) != cases[i].hipblaslt ||
		    w.flops != 48)
			ROW_FAIL(i, "%s: %s", cases[i].key, err.msg);
	}
	assert_int_equal(
		bench_work("gemm ta=N tb=N m=2 n=3 k=4 a=bf16", &(struct bench_work){ 0 }, NULL),
		0);
}
