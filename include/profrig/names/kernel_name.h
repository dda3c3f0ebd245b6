/*
 * kernel_name: what libraries write into the names of their kernels, as typed fields.
 *
 *	struct kernel_name k;
 *	kernel_name_parse("ampere_sgemm_32x128_tn", &k);
 *	→ lib "cublas", op "gemm", in and acc "f32", path SIMT, tile 32×128, layout "TN"
 *
 * Grammars: Tensile and hipBLASLt (Cijk_…), CUTLASS 2 and 3, cuBLAS (ampere_…, sm80_xmma_…,
 * nvjet_…), cuDNN, MIOpen (igemm_…, miopenSp3…, naive_conv), NCCL and RCCL. Of kernels without a
 * grammar (CK, Triton, aiter, flash attention, PyTorch) only lib and op are known, from parts of
 * the name. Mangled names are demangled before.
 *
 * Sources: the generators' own code, which is public for Tensile (Solution names, KernelLanguage),
 * CUTLASS (python/cutlass_library, procedural_name) and NCCL (src/device/generate.py); NVIDIA's
 * closed libraries by the names in recordings.
 *
 * A field that the name does not tell is NULL, "" or 0; a number 0 in a name is taken as not told,
 * since none of them can be 0. Text points to constants or into the struct. Names are untrusted:
 * KERNEL_NAME_LOOK bytes of them are looked at, numbers are bounded.
 */
#ifndef PROFRIG_KERNEL_NAME_H
#define PROFRIG_KERNEL_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_NAME_LOOK 4096
#define KERNEL_NUMBER_MAX 65536 /* of a tile, of stages; more is no such number */

enum kernel_path { KERNEL_PATH_UNKNOWN, KERNEL_PATH_SIMT, KERNEL_PATH_TENSOR };

struct kernel_name {
	/*
	 * "tensile", "cublas", "cutlass", "cudnn", "miopen", "nccl", "ck", "triton", "aiter",
	 * "flash_attn", "pytorch", …
	 */
	const char *lib;
	/*
	 * "gemm", "gemv", "gemm_reduce" (adds up the parts of a split product), "conv",
	 * "conv_fprop", "conv_dgrad", "conv_wgrad", "attention"; of a collective "allreduce",
	 * "allgather", "reducescatter", "broadcast", "reduce", "sendrecv", "alltoall"
	 */
	const char *op;
	/* "f64", "f32", "tf32", "bf16", "fp16", "fp8", "bf8", "i8", "i32", "c32", "c64" */
	const char *in, *acc, *out;
	enum kernel_path path;  /* vector units, or matrix (tensor) units */
	uint32_t tile[3];       /* M, N, K of a block, as the library counts them */
	char layout[4];         /* "TN": A transposed, B not */
	bool column_major;      /* M of the tile belongs to N of a row-major operator */
	uint32_t stages;        /* of the pipeline */
	bool split_k, stream_k; /* several blocks share a tile of the result */
	uint32_t gsu;           /* Tensile's GlobalSplitU */
	uint32_t cluster[3];    /* blocks of a cluster */
	uint32_t align;         /* elements */
	uint32_t arch;          /* NVIDIA: 80 = sm_80 */
	char isa[12];           /* AMD: "gfx942" */
	char slice[12];         /* "1x4" */
	const char *algo;       /* "ring", "tree", "nvls", …; of a convolution "winograd" */
	const char *proto;      /* "LL", "LL128", "SIMPLE" */
	char reduction[16];     /* "Sum" */
	char type[24];          /* of a collective, the library's own word: "float" */
};

void kernel_name_parse(const char *name, struct kernel_name *ret);
/* "simt", "tensor", or "". */
const char *kernel_path_name(enum kernel_path path);

#endif
