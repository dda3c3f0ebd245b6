/*
 * A mangled name is _Z and an encoding:
 *
 *	encoding	name, then the types of a function, of which nothing is wanted here
 *	name		N … E nested, Z encoding E name local to a function, S_ I…E a template that
 *			was named before, St … in std
 *	I … E		arguments of a template: types, L…E literals, J…E packs
 *	S_, S0_, …	what was named before, in the order of first use
 *
 * Each part is written as it is read. What later parts refer to is kept as a copy of the text.
 */
#include "profrig/names/demangle.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct demangler {
	const char *p;
	unsigned depth;
	size_t kept; /* bytes of the texts below */
	VEC(char *) subs;
	VEC(char *) targs; /* of the last template, for T_ */
	bool templ;        /* the last name ended in arguments of a template */
	bool constant;     /* it is a member function that leaves its object alone */
};

static bool type_of(struct demangler *d, struct strbuf *out);
static bool name_of(struct demangler *d, struct strbuf *out);
static bool encoding_of(struct demangler *d, struct strbuf *out);

static bool take(struct demangler *d, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(d->p, word, n) != 0)
		return false;
	d->p += n;
	return true;
}

static bool keep(struct demangler *d, const char *text, size_t n)
{
	d->kept += n + 1;
	if (d->kept > DEMANGLE_MAX)
		return false;
	VEC_PUSH(&d->subs, xstrndup(text, n));
	return true;
}

static bool enter(struct demangler *d)
{
	return ++d->depth <= DEMANGLE_DEPTH;
}

static bool leave(struct demangler *d, bool ok)
{
	d->depth--;
	return ok;
}

static bool number(struct demangler *d, size_t *ret)
{
	size_t n = 0;

	if (!isdigit((unsigned char)*d->p))
		return false;
	for (; isdigit((unsigned char)*d->p); d->p++) {
		if (n > DEMANGLE_MAX)
			return false;
		n = n * 10 + (size_t)(*d->p - '0');
	}
	*ret = n;
	return true;
}

/* The number of S_ and T_: nothing is the first one. base 36 or 10. */
static bool sequence(struct demangler *d, unsigned base, size_t *ret)
{
	size_t n = 0;

	if (take(d, "_")) {
		*ret = 0;
		return true;
	}
	for (; *d->p != '_'; d->p++) {
		bool digit = isdigit((unsigned char)*d->p);

		if (!digit && (base == 10 || *d->p < 'A' || *d->p > 'Z'))
			return false;
		n = n * base + (size_t)(digit ? *d->p - '0' : *d->p - 'A' + 10);
		if (n > DEMANGLE_MAX)
			return false;
	}
	d->p++;
	*ret = n + 1;
	return true;
}

static bool source_name(struct demangler *d, struct strbuf *out)
{
	size_t n;

	if (!number(d, &n) || n == 0 || strnlen(d->p, n) < n)
		return false;
	if (n >= 10 && strncmp(d->p, "_GLOBAL__N", 10) == 0)
		strbuf_addstr(out, "(anonymous namespace)");
	else
		strbuf_add(out, d->p, n);
	d->p += n;
	while (take(d, "B")) { /* ABI tags */
		if (!number(d, &n) || strnlen(d->p, n) < n)
			return false;
		strbuf_addf(out, "[abi:%.*s]", (int)n, d->p);
		d->p += n;
	}
	return !out->overflow;
}

struct code_text {
	const char *code, *text;
};

static const struct code_text operators[] = {
	{ "nw", "new" }, { "na", "new[]" }, { "dl", "delete" }, { "da", "delete[]" },
	{ "ps", "+" },   { "ng", "-" },     { "ad", "&" },      { "de", "*" },
	{ "co", "~" },   { "pl", "+" },     { "mi", "-" },      { "ml", "*" },
	{ "dv", "/" },   { "rm", "%" },     { "an", "&" },      { "or", "|" },
	{ "eo", "^" },   { "aS", "=" },     { "pL", "+=" },     { "mI", "-=" },
	{ "mL", "*=" },  { "dV", "/=" },    { "rM", "%=" },     { "aN", "&=" },
	{ "oR", "|=" },  { "eO", "^=" },    { "ls", "<<" },     { "rs", ">>" },
	{ "lS", "<<=" }, { "rS", ">>=" },   { "eq", "==" },     { "ne", "!=" },
	{ "lt", "<" },   { "gt", ">" },     { "le", "<=" },     { "ge", ">=" },
	{ "ss", "<=>" }, { "nt", "!" },     { "aa", "&&" },     { "oo", "||" },
	{ "pp", "++" },  { "mm", "--" },    { "cm", "," },      { "pm", "->*" },
	{ "pt", "->" },  { "cl", "()" },    { "ix", "[]" },     { "qu", "?" },
};

