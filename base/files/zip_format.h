/* Numbers and records of the zip format, little-endian. */
#ifndef BASE_ZIP_FORMAT_H
#define BASE_ZIP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/zip.h"

#define ZIP_LOCAL_SIG UINT32_C(0x04034b50)
#define ZIP_CENTRAL_SIG UINT32_C(0x02014b50)
#define ZIP_END_SIG UINT32_C(0x06054b50)
#define ZIP_END64_SIG UINT32_C(0x06064b50)
#define ZIP_LOCATOR_SIG UINT32_C(0x07064b50)

#define ZIP_LOCAL_SIZE 30
#define ZIP_CENTRAL_SIZE 46
#define ZIP_END_SIZE 22
#define ZIP_END64_SIZE 56
#define ZIP_LOCATOR_SIZE 20
#define ZIP_COMMENT_MAX 65535

#define ZIP64_EXTRA 1 /* the extra field with sizes above 32 bits */
#define ZIP_UTF8 0x0800
#define ZIP_VERSION_64 45
#define ZIP_MADE_BY_UNIX 3

static inline uint16_t zip_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zip_u32(const uint8_t *p)
{
	return zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16;
}

static inline uint64_t zip_u64(const uint8_t *p)
{
	return zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

/* Entries of an open file, checked (zip.h); fd, name and size are set. */
int zip_directory_read(struct zip *z, struct err *err);

#endif
