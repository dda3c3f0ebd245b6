/*
 * text: small string functions that several modules use.
 */
#ifndef PROFRIG_TEXT_H
#define PROFRIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where s ends with suffix and more stands before it: that place ("a.json", ".json" → ".json"),
 * else NULL. Borrowed.
 */
const char *text_suffix(const char *s, const char *suffix);
/* Is word one of the words of list, such as "a|b|c" with sep '|'? An empty word is in none. */
bool text_in_list(const char *list, char sep, const char *word);
/* Control bytes, line ends included, become `with`. */
void text_no_controls(char *s, char with);
/*
 * For a terminal or a page, where a name must neither move the cursor nor reorder or hide what
 * stands around it: control characters (C0, DEL, C1), those that set the direction of text, and
 * those that show nothing are appended as escapes ("\n", "\x1b", "\u202e"), and so are bytes that
 * are no UTF-8 ("\xff"). keep: control bytes that stay ("\t\n"), "" none.
 */
struct strbuf;
void text_visible(struct strbuf *out, const char *s, size_t n, const char *keep);

#endif
