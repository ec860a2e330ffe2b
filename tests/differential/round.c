/* SPDX-License-Identifier: MIT
 *
 * round: how a round is set up, checked and cleared away. What happens in a batch is in batch.c.
 */
#include "round.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "batch.h"
#include "check.h"
#include "schema.h"
#include "truth.h"
#include "writer.h"

/* The end of one of the round's files, so that a failure in a log of builds can be understood. */
static void print_tail(const struct round *round, const char *name)
{
        enum { LINES = 6 };
        char path[PATH_SIZE + 32];
        _cleanup_bytes_ struct bytes text = {0};
        snprintf(path, sizeof(path), "%s/%s", round->settings.directory, name);
        if (bytes_read_file(&text, path) < 0 || !text.size)
                return;
        const char *start = bytes_string(&text);
        const char *at = start + text.size;
        for (unsigned lines = 0; at > start; at--) {
                lines += at[-1] == '\n';
                if (lines > LINES)
                        break;
        }
        fprintf(stderr, "# the end of %s:\n%s", name, at);
}

static int round_fail(const struct round *round, const char *what, int result)
{
        print_tail(round, "agent.log");
        print_tail(round, "command.log");
        fprintf(stderr, "differential: seed %llu (%s): %s: %s; kept in %s\n",
                (unsigned long long)round->settings.seed, round->settings.kind->name, what,
                result > 0 ? "refused" : strerror(-result), round->settings.directory);
        return result > 0 ? -EIO : result;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position)
{
        return remove(path);
}

