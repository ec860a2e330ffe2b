/* SPDX-License-Identifier: MIT
 *
 * content_fixture: a pool over a store whose table t has closed files.
 */
#ifndef CDC_TEST_CONTENT_FIXTURE_H
#define CDC_TEST_CONTENT_FIXTURE_H

#include <criterion/criterion.h>

#include "faces/content.h"
#include "files_fixture.h"

struct content_fixture {
        struct files_fixture files;
        int64_t object_id;
        struct content_pool *pool;
        sqlite3 *db;
};

static inline void content_fixture_open(struct content_fixture *f, uint64_t budget)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        f->db = store_db(f->files.base.store);
        cr_assert_eq(content_pool_new(f->files.base.tmp.directory, budget, NULL, &f->pool), 0);
}

static inline void content_fixture_close(struct content_fixture *f)
{
        content_pool_free(f->pool);
        files_fixture_close(&f->files);
}

static inline void content_fixture_add(struct content_fixture *f, unsigned rows, size_t size)
{
        files_fixture_commit(&f->files, f->object_id, rows, size);
        files_fixture_rotate(&f->files);
}

static inline struct file_row content_fixture_file(
        struct content_fixture *f, unsigned format, int64_t ordinal)
{
        struct files files = {0};
        cr_assert_eq(
                files_list(f->db, f->object_id, render_at(format)->name, ordinal - 1, 1, &files),
                0);
        cr_assert_eq(files.count, 1);
        struct file_row file = files.items[0];
        files_release(&files);
        return file;
}

#endif
