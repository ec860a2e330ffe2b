/* SPDX-License-Identifier: MIT
 *
 * commits: an application that commits one row after the other as fast as it can, with SQLite's
 * default auto-checkpoint. Prints commits per second.
 *
 *      commits DATABASE NORMAL|FULL SECONDS
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(sqlite3 *db, int r)
{
        if (r == SQLITE_OK || r == SQLITE_DONE || r == SQLITE_ROW)
                return;
        fprintf(stderr, "commits: %s\n", sqlite3_errmsg(db));
        exit(1);
}

int main(int argc, char **argv)
{
        sqlite3 *db;
        sqlite3_stmt *insert;
        char sql[64];
        if (argc != 4) {
                fprintf(stderr, "usage: commits DATABASE NORMAL|FULL SECONDS\n");
                return 2;
        }
        check(NULL, sqlite3_open(argv[1], &db));
        sqlite3_busy_timeout(db, 5000);
        snprintf(sql, sizeof(sql), "PRAGMA synchronous=%s", argv[2]);
        check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
        check(db, sqlite3_prepare_v2(db, "INSERT INTO t(n, v) VALUES(?, ?)", -1, &insert, NULL));

        double start = now(), end = start + atof(argv[3]);
        long commits = 0;
        while (now() < end) {
                char text[64];
                snprintf(text, sizeof(text), "the text of the row with the number %ld", commits);
                sqlite3_bind_int64(insert, 1, commits);
                sqlite3_bind_text(insert, 2, text, -1, SQLITE_STATIC);
                check(db, sqlite3_step(insert));
                check(db, sqlite3_reset(insert));
                commits++;
        }
        printf("%.1f\n", (double)commits / (now() - start));
        sqlite3_finalize(insert);
        sqlite3_close(db);
        return 0;
}
