/* What Python functions and modules of torch.nn launched, and how long they took. */
#include "analyses_private.h"
#include "frames.h"
#include "operator_backward.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* clang-format off */
#define FRAME_COLUMNS(X) \
	X(U64, works) X(I64, own_ns) X(I64, nested_ns) X(I64, host_ns) X(I64, host_self_ns) \
	X(I64, backward_own_ns) X(I64, backward_nested_ns) X(F64, joules) X(STR, energy_flags)
#define PYTHON_FUNCTIONS(X) X(STR, name) X(F64, calls) FRAME_COLUMNS(X)
#define MODULES(X) X(STR, module) X(STR, class) X(STR, inside) X(F64, calls) FRAME_COLUMNS(X)
/* clang-format on */
TABLE_FORM(python_functions, PYTHON_FUNCTIONS,
	   "one row per Python function: the device work launched in it, its time on the host");
TABLE_FORM(modules, MODULES,
	   "one row per module of torch.nn: the device work launched in it, its time on the host");

#define SAY_NO_FRAMES \
	"the inputs hold no frames of Python (PyTorch's profiler records them where with_stack " \
	"is " \
	"set)"

struct telling {
	struct table *t;
	const struct frames *f;
};

/* "Linear_12" → "Linear". Owned. */
static char *class_of(const char *module)
{
	size_t n = strlen(module), at = n;

	while (at && isdigit((unsigned char)module[at - 1]))
		at--;
	return xstrndup(module, at < n && at > 1 && module[at - 1] == '_' ? at - 1 : n);
}

static void function_put(const struct telling *to, const char *name, double calls,
			 const struct frame_sums *s, const struct joules *j)
{
	char flags[ENERGY_FLAGS_MAX];

	table_add(to->t, &(struct python_functions_row){ name, calls, s->works, s->own_ns,
							 s->nested_ns, s->host_ns, s->host_self_ns,
							 s->backward_own_ns, s->backward_nested_ns,
							 joules_value(j), joules_flags(j, flags) });
}

static void module_put(const struct telling *to, const char *name, const struct frame_row *r,
		       double calls, const struct frame_sums *s, const struct joules *j)
{
	CLEANUP(xfreep) char *class = r ? class_of(name) : NULL;
	bool inside = r && r->inside != FRAME_NONE;
	char flags[ENERGY_FLAGS_MAX];

	table_add(to->t, &(struct modules_row){
				 name, class ? class : "",
				 inside ? intern_str(to->f->names, to->f->v.v[r->inside].name) : "",
				 calls, s->works, s->own_ns, s->nested_ns, s->host_ns,
				 s->host_self_ns, s->backward_own_ns, s->backward_nested_ns,
				 joules_value(j), joules_flags(j, flags) });
}

/* r NULL: a row of what no frame has. */
static void row_put(const struct telling *to, const char *name, const struct frame_row *r,
		    const struct frame_sums *s, const struct joules *j)
{
	double calls = r && r->calls ? (double)r->calls : NAN;

	if (to->f->kind == FRAMES_FUNCTIONS)
		function_put(to, name, calls, s, j);
	else
		module_put(to, name, r, calls, s, j);
}

static int cmp_row(const void *pa, const void *pb, void *ctx)
{
	const struct frame_row *a = *(const struct frame_row *const *)pa;
	const struct frame_row *b = *(const struct frame_row *const *)pb;
	const struct frames *f = ctx;
	const int64_t by[][2] = { { a->s.own_ns, b->s.own_ns },
				  { a->s.nested_ns, b->s.nested_ns },
				  { a->s.host_self_ns, b->s.host_self_ns } };

	for (size_t i = 0; i < ARRAY_LEN(by); i++)
		if (by[i][0] != by[i][1])
			return by[i][0] > by[i][1] ? -1 : 1;
	return strcmp(intern_str(f->names, a->name), intern_str(f->names, b->name));
}

static void frames_table(const struct frames *f, const struct table_form *form, const char *none,
			 struct table_set *out)
{
	const struct telling to = { table_make(form), f };
	const struct frame_row **order = xreallocarray(NULL, f->v.nr + 1, sizeof(*order));
	struct frame_sums last[] = { f->none, f->unlinked };

	for (size_t i = 0; i < f->v.nr; i++)
		order[i] = &f->v.v[i];
	qsort_r(order, f->v.nr, sizeof(*order), cmp_row, (void *)f);
	for (size_t i = 0; i < f->v.nr; i++)
		row_put(&to, intern_str(f->names, order[i]->name), order[i], &order[i]->s,
			&order[i]->j);
	for (size_t i = 0; i < ARRAY_LEN(last); i++) {
		last[i].nested_ns = last[i].own_ns;
		last[i].host_ns = last[i].host_self_ns;
		last[i].backward_nested_ns = last[i].backward_own_ns;
		if (last[i].works || last[i].host_ns || last[i].backward_own_ns)
			row_put(&to, i ? "[unlinked]" : none, NULL, &last[i],
				i ? &f->unlinked_j : &f->none_j);
	}
	free(order);
	table_set_add(out, to.t);
}

/* Operators are looked at only where some are backward ones. */
static bool some_backward(const struct model *m)
{
	for (size_t i = 0; i < m->facts.ops.nr; i++)
		if (m->facts.ops.v[i].sequence != FACT_ABSENT &&
		    m->facts.ops.v[i].forward_thread != FACT_ABSENT &&
		    m->facts.ops.v[i].forward_thread != 0)
			return true;
	return false;
}

/* Whether there are any. */
static bool kind_tell(struct model *m, const struct analysis_opts *o,
		      const struct frames_backward *back, enum frames_kind kind,
		      struct table_set *out)
{
	CLEANUP(frames_freep)
	struct frames *f =
		frames_new(m, analysis_works(m, o), analysis_work_energy(m, o), back, kind);

	if (!f->v.nr)
		return false;
	if (kind == FRAMES_FUNCTIONS)
		frames_table(f, &python_functions_form, "[no function]", out);
	else
		frames_table(f, &modules_form, "[no module]", out);
	return true;
}

static int python_tell(struct model *m, const struct analysis_opts *o,
		       const struct frames_backward *back, struct table_set *out)
{
	bool functions = kind_tell(m, o, back, FRAMES_FUNCTIONS, out);
	bool modules = kind_tell(m, o, back, FRAMES_MODULES, out);

	if (!functions && !modules)
		return table_set_skip(out, "python", SAY_NO_FRAMES);
	if (!functions)
		table_set_skip(out, "python_functions", "the frames of the inputs are all modules");
	if (!modules)
		table_set_skip(out, "modules", "no frame of the inputs is a module of torch.nn");
	return 0;
}

static int python_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		      struct err *err)
{
	const struct operator_calls *oc;
	CLEANUP(xfreep) uint32_t *forward = NULL;
	struct frames_backward back;

	(void)err;
	if (!frames_some(m))
		return table_set_skip(out, "python", SAY_NO_FRAMES);
	model_nest_times(m);
	if (!some_backward(m))
		return python_tell(m, o, NULL, out);
	oc = analysis_operator_calls(m, o);
	forward = backward_forward(oc);
	back = (struct frames_backward){ oc, forward };
	return python_tell(m, o, &back, out);
}

const struct analysis analysis_python = {
	.name = "python",
	.about = "Python functions and modules: device work launched in them, host time",
	.tables = { &python_functions_form, &modules_form },
	.run = python_run,
	.needs_calls = true,
};
