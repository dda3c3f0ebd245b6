/*
 * hlo: what a compiler's dump says of compiled programs (XLA_FLAGS=--xla_dump_to=DIR, with
 * --xla_dump_hlo_as_proto as well): of each module its instructions, with their result's size, what
 * they call, and where in the program's source they come from.
 *
 *	struct hlo_programs *p = hlo_programs_new();
 *	if (hlo_dump_is(path))
 *		hlo_read(p, path, &err)		any number of files, text or proto, in any order
 *	hlo_join(p, m, true)			m is finished: facts of its operations
 *	hlo_programs_free(p);
 *
 * Files: module_NNNN.NAME[.…]after_optimizations.txt, and the same as *.hlo.pb (HloProto), also
 * compressed. Dumps of earlier stages have other names of instructions, and are passed over. Text
 * and proto of one module give the same; one of them counts.
 *
 * Join: an operation of a trace (program_facts) is the instruction of its name in the module of its
 * name. Where several dumps have a module of that name, it is the one with the trace's program id,
 * else with its fingerprint, else one that has the instruction. Operations of modules that no dump
 * has are counted by W_HLO_MISSING, those that their module's dump lacks by W_HLO_OTHER.
 *
 * Collectives: all-gather, all-reduce, all-to-all, collective-broadcast, collective-permute and
 * reduce-scatter, synchronous or begun by "…-start"; async-start and fusion are the one collective
 * in what they call. Their facts (collective_facts) are kind, type, size and number of ranks: the
 * size is that of collective_cost.h, of the sum of all operands; a permute is of two ranks. Groups
 * of different sizes are no size, and neither are several collectives in one operation:
 * W_HLO_GROUPS. What a trace states itself stays.
 *
 * Sizes: predicates and 8-bit floats take 8 bits, 4-bit types 4; of an array the bits are rounded
 * up to bytes. Source: xla_data.proto, and nsys-jax for what counts as a message.
 */
#ifndef PROFRIG_HLO_H
#define PROFRIG_HLO_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/intern.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

#define HLO_ABSENT INT64_MIN
#define HLO_INSTRUCTIONS_MAX ((size_t)1 << 22) /* of one file */

struct hlo_instruction {
	str_id name, opcode; /* "all-reduce-start.1", "all-reduce-start" */
	str_id type;         /* of the result's first array: "bf16"; 0 none */
	int64_t bytes;       /* of the result, all arrays of a tuple; HLO_ABSENT */
	int64_t operand_bytes;
	int64_t group_size;       /* of a collective's groups, pairs: 2; HLO_ABSENT */
	uint32_t groups;          /* how many */
	bool mixed;               /* of different sizes */
	uint32_t calls, nr_calls; /* in module.calls */
	str_id op_name, file;     /* of the source; 0 unknown */
	int64_t line;             /* HLO_ABSENT */
	uint32_t frame;           /* in module.frames, from 1; 0 none */
};

struct hlo_module {
	str_id name, fingerprint;         /* fingerprint: 0 unknown */
	int64_t id, replicas, partitions; /* HLO_ABSENT */
	VEC(struct hlo_instruction) v;
	struct u64map by_name; /* str_id → v */
	VEC(struct hlo_computation {
		str_id name;
		uint32_t first, nr; /* in v */
	}) computations;
	VEC(uint32_t) calls; /* computations */
	/* call stacks: a place, and the frame that called it (from 1; 0: none) */
	VEC(struct hlo_frame {
		str_id file, function;
		int64_t line;
		uint32_t parent;
	}) frames;
};

struct hlo_programs {
	struct intern *texts;
	VEC(struct hlo_module) v;
};

struct hlo_programs *hlo_programs_new(void);
void hlo_programs_free(struct hlo_programs *p); /* NULL is fine */

/* By the file's name: a dump, of any stage. */
bool hlo_dump_is(const char *path);
/*
 * Adds the module of a file, unless it has it, or the file is of another stage. -EINVAL: the file
 * is no dump, or damaged; err has the place.
 */
int hlo_read(struct hlo_programs *p, const char *path, struct err *err);

/*
 * Adds the programs that an XSpace file holds (readers/xplane). -EINVAL: one of them is damaged;
 * the others are there. Damage of the file itself is its reader's to tell.
 */
int hlo_read_space(struct hlo_programs *p, const char *path, struct err *err);

/* The instruction of a name; NULL: there is none. */
const struct hlo_instruction *hlo_instruction(const struct hlo_module *m, str_id name);
/*
 * The collective that an instruction is, or calls as its only one; NULL: none, or several, which
 * sets *ret_several.
 */
const struct hlo_instruction *hlo_collective(const struct hlo_programs *p,
					     const struct hlo_module *m,
					     const struct hlo_instruction *i, bool *ret_several);

/*
 * Where an operation comes from in the program's source: a path "frame;frame" for the instruction
 * and for each that it calls, also through others; those that state no source have none. A path is
 * the call stack of the instruction, "function (file:line)" outermost first; without one the parts
 * of op_name ("jit(step)/dot"); without that "file:line". Of dumps of that module those with the
 * program id are asked, where there are any, else all; where they differ, ret is of the first.
 */
enum hlo_source { HLO_SOURCE_UNKNOWN, HLO_SOURCE_KNOWN, HLO_SOURCE_DIFFERS };
#define HLO_SOURCES_MAX ((size_t)4096) /* instructions that one operation may have */

struct hlo_op {
	const char *module, *op;
	int64_t id; /* of the program; HLO_ABSENT */
};
struct hlo_paths {
	VEC(str_id) v;
};
/* ret: replaced; its texts are put into `to`. */
enum hlo_source hlo_sources(const struct hlo_programs *p, const struct hlo_op *of,
			    struct intern *to, struct hlo_paths *ret);

struct model;
/* Facts of the operations of a finished model. dumps: warns of operations that they lack. */
void hlo_join(const struct hlo_programs *p, struct model *m, bool dumps);

#endif
