/* Configurations in JSON: both walks over the text must stay side by side. */
#include "fuzz_cfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	return fuzz_cfg(data, n, true);
}
