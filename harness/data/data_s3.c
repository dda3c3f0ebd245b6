/*
 * S3: addresses, and the pages of list-objects-v2:
 *
 *	<ListBucketResult>
 *	<Contents><Key>a/b</Key><ETag>&quot;…&quot;</ETag><Size>3</Size></Contents>
 *	… <IsTruncated>true</IsTruncated><NextContinuationToken>…</NextContinuationToken>
 *
 * With encoding-type=url keys come %-encoded, so that no name can break the XML.
 */
#include "data_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define MAX_PAGE ((size_t)16 << 20)
#define MAX_PAGES 10000
#define MAX_OBJECTS 1000000

/* A certificate does not match a bucket's name with a dot or a capital, so such a name goes into
 * the path. */
static bool in_host(const char *bucket, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)bucket[i]) && !isdigit((unsigned char)bucket[i]) &&
		    bucket[i] != '-')
			return false;
	return true;
}

char *s3_url(const struct data_source *s, const char *key)
{
	struct strbuf sb = STRBUF_INIT;
	size_t n = strcspn(s->path, "/");
	CLEANUP(xfreep) char *bucket = xstrndup(s->path, n);

	if (s->endpoint) {
		size_t len = strlen(s->endpoint);

		while (len > 0 && s->endpoint[len - 1] == '/')
			len--;
		strbuf_addf(&sb, "%.*s/", (int)len, s->endpoint);
		text_percent_encode(&sb, bucket, "", true);
		strbuf_addch(&sb, '/');
	} else if (in_host(bucket, n)) {
		strbuf_addf(&sb, "https://%s.s3.%s.amazonaws.com/", bucket, s->region);
	} else {
		strbuf_addf(&sb, "https://s3.%s.amazonaws.com/", s->region);
		text_percent_encode(&sb, bucket, "", true);
		strbuf_addch(&sb, '/');
	}
	text_percent_encode(&sb, key, "/", true);
	return strbuf_steal(&sb);
}

/* The key of s->path: behind the bucket, without slashes at its ends. Owned. */
static char *key_of(const struct data_source *s)
{
	const char *key = s->path + strcspn(s->path, "/");
	size_t n;

	key += strspn(key, "/");
	for (n = strlen(key); n > 0 && key[n - 1] == '/';)
		n--;
	return xstrndup(key, n);
}

/* --- a page --- */

/* The text between <tag> and </tag> within [s, end); NULL: none. */
static const char *xml_element(const char *s, const char *end, const char *tag, size_t *ret_n)
{
	CLEANUP(xfreep) char *open = xasprintf("<%s>", tag);
	CLEANUP(xfreep) char *close = xasprintf("</%s>", tag);
	const char *at = memmem(s, (size_t)(end - s), open, strlen(open)), *to;

	if (!at)
		return NULL;
	at += strlen(open);
	to = memmem(at, (size_t)(end - at), close, strlen(close));
	if (!to)
		return NULL;
	*ret_n = (size_t)(to - at);
	return at;
}

/* Resolves the five entities of XML. Owned. */
static char *xml_unescape(const char *s, size_t n)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = { { "&amp;", '&' },   { "&lt;", '<' },  { "&gt;", '>' },  { "&quot;", '"' },
			 { "&apos;", '\'' }, { "&#34;", '"' }, { "&#39;", '\'' } };
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < n;) {
		size_t k = 0, len = 0;

		for (; s[i] == '&' && k < ARRAY_LEN(entities); k++) {
			len = strlen(entities[k].name);
			if (len <= n - i && !memcmp(s + i, entities[k].name, len))
				break;
		}
		if (s[i] == '&' && k < ARRAY_LEN(entities)) {
			strbuf_addch(&sb, entities[k].c);
			i += len;
		} else {
			strbuf_addch(&sb, s[i++]);
		}
	}
	return strbuf_steal(&sb);
}

static bool leads_out(const char *rel)
{
	for (const char *s = rel; *s;) {
		size_t n = strcspn(s, "/");

		if (n == 0 || (n == 1 && *s == '.') || (n == 2 && !strncmp(s, "..", 2)))
			return true;
		s += n;
		if (*s == '/' && !*++s)
			return true;
	}
	return false;
}

