/* SPDX-License-Identifier: MIT
 *
 * ahead: a short list of passes by inode number; the one that waits longest makes room.
 */
#include "desk/ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/render.h"

struct item {
        uint64_t ino;
        struct closer_pass pass;
};

struct ahead {
        size_t count;
        struct item items[AHEAD_COUNT]; /* the last was used last */
};

struct ahead *ahead_new(void)
{
        return calloc(1, sizeof(struct ahead));
}

void ahead_free(struct ahead *ahead)
{
        if (!ahead)
                return;
        for (size_t i = 0; i < ahead->count; i++)
                closer_release(&ahead->items[i].pass);
        free(ahead);
}

static void remove_at(struct ahead *ahead, size_t place)
{
        ahead->count--;
        memmove(&ahead->items[place], &ahead->items[place + 1],
                (ahead->count - place) * sizeof ahead->items[0]);
}

struct closer_pass ahead_take(struct ahead *ahead, const struct file_row *file)
{
        for (size_t i = 0; i < ahead->count; i++) {
                if (ahead->items[i].ino != file->ino)
                        continue;
                struct closer_pass pass = ahead->items[i].pass;
                remove_at(ahead, i);
                return pass;
        }
        return closer_begin(file);
}

static void put(struct ahead *ahead, uint64_t ino, const struct closer_pass *pass)
{
        if (ahead->count == AHEAD_COUNT) {
                closer_release(&ahead->items[0].pass);
                remove_at(ahead, 0);
        }
        struct item *item = &ahead->items[ahead->count++];
        *item = (struct item){.ino = ino, .pass = *pass};
        buf_release(&item->pass.buf); /* scratch is worth more than all the rest */
}

static int advance_file(struct ahead *ahead, sqlite3 *db, const struct file_row *file, uint64_t end,
        const atomic_bool *is_wanted)
{
        struct closer_pass pass = ahead_take(ahead, file);
        int r = 1;
        while (r > 0 && !atomic_load(is_wanted))
                r = closer_advance(db, file, end, &pass);
        if (r >= 0)
                put(ahead, file->ino, &pass);
        else
                closer_release(&pass);
        return r < 0 ? r : 0;
}

int ahead_advance(struct ahead *ahead, sqlite3 *db, int64_t object_id, uint64_t end,
        const atomic_bool *is_wanted)
{
        int r = 0;
        for (unsigned format = 0; r == 0 && format < render_count(); format++) {
                struct file_row file;
                r = files_find_live(db, object_id, render_at(format)->name, &file);
                if (r > 0)
                        r = file.is_open ? advance_file(ahead, db, &file, end, is_wanted) : 0;
        }
        return r;
}
