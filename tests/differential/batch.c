/* SPDX-License-Identifier: MIT
 *
 * batch: see batch.h.
 */
#include "batch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "writer.h"

static int start_one(struct round *round, process_function *function, unsigned index, pid_t *pid)
{
        *pid = process_start(function, &round->settings, round->shared, index);
        return *pid < 0 ? *pid : 0;
}

static int start_all(struct round *round)
{
        const struct round_kind *kind = round->settings.kind;
        int result = 0;
        round->shared->is_stopping = false;
        if (kind->is_agent_killed)
                result = start_one(round, guard_run, 0, &round->guard);
        if (result == 0 && kind->has_checkpointer)
                result = start_one(round, checkpointer_run, 0, &round->checkpointer);
        if (result == 0 && kind->has_reader)
                result = start_one(round, reader_run, 0, &round->reader);
        for (unsigned i = 0; i < round->settings.writers && result == 0; i++)
                result = start_one(round, writer_run, i, &round->writers[i]);
        return result;
}

static int stop_company(struct round *round)
{
        pid_t *pids[] = {&round->checkpointer, &round->reader, &round->guard};
        int result = 0;
        round->shared->is_stopping = true;
        for (unsigned i = 0; i < COUNT(pids); i++) {
                int ended = process_wait(pids[i]);
                if (ended < 0 && result == 0)
                        result = ended;
        }
        return result;
}

static void kill_one(pid_t *pid)
{
        if (*pid > 0) {
                kill(*pid, SIGKILL);
                waitpid(*pid, NULL, 0);
        }
        *pid = 0;
}

static void kill_all(struct round *round)
{
        for (unsigned i = 0; i < MOST_WRITERS; i++)
                kill_one(&round->writers[i]);
        kill_one(&round->checkpointer);
        kill_one(&round->reader);
        kill_one(&round->guard);
}

/* 1 all writers ended well, 0 some still write, or negative errno. */
static int poll_writers(struct round *round)
{
        int ended = 1;
        for (unsigned i = 0; i < round->settings.writers; i++) {
                int result = process_poll(&round->writers[i]);
                if (result < 0)
                        return result;
                ended = ended && result;
        }
        return ended;
}

static bool wait_until(const _Atomic bool *flag, unsigned milliseconds)
{
        for (unsigned i = 0; i < milliseconds && !*flag; i++)
                sleep_milliseconds(1);
        return *flag;
}

/* No checkpoint runs or starts, and the log cannot be reset. false: it was not to be had. */
static bool hold_log(struct round *round)
{
        round->shared->are_checkpoints_held = true;
        while (round->shared->checkpoints_busy)
                sleep_milliseconds(1);
        round->shared->is_guard_wanted = true;
        return wait_until(&round->shared->is_guard_set, 500);
}

static void release_log(struct round *round)
{
        round->shared->is_guard_wanted = false;
        while (round->shared->is_guard_set)
                sleep_milliseconds(1);
        round->shared->are_checkpoints_held = false;
}

/* Writes down how far the log is and how far checkpoints went, while no agent runs: whether a gap
 * is right can be judged from it. No connection of this process is open. */
static void note_log(const struct round *round, const char *when)
{
        enum { SALT = 32, MAX_FRAME = 16, BACKFILLED = 96, ATTEMPTED = 128, SIZE = 132 };
        char path[PATH_SIZE + 16];
        uint8_t header[SIZE] = {0};
        uint32_t values[4];
        static const unsigned places[] = {MAX_FRAME, BACKFILLED, ATTEMPTED, SALT};
        snprintf(path, sizeof(path), "%s-shm", round->settings.database);
        FILE *shared = fopen(path, "re");
        snprintf(path, sizeof(path), "%s/command.log", round->settings.directory);
        FILE *log = fopen(path, "ae");
        if (shared && log && fread(header, 1, sizeof(header), shared) == sizeof(header)) {
                for (unsigned i = 0; i < COUNT(places); i++)
                        memcpy(&values[i], header + places[i], sizeof(values[i]));
                fprintf(log,
                        "%.3f # %s: mxFrame %u, nBackfill %u, nBackfillAttempted %u, salt %08x\n",
                        seconds_now(), when, values[0], values[1], values[2], values[3]);
        }
        if (shared)
                fclose(shared);
        if (log)
                fclose(log);
}

