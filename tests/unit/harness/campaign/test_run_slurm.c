/* The file that `run` by Slurm makes of what was prepared, and the runs that jobs make of it. */
#include "cells.h"
#include "prepare.h"
#include "run_slurm.h"
#include "test.h"

#include <stdlib.h>

struct made {
	struct run_options o;
	struct campaign cp;
	struct run_slurm rs;
	struct problems problems;
	struct said said;
};

/* One model for each set of `--set`s, which end with NULL, in dir. */
static int make(struct made *m, const char *dir, const char *const *sets)
{
	struct err err = ERR_INIT;
	char *cmd[] = { (char *)"sh", (char *)"-c", (char *)"echo $A", NULL };
	int r = 0;

	*m = (struct made){ .problems = PROBLEMS_INIT, .said = SAID_INIT };
	run_options_init(&m->o);
	m->o.runs_dir = dir;
	m->cp.repeats = 2;
	runconf_give(&m->o.conf.given, "engine", CFG_STR, "host");
	for (; *sets; sets++) {
		struct prepared *p = campaign_add_variant(campaign_add_model(&m->cp));

		strvec_clear(&m->o.conf.sets);
		strvec_split(&m->o.conf.sets, *sets, " ");
		r = prepare(&m->o, NULL, cmd, p, &m->problems, &m->said, &err);
		if (r < 0)
			fail_msg("%s: %s", *sets, err.msg);
	}
	assert_true(run_slurm_wanted(&m->cp));
	return run_slurm_make(&m->o, &m->cp, &m->rs, &m->problems);
}

static void made_release(struct made *m)
{
	run_slurm_release(&m->rs);
	campaign_release(&m->cp);
	run_options_release(&m->o);
	problems_release(&m->problems);
	said_release(&m->said);
}

static struct campaign_source source_of(const struct made *m)
{
	return (struct campaign_source){ m->rs.path, m->rs.text, m->rs.n };
}

TEST_IN(what_was_prepared_is_what_runs, dir)
{
	static const char *const sets[] = { "slurm.nodes=2 slurm.time=2h env.A=x labels.l=k",
					    NULL };
	struct cells cells = CELLS_INIT;
	struct campaign_file file;
	struct err err = ERR_INIT;
	struct prepared *p;
	struct made m;
	struct campaign_source s;

	assert_int_equal(make(&m, dir, sets), 0);
	assert_true(m.rs.settings.nodes == 2 && m.rs.settings.time_s == 7200);
	s = source_of(&m);
	const struct campaign_sources given = { { .v = &s, .nr = 1 } };
	assert_int_equal(campaign_file_read(m.rs.path, &given, &file, &m.problems, &err), 0);
	assert_int_equal(file.repeat, 2);
	assert_int_equal(file.retry.infrastructure, 0);
	assert_int_equal(campaign_nodes(&file), 2);
	strvec_clear(&m.o.conf.sets);
	assert_int_equal(cells_make(&m.o, &file, 10, &cells, &m.problems, &m.said, &err), 0);
	p = cell_ready(&m.o, &cells, &cells.v.v[0], &err);
	assert_non_null(p);
	assert_string_equal(p->conf.command.v[2], "echo $A");
	assert_string_equal(p->conf.env.v[0].value, "x");
	assert_string_equal(p->conf.labels.v[0].value, "k");
	assert_null(cfg_get(p->conf.effective.root, "slurm"));
	assert_string_equal(p->conf.dir, campaign_full(&m.cp.models.v[0])->conf.dir);
	cells_release(&cells);
	campaign_file_release(&file);
	made_release(&m);
}

TEST_IN(what_would_be_submitted, dir)
{
	static const char *const sets[] = { "slurm.pack=2 slurm.partition=gpu env.A=x",
					    "slurm.pack=2 slurm.partition=gpu env.A=y", NULL };
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf script = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct run_options job;
	struct made m;

	assert_int_equal(make(&m, dir, sets), 0);
	run_slurm_options(&m.o, &job);
	assert_int_equal(run_slurm_plan(&m.rs, &job, &argv, &script, &m.problems, &err), 0);
	assert_true(strvec_has(&argv, "--partition=gpu") && strvec_has(&argv, "--array=0-1"));
	/* both models of a repeat in one job */
	assert_has(script.buf, "\n1) attempts=");
	assert_has(script.buf, "-2.1,");
	assert_null(strstr(script.buf, "\n2) attempts="));
	run_options_release(&job);
	made_release(&m);
}

TEST_IN(refused, dir)
{
	static const struct {
		const char *sets[3], *want;
	} rows[] = {
		{ { "slurm.nodes=0" }, "nodes: 0 is not between" },
		{ { "slurm=3" }, "slurm: want a map" },
		{ { "slurm.cpus=1 env.A=1", "slurm.cpus=2" }, "do not ask for the same jobs" },
		{ { "slurm.cpus=1", "env.A=1" }, "do not ask for the same jobs" },
		{ { "slurm.cpus=1 env.MY_TOKEN=x" }, "env.MY_TOKEN: the file of which a job" },
		{ { "slurm.cpus=1 secrets.S.from_env=MY_KEY" }, "jobs do not inherit MY_KEY" },
	};

	setenv("MY_KEY", "x", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct made m;
		int r = make(&m, dir, rows[i].sets);

		if (r != -EBADMSG || !m.problems.lines.nr ||
		    !strstr(m.problems.lines.v[0], rows[i].want))
			ROW_FAIL(i, "%s: %d '%s'", rows[i].sets[0], r,
				 m.problems.lines.nr ? m.problems.lines.v[0] : "");
		made_release(&m);
	}
	unsetenv("MY_KEY");
}

TEST_IN(a_secret_that_jobs_inherit, dir)
{
	static const char *const sets[] = {
		"slurm.export=[MY_KEY] secrets.S.from_env=MY_KEY slurm.cpus=1", NULL
	};
	struct made m;

	setenv("MY_KEY", "hunter2", 1);
	assert_int_equal(make(&m, dir, sets), 0);
	assert_has(m.rs.text, "MY_KEY");
	assert_null(strstr(m.rs.text, "hunter2"));
	made_release(&m);
	unsetenv("MY_KEY");
}
