/*
 * copy_words: from where to where a copy goes, as recordings say it: "HtoD", "H2D",
 * "HostToDevice", "HOST_TO_DEVICE", "PtoP"; "(Pageable -> Device)" behind it.
 */
#ifndef ANALYSIS_COPY_WORDS_H
#define ANALYSIS_COPY_WORDS_H

#include <stddef.h>

#include "profrig/model/facts.h"

/* Sets what the text says of direction, from and to, and leaves the rest as it is. */
void copy_words_take(const char *text, size_t n, struct copy_facts *f);
/* Of the enumeration that CUDA and HIP share: 0 H2H, 1 H2D, 2 D2H, 3 D2D, 4 not said. */
enum copy_direction copy_direction_of_runtime(int64_t kind);

#endif
