/* SPDX-License-Identifier: MIT */
#include "content_fixture.h"

/* All of a file through small reads; is its hash right? */
static bool is_read_right(struct content_fixture *f, const struct file_row *file)
{
        struct content *content = NULL;
        struct hash hash;
        uint8_t digest[HASH_SIZE];
        char buffer[30000];
        size_t got = 1;
        hash_init(&hash);
        cr_assert_eq(content_open(f->pool, f->db, file->ino, &content), 0);
        for (uint64_t offset = 0; got > 0; offset += got) {
                cr_assert_eq(content_read(content, f->db, offset, buffer, sizeof buffer, &got), 0);
                hash_update(&hash, buffer, got);
        }
        content_close(content);
        hash_finish(&hash, digest);
        return memcmp(digest, file->sha256, HASH_SIZE) == 0;
}

Test(content_keep, holds_on_to_the_bytes_of_a_file_that_goes)
{
        struct content_fixture f;
        content_fixture_open(&f, 100000);
        content_fixture_add(&f, 30000, 100);
        content_fixture_add(&f, 30000, 100);
        struct file_row file = content_fixture_file(&f, 0, 1);
        struct content *content = NULL;
        cr_assert_eq(content_open(f.pool, f.db, file.ino, &content), 0);
        store_fixture_check(
                sql_execute(f.db, "UPDATE cdcfs_files SET is_withdrawn = 1 WHERE ordinal = 1"),
                "withdraw");
        cr_assert_eq(content_pool_keep(f.pool, f.db), 0);
        store_fixture_check(sql_execute(f.db, "DELETE FROM main_t_CT WHERE id <= 30000"), "purge");
        struct file_row other = content_fixture_file(&f, 0, 2);
        cr_expect(is_read_right(&f, &other));
        cr_expect(is_read_right(&f, &file));
        content_close(content);
        other = content_fixture_file(&f, 0, 2);
        cr_expect(is_read_right(&f, &other));
        cr_expect_leq(content_pool_bytes(f.pool), 1200000, "nothing is kept for nobody");
        content_fixture_close(&f);
}
