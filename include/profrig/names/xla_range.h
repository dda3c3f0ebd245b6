/*
 * xla_range: what XLA (JAX, TensorFlow) writes into the names of its ranges on the host: words of
 * its annotations, which reach NVTX, roctx and its own profiler.
 *
 *	XlaModule:#[prefix=P,]hlo_module=M[,program_id=N]#	launches an execution of a module
 *	Thunk:#[name=P,]hlo_op=OP[,unique_hlo_op_id=N]#		launches an operation of it
 *	XlaCompile:#module=M[,program_id=N]#			compiles a module
 *	XlaPass:#name=P,module=M[,program_id=N]#		a pass of the compiler
 *	Xla<Word>:#…#						another part of a compilation
 *
 * In front may be a domain, "TSL:" or another word; the file may have it elsewhere. P may hold
 * commas and '='; M and OP hold neither these nor '#'. What ends in no '#', or lacks what its form
 * must have, is a plain name.
 *
 * Threads that launch for one device are named
 *	XlaLauncher:#global=N,local=N,process=N,slice=N#	(older: partition=N)
 *
 * Sources: xla/service/gpu (nvtx_utils.cc, gpu_executable.cc), nsys-jax of NVIDIA's JAX-Toolbox.
 */
#ifndef PROFRIG_XLA_RANGE_H
#define PROFRIG_XLA_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/strbuf.h"

#define XLA_ABSENT INT64_MIN

enum xla_range_kind { XLA_MODULE, XLA_THUNK, XLA_COMPILE };

struct xla_text {
	const char *p; /* inside the name; NULL: absent */
	size_t n;
};

struct xla_range {
	enum xla_range_kind kind;
	struct xla_text word;   /* "XlaModule", "Thunk", "XlaPass" */
	struct xla_text module; /* M */
	struct xla_text op;     /* OP, of a compilation's part its name */
	int64_t program_id;     /* XLA_ABSENT */
};

bool xla_range_parse(const char *name, size_t n, struct xla_range *ret);
/*
 * Appends what people and tables call the range, without numbers of a process: the module, the
 * operation, "XlaCompile jit_f", "XlaPass algsimp". false: the name is plain, out is as it was.
 */
bool xla_range_name(const char *name, size_t n, struct strbuf *out);

struct xla_launcher {
	int64_t global, local, process, slice; /* XLA_ABSENT */
};

/* false: no name of a launcher, or without its device. */
bool xla_launcher_parse(const char *name, size_t n, struct xla_launcher *ret);
/* Appends what tables call it, by the job's number of its device: "XlaLauncher 4". */
bool xla_launcher_name(const char *name, size_t n, struct strbuf *out);

#endif
