/*
 * xla_warmup: how many executions of an XLA program (JAX, TensorFlow) are warm-up by what they do,
 * whatever their times: the first one of a program that was compiled in the recording, and the
 * first one that communicates, for it makes the communicators. So of n executions those from
 * (compiled) + (communicates) on are steady, the rule of nsys-jax.
 *
 * Markers: ranges of XLA's annotations, "TSL:XlaModule:#hlo_module=jit_step,program_id=7#" with or
 * without "TSL:" or a prefix inside. Compiled: a range "XlaCompile:#module=jit_step,program_id=7#"
 * of the process, with the same name, and the same number where both have one. Communicates: one of
 * its executions owns a collective.
 */
#ifndef PROFRIG_XLA_WARMUP_H
#define PROFRIG_XLA_WARMUP_H

#include "profrig/work/iterations.h"

/* Of a group whose markers all have one name; else 0. May be more than the group has. */
size_t xla_warmup(const struct iterations *it, const struct works *w,
		  const struct iteration_group *g);

#endif
