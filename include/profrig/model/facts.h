/*
 * facts: what a trace says of a span beyond its name and its time, in typed rows beside the
 * columns of the model. An operator has operands, a copy has bytes and a direction, a collective
 * has a group: analyses read these and never the raw arguments.
 *
 * Life cycle:
 *	1. a reader pushes the span, then its facts with the id that the push returned:
 *		struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
 *		f.copy.bytes = 4096;
 *		s->ops->facts(s, id, &f);
 *	   operands and lists of numbers become ids before (sink.operands, sink.numbers), so that
 *	   100 000 operators share the few hundred that differ
 *	2. model_finish sorts the rows by span and renumbers them; model_window drops those of spans
 *	   that are left out
 *	3. analyses look a span up (facts_op …), or walk the rows, which are in the spans' order
 * A span has at most one row of each kind; the first one stays, W_FACTS_TWICE counts the others.
 * Sinks that keep no spans keep no facts.
 *
 * Absent is absent: a number is FACT_ABSENT, a text STR_NONE, a list or an operand list FACT_NONE.
 * A trace that states 0 has 0. Numbers that no trace can mean (a negative size, one above
 * FACT_SIZE_MAX, a dimension below zero, more than FACT_DIMS_MAX dimensions) are absent, too, and
 * counted by W_BAD_FACT: those of rows each time, those of operands once for each list that differs
 * in an input.
 *
 * Readers push facts only where read_opts.facts is set (reader.h). A window (model_window) that has
 * two parts of a span has its facts twice: each part has all of them, bytes and operands are those
 * of the whole span.
 *
 * A call that launches work may have facts of its own, as HIP's calls state grid and bytes: rows of
 * kernels and copies belong to spans of any kind, and span_is_work tells the work. A copy's bytes
 * are stated by both, and count once: by the work, or by the call where the work has none.
 *
 * Sources of the fields: PyTorch's Kineto (both dialects: `Input Dims` and the lower-case form of
 * 2021), NVIDIA Nsight Systems' export to SQLite, AMD's rocpd and RPD. What each one has is a table
 * in docs/architecture.md.
 */
#ifndef PROFRIG_FACTS_H
#define PROFRIG_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/intern.h"
#include "profrig/base/vec.h"

struct model;

#define FACT_ABSENT INT64_MIN
#define FACT_NONE UINT32_MAX
#define FACT_DIMS_MAX 16
#define FACT_OPERANDS_MAX 4096 /* in one list, elements of lists included */
#define FACT_SIZE_MAX ((int64_t)1 << 50)
/* Of the texts of one list together, numbers of one list, and all operands and values of a model:
 * what is longer, or comes behind them, is absent (W_BAD_FACT). */
#define FACT_TEXT_MAX ((size_t)1 << 20)
#define FACT_NUMBERS_MAX ((size_t)1 << 16)
#define FACT_ALL_MAX ((size_t)1 << 24)

/*
 * One argument of an operator. A list of tensors (TensorList, GenericList) is an operand of its
 * own, followed by its elements, which have `in` set.
 */
enum operand_kind { OPERAND_UNKNOWN, OPERAND_TENSOR, OPERAND_LIST, OPERAND_SCALAR };

struct operand {
	enum operand_kind kind;
	bool in;          /* an element of the list before it */
	uint32_t dims;    /* numbers (facts_numbers); a scalar tensor has an empty list */
	uint32_t strides; /* numbers, one for each dimension; FACT_NONE when the trace has none */
	str_id type;      /* the trace's own word: "c10::BFloat16", "float", "Scalar" */
	str_id concrete;  /* a value that the trace prints: "True", "[1, 1]", "0.5" */
};

/* All operands of one call, and the texts that tables print, as compact JSON. */
struct operand_list {
	uint32_t first, nr; /* in model.facts.operands */
	str_id shapes;      /* "[[8944,1024],[1024,2816]]"; STR_NONE */
	str_id types;       /* "[\"float\",\"float\"]"; STR_NONE */
	str_id strides, concrete;
};

/* An operator of a framework: aten::mm, record_param_comms, a Python frame, a module. */
struct op_facts {
	uint64_t span;
	uint32_t operands;                /* in model.facts.lists */
	int64_t sequence, forward_thread; /* joins backward with forward (autograd) */
	int64_t python_id, python_parent, module_id;
	str_id call_stack; /* the dialect of 2021 has it as one text */
	str_id name;       /* of the operator, where the span's own name says more */
	int64_t op_id;     /* counts PyTorch's operators, where ranges are named by it */
};

