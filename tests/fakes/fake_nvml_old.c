/* The stand-in as a library of 2017: see fake_nvml.c. */
#define FAKE_NVML_OLD
#include "fake_nvml.c"
