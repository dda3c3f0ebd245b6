/*
 * log: lines on stderr for people, set up once by the command line.
 *
 * Level 0 errors only (-q), 1 notices and warnings (default), 2 info (-v), 3 debug (-vv). Library
 * code uses log_debug only: what a user must know travels in return values. Colour only on a
 * terminal and without NO_COLOR. A line is one write, so threads do not mix. Control bytes in a
 * message, which file names may hold, are written '?'.
 */
#ifndef PROFRIG_LOG_H
#define PROFRIG_LOG_H

#include <stdbool.h>

bool log_terminal(void);               /* stderr is one, with escape sequences (not TERM=dumb) */
void log_setup(int level, bool color); /* below 0: not even errors */
int log_level(void);
bool log_color(void);
/* "profrig: error: …" */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The last message, also when it was not shown; "" before the first. Not while others log. */
const char *log_last_error(void);
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
