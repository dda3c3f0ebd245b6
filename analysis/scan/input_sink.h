/*
 * input_sink: what readers of one file tell a sink at its begin and its end.
 *
 *	in = input_begin(sink, path, "perf");
 *	input_format(in, "perf script (sampled stacks)", TRACE_CLOCK_OWN);
 *	in->resolution_hz = …				what else is known of it
 *	sink->ops->clock(sink);
 *	…
 *	return input_finish(sink, &map, cut, "no samples");
 */
#ifndef ANALYSIS_INPUT_SINK_H
#define ANALYSIS_INPUT_SINK_H

#include "profrig/model/sink.h"
#include "profrig/scan/input.h"

/* The input of path, begun in the sink by the reader of that name. */
struct input *input_begin(struct sink *s, const char *path, const char *reader);
/* Names the format as people know it. The name is copied. */
void input_format(struct input *in, const char *format, enum trace_clock clock);
/*
 * Warns of compressed data that is cut short and of an input without spans and samples ("PATH holds
 * WHAT"), and ends the input, which is partial when cut or so compressed. Returns 0 or
 * READ_PARTIAL.
 */
int input_finish(struct sink *s, const struct input_map *m, bool cut, const char *what);

#endif
