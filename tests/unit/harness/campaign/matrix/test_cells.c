/* Cells: ids and what is in them, labels, baselines, limits; plans and what changes in them. */
#include "campaign_plan.h"
#include "test.h"

#include <sys/stat.h>

#include "profrig/base/strbuf.h"

struct made {
	struct campaign_file file;
	struct cells cells;
	struct run_options o;
	struct problems problems;
	struct said said;
	struct err err;
	int r;
};

static void made_release(struct made *m)
{
	cells_release(&m->cells);
	campaign_file_release(&m->file);
	run_options_release(&m->o);
	problems_release(&m->problems);
	said_release(&m->said);
}

/* Of dir/c.yaml, which gets this text. */
static void make(struct made *m, const char *dir, const char *text)
{
	*m = (struct made){ .cells = CELLS_INIT, .problems = PROBLEMS_INIT, .said = SAID_INIT };
	run_options_init(&m->o);
	test_put(dir, "c.yaml", text);
	m->r = campaign_file_read(in_dir(dir, "c.yaml"), NULL, &m->file, &m->problems, &m->err);
	if (m->r == 0)
		m->r = cells_make(&m->o, &m->file, MATRIX_CELLS_MAX, &m->cells, &m->problems,
				  &m->said, &m->err);
	if (m->r == 0)
		m->r = cells_identify(&m->cells, NULL, NULL, &m->problems, &m->err);
}

static const char *said_of(const struct made *m)
{
	return m->problems.lines.nr ? m->problems.lines.v[0] : m->err.msg;
}

static void must(const struct made *m)
{
	if (m->r < 0)
		fail_msg("%s", said_of(m));
}

/* The ids of all cells, owned. */
static char *ids_of(const char *dir, const char *text)
{
	struct strbuf sb = STRBUF_INIT;
	struct made m;

	make(&m, dir, text);
	must(&m);
	for (size_t i = 0; i < m.cells.v.nr; i++)
		strbuf_addf(&sb, "%s ", m.cells.v.v[i].id);
	made_release(&m);
	return strbuf_steal(&sb);
}

#define NAME "name: x\n"
#define HOST "engine: host\n"
#define MODEL "models: [{name: m, command: [echo, hi]}]\n"
#define AXES "axes: {env.A: [\"1\", b]}\n"

TEST_IN(what_is_in_an_id_and_what_is_not, dir)
{
	static const struct {
		const char *text;
		bool same; /* as the first row's */
	} rows[] = {
		{ NAME HOST MODEL AXES, true },
		{ "name: y\n" HOST MODEL AXES, true },
		{ NAME HOST MODEL AXES "repeat: 9\norder: random\nseed: 7\n", true },
		{ NAME HOST MODEL AXES "labels: {a: b}\nkeep: true\n", true },
		{ NAME HOST MODEL "axes: {env.A: [1, b]}\n", true }, /* an environment is texts */
		{ NAME MODEL AXES HOST, true },
		{ NAME HOST
		  "vars: {w: echo}\nmodels: [{name: m, command: [\"{var.w}\", hi]}]\n" AXES,
		  true },
		{ NAME HOST MODEL AXES "slots: [{env: {B: \"1\"}}]\nbaseline: {env.A: b}\n", true },
		{ NAME HOST "models: [{name: m, command: [echo, ho]}]\n" AXES, false },
		{ NAME HOST MODEL "axes: {env.A: [\"2\", c]}\n", false },
		{ NAME HOST MODEL AXES "env: {B: \"\"}\n", false },
		{ NAME HOST "models: [{name: m, command: [echo, hi], timeout: 7}]\n" AXES, false },
	};
	CLEANUP(xfreep) char *first = ids_of(dir, rows[0].text);

	assert_int_equal(strlen(first), 2 * (CELL_ID_LEN + 1));
	for (size_t i = 1; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xfreep) char *ids = ids_of(dir, rows[i].text);

		if (!strcmp(ids, first) != rows[i].same)
			ROW_FAIL(i, "%s and %s", first, ids);
	}
}

