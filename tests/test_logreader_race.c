/* SPDX-License-Identifier: MIT
 *
 * Another process writes as fast as it can and checkpoints by itself, while the log is read and
 * the pin moves hand over hand. Each transaction counts up one row, so a transaction that was lost,
 * told twice or joined with another is seen; what is told is applied to a model, whose rows must
 * be those of the change before it, and at the end those of the database.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "ground/cleanup.h"
#include "meaning/logreader.h"
#include "prng.h"
#include "source/checkpoint.h"
#include "tmp.h"

enum { ROWS = 400 };

struct race {
        struct tmp tmp;
        char path[300];
        pid_t writers[2];
        int gate[2]; /* a pipe: writers begin when its writing end is closed */
        struct database *database;
        struct checkpoint checkpoint;
        struct logreader *reader;
        struct transaction_source source;
        sqlite3 *model; /* table model(k PRIMARY KEY, v) */
        sqlite3_stmt *read, *write, *erase;
        int64_t counted[2]; /* of each writer, by its transactions */
        uint64_t transactions, restarts;
};

static void run_sql(sqlite3 *db, const char *sql)
{
        char *message = NULL;
        cr_assert_eq(
                sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK, "%s: %s", sql, message);
}

/* ---- the writers ---- */

static int write_once(sqlite3 *db, struct prng *prng, int writer)
{
        char *sql = sqlite3_mprintf("BEGIN IMMEDIATE; UPDATE t SET v = v + 1 WHERE k = %d;"
                                    "REPLACE INTO t VALUES(%d, randomblob(%d));"
                                    "UPDATE t SET k = k + 1 WHERE k = %d AND NOT EXISTS("
                                    "SELECT 1 FROM t AS o WHERE o.k = t.k + 1);"
                                    "DELETE FROM t WHERE k BETWEEN %d AND %d; COMMIT",
                -writer, 1 + (int)prng_below(prng, ROWS),
                (int)(prng_below(prng, 20) ? prng_below(prng, 100) : prng_below(prng, 20000)),
                1 + (int)prng_below(prng, ROWS), 1 + (int)prng_below(prng, ROWS),
                (int)prng_below(prng, ROWS));
        int r = sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
        return r;
}

/* Any kind, with little patience: it waits for readers while it keeps all writers out. */
static void checkpoint_once(sqlite3 *db, struct prng *prng)
{
        int mode = SQLITE_CHECKPOINT_PASSIVE + (int)prng_below(prng, 4);
        sqlite3_busy_timeout(db, 30);
        sqlite3_wal_checkpoint_v2(db, NULL, mode, NULL, NULL);
        sqlite3_busy_timeout(db, 20000);
}

/* In a process of its own. 0 if all went well. */
static int write_all(const char *path, int writer, unsigned transactions, int autocheckpoint)
{
        struct prng prng = {(uint64_t)writer * 7919};
        sqlite3 *db = NULL;
        if (sqlite3_open(path, &db) != SQLITE_OK)
                return 1;
        sqlite3_busy_timeout(db, 20000);
        sqlite3_wal_autocheckpoint(db, autocheckpoint);
        sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA cache_size=20", NULL, NULL, NULL);
        for (unsigned i = 0; i < transactions; i++) {
                int r = write_once(db, &prng, writer);
                if (r != SQLITE_OK)
                        return 2;
                if (prng_below(&prng, 50) == 0)
                        checkpoint_once(db, &prng);
        }
        return sqlite3_close(db) == SQLITE_OK ? 0 : 3;
}

/* Forks before this process opens the database: SQLite's connections do not survive a fork. */
static void start_writer(struct race *race, int writer, unsigned transactions, int autocheckpoint)
{
        char byte;
        pid_t pid = fork();
        cr_assert_geq(pid, 0);
        race->writers[writer - 1] = pid;
        if (pid != 0)
                return;
        close(race->gate[1]);
        if (read(race->gate[0], &byte, 1) != 0)
                _exit(9);
        _exit(write_all(race->path, writer, transactions, autocheckpoint));
}

/* Has it ended? Then well. */
static bool has_ended(pid_t *pid)
{
        int status;
        if (*pid != 0 && waitpid(*pid, &status, WNOHANG) == *pid) {
                cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "writer: %x", status);
                *pid = 0;
        }
        return *pid == 0;
}

