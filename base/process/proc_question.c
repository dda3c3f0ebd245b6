#include "profrig/base/proc.h"

#define QUESTION_TRIES 3

int proc_question(char *const *argv, int timeout_ms, size_t max, struct strbuf *out,
		  struct strbuf *errs, struct proc_exit *ret, struct err *err)
{
	int r = 0;

	for (int i = 0; i < QUESTION_TRIES; i++) {
		strbuf_clear(out);
		if (errs)
			strbuf_clear(errs);
		r = proc_capture(argv, timeout_ms, max, out, errs, ret, err);
		if (r < 0 || !ret->signal)
			break;
	}
	return r;
}
