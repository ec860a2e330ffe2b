/* SPDX-License-Identifier: MIT
 *
 * prng: the same random numbers on every run (xorshift64*). Not for secrets.
 */
#ifndef CDC_TESTS_PRNG_H
#define CDC_TESTS_PRNG_H

#include <stdint.h>

struct prng {
        uint64_t state; /* any seed but 0 */
};

static inline uint64_t prng_next(struct prng *prng)
{
        prng->state ^= prng->state >> 12;
        prng->state ^= prng->state << 25;
        prng->state ^= prng->state >> 27;
        return prng->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 <= result < limit */
static inline uint32_t prng_below(struct prng *prng, uint32_t limit)
{
        return (uint32_t)((prng_next(prng) >> 32) * limit >> 32);
}

#endif