TEST_IN(files_of_the_model_are_in_an_id, dir)
{
	static const char text[] = NAME HOST "models: [m]\n" AXES;
	CLEANUP(xfreep) char *one = NULL, *two = NULL, *three = NULL, *moved = NULL;

	test_put(dir, "m/profrig.yaml", "model: {name: m, command: [sh, run.sh]}\n");
	test_put(dir, "m/run.sh", "echo 1\n");
	one = ids_of(dir, text);
	test_put(dir, "m/run.sh", "echo 2\n");
	two = ids_of(dir, text);
	assert_string_not_equal(one, two);
	test_put(dir, "m/run.sh", "echo 1\n");
	three = ids_of(dir, text);
	assert_string_equal(one, three);
	/* the same campaign in another folder */
	test_put(dir, "sub/m/profrig.yaml", "model: {name: m, command: [sh, run.sh]}\n");
	test_put(dir, "sub/m/run.sh", "echo 1\n");
	moved = ids_of(in_dir(dir, "sub"), text);
	assert_string_equal(one, moved);
}

TEST_IN(labels, dir)
{
	struct made m;

	make(&m, dir,
	     NAME HOST MODEL "axes: {env.A: [1, \"\\e[31m\\n\"], tools: [[], [perf]]}\n"
			     "include: [{env.A: z, env.B: \"q\"}]\n");
	must(&m);
	assert_int_equal(m.cells.v.nr, 5);
	assert_string_equal(m.cells.v.v[0].label, "A=1 tools=[]");
	assert_string_equal(m.cells.v.v[1].label, "A=1 tools=[perf]");
	assert_string_equal(m.cells.v.v[2].label, "A=\\x1b[31m\\n tools=[]");
	assert_string_equal(m.cells.v.v[4].label, "A=z B=q");
	made_release(&m);
	make(&m, dir, NAME HOST MODEL);
	must(&m);
	assert_string_equal(m.cells.v.v[0].label, "m");
	made_release(&m);
	make(&m, dir, textf(NAME HOST MODEL "axes: {env.A: [%0300d]}\n", 0));
	must(&m);
	assert_true(strlen(m.cells.v.v[0].label) <= CELL_LABEL_MAX);
	assert_has(m.cells.v.v[0].label, "… (");
	made_release(&m);
}

TEST_IN(baselines, dir)
{
	struct made m;

	make(&m, dir,
	     NAME HOST MODEL
	     "axes: {env.A: [1, 2], env.B: [x, y]}\nexclude: [{env.A: 1, env.B: y}]\n"
	     "baseline: {env.A: \"1\"}\n");
	must(&m);
	assert_int_equal(m.cells.v.nr, 3);
	assert_true(m.cells.v.v[0].is_baseline);
	assert_int_equal(m.cells.v.v[0].baseline, CELL_NONE);
	assert_int_equal(m.cells.v.v[1].baseline, 0);
	assert_int_equal(m.cells.v.v[2].baseline, CELL_NONE); /* its baseline is excluded */
	made_release(&m);
	make(&m, dir,
	     NAME HOST "models: [{name: m, command: [a]}, {name: n, command: [b]}]\n"
		       "axes: {env.A: [1, 2]}\nbaseline: {model: m}\n");
	must(&m);
	assert_int_equal(m.cells.v.v[2].baseline, 0);
	assert_int_equal(m.cells.v.v[3].baseline, 1);
	made_release(&m);
	/* values whose labels are equal */
	make(&m, dir,
	     NAME HOST MODEL "vars: {x: a}\naxes: {tools: [[], [perf]], env.A: [\"[]\", q]}\n"
			     "baseline: {env.A: \"[]\"}\n");
	must(&m);
	assert_int_equal(m.cells.v.v[3].baseline, 2);
	made_release(&m);
}

TEST_IN(what_is_wrong_is_said_once, dir)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ NAME HOST MODEL "axes: {vars.q: [1, 2]}\n", "axis 'vars.q' changes nothing" },
		{ NAME HOST MODEL "axes: {model.tags: [[a], [b]]}\n", "changes nothing" },
		{ NAME HOST MODEL "axes: {env.A: [1, 2]}\nbaseline: {env.A: 3}\n",
		  "no cell has all" },
		{ NAME HOST MODEL "axes: {engine: [host, warp]}\n", "unknown 'warp'" },
		{ NAME HOST MODEL "axes: {tools: [[nosuch]]}\n", "unknown tool 'nosuch'" },
		{ NAME HOST MODEL "axes: {model.timeout: [1, x]}\n", "model.timeout" },
		{ NAME HOST MODEL "slots: [{gpuss: 1}]\n", "unknown key 'gpuss'" },
		{ NAME HOST MODEL "slots: [{}, {gpus: 1}]\n", "a slot is a map" },
		{ NAME HOST MODEL "axes: {env.A: [1, 2]}\ninclude: [{env.A: 3}, {env.A: \"3\"}]\n",
		  "are the same" },
		{ NAME HOST MODEL AXES "repeat: 10000\naxes: {}\n", "is there already" },
		{ NAME HOST "models: [nosuch]\n", "nosuch" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct made m;

		make(&m, dir, rows[i].text);
		if (m.r == 0 || !strstr(said_of(&m), rows[i].want))
			ROW_FAIL(i, "%d: '%s' lacks '%s'", m.r, said_of(&m), rows[i].want);
		assert_true(m.problems.lines.nr <= 1);
		made_release(&m);
	}
}

