#include "record_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

void record_free(struct record_state *s)
{
	VEC_RELEASE(&s->holds);
	VEC_RELEASE(&s->windows);
	VEC_RELEASE(&s->marks);
}

void record_name(char ret[CONTROL_MAX_NAME + 1], const char *text, size_t n, const char *otherwise)
{
	size_t at = 0, len;

	while (n > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	for (; n > 0; text += len, n -= len) {
		bool plain;

		len = utf8_len(text, n);
		plain = len > 0 && !(len == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f));
		if (at + (plain ? len : 1) > CONTROL_MAX_NAME)
			break;
		if (plain)
			memcpy(ret + at, text, len);
		else
			ret[at] = '?';
		at += plain ? len : 1;
		len = len ? len : 1;
	}
	ret[at] = '\0';
	if (!at)
		snprintf(ret, CONTROL_MAX_NAME + 1, "%s", otherwise);
}

int record_hold(struct record_state *s, const char *by, int64_t t_ns, struct err *err)
{
	struct record_hold h = { .since_ns = t_ns };

	if (s->holds.nr >= CONTROL_MAX_HOLDS)
		return err_set(err, ENOSPC, "recording is held %d times already: stop some first",
			       CONTROL_MAX_HOLDS);
	snprintf(h.by, sizeof(h.by), "%s", by);
	VEC_PUSH(&s->holds, h);
	return 0;
}

static int not_held(const struct record_state *s, const char *by, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf who = STRBUF_INIT;

	if (!s->holds.nr)
		return err_set(err, ENOENT, "nothing is being recorded: start comes first");
	for (size_t i = 0; i < s->holds.nr && i < 8; i++)
		strbuf_addf(&who, "%s'%s'", i ? ", " : "", s->holds.v[i].by);
	return err_set(err, ENOENT, "recording is not held by '%s', but by %s", by, who.buf);
}

int record_release(struct record_state *s, const char *by, struct err *err)
{
	for (size_t i = s->holds.nr; i-- > 0;) {
		if (by && strcmp(s->holds.v[i].by, by) != 0)
			continue;
		memmove(&s->holds.v[i], &s->holds.v[i + 1],
			(s->holds.nr - i - 1) * sizeof(*s->holds.v));
		s->holds.nr--;
		return 0;
	}
	return not_held(s, by ? by : "", err);
}

bool record_is_held_by(const struct record_state *s, const char *by)
{
	return VEC_FIND(&s->holds, x, !strcmp(x->by, by));
}

void record_opened(struct record_state *s, const char *name, const char *by, int64_t t_ns)
{
	struct record_window w = { .start_ns = t_ns };

	if (s->windows.nr >= CONTROL_MAX_WINDOWS) {
		s->windows_dropped++;
		return;
	}
	if (*name)
		snprintf(w.name, sizeof(w.name), "%s", name);
	else
		snprintf(w.name, sizeof(w.name), "%zu", s->windows.nr + 1);
	snprintf(w.by, sizeof(w.by), "%s", by);
	VEC_PUSH(&s->windows, w);
}

bool record_is_open(const struct record_state *s)
{
	return s->windows.nr && !s->windows.v[s->windows.nr - 1].end_ns;
}

void record_closed(struct record_state *s, int64_t t_ns)
{
	if (!record_is_open(s))
		return;
	if (t_ns > s->windows.v[s->windows.nr - 1].start_ns)
		s->windows.v[s->windows.nr - 1].end_ns = t_ns;
	else
		s->windows.nr--;
}

void record_mark(struct record_state *s, const struct record_mark *m)
{
	if (s->marks.nr < CONTROL_MAX_MARKS)
		VEC_PUSH(&s->marks, *m);
	else
		s->marks_dropped++;
}