static const struct code_text builtins[] = {
	{ "v", "void" },         { "w", "wchar_t" },
	{ "b", "bool" },         { "c", "char" },
	{ "a", "signed char" },  { "h", "unsigned char" },
	{ "s", "short" },        { "t", "unsigned short" },
	{ "i", "int" },          { "j", "unsigned int" },
	{ "l", "long" },         { "m", "unsigned long" },
	{ "x", "long long" },    { "y", "unsigned long long" },
	{ "n", "__int128" },     { "o", "unsigned __int128" },
	{ "f", "float" },        { "d", "double" },
	{ "e", "long double" },  { "g", "__float128" },
	{ "z", "..." },          { "Dn", "decltype(nullptr)" },
	{ "Da", "auto" },        { "Dh", "half" },
	{ "Di", "char32_t" },    { "Ds", "char16_t" },
	{ "Du", "char8_t" },     { "DF16b", "std::bfloat16_t" },
	{ "DF16_", "_Float16" },
};

static const char *code_take(struct demangler *d, const struct code_text *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (take(d, v[i].code))
			return v[i].text;
	return NULL;
}

/* Types up to E or the end, with commas between them. */
static bool types_until(struct demangler *d, const char *end, struct strbuf *out)
{
	bool first = true;

	while (*d->p && !strchr(end, *d->p)) {
		size_t at;

		if (!first)
			strbuf_addstr(out, ", ");
		at = out->len;
		if (!type_of(d, out) || out->overflow)
			return false;
		if (first && strcmp(out->buf + at, "void") == 0 && (!*d->p || strchr(end, *d->p))) {
			out->len = at;
			out->buf[at] = '\0';
		}
		first = false;
	}
	return true;
}

/* Ut_, UlvE_: a type without a name, a lambda. */
static bool unnamed(struct demangler *d, struct strbuf *out)
{
	size_t n;

	if (take(d, "Ut")) {
		if (!sequence(d, 10, &n))
			return false;
		strbuf_addf(out, "{unnamed type#%zu}", n + 1);
		return true;
	}
	if (!take(d, "Ul"))
		return false;
	strbuf_addstr(out, "{lambda(");
	if (!types_until(d, "E", out) || !take(d, "E") || !sequence(d, 10, &n))
		return false;
	strbuf_addf(out, ")#%zu}", n + 1);
	return true;
}

static bool unqualified(struct demangler *d, struct strbuf *out, const char *scope, size_t scope_n)
{
	const char *op;

	take(d, "L"); /* internal linkage */
	if (isdigit((unsigned char)*d->p))
		return source_name(d, out);
	if (*d->p == 'U')
		return unnamed(d, out);
	if ((*d->p == 'C' || *d->p == 'D') && isdigit((unsigned char)d->p[1])) {
		if (*d->p == 'D')
			strbuf_addch(out, '~');
		strbuf_add(out, scope, scope_n);
		d->p += 2;
		return scope_n > 0;
	}
	if (take(d, "cv")) {
		strbuf_addstr(out, "operator ");
		return type_of(d, out);
	}
	op = code_take(d, operators, ARRAY_LEN(operators));
	if (!op)
		return false;
	strbuf_addf(out, "operator%s%s", isalpha((unsigned char)*op) ? " " : "", op);
	return true;
}

