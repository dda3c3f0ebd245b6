/* The manifest of a bundle: what is read of it, and what is refused. */
#include "bundle_manifest.h"
#include "test.h"

TEST(ranks_are_found_in_names)
{
	static const struct {
		const char *path;
		int64_t rank;
	} rows[] = {
		{ "rank3.json", 3 },
		{ "a/trace_rank-12.json.gz", 12 },
		{ "host_worker_7.pt.trace.json", 7 },
		{ "rank.0", 0 },
		{ "rank3/x.json", RANK_UNKNOWN }, /* a folder's name is not of the file */
		{ "ranking.csv", RANK_UNKNOWN },
		{ "frank", RANK_UNKNOWN },
		{ "rank99999999999999999999", RANK_UNKNOWN },
		{ "pagerank_rank_2", 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (bundle_manifest_rank_of(rows[i].path) != rows[i].rank)
			ROW_FAIL(i, "%s", rows[i].path);
}

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DOC(members) "{\"schema\":\"profrig.bundle/1\",\"members\":[" members "]}"
#define ROW_OF(path) "{\"path\":\"" path "\",\"bytes\":3,\"sha256\":\"" SHA "\"}"

TEST(a_manifest_is_read)
{
	static const char text[] = DOC(ROW_OF("b") "," ROW_OF("a/x") "," ROW_OF("a-c"));
	struct bundle_manifest m;
	struct err err = ERR_INIT;

	assert_int_equal(bundle_manifest_parse(text, strlen(text), &m, &err), 0);
	assert_int_equal(m.members.nr, 3);
	assert_string_equal(m.members.v[0].path, "a/x"); /* '/' comes first */
	assert_non_null(bundle_manifest_find(&m, "b"));
	assert_null(bundle_manifest_find(&m, "a"));
	assert_int_equal(m.members.v[0].rank, RANK_UNKNOWN);
	bundle_manifest_release(&m);
}

TEST(bad_manifests_are_refused)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "line" },
		{ "[]", "schema ''" },
		{ "{\"schema\":\"profrig.bundle/2\",\"members\":[]}", "profrig.bundle/2" },
		{ "{\"schema\":\"profrig.bundle/1\"}", "no list of members" },
		{ DOC("1"), "member 1 lacks" },
		{ DOC("{\"path\":\"a\",\"bytes\":-1,\"sha256\":\"" SHA "\"}"), "member 1 lacks" },
		{ DOC("{\"path\":\"a\",\"bytes\":1,\"sha256\":\"0\"}"), "member 1 lacks" },
		{ DOC(ROW_OF("../a")), "'../a'" },
		{ DOC(ROW_OF("a") "," ROW_OF("a")), "member a is there twice" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bundle_manifest m;
		struct err err = ERR_INIT;

		if (bundle_manifest_parse(rows[i].text, strlen(rows[i].text), &m, &err) !=
			    -EINVAL ||
		    !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%s: '%s'", rows[i].words, err.msg);
	}
}
