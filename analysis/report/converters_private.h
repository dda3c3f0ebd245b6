/* The converters of this build; converters.c lists them. */
#ifndef CONVERTERS_PRIVATE_H
#define CONVERTERS_PRIVATE_H

#include "profrig/convert.h"

extern const struct converter converter_otf2;

#endif
