/* SPDX-License-Identifier: MIT
 *
 * settings: what a round is like (one random schema and its workload), all of it from its seed
 * and the mode that was asked for. A new kind of round is one row in the table of settings.c.
 */
#ifndef DIFFERENTIAL_SETTINGS_H
#define DIFFERENTIAL_SETTINGS_H

#include <limits.h>
#include "random.h"

enum { PATH_SIZE = 512 };

struct round_kind {
        const char *name;
        const char *mode; /* the --mode it belongs to */
        unsigned weight;
        unsigned least_writers, most_writers;
        bool is_serialized; /* writers take turns by a lock file: autocommit statements too */
        bool has_checkpointer;
        bool has_reader;
        bool is_agent_killed;
        bool may_lose; /* checkpoints go on while no agent runs: gaps are legal */
        bool has_late_instances;
        bool has_schema_changes; /* many, of every kind; elsewhere a few that leave rows alone */
};

struct settings {
        const struct round_kind *kind;
        uint64_t seed; /* of the round */
        unsigned transactions;
        unsigned batches;
        unsigned page_size;
        unsigned reserved_bytes; /* at the end of each page */
        const char *encoding;
        const char *auto_vacuum;
        bool has_legacy_format; /* file format 1: DESC has no meaning */
        int cache_size;
        const char *secure_delete;
        const char *synchronous;
        bool has_recursive_triggers;
        bool has_foreign_keys;
        int autocheckpoint;
        unsigned writers;
        unsigned pause_microseconds; /* longest pause between two transactions */
        unsigned reopen_permille;    /* a writer's connection closes and opens again */
        char directory[PATH_SIZE];
        char database[PATH_SIZE + 8];
};

/* mode is "steady", "schema", "kill", "chaos" or "mixed". false: no such mode. */
bool settings_make(struct settings *settings, uint64_t seed, const char *mode);
bool settings_is_mode(const char *mode);

#endif
