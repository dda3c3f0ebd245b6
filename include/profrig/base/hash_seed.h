/*
 * hash_seed: a random number of this process, the same until it ends.
 *
 * Hash tables whose keys come out of traces mix it into their hashes. A trace is not to be trusted:
 * for a hash that is known beforehand one can write a trace whose ids all fall into one place, and
 * then reading takes the square of its length. No result depends on it: tables number by first use.
 */
#ifndef PROFRIG_HASH_SEED_H
#define PROFRIG_HASH_SEED_H

#include <stdint.h>

uint64_t hash_seed(void); /* any thread may ask first */

#endif
