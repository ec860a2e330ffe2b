/* SPDX-License-Identifier: MIT
 *
 * pin: two connections that take turns. Ending and beginning on one connection would leave a
 * moment without a pin, in which a checkpoint and a restart of the WAL destroy old images.
 */
#include "source/pin.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ground/cleanup.h"

struct pin {
        const struct database *database; /* borrowed */
        sqlite3 *connections[2];         /* owned */
        unsigned current;
        bool has_next;
        sqlite3 *holder;    /* owned: for pin_step_aside, which holds a mark through its file */
        sqlite3_file *file; /* borrowed from holder */
        int mark;           /* held through file in place of the current connection, or 0 */
};

/* BEGIN alone takes no lock: the read mark comes with the first row. An old transaction that could
 * not be ended (no memory) ends here. */
static int begin_read(sqlite3 *db)
{
        int r = SQLITE_OK;
        if (!sqlite3_get_autocommit(db))
                r = sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
        if (r != SQLITE_OK)
                sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return problem_errno(r);
}

int pin_open(const struct database *database, struct pin **ret_pin)
{
        struct pin *pin = calloc(1, sizeof(*pin));
        if (!pin)
                return -ENOMEM;
        pin->database = database;
        int r = database_connect(database, &pin->connections[0]);
        if (r == 0)
                r = database_connect(database, &pin->connections[1]);
        if (r == 0)
                r = begin_read(pin->connections[0]);
        if (r < 0) {
                pin_close(pin);
                return r;
        }
        *ret_pin = pin;
        return 0;
}

int pin_take_next(struct pin *pin)
{
        if (pin->has_next)
                return 0;
        int r = begin_read(pin->connections[!pin->current]);
        pin->has_next = r == 0;
        return r;
}

/* Ends what holds the log besides the next transaction. */
static void release(struct pin *pin)
{
        if (pin->mark > 0)
                database_release_mark(pin->file, pin->mark);
        else
                sqlite3_exec(pin->connections[pin->current], "ROLLBACK", NULL, NULL, NULL);
        pin->mark = 0;
}

void pin_release_previous(struct pin *pin)
{
        if (!pin->has_next)
                return;
        release(pin);
        pin->current = !pin->current;
        pin->has_next = false;
}

static int open_holder(struct pin *pin)
{
        int r = pin->holder ? 0 : database_connect(pin->database, &pin->holder);
        if (r == 0 && !pin->file)
                r = database_file(pin->holder, &pin->file);
        return r;
}

int pin_step_aside(struct pin *pin, const struct database_header *captured)
{
        if (pin->has_next || captured->backfilled >= captured->max_frame)
                return 0;
        int r = open_holder(pin);
        if (r < 0)
                return r;
        int mark = database_hold_mark(pin->database, pin->file, captured, pin->mark);
        if (mark < 0)
                return mark;
        release(pin);
        pin->mark = mark;
        return 0;
}

int pin_step_back(struct pin *pin, uint32_t frame, struct database_header *ret_header)
{
        int r = open_holder(pin);
        if (r < 0)
                return r;
        int mark = database_hold_mark_behind(pin->database, pin->file, frame, ret_header);
        if (mark < 0)
                return mark;
        release(pin);
        pin->mark = mark;
        return 0;
}

void pin_close(struct pin *pin)
{
        if (!pin)
                return;
        if (pin->mark > 0)
                database_release_mark(pin->file, pin->mark);
        sqlite3_close_v2(pin->holder);
        sqlite3_close_v2(pin->connections[0]);
        sqlite3_close_v2(pin->connections[1]);
        free(pin);
}
