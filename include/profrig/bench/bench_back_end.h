/*
 * bench_back_end: the registry of libraries that calls are measured with. A row of
 * BENCH_BACK_ENDS is one flavour: its name, the family by which its first installed flavour is
 * meant, its file below a folder of libraries (or several names with blanks between them, of which
 * the first that is there counts), the package that has it, and its driver (bench_driver.h).
 * Source: Debian 12's packages; NVIDIA's and AMD's for libraries of a GPU, which are looked for in
 * the folders of LD_LIBRARY_PATH, /usr/local/cuda/lib64 and /opt/rocm/lib, too.
 *
 * A back end may also be named by the absolute path of a library: of another driver by its file's
 * name (bench_driver_of_file), else any with BLAS functions.
 *
 * A vendor's benchmark program is a back end by its name in BENCH_PROGRAMS, or by its path
 * (bench_vendor.h).
 */
#ifndef PROFRIG_BENCH_BACK_END_H
#define PROFRIG_BENCH_BACK_END_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

struct bench_driver; /* bench_driver.h */
struct bench_back_end {
	const char *name, *family, *file, *package;
	const struct bench_driver *driver;
};

/* clang-format off */
#define BENCH_BACK_ENDS(X) \
	X("openblas-pthread", "openblas", \
	  "openblas-pthread/libopenblas.so.0", "libopenblas0-pthread", blas) \
	X("openblas-openmp", "openblas", \
	  "openblas-openmp/libopenblas.so.0", "libopenblas0-openmp", blas) \
	X("openblas-serial", "openblas", \
	  "openblas-serial/libopenblas.so.0", "libopenblas0-serial", blas) \
	X("blis-pthread", "blis", \
	  "blis-pthread/libblis.so.4", "libblis4-pthread", blas) \
	X("blis-openmp", "blis", \
	  "blis-openmp/libblis.so.4", "libblis4-openmp", blas) \
	X("blis-serial", "blis", \
	  "blis-serial/libblis.so.4", "libblis4-serial", blas) \
	X("atlas", "atlas", \
	  "atlas/libblas.so.3", "libatlas3-base", blas) \
	X("reference", "reference", \
	  "blas/libblas.so.3", "libblas3", blas) \
	X("gsl", "gsl", \
	  "libgslcblas.so.0", "libgslcblas0", blas) \
	X("openblas64-pthread", "openblas64", \
	  "openblas64-pthread/libopenblas64.so.0", "libopenblas64-0-pthread", blas) \
	X("openblas64-openmp", "openblas64", \
	  "openblas64-openmp/libopenblas64.so.0", "libopenblas64-0-openmp", blas) \
	X("openblas64-serial", "openblas64", \
	  "openblas64-serial/libopenblas64.so.0", "libopenblas64-0-serial", blas) \
	X("blis64-pthread", "blis64", \
	  "blis64-pthread/libblis64.so.4", "libblis64-4-pthread", blas) \
	X("blis64-openmp", "blis64", \
	  "blis64-openmp/libblis64.so.4", "libblis64-4-openmp", blas) \
	X("blis64-serial", "blis64", \
	  "blis64-serial/libblis64.so.4", "libblis64-4-serial", blas) \
	X("reference64", "reference64", \
	  "blas64/libblas64.so.3", "libblas64-3", blas) \
	X("onednn3", "onednn", \
	  "libdnnl.so.3", "libdnnl3", onednn) \
	X("onednn2", "onednn", \
	  "libdnnl.so.2", "libdnnl2", onednn) \
	X("cublas", "cublas", \
	  "libcublas.so.13 libcublas.so.12 libcublas.so.11", "libcublas12", cublas) \
	X("cublaslt", "cublaslt", \
	  "libcublasLt.so.13 libcublasLt.so.12 libcublasLt.so.11", "libcublaslt12", cublaslt) \
	X("rocblas", "rocblas", \
	  "librocblas.so.5 librocblas.so.4 librocblas.so.3", "rocblas", rocblas) \
	X("hipblaslt", "hipblaslt", \
	  "libhipblaslt.so.1 libhipblaslt.so.0", "hipblaslt", hipblaslt)
/* clang-format on */

extern const struct bench_back_end bench_back_ends[]; /* ended by a name NULL */
/*
 * Families that are measured unless others are named: not those of 64-bit integers; those of a GPU
 * where there is one.
 */
#define BENCH_FAMILIES_DEFAULT \
	"openblas blis atlas reference gsl onednn cublas cublaslt rocblas hipblaslt"

/* What a library says of itself, in the child that loaded it. */
struct bench_identity {
	char *path;    /* of the file with its functions, links resolved */
	char *version; /* with the kernels that it chose */
	char *device;  /* that it computes on; "": this machine's processor */
	bool wide;     /* integers of 64 bits */
	int threads;   /* that it uses; 0: it does not say */
};

struct bench_vendor_end;

/* A back end of this session. */
struct bench_end {
	char *name; /* of the flavour, or the path */
	char *path; /* to load; NULL: it is not installed */
	const char *package;
	const struct bench_driver *driver; /* NULL: it is no library */
	struct bench_vendor_end *vendor;   /* NULL: it is no program */
	struct bench_identity identity;
	bool loaded;
	int status;   /* of its rows when it was not loaded: enum bench_status */
	char *reason; /* why it was not */
};

struct bench_back_ends {
	VEC(struct bench_end) v;
};

/*
 * By names of flavours, families or absolute paths, each once; none: the first installed flavour of
 * each default family. What is named and not installed is in it without a path. -EINVAL: no such
 * name; -ENOENT: none is installed.
 */
int bench_back_ends_find(const struct strvec *names, struct bench_back_ends *ret, struct err *err);
void bench_back_ends_release(struct bench_back_ends *ends);

#endif
