/* SPDX-License-Identifier: MIT
 *
 * settings: see settings.h.
 */
#include "settings.h"

#include <string.h>

static const struct round_kind kinds[] = {
        {"quiet", "steady", 10, 1, 1, .is_serialized = true},
        {"one writer and checkpoints", "steady", 25, 1, 1, .is_serialized = true,
                .has_checkpointer = true, .has_reader = true},
        {"writers in turns", "steady", 15, 2, 3, .is_serialized = true, .has_checkpointer = true},
        {"writers", "steady", 25, 2, 4, .has_checkpointer = true, .has_reader = true},
        {"late instances", "steady", 15, 1, 3, .has_checkpointer = true,
                .has_late_instances = true},
        {"schema changes", "schema", 14, 1, 1, .is_serialized = true, .has_checkpointer = true,
                .has_schema_changes = true},
        {"schema changes, late instances", "schema", 8, 1, 3, .has_late_instances = true,
                .has_schema_changes = true},
        {"schema changes by writers", "schema", 10, 2, 3, .has_checkpointer = true,
                .has_reader = true, .has_schema_changes = true},
        {"schema changes, agent killed", "schema", 8, 1, 2, .is_serialized = true,
                .has_checkpointer = true, .is_agent_killed = true, .has_schema_changes = true},
        {"agent killed", "kill", 15, 1, 3, .has_checkpointer = true, .is_agent_killed = true},
        {"agent killed and log reset", "chaos", 15, 1, 3, .has_checkpointer = true,
                .has_reader = true, .is_agent_killed = true, .may_lose = true},
};

static bool kind_is_in(const struct round_kind *kind, const char *mode)
{
        bool is_mixed = strcmp(mode, "mixed") == 0 && !kind->has_schema_changes;
        return is_mixed || strcmp(mode, kind->mode) == 0;
}

bool settings_is_mode(const char *mode)
{
        for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (kind_is_in(&kinds[i], mode))
                        return true;
        return false;
}

static const struct round_kind *pick_kind(struct random *random, const char *mode)
{
        for (;;) {
                const struct round_kind *kind = &kinds[random_row(random, kinds)];
                if (kind_is_in(kind, mode))
                        return kind;
        }
}

static void make_database(struct settings *settings, struct random *random)
{
        static const unsigned page_sizes[] = {
                512, 512, 1024, 2048, 4096, 4096, 4096, 8192, 16384, 32768, 65536};
        /* At least 480 bytes of a page must be left. */
        static const unsigned reserved[] = {0, 0, 0, 0, 1, 8, 32};
        static const char *const encodings[] = {"UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"};
        static const char *const vacuums[] = {"NONE", "NONE", "FULL", "INCREMENTAL"};
        static const int cache_sizes[] = {5, 5, 10, 50, 2000};
        static const char *const secure_deletes[] = {"OFF", "ON", "FAST"};
        static const char *const synchronous[] = {"NORMAL", "NORMAL", "OFF", "FULL"};
        static const int autocheckpoints[] = {0, 10, 100, 1000, 1000};
        settings->page_size = random_pick(random, page_sizes);
        settings->reserved_bytes = random_pick(random, reserved);
        settings->encoding = random_pick(random, encodings);
        settings->auto_vacuum = random_pick(random, vacuums);
        settings->has_legacy_format = random_percent(random, 12);
        settings->cache_size = random_pick(random, cache_sizes);
        settings->secure_delete = random_pick(random, secure_deletes);
        settings->synchronous = random_pick(random, synchronous);
        settings->has_recursive_triggers = random_percent(random, 40);
        settings->has_foreign_keys = random_percent(random, 85);
        settings->autocheckpoint = random_pick(random, autocheckpoints);
}

bool settings_make(struct settings *settings, uint64_t seed, const char *mode)
{
        static const unsigned pauses[] = {0, 0, 500, 3000};
        if (!settings_is_mode(mode))
                return false;
        struct random random = random_derive(seed, 1);
        *settings = (struct settings){.seed = seed, .kind = pick_kind(&random, mode)};
        make_database(settings, &random);
        settings->transactions = random_between(&random, 250, 450);
        settings->batches = random_percent(&random, 30) ? 2 : 1;
        settings->writers = random_between(
                &random, settings->kind->least_writers, settings->kind->most_writers);
        settings->pause_microseconds = random_pick(&random, pauses);
        settings->reopen_permille = random_percent(&random, 50) ? 15 : 0;
        /* Only where a reset of the log while no agent runs may not happen. */
        if (settings->kind->is_agent_killed && !settings->kind->may_lose)
                settings->autocheckpoint = 0;
        if (settings->kind->is_agent_killed)
                settings->pause_microseconds = 3000;
        return true;
}
