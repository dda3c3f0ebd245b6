/* devices_int: what the two vendors' halves share. */
#ifndef DEVICES_INT_H
#define DEVICES_INT_H

#include "profrig/devices/devices.h"

#define DEVICE_FILE_MAX ((size_t)1 << 20)
#define DEVICES_MAX 1024

void devices_find_amd(struct devices *d, const char *root);
void devices_find_nvidia(struct devices *d, const char *root);

/* A small file without its line end; NULL when it cannot be read. Owned. */
char *device_text(const char *path);
/* The text behind key and characters of sep, to the end of the line. */
bool device_line(const char *text, const char *key, const char *sep, char *ret, size_t n);
/* "key number"; -1 when there is none. */
int64_t device_number(const char *text, const char *key);
bool device_opens(const char *root, const char *file, const char *driver, const char *group,
		  char *why, size_t n);

#endif