/* kill -9, some commits without an agent, a new one; back when that has everything. */
static int replace_agent(struct round *round)
{
        bool may_lose = round->settings.kind->may_lose;
        bool is_held = may_lose || hold_log(round);
        int result = 0;
        if (is_held) {
                result = agent_kill(&round->agent);
                round->kills++;
                note_log(round, "agent killed");
                sleep_milliseconds(random_below(&round->random, may_lose ? 300 : 150));
                note_log(round, "agent starts");
                if (result == 0)
                        result = agent_start(&round->agent);
                if (result == 0)
                        result = agent_rotate(&round->agent);
        }
        if (!may_lose)
                release_log(round);
        return result;
}

/* Whether the table and the columns that were chosen are still there. */
static bool is_there(const struct settings *settings, const struct instance *instance)
{
        __attribute__((cleanup(catalog_release))) struct catalog catalog = {0};
        _cleanup_database_ sqlite3 *db = NULL;
        bool is_open =
                sqlite3_open_v2(settings->database, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
        sqlite3_busy_timeout(db, 20000);
        if (!is_open || catalog_refresh(db, &catalog) < 0)
                return false;
        const struct table *table = catalog_find(&catalog, instance->table);
        for (unsigned i = 0; table && i < instance->columns.count; i++)
                if (!catalog_column(table, instance->columns.items[i]))
                        return false;
        return table;
}

static int add_late_instance(struct round *round)
{
        struct instance *instance;
        {
                _cleanup_database_ sqlite3 *db = NULL;
                if (sqlite3_open_v2(round->settings.database, &db, SQLITE_OPEN_READWRITE, NULL) !=
                        SQLITE_OK)
                        return -EIO;
                sqlite3_busy_timeout(db, 20000);
                sqlite3_exec(db, "BEGIN", NULL, NULL, NULL); /* one state for all it looks at */
                instance =
                        instances_choose_late(db, &round->random, round->shared, &round->instances);
        }
        if (!instance)
                return 0;
        int result = instance_enable(instance, round->programs, &round->settings);
        /* It may have been dropped or altered meanwhile. */
        if (result > 0 && !is_there(&round->settings, instance))
                return 0;
        if (result != 0)
                fprintf(stderr, "differential: late instance \"%s\" of %s is refused: %d\n",
                        instance->name, instance->table, result);
        return result > 0 ? -EIO : result;
}

/* Things that happen once the batch is so far. */
struct event {
        int64_t budget; /* left when it is due */
        int (*run)(struct round *round);
};

enum { MOST_EVENTS = 4 };

static unsigned plan_events(struct round *round, unsigned transactions, struct event *events)
{
        const struct round_kind *kind = round->settings.kind;
        unsigned count = 0;
        if (!kind->is_agent_killed && !kind->has_late_instances)
                return 0;
        unsigned wanted = random_between(&round->random, 1, 3);
        for (unsigned i = 0; i < wanted; i++)
                events[count++] = (struct event){
                        .budget = random_between(
                                &round->random, transactions / 10, transactions * 8 / 10),
                        .run = kind->is_agent_killed ? replace_agent : add_late_instance,
                };
        return count;
}

static int run_events(struct round *round, struct event *events, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                if (!events[i].run || round->shared->budget > events[i].budget)
                        continue;
                int result = events[i].run(round);
                events[i].run = NULL;
                if (result < 0)
                        return result;
        }
        return 0;
}

static int watch_batch(struct round *round, struct event *events, unsigned count)
{
        double end = seconds_now() + 300;
        int result = 0;
        while (result == 0 && seconds_now() < end) {
                result = run_events(round, events, count);
                if (result == 0)
                        result = agent_check(&round->agent);
                if (result == 0)
                        result = poll_writers(round);
                sleep_milliseconds(2);
        }
        return result == 0 ? -ETIMEDOUT : result < 0 ? result : 0;
}

int batch_run(struct round *round, unsigned transactions)
{
        struct event events[MOST_EVENTS] = {{0, NULL}};
        unsigned count = plan_events(round, transactions, events);
        round->shared->budget = transactions;
        int result = start_all(round);
        if (result == 0)
                result = watch_batch(round, events, count);
        if (result == 0)
                result = stop_company(round);
        if (result < 0)
                kill_all(round);
        return result < 0 ? result : agent_rotate(&round->agent);
}
