/* The configuration of a cell: model, axes, variables, `when`. */
#include "campaign_text.h"
#include "cells.h"

#include <stdlib.h>

#include "profrig/base/strbuf.h"

static void node_add(struct strbuf *to, const struct cfg_node *n)
{
	if (n->kind == CFG_SEQ || n->kind == CFG_MAP) {
		strbuf_addch(to, n->kind == CFG_SEQ ? '[' : '{');
		for (size_t i = 0; i < n->nr; i++) {
			strbuf_addstr(to, i ? " " : "");
			if (n->kind == CFG_MAP)
				strbuf_addf(to, "%s:", n->child[i]->key);
			node_add(to, n->child[i]);
		}
		strbuf_addch(to, n->kind == CFG_SEQ ? ']' : '}');
	} else {
		strbuf_addstr(to, n->kind == CFG_NULL ? "~" : n->s);
	}
}

/* The configurations of all cells of the first model, without model.name and engine. */
static void cells_are(size_t row, const char *text, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct campaign_text t;

	campaign_text_read(&t, text, NULL);
	if (t.r == 0)
		matrix_expand(&t.file.matrix, 100, &t.problems);
	for (size_t i = 0; t.problems.lines.nr == 0 && i < t.file.matrix.cells.nr; i++) {
		struct cfg c;

		campaign_cell_config(&t.file, &t.file.models.v[0], &t.file.matrix.cells.v[i], &c,
				     &t.problems);
		CFG_EACH(n, c.root, CFG_MAP) {
			if (!strcmp(n->key, "engine") || !strcmp(n->key, "model"))
				continue;
			strbuf_addf(&sb, "%s:", n->key);
			node_add(&sb, n);
			strbuf_addch(&sb, ' ');
		}
		strbuf_addstr(&sb, "; ");
		cfg_release(&c);
	}
	for (size_t i = 0; i < t.problems.lines.nr; i++)
		strbuf_addf(&sb, "%s; ", t.problems.lines.v[i]);
	if (strcmp(sb.buf ? sb.buf : "", want) != 0)
		ROW_FAIL(row, "%s\nnot %s", sb.buf, want);
	campaign_text_release(&t);
}

TEST(cells_have_what_the_file_says)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ HEAD "env: {A: 0, B: 1}\naxes: {env.A: [1, 2]}\n",
		  "env:{A:1 B:1} ; env:{A:2 B:1} ; " },
		{ HEAD "tools: [x]\naxes: {tools: [[], [a, b]]}\n", "tools:[] ; tools:[a b] ; " },
		{ HEAD "vars: {n: 7}\nenv: {A: \"{var.n}-{var.n}\", B: \"{other.n}\"}\n",
		  "env:{A:7-7 B:{other.n}} ; " },
		{ HEAD "vars: {n: 7}\nenv: {A: \"{var.n}\"}\naxes: {vars.n: [1, x]}\n",
		  "env:{A:1} ; env:{A:x} ; " },
		{ HEAD "axes: {vars.n: [1], env.A: [\"<{var.n}>\"]}\n", "env:{A:<1>} ; " },
		{ HEAD "vars: {a: \"{var.b}\", b: x}\nenv: {A: \"{var.a}\"}\n",
		  "env:{A:{var.b}} ; " },
		{ HEAD "env: {A: {value: 1, when: {env.B: [x]}}}\naxes: {env.B: [x, y]}\n",
		  "env:{A:1 B:x} ; env:{B:y} ; " },
		{ HEAD "env: {A: {value: 1, when: {env.B: x}}}\naxes: {env.B: [x, y]}\n",
		  "env:{A:1 B:x} ; env:{B:y} ; " },
		{ HEAD "tools: [{name: a, when: {env.B: [x, z]}}, b]\naxes: {env.B: [x, y, z]}\n",
		  "tools:[{name:a} b] env:{B:x} ; tools:[b] env:{B:y} ; "
		  "tools:[{name:a} b] env:{B:z} ; " },
		{ HEAD "env: {A: {value: 1, when: {env.B: x, env.C: 2}}}\n"
		       "axes: {env.B: [x], env.C: [1, 2]}\n",
		  "env:{B:x C:1} ; env:{A:1 B:x C:2} ; " },
		{ HEAD "env: {A: \"{var.\"}\n", "env:{A:{var.} ; " },
		{ HEAD "env: {A: \"{var.x}\"}\n",
		  "env:{A:} ; /nowhere/c.yaml:4: {var.x}: no such entry of 'vars'; " },
		{ HEAD "env: {A: {value: 1, when: {env.Q: x}}}\n",
		  "env:{} ; /nowhere/c.yaml:4: 'when' names 'env.Q', which is no axis of this "
		  "cell; " },
		{ HEAD "env: {A: {value: 1, when: 7}}\n",
		  "env:{A:1} ; /nowhere/c.yaml:4: 'when' wants a map of axes and values; " },
		{ HEAD "axes: {\"a..b\": [1]}\n",
		  "a:~ ; /nowhere/c.yaml:4: axis 'a..b': want a path like a.b[0].c; " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		cells_are(i, rows[i].text, rows[i].want);
}

