/* SPDX-License-Identifier: MIT */
#include "faces/filebytes.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "faces/netchanges.h"
#include "files_fixture.h"

static struct file_row file_of(struct files_fixture *f, int64_t object_id, unsigned format)
{
        struct files files = {0};
        cr_assert_eq(files_list(store_db(f->base.store), object_id, render_at(format)->name, 0, 1,
                             &files),
                0);
        cr_assert_eq(files.count, 1);
        struct file_row file = files.items[0];
        files_release(&files);
        return file;
}

/* All bytes of a file in pieces of a given size. */
static void render_in_pieces(
        struct files_fixture *f, const struct file_row *file, size_t piece, struct buf *buf)
{
        struct filebytes_position position = filebytes_start(file);
        int r;
        do {
                size_t before = buf->size;
                r = filebytes_render(store_db(f->base.store), file, piece, &position, buf, NULL);
                cr_assert_geq(r, 0);
                cr_assert_eq(position.offset, buf->size);
                cr_assert(r == 0 || buf->size >= before + piece);
        } while (r > 0);
}

Test(filebytes, gives_the_same_bytes_in_pieces_of_any_size)
{
        static const size_t pieces[] = {1, 7, 50, 333, 4096};
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 300, 10);
        files_fixture_rotate(&f);
        for (unsigned format = 0; format < render_count(); format++) {
                struct file_row file = file_of(&f, object_id, format);
                _cleanup_(buf_release) struct buf whole = BUF_INIT;
                render_in_pieces(&f, &file, SIZE_MAX / 4, &whole);
                cr_assert_eq(whole.size, (size_t)file.bytes);
                for (size_t i = 0; i < COUNT(pieces); i++) {
                        _cleanup_(buf_release) struct buf parts = BUF_INIT;
                        render_in_pieces(&f, &file, pieces[i], &parts);
                        cr_assert_eq(parts.size, whole.size);
                        cr_expect_eq(memcmp(parts.data, whole.data, whole.size), 0);
                }
        }
        files_fixture_close(&f);
}

Test(filebytes, never_parts_the_two_rows_of_an_update)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 4, 10);
        /* Every second insert becomes the after image of an update, with a before image. */
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "INSERT INTO main_t_CT(rowid, \"__$start_lsn\", \"__$seqval\","
                                    " \"__$operation\", \"__$update_mask\", id)"
                                    " SELECT rowid - 1, \"__$start_lsn\", \"__$seqval\", 3,"
                                    " \"__$update_mask\", id FROM main_t_CT WHERE id % 2"),
                "before images");
        files_fixture_rotate(&f);
        struct file_row file = file_of(&f, object_id, 0);
        struct filebytes_position position = filebytes_start(&file);
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        unsigned lines[5] = {0};
        for (unsigned i = 0; i < 5; i++) {
                buf_reset(&buf);
                int r = filebytes_render(store_db(f.base.store), &file, 1, &position, &buf, NULL);
                cr_assert_eq(r, i < 4, "step %u: %d", i, r);
                for (size_t at = 0; at < buf.size; at++)
                        lines[i] += buf.data[at] == '\n';
        }
        static const unsigned want[5] = {1, 2, 1, 2, 1};
        for (unsigned i = 0; i < 5; i++)
                cr_expect_eq(lines[i], want[i], "step %u has %u lines", i, lines[i]);
        files_fixture_close(&f);
}

Test(filebytes, counts_texts_that_are_shown_as_hex)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 10, 10);
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "UPDATE main_t_CT SET v = CAST(x'ff41' AS TEXT) WHERE id < 4;"
                                    "UPDATE main_t_CT SET w = x'ff41'"),
                "odd texts");
        files_fixture_rotate(&f);
        struct file_row file = file_of(&f, object_id, 0);
        cr_expect_eq(file.odd_text, 3);
        files_fixture_close(&f);
}

Test(filebytes, refuses_a_version_that_no_renderer_has)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 10, 10);
        files_fixture_rotate(&f);
        struct file_row file = file_of(&f, object_id, 0);
        struct filebytes_position position = filebytes_start(&file);
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        file.renderer_version = 9999;
        cr_expect_eq(filebytes_render(store_db(f.base.store), &file, 1, &position, &buf, NULL),
                -ENOTSUP);
        file.renderer_version = 1;
        file.object_id = 77;
        cr_expect_eq(
                filebytes_render(store_db(f.base.store), &file, 1, &position, &buf, NULL), -ENOENT);
        files_fixture_close(&f);
}

/* ---- net changes ---- */

/* The bytes that the change function itself gives. */
static void render_net(
        struct files_fixture *f, const struct file_row *file, unsigned format, struct buf *buf)
{
        _cleanup_netchanges_ struct netchanges *net = NULL;
        _cleanup_(render_release) struct render render = {0};
        const struct value *row;
        cr_assert_eq(netchanges_open(store_db(f->base.store), file->object_id, file->from_lsn,
                             file->to_lsn, NETCHANGES_ALL_WITH_MASK, &net),
                0);
        cr_assert_eq(render_init(&render, render_at(format), netchanges_shape(net)), 0);
        render_header(&render, buf);
        while (netchanges_next(net, &row) == 1)
                render_row(&render, row, buf);
}

static void expect_net_file(struct files_fixture *f, int64_t object_id, unsigned format)
{
        struct file_row file = file_of(f, object_id, format);
        _cleanup_(buf_release) struct buf whole = BUF_INIT;
        _cleanup_(buf_release) struct buf parts = BUF_INIT;
        render_net(f, &file, format, &whole);
        cr_expect_gt(whole.size, 2 * FILEBYTES_NET_PIECE);
        cr_assert_eq(whole.size, (size_t)file.bytes);
        cr_expect_eq(file.rows, 8000);
        render_in_pieces(f, &file, 1, &parts);
        cr_assert_eq(parts.size, whole.size);
        cr_expect_eq(memcmp(parts.data, whole.data, whole.size), 0);
}

Test(filebytes, gives_what_the_changes_of_a_file_come_to)
{
        struct files_fixture f;
        files_fixture_open_net(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, object_id, 12000, 1500);
        files_fixture_commit(&f, object_id, 3000, 3000);
        /* Most keys have two changes. */
        store_fixture_check(
                sql_execute(store_db(f.base.store), "UPDATE main_t_CT SET id = id % 8000"),
                "UPDATE");
        files_fixture_rotate(&f);
        for (unsigned i = render_count(); i < render_file_formats(); i++)
                expect_net_file(&f, object_id, i);
        files_fixture_close(&f);
}