/* ---- the model ---- */

static void bind_value(sqlite3_stmt *stmt, int at, const struct value *v)
{
        switch (v->type) {
        case VALUE_INTEGER:
                sqlite3_bind_int64(stmt, at, v->integer);
                break;
        case VALUE_BLOB:
                sqlite3_bind_blob(stmt, at, v->bytes, (int)v->size, SQLITE_TRANSIENT);
                break;
        default:
                sqlite3_bind_null(stmt, at);
                break;
        }
}

/* The row must be in the model as it is told, or not be there at all. */
static void expect_before(struct race *race, const struct value *key, const struct value *values)
{
        bind_value(race->read, 1, key);
        bool is_there = sqlite3_step(race->read) == SQLITE_ROW;
        cr_assert_eq(is_there, values != NULL, "key %lld", (long long)key->integer);
        if (values && values[1].type == VALUE_INTEGER)
                cr_assert_eq(sqlite3_column_int64(race->read, 0), values[1].integer);
        if (values && values[1].type == VALUE_BLOB) {
                const void *blob = sqlite3_column_blob(race->read, 0);
                cr_assert_eq(sqlite3_column_bytes(race->read, 0), (int)values[1].size);
                cr_assert(
                        values[1].size == 0 || memcmp(blob, values[1].bytes, values[1].size) == 0);
        }
        sqlite3_reset(race->read);
}

static void apply(struct race *race, const struct change *change)
{
        const struct value *key = change->before ? change->before : change->after;
        expect_before(race, key, change->before);
        sqlite3_stmt *stmt = change->after ? race->write : race->erase;
        bind_value(stmt, 1, key);
        if (change->after)
                bind_value(stmt, 2, &change->after[1]);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_DONE);
        sqlite3_reset(stmt);
        if (key->integer >= 0)
                return;
        /* A counter: exactly one more than in the transaction before. */
        cr_assert_eq(change->operation, CHANGE_UPDATE);
        int64_t *counted = &race->counted[-key->integer - 1];
        cr_assert_eq(change->after[1].integer, ++*counted, "a transaction is missing");
}

static void open_model(struct race *race)
{
        cr_assert_eq(sqlite3_open(":memory:", &race->model), SQLITE_OK);
        run_sql(race->model, "CREATE TABLE model(k INTEGER PRIMARY KEY, v);"
                             "INSERT INTO model VALUES(-1, 0), (-2, 0)");
        sqlite3_prepare_v2(race->model, "SELECT v FROM model WHERE k = ?1", -1, &race->read, NULL);
        sqlite3_prepare_v2(
                race->model, "REPLACE INTO model VALUES(?1, ?2)", -1, &race->write, NULL);
        sqlite3_prepare_v2(race->model, "DELETE FROM model WHERE k = ?1", -1, &race->erase, NULL);
}

/* The model and the database hold the same rows. */
static void expect_same_rows(struct race *race)
{
        sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf("ATTACH %Q AS app", race->path);
        run_sql(race->model, sql);
        sqlite3_free(sql);
        sqlite3_prepare_v2(race->model,
                "SELECT (SELECT count(*) FROM (SELECT * FROM model EXCEPT SELECT * FROM app.t)), "
                "(SELECT count(*) FROM (SELECT * FROM app.t EXCEPT SELECT * FROM model)), "
                "(SELECT count(*) FROM model)",
                -1, &stmt, NULL);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        cr_expect_eq(sqlite3_column_int(stmt, 0), 0, "rows that are not in the database");
        cr_expect_eq(sqlite3_column_int(stmt, 1), 0, "rows that were not told");
        cr_expect_gt(sqlite3_column_int(stmt, 2), 2);
        sqlite3_finalize(stmt);
        run_sql(race->model, "DETACH app");
}

/* ---- the reader ---- */

