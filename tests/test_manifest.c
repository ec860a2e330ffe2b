/* SPDX-License-Identifier: MIT */
#include "faces/manifest.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

static const char header[] = "name,format,from_lsn,to_lsn,rows,bytes,sha256,first_time,last_time,"
                             "closed_at,odd_text,resync,renderer\n";

static unsigned count_lines(const struct buf *buf)
{
        unsigned count = 0;
        for (size_t i = 0; i < buf->size; i++)
                count += buf->data[i] == '\n';
        return count;
}

static void add_files(struct files_fixture *f, int64_t object_id, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                files_fixture_commit(f, object_id, 1 + i, 5);
                files_fixture_rotate(f);
        }
}

Test(manifest, has_a_line_for_each_listed_file)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t t = files_fixture_table(&f, "t");
        struct manifest manifest = MANIFEST_INIT(t);
        cr_assert_eq(manifest_update(&manifest, store_db(f.base.store)), 0);
        cr_expect_str_eq(buf_string(&manifest.text), header);
        files_fixture_commit(&f, t, 2, 5);
        files_fixture_border(&f);
        cr_assert_eq(manifest_update(&manifest, store_db(f.base.store)), 0);
        cr_expect_str_eq(buf_string(&manifest.text), header, "closed is not listed");
        files_fixture_publish(&f);
        cr_assert_eq(manifest_update(&manifest, store_db(f.base.store)), 0);
        const char *text = buf_string(&manifest.text);
        cr_expect_not_null(strstr(text,
                "\n00000001000000010001-00000001000000020001.csv,csv,00000001:00000001:0001,"
                "00000001:00000002:0001,2,"));
        cr_expect_not_null(strstr(text, "0001.jsonl,jsonl,"));
        cr_expect_not_null(strstr(text, "Z,0,0,1\n"));
        manifest_release(&manifest);
        files_fixture_close(&f);
}

Test(manifest, that_goes_on_is_the_one_that_begins_anew)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t t = files_fixture_table(&f, "t"), u = files_fixture_table(&f, "u");
        struct manifest kept = MANIFEST_INIT(t);
        for (unsigned round = 0; round < 10; round++) {
                add_files(&f, t, round * 70);
                add_files(&f, u, 1);
                struct manifest fresh = MANIFEST_INIT(t);
                cr_assert_eq(manifest_update(&kept, store_db(f.base.store)), 0);
                cr_assert_eq(manifest_update(&fresh, store_db(f.base.store)), 0);
                cr_expect_str_eq(buf_string(&kept.text), buf_string(&fresh.text));
                manifest_release(&fresh);
        }
        manifest_release(&kept);
        files_fixture_close(&f);
}

Test(manifest, begins_anew_when_the_oldest_went)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t t = files_fixture_table(&f, "t");
        struct manifest manifest = MANIFEST_INIT(t);
        add_files(&f, t, 3);
        cr_assert_eq(manifest_update(&manifest, store_db(f.base.store)), 0);
        unsigned before = count_lines(&manifest.text);
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "UPDATE cdcfs_files SET is_withdrawn = 1 WHERE ordinal = 1;"
                                    "UPDATE cdcfs_instances SET changed_ns = changed_ns + 1"),
                "withdraw");
        add_files(&f, t, 1);
        cr_assert_eq(manifest_update(&manifest, store_db(f.base.store)), 0);
        cr_expect_eq(count_lines(&manifest.text), before);
        manifest_release(&manifest);
        files_fixture_close(&f);
}

Test(manifest, of_no_instance_is_not_there)
{
        struct files_fixture f;
        files_fixture_open(&f);
        struct manifest manifest = MANIFEST_INIT(77);
        cr_expect_eq(manifest_update(&manifest, store_db(f.base.store)), -ENOENT);
        manifest_release(&manifest);
        files_fixture_close(&f);
}