TEST_IN(too_many, dir)
{
	struct made m;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, NAME HOST MODEL "axes: {env.A: [1], env.B: [");
	for (int i = 0; i < 9999; i++)
		strbuf_addf(&text, "%d,", i);
	strbuf_addstr(&text, "]}\ninclude: [{env.C: 1}, {env.A: 2}, {env.A: 3}]\n");
	make(&m, dir, text.buf);
	assert_has(said_of(&m), "10001 cells, with those of 'include', are more than 10000");
	made_release(&m);
}

TEST_IN(cells_that_are_prepared_are_few, dir)
{
	struct prepared *first;
	size_t ready = 0;
	struct made m;

	make(&m, dir,
	     NAME HOST MODEL
	     "axes: {env.A: [0,1,2,3,4,5,6,7,8,9], env.B: [0,1,2,3,4,5,6,7,8,9]}\n");
	must(&m);
	first = cell_ready(&m.o, &m.cells, &m.cells.v.v[0], &m.err);
	assert_non_null(first);
	assert_ptr_equal(first, cell_ready(&m.o, &m.cells, &m.cells.v.v[0], &m.err));
	for (size_t i = 0; i < m.cells.v.nr; i++)
		assert_non_null(cell_ready(&m.o, &m.cells, &m.cells.v.v[i], &m.err));
	for (size_t i = 0; i < m.cells.v.nr; i++)
		ready += m.cells.v.v[i].ready != NULL;
	assert_int_equal(ready, CELLS_READY_MAX);
	assert_non_null(cell_ready(&m.o, &m.cells, &m.cells.v.v[0], &m.err));
	made_release(&m);
}

/* ---- plans ---- */

static void plan_of(const char *dir, const char *text, struct campaign_plan *ret)
{
	struct err err = ERR_INIT;
	struct made m;

	make(&m, dir, text);
	must(&m);
	if (campaign_plan_write(dir, &m.file, &m.cells, ret, &err) < 0)
		fail_msg("%s", err.msg);
	made_release(&m);
}

TEST_IN(a_plan_is_read_as_it_is_written, dir)
{
	struct campaign_plan p, again;
	struct err err = ERR_INIT;

	plan_of(dir,
		NAME HOST MODEL "axes: {env.A: [1, 2]}\nbaseline: {env.A: 1}\nrepeat: 7\n"
				"order: random\nseed: 12\ngate: [speed]\n",
		&p);
	assert_int_equal(campaign_plan_read(dir, "plan.json", &again, &err), 0);
	assert_string_equal(p.name, again.name);
	assert_string_equal(again.campaign, "x");
	assert_int_equal(again.repeat, 7);
	assert_int_equal(again.order, ORDER_RANDOM);
	assert_int_equal(again.seed, 12);
	assert_int_equal(again.cells.nr, 2);
	assert_true(again.cells.v[0].is_baseline);
	assert_int_equal(again.cells.v[1].baseline, 0);
	assert_int_equal(strlen(again.cells.v[1].parts.config), 64);
	campaign_plan_release(&again);
	campaign_plan_release(&p);
	campaign_plan_release(&p);
}

