/*
 * The text of a module:
 *
 *	HloModule jit_f, is_scheduled=true, num_partitions=4, frontend_attributes={
 *		fingerprint_before_lhs="b3b7…"}				(one line)
 *	FileNames	1 "train.py"
 *	FunctionNames	1 "step"
 *	FileLocations	1 {file_name_id=1 function_name_id=1 line=12 …}
 *	StackFrames	1 {file_location_id=1 parent_frame_id=1}
 *
 *	%fused (p: f32[8]) -> f32[8] {
 *	  ROOT %add.1 = f32[8]{0} add(f32[8]{0} %p, %p), metadata={op_name="…" source_file="…"
 *		source_line=12 stack_frame_id=3}			(one line)
 *	}
 *	ENTRY %main (…) -> … { … }
 *
 * An instruction is one line: name = shape opcode(operands), attribute=value, … Names are unique in
 * a module; operands and what is called stand before their users. Operands may have their shape.
 * replica_groups: {{0,1},{2,3}}; [2,4]<=[8] with a transposition behind it: groups, then members.
 */
#include "hlo_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"

enum section { SECTION_NONE, SECTION_FILES, SECTION_FUNCTIONS, SECTION_LOCATIONS, SECTION_FRAMES };

struct location {
	int64_t file, function, line;
};

struct parser {
	struct hlo_programs *p;
	struct hlo_module *m;
	struct u64map computations; /* name → computation */
	enum section section;
	VEC(str_id) files, functions;
	VEC(struct location) locations;
	bool inside, entry; /* a computation; that of the program was there */
	uint64_t line;
};

