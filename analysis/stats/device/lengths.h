/* lengths: classes of durations of kernels and gaps, as tables show them. */
#ifndef PROFRIG_LENGTHS_H
#define PROFRIG_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

enum { LENGTHS = 8 };

/* Below LENGTHS. A lower end belongs to its class: 10 us are "10-20us". */
size_t length_of(int64_t ns);
const char *length_name(size_t length);

#endif
