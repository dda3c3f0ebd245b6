/*
 * fields: the members of a struct as a table, which replaces code per member: initialising, reading
 * from a map of the configuration, releasing.
 *
 *	FIELD_TABLE(fields, TEXT_FIELDS(struct mount, host, inside),
 *		    WORDS_FIELDS(struct mount, options));
 *	fields_init(&m, fields); fields_read(&m, fields, map); …; fields_release(&m, fields);
 *
 * A member that owns nothing and is not read needs no row. A row's path below a map is its member's
 * name ("container.network" for a member of a member); FIELD_AS gives it another one.
 * fields_release leaves NULL, empty lists of words and empty vectors behind, so it may be called
 * twice.
 */
#ifndef PROFRIG_FIELDS_H
#define PROFRIG_FIELDS_H

#include <stddef.h>

#include "profrig/base/cfg.h"
#include "profrig/base/each.h"

enum field_kind {
	FIELD_TEXT,   /* char *, owned */
	FIELD_SECRET, /* char *, owned, overwritten before it is freed; never read */
	FIELD_WORDS,  /* struct strvec */
	FIELD_BOOL,   /* bool; read: whether the value is true */
	FIELD_LIST,   /* a VEC of structs, each with a table of its own; never read */
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	size_t at, size;        /* of the member; of an element of FIELD_LIST */
	const struct field *of; /* of FIELD_LIST; NULL: its elements own nothing */
};

/* clang-format off */
#define FIELD_AS(type, member, what, key) \
	{ .name = (key), .kind = FIELD_##what, .at = offsetof(type, member) }
#define FIELD(type, member, what) FIELD_AS(type, member, what, #member)
#define FIELD_VEC(type, member, table) \
	{ .name = #member, .kind = FIELD_LIST, .at = offsetof(type, member), \
	  .size = sizeof(*((type *)NULL)->member.v), .of = (table) }
#define FIELDS_END { .name = NULL }
#define FIELD_TABLE(table, ...) \
	static const struct field table[] = { __VA_ARGS__, FIELDS_END }
/* Up to 8 members of one kind. */
#define FIELD_ROW(what, type, member) FIELD(type, member, what)
#define TEXT_FIELDS(type, ...) EACH(FIELD_ROW, TEXT, type, __VA_ARGS__)
#define SECRET_FIELDS(type, ...) EACH(FIELD_ROW, SECRET, type, __VA_ARGS__)
#define WORDS_FIELDS(type, ...) EACH(FIELD_ROW, WORDS, type, __VA_ARGS__)
#define BOOL_FIELDS(type, ...) EACH(FIELD_ROW, BOOL, type, __VA_ARGS__)
/* clang-format on */

/* Texts NULL, lists empty, bool false. */
void fields_init(void *thing, const struct field *table);
/* Reads the members from the map (NULL: none); texts are copied. thing is initialised before. */
void fields_read(void *thing, const struct field *table, const struct cfg_node *map);
void fields_release(void *thing, const struct field *table);

#endif
