#include "profrig/data/http.h"

/* setopt is called through a pointer, so curl's own type checks cannot work. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define MAX_REDIRECTS 10L
#define CONNECT_TIMEOUT_S 30L
#define STALL_S 60L
/* SHA-256 of an empty body, as a GET sends. */
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

#define CURL_SYMS(X) \
	X(curl_easy_init) \
	X(curl_easy_setopt) \
	X(curl_easy_perform) \
	X(curl_easy_cleanup) \
	X(curl_easy_reset) \
	X(curl_easy_getinfo) \
	X(curl_easy_strerror) \
	X(curl_slist_append) \
	X(curl_slist_free_all)

struct curl_lib {
	DYNLIB_MEMBERS(CURL_SYMS)
};
#define CURL_ROW(f) DYNLIB_SYM(struct curl_lib, f),
static const struct dynlib_sym curl_syms[] = { CURL_SYMS(CURL_ROW) };

/* These macros would check types; here the names are members. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct http {
	void *lib;
	struct curl_lib c;
	CURL *easy;
	char words[CURL_ERROR_SIZE];
	/* of the current request */
	const struct http_request *rq;
	struct http_reply *reply;
	bool began;
	uint64_t got;
	int failed; /* error of this side: -errno */
	struct err err;
};

static int load_curl(void **ret_lib, struct curl_lib *c, struct err *err)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4",
					     "libcurl-nss.so.4", "libcurl.so", NULL };
	int r = dynlib_open(names, ret_lib, err);

	if (r < 0)
		return r;
	r = dynlib_load(*ret_lib, curl_syms, ARRAY_LEN(curl_syms), c, err);
	if (r < 0)
		dynlib_close(*ret_lib);
	return r;
}

int data_transfer_works(struct err *err)
{
	struct curl_lib c;
	void *lib;
	int r = load_curl(&lib, &c, err);

	if (r == 0)
		dynlib_close(lib);
	return r;
}

struct http *http_open(struct err *err)
{
	struct http *h = xcalloc(1, sizeof(*h));
	struct err why = ERR_INIT;

	if (load_curl(&h->lib, &h->c, &why) < 0) {
		err_set(err, ENOTSUP, "libcurl is not here (apt-get install libcurl4): %.200s",
			why.msg);
		free(h);
		return NULL;
	}
	h->easy = h->c.curl_easy_init();
	if (h->easy)
		return h;
	err_set(err, EIO, "libcurl does not start");
	http_close(h);
	return NULL;
}

/* The library stays loaded: it registers things with the process that cannot be undone. */
void http_close(struct http *h)
{
	if (h && h->easy)
		h->c.curl_easy_cleanup(h->easy);
	free(h);
}

/* --- an answer --- */

static void forget_hop(struct http_reply *r)
{
	*r = (struct http_reply){ .length = -1, .from = -1, .total = -1 };
}

static void set_text(char *to, size_t n, const char *value, size_t len)
{
	snprintf(to, n, "%.*s", (int)len, value);
}

/* "bytes 100-199/200" or "bytes * /200" */
static void content_range(struct http_reply *r, const char *v, size_t n)
{
	const char *slash = memchr(v, '/', n);
	size_t digits;

	if (n < 6 || strncasecmp(v, "bytes ", 6) != 0 || !slash)
		return;
	digits = strspn(v + 6, "0123456789");
	num_i64(v + 6, digits, &r->from);
	if (num_i64(slash + 1, n - (size_t)(slash + 1 - v), &r->total) < 0)
		r->total = -1;
}

static size_t on_header(char *line, size_t one, size_t n, void *ctx)
{
	struct http *h = ctx;
	struct http_reply *r = h->reply;
	const char *colon;
	size_t name, len;

	n *= one;
	if (n > 5 && !strncmp(line, "HTTP/", 5)) {
		forget_hop(r);
		return n;
	}
	colon = memchr(line, ':', n);
	if (!colon)
		return n;
	name = (size_t)(colon - line);
	for (colon++, len = n - name - 1; len > 0 && (*colon == ' ' || *colon == '\t'); len--)
		colon++;
	while (len > 0 && strchr("\r\n \t", colon[len - 1]))
		len--;
	if (name == 4 && !strncasecmp(line, "ETag", 4))
		set_text(r->etag, sizeof(r->etag), colon, len);
	else if (name == 13 && !strncasecmp(line, "Last-Modified", 13))
		set_text(r->modified, sizeof(r->modified), colon, len);
	else if (name == 19 && !strncasecmp(line, "x-amz-bucket-region", 19))
		set_text(r->bucket_region, sizeof(r->bucket_region), colon, len);
	else if (name == 14 && !strncasecmp(line, "Content-Length", 14))
		num_i64(colon, len, &r->length);
	else if (name == 13 && !strncasecmp(line, "Content-Range", 13))
		content_range(r, colon, len);
	return n;
}

