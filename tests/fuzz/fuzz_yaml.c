/* Configurations in YAML: parser, --set, merge, schema. */
#include "fuzz_cfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	return fuzz_cfg(data, n, false);
}
