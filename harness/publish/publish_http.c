#include "publish_http.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/data/http.h"

#define MAX_ANSWER ((size_t)4096)
#define MAX_SHOWN 200

/* What the server says of a failure, on one line. Owned. */
static char *words_of(struct strbuf *answer)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_rtrim(answer);
	text_no_controls(answer->buf, ' ');
	redact_str(answer->buf);
	text_visible(&sb, answer->buf, strnlen(answer->buf, MAX_SHOWN), "");
	return strbuf_steal(&sb);
}

static int refused(long status, struct strbuf *answer, struct err *err)
{
	CLEANUP(xfreep) char *words = words_of(answer);
	const char *colon = *words ? ": " : "";

	if (status >= 300 && status < 400)
		return err_set(err, EPROTO,
			       "it redirects (status %ld), which is not followed: name the final "
			       "address",
			       status);
	if (status == 401 || status == 403)
		return err_set(err, EACCES, "access is refused (status %ld)%s%s", status, colon,
			       words);
	if (status == 404)
		return err_set(err, ENOENT, "no such database or path (status 404)%s%s", colon,
			       words);
	if (status == 400 || status == 413 || status == 422)
		return err_set(err, EBADMSG, "it refuses the data (status %ld)%s%s", status, colon,
			       words);
	if (status >= 200 && status < 300)
		return err_set(err, EPROTO,
			       "the answer is not one of such a server (status %ld)%s%s", status,
			       colon, words);
	return err_set(err, EAGAIN, "the server has trouble (status %ld)%s%s", status, colon,
		       words);
}

int publish_http(const struct publish_target *t, const struct publish_request *rq,
		 const struct publish_call *call, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	const struct data_opts events = { .interrupt = call->interrupt };
	struct http_request hr = {
		.url = rq->url,
		.method = rq->method,
		.body = rq->body,
		.body_n = strlen(rq->body),
		.type = rq->type,
		.timeout_s = call->timeout_s,
		.access = { .user = t->user || t->password ? (t->user ? t->user : "") : NULL,
			    .password = t->password },
		.fd = -1,
		.text = &answer,
		.events = &events,
	};
	struct http_reply reply;
	struct http *h = http_open(err);
	int r;

	if (!h)
		return -ENOTSUP;
	strbuf_limit(&answer, MAX_ANSWER);
	r = http_ask(h, &hr, &reply, err);
	http_close(h);
	if (r < 0)
		return r == -EBADMSG ? -EIO : r;
	for (size_t i = 0; i < ARRAY_LEN(rq->good); i++)
		if (rq->good[i] && rq->good[i] == reply.status &&
		    (reply.status != 200 || !answer.len))
			return 0;
	return refused(reply.status, &answer, err);
}