/* How a kernel was launched. */
struct kernel_facts {
	uint64_t span;
	int64_t grid[3], block[3]; /* blocks; threads of a block. FACT_ABSENT each */
	bool grid_items;           /* the grid counts work items, not blocks */
	int64_t registers, shared_bytes, local_bytes;
	int64_t graph, graph_node, graph_exec;
};

enum copy_direction { COPY_UNKNOWN, COPY_H2D, COPY_D2H, COPY_D2D, COPY_H2H, COPY_P2P };
enum memory_kind {
	MEMORY_UNKNOWN,
	MEMORY_PAGEABLE,
	MEMORY_PINNED,
	MEMORY_DEVICE,
	MEMORY_MANAGED,
	MEMORY_ARRAY
};

/* A copy or a fill. */
struct copy_facts {
	uint64_t span;
	int64_t bytes;
	enum copy_direction direction;
	enum memory_kind from, to;
	int64_t graph, graph_node;
};

enum sync_kind {
	SYNC_UNKNOWN,
	SYNC_DEVICE,
	SYNC_STREAM,
	SYNC_EVENT,
	SYNC_STREAM_WAIT_EVENT,
	SYNC_CONTEXT,
	SYNC_RECORD_EVENT /* nothing waits: an event is recorded on a stream */
};

/*
 * A synchronisation that the trace records beside the call, on the host or on a queue. call and
 * record are correlations (span_correlation) of the spans of calls.
 */
struct sync_facts {
	uint64_t span;
	enum sync_kind kind;
	int64_t stream;              /* that waits, or that is waited for */
	int64_t event, event_stream; /* event_stream: where the awaited event was recorded */
	int64_t call;                /* that synchronises */
	int64_t record;              /* that recorded the awaited event */
};

/* One rank's part in a collective: the host's call, or the kernel on the device. */
struct collective_facts {
	uint64_t span;
	str_id name;  /* the trace's word: "allreduce", "_allgather_base" */
	str_id dtype; /* "Float", "BFloat16" */
	int64_t in_elements, out_elements;
	uint32_t in_split, out_split, ranks; /* numbers; ranks: global ranks of the group */
	str_id group, group_about;           /* "0", "default_pg" */
	int64_t group_size;
	int64_t sequence; /* counts in the group, equal on all ranks */
	int64_t root, from, to;
	int64_t bytes; /* where the trace has bytes and no elements */
	/* of a compiled program: the compiler's number of the channel, equal in all its programs */
	int64_t channel;
};

/* A change of allocated memory, an instant. */
struct memory_facts {
	uint64_t span;
	bool on_device;    /* else on the host */
	int64_t device;    /* its number in the trace */
	int64_t address;   /* as a pattern of bits */
	int64_t bytes;     /* positive: allocated, negative: freed */
	int64_t allocated; /* of the device after it, as the allocator says */
	int64_t reserved;
};

/*
 * Graphs that a program captures of its streams. The handles are the program's own (addresses, as
 * patterns of bits): unique in a process, and used again when their owner is gone.
 *	CAPTURE_BEGIN, CAPTURE_END	the calls that open and close the capture of a stream; the
 *					end has the graph
 *	CAPTURE_INSTANTIATE		makes an executable graph of a graph
 *	CAPTURE_LAUNCH			launches an executable graph on a stream
 *	CAPTURE_NODE			a launch of a kernel, copy or fill: while its stream is
 *					captured it becomes a node of the graph
 */
enum capture_kind {
	CAPTURE_UNKNOWN,
	CAPTURE_BEGIN,
	CAPTURE_END,
	CAPTURE_INSTANTIATE,
	CAPTURE_LAUNCH,
	CAPTURE_NODE
};

/*
 * Which of them a call of CUDA or HIP is, by its name: hipStreamBeginCapture, cuGraphLaunch_ptsz …;
 * endings (_v10000, _ptsz, _spt, WithFlags) do not matter. CAPTURE_UNKNOWN: another call; never
 * CAPTURE_NODE.
 */
enum capture_kind capture_kind_of(const char *name);

struct capture_facts {
	uint64_t span; /* the call */
	enum capture_kind kind;
	int64_t stream, graph, exec;
	str_id name; /* of a node's kernel */
};