static int add_object(const char *s, const char *end, const struct data_source *src,
		      const char *prefix, data_files *ret, struct err *err)
{
	size_t n, np = strlen(prefix);
	const char *text = xml_element(s, end, "Key", &n), *rel;
	CLEANUP(xfreep) char *key = text ? xml_unescape(text, n) : NULL;
	CLEANUP(xfreep) char *etag = NULL;
	CLEANUP(xfreep) char *url = NULL;
	int64_t bytes = -1;

	if (!key || !text_percent_decode(key, true))
		return err_set(err, EPROTO, "a listing has an object without a usable key");
	text = xml_element(s, end, "ETag", &n);
	etag = text ? xml_unescape(text, n) : NULL;
	text = xml_element(s, end, "Size", &n);
	if (!text || num_i64(text, n, &bytes) < 0 || bytes < 0)
		return err_set(err, EPROTO, "a listing has no size of object '%.200s'", key);
	/* "data/train" selects neither "data/train2" nor the marker "data/train/". */
	if (np && (strncmp(key, prefix, np) != 0 || (key[np] && key[np] != '/')))
		return 0;
	rel = !np ? key : key[np] ? key + np + 1 : strrchr(key, '/') ? strrchr(key, '/') + 1 : key;
	if (!*rel || (rel[strlen(rel) - 1] == '/' && bytes == 0))
		return 0;
	if (leads_out(rel))
		return err_set(err, EPROTO, "the name of object '%.200s' is no path of a file",
			       key);
	if (ret->nr >= MAX_OBJECTS)
		return err_set(err, E2BIG, "more than %d objects", MAX_OBJECTS);
	url = s3_url(src, key);
	data_files_add(ret, rel, url, etag, bytes);
	return 0;
}

int s3_parse_page(const char *xml, const struct data_source *s, const char *prefix, data_files *ret,
		  char **ret_next, struct err *err)
{
	const char *end = xml + strlen(xml), *at = xml, *text;
	size_t n;
	int r = 0;

	*ret_next = NULL;
	if (!strstr(xml, "<ListBucketResult"))
		return err_set(err, EPROTO, "the server's answer is no listing of a bucket");
	while (r == 0 && (text = xml_element(at, end, "Contents", &n))) {
		r = add_object(text, text + n, s, prefix, ret, err);
		at = text + n;
	}
	text = xml_element(xml, end, "IsTruncated", &n);
	if (r < 0 || !text || n != 4 || strncmp(text, "true", 4) != 0)
		return r;
	text = xml_element(xml, end, "NextContinuationToken", &n);
	if (!text || !n)
		return err_set(err, EPROTO, "a listing breaks off");
	*ret_next = xml_unescape(text, n);
	return 0;
}

/* --- the listing --- */

/* Parameters are sorted by name, as the signature needs them. */
static char *list_url(const struct data_source *s, const char *prefix, const char *token)
{
	CLEANUP(xfreep) char *base = s3_url(s, "");
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s?", base);
	if (token) {
		strbuf_addstr(&sb, "continuation-token=");
		text_percent_encode(&sb, token, "", true);
		strbuf_addch(&sb, '&');
	}
	strbuf_addstr(&sb, "encoding-type=url&list-type=2&prefix=");
	text_percent_encode(&sb, prefix, "", true);
	return strbuf_steal(&sb);
}

static int reply_refused(const struct fetch *f, const struct http_reply *reply, const char *text,
			 struct err *err)
{
	const char *end = text + strlen(text), *code;
	char words[64];
	size_t n = 0;

	code = xml_element(text, end, "Code", &n);
	if (*reply->bucket_region && strcmp(reply->bucket_region, f->s->region) != 0)
		return err_set(err, ENOENT, "the bucket is in region %s: set region",
			       reply->bucket_region);
	http_status_words(reply->status, words);
	return err_set(err, reply->status >= 500 ? EAGAIN : ENOENT, "%s%s%.*s%s", words,
		       code ? ", " : "", code ? (int)n : 0, code ? code : "",
		       reply->status == 403 && !f->s->user
			       ? ": no credentials are set (AWS_ACCESS_KEY_ID)"
			       : "");
}

int s3_list(struct fetch *f, data_files *ret, struct err *err)
{
	CLEANUP(xfreep) char *prefix = key_of(f->s);
	CLEANUP(xfreep) char *token = NULL;
	int r = 0;

	for (size_t page = 0; page < MAX_PAGES; page++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		CLEANUP(xfreep) char *url = list_url(f->s, prefix, token);
		struct http_request rq = { .url = url,
					   .access = data_access(f->s),
					   .fd = -1,
					   .text = &text,
					   .events = f->o };
		struct http_reply reply;

		strbuf_limit(&text, MAX_PAGE);
		r = http_ask(f->http, &rq, &reply, err);
		if (r < 0)
			return r;
		if (reply.status != 200)
			return reply_refused(f, &reply, text.buf, err);
		free(STEAL(token));
		r = s3_parse_page(text.buf, f->s, prefix, ret, &token, err);
		if (r < 0 || !token)
			break;
	}
	if (r == 0 && !ret->nr)
		r = err_set(err, ENOENT, "there is no object of that name, and none below it");
	return r;
}
