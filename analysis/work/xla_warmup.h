/*
 * xla_warmup: how many executions of an XLA program (JAX, TensorFlow) are warm-up by what they do,
 * whatever their times: the first one of a program that was compiled in the recording, and the
 * first one that communicates, for it makes the communicators. So of n executions those from
 * (compiled) + (communicates) on are steady, the rule of nsys-jax.
 *
 * Executions are the spans that launch them (program_facts of PROGRAM_MODULE). Compiled: the
 * process has a compilation of a module with this name, and the same program id where both have
 * one.
 * Communicates: one of its executions owns a collective.
 */
#ifndef PROFRIG_XLA_WARMUP_H
#define PROFRIG_XLA_WARMUP_H

#include "profrig/work/iterations.h"

/* Of a group whose markers are all executions of one program, else 0; may be more than it has. */
size_t xla_warmup(const struct iterations *it, const struct works *w,
		  const struct iteration_group *g);

#endif
