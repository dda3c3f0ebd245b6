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
/* 0 to 15; -1: c is no hexadecimal digit. */
int text_hex_digit(char c);
/*
 * What %XX stands for, in place, and with plus a blank for each '+'. False: one of them is a NUL,
 * where the text ends now.
 */
bool text_percent_decode(char *s, bool plus);
/* RFC 3986: all but unreserved characters and those that are kept as %XX, with capitals or not. */
struct strbuf;
void text_percent_encode(struct strbuf *to, const char *s, const char *kept, bool capitals);
/* Control bytes, line ends included, become `with`. */
void text_no_controls(char *s, char with);
/*
 * For a terminal or a page, where a name must not move the cursor, reorder or hide the text around
 * it: control characters (C0, DEL, C1), those that set the direction of text, and invisible ones
 * are appended as escapes ("\n", "\x1b", "\u202e"), and so are bytes that are no UTF-8 ("\xff").
 * keep: control bytes that stay ("\t\n"), "" none.
 */
void text_visible(struct strbuf *out, const char *s, size_t n, const char *keep);

#endif