static int make_directory(struct settings *settings, const char *parent)
{
        snprintf(settings->directory, sizeof(settings->directory), "%s/round-%llu", parent,
                (unsigned long long)settings->seed);
        snprintf(settings->database, sizeof(settings->database), "%s/app.db", settings->directory);
        char mountpoint[PATH_SIZE + 16];
        snprintf(mountpoint, sizeof(mountpoint), "%s/mount", settings->directory);
        umount2(mountpoint, MNT_DETACH); /* of a run that was interrupted */
        nftw(settings->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return mkdir(settings->directory, 0755) < 0 ? -errno : 0;
}

/* The database with its first tables; in WAL mode, or left to `enable-db --set-wal`. */
static int make_database(struct round *round, bool is_wal)
{
        _cleanup_database_ sqlite3 *db = NULL;
        const struct settings *settings = &round->settings;
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        if (sqlite3_open_v2(settings->database, &db, flags, NULL) != SQLITE_OK)
                return -EIO;
        int reserved = (int)settings->reserved_bytes;
        sqlite3_db_config(
                db, SQLITE_DBCONFIG_LEGACY_FILE_FORMAT, settings->has_legacy_format, NULL);
        _cleanup_sql_ char *sql =
                sqlite3_mprintf("PRAGMA page_size = %u; PRAGMA encoding = '%s';"
                                "PRAGMA auto_vacuum = %s; PRAGMA journal_mode = %s;"
                                "PRAGMA synchronous = OFF; CREATE TABLE t0(a); DROP TABLE t0",
                        settings->page_size, settings->encoding, settings->auto_vacuum,
                        is_wal ? "WAL" : "DELETE");
        if (reserved)
                sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
                return -EIO;
        return schema_make(db, &round->random, round->shared);
}

static int choose_instances(struct round *round)
{
        _cleanup_database_ sqlite3 *db = NULL;
        if (sqlite3_open_v2(round->settings.database, &db, SQLITE_OPEN_READWRITE, NULL) !=
                SQLITE_OK)
                return -EIO;
        return instances_choose(db, &round->random, round->shared,
                round->settings.kind->has_late_instances, &round->instances);
}

static int enable_some(struct round *round, bool is_second_half)
{
        for (unsigned i = 0; i < round->instances.count; i++) {
                if ((i % 3 == 1) != is_second_half)
                        continue;
                int result = instance_enable(
                        &round->instances.items[i], round->programs, &round->settings);
                if (result != 0)
                        return round_fail(round, round->instances.items[i].name, result);
        }
        return 0;
}

/* An instance is pending until capture recognised it. */
static int wait_for_instance(struct round *round, const struct instance *instance)
{
        const char *arguments[] = {"get-min-lsn", round->settings.database, instance->name, NULL};
        for (unsigned i = 0; i < 600; i++) {
                _cleanup_free_ char *line = NULL;
                int result = cdcctl_line(round->programs, &round->settings, arguments, &line);
                if (result == 0 && line[0])
                        return 0;
                if (result < 0 || agent_check(&round->agent) < 0)
                        return -ECHILD;
                sleep_milliseconds(20);
        }
        return -ETIMEDOUT;
}

/* Some instances are enabled before an agent runs, some while it does. */
static int start_capture(struct round *round, bool is_wal)
{
        const char *enable[] = {"enable-db", round->settings.database, NULL, NULL};
        enable[2] = is_wal ? NULL : "--set-wal";
        int result = cdcctl_run(round->programs, &round->settings, enable, NULL, NULL);
        if (result != 0)
                return round_fail(round, "enable-db", result);
        result = enable_some(round, false);
        if (result == 0)
                result = agent_start(&round->agent);
        if (result == 0)
                result = wait_for_instance(round, &round->instances.items[0]);
        if (result == 0)
                result = enable_some(round, true);
        for (unsigned i = 0; i < round->instances.count && result == 0; i++)
                result = wait_for_instance(round, &round->instances.items[i]);
        return result < 0 ? round_fail(round, "capture does not start", result) : 0;
}

/* The rows that stand before the writers begin. */
static int record_begin(struct round *round)
{
        _cleanup_database_ sqlite3 *db = NULL;
        _cleanup_bytes_ struct bytes bytes = {0};
        char path[PATH_SIZE + 16];
        snprintf(path, sizeof(path), "%s/record-begin", round->settings.directory);
        if (sqlite3_open_v2(round->settings.database, &db, SQLITE_OPEN_READWRITE, NULL) !=
                SQLITE_OK)
                return -EIO;
        int result = truth_dump_all(db, round->shared, DUMP_IS_TRUTH, &bytes);
        FILE *file = result < 0 ? NULL : fopen(path, "we");
        if (!file)
                return result < 0 ? result : -errno;
        bool is_written = fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
        return fclose(file) == 0 && is_written ? 0 : -EIO;
}

static int round_prepare(struct round *round)
{
        bool is_wal = random_percent(&round->random, 70);
        int result = make_database(round, is_wal);
        if (result == 0)
                result = writer_fill(&round->settings, round->shared);
        if (result == 0)
                result = choose_instances(round);
        if (result < 0)
                return round_fail(round, "the database cannot be made", result);
        result = start_capture(round, is_wal);
        return result < 0 ? result : record_begin(round);
}

static int round_check(struct round *round, struct report *report, struct totals *totals)
{
        struct check check = {
                .settings = &round->settings,
                .programs = round->programs,
                .shared = round->shared,
                .instances = &round->instances,
                .report = report,
                .random = &round->random,
        };
        int result = check_batch(&check);
        totals->rows += check.rows;
        round->gaps = check.gaps;
        return result < 0 ? round_fail(round, "the check", result) : 0;
}

/* A hash over all watched tables, and what SQLite says of the file: "ok" is 0 problems. */
static int look_at_database(struct round *round, uint64_t *ret_hash, char *ret_problem, size_t size)
{
        _cleanup_database_ sqlite3 *db = NULL;
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        _cleanup_bytes_ struct bytes bytes = {0};
        ret_problem[0] = 0;
        if (sqlite3_open_v2(round->settings.database, &db, SQLITE_OPEN_READWRITE, NULL) !=
                SQLITE_OK)
                return -EIO;
        sqlite3_busy_timeout(db, 20000);
        int result = truth_dump_all(db, round->shared, DUMP_IS_TRUTH, &bytes);
        *ret_hash = bytes_hash(bytes.data, bytes.size);
        if (result < 0)
                snprintf(ret_problem, size, "%s", sqlite3_errmsg(db));
        else if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(3)", -1, &statement, NULL) ==
                         SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW)
                snprintf(ret_problem, size, "%s", sqlite3_column_text(statement, 0));
        return strcmp(ret_problem, "ok") == 0 ? 0 : -EBADMSG;
}