static int begin_reply(struct http *h)
{
	const struct http_request *rq = h->rq;

	h->c.curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->reply->status);
	h->began = true;
	if (rq->fd < 0 || (h->reply->status != 200 && h->reply->status != 206))
		return 0;
	if (h->reply->status == 206 && h->reply->from != (int64_t)rq->from)
		return err_set(&h->err, EPROTO, "the server sent another part than was asked for");
	/* The server sends the whole file: it changed, or the server sends no parts. */
	if (h->reply->status == 200 && (ftruncate(rq->fd, 0) < 0 || lseek(rq->fd, 0, SEEK_SET) < 0))
		return err_sys(&h->err, errno, "cannot write");
	if (h->reply->status == 200)
		h->got = 0;
	return rq->begin ? rq->begin(rq->ctx, h->reply, &h->err) : 0;
}

static size_t on_body(char *data, size_t one, size_t n, void *ctx)
{
	struct http *h = ctx;
	const struct http_request *rq = h->rq;

	n *= one;
	if (rq->peek) {
		h->began = true;
		return 0;
	}
	if (!h->began)
		h->failed = begin_reply(h);
	if (h->failed < 0)
		return 0;
	if (rq->fd >= 0 && (h->reply->status == 200 || h->reply->status == 206)) {
		h->failed = fs_write_all(rq->fd, data, n);
		if (h->failed < 0)
			err_sys(&h->err, -h->failed, "cannot write");
		h->got += n;
	} else if (rq->text) {
		strbuf_add(rq->text, data, n);
	}
	return h->failed < 0 ? 0 : n;
}

static bool request_stopped(const struct http_request *rq)
{
	return rq->stop && atomic_load(rq->stop);
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t done, curl_off_t up_total,
		       curl_off_t up_done)
{
	struct http *h = ctx;
	const struct data_opts *o = h->rq->events;
	bool resumed = h->reply->status == 206 || !h->began;

	(void)up_total;
	(void)up_done;
	(void)done;
	if ((o && o->interrupt && *o->interrupt) || request_stopped(h->rq))
		return 1;
	if (o && o->progress && h->rq->fd >= 0 && h->began)
		o->progress(o->ctx, h->got,
			    total > 0 ? (uint64_t)total + (resumed ? h->rq->from : 0) : 0);
	else if (o && o->tick)
		o->tick(o->ctx);
	return 0;
}

/* --- a request --- */

static void set_access(struct http *h, const struct http_access *a, struct curl_slist **headers)
{
	CLEANUP(xfreep) char *line = NULL;
	bool sign = a->region && a->user && a->password;

	if (sign) {
		CLEANUP(xfreep) char *sigv4 = xasprintf("aws:amz:%s:s3", a->region);

		h->c.curl_easy_setopt(h->easy, CURLOPT_AWS_SIGV4, sigv4);
		*headers = h->c.curl_slist_append(*headers, "x-amz-content-sha256: " EMPTY_SHA256);
		if (a->token)
			line = xasprintf("x-amz-security-token: %s", a->token);
	} else if (a->token && !a->region) {
		line = xasprintf("Authorization: Bearer %s", a->token);
	}
	if (sign || (!a->region && a->user)) {
		h->c.curl_easy_setopt(h->easy, CURLOPT_USERNAME, a->user);
		h->c.curl_easy_setopt(h->easy, CURLOPT_PASSWORD, a->password ? a->password : "");
	}
	if (line) {
		*headers = h->c.curl_slist_append(*headers, line);
		explicit_bzero(line, strlen(line));
	}
	h->c.curl_easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION,
			      a->region || h->rq->method ? 0L : 1L);
}

static void set_range(struct http *h, const struct http_request *rq, struct curl_slist **headers)
{
	char range[32];

	if (rq->peek)
		h->c.curl_easy_setopt(h->easy, CURLOPT_RANGE, "0-0");
	if (!rq->from || !rq->if_range)
		return;
	CLEANUP(xfreep) char *line = xasprintf("If-Range: %s", rq->if_range);

	num_fmt_u64(range, rq->from);
	CLEANUP(xfreep) char *text = xasprintf("%s-", range);

	h->c.curl_easy_setopt(h->easy, CURLOPT_RANGE, text);
	*headers = h->c.curl_slist_append(*headers, line);
}