static bool literal(struct demangler *d, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf type = STRBUF_INIT;
	static const struct code_text suffix[] = { { "unsigned int", "u" },
						   { "long", "l" },
						   { "unsigned long", "ul" },
						   { "long long", "ll" },
						   { "unsigned long long", "ull" } };
	const char *end;
	size_t n;

	if (take(d, "_Z"))
		return encoding_of(d, out) && take(d, "E");
	strbuf_limit(&type, DEMANGLE_MAX);
	if (!type_of(d, &type) || type.overflow)
		return false;
	end = strchr(d->p, 'E');
	n = end ? (size_t)(end - d->p) : 0;
	if (!end || n > 64)
		return false;
	if (strcmp(type.buf, "bool") == 0 && n == 1) {
		strbuf_addstr(out, *d->p == '1' ? "true" : "false");
	} else if (n == 0) {
		strbuf_addstr(out,
			      strcmp(type.buf, "decltype(nullptr)") == 0 ? "nullptr" : type.buf);
	} else {
		const char *tail = NULL;

		for (size_t i = 0; i < ARRAY_LEN(suffix); i++)
			if (strcmp(type.buf, suffix[i].code) == 0)
				tail = suffix[i].text;
		if (!tail && strcmp(type.buf, "int") != 0)
			strbuf_addf(out, "(%s)", type.buf);
		if (take(d, "n")) {
			strbuf_addch(out, '-');
			n--;
		}
		strbuf_add(out, d->p, n);
		strbuf_addstr(out, tail ?: "");
	}
	d->p = end + 1;
	return true;
}

static bool argument(struct demangler *d, struct strbuf *out)
{
	if (take(d, "L"))
		return literal(d, out);
	if (*d->p == 'X')
		return false;
	if (take(d, "J")) {
		bool first = true;

		for (; *d->p && *d->p != 'E'; first = false) {
			if (!first)
				strbuf_addstr(out, ", ");
			if (!enter(d) || !leave(d, argument(d, out)))
				return false;
		}
		return take(d, "E");
	}
	return type_of(d, out);
}

static void targs_forget(struct demangler *d)
{
	for (size_t i = 0; i < d->targs.nr; i++)
		free(d->targs.v[i]);
	VEC_CLEAR(&d->targs);
}

/* Behind the I. */
static bool arguments(struct demangler *d, struct strbuf *out)
{
	VEC(char *) args = VEC_INIT;
	bool ok = enter(d);
	bool first = true;

	strbuf_addch(out, '<');
	while (ok && *d->p && *d->p != 'E') {
		size_t at;

		if (!first)
			strbuf_addstr(out, ", ");
		at = out->len;
		ok = argument(d, out) && !out->overflow;
		d->kept += out->len - at + 1;
		ok = ok && d->kept <= DEMANGLE_MAX;
		if (ok && out->len == at && !first) { /* an empty pack */
			out->len -= 2;
			at = out->len;
			out->buf[at] = '\0';
		}
		if (ok)
			VEC_PUSH(&args, xstrndup(out->buf + at, out->len - at));
		first = false;
	}
	strbuf_addstr(out, out->len && out->buf[out->len - 1] == '>' ? " >" : ">");
	targs_forget(d);
	free(d->targs.v);
	d->targs.v = args.v;
	d->targs.nr = args.nr;
	d->targs.cap = args.cap;
	return leave(d, ok) && take(d, "E");
}

static const struct code_text std_names[] = {
	{ "St", "std" },           { "Sa", "std::allocator" }, { "Sb", "std::basic_string" },
	{ "Ss", "std::string" },   { "Si", "std::istream" },   { "So", "std::ostream" },
	{ "Sd", "std::iostream" },
};

/* S…: false when it is none. */
static bool substitution(struct demangler *d, struct strbuf *out)
{
	const char *text = code_take(d, std_names, ARRAY_LEN(std_names));
	size_t n;

	if (text) {
		strbuf_addstr(out, text);
		return true;
	}
	if (!take(d, "S") || !sequence(d, 36, &n) || n >= d->subs.nr)
		return false;
	strbuf_addstr(out, d->subs.v[n]);
	return !out->overflow;
}

static bool template_param(struct demangler *d, struct strbuf *out)
{
	size_t n;

	if (!take(d, "T") || !sequence(d, 10, &n))
		return false;
	strbuf_addstr(out, n < d->targs.nr ? d->targs.v[n] : "auto");
	return !out->overflow;
}

