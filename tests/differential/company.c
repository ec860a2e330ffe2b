/* SPDX-License-Identifier: MIT
 *
 * company: see company.h.
 */
#include "company.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "catalog.h"

void sleep_milliseconds(unsigned milliseconds)
{
        usleep(milliseconds * 1000);
}

double seconds_now(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

pid_t process_start(process_function *function, const struct settings *settings,
        struct shared *shared, unsigned index)
{
        pid_t parent = getpid();
        fflush(NULL);
        pid_t pid = fork();
        if (pid != 0)
                return pid < 0 ? -errno : pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(1);
        int result = function(settings, shared, index);
        fflush(NULL);
        _exit(result < 0 ? 1 : 0);
}

static int process_result(pid_t *pid, int status)
{
        *pid = 0;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : -ECHILD;
}

int process_poll(pid_t *pid)
{
        int status;
        if (*pid <= 0)
                return 1;
        pid_t ended = waitpid(*pid, &status, WNOHANG);
        return ended == *pid ? process_result(pid, status) : 0;
}

int process_wait(pid_t *pid)
{
        int status;
        if (*pid <= 0)
                return 0;
        while (waitpid(*pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        int result = process_result(pid, status);
        return result < 0 ? result : 0;
}

static sqlite3 *open_database(const struct settings *settings)
{
        sqlite3 *db = NULL;
        if (sqlite3_open_v2(settings->database, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
                sqlite3_busy_timeout(db, 20000);
                return db;
        }
        sqlite3_close_v2(db);
        return NULL;
}

/* The ones that wait for readers keep writers out meanwhile, so they are rarer. */
static void checkpoint(struct shared *shared, sqlite3 *db, struct random *random)
{
        static const int modes[] = {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_PASSIVE,
                SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART,
                SQLITE_CHECKPOINT_TRUNCATE};
        sqlite3_busy_timeout(db, (int)random_below(random, 100));
        query_integer(db, "SELECT count(*) FROM sqlite_schema");
        atomic_fetch_add(&shared->checkpoints_busy, 1);
        /* Held means that none may start: look again once we are counted. */
        if (!shared->are_checkpoints_held) {
                sqlite3_wal_checkpoint_v2(db, NULL, random_pick(random, modes), NULL, NULL);
                atomic_fetch_add(&shared->checkpoints, 1);
        }
        atomic_fetch_sub(&shared->checkpoints_busy, 1);
}

int checkpointer_run(const struct settings *settings, struct shared *shared, unsigned index)
{
        struct random random = random_derive(settings->seed, 10 + index);
        sqlite3 *db = open_database(settings);
        while (db && !shared->is_stopping) {
                checkpoint(shared, db, &random);
                usleep(random_below(&random, random_percent(&random, 30) ? 40000 : 5000));
        }
        sqlite3_close_v2(db);
        return db ? 0 : -EIO;
}

/* A reader's picture must stay while it reads. */
static int read_for_long(struct shared *shared, sqlite3 *db, unsigned milliseconds)
{
        static const char sql[] = "SELECT count(*) FROM " MARKER_TABLE;
        sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        int64_t before = query_integer(db, sql);
        for (unsigned i = 0; i < milliseconds / 10 && !shared->is_stopping; i++)
                sleep_milliseconds(10);
        int64_t after = query_integer(db, sql);
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        return before == after ? 0 : -EIO;
}

int reader_run(const struct settings *settings, struct shared *shared, unsigned index)
{
        struct random random = random_derive(settings->seed, 20 + index);
        sqlite3 *db = open_database(settings);
        int result = db ? 0 : -EIO;
        while (result == 0 && !shared->is_stopping) {
                result = read_for_long(shared, db, random_below(&random, 1200));
                sleep_milliseconds(random_below(&random, 300));
        }
        sqlite3_close_v2(db);
        return result;
}

/* Whether this process holds a read lock of the log other than the one that stands for "reads
 * the database file only", as the system sees it: the log cannot be reset then. */
static bool holds_read_mark(void)
{
        enum { FIRST_MARK = 124, LAST_MARK = 127 }; /* bytes of the wal-index that are locked */
        char line[256];
        bool is_held = false;
        FILE *file = fopen("/proc/locks", "re");
        while (file && fgets(line, sizeof(line), file)) {
                long pid;
                unsigned long first, last;
                if (sscanf(line, "%*d: POSIX ADVISORY READ %ld %*x:%*x:%*u %lu %lu", &pid, &first,
                            &last) == 3 &&
                        pid == getpid() && first >= FIRST_MARK && last <= LAST_MARK)
                        is_held = true;
        }
        if (file)
                fclose(file);
        return is_held;
}

static void guard_step(struct shared *shared, sqlite3 *db)
{
        if (shared->is_guard_wanted && !shared->is_guard_set) {
                sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
                query_integer(db, "SELECT count(*) FROM " MARKER_TABLE);
                if (holds_read_mark())
                        shared->is_guard_set = true;
                else
                        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        } else if (!shared->is_guard_wanted && shared->is_guard_set) {
                sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
                shared->is_guard_set = false;
        }
}

/* Also keeps a connection open, so that no close of another is the last one: that would
 * checkpoint and delete the log. */
int guard_run(const struct settings *settings, struct shared *shared, unsigned index)
{
        sqlite3 *db = open_database(settings);
        query_integer(db, "SELECT count(*) FROM sqlite_schema");
        while (db && !shared->is_stopping) {
                guard_step(shared, db);
                usleep(1000);
        }
        sqlite3_close_v2(db);
        return db ? 0 : -EIO;
}
