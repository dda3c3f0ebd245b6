/*
 * text: small questions about strings that several modules ask.
 */
#ifndef PROFRIG_TEXT_H
#define PROFRIG_TEXT_H

#include <stdbool.h>

/*
 * Where s ends with suffix and more stands before it: that place ("a.json", ".json" → ".json"),
 * else NULL. Borrowed.
 */
const char *text_suffix(const char *s, const char *suffix);
/* Is word one of the words of list, such as "a|b|c" with sep '|'? An empty word is in none. */
bool text_in_list(const char *list, char sep, const char *word);
/* Control bytes, line ends included, become `with`. */
void text_no_controls(char *s, char with);

#endif
