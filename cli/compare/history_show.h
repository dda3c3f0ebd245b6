/* history_show: `compare --history` on a terminal and as JSON. */
#ifndef CLI_HISTORY_SHOW_H
#define CLI_HISTORY_SHOW_H

#include <stdio.h>

#include "profrig/compare/history.h"

void history_text(const struct history *h, const char *metric, FILE *f);
void history_json(const struct history *h, const char *metric, FILE *f);

#endif
