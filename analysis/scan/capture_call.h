/*
 * capture_call: the handles in what a tracer prints of the arguments of calls of CUDA and HIP that
 * capture, instantiate and launch graphs (capture_facts, capture_kind_of in model/facts.h).
 *
 *	hipStreamBeginCapture		stream = 0x5000 | mode = 0
 *	hipStreamEndCapture		stream = 0x5000 | graph = 0x6000
 *	hipGraphInstantiate		graphExec = 0x7000 | graph = 0x6000
 *	cudaGraphLaunch_v10000		{"graphExec": "0x7000", "stream": "0x5000"}
 *
 * Texts are untrusted: one pass, numbers are bounded, what cannot be read is absent.
 */
#ifndef ANALYSIS_CAPTURE_CALL_H
#define ANALYSIS_CAPTURE_CALL_H

#include <stddef.h>

#include "profrig/model/facts.h"

/* Sets stream, graph and exec as far as the text has them. */
void capture_call_handles(const char *args, size_t n, struct capture_facts *to);
/* "0x5000", "20480", "(nil)"; FACT_ABSENT: no handle. */
int64_t capture_handle(const char *s, size_t n);

#endif
