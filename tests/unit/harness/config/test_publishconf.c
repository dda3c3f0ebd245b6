/* The key publish: typed, with its passwords, of a run's configuration and of a file alone. */
#include "conf_test.h"

#include "profrig/config/publishconf.h"

static int load(const char *dir, const char *text, struct publish_conf *ret, struct problems *p)
{
	struct err err = ERR_INIT;

	test_put(dir, "conf/publish.yaml", text);
	return publishconf_load(in_dir(dir, "conf/publish.yaml"), ret, p, &err);
}

TEST_IN(a_file_is_read_for_publish_alone, dir)
{
	CLEANUP(publish_conf_release) struct publish_conf c;
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;

	test_put(dir, "conf/word", "from-a-file\n");
	setenv("TEST_PUBLISH_WORD", "from-a-variable", 1);
	unsetenv("TEST_NOT_SET");
	assert_int_equal(
		load(dir,
		     "name: a-campaign\nmodels: [x]\naxes: {tools: [[]]}\n"
		     "secrets: {ONE: {from_env: TEST_PUBLISH_WORD}, OTHER: {from_env: "
		     "TEST_NOT_SET}}\n"
		     "publish:\n"
		     "  - {to: pushgateway, url: \"http://h:9091//\"}\n"
		     "  - {to: influxdb, url: \"https://h/influx\", database: d, user: u,\n"
		     "     password: {secret: ONE}, timeout: 2m}\n"
		     "  - {to: postgres, connection: host=h, password: {from_file: word}}\n"
		     "  - {to: ndjson, path: ../lines}\n",
		     &c, &p),
		0);
	assert_int_equal(c.targets.nr, 4);
	assert_string_equal(c.targets.v[0].name, "pushgateway http://h:9091 profrig");
	assert_string_equal(c.targets.v[0].group, "cell");
	assert_null(c.targets.v[0].password);
	assert_true(c.targets.v[0].timeout_s == 5);
	assert_string_equal(c.targets.v[1].name, "influxdb https://h/influx d");
	assert_string_equal(c.targets.v[1].password, "from-a-variable");
	assert_true(c.targets.v[1].timeout_s == 120);
	assert_string_equal(c.targets.v[2].name, "postgres host=h");
	assert_string_equal(c.targets.v[2].password, "from-a-file");
	assert_string_equal(c.targets.v[3].path, in_dir(dir, "lines"));
	assert_int_equal(p.lines.nr, 0);
}

TEST_IN(a_password_has_one_line_and_one_source, dir)
{
	static const struct {
		const char *password, *words;
	} rows[] = {
		{ "{from_file: lines}", "more than one line" },
		{ "{from_file: word, from_env: TEST_PUBLISH_WORD}", "want one of them" },
		{ "{secret: ONE, from_file: word}", "want secret alone" },
		{ "{}", "want from_env or from_file" },
		{ "{from_file: nowhere}", "nowhere" },
		{ "[word]", "want a map" },
	};

	test_put(dir, "conf/word", "word");
	test_put(dir, "conf/lines", "one\r\ntwo\n");
	setenv("TEST_PUBLISH_WORD", "from-a-variable", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(publish_conf_release) struct publish_conf c;
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		int r = load(dir,
			     textf("secrets: {ONE: {from_env: TEST_PUBLISH_WORD}}\n"
				   "publish: [{to: postgres, connection: host=h, password: %s}]\n",
				   rows[i].password),
			     &c, &p);

		if (r != -EINVAL || !problems_hold(&p, rows[i].words))
			ROW_FAIL(i, "%d %s", r, p.lines.nr ? p.lines.v[0] : "");
	}
}

/* What stands for a password elsewhere is in no message and not in the tree that run.json has. */
TEST_IN(a_run_hides_what_was_written_out, dir)
{
	static const char *const entries[] = {
		"{to: influxdb, url: \"http://u:hidden-word@h\", database: d}",
		"{to: influxdb, url: \"http://h\", database: d, password: hidden-word}",
		"{to: influxdb, url: \"http://h\", database: d, password: [hidden-word]}",
		"{to: postgres, connection: \"host=h password=hidden-word\"}",
		"{to: postgres, connection: \"postgresql://u:hidden-word@h/d\"}",
		"{to: postgres, connection: \"postgresql://h/d?user=u&password=hidden-word\"}",
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		char *const command[] = { textf("true"), NULL };
		struct runconf_request rq = { .cwd = dir,
					      .command = command,
					      .config_files = STRVEC_INIT,
					      .sets = STRVEC_INIT,
					      .labels = STRVEC_INIT };
		struct tool_set ts = { .tools = VEC_INIT };
		struct cfg_node *entry;
		struct runconf rc;
		struct err err = ERR_INIT;

		test_put(dir, "run.yaml", textf("publish:\n  - %s\n", entries[i]));
		strvec_push(&rq.config_files, "run.yaml");
		assert_int_equal(runconf_load(&rc, &rq, &ts, &p, &err), -EINVAL);
		assert_true(p.lines.nr > 0);
		for (size_t k = 0; k < p.lines.nr; k++)
			assert_lacks(p.lines.v[k], "hidden-word");
		entry = cfg_path(rc.effective.root, "publish[0]");
		assert_non_null(entry);
		CFG_EACH(n, entry, CFG_MAP) {
			assert_true(!n->s || !strstr(n->s, "hidden-word"));
			assert_int_equal(n->kind == CFG_SEQ ? n->nr : 0, 0);
		}
		strvec_release(&rq.config_files);
		runconf_release(&rc);
	}
}
