/*
 * Counts of CPUs, nodes and MiB: products stop at a maximum.
 */
#ifndef LT_COUNTS_H
#define LT_COUNTS_H

#include <stdint.h>

#include "limits.h"

static const uint64_t cpus_max = UINT32_MAX;
static const uint64_t memory_max = (uint64_t)LT_MEMORY_MIB_MAX * 1024;

static inline uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
divided_up(uint64_t count, uint64_t parts)
{
	return count / parts + (count % parts > 0);
}

static inline uint64_t
product(uint64_t a, uint64_t b, uint64_t most)
{
	return a > 0 && b > most / a ? most : a * b;
}

#endif