/* Without "Expect:" curl would wait a second for a server that never says "100 Continue". */
static void set_body(struct http *h, const struct http_request *rq, struct curl_slist **headers)
{
	CLEANUP(xfreep) char *type = NULL;

	if (!rq->method)
		return;
	type = xasprintf("Content-Type: %s", rq->type);
	h->c.curl_easy_setopt(h->easy, CURLOPT_CUSTOMREQUEST, rq->method);
	h->c.curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, rq->body);
	h->c.curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body_n);
	*headers = h->c.curl_slist_append(*headers, type);
	*headers = h->c.curl_slist_append(*headers, "Expect:");
}

static void set_fixed(struct http *h)
{
	const struct curl_lib *c = &h->c;

	c->curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	c->curl_easy_setopt(h->easy, CURLOPT_MAXREDIRS, MAX_REDIRECTS);
	c->curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	c->curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	c->curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_TIME, STALL_S);
	/* Keys may hold "..", and the path must be sent as it was signed. */
	c->curl_easy_setopt(h->easy, CURLOPT_PATH_AS_IS, 1L);
	c->curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "profrig/" PROFRIG_VERSION);
	c->curl_easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->words);
	/* Before curl 7.85 the two options had other names. */
	c->curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	c->curl_easy_setopt(h->easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	c->curl_easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, on_header);
	c->curl_easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
	c->curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
	c->curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	c->curl_easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	c->curl_easy_setopt(h->easy, CURLOPT_XFERINFODATA, h);
	c->curl_easy_setopt(h->easy, CURLOPT_NOPROGRESS, 0L);
}

static bool may_pass(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return true;
	default:
		return false;
	}
}

static int judge_reply(struct http *h, CURLcode code, struct err *err)
{
	const struct data_opts *o = h->rq->events;

	h->c.curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->reply->status);
	if (h->failed < 0) {
		if (err)
			*err = h->err;
		return h->failed;
	}
	if (h->rq->peek && (code == CURLE_OK || h->began))
		return 0;
	if (code == CURLE_OK) {
		/* Without a first byte the reply of an empty body is begun here. */
		int r = h->began || h->rq->head ? 0 : begin_reply(h);

		if (r < 0 && err)
			*err = h->err;
		return r;
	}
	if (code == CURLE_ABORTED_BY_CALLBACK && o && o->interrupt && *o->interrupt)
		return err_set(err, EINTR, "interrupted");
	if (code == CURLE_ABORTED_BY_CALLBACK && request_stopped(h->rq))
		return err_set(err, ECANCELED, "stopped");
	return err_set(err, may_pass(code) ? EAGAIN : EPROTO, "%s",
		       *h->words ? h->words : h->c.curl_easy_strerror(code));
}

int http_ask(struct http *h, const struct http_request *rq, struct http_reply *ret, struct err *err)
{
	struct curl_slist *headers = NULL;
	CURLcode code;
	int r;

	h->rq = rq;
	h->reply = ret;
	h->began = false;
	h->got = rq->from;
	h->failed = 0;
	h->err = (struct err)ERR_INIT;
	h->words[0] = '\0';
	forget_hop(ret);
	h->c.curl_easy_reset(h->easy);
	set_fixed(h);
	h->c.curl_easy_setopt(h->easy, CURLOPT_URL, rq->url);
	if (rq->head)
		h->c.curl_easy_setopt(h->easy, CURLOPT_NOBODY, 1L);
	set_access(h, &rq->access, &headers);
	set_range(h, rq, &headers);
	set_body(h, rq, &headers);
	if (rq->timeout_s > 0) {
		long ms = (long)(rq->timeout_s * 1000);

		h->c.curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, ms);
		h->c.curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, ms);
	}
	h->c.curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
	code = h->c.curl_easy_perform(h->easy);
	r = judge_reply(h, code, err);
	h->c.curl_slist_free_all(headers);
	return r;
}

char *http_shown(const char *url)
{
	size_t n = strcspn(url, "?#");

	return url[n] == '?' ? xasprintf("%.*s?…", (int)n, url) : xstrndup(url, n);
}

const char *http_status_words(long status, char *buf)
{
	const char *words = status == 404 || status == 410   ? "it is not there"
			    : status == 401 || status == 403 ? "access is refused"
			    : status == 416                  ? "it is shorter than it was"
			    : status >= 500                  ? "the server has trouble"
							     : "the server will not";

	snprintf(buf, 64, "%s (status %ld)", words, status);
	return buf;
}