/* The agent ends last, with no application there, and the database is opened again: it must be
 * whole, and what it was. */
static int round_end_agent(struct round *round, struct report *report)
{
        char problem[300];
        uint64_t before = 0, after = 0;
        int result = look_at_database(round, &before, problem, sizeof(problem));
        if (result < 0)
                report_difference(
                        report, NULL, NULL, "the database under capture is broken: %s", problem);
        result = agent_stop(&round->agent);
        if (result < 0)
                return round_fail(round, "the agent does not end well", result);
        result = look_at_database(round, &after, problem, sizeof(problem));
        if (result < 0)
                report_difference(report, NULL, NULL,
                        "the database is broken when the agent has ended: %s", problem);
        else if (before != after)
                report_difference(report, NULL, NULL,
                        "commits of the application are gone when the agent has ended");
        return 0;
}

static int round_batches(struct round *round, FILE *file, struct totals *totals)
{
        struct report report = {.file = file, .settings = &round->settings};
        int result = 0;
        for (unsigned i = 0; i < round->settings.batches && result == 0; i++) {
                if (report.differences)
                        break;
                result = batch_run(round, round->settings.transactions / round->settings.batches);
                if (result < 0)
                        return round_fail(round, "the batch", result);
                result = round_check(round, &report, totals);
                if (result == 0 && round->programs->is_mounting && !report.differences)
                        result = batch_check_mount(round, &report);
        }
        if (result == 0)
                result = round_end_agent(round, &report);
        totals->differences += report.differences;
        return result;
}

static void count_round(const struct round *round, struct totals *totals)
{
        totals->rounds++;
        totals->transactions += round->shared->committed;
        totals->accompanied += round->shared->accompanied;
        totals->statements += round->shared->statements;
        totals->refused += round->shared->refused;
        totals->checkpoints += round->shared->checkpoints;
        totals->kills += round->kills;
        totals->gaps += round->gaps;
        for (unsigned i = 0; i < round->instances.count; i++) {
                totals->instances += round->instances.items[i].is_enabled;
                totals->late_instances +=
                        round->instances.items[i].is_late && round->instances.items[i].is_enabled;
        }
}

static int round_finish(struct round *round, int result, bool is_removed)
{
        int stopped = result < 0 ? agent_kill(&round->agent) : 0;
        if (result == 0 && stopped < 0)
                result = round_fail(round, "the agent does not end well", stopped);
        instances_release(&round->instances);
        if (result == 0 && is_removed)
                nftw(round->settings.directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        munmap(round->shared, sizeof(*round->shared));
        return result;
}

int round_run(
        const struct round_options *options, uint64_t seed, uint64_t most, struct totals *totals)
{
        struct round round = {.programs = options->programs, .random = random_derive(seed, 3)};
        uint64_t differences = totals->differences;
        settings_make(&round.settings, seed, options->mode);
        if (most < round.settings.transactions)
                round.settings.transactions = (unsigned)most;
        round.agent = (struct agent){.programs = options->programs, .settings = &round.settings};
        int result = make_directory(&round.settings, options->directory);
        if (result < 0)
                return round_fail(&round, "its directory cannot be made", result);
        round.shared = mmap(NULL, sizeof(*round.shared), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (round.shared == MAP_FAILED)
                return -errno;
        result = round_prepare(&round);
        if (result == 0)
                result = round_batches(&round, options->report, totals);
        count_round(&round, totals);
        bool is_different = totals->differences > differences;
        return round_finish(&round, result, !is_different && !options->is_kept);
}
