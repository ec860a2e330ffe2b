/* SPDX-License-Identifier: MIT */
#include "openfile.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

static struct file_row live_file(struct files_fixture *f, int64_t object_id)
{
        struct file_row file;
        cr_assert_eq(files_find_live(store_db(f->base.store), object_id, "csv", &file), 1);
        return file;
}

Test(openfile, reads_closed_files_and_live_ones)
{
        struct files_fixture f;
        struct cdc_view *view = NULL;
        struct openfile *openfile = NULL;
        char bytes[4096];
        size_t live_size = 0, size = 0;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        struct cdc_database database = {.source = f.base.source};
        cr_assert_eq(cdc_view_open(&database, &view, NULL), 0);
        files_fixture_commit(&f, object_id, 10, 10);
        uint64_t ino = live_file(&f, object_id).ino;

        cr_expect_eq(openfile_new(view, ino, false, &openfile), -ENOENT, "it is not listed");
        cr_expect_eq(openfile_new(view, ino + 1000, true, &openfile), -ENOENT);
        cr_assert_eq(openfile_new(view, ino, true, &openfile), 0);
        cr_expect_eq(openfile_try_read(openfile, 0, bytes, sizeof bytes, &live_size), -EAGAIN);
        cr_assert_eq(openfile_read(openfile, 0, bytes, sizeof bytes, &live_size), 0);
        files_fixture_rotate(&f);
        cr_expect_eq(openfile_read(openfile, 0, bytes, sizeof bytes, &size), 0);
        cr_expect_eq(size, live_size);
        openfile_free(openfile);

        cr_assert_eq(openfile_new(view, ino, false, &openfile), 0);
        cr_assert_eq(openfile_read(openfile, 0, bytes, sizeof bytes, &size), 0);
        cr_expect_eq(size, live_size);
        openfile_free(openfile);
        openfile_free(NULL);
        cdc_view_close(view);
        files_fixture_close(&f);
}
