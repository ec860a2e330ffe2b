/* SPDX-License-Identifier: MIT
 *
 * workload: what a writer process does: one transaction of a random plan after the other.
 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "actions.h"
#include "truth.h"

struct plan {
        const char *name;
        unsigned weight;
        void (*run)(struct writer *writer);
        bool is_marked; /* writes its number to the marker table */
        bool is_rolled_back;
        bool is_aside;      /* changes only tables that nobody captures */
        bool is_autocommit; /* one statement without BEGIN, where writers take turns */
        bool is_defining;
        bool is_vacuum;
        bool is_for_schema; /* only in rounds with many schema changes */
};

static void run_some(struct writer *writer, unsigned depth, unsigned most)
{
        unsigned count = random_between(&writer->random, 1, most);
        for (unsigned i = 0; i < count && writer_is_well(writer); i++) {
                if (depth == 3 || !random_percent(&writer->random, 12)) {
                        action_run(writer, false);
                        continue;
                }
                bool is_undone = random_percent(&writer->random, 45);
                perform(writer, "SAVEPOINT s", NULL);
                if (random_percent(&writer->random, 8))
                        action_run_bulk(writer);
                run_some(writer, depth + 1, 4);
                if (writer_is_well(writer) && is_undone)
                        perform(writer, "ROLLBACK TO s", NULL);
                if (writer_is_well(writer))
                        perform(writer, "RELEASE s", NULL);
        }
}

static void run_regular(struct writer *writer)
{
        run_some(writer, 0, 7);
}

static void run_bulk(struct writer *writer)
{
        unsigned count = random_between(&writer->random, 1, 3);
        for (unsigned i = 0; i < count && writer_is_well(writer); i++)
                action_run_bulk(writer);
        if (writer_is_well(writer) && random_percent(&writer->random, 40))
                run_some(writer, 0, 3);
}

static void run_statement(struct writer *writer)
{
        action_run(writer, true);
}

static void run_nothing(struct writer *writer)
{
        /* Elsewhere a transaction without marker could not be told from a missing one. */
        if (writer->settings->kind->is_serialized && random_percent(&writer->random, 75))
                action_run_nothing(writer);
}

static void define_one(struct writer *writer)
{
        _cleanup_alterations_ struct alterations before = {0};
        bool is_undone = random_percent(&writer->random, 15);
        perform(writer, "SAVEPOINT d", NULL);
        alterations_copy(&writer->alterations, &before);
        action_run_define(writer);
        if (!writer_is_well(writer))
                return;
        if (is_undone) {
                struct alterations undone = writer->alterations;
                writer->alterations = before;
                before = undone;
                perform(writer, "ROLLBACK TO d", NULL);
                writer->catalog.version = -1;
                writer->failure = catalog_refresh(writer->db, &writer->catalog);
        }
        perform(writer, "RELEASE d", NULL);
}

static void run_definition(struct writer *writer)
{
        bool is_quiet = random_percent(&writer->random, 40);
        unsigned count = random_between(&writer->random, 1, is_quiet ? 6 : 3);
        writer->alterations.is_quiet = is_quiet;
        for (unsigned i = 0; i < count && writer_is_well(writer); i++) {
                if (!is_quiet && random_percent(&writer->random, 40))
                        run_some(writer, 3, 3);
                if (!writer_is_well(writer))
                        return;
                if (!writer->alterations.is_closed)
                        define_one(writer);
        }
        if (!is_quiet && random_percent(&writer->random, 50))
                run_some(writer, 3, 3);
}

/* Outside of a transaction; the truth is recorded afterwards, so nobody may come in between. */
static void run_vacuum(struct writer *writer)
{
        static const char *const modes[] = {"NONE", "FULL", "INCREMENTAL"};
        if (random_percent(&writer->random, 30))
                perform_text(writer,
                        sqlite3_mprintf(
                                "PRAGMA auto_vacuum = %s", random_pick(&writer->random, modes)),
                        NULL);
        perform(writer, "VACUUM", NULL);
}

