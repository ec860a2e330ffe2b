/* SPDX-License-Identifier: MIT
 *
 * live: how long after its commit a row can be read in `live/all.csv`, as a program sees it that
 * opens the file by its name over and over and reads what it has not read yet. Commits one row,
 * waits until it can be read, then pauses at random. Prints the milliseconds of each commit, one
 * a line.
 *
 *      live DATABASE FILE COMMITS SEED
 *
 * The file may be replaced by the next one at any time; then it is read from its start.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 20 };

struct reader {
        const char *path;
        ino_t ino;
        off_t offset; /* read so far, up to the end of a line */
        char *buffer;
};

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

static void fail(const char *what)
{
        fprintf(stderr, "live: %s\n", what);
        exit(1);
}

/* Is the text in what has come since? */
static int has_come(struct reader *reader, const char *text)
{
        struct stat info;
        int is_found = 0;
        int fd = open(reader->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &info) < 0)
                fail("cannot open the file");
        if (info.st_ino != reader->ino)
                reader->offset = 0;
        reader->ino = info.st_ino;
        ssize_t got;
        while ((got = pread(fd, reader->buffer, BUFFER_SIZE, reader->offset)) > 0) {
                reader->buffer[got] = '\0';
                char *end = strrchr(reader->buffer, '\n');
                if (!end)
                        fail("a row cut in two");
                is_found |= strstr(reader->buffer, text) != NULL;
                reader->offset += end + 1 - reader->buffer;
        }
        close(fd);
        return is_found;
}

static double measure(sqlite3_stmt *insert, struct reader *reader, long n)
{
        char text[64];
        snprintf(text, sizeof text, "\"latency %ld\"", n);
        sqlite3_bind_int64(insert, 1, n);
        int r = sqlite3_step(insert);
        double committed = now_ms();
        sqlite3_reset(insert);
        if (r != SQLITE_DONE)
                fail(sqlite3_errmsg(sqlite3_db_handle(insert)));
        while (!has_come(reader, text)) {
                if (now_ms() > committed + 30e3)
                        fail("a row did not come in 30 s");
                pause_ms(0.2);
        }
        return now_ms() - committed;
}

int main(int argc, char **argv)
{
        sqlite3 *db = NULL;
        sqlite3_stmt *insert = NULL;
        if (argc != 5) {
                fprintf(stderr, "usage: live DATABASE FILE COMMITS SEED\n");
                return 2;
        }
        struct reader reader = {.path = argv[2], .buffer = malloc(BUFFER_SIZE + 1)};
        if (!reader.buffer || sqlite3_open(argv[1], &db) != SQLITE_OK)
                fail("cannot open the database");
        sqlite3_busy_timeout(db, 5000);
        if (sqlite3_prepare_v2(db, "INSERT INTO t(n, v) VALUES(?1, 'latency ' || ?1)", -1, &insert,
                    NULL) != SQLITE_OK)
                fail(sqlite3_errmsg(db));
        srand48(atol(argv[4]));
        for (long n = 1, last = atol(argv[3]); n <= last; n++) {
                printf("%.2f\n", measure(insert, &reader, n));
                pause_ms(drand48() * (drand48() < 0.95 ? 30 : 1000));
        }
        return 0;
}
