/*
 * text: small string functions that several modules use.
 */
#ifndef PROFRIG_TEXT_H
#define PROFRIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * When s ends with suffix and is longer: the position of the suffix ("a.json", ".json" → ".json"),
 * else NULL. Borrowed.
 */
const char *text_suffix(const char *s, const char *suffix);
/* Whether word is one of the words of list, such as "a|b|c" with sep '|'. An empty word is not. */
bool text_in_list(const char *list, char sep, const char *word);
/* Control bytes, line ends included, become `with`. */
void text_no_controls(char *s, char with);
/*
 * For a terminal or a page, where a name must not move the cursor, reorder or hide the text around
 * it: control characters (C0, DEL, C1), those that set the direction of text, and invisible ones
 * are appended as escapes ("\n", "\x1b", "\u202e"), and so are bytes that are no UTF-8 ("\xff").
 * keep: control bytes that stay ("\t\n"), "" none.
 */
struct strbuf;
void text_visible(struct strbuf *out, const char *s, size_t n, const char *keep);

#endif