/* Behind the N. */
static bool nested(struct demangler *d, struct strbuf *out)
{
	size_t begin = out->len, last = out->len, last_n = 0;
	bool more = false;

	bool constant = false;

	for (; *d->p && strchr("rVKRO", *d->p); d->p++)
		constant |= *d->p == 'K';
	for (; *d->p && *d->p != 'E'; more = true) {
		CLEANUP(strbuf_release) struct strbuf scope = STRBUF_INIT;
		bool old = false, ok;

		if (*d->p == 'I') {
			d->p++;
			d->templ = true;
			if (!arguments(d, out))
				return false;
			if (*d->p != 'E' && !keep(d, out->buf + begin, out->len - begin))
				return false;
			continue;
		}
		d->templ = false;
		strbuf_add(&scope, out->buf + last, last_n);
		if (more)
			strbuf_addstr(out, "::");
		last = out->len;
		if (*d->p == 'S') {
			old = true;
			ok = substitution(d, out);
		} else if (*d->p == 'T') {
			ok = template_param(d, out);
		} else {
			ok = unqualified(d, out, scope.buf, scope.len);
		}
		last_n = out->len - last;
		if (!ok || out->overflow)
			return false;
		if (!old && *d->p != 'E' && !keep(d, out->buf + begin, out->len - begin))
			return false;
	}
	d->constant = constant;
	return more && take(d, "E");
}

/* Behind the Z. */
static bool local(struct demangler *d, struct strbuf *out)
{
	size_t n;

	if (!encoding_of(d, out) || !take(d, "E"))
		return false;
	strbuf_addstr(out, "::");
	if (take(d, "s")) {
		strbuf_addstr(out, "string literal");
	} else if (!name_of(d, out)) {
		return false;
	}
	if (take(d, "__"))
		return number(d, &n) && take(d, "_");
	if (take(d, "_"))
		return number(d, &n);
	return true;
}

static bool name_plain(struct demangler *d, struct strbuf *out)
{
	size_t begin = out->len;

	d->templ = d->constant = false;
	if (take(d, "N"))
		return nested(d, out);
	if (take(d, "Z"))
		return local(d, out);
	if (*d->p == 'S' && strncmp(d->p, "St", 2) != 0) {
		if (!substitution(d, out))
			return false;
	} else {
		if (take(d, "St"))
			strbuf_addstr(out, "std::");
		if (!unqualified(d, out, "", 0))
			return false;
		if (*d->p == 'I' && !keep(d, out->buf + begin, out->len - begin))
			return false;
	}
	if (!take(d, "I"))
		return true;
	d->templ = true;
	return arguments(d, out);
}

static bool name_of(struct demangler *d, struct strbuf *out)
{
	return enter(d) && leave(d, name_plain(d, out)) && !out->overflow;
}

/* Name and types of a function, or a name alone; only the name is written. */
static bool encoding_of(struct demangler *d, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf types = STRBUF_INIT;
	size_t at = out->len;
	bool constant;

	if (!enter(d) || !name_of(d, out))
		return leave(d, false);
	constant = d->constant;
	strbuf_limit(&types, DEMANGLE_MAX);
	if (!*d->p || *d->p == 'E')
		return leave(d, true);
	if (d->templ && strncmp(out->buf + at, "operator ", 9) != 0 && !type_of(d, &types))
		return leave(d, false);
	strbuf_clear(&types);
	if (!types_until(d, "E.", &types))
		return leave(d, false);
	if (d->depth > 1) /* functions around a local thing show their parameters */
		strbuf_addf(out, "(%s)%s", types.buf, constant ? " const" : "");
	return leave(d, !out->overflow);
}

/* Behind the F: a function's type; declarator stands in its middle ("*"). */
static bool function_type(struct demangler *d, const char *declarator, struct strbuf *out)
{
	take(d, "Y");
	if (!type_of(d, out))
		return false;
	strbuf_addf(out, *declarator ? " (%s)(" : " %s(", declarator);
	if (!types_until(d, "E", out) || !take(d, "E"))
		return false;
	strbuf_addch(out, ')');
	return true;
}

