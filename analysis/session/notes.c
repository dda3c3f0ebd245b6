/* Options, notes and the outcome of a session. */
#include "session_private.h"

#include <stdarg.h>
#include <stdio.h>

#include "profrig/base/clock.h"

void session_opts_init(struct session_opts *o)
{
	*o = (struct session_opts){ .only = STRVEC_INIT,
				    .formats = STRVEC_INIT,
				    .topology = topology_new() };
}

void session_opts_release(struct session_opts *o)
{
	strvec_release(&o->only);
	strvec_release(&o->formats);
	idle_opts_release(&o->analysis.idle);
	topology_free(o->topology);
}

void session_result_release(struct session_result *r)
{
	report_release(&r->report);
}

void session_trace_release(struct session_trace *t)
{
	profile_free(t->profile);
	model_free(t->m);
	*t = (struct session_trace){ .m = NULL };
}

double session_lap_s(int64_t *at)
{
	int64_t now = clock_monotonic_ns();
	double s = (double)(now - *at) / 1e9;

	*at = now;
	return s;
}

static bool note_is_error(enum session_note_kind kind)
{
	return kind == SESSION_UNREADABLE || kind == SESSION_ANALYSIS_FAILED ||
	       kind == SESSION_CHECK_FAILED || kind == SESSION_STRICT ||
	       kind == SESSION_MEMBER_FAILED || kind == SESSION_NOT_WRITTEN;
}

void session_worsen(struct session_outcome *out, enum session_end end)
{
	out->end = end > out->end ? end : out->end;
}

int session_fail(struct session_outcome *out, enum session_end end, int r)
{
	session_worsen(out, end);
	return r;
}

void session_note_put(const struct session_opts *o, struct session_outcome *out,
		      struct session_note n, const char *fmt, ...)
{
	CLEANUP(xfreep) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	out->noted[n.kind]++;
	if (note_is_error(n.kind))
		snprintf(out->last_error, sizeof(out->last_error), "%s", text);
	n.text = text;
	if (o->listener.note)
		o->listener.note(o->listener.ctx, &n);
}

void session_phase(const struct session_opts *o, enum session_phase phase, const char *what)
{
	if (o->listener.phase)
		o->listener.phase(o->listener.ctx, phase, what);
}

void session_done(const struct session_opts *o, enum session_phase phase, const char *part)
{
	if (o->listener.done)
		o->listener.done(o->listener.ctx, phase, part);
}
