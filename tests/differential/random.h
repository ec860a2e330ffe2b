/* SPDX-License-Identifier: MIT
 *
 * random: a small deterministic generator (splitmix64). Every choice of the differential test
 * comes from one seed, so that a run can be repeated.
 */
#ifndef DIFFERENTIAL_RANDOM_H
#define DIFFERENTIAL_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
        uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
        uint64_t z = random->state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
}

/* 0 … limit-1; limit > 0. */
static inline unsigned random_below(struct random *random, unsigned limit)
{
        return (unsigned)(random_next(random) >> 16) % limit;
}

static inline unsigned random_between(struct random *random, unsigned low, unsigned high)
{
        return low + random_below(random, high - low + 1);
}

static inline bool random_percent(struct random *random, unsigned percent)
{
        return random_below(random, 100) < percent;
}

/* A generator of its own for part `part` of something. */
static inline struct random random_derive(uint64_t seed, uint64_t part)
{
        struct random random = {seed ^ part * 0xd1342543de82ef95u};
        random_next(&random);
        return random;
}

/* An element of an array. */
#define random_pick(random, array)                                                                 \
        ((array)[random_below((random), (unsigned)(sizeof(array) / sizeof((array)[0])))])

/* The index of a row of `count`, each `size` bytes apart, with the weight (an unsigned) at
 * `first`. At least one weight is positive. */
static inline unsigned random_weighted(
        struct random *random, const unsigned *first, unsigned size, unsigned count)
{
        unsigned total = 0;
        for (unsigned i = 0; i < count; i++)
                total += *(const unsigned *)((const char *)first + i * size);
        unsigned left = random_below(random, total);
        for (unsigned i = 0; i < count; i++) {
                unsigned weight = *(const unsigned *)((const char *)first + i * size);
                if (left < weight)
                        return i;
                left -= weight;
        }
        return count - 1;
}

/* The index of a row of a table that has a member `weight`. */
#define random_row(random, table)                                                                  \
        random_weighted((random), &(table)[0].weight, sizeof((table)[0]),                          \
                (unsigned)(sizeof(table) / sizeof((table)[0])))

#endif