/*
 * What a span is in a compiled program, as XLA's: programs consist of modules, and modules of
 * operations.
 *	PROGRAM_MODULE	an execution of a module: on the host what launches it, on a device's line
 *			what it took there
 *	PROGRAM_OP	an execution of an operation (a thunk), on the host or on such a line
 *	PROGRAM_WORK	device work of an operation, which may have several
 *	PROGRAM_COMPILE	a compilation, or a part of one; op is the pass, else the kind of the part
 *
 * The identity of an execution is its module's name and how many there were of that name on its
 * device before (execution): each process compiles for itself, so ids and fingerprints of one
 * program may differ between processes, and are no identity. That of an operation adds its name and
 * how many there were of that name in the execution before (ordinal). model_finish works both out
 * (model/facts/program_runs.h), and gives operations that state no module what the execution around
 * them states; readers leave execution and ordinal alone.
 *
 * Spans of the host and of devices are counted apart: both have an execution 0.
 */
enum program_kind { PROGRAM_UNKNOWN, PROGRAM_MODULE, PROGRAM_OP, PROGRAM_WORK, PROGRAM_COMPILE };

struct program_facts {
	uint64_t span;
	enum program_kind kind;
	str_id module;      /* "jit_train_step" */
	str_id fingerprint; /* of the module's code */
	str_id op;          /* "all-reduce-start.3", "loop_fusion" */
	int64_t program_id; /* of the process */
	int64_t run;        /* the trace's number of the execution, which all its spans have */
	int64_t device;     /* the job's number of the device that it is for */
	uint32_t execution, ordinal; /* from 0; FACT_NONE */
};

/*
 * Stamps of a device's cycle counter on a piece of work: where it was queued, its data had come, it
 * was prepared, executed, and its results were sent. What lies between two of them is a phase. The
 * span is one phase; the other stamps tell of the same work. Turns of the counter are counted in
 * (cycle_clock.h).
 */
enum stamp_phase { PHASE_UNKNOWN, PHASE_DMA_IN, PHASE_PREP, PHASE_EXEC, PHASE_DMA_OUT };
#define STAMPS_NR 5

struct stamp_facts {
	uint64_t span;
	enum stamp_phase phase; /* PHASE_UNKNOWN: from the first stamp to the last */
	int64_t cycles[STAMPS_NR];
	int64_t host_ns; /* how long the span is by the host's clock, which has its end */
	int64_t order;   /* of the event among those of its file */
};

/* The stamps in cycles[] between which a phase lies. */
static inline int stamp_first(enum stamp_phase phase)
{
	return phase == PHASE_UNKNOWN ? 0 : (int)phase - 1;
}
static inline int stamp_last(enum stamp_phase phase)
{
	return phase == PHASE_UNKNOWN ? STAMPS_NR - 1 : (int)phase;
}

/* A device, as an input describes it. */
struct device_facts {
	uint32_t input;
	int64_t number; /* in the trace */
	str_id name;    /* "NVIDIA H100 80GB HBM3" */
	int64_t units;  /* multiprocessors or compute units */
	int64_t warp;   /* threads of a warp or wave */
	int64_t clock_hz, memory_clock_hz, bus_bits;
	int64_t bandwidth; /* bytes/s, where the trace states it */
	int64_t memory;    /* bytes */
	int64_t capability_major, capability_minor;
	str_id arch; /* "gfx942" */
};

/* The job that an input is a part of. */
struct world_facts {
	uint32_t input;
	int64_t rank, size;
	str_id backend, version; /* "nccl", "2.17.1" */
};

enum facts_kind {
	FACTS_OP,
	FACTS_KERNEL,
	FACTS_COPY,
	FACTS_SYNC,
	FACTS_COLLECTIVE,
	FACTS_MEMORY,
	FACTS_CAPTURE,
	FACTS_PROGRAM,
	FACTS_STAMP
};
#define FACTS_LAST FACTS_STAMP

struct span_facts {
	enum facts_kind kind;
	union {
		struct op_facts op;
		struct kernel_facts kernel;
		struct copy_facts copy;
		struct sync_facts sync;
		struct collective_facts collective;
		struct memory_facts memory;
		struct capture_facts capture;
		struct program_facts program;
		struct stamp_facts stamp;
	};
};

/* Rows with nothing known; span is set by the sink. */
#define OP_FACTS_NONE \
	((struct op_facts){ 0, FACT_NONE, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
			    FACT_ABSENT, STR_NONE, STR_NONE, FACT_ABSENT })