static const struct plan plans[] = {
        {"regular", 64, run_regular, .is_marked = true},
        {"bulk", 5, run_bulk, .is_marked = true},
        {"statement", 10, run_statement, .is_autocommit = true},
        {"nothing", 4, run_nothing},
        {"aside", 4, run_regular, .is_aside = true},
        {"rolled back", 6, run_regular, .is_marked = true, .is_rolled_back = true},
        {"definition", 4, run_definition, .is_marked = true, .is_defining = true},
        {"schema change", 14, run_definition, .is_marked = true, .is_defining = true,
                .is_for_schema = true},
        {"vacuum", 2, run_vacuum, .is_autocommit = true, .is_vacuum = true, .is_for_schema = true},
};

static void take_number(struct writer *writer)
{
        if (!writer->number)
                writer->number = atomic_fetch_add(&writer->shared->last_number, 1) + 1;
}

static void mark(struct writer *writer)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        take_number(writer);
        arguments_add_integer(&arguments, (int64_t)writer->number);
        arguments_add_integer(&arguments, (int64_t)(writer->settings->seed >> 1));
        if (writer_is_well(writer))
                perform(writer, "INSERT INTO " MARKER_TABLE " VALUES(?, ?)", &arguments);
}

static bool is_accompanied(const struct writer *writer)
{
        return writer->shared->writers_busy > 1 || writer->shared->checkpoints_busy > 0;
}

static int start(struct writer *writer, const struct plan *plan)
{
        writer->number = 0;
        writer->is_aside = plan->is_aside;
        writer->is_autocommit = plan->is_autocommit;
        alterations_release(&writer->alterations);
        writer->is_session =
                !plan->is_defining && !plan->is_vacuum && random_percent(&writer->random, 75);
        writer->statements.size = 0;
        writer->record.size = 0;
        bytes_append_format(&writer->statements, "plan: %s%s\n", plan->name,
                writer->is_session ? ", session" : "");
        if (!plan->is_autocommit && perform(writer, "BEGIN IMMEDIATE", NULL) < 0)
                return writer->failure;
        int result = catalog_refresh(writer->db, &writer->catalog);
        if (result == 0)
                result = truth_begin(writer);
        return result;
}

/* 1 committed, 0 not, or negative errno. */
static int finish(struct writer *writer, unsigned flags)
{
        bool is_verifying = random_percent(&writer->random, 3);
        take_number(writer);
        int result = truth_collect(writer, flags | (is_verifying ? RECORD_VERIFIES : 0));
        if (result < 0)
                return result;
        int code = SQLITE_OK;
        if (!writer->is_autocommit)
                code = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
        if (code == SQLITE_OK) {
                result = truth_write(writer);
                return result < 0 ? result : 1;
        }
        if ((code & 0xff) != SQLITE_CONSTRAINT) {
                fprintf(stderr, "differential: COMMIT: %s\n", sqlite3_errmsg(writer->db));
                return -EIO;
        }
        return 0; /* a deferred foreign key */
}

static void undo(struct writer *writer)
{
        truth_abandon(writer);
        if (!sqlite3_get_autocommit(writer->db))
                sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
        writer->catalog.version = -1;
}

/* 1 committed, 0 not, or negative errno. */
static int transact(struct writer *writer, const struct plan *plan)
{
        bool has_company = is_accompanied(writer);
        int result = start(writer, plan);
        if (result < 0)
                return result;
        bool is_first = random_percent(&writer->random, 50);
        if (plan->is_marked && is_first)
                mark(writer);
        plan->run(writer);
        if (plan->is_marked && !is_first)
                mark(writer);
        if (writer_is_well(writer) && !plan->is_rolled_back) {
                has_company = has_company || is_accompanied(writer);
                result = finish(writer, (plan->is_marked ? RECORD_MARKED : 0) |
                                                (plan->is_defining ? RECORD_DEFINES : 0) |
                                                (plan->is_vacuum ? RECORD_VACUUMS : 0) |
                                                (has_company ? RECORD_ACCOMPANIED : 0));
        }
        if (result <= 0)
                undo(writer);
        if (result > 0 && has_company)
                atomic_fetch_add(&writer->shared->accompanied, 1);
        return writer->failure < 0 ? writer->failure : result;
}

