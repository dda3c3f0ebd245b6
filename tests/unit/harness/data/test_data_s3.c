/* Addresses and listings of S3, by known answers; what a hostile server may answer. */
#include "data_priv.h"
#include "test.h"

static struct data_source source(const char *path, const char *endpoint)
{
	return (struct data_source){ .provider = DATA_S3,
				     .path = (char *)path,
				     .endpoint = (char *)endpoint,
				     .region = (char *)"eu-west-1" };
}

TEST(test_urls)
{
	static const struct {
		const char *path, *endpoint, *key, *want;
	} rows[] = {
		{ "bucket/x", NULL, "a/b", "https://bucket.s3.eu-west-1.amazonaws.com/a/b" },
		{ "my.bucket", NULL, "k", "https://s3.eu-west-1.amazonaws.com/my.bucket/k" },
		{ "Big", NULL, "", "https://s3.eu-west-1.amazonaws.com/Big/" },
		{ "b", "http://minio:9000/", "a b+c&é%",
		  "http://minio:9000/b/a%20b%2Bc%26%C3%A9%25" },
		{ "b", "http://h//", "~x-_.", "http://h/b/~x-_." },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct data_source s = source(rows[i].path, rows[i].endpoint);
		CLEANUP(xfreep) char *got = s3_url(&s, rows[i].key);

		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "%s, not %s", got, rows[i].want);
	}
}

/* "rel bytes tag;…|next" or the message. */
static char *page(const char *prefix, const char *xml)
{
	CLEANUP(data_files_release) data_files files = VEC_INIT;
	struct data_source s = source("b", "http://h");
	struct strbuf out = STRBUF_INIT;
	CLEANUP(xfreep) char *next = NULL;
	struct err err = ERR_INIT;

	if (s3_parse_page(xml, &s, prefix, &files, &next, &err) < 0)
		return xstrdup(err.msg);
	for (size_t i = 0; i < files.nr; i++)
		strbuf_addf(&out, "%s %lld %s;", files.v[i].rel, (long long)files.v[i].bytes,
			    files.v[i].tag ? files.v[i].tag : "-");
	strbuf_addf(&out, "|%s", next ? next : "");
	return strbuf_steal(&out);
}

#define HEAD "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\">"
#define OBJ(key, size) \
	"<Contents><Key>" key "</Key><ETag>&quot;e&quot;</ETag><Size>" size "</Size></Contents>"
#define END "<IsTruncated>false</IsTruncated></ListBucketResult>"

TEST(test_pages)
{
	static const struct {
		const char *prefix, *xml, *want;
	} rows[] = {
		{ "", HEAD OBJ("a", "1") OBJ("d/b", "22") END, "a 1 \"e\";d/b 22 \"e\";|" },
		{ "d", HEAD OBJ("d/b", "1") OBJ("d2", "1") OBJ("d/", "0") OBJ("d/e/", "0") END,
		  "b 1 \"e\";|" },
		{ "d/one", HEAD OBJ("d/one", "5") OBJ("d/one.bak", "5") END, "one 5 \"e\";|" },
		{ "", HEAD OBJ("a+b%20c%26%C3%A9", "1") END, "a b c&é 1 \"e\";|" },
		{ "", HEAD OBJ("x&amp;y&lt;&#39;", "1") END, "x&y<' 1 \"e\";|" },
		{ "", HEAD "<Contents><Key>k</Key><Size>1</Size></Contents>" END, "k 1 -;|" },
		{ "",
		  HEAD OBJ("a",
			   "1") "<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;/=+"
				"</NextContinuationToken></ListBucketResult>",
		  "a 1 \"e\";|t&/=+" },
		{ "", HEAD END, "|" },
		/* what no server of good will says */
		{ "", "<html>login</html>", "the server's answer is no listing of a bucket" },
		{ "", HEAD OBJ("../../etc/passwd", "1") END,
		  "the name of object '../../etc/passwd' is no path of a file" },
		{ "d", HEAD OBJ("d/../../x", "1") END,
		  "the name of object 'd/../../x' is no path of a file" },
		{ "", HEAD OBJ("/etc/passwd", "1") END,
		  "the name of object '/etc/passwd' is no path of a file" },
		{ "", HEAD OBJ("a//b", "1") END, "the name of object 'a//b' is no path of a file" },
		{ "", HEAD OBJ("a/./b", "1") END,
		  "the name of object 'a/./b' is no path of a file" },
		{ "", HEAD OBJ("a%00b", "1") END, "a listing has an object without a usable key" },
		{ "", HEAD OBJ("a", "-1") END, "a listing has no size of object 'a'" },
		{ "", HEAD OBJ("a", "1e9") END, "a listing has no size of object 'a'" },
		{ "", HEAD "<Contents><Size>1</Size></Contents>" END,
		  "a listing has an object without a usable key" },
		{ "", HEAD "<IsTruncated>true</IsTruncated></ListBucketResult>",
		  "a listing breaks off" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *got = page(rows[i].prefix, rows[i].xml);

		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "%s, not %s", got, rows[i].want);
	}
}

/* Any beginning of a page is an error or a page, never more than that. */
TEST(test_cut_pages)
{
	static const char whole[] = HEAD OBJ("d/a%20b", "12") OBJ("c&amp;", "3") END;

	for (size_t n = 0; n < sizeof(whole); n++) {
		assert_non_null(kept(page("", kept(xstrndup(whole, n)))));
	}
}

TEST(test_shown)
{
	assert_string_equal(kept(http_shown("https://h/a/b")), "https://h/a/b");
	assert_string_equal(kept(http_shown("https://h/a?X-Amz-Signature=s#f")), "https://h/a?…");
	assert_string_equal(kept(http_shown("https://h/a#f")), "https://h/a");
}
