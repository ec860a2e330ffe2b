/* SPDX-License-Identifier: MIT */
#include "desk/closer.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "faces/filebytes.h"
#include "files_fixture.h"

static struct files unpublished(struct files_fixture *f)
{
        struct files files = {0};
        cr_assert_eq(files_unpublished(store_db(f->base.store), &files), 0);
        return files;
}

/* From each checkpoint on come the bytes that stand there. */
static void expect_checkpoints(sqlite3 *db, const struct file_row *file,
        const struct files_measure *measure, const struct buf *whole)
{
        const struct checkpoints *checkpoints = &measure->checkpoints;
        cr_assert_geq(checkpoints->count, whole->size >> 20);
        cr_expect_leq(checkpoints->items[0].offset, 17 << 10);
        for (size_t i = 0; i < checkpoints->count; i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct filebytes_position position = {
                        checkpoints->items[i].offset, checkpoints->items[i].change};
                cr_assert_geq(filebytes_render(db, file, 1000, &position, &buf, NULL), 0);
                cr_assert_leq(checkpoints->items[i].offset + buf.size, whole->size);
                cr_expect_eq(
                        memcmp(whole->data + checkpoints->items[i].offset, buf.data, buf.size), 0);
        }
}

Test(closer, measures_the_very_bytes_that_are_read)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 20000, 100);
        files_fixture_border(&f);
        struct files files = unpublished(&f);
        cr_assert_eq(files.count, render_count() + 2, "and those that are no instance's");
        for (size_t i = 0; i < files.count; i++) {
                struct files_measure measure;
                atomic_bool is_stopped = false;
                sqlite3 *db = store_db(f.base.store);
                cr_assert_eq(closer_measure(db, &files.items[i], &is_stopped, &measure), 0);
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct filebytes_position position = filebytes_start(&files.items[i]);
                cr_assert_eq(
                        filebytes_render(db, &files.items[i], SIZE_MAX / 4, &position, &buf, NULL),
                        0);
                struct hash hash;
                uint8_t digest[HASH_SIZE];
                hash_init(&hash);
                hash_update(&hash, buf.data, buf.size);
                hash_finish(&hash, digest);
                cr_expect_eq((size_t)measure.bytes, buf.size);
                cr_expect_eq(memcmp(measure.sha256, digest, HASH_SIZE), 0);
                cr_expect_eq(measure.odd_text, 0);
                if (files.items[i].object_id > 0)
                        expect_checkpoints(db, &files.items[i], &measure, &buf);
                checkpoints_release(&measure.checkpoints);
        }
        files_release(&files);
        files_fixture_close(&f);
}

Test(closer, ends_when_it_is_stopped_and_refuses_open_files)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 10, 10);
        files_fixture_border(&f);
        struct files files = unpublished(&f);
        struct files_measure measure;
        atomic_bool is_stopped = true;
        sqlite3 *db = store_db(f.base.store);
        cr_expect_eq(closer_measure(db, &files.items[0], &is_stopped, &measure), -EINTR);
        files.items[0].is_open = true;
        cr_expect_eq(closer_measure(db, &files.items[0], NULL, &measure), -EINVAL);
        files_release(&files);
        files_fixture_close(&f);
}
