/*
 * http: one request at a time through libcurl, which is loaded at its first use.
 *
 *	struct http *h = http_open(err);		NULL: libcurl is missing
 *	http_ask(h, &rq, &reply, err);			0: an answer came, whole; see reply.status
 *	http_close(h)
 *
 * -EAGAIN: no connection, or it broke off; a retry may help. -EINTR: interrupted; -ECANCELED:
 * stopped; -ENOSPC: the disk is full; -EPROTO: any other failure. Redirects are followed, at most
 * ten, to http and https only, and take no credentials to another host; requests that are signed or
 * send a body follow none. A transfer without progress for a minute is given up. Proxies come from
 * the environment (http_proxy, no_proxy). A struct http is for one thread at a time; one thread at
 * a time opens one.
 */
#ifndef PROFRIG_HTTP_H
#define PROFRIG_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "profrig/base/strbuf.h"
#include "profrig/data/data.h"

struct http_access {
	const char *user, *password, *token; /* NULL */
	const char *region;                  /* of S3: sign the request; NULL: not */
};

struct http_reply {
	long status;
	char etag[256];         /* as sent, with its quotes; "" */
	char modified[64];      /* Last-Modified; "" */
	char bucket_region[64]; /* region of the bucket, from S3's answer; "" */
	int64_t length;         /* of the received body; -1 not stated */
	int64_t from, total;    /* of Content-Range; -1 */
};

struct http_request {
	const char *url;
	const char *method; /* "PUT", "POST": sends the body; NULL: a GET, or a HEAD */
	const char *body;   /* borrowed, until the answer is here */
	size_t body_n;
	const char *type; /* of the body: "text/plain" */
	double timeout_s; /* of the whole request; 0: none */
	struct http_access access;
	bool head;
	bool peek;            /* the head of the answer to a GET, without the body */
	uint64_t from;        /* begin there, if_range holds */
	const char *if_range; /* NULL: from is 0 */
	/*
	 * Where a good body goes (status 200 or 206); at 200 and from > 0 it is cut to nothing
	 * first. -1: to text.
	 */
	int fd;
	struct strbuf *text; /* with a ceiling; NULL: thrown away */
	/* before the first byte of a good body: < 0 ends the request with this error */
	int (*begin)(void *ctx, const struct http_reply *r, struct err *err);
	void *ctx;
	const struct data_opts *events;
	const atomic_bool *stop; /* true: give up, with -ECANCELED; NULL */
};

struct http *http_open(struct err *err);
void http_close(struct http *h); /* NULL is fine */
int http_ask(struct http *h, const struct http_request *rq, struct http_reply *ret,
	     struct err *err);

/* "https://host/path" without query and fragment, for people. Owned. */
char *http_shown(const char *url);
/* "not found", "access is refused (403)" … of a status that is no success; buf holds 64. */
const char *http_status_words(long status, char *buf);

#endif