static const struct plan *pick_plan(struct writer *writer)
{
        bool is_serialized = writer->settings->kind->is_serialized;
        for (;;) {
                const struct plan *plan = &plans[random_row(&writer->random, plans)];
                if (plan->is_for_schema && !writer->settings->kind->has_schema_changes)
                        continue;
                if (is_serialized || plan->is_marked || plan->run == run_nothing)
                        return plan;
        }
}

static int next_transaction(struct writer *writer)
{
        uint64_t attempt = atomic_fetch_add(&writer->shared->attempted, 1);
        writer->random = random_derive(writer->settings->seed, attempt + 100);
        const struct plan *plan = pick_plan(writer);
        atomic_fetch_add(&writer->shared->writers_busy, 1);
        if (writer->turn_fd >= 0)
                flock(writer->turn_fd, LOCK_EX);
        int result = transact(writer, plan);
        if (writer->turn_fd >= 0)
                flock(writer->turn_fd, LOCK_UN);
        atomic_fetch_sub(&writer->shared->writers_busy, 1);
        if (result > 0) {
                atomic_fetch_add(&writer->shared->committed, 1);
                atomic_fetch_sub(&writer->shared->budget, 1);
        }
        return result;
}

static void rest(struct writer *writer)
{
        unsigned longest = writer->settings->pause_microseconds;
        if (longest)
                usleep(random_below(&writer->random, longest));
        if (random_below(&writer->random, 1000) < writer->settings->reopen_permille) {
                writer_close(writer);
                writer->failure = writer_open(writer);
        }
}

static int open_files(struct writer *writer)
{
        char path[PATH_SIZE + 32];
        snprintf(path, sizeof(path), "%s/record-%u", writer->settings->directory, writer->index);
        writer->record_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (writer->record_fd < 0)
                return -errno;
        if (!writer->settings->kind->is_serialized)
                return 0;
        snprintf(path, sizeof(path), "%s/turn", writer->settings->directory);
        writer->turn_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        return writer->turn_fd < 0 ? -errno : 0;
}

static void writer_release(struct writer *writer)
{
        writer_close(writer);
        alterations_release(&writer->alterations);
        bytes_release(&writer->statements);
        bytes_release(&writer->record);
        int descriptors[] = {writer->record_fd, writer->turn_fd, writer->page_fd};
        for (unsigned i = 0; i < COUNT(descriptors); i++)
                if (descriptors[i] >= 0)
                        close(descriptors[i]); /* no connection of this process is open now */
}

int writer_run(const struct settings *settings, struct shared *shared, unsigned index)
{
        struct writer writer = {.settings = settings,
                .shared = shared,
                .index = index,
                .record_fd = -1,
                .turn_fd = -1,
                .page_fd = -1};
        int result = open_files(&writer);
        if (result == 0)
                result = writer_open(&writer);
        while (result >= 0 && writer.failure == 0 && shared->budget > 0) {
                result = next_transaction(&writer);
                rest(&writer);
        }
        writer_release(&writer);
        return result < 0 ? result : writer.failure;
}

int writer_fill(const struct settings *settings, struct shared *shared)
{
        struct writer writer = {.settings = settings,
                .shared = shared,
                .record_fd = -1,
                .turn_fd = -1,
                .page_fd = -1};
        int result = writer_open(&writer);
        writer.random = random_derive(settings->seed, 2);
        unsigned count = random_between(&writer.random, 0, 60);
        for (unsigned i = 0; i < count && result >= 0; i++) {
                static const struct plan filling = {"filling", 1, run_regular, false};
                static const struct plan defining = {
                        "defining", 1, run_definition, false, .is_defining = true};
                result =
                        transact(&writer, random_percent(&writer.random, 6) ? &defining : &filling);
        }
        writer_release(&writer);
        return result < 0 ? result : 0;
}
