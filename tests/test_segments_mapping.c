/* SPDX-License-Identifier: MIT
 *
 * segments_mapping: closed files of lsn_time_mapping and of transactions/, sealed and shown like
 * all others.
 */
#include <criterion/criterion.h>

#include "cdc.h"
#include "faces/filebytes.h"
#include "files_fixture.h"
#include "memory/cleanup.h"
#include "memory/enable.h"

static struct files list_format(struct files_fixture *f, const char *format)
{
        struct files files = {0};
        cr_assert_eq(files_list(store_db(f->base.store), 0, format, 0, 0, &files), 0);
        return files;
}

static struct files list(struct files_fixture *f)
{
        return list_format(f, "csv");
}

Test(segments_mapping, files_touch_and_together_hold_the_table)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a"), b = files_fixture_table(&f, "b");
        for (unsigned i = 0; i < 4; i++) {
                files_fixture_commit(&f, i % 2 ? a : b, 2, 5);
                files_fixture_commit(&f, a, 1, 5);
                files_fixture_rotate(&f);
        }
        struct files files = list(&f);
        cr_assert_eq(files.count, 4);
        int64_t rows = 0, mtime_ns = 0;
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        for (size_t i = 0; i < files.count; i++) {
                const struct file_row *file = &files.items[i];
                struct filebytes_position position = filebytes_start(file);
                buf_reset(&buf);
                cr_assert_eq(filebytes_render(store_db(f.base.store), file, SIZE_MAX / 4, &position,
                                     &buf, NULL),
                        0);
                cr_expect_eq(file->bytes, (int64_t)buf.size);
                if (i > 0)
                        cr_expect_eq(lsn_compare(file->from_lsn,
                                             lsn_increment(files.items[i - 1].to_lsn)),
                                0);
                cr_expect_gt(file->mtime_ns, mtime_ns);
                mtime_ns = file->mtime_ns;
                rows += file->rows;
        }
        cr_expect_eq(rows, store_fixture_integer(&f.base, "SELECT count(*) FROM lsn_time_mapping"));
        cr_expect_str_eq(buf_string(&buf),
                "start_lsn,tran_begin_time,tran_end_time,tran_id,tran_begin_lsn\n"
                "00000001:00000009:0001,2026-11-30T10:00:09.000000Z,2026-11-30T10:00:09.000000Z,"
                "\\x00000000000000000000,00000001:00000009:0001\n"
                "00000001:0000000a:0001,2026-11-30T10:00:10.000000Z,2026-11-30T10:00:10.000000Z,"
                "\\x00000000000000000000,00000001:0000000a:0001\n");
        files_release(&files);
        files_fixture_close(&f);
}

Test(segments_mapping, a_border_that_no_instance_takes_part_in_ends_no_file)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_rotate(&f);
        struct files files = list(&f);
        cr_expect_eq(files.count, 0);
        files_release(&files);
        files_fixture_commit(&f, id, 1, 1);
        files_fixture_rotate(&f);
        files_fixture_rotate(&f);
        files = list(&f);
        cr_assert_eq(files.count, 1);
        cr_expect_eq(files.items[0].rows, 2, "the dummy row and the commit");
        cr_expect_eq(lsn_compare(files.items[0].from_lsn, lsn_make(1, 1, 1)), 0);
        files_release(&files);
        files_fixture_close(&f);
}

Test(segments_mapping, a_store_without_such_files_gets_them_at_the_start)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 1, 1);
        files_fixture_rotate(&f);
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "DELETE FROM cdcfs_files WHERE object_id = 0;"
                                    "DELETE FROM cdcfs_instances WHERE object_id = 0"),
                "an older store");
        segments_free(f.segments);
        state_release(&f.state);
        files_fixture_load(&f);
        files_fixture_commit(&f, id, 1, 1);
        files_fixture_rotate(&f);
        struct files files = list(&f);
        cr_assert_eq(files.count, 1);
        cr_expect_eq(files.items[0].rows, 3);
        files_release(&files);
        files_fixture_close(&f);
}

Test(segments_mapping, the_catalog_has_them_under_no_name)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        for (int i = 0; i < 3; i++) {
                files_fixture_commit(&f, id, 1, 1);
                files_fixture_rotate(&f);
        }
        struct cdc_view *view = NULL;
        struct cdc_database database = {.source = f.base.source};
        cr_assert_eq(cdc_view_open(&database, &view, NULL), 0);
        struct cdc_catalog *catalog = cdc_view_catalog(view);
        const struct cdc_instance *mapping = cdc_catalog_mapping(catalog);
        const struct cdc_file *file = NULL;
        uint64_t count = 0;
        cr_assert_not_null(mapping);
        cr_expect_eq(cdc_catalog_instances(catalog), 1);
        cr_expect_eq(cdc_catalog_next_instance(catalog, 0)->object_id, id);
        for (unsigned format = CDC_MAPPING_TABLE; format <= CDC_MAPPING_TRANSACTIONS; format++) {
                file = NULL;
                while ((file = cdc_catalog_next_file(
                                catalog, mapping, format, file ? file->ordinal : 0))) {
                        struct cdc_content *content = NULL;
                        char bytes[1000];
                        size_t got = 0;
                        cr_expect(file->is_mapping);
                        cr_expect_eq(cdc_catalog_find_ino(catalog, file->ino), file);
                        cr_assert_eq(cdc_content_open(view, file->ino, &content), 0);
                        cr_assert_eq(cdc_content_read(content, 0, bytes, sizeof bytes, &got), 0);
                        cr_expect_eq(got, file->size);
                        cdc_content_close(content);
                        count++;
                }
        }
        cr_expect_eq(count, 6);
        cdc_catalog_unref(catalog);
        cdc_view_close(view);
        files_fixture_close(&f);
}

