/*
 * collective_logs: sizes of collectives from logs of NCCL and RCCL, where the trace has none.
 *
 *	collective_logs_take(cp)	cp->v is by rank and in the order of launches
 *
 * Logs and traces number nothing together. A part without a size is the call of a log
 *	- that library_match.h finds for its kernel, by process, or else
 *	- of the same rank and operation, the k-th one for the k-th part, if log and trace have as
 *	  many of them and one process alone logs as that rank. Where there is one rank only, a log
 *	  without ranks is that rank's.
 * Nothing else is guessed, and of an operation all ranks get their sizes or none does, as parts of
 * one collective must agree. cp->unsized says why parts stay without a size.
 *
 * The call gives elements, bytes, type and the size of the group, each where the trace has none,
 * and its name where the trace has no facts; part.source is COLLECTIVE_FROM_LOG.
 */
#ifndef PROFRIG_COLLECTIVE_LOGS_H
#define PROFRIG_COLLECTIVE_LOGS_H

#include "collective_parts.h"

void collective_logs_take(struct collective_parts *cp);

#endif
