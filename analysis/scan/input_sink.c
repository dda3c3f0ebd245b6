#include "input_sink.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"

struct input *input_begin(struct sink *s, const char *path, const char *reader)
{
	s->ops->input(s, path, reader);
	return s->ops->current(s);
}

void input_format(struct input *in, const char *format, enum trace_clock clock)
{
	free(in->format);
	in->format = xstrdup(format);
	in->clock = clock;
}

int input_finish(struct sink *s, const struct input_map *m, bool cut, const char *what)
{
	struct input *in = s->ops->current(s);

	if (m->truncated)
		sink_warnf(s, W_TRUNCATED, "compressed data: %s", m->why);
	if (in->spans + in->samples + in->library == 0)
		sink_warnf(s, W_EMPTY_INPUT, "%s holds %s", in->path, what);
	in->partial |= cut || m->truncated;
	s->ops->input_end(s);
	return in->partial ? READ_PARTIAL : 0;
}
