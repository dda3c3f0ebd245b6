/*
 * capture_call: calls of CUDA and HIP that capture, instantiate and launch graphs, by their names,
 * and the handles in what a tracer prints of their arguments (capture_facts in model/facts.h).
 *
 *	hipStreamBeginCapture		stream = 0x5000 | mode = 0
 *	hipStreamEndCapture		stream = 0x5000 | graph = 0x6000
 *	hipGraphInstantiate		graphExec = 0x7000 | graph = 0x6000
 *	cudaGraphLaunch_v10000		{"graphExec": "0x7000", "stream": "0x5000"}
 *
 * Endings (_v10000, _ptsz, _spt, WithFlags) do not matter. Texts are untrusted: one pass, numbers
 * are bounded, what cannot be read is absent.
 */
#ifndef ANALYSIS_CAPTURE_CALL_H
#define ANALYSIS_CAPTURE_CALL_H

#include <stddef.h>

#include "profrig/model/facts.h"

/* CAPTURE_UNKNOWN: another call. */
enum capture_kind capture_call_kind(const char *name);
/* Sets stream, graph and exec as far as the text has them. */
void capture_call_handles(const char *args, size_t n, struct capture_facts *to);
/* "0x5000", "20480", "(nil)"; FACT_ABSENT: no handle. */
int64_t capture_handle(const char *s, size_t n);

#endif