static int tell(struct race *race)
{
        struct change_transaction transaction;
        struct change change;
        int count = 0, r = logreader_poll(race->reader);
        cr_assert(r >= 0 || r == -EAGAIN, "poll: %d", r);
        if (r <= 0)
                return 0;
        for (; (r = race->source.next(race->source.context, &transaction)) == 1; count++) {
                cr_assert_eq(transaction.event_count, 0);
                int more;
                while ((more = race->source.next_change(race->source.context, &change)) == 1)
                        apply(race, &change);
                cr_assert_eq(more, 0);
        }
        cr_assert_eq(r, 0, "next: %d", r);
        race->transactions += (unsigned)count;
        return count;
}

/* As capture does it: hand over hand; and when the pin stands on a mark, copies what it allows. */
static void step(struct race *race, struct prng *prng)
{
        uint32_t generation = lsn_generation(logreader_lsn(race->reader));
        uint32_t frames, copied;
        int r = logreader_take_pin(race->reader);
        cr_assert(r == 0 || r == -EAGAIN, "%d", r);
        tell(race);
        if (r == 0)
                logreader_drop_pin(race->reader);
        if (logreader_is_on_mark(race->reader) && prng_below(prng, 3) == 0)
                checkpoint_run(&race->checkpoint, 0, &frames, &copied);
        race->restarts += lsn_generation(logreader_lsn(race->reader)) != generation;
}

static void attach_table(struct race *race)
{
        char *columns[] = {(char *)"k", (char *)"v"};
        unsigned key[] = {1};
        struct problem problem = {0};
        struct capture_request request = {.object_id = 1,
                .table = "t",
                .columns = columns,
                .column_count = 2,
                .key = key,
                .key_count = 1};
        cr_assert_eq(race->source.attach(race->source.context, &request, &problem), 0, "%s",
                problem.message);
}

static void race_make(struct race *race)
{
        sqlite3 *db = NULL;
        memset(race, 0, sizeof(*race));
        tmp_open(&race->tmp);
        snprintf(race->path, sizeof(race->path), "%s/app.db", race->tmp.directory);
        cr_assert_eq(sqlite3_open(race->path, &db), SQLITE_OK);
        run_sql(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL;"
                    "CREATE TABLE t(k INTEGER PRIMARY KEY, v); "
                    "INSERT INTO t VALUES(-1, 0), (-2, 0)");
        cr_assert_eq(sqlite3_close(db), SQLITE_OK);
        cr_assert_eq(pipe(race->gate), 0);
}

static void race_open(struct race *race)
{
        open_model(race);
        cr_assert_eq(database_open(race->path, &race->database, NULL), 0);
        cr_assert_eq(checkpoint_open(race->database, &race->checkpoint), 0);
        cr_assert_eq(
                logreader_open(race->database, NULL, 1, race->tmp.directory, &race->reader), 0);
        race->source = logreader_source(race->reader);
        attach_table(race);
        close(race->gate[1]);
}

static void race_close(struct race *race)
{
        logreader_close(race->reader);
        checkpoint_close(&race->checkpoint);
        expect_same_rows(race);
        database_close(race->database);
        sqlite3_finalize(race->read);
        sqlite3_finalize(race->write);
        sqlite3_finalize(race->erase);
        sqlite3_close(race->model);
        close(race->gate[0]);
        tmp_close(&race->tmp);
}

static void run_race(int writers, unsigned transactions, int autocheckpoint)
{
        struct race race;
        struct prng prng = {91};
        race_make(&race);
        for (int i = 1; i <= writers; i++)
                start_writer(&race, i, transactions, autocheckpoint);
        race_open(&race);
        for (bool is_over = false; !is_over;) {
                is_over = has_ended(&race.writers[0]) && has_ended(&race.writers[1]);
                for (uint32_t i = 1 + prng_below(&prng, 3); i > 0; i--)
                        step(&race, &prng);
                if (prng_below(&prng, 4) == 0)
                        usleep(prng_below(&prng, 4000));
        }
        step(&race, &prng);
        for (int i = 0; i < writers; i++)
                cr_expect_eq(race.counted[i], transactions, "%lld", (long long)race.counted[i]);
        cr_expect_gt(race.restarts, 0, "the log was restarted");
        race_close(&race);
}

Test(logreader_race, one_writer_loses_nothing, .timeout = 100)
{
        run_race(1, 12000, 50);
}

Test(logreader_race, two_writers_lose_nothing, .timeout = 100)
{
        run_race(2, 6000, 200);
}