static bool array_type(struct demangler *d, const char *declarator, struct strbuf *out)
{
	size_t n;

	if (!number(d, &n) || !take(d, "_") || !type_of(d, out))
		return false;
	strbuf_addf(out, *declarator ? " (%s) [%zu]" : "%s [%zu]", declarator, n);
	return true;
}

/* P, R, O and the qualifiers in front of a type. */
static bool decorated(struct demangler *d, struct strbuf *out)
{
	static const struct code_text marks[] = { { "P", "*" },         { "R", "&" },
						  { "O", "&&" },        { "K", " const" },
						  { "V", " volatile" }, { "r", " __restrict" } };
	const char *mark = code_take(d, marks, ARRAY_LEN(marks));
	bool qualifier = mark && *mark == ' ';

	if (!mark)
		return false;
	if (!qualifier && take(d, "F")) {
		if (!function_type(d, mark, out))
			return false;
		/* the function's type is a part that can be named again */
		return keep(d, "function", 8) && keep(d, "function*", 9);
	}
	if (!qualifier && *d->p == 'A' && isdigit((unsigned char)d->p[1])) {
		d->p++;
		return array_type(d, mark, out) && keep(d, "array", 5) && keep(d, "array*", 6);
	}
	if (!type_of(d, out))
		return false;
	strbuf_addstr(out, mark);
	return true;
}

static bool vendor_type(struct demangler *d, struct strbuf *out)
{
	if (!source_name(d, out))
		return false;
	if (take(d, "I"))
		return arguments(d, out);
	return true;
}

static bool type_plain(struct demangler *d, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf own = STRBUF_INIT;
	const char *text = NULL;
	bool ok;

	if (*d->p != 'N' && *d->p != 'S' && *d->p != 'T')
		text = code_take(d, builtins, ARRAY_LEN(builtins));
	if (text) {
		strbuf_addstr(out, text);
		return true;
	}
	strbuf_limit(&own, DEMANGLE_MAX);
	if (*d->p == 'S' && strncmp(d->p, "St", 2) != 0) {
		ok = substitution(d, &own);
		if (ok && *d->p != 'I') {
			strbuf_addstr(out, own.buf);
			return true;
		}
		if (ok && take(d, "I"))
			ok = arguments(d, &own);
	} else if (*d->p == 'T') {
		ok = template_param(d, &own);
		if (ok && *d->p == 'I') {
			ok = keep(d, own.buf, own.len);
			d->p++;
			ok = ok && arguments(d, &own);
		}
	} else if (take(d, "Dp")) {
		ok = type_of(d, &own);
	} else if (take(d, "F")) {
		ok = function_type(d, "", &own);
	} else if (*d->p == 'A' && isdigit((unsigned char)d->p[1])) {
		d->p++;
		ok = array_type(d, "", &own);
	} else if (take(d, "u")) {
		ok = vendor_type(d, &own);
	} else if (*d->p && strchr("PROKVr", *d->p)) {
		ok = decorated(d, &own);
		strbuf_addstr(out, own.buf);
		return ok && !own.overflow && keep(d, own.buf, own.len);
	} else if (*d->p == 'N' || *d->p == 'Z' || *d->p == 'S' || isdigit((unsigned char)*d->p)) {
		ok = name_of(d, &own);
	} else {
		ok = false;
	}
	strbuf_addstr(out, own.buf);
	return ok && !own.overflow && keep(d, own.buf, own.len);
}

static bool type_of(struct demangler *d, struct strbuf *out)
{
	return enter(d) && leave(d, type_plain(d, out)) && !out->overflow;
}

bool demangle(const char *name, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct demangler d = { .p = name };
	bool ok;

	if (strncmp(name, "_Z", 2) != 0)
		return false;
	d.p += 2;
	strbuf_limit(&text, DEMANGLE_MAX);
	ok = encoding_of(&d, &text) && !text.overflow && (!*d.p || *d.p == '.');
	if (ok)
		strbuf_add(out, text.buf, text.len);
	for (size_t i = 0; i < d.subs.nr; i++)
		free(d.subs.v[i]);
	VEC_RELEASE(&d.subs);
	targs_forget(&d);
	VEC_RELEASE(&d.targs);
	return ok;
}
