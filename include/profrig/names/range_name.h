/*
 * range_name: names of host ranges without the numbers that make each call's name its own.
 *
 *	aten::mm, seq = 5, op_id = 77				→ aten::mm
 *	<built-in method apply of X object at 0x7f3210ab00>	→ … at 0x*>
 *	TSL:XlaPass:#name=algsimp,module=jit_f,program_id=1#	→ XlaPass algsimp
 *
 * PyTorch adds `, seq = N`, `, op_id = N` and `, input_op_ids = [(N,N), …]` to its NVTX ranges;
 * addresses are hexadecimal numbers of at least RANGE_ADDRESS_DIGITS digits behind "0x". All other
 * numbers stay: they tell layers (Linear_0, layer.12), steps (ProfilerStep#3) and functions
 * (lambda()#1) apart. Ranges of XLA have the names of xla_range.h.
 */
#ifndef PROFRIG_RANGE_NAME_H
#define PROFRIG_RANGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/strbuf.h"

#define RANGE_ADDRESS_DIGITS 4

/* Appends the normal form to out; false, and out as it was: the name is one already. */
bool range_name(const char *name, size_t n, struct strbuf *out);

#endif
