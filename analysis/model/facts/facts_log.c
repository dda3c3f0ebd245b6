/* Rows of facts in the log of a sink (sink_log_private.h): the fields of their form, in order. */
#include "facts_private.h"
#include "sink_log_private.h"

#include "profrig/base/xalloc.h"

/* 0: FACT_ABSENT; else one more than a signed number of the log. */
void log_put_fact(struct strbuf *to, int64_t v)
{
	log_put_number(to, v == FACT_ABSENT ? 0 : ((uint64_t)v << 1 ^ (uint64_t)(v >> 63)) + 1);
}

int64_t log_take_fact(struct serial_in *in)
{
	uint64_t v = log_take_number(in) - 1;

	return v == UINT64_MAX ? FACT_ABSENT : (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* 0: none. */
static void put_id(struct strbuf *to, uint32_t id)
{
	log_put_number(to, (uint32_t)(id + 1));
}

static uint32_t take_id(struct serial_in *in)
{
	uint64_t v = log_take_number(in) - 1;

	in->bad |= v != UINT64_MAX && v >= UINT32_MAX;
	return (uint32_t)v;
}

static uint32_t take_known(struct serial_in *in, const struct log_ids *ids)
{
	uint32_t id = take_id(in);

	in->bad |= id != UINT32_MAX && id >= ids->nr;
	return in->bad || id == UINT32_MAX ? UINT32_MAX : ids->v[id];
}

/* The empty text has no record; the others have one before they are named. */
static str_id take_text_id(struct serial_in *in, const struct log_ids *texts)
{
	const char *at = in->at;
	str_id id = take_id(in), known;

	if (id == 0 || id == STR_NONE)
		return id;
	in->at = at;
	known = take_known(in, texts);
	in->bad |= known == STR_NONE;
	return known;
}

void log_put_row(struct strbuf *to, unsigned form, const void *row)
{
	const struct fact_form *ff = &fact_forms[form];

	for (size_t i = 0; i < ff->nr; i++) {
		const struct fact_field *f = &ff->fields[i];
		int64_t v = 0;
		uint32_t id = 0;
		bool flag = false;

		switch (f->type) {
		case FACT_NUMBER:
		case FACT_SIZE:
		case FACT_CHANGE:
			fact_take(row, f, &v, sizeof(v));
			log_put_fact(to, v);
			break;
		case FACT_FLAG:
			fact_take(row, f, &flag, sizeof(flag));
			log_put_number(to, flag);
			break;
		case FACT_TEXT:
		case FACT_OPERANDS:
		case FACT_NUMBERS:
		case FACT_WORD:
			fact_take(row, f, &id, sizeof(id));
			put_id(to, id);
			break;
		}
	}
}

void log_take_row(struct serial_in *in, unsigned form, void *row, const struct log_fact_ids *ids)
{
	const struct fact_form *ff = &fact_forms[form];

	for (size_t i = 0; i < ff->nr; i++) {
		const struct fact_field *f = &ff->fields[i];
		int64_t v;
		uint32_t id = 0;
		bool flag;

		switch (f->type) {
		case FACT_NUMBER:
		case FACT_SIZE:
		case FACT_CHANGE:
			v = log_take_fact(in);
			fact_put(row, f, &v, sizeof(v));
			continue;
		case FACT_FLAG:
			flag = log_take_number(in) != 0;
			fact_put(row, f, &flag, sizeof(flag));
			continue;
		case FACT_TEXT:
			id = take_text_id(in, &ids->texts);
			break;
		case FACT_OPERANDS:
			id = take_known(in, &ids->operands);
			break;
		case FACT_NUMBERS:
			id = take_known(in, &ids->numbers);
			break;
		case FACT_WORD:
			id = take_id(in);
			break;
		}
		fact_put(row, f, &id, sizeof(id));
	}
}

void log_put_operands(struct strbuf *to, const struct operand_texts *t)
{
	const struct fact_text *texts[] = { &t->shapes, &t->types, &t->strides, &t->concrete };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		log_put_number(to, texts[i]->p ? texts[i]->n + 1 : 0);
		if (texts[i]->p)
			strbuf_add(to, texts[i]->p, texts[i]->n);
	}
}

void log_take_operands(struct serial_in *in, struct operand_texts *ret)
{
	struct fact_text *texts[] = { &ret->shapes, &ret->types, &ret->strides, &ret->concrete };

	*ret = (struct operand_texts){ .shapes = { NULL, 0 } };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		uint64_t n = log_take_number(in);

		in->bad |= n > 0 && n - 1 > (size_t)(in->end - in->at);
		if (n == 0 || in->bad)
			continue;
		*texts[i] = (struct fact_text){ in->at, (size_t)n - 1 };
		in->at += n - 1;
	}
}
