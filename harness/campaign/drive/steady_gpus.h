/*
 * steady_gpus: temperature and power of this machine's GPUs while a campaign's cool-down lasts,
 * through the samplers' sources: no program is started.
 *
 *	struct steady_gpus *g = steady_gpus_find()	NULL: there is nothing to read
 *	steady_gpus_open(g)		reads are possible from now on
 *	steady_gpus_read(g)		what they are like now
 *	steady_gpus_close(g)		until it is opened again
 *	steady_gpus_free(g)		NULL is fine
 *
 * It is open in pauses alone. Beside a run nothing here holds a device, which a script may want to
 * reset or to cut into instances.
 *
 * Of NVIDIA's: temperature (°C) and power (W, averaged by the driver over a second on most), NVML's
 * (sampler nvml, $PROFRIG_NVML_LIB). Of AMD's: power (sampler amdgpu); their temperature is among
 * hwmon's sensors, which steady.c reads. What could be read when it was found and cannot be now is
 * NaN. One thread, the same for all calls.
 */
#ifndef STEADY_GPUS_H
#define STEADY_GPUS_H

#include <stddef.h>

struct steady_gpus_reading {
	double temperature_c; /* of the hottest; NaN: of none, or one of them cannot be read */
	double power_w;       /* of all together; NaN as well */
};

struct steady_gpus;
struct steady_gpus *steady_gpus_find(void);
void steady_gpus_free(struct steady_gpus *g);
/* Of how many GPUs each can be read. */
size_t steady_gpus_temperatures(const struct steady_gpus *g);
size_t steady_gpus_powers(const struct steady_gpus *g);
void steady_gpus_open(struct steady_gpus *g);
void steady_gpus_close(struct steady_gpus *g);
struct steady_gpus_reading steady_gpus_read(struct steady_gpus *g);

#endif
