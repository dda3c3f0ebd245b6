#include "agent_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "profrig/base/xalloc.h"

void event_begin(struct event *ev, const char *name)
{
	*ev = (struct event){ .text = NULL };
	ev->f = open_memstream(&ev->text, &ev->len);
	if (!ev->f)
		xalloc_failed();
	json_out_init(&ev->j, ev->f, 0);
	json_obj(&ev->j, NULL);
	json_str(&ev->j, "ev", name);
}

void event_end(struct event *ev, struct agent_out *out)
{
	json_end(&ev->j);
	if (fclose(ev->f) != 0)
		xalloc_failed();
	if (*out->key) {
		strbuf_addf(&out->q, "%s ", out->key);
		strbuf_add(&out->q, ev->text, ev->len);
		strbuf_addch(&out->q, '\n');
	}
	free(ev->text);
	out_flush(out);
}

void event_error(struct agent_out *out, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct event ev;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	event_begin(&ev, "error");
	json_strn(&ev.j, "text", text.buf, text.len);
	event_end(&ev, out);
}

void out_flush(struct agent_out *out)
{
	while (!out->broken && out_pending(out) > 0) {
		ssize_t n = write(STDOUT_FILENO, out->q.buf + out->sent, out_pending(out));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			out->broken = true;
			return;
		}
		out->sent += (size_t)n;
	}
	strbuf_clear(&out->q);
	out->sent = 0;
}
