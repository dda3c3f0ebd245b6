/*
 * jax_csv: the collectives of the recording jax/pax-fsdp4, from its tables: 4 processes with a
 * clock each. An instance is (module, execution, name, thunk execution).
 */
#ifndef PROFRIG_JAX_CSV_H
#define PROFRIG_JAX_CSV_H

#include "test.h"

#include <math.h>

#include "profrig/base/csv.h"
#include "profrig/base/intern.h"
#include "profrig/base/vec.h"

struct jax_part {
	str_id instance, kind; /* "all-gather" */
	uint32_t device;
	int64_t start_ns, end_ns, bytes; /* bytes: as the reference counts them */
	int64_t hidden_ns;               /* beside computing */
	str_id by_program;               /* its instance by the program's id instead of its name */
	int64_t execution;
	bool step; /* of the step function */
};

struct jax_parts {
	VEC(struct jax_part) v;
	struct intern *names;
};

static inline int64_t jax_ns(const char *ms)
{
	double v = 0;

	assert_int_equal(num_f64(ms, strlen(ms), &v), 0);
	return llround(v * 1e6);
}

static inline struct csv_reader *jax_open(const char *name)
{
	CLEANUP(xfreep) char *file = xasprintf("jax/pax-fsdp4/%s", name);
	CLEANUP(xfreep) char *path = test_trace(file);
	char *const *f;
	size_t n;
	struct csv_reader *r;

	assert_int_equal(csv_open_file(path, &r, NULL), 0);
	assert_int_equal(csv_next(r, &f, &n, NULL), 1);
	return r;
}

/* The module of a program: field 0 is its id, field 3 the name. */
static inline void jax_modules(struct intern *programs, str_id *module, size_t max)
{
	struct csv_reader *r = jax_open("jax4_module.csv");
	char *const *f;
	size_t n;

	while (csv_next(r, &f, &n, NULL) == 1) {
		str_id id = intern_puts(programs, f[0]);
		assert_true(id < max);
		module[id] = intern_puts(programs, f[3]);
	}
	csv_free(r);
}

static inline void jax_parts_read(struct jax_parts *ret)
{
	static str_id module[4096];
	struct csv_reader *r;
	char *const *f;
	size_t n;

	free(test_trace("jax")); /* skips here, before anything is owned */
	*ret = (struct jax_parts){ .v = VEC_INIT, .names = intern_new() };
	jax_modules(ret->names, module, ARRAY_LEN(module));
	r = jax_open("jax4_communication.csv");
	while (csv_next(r, &f, &n, NULL) == 1) {
		const char *m = intern_str(ret->names, module[intern_puts(ret->names, f[0])]);
		CLEANUP(xfreep) char *key = xasprintf("%s|%s|%s|%s", m, f[1], f[2], f[3]);
		struct jax_part p = { .instance = intern_puts(ret->names, key),
				      .kind = intern_puts(ret->names, f[14]),
				      .start_ns = jax_ns(f[8]) };

		p.step = strcmp(m, "pjit__wrapped_step_fn") == 0;
		p.hidden_ns = jax_ns(f[12]);
		p.end_ns = p.start_ns + jax_ns(f[7]) + p.hidden_ns;
		p.by_program = intern_puts(ret->names,
					   kept(xasprintf("%s|%s|%s|%s", f[0], f[1], f[2], f[3])));
		p.device = (uint32_t)(f[4][0] - '0');
		p.bytes = llround(strtod(f[13], NULL));
		p.execution = strtol(f[1], NULL, 10);
		VEC_PUSH(&ret->v, p);
	}
	csv_free(r);
}

static inline void jax_parts_release(struct jax_parts *p)
{
	VEC_RELEASE(&p->v);
	intern_free(p->names);
}

#endif
