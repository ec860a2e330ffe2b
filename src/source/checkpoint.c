/* SPDX-License-Identifier: MIT
 *
 * checkpoint: see the header. A connection that has never read answers a checkpoint with OK and
 * -1 and does nothing; database_open reads, and -1 is reported as an error all the same.
 */
#include "source/checkpoint.h"

#include <errno.h>
#include <time.h>

#include "ground/clock.h"

enum { PAUSE_NS = 200000 };

int checkpoint_open(const struct database *database, struct checkpoint *ret_checkpoint)
{
        *ret_checkpoint = (struct checkpoint){.database = database};
        return database_connect(database, &ret_checkpoint->barrier);
}

void checkpoint_close(struct checkpoint *checkpoint)
{
        sqlite3_close_v2(checkpoint->barrier);
        *checkpoint = (struct checkpoint){0};
}

static void pause_briefly(void)
{
        struct timespec pause = {.tv_nsec = PAUSE_NS};
        nanosleep(&pause, NULL);
}

int checkpoint_run(
        struct checkpoint *checkpoint, int64_t limit_ns, uint32_t *ret_frames, uint32_t *ret_copied)
{
        int frames = -1, copied = -1, r;
        int64_t end = clock_monotonic(NULL) + limit_ns;
        for (;;) {
                r = sqlite3_wal_checkpoint_v2(checkpoint->database->files, "main",
                        SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
                if ((r & 0xff) != SQLITE_BUSY || clock_monotonic(NULL) >= end)
                        break;
                pause_briefly();
        }
        if (r != SQLITE_OK)
                return problem_errno(r);
        if (frames < 0 || copied < 0)
                return -EIO;
        *ret_frames = (uint32_t)frames;
        *ret_copied = (uint32_t)copied;
        return 0;
}

int checkpoint_empty(struct checkpoint *checkpoint)
{
        return problem_errno(sqlite3_wal_checkpoint_v2(
                checkpoint->database->files, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
}

int checkpoint_take_barrier(struct checkpoint *checkpoint, int64_t limit_ns)
{
        int64_t end = clock_monotonic(NULL) + limit_ns;
        int r = SQLITE_OK;
        if (checkpoint->has_barrier)
                return 0;
        do {
                r = sqlite3_exec(checkpoint->barrier, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        } while ((r & 0xff) == SQLITE_BUSY && clock_monotonic(NULL) < end);
        checkpoint->has_barrier = r == SQLITE_OK;
        return problem_errno(r);
}

void checkpoint_drop_barrier(struct checkpoint *checkpoint)
{
        if (checkpoint->has_barrier)
                sqlite3_exec(checkpoint->barrier, "ROLLBACK", NULL, NULL, NULL);
        /* Without memory it stays, and is dropped the next time. */
        checkpoint->has_barrier =
                checkpoint->has_barrier && !sqlite3_get_autocommit(checkpoint->barrier);
}
