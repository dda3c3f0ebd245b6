#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "profrig/model/model.h"

bool model_pci(int64_t domain, int64_t bus, int64_t device, char *buf)
{
	if (domain < 0 || domain > UINT32_MAX || bus < 0 || bus > 255 || device < 0 || device > 31)
		return false;
	snprintf(buf, 32, "%" PRIx64 ":%" PRIx64 ":%" PRIx64, (uint64_t)domain, (uint64_t)bus,
		 (uint64_t)device);
	return true;
}

/* At most eight hexadecimal digits at *at, which moves behind them; -1 when there are none. */
static int64_t hex_parse(const char *s, size_t n, size_t *at)
{
	size_t begin = *at;
	int64_t v = 0;

	for (; *at < n && *at - begin < 8 && isxdigit((unsigned char)s[*at]); ++*at) {
		int c = tolower((unsigned char)s[*at]);

		v = v * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return *at > begin ? v : -1;
}

bool model_pci_text(const char *text, size_t n, char *buf)
{
	int64_t part[3];
	size_t at = 0;

	for (int i = 0; i < 3; i++) {
		part[i] = hex_parse(text, n, &at);
		if (part[i] < 0 || (i < 2 && (at == n || text[at++] != ':')))
			return false;
	}
	if (at < n && (text[at] != '.' || n - at != 2 || !isdigit((unsigned char)text[at + 1])))
		return false;
	return model_pci(part[0], part[1], part[2], buf);
}
