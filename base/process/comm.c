#include "profrig/base/comm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/serial.h"
#include "profrig/base/xalloc.h"

void comm_gather(struct comm *c, const void *mine, size_t n, struct comm_parts *ret)
{
	CLEANUP(xfreep) size_t *lengths = xcalloc((size_t)c->size, sizeof(*lengths));

	*ret = (struct comm_parts){ STRBUF_INIT, xcalloc((size_t)c->size + 1, sizeof(*ret->at)) };
	c->ops->gather(c, mine, n, lengths, &ret->bytes);
	for (int i = 0; i < c->size; i++)
		ret->at[i + 1] = ret->at[i] + lengths[i];
}

void comm_parts_release(struct comm_parts *p)
{
	strbuf_release(&p->bytes);
	free(p->at);
	p->at = NULL;
}

void comm_stop(struct comm *c, int code, const char *fmt, ...)
{
	CLEANUP(xfreep) char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	why = xvasprintf(fmt, ap);
	va_end(ap);
	c->ops->stop(c, code, why);
}

struct answer {
	bool ready;
	int code;
};

bool comm_begin(struct comm *c, bool ready, int code, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	struct answer a = { ready, code };
	bool wanted = false;

	if (comm_alone(c) || c->begun)
		return false;
	c->begun = true;
	SERIAL_PUT(&mine, a);
	serial_put_text(&mine, c->host);
	serial_put_text(&mine, why);
	comm_gather(c, mine.buf, mine.len, &all);
	for (int r = 0; r < c->size; r++) {
		struct serial_in in = { all.bytes.buf + all.at[r], all.bytes.buf + all.at[r + 1],
					false };
		CLEANUP(xfreep) char *host = NULL;
		CLEANUP(xfreep) char *text = NULL;

		SERIAL_TAKE(&in, a);
		host = serial_take_text(&in);
		text = serial_take_text(&in);
		if (r == 0)
			wanted = a.ready;
		if (wanted && !a.ready)
			comm_stop(c, a.code, "rank %d on %s: %s", r, host ? host : "?",
				  text ? text : "it ended before the others began");
	}
	return wanted;
}
