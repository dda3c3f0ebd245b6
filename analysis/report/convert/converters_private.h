/* The converters of converters.c, each in a file write_<name>.c or convert_<name>.c. */
#ifndef REPORT_CONVERTERS_PRIVATE_H
#define REPORT_CONVERTERS_PRIVATE_H

#include "profrig/report/convert.h"

/* clang-format off */
#define CONVERTERS(X) \
	X(tef) X(otf2) X(folded) X(speedscope) X(torch) X(perfetto)
#define CONVERTER_DECLARE(name) extern const struct converter converter_##name;
CONVERTERS(CONVERTER_DECLARE)
/* clang-format on */

#endif