static struct hlo_text trim(struct hlo_text t)
{
	while (t.n > 0 && (*t.p == ' ' || *t.p == '\t'))
		t.p++, t.n--;
	while (t.n > 0 && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t' || t.p[t.n - 1] == '\r'))
		t.n--;
	return t;
}

static bool begins(struct hlo_text t, const char *s)
{
	return t.n >= strlen(s) && memcmp(t.p, s, strlen(s)) == 0;
}

static bool is(struct hlo_text t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

static struct hlo_text skip(struct hlo_text t, size_t n)
{
	return (struct hlo_text){ t.p + n, t.n - n };
}

static str_id put(struct parser *x, struct hlo_text t)
{
	if (t.n > 0 && *t.p == '%')
		t = skip(t, 1);
	return intern_put(x->p->texts, t.p, t.n);
}

/*
 * Cuts the part in front of the next `stop` off rest, which is in no quotes or brackets there. Both
 * move behind it.
 */
static struct hlo_text cut(struct hlo_text *rest, const char *stop)
{
	struct hlo_text part = { rest->p, 0 };
	size_t depth = 0, at = 0;
	bool quoted = false;

	for (; at < rest->n; at++) {
		char ch = rest->p[at];

		if (quoted) {
			if (ch == '\\')
				at++;
			quoted = ch != '"';
			continue;
		}
		if (depth == 0 && strchr(stop, ch) && ch)
			break;
		quoted = ch == '"';
		if (ch == '(' || ch == '[' || ch == '{')
			depth++;
		else if ((ch == ')' || ch == ']' || ch == '}') && depth > 0)
			depth--;
	}
	part.n = at < rest->n ? at : rest->n;
	*rest = skip(*rest, at < rest->n ? at + 1 : rest->n);
	return part;
}

/* What is inside its brackets or quotes. */
static struct hlo_text inside(struct hlo_text t)
{
	return t.n >= 2 ? (struct hlo_text){ t.p + 1, t.n - 2 } : (struct hlo_text){ t.p, 0 };
}

static int64_t number(struct hlo_text t)
{
	int64_t v;

	t = trim(t);
	return num_i64(t.p, t.n, &v) == 0 ? v : HLO_ABSENT;
}

/* ---- shapes ---- */

/* "f32[8,<=16]{1,0}": adds to *bytes, and notes the first type. */
static void array_add(struct parser *x, struct hlo_text t, int64_t *bytes, str_id *type)
{
	size_t n = 0, depth = 0;
	int64_t elements = 1;
	struct hlo_text dims;
	unsigned bits;

	while (n < t.n && t.p[n] != '[')
		n++;
	bits = hlo_type_bits(t.p, n);
	if (n == t.n || bits == 0)
		return;
	if (*type == 0)
		*type = intern_put(x->p->texts, t.p, n);
	dims = skip(t, n + 1);
	while (depth < dims.n && dims.p[depth] != ']')
		depth++;
	dims.n = depth;
	while (dims.n > 0) {
		struct hlo_text one = cut(&dims, ",");
		int64_t v = number(begins(one, "<=") ? skip(one, 2) : one);

		if (v < 0 || __builtin_mul_overflow(elements, v, &elements)) {
			*bytes = HLO_ABSENT;
			return;
		}
	}
	hlo_bytes_add(bytes, elements, bits);
}

/* An array, or a tuple of them; without recursion, as brackets only part arrays. */
static void shape_add(struct parser *x, struct hlo_text t, int64_t *bytes, str_id *type)
{
	size_t from = 0, depth = 0;

	for (size_t i = 0; i <= t.n; i++) {
		char ch = i < t.n ? t.p[i] : ',';

		if (depth == 0 && (ch == ',' || ch == '(' || ch == ')')) {
			struct hlo_text one = trim((struct hlo_text){ t.p + from, i - from });

			/* a comment with its index stands in front of some */
			if (begins(one, "/*"))
				cut(&one, "/"), cut(&one, "/");
			array_add(x, trim(one), bytes, type);
			from = i + 1;
		} else if (ch == '[' || ch == '{') {
			depth++;
		} else if ((ch == ']' || ch == '}') && depth > 0) {
			depth--;
		}
	}
}

/* ---- attributes ---- */

static void groups_take(struct parser *x, struct hlo_instruction *i, struct hlo_text t)
{
	struct hlo_text list = inside(t), first = t;
	int64_t groups, members;

	if (begins(t, "[")) {
		first = cut(&first, "<");
		list = inside(trim(first));
		groups = number(cut(&list, ","));
		members = number(list);
		if (groups > 0 && groups <= UINT32_MAX && members > 0) {
			i->groups = (uint32_t)groups;
			i->group_size = members;
		}
		return;
	}
	if (!begins(t, "{"))
		return;
	if (trim(list).n == 0)
		hlo_groups_all(x->m, i);
	while (trim(list).n > 0) {
		struct hlo_text group = inside(trim(cut(&list, ",")));
		int64_t n = 0;

		for (; trim(group).n > 0; n++)
			cut(&group, ",");
		hlo_group_add(i, n);
	}
}

static void call_add(struct parser *x, struct hlo_instruction *i, struct hlo_text name)
{
	uint32_t at = u64map_get(&x->computations, put(x, trim(name)));

	if (at == U64MAP_NONE)
		return;
	if (i->nr_calls == 0)
		i->calls = (uint32_t)x->m->calls.nr;
	VEC_PUSH(&x->m->calls, at);
	i->nr_calls++;
}

static void calls_add(struct parser *x, struct hlo_instruction *i, struct hlo_text t)
{
	if (!begins(t, "{")) {
		call_add(x, i, t);
		return;
	}
	t = inside(t);
	while (t.n > 0)
		call_add(x, i, cut(&t, ","));
}

static void metadata_take(struct parser *x, struct hlo_instruction *i, struct hlo_text t)
{
	t = inside(t);
	while (t.n > 0) {
		struct hlo_text value = cut(&t, " "), key = cut(&value, "=");
		int64_t n;

		if (is(key, "op_name"))
			i->op_name = put(x, inside(value));
		else if (is(key, "source_file"))
			i->file = put(x, inside(value));
		else if (is(key, "source_line"))
			i->line = number(value);
		else if (is(key, "stack_frame_id") && (n = number(value)) > 0 && n <= UINT32_MAX)
			i->frame = (uint32_t)n;
	}
}

static void attributes_take(struct parser *x, struct hlo_instruction *i, struct hlo_text rest)
{
	while (trim(rest).n > 0) {
		struct hlo_text value = trim(cut(&rest, ",")), key = cut(&value, "=");

		if (is(key, "replica_groups"))
			groups_take(x, i, value);
		else if (is(key, "source_target_pairs"))
			i->groups = 1, i->group_size = 2;
		else if (is(key, "metadata"))
			metadata_take(x, i, value);
		else if (is(key, "calls") || is(key, "to_apply") || is(key, "body") ||
			 is(key, "condition") || is(key, "branch_computations") ||
			 is(key, "called_computations"))
			calls_add(x, i, value);
	}
}

static void operands_take(struct parser *x, struct hlo_instruction *i, struct hlo_text list)
{
	while (trim(list).n > 0) {
		struct hlo_text one = trim(cut(&list, ","));
		const struct hlo_instruction *of;

		while (one.n > 0) {
			struct hlo_text rest = one, word = cut(&rest, " ");

			if (word.n == one.n)
				break;
			one = trim(rest);
		}
		of = hlo_instruction(x->m, put(x, one));
		if (of)
			hlo_size_add(&i->operand_bytes, of->bytes);
	}
}

/* The compiler writes what is begun asynchronously under the name of what it wraps. */
static struct hlo_text opcode_of(struct hlo_text t, const struct hlo_instruction *i)
{
	static const char *const own[] = { "all-reduce-start", "all-gather-start",
					   "collective-permute-start", "copy-start" };
	static const char start[] = "-start";
	size_t n = sizeof(start) - 1;

	if (i->nr_calls == 0 || i->groups > 0 || t.n <= n || memcmp(t.p + t.n - n, start, n) != 0)
		return t;
	for (size_t k = 0; k < ARRAY_LEN(own); k++)
		if (is(t, own[k]))
			return t;
	return (struct hlo_text){ "async-start", 11 };
}

/* false: the line is no instruction. */
static bool instruction_take(struct parser *x, struct hlo_text t)
{
	struct hlo_instruction i = HLO_INSTRUCTION_NONE;
	struct hlo_text name, shape, opcode, operands = { t.p, 0 };
	size_t n = 0;

	if (begins(t, "ROOT "))
		t = skip(t, 5);
	name = cut(&t, " ");
	if (!begins(t, "= "))
		return false;
	t = trim(skip(t, 2));
	shape = cut(&t, " ");
	while (n < t.n && t.p[n] != '(')
		n++;
	opcode = (struct hlo_text){ t.p, n };
	if (n == 0 || n == t.n)
		return false;
	t = skip(t, n);
	operands = cut(&t, ",");
	i.name = put(x, name);
	shape_add(x, shape, &i.bytes, &i.type);
	operands_take(x, &i, inside(trim(operands)));
	attributes_take(x, &i, t);
	opcode = opcode_of(opcode, &i);
	i.opcode = put(x, opcode);
	return hlo_push(x->m, &i);
}

/* ---- lines ---- */

static void module_take(struct parser *x, struct hlo_text t)
{
	static const char mark[] = "fingerprint_before_lhs=\"";
	const char *at = memmem(t.p, t.n, mark, sizeof(mark) - 1);
	struct hlo_text name;

	t = skip(t, strlen("HloModule "));
	name = cut(&t, ", ");
	x->m->name = put(x, name);
	if (at) {
		struct hlo_text text = { at + sizeof(mark) - 2, 0 };

		text.n = (size_t)(t.p + t.n - text.p);
		text = cut(&text, ",}");
		x->m->fingerprint = put(x, inside(text));
	}
	while (t.n > 0) {
		struct hlo_text value = trim(cut(&t, ",")), key = cut(&value, "=");

		if (is(key, "num_partitions"))
			x->m->partitions = number(value);
		else if (is(key, "replica_count"))
			x->m->replicas = number(value);
	}
}

static void computation_begin(struct parser *x, struct hlo_text t)
{
	struct hlo_computation c = { .first = (uint32_t)x->m->v.nr };

	if (begins(t, "ENTRY "))
		t = trim(skip(t, 6)), x->entry = true;
	c.name = put(x, cut(&t, " ("));
	*u64map_at(&x->computations, c.name) = (uint32_t)x->m->computations.nr;
	VEC_PUSH(&x->m->computations, c);
	x->inside = true;
	x->section = SECTION_NONE;
}

static void frame_take(struct parser *x, const int64_t v[4])
{
	struct hlo_frame f = { .line = HLO_ABSENT };
	const struct location *l;

	if (v[0] > 0 && (uint64_t)v[0] <= x->locations.nr) {
		l = &x->locations.v[v[0] - 1];
		f.line = l->line;
		if (l->file > 0 && (uint64_t)l->file <= x->files.nr)
			f.file = x->files.v[l->file - 1];
		if (l->function > 0 && (uint64_t)l->function <= x->functions.nr)
			f.function = x->functions.v[l->function - 1];
	}
	if (v[1] > 0 && (uint64_t)v[1] <= x->m->frames.nr)
		f.parent = (uint32_t)v[1];
	VEC_PUSH(&x->m->frames, f);
}

/* A row of a table: its number, then a text, or numbers by name. */
static void row_take(struct parser *x, struct hlo_text t)
{
	static const char *const keys[] = { "file_name_id", "function_name_id", "line",
					    "file_location_id", "parent_frame_id" };
	int64_t v[5] = { 0, 0, HLO_ABSENT, 0, 0 };

	cut(&t, " ");
	t = trim(t);
	if (x->section == SECTION_FILES || x->section == SECTION_FUNCTIONS) {
		str_id s = put(x, inside(t));

		if (x->section == SECTION_FILES)
			VEC_PUSH(&x->files, s);
		else
			VEC_PUSH(&x->functions, s);
		return;
	}
	t = inside(t);
	while (t.n > 0) {
		struct hlo_text value = cut(&t, " "), key = cut(&value, "=");

		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			if (is(key, keys[k]))
				v[k] = number(value);
	}
	if (x->section == SECTION_LOCATIONS)
		VEC_PUSH(&x->locations, ((struct location){ v[0], v[1], v[2] }));
	else
		frame_take(x, (const int64_t[]){ v[3], v[4], 0, 0 });
}

static bool section_take(struct parser *x, struct hlo_text t)
{
	static const char *const names[] = { "FileNames", "FunctionNames", "FileLocations",
					     "StackFrames" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!is(t, names[i]))
			continue;
		x->section = (enum section)(SECTION_FILES + i);
		return true;
	}
	return false;
}

/* false: the line is not what may stand there. */
static bool line_take(struct parser *x, struct hlo_text t)
{
	if (x->inside && is(t, "}")) {
		struct hlo_computation *c = &x->m->computations.v[x->m->computations.nr - 1];

		c->nr = (uint32_t)x->m->v.nr - c->first;
		x->inside = false;
		return true;
	}
	if (x->inside)
		return instruction_take(x, t);
	if (section_take(x, t))
		return true;
	if (t.p[t.n - 1] == '{') {
		computation_begin(x, t);
		return true;
	}
	/* "}, execution_thread=…" ends one, too; comments, and what newer versions add, pass */
	if (x->section != SECTION_NONE && *t.p >= '0' && *t.p <= '9')
		row_take(x, t);
	return true;
}

static void parser_release(struct parser *x)
{
	u64map_release(&x->computations);
	VEC_RELEASE(&x->files);
	VEC_RELEASE(&x->functions);
	VEC_RELEASE(&x->locations);
}

int hlo_parse_text(struct hlo_programs *p, const char *data, size_t n, struct hlo_module *m,
		   const char *path, struct err *err)
{
	CLEANUP(parser_release) struct parser x = { .p = p, .m = m };
	struct hlo_text rest = { data, n };

	while (rest.n > 0) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t len = end ? (size_t)(end - rest.p) : rest.n;
		struct hlo_text t = trim((struct hlo_text){ rest.p, len });

		rest = skip(rest, end ? len + 1 : len);
		x.line++;
		if (t.n == 0 || begins(t, "//"))
			continue;
		if (x.inside && begins(t, "}, "))
			t.n = 1;
		if (begins(t, "HloModule "))
			module_take(&x, t);
		else if (m->name == 0)
			return err_set(err, EINVAL, "%s: line %" PRIu64 ": no HloModule", path,
				       x.line);
		else if (!line_take(&x, t))
			return err_set(err, EINVAL,
				       "%s: line %" PRIu64
				       ": no instruction, or more than %zu of them",
				       path, x.line, HLO_INSTRUCTIONS_MAX);
	}
	if (x.inside || !x.entry)
		return err_set(err, EINVAL, "%s: line %" PRIu64 ": the text ends early", path,
			       x.line);
	return 0;
}
