/* What stands out in a report, in words: the first lines that an analysis ends with. */
#ifndef PROFRIG_FINDINGS_SHOW_H
#define PROFRIG_FINDINGS_SHOW_H

#include "profrig/report/writer.h"

/* On stderr; nothing without findings. */
void findings_say(const struct report *rep);

#endif
