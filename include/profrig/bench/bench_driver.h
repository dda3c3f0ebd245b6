/*
 * bench_driver: how the libraries of a kind are called: a BLAS, oneDNN, a BLAS of a GPU. Each is
 * one `const struct bench_driver`, its name in BENCH_DRIVERS.
 *
 * The parent asks a driver what work a key is (`work`). All else happens in the child
 * (bench_child.h), in one thread, for the one library that it has:
 *
 *	open		once
 *	prepare		a key's operands are made and filled; those of the key before are gone
 *	check		one call, whose result is compared with a reference
 *	block		n calls, timed together, one untimed call in front of them
 *	drop		the operands' memory is free again
 *
 * The functions keep what they need in static memory of their own. A library may crash, hang or end
 * the process in any of them.
 *
 * Two drivers that take the same key agree on its flops and bytes.
 */
#ifndef PROFRIG_BENCH_DRIVER_H
#define PROFRIG_BENCH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/bench/bench.h"
#include "profrig/bench/bench_op.h"

/* Of one call, with its batch: the table Work in docs/library.md. */
struct bench_work {
	uint64_t flops, bytes;
	/* by whose peak on this machine's processors it is judged; BENCH_TYPE_COUNT: by none */
	enum bench_type type;
};

/* What a library says of itself. Texts are the driver's, control bytes in them do no harm. */
struct bench_hello {
	bool wide;           /* integers of 64 bits */
	int threads;         /* that it will use; 0: it does not say */
	const char *path;    /* of the file with its functions, links resolved */
	const char *version; /* with the kernels that it chose */
	const char *device;  /* that it computes on; "": this machine's processor */
};

struct bench_request {
	const char *key;
	enum bench_cache cache;
	uint64_t rotate; /* bytes over which operands change */
	uint64_t limit;  /* bytes that all of them may take, of this machine's memory */
};

struct bench_driver {
	const char *name;
	const char *timer;  /* column `timer`: "host" or "device" */
	const char *energy; /* source (sampler.h) of what computes: "rapl", "auto"; NULL: none */
	/*
	 * A path that is there where the device of its libraries is: only then are they measured
	 * without being named; NULL: no device is needed.
	 */
	const char *node;
	/*
	 * How files of its libraries begin, in any case, before a dot, dash or underscore: a path
	 * to such a file is its business; NULL: no path is.
	 */
	const char *file;
	/*
	 * -EINVAL: the key is damaged, no library executes such a call, or it computes nothing;
	 * -ENOTSUP: it is no operation of this kind; -ERANGE: it is too large.
	 */
	int (*work)(const char *key, struct bench_work *ret, struct err *err);
	/* -errno with the loader's words. The library stays until the process ends. */
	int (*open)(const char *path, struct bench_hello *ret, struct err *err);
	/* BENCH_UNSUPPORTED, BENCH_SKIPPED, BENCH_FAILED with the reason. */
	enum bench_status (*prepare)(const struct bench_request *r, size_t *ret_bytes,
				     struct err *err);
	/* The implementation that the library chose for it; NULL, "": it does not say. */
	const char *(*chosen)(void);
	/*
	 * The library's number of that implementation, at least 0; BENCH_SOLUTION_NONE, or no such
	 * function: it has none.
	 */
	int32_t (*solution)(void);
	/* The largest error, as a part of what is allowed; BENCH_WRONG: err says where. */
	enum bench_status (*check)(double *ret_error, struct err *err);
	/* ns of n calls, by the driver's timer ("host": bench_clock.h); n is at least 1. */
	enum bench_status (*block)(uint64_t n, int64_t *ret_ns, struct err *err);
	void (*drop)(void);
};

/* clang-format off */
#define BENCH_DRIVERS(X) X(blas) X(onednn) X(cublas) X(cublaslt) X(rocblas) X(hipblaslt)
/* clang-format on */
#define BENCH_DRIVER(name) extern const struct bench_driver bench_driver_##name;
BENCH_DRIVERS(BENCH_DRIVER)
#undef BENCH_DRIVER

extern const struct bench_driver *const bench_drivers[];         /* ended by NULL */
const struct bench_driver *bench_driver_named(const char *name); /* NULL: there is none */
/* By the name of a library's file, or that of the file it is a link to; else a BLAS. */
const struct bench_driver *bench_driver_of_file(const char *path);
/* By the first driver that has the operation; else what the last one says. */
int bench_work(const char *key, struct bench_work *ret, struct err *err);

#endif
