/*
 * intern: each distinct string once, named by a small number.
 *
 * Ids are dense, start at 0 and follow first use; id 0 is always the empty string. Strings may hold
 * NUL bytes (length is kept). Pointers returned by intern_str stay valid until intern_free. Hash:
 * XXH3. Not for several threads at once.
 */
#ifndef PROFRIG_INTERN_H
#define PROFRIG_INTERN_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t str_id;
#define STR_NONE UINT32_MAX

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in); /* NULL is fine */
str_id intern_put(struct intern *in, const char *s, size_t n);
str_id intern_puts(struct intern *in, const char *s);
/*
 * The same for n texts, one after the other: ret[i] is the id of v[i]. Most of the time of putting
 * a text into a table that no cache holds is spent waiting for memory, three times for each text.
 * This function asks for the memory of many texts at once: a million take a third of the time.
 */
struct intern_text {
	const char *s;
	size_t n;
};
void intern_put_many(struct intern *in, const struct intern_text *v, size_t n, str_id *ret);
str_id intern_find(const struct intern *in, const char *s, size_t n); /* STR_NONE when absent */
const char *intern_str(const struct intern *in, str_id id); /* NUL-terminated; "" for STR_NONE */
size_t intern_len(const struct intern *in, str_id id);
size_t intern_count(const struct intern *in);

#endif