/* What lies before the interval goes, rows and files; a file that holds its begin stays whole. */
Test(segments_mapping, files_go_with_the_interval_of_the_database)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t"); /* 1 */
        for (int i = 0; i < 3; i++) {
                files_fixture_commit(&f, id, 1, 1);
                files_fixture_commit(&f, id, 1, 1);
                files_fixture_rotate(&f); /* at 3, 5, 7 */
        }
        struct cleanup_now now = {.wall_ns = f.now_ns, .running_ns = 1000};
        struct cleanup_limits limits = {.threshold = 100, .linger_ns = 10};
        struct cleanup_purge purge = {0};
        struct problem problem = {0};
        store_fixture_begin(&f.base);
        cr_assert_geq(cleanup_raise(f.base.store, &now, id, lsn_make(1, 5, 1), &problem), 0, "%s",
                problem.message);
        store_fixture_commit(&f.base);
        struct files files = list(&f);
        cr_assert_eq(files.count, 2, "the one up to 3 is not listed any more");
        cr_expect_eq(lsn_compare(files.items[0].from_lsn, lsn_make(1, 3, 2)), 0);
        now.running_ns = 2000;
        while (cleanup_purge(f.base.store, &now, &limits, &purge, &problem) > 0)
                ;
        cr_expect_eq(store_fixture_integer(&f.base, "SELECT count(*) FROM lsn_time_mapping"), 4,
                "from 4 on, which stands in a listed file");
        cr_expect_eq(store_fixture_integer(
                             &f.base, "SELECT count(*) FROM cdcfs_files WHERE object_id = 0"),
                6, "two closed ones and an open one, each as CSV and as JSONL");
        for (size_t i = 0; i < files.count; i++) {
                struct files_measure measure;
                cr_assert_eq(
                        closer_measure(store_db(f.base.store), &files.items[i], NULL, &measure), 0);
                cr_expect_eq(memcmp(measure.sha256, files.items[i].sha256, HASH_SIZE), 0);
                checkpoints_release(&measure.checkpoints);
        }
        files_release(&files);
        files_fixture_close(&f);
}

/* ---- transactions/ ---- */

static void render(struct files_fixture *f, const struct file_row *file, struct buf *buf)
{
        struct filebytes_position position = filebytes_start(file);
        cr_assert_eq(
                filebytes_render(store_db(f->base.store), file, SIZE_MAX / 4, &position, buf, NULL),
                0);
        cr_expect_eq(file->bytes, (int64_t)buf->size);
}

Test(segments_mapping, transactions_have_a_line_each_and_dummies_none)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a");
        files_fixture_commit(&f, a, 3, 5);
        int64_t b = files_fixture_table(&f, "b");
        files_fixture_commit(&f, b, 1, 5);
        files_fixture_rotate(&f);
        struct files files = list_format(&f, "jsonl");
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_assert_eq(files.count, 1);
        cr_expect_eq(files.items[0].rows, 2);
        render(&f, &files.items[0], &buf);
        cr_expect_str_eq(buf_string(&buf),
                "{\"start_lsn\":\"00000001:00000002:0001\","
                "\"tran_begin_time\":\"2026-11-30T10:00:02.000000Z\","
                "\"tran_end_time\":\"2026-11-30T10:00:02.000000Z\","
                "\"tran_id\":\"\\\\x00000000000000000000\",\"rows\":{\"main_a\":3}}\n"
                "{\"start_lsn\":\"00000001:00000004:0001\","
                "\"tran_begin_time\":\"2026-11-30T10:00:04.000000Z\","
                "\"tran_end_time\":\"2026-11-30T10:00:04.000000Z\","
                "\"tran_id\":\"\\\\x00000000000000000000\",\"rows\":{\"main_b\":1}}\n");
        files_release(&files);
        files_fixture_close(&f);
}

