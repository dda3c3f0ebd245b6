/*
 * Campaign files: keys, extends, the matrix, labels and the configuration of each cell. The input
 * is one file, or several with a line "%%%" between them: campaign.yaml, then 1.yaml, 2.yaml, …
 */
#include "cells.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"

#define DIR "/nowhere/campaigns"
#define MARK "\n%%%\n"
#define FILES_MAX 4
#define LIMIT 300
#define CONFIGS 40

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void sources_make(const char *text, struct campaign_sources *to)
{
	for (size_t i = 0; text && i < FILES_MAX; i++) {
		const char *end = i + 1 < FILES_MAX ? strstr(text, MARK) : NULL;
		size_t n = end ? (size_t)(end - text) : strlen(text);
		struct campaign_source s = { .text = xstrndup(text, n), .n = n };

		s.path = i ? xasprintf(DIR "/%zu.yaml", i) : xstrdup(DIR "/campaign.yaml");
		VEC_PUSH(&to->v, s);
		text = end ? end + strlen(MARK) : NULL;
	}
}

static void is_bounded(const struct cfg_node *n, int depth)
{
	must(depth < 200);
	must(!n->s || strlen(n->s) <= CAMPAIGN_TEXT_MAX + ((size_t)4 << 20));
	for (size_t i = 0; i < n->nr; i++)
		is_bounded(n->child[i], depth + 1);
}

static void cell_try(const struct campaign_file *f, const struct matrix_cell *cell)
{
	struct problems p = PROBLEMS_INIT;
	struct cfg c;

	campaign_cell_config(f, &f->models.v[0], cell, &c, &p);
	must(c.root && c.root->kind == CFG_MAP);
	is_bounded(c.root, 0);
	for (size_t i = 0; i < cell->sets.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		must(matrix_same(cell->sets.v[i].value, cell->sets.v[i].value));
		cell_value_add(&sb, cell->sets.v[i].value);
		for (size_t k = 0; k < sb.len; k++)
			must((unsigned char)sb.buf[k] >= 0x20 && sb.buf[k] != 0x7f);
	}
	cfg_release(&c);
	problems_release(&p);
}

static void file_try(struct campaign_file *f)
{
	struct problems p = PROBLEMS_INIT;
	uint64_t product = matrix_count(&f->matrix);

	must(f->name && *f->name != '.' && !strchr(f->name, '/') && f->models.nr > 0);
	must(f->repeat >= 1 && f->repeat <= CAMPAIGN_REPEAT_MAX);
	must(f->cooldown_s >= 0 && f->budget_s >= 0 && f->scheduler);
	must(!f->steady || (f->steady_rule.limit_s >= f->cooldown_s && f->steady_rule.limit_s > 0 &&
			    f->steady_rule.power > 0 && f->steady_rule.temperature_k > 0));
	for (size_t i = 0; i < f->gates.nr; i++)
		must(f->gates.v[i].threshold > 0 && f->gates.v[i].threshold < 10);
	must(campaign_nodes(f) >= 1);
	if (product <= LIMIT) {
		matrix_expand(&f->matrix, LIMIT, &p);
		must(f->matrix.cells.nr > 0 || p.lines.nr);
		must(f->matrix.cells.nr <= LIMIT || p.lines.nr);
	}
	for (size_t i = 0; i < f->matrix.cells.nr && i < CONFIGS; i++)
		cell_try(f, &f->matrix.cells.v[i]);
	for (size_t i = 0; f->slots && i < f->slots->nr && i < 4; i++) {
		struct cfg given;

		cfg_init(&given);
		campaign_slot_config(f, i, &given);
		must(given.root != NULL);
		cfg_release(&given);
	}
	problems_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(xfreep) char *text = xstrndup((const char *)data, n);
	struct campaign_sources given = { VEC_INIT };
	struct problems problems = PROBLEMS_INIT;
	struct campaign_file f;
	struct err err = ERR_INIT;
	int r;

	sources_make(text, &given);
	r = campaign_file_read(DIR "/campaign.yaml", &given, &f, &problems, &err);
	must(r == 0 || problems.lines.nr || err.msg[0]);
	must(r < 0 || problems.lines.nr == 0);
	if (r == 0)
		file_try(&f);
	campaign_file_release(&f);
	campaign_sources_release(&given);
	problems_release(&problems);
	return 0;
}
