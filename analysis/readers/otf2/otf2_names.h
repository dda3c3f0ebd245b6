/*
 * otf2_names: facts from the names in an OTF2 archive: device and stream numbers, and whether a
 * region on a stream copies or fills.
 */
#ifndef OTF2_NAMES_H
#define OTF2_NAMES_H

#include <stdint.h>

/*
 * Device index: "HIP[1:0]" → 1, "energy_count:device=3" → 3, "HIP Context 1" → 1, "0" → 0: after
 * "device=", else inside the first bracket, else the number at the end. -1 when there is none.
 */
int64_t otf2_name_device(const char *name);
/* Stream number: "HIP[1:0]" → 0, "Stream 7" → 7. -1. */
int64_t otf2_name_stream(const char *name);
/* The device of a counter: "device=N" only, since a number at the end is often a sensor's. -1. */
int64_t otf2_name_counter_device(const char *name);
int otf2_name_is_copy(const char *name);
int otf2_name_is_fill(const char *name);

#endif