TEST(values_of_the_file_stay_as_they_are)
{
	struct campaign_text t;
	struct cfg c;

	campaign_text_read(&t,
			   HEAD
			   "vars: {n: 7}\naxes: {env.A: [\"{var.n}\"], tools: [[{name: a, when: "
			   "{env.A: q}}]]}\n",
			   NULL);
	matrix_expand(&t.file.matrix, 100, &t.problems);
	for (int i = 0; i < 2; i++) {
		campaign_cell_config(&t.file, &t.file.models.v[0], &t.file.matrix.cells.v[0], &c,
				     &t.problems);
		assert_string_equal(cfg_path(c.root, "env.A")->s, "7");
		assert_int_equal(cfg_get(c.root, "tools")->nr, 0);
		cfg_release(&c);
	}
	assert_string_equal(t.file.matrix.cells.v[0].sets.v[0].value->s, "{var.n}");
	assert_int_equal(t.file.matrix.cells.v[0].sets.v[1].value->nr, 1);
	campaign_text_release(&t);
}

TEST(variables_cannot_fill_the_memory)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct campaign_text t;
	struct cfg c;

	strbuf_addstr(&text, HEAD "vars: {n: \"");
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&text, 'x');
	strbuf_addstr(&text, "\"}\nenv: {A: \"");
	for (int i = 0; i < 1000; i++)
		strbuf_addstr(&text, "{var.n}");
	strbuf_addstr(&text, "\"}\n");
	campaign_text_read(&t, text.buf, NULL);
	assert_string_equal(campaign_text_said(&t), "");
	matrix_expand(&t.file.matrix, 100, &t.problems);
	campaign_cell_config(&t.file, &t.file.models.v[0], &t.file.matrix.cells.v[0], &c,
			     &t.problems);
	assert_has(campaign_text_said(&t), "more than 1048576 bytes, with its variables");
	assert_true(strlen(cfg_path(c.root, "env.A")->s) < 1300000);
	cfg_release(&c);
	campaign_text_release(&t);
}

static const char *const node_variables[] = { "MASTER_ADDR", "n1", "MASTER_PORT",    "15010",
					      "NNODES",      "2",  "NPROC_PER_NODE", "4",
					      "NODE_RANK",   NULL };

/* What a job's run gets, as "env:{…} results:{…} "; rank NULL: it is in no job. Kept. */
static const char *nodes_config(const char *text, const char *rank)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct campaign_text t;
	struct cfg c;

	campaign_text_read(&t, text, NULL);
	assert_string_equal(campaign_text_said(&t), "");
	cfg_init(&c);
	cfg_parse_text(&c, "", 0, "c", false, LAYER_FILE, NULL);
	for (size_t i = 0; i < ARRAY_LEN(node_variables); i += 2)
		if (rank)
			setenv(node_variables[i],
			       node_variables[i + 1] ? node_variables[i + 1] : rank, 1);
	cell_nodes_config(&t.file, &t.file.models.v[0], &c);
	for (size_t i = 0; i < ARRAY_LEN(node_variables); i += 2)
		unsetenv(node_variables[i]);
	strbuf_addstr(&sb, "");
	CFG_EACH(n, c.root, CFG_MAP) {
		strbuf_addf(&sb, "%s:", n->key);
		node_add(&sb, n);
		strbuf_addch(&sb, ' ');
	}
	cfg_release(&c);
	campaign_text_release(&t);
	return kept(strbuf_steal(&sb));
}

TEST(what_a_job_says_of_its_nodes)
{
#define VARS "MASTER_ADDR:n1 MASTER_PORT:15010 NNODES:2 NPROC_PER_NODE:4 "
#define SLURM HEAD "scheduler: slurm\n"
#define RUNNER \
	"torchrun --nnodes=2 --node_rank=0 --nproc_per_node=4 --master_addr=n1 " \
	"--master_port=15010"
	static const struct {
		const char *text, *rank, *want;
	} rows[] = {
		{ SLURM "slurm: {nodes: 2}\n", NULL, "" },
		{ SLURM "slurm: {nodes: 1}\n", "0", "" },
		{ HEAD "slurm: {nodes: 2}\n", "0", "" },
		{ SLURM "slurm: {nodes: 2}\n", "0", "env:{" VARS "NODE_RANK:0} " },
		{ SLURM "slurm: {nodes: 2}\n", "1",
		  "env:{" VARS "NODE_RANK:1} results:{require:false perf_csv:~} " },
		{ SLURM "slurm: {nodes: 2, launcher: mpirun}\n", "0",
		  "env:{" VARS "NODE_RANK:0} " },
		{ "name: x\nscheduler: slurm\nslurm: {nodes: 2, launcher: torchrun}\nmodels: "
		  "[{name: m, "
		  "recorded: {configuration: {env: {MAD_MULTI_NODE_RUNNER: torchrun}}}}]\n",
		  "0", "env:{" VARS "NODE_RANK:0 MAD_MULTI_NODE_RUNNER:" RUNNER "} " },
		{ "name: x\nscheduler: slurm\nslurm: {nodes: 2, launcher: torchrun}\nmodels: "
		  "[{name: m, "
		  "recorded: {configuration: {env: {MAD_MULTI_NODE_RUNNER: \"\"}}}}]\n",
		  "0", "env:{" VARS "NODE_RANK:0} " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = nodes_config(rows[i].text, rows[i].rank);

		if (strcmp(got, rows[i].want) != 0)
			ROW_FAIL(i, "'%s'\nnot '%s'", got, rows[i].want);
	}
}
