/* SPDX-License-Identifier: MIT
 *
 * latency: how long after its commit a row is in the store, seen from outside: commits one row,
 * then reads the change table over and over until the row is there; then pauses at random.
 * Prints the milliseconds of each commit, one a line.
 *
 *      latency DATABASE STORE COMMITS SEED
 *
 * Nine pauses in ten are up to 30 ms, the tenth up to 3 s: long enough for the watch to fall
 * asleep. (With the default of 1000 commits that is three minutes.)
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void pause_ms(double ms)
{
        struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000L};
        nanosleep(&t, NULL);
}

static void check(sqlite3 *db, int r)
{
        if (r == SQLITE_OK || r == SQLITE_DONE || r == SQLITE_ROW)
                return;
        fprintf(stderr, "latency: %s\n", sqlite3_errmsg(db));
        exit(1);
}

static sqlite3_stmt *prepare(const char *path, int flags, const char *sql)
{
        sqlite3 *db;
        sqlite3_stmt *stmt;
        check(NULL, sqlite3_open_v2(path, &db, flags, NULL));
        sqlite3_busy_timeout(db, 5000);
        check(db, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
        return stmt;
}

/* The newest number in the change table, 0 if there is none. */
static long newest(sqlite3_stmt *stmt)
{
        long n = 0;
        int r = sqlite3_step(stmt);
        check(sqlite3_db_handle(stmt), r);
        if (r == SQLITE_ROW)
                n = sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        return n;
}

int main(int argc, char **argv)
{
        if (argc != 5) {
                fprintf(stderr, "usage: latency DATABASE STORE COMMITS SEED\n");
                return 2;
        }
        sqlite3_stmt *insert =
                prepare(argv[1], SQLITE_OPEN_READWRITE, "INSERT INTO t(n, v) VALUES(?, 'latency')");
        sqlite3_stmt *select = prepare(argv[2], SQLITE_OPEN_READONLY,
                "SELECT n FROM \"main_t_CT\" ORDER BY rowid DESC LIMIT 1");
        srand48(atol(argv[4]));
        for (long n = 1, last = atol(argv[3]); n <= last; n++) {
                sqlite3_bind_int64(insert, 1, n);
                check(sqlite3_db_handle(insert), sqlite3_step(insert));
                double committed = now_ms();
                sqlite3_reset(insert);
                while (newest(select) != n) {
                        if (now_ms() > committed + 30e3) {
                                fprintf(stderr, "latency: a row did not come in 30 s\n");
                                return 1;
                        }
                        pause_ms(0.1);
                }
                printf("%.2f\n", now_ms() - committed);
                pause_ms(drand48() * (drand48() < 0.9 ? 30 : 3000));
        }
        return 0;
}