TEST_IN(a_damaged_plan, dir)
{
#define PLAN(cells) \
	"{\"schema\":\"profrig.campaign/1\",\"repeat\":1,\"order\":\"random\",\"cells\":" cells "}"
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"schema\":\"profrig.campaign/2\"}",
		PLAN("[]"),
		PLAN("7"),
		PLAN("[{\"id\":\"x\"}]"),
		PLAN("[{\"id\":\"aaaaaaaaaaaa\"},{\"id\":\"aaaaaaaaaaaa\"}]"),
		"{\"schema\":\"profrig.campaign/1\",\"repeat\":0,\"order\":\"random\",\"cells\":[{"
		"\"id\":\"aaaaaaaaaaaa\"}]}",
	};
	struct campaign_plan p;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		test_put(dir, "plan.json", texts[i]);
		if (campaign_plan_read(dir, "plan.json", &p, &err) != -EBADMSG)
			ROW_FAIL(i, "it is read");
		assert_has(err.msg, "plan.json");
	}
	test_put(dir, "plan.json",
		 PLAN("[{\"id\":\"aaaaaaaaaaaa\",\"baseline\":\"bbbbbbbbbbbb\"}]"));
	assert_int_equal(campaign_plan_read(dir, "plan.json", &p, &err), 0);
	assert_int_equal(p.cells.v[0].baseline, CELL_NONE);
	campaign_plan_release(&p);
	assert_int_equal(campaign_plan_read(dir, "plans/none.json", &p, &err), -ENOENT);
	test_put(dir, "plans/0123456789ab.json", PLAN("[{\"id\":\"aaaaaaaaaaaa\"}]"));
	assert_int_equal(campaign_plan_read(dir, "plans/0123456789ab.json", &p, &err), -EBADMSG);
	assert_has(err.msg, "another digest");
	assert_int_equal(mkfifo(in_dir(dir, "plans/fifo.json"), 0644), 0);
	assert_int_equal(campaign_plan_read(dir, "plans/fifo.json", &p, &err), -EBADMSG);
}

/* The lines of changes from one text to another. */
static void changes_are(const char *dir, const char *before, const char *now, bool keep,
			const char *want)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep) char *said = NULL;
	struct campaign_plan p;
	struct made m;
	size_t nr;

	plan_of(dir, before, &p);
	make(&m, dir, now);
	must(&m);
	nr = campaign_plan_changes(&p, &m.cells, keep, &lines);
	said = strvec_join(&lines, "; ");
	assert_string_equal(said, want);
	assert_int_equal(nr, lines.nr);
	for (size_t i = 0; keep && i < p.cells.nr && i < m.cells.v.nr; i++)
		assert_string_equal(p.cells.v[i].id, m.cells.v.v[i].id);
	made_release(&m);
	campaign_plan_release(&p);
}

TEST_IN(changes, dir)
{
	static const char base[] = NAME HOST MODEL "axes: {env.A: [1, 2]}\n";

	changes_are(dir, base, base, true, "");
	changes_are(dir, base, NAME HOST MODEL "axes: {env.A: [2, 1]}\n", false, "");
	changes_are(dir, base, NAME HOST MODEL "axes: {env.A: [1, 3]}\n", false,
		    "A=3: new; A=2: gone");
	changes_are(dir, base, NAME HOST MODEL "axes: {env.A: [1, 2]}\nenv: {B: x}\n", true,
		    "A=1: the configuration changed; A=2: the configuration changed");
	/* another label, the same cell */
	changes_are(dir, base,
		    NAME HOST MODEL "vars: {q: \"1\"}\naxes: {env.A: [\"{var.q}\", 2]}\n", false,
		    "");
}

TEST_IN(changes_of_files_are_named, dir)
{
	static const char text[] = NAME HOST "models: [m]\n";
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	struct campaign_plan p;
	struct made m;

	test_put(dir, "m/profrig.yaml", "model: {name: m, command: [sh, run.sh]}\n");
	test_put(dir, "m/run.sh", "echo 1\n");
	plan_of(dir, text, &p);
	test_put(dir, "m/run.sh", "echo 2\n");
	test_put(dir, "m/more", "");
	make(&m, dir, text);
	must(&m);
	assert_int_equal(campaign_plan_changes(&p, &m.cells, true, &lines), 1);
	assert_string_equal(lines.v[0], "m: files of the model (more (new), run.sh) changed");
	assert_string_equal(m.cells.v.v[0].id, p.cells.v[0].id);
	made_release(&m);
	campaign_plan_release(&p);
}

TEST_IN(a_folder_that_is_no_text_is_refused, dir)
{
	CLEANUP(xfreep) char *folder = xasprintf("%s/\xff\xfe", dir);
	struct campaign_plan p;
	struct err err = ERR_INIT;
	struct made m;

	test_put(folder, "m/profrig.yaml", "model: {name: m, command: [sh, run.sh]}\n");
	make(&m, folder, NAME HOST "models: [m]\n");
	if (m.r == 0)
		assert_int_equal(campaign_plan_write(dir, &m.file, &m.cells, &p, &err), -EILSEQ);
	made_release(&m);
}