#define KERNEL_FACTS_NONE \
	((struct kernel_facts){ 0, \
				{ FACT_ABSENT, FACT_ABSENT, FACT_ABSENT }, \
				{ FACT_ABSENT, FACT_ABSENT, FACT_ABSENT }, \
				false, \
				FACT_ABSENT, \
				FACT_ABSENT, \
				FACT_ABSENT, \
				FACT_ABSENT, \
				FACT_ABSENT, \
				FACT_ABSENT })
#define COPY_FACTS_NONE \
	((struct copy_facts){ 0, FACT_ABSENT, COPY_UNKNOWN, MEMORY_UNKNOWN, MEMORY_UNKNOWN, \
			      FACT_ABSENT, FACT_ABSENT })
#define SYNC_FACTS_NONE \
	((struct sync_facts){ 0, SYNC_UNKNOWN, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
			      FACT_ABSENT })
#define COLLECTIVE_FACTS_NONE \
	((struct collective_facts){ 0, STR_NONE, STR_NONE, FACT_ABSENT, FACT_ABSENT, FACT_NONE, \
				    FACT_NONE, FACT_NONE, STR_NONE, STR_NONE, FACT_ABSENT, \
				    FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
				    FACT_ABSENT, FACT_ABSENT })
#define MEMORY_FACTS_NONE \
	((struct memory_facts){ 0, false, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
				FACT_ABSENT })
#define CAPTURE_FACTS_NONE \
	((struct capture_facts){ 0, CAPTURE_UNKNOWN, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
				 STR_NONE })
#define PROGRAM_FACTS_NONE \
	((struct program_facts){ 0, PROGRAM_UNKNOWN, STR_NONE, STR_NONE, STR_NONE, FACT_ABSENT, \
				 FACT_ABSENT, FACT_ABSENT, FACT_NONE, FACT_NONE })
#define STAMP_FACTS_NONE \
	((struct stamp_facts){ \
		0, \
		PHASE_UNKNOWN, \
		{ FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT }, \
		FACT_ABSENT, \
		FACT_ABSENT })
#define DEVICE_FACTS_NONE \
	((struct device_facts){ 0, FACT_ABSENT, STR_NONE, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
				FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, FACT_ABSENT, \
				FACT_ABSENT, STR_NONE })
#define WORLD_FACTS_NONE ((struct world_facts){ 0, FACT_ABSENT, FACT_ABSENT, STR_NONE, STR_NONE })

/* What a reader has of the operands of a call: JSON texts, none of which need be valid or there. */
struct operand_texts {
	struct fact_text {
		const char *p; /* NULL: absent */
		size_t n;
	} shapes, types, strides, concrete;
};

/* In the model, model.facts. */
struct facts {
	VEC(struct op_facts) ops;
	VEC(struct kernel_facts) kernels;
	VEC(struct copy_facts) copies;
	VEC(struct sync_facts) syncs;
	VEC(struct collective_facts) collectives;
	VEC(struct memory_facts) memory;
	VEC(struct capture_facts) captures;
	VEC(struct program_facts) programs;
	VEC(struct stamp_facts) stamps;
	VEC(struct device_facts) devices;
	VEC(struct world_facts) worlds;
	VEC(struct operand_list) lists;
	VEC(struct operand) operands;
	VEC(struct fact_numbers { uint32_t first, nr; }) numbers; /* in values */
	VEC(int64_t) values;
};

/* The row of a span, NULL when it has none. After model_finish. O(log n). */
const struct op_facts *facts_op(const struct model *m, uint64_t span);
const struct kernel_facts *facts_kernel(const struct model *m, uint64_t span);
const struct copy_facts *facts_copy(const struct model *m, uint64_t span);
const struct sync_facts *facts_sync(const struct model *m, uint64_t span);
const struct collective_facts *facts_collective(const struct model *m, uint64_t span);
const struct memory_facts *facts_memory(const struct model *m, uint64_t span);
const struct capture_facts *facts_capture(const struct model *m, uint64_t span);
const struct program_facts *facts_program(const struct model *m, uint64_t span);
const struct stamp_facts *facts_stamp(const struct model *m, uint64_t span);
/* Whether any span has one of them. */
bool facts_any(const struct model *m);

/* The numbers of a list; *ret_nr 0 and NULL for FACT_NONE. */
const int64_t *facts_numbers(const struct model *m, uint32_t id, size_t *ret_nr);
/*
 * The device of this number of an input. Where the input describes others, and all alike, it is the
 * first of them: containers number what they see from 0, and their work has the host's numbers.
 * NULL: none, or it cannot be told.
 */
const struct device_facts *facts_device(const struct model *m, uint32_t input, int64_t number);

#endif
