/* The converters of converters.c, each in a file write_<name>.c or convert_<name>.c. */
#ifndef REPORT_CONVERTERS_PRIVATE_H
#define REPORT_CONVERTERS_PRIVATE_H

#include "profrig/report/convert.h"

extern const struct converter converter_tef, converter_otf2, converter_folded, converter_speedscope;

#endif
