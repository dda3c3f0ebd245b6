/*
 * operator_backward: which forward call a backward call belongs to. Autograd numbers the calls that
 * it records, in each process from the beginning; the backward call has the number and an id of the
 * thread on which the forward one ran. Both are of one process.
 *
 * Of nested forward calls with one number the innermost one made the record. A backward call has a
 * forward thread other than 0; below another one with its number it is a part of that. Ids of
 * forward threads are no thread ids: where several threads have calls of a number, the thread of an
 * id is the one on which most of the id's other numbers were found alone.
 */
#ifndef PROFRIG_OPERATOR_BACKWARD_H
#define PROFRIG_OPERATOR_BACKWARD_H

#include "operator_rows.h"

/* By call: the forward call that a backward one belongs to; of all others OPERATOR_NONE. Owned. */
uint32_t *backward_forward(const struct operator_calls *oc);
/* Adds to backward_ns of rows. row: of each call. */
void backward_add(const struct operator_calls *oc, const uint32_t *row, struct operator_rows *rows);

#endif
