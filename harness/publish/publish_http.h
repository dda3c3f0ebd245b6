/*
 * publish_http: one request with a body to a server that takes results.
 */
#ifndef PUBLISH_HTTP_H
#define PUBLISH_HTTP_H

#include "profrig/publish/publish.h"

struct publish_request {
	const char *method, *url, *type; /* "PUT", "text/plain" */
	const char *body;
	/* statuses that mean that all of it was taken, up to three; a body behind 200 is none */
	long good[4];
};
/*
 * Redirects are not followed. 0; -EBADMSG: 400, 413, 422, the data itself is wrong; -EINTR; else
 * -errno: no answer, or one that says "not now" or comes from something else.
 */
int publish_http(const struct publish_target *t, const struct publish_request *rq,
		 const struct publish_call *call, struct err *err);

#endif