/* Its pieces are the file, wherever a reader begins. */
Test(segments_mapping, transactions_come_out_the_same_in_pieces)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a");
        for (unsigned i = 0; i < 20; i++) {
                files_fixture_commit(&f, a, 1, 5);
                files_fixture_map(&f, files_fixture_tick(&f), 0);
        }
        files_fixture_rotate(&f);
        struct files files = list_format(&f, "jsonl");
        _cleanup_(buf_release) struct buf whole = BUF_INIT, pieces = BUF_INIT;
        render(&f, &files.items[0], &whole);
        struct filebytes_position position = filebytes_start(&files.items[0]);
        int r;
        do {
                r = filebytes_render(
                        store_db(f.base.store), &files.items[0], 1, &position, &pieces, NULL);
                cr_expect_eq(position.offset, pieces.size);
        } while (r > 0);
        cr_assert_eq(r, 0);
        cr_expect_eq(position.rows, 20);
        cr_assert_eq(pieces.size, whole.size);
        cr_expect_eq(memcmp(pieces.data, whole.data, whole.size), 0);
        files_release(&files);
        files_fixture_close(&f);
}

/* A border that old small files close, where nothing but dummies came since the last one. */
Test(segments_mapping, transactions_without_any_are_left_to_the_next_file)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a"), b = files_fixture_table(&f, "b");
        struct segments_limits limits = SEGMENTS_LIMITS_DEFAULT;
        unsigned closed = 0;
        limits.small = 1000;
        files_fixture_commit(&f, b, 1, 5);     /* 3 */
        files_fixture_commit(&f, a, 100, 500); /* 4 */
        store_fixture_begin(&f.base);
        cr_assert_eq(segments_close(f.segments, f.base.store, &limits, f.state.max_lsn,
                             SEGMENTS_SIZE, f.state.next_change, f.now_ns, &closed),
                0);
        store_fixture_commit(&f.base);
        cr_assert_eq(closed, render_count(), "b waits");
        files_fixture_map(&f, files_fixture_tick(&f), 0); /* 5 */
        files_fixture_rotate(&f);
        struct files table = list(&f), files = list_format(&f, "jsonl");
        cr_expect_eq(table.count, 2);
        cr_assert_eq(files.count, 1);
        cr_expect_eq(files.items[0].rows, 2);
        files_release(&files);
        files_fixture_commit(&f, a, 1, 5); /* 6 */
        files_fixture_rotate(&f);
        files = list_format(&f, "jsonl");
        cr_assert_eq(files.count, 2);
        cr_expect_eq(lsn_compare(files.items[1].from_lsn, lsn_make(1, 4, 2)), 0);
        cr_expect_eq(lsn_compare(files.items[1].to_lsn, lsn_make(1, 6, 1)), 0);
        files_release(&table);
        files_release(&files);
        files_fixture_close(&f);
}

/* What a file says holds when rows are purged and instances go: the text is the store's. */
Test(segments_mapping, transactions_keep_their_bytes_when_rows_and_instances_go)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a"), b = files_fixture_table(&f, "b");
        struct instances instances = {0};
        files_fixture_commit(&f, a, 3, 5);
        files_fixture_commit(&f, b, 4, 5);
        files_fixture_rotate(&f);
        struct files files = list_format(&f, "jsonl");
        _cleanup_(buf_release) struct buf before = BUF_INIT, after = BUF_INIT;
        cr_assert_eq(files.count, 1);
        render(&f, &files.items[0], &before);
        store_fixture_begin(&f.base);
        store_fixture_check(instances_load(f.base.store, &instances), "instances_load");
        store_fixture_check(
                instances_disable(f.base.store, instances_find_object(&instances, a)), "disable");
        segments_forget(f.segments, a);
        store_fixture_commit(&f.base);
        instances_release(&instances);
        int64_t c = files_fixture_table(&f, "c");
        files_fixture_commit(&f, c, 1, 5);
        files_fixture_rotate(&f);
        render(&f, &files.items[0], &after);
        cr_assert_eq(before.size, after.size);
        cr_expect_eq(memcmp(before.data, after.data, before.size), 0);
        files_release(&files);
        files_fixture_close(&f);
}

Test(segments_mapping, transactions_of_an_older_store_begin_after_what_was_not_counted)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t a = files_fixture_table(&f, "a");
        files_fixture_commit(&f, a, 1, 5);
        files_fixture_commit(&f, a, 1, 5); /* 3 */
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "DELETE FROM cdcfs_files WHERE format = 'jsonl' AND object_id ="
                                    " 0; UPDATE lsn_time_mapping SET cdcfs_rows = NULL"),
                "an older store");
        segments_free(f.segments);
        state_release(&f.state);
        files_fixture_load(&f);
        files_fixture_commit(&f, a, 2, 5);
        files_fixture_rotate(&f);
        struct files files = list_format(&f, "jsonl");
        cr_assert_eq(files.count, 1);
        cr_expect_eq(files.items[0].rows, 1);
        cr_expect_eq(lsn_compare(files.items[0].from_lsn, lsn_make(1, 3, 2)), 0);
        files_release(&files);
        files_fixture_close(&f);
}
