/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store_fixture.h"

static struct state load(struct store_fixture *f)
{
        struct state state;
        cr_assert_eq(state_load(f->store, &state), 0);
        return state;
}

Test(state, a_new_store_has_captured_nothing)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF16LE);
        struct state state = load(&f);
        cr_expect_eq(state.encoding, TEXT_UTF16LE);
        cr_expect_str_eq(state.source_path, f.source);
        cr_expect_eq(state.source_device, 1);
        cr_expect_eq(state.source_inode, 2);
        cr_expect_eq(state.page_size, 4096);
        cr_expect_eq(state.generation, 0);
        cr_expect(lsn_is_zero(state.max_lsn));
        cr_expect_not(state.has_min_lsn);
        cr_expect_eq(state.next_change, 1);
        cr_expect_not(state.capture_stopped);
        state_release(&state);
        store_fixture_close(&f);
}

Test(state, the_position_comes_back_as_it_was_saved)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        struct state state = load(&f);
        free(state.source_path);
        state.source_path = strdup("/somewhere/else");
        state.source_device = UINT64_MAX;
        state.source_inode = UINT64_MAX - 1;
        state.page_size = 65536;
        state.generation = UINT32_MAX;
        memcpy(state.wal_salt, "salt\0tlas", sizeof state.wal_salt);
        state.wal_frame = UINT32_MAX - 2;
        memset(state.wal_frame_header, 0xa5, sizeof state.wal_frame_header);
        state.wal_frame_hash = UINT64_C(0xfedcba9876543210);
        state.database_pages = UINT32_MAX - 3;
        state.schema_cookie = UINT32_MAX - 4;
        state.is_backfilled = true;
        state.source_size = INT64_C(1) << 40;
        state.source_mtime_ns = STORE_FIXTURE_NOW;
        state.source_change_counter = UINT32_MAX - 5;
        state.max_lsn = lsn_make(7, 8, 1);
        state.last_commit_time_ns = STORE_FIXTURE_NOW + 1;
        state.next_change = UINT64_C(1) << 60;

        store_fixture_begin(&f);
        cr_assert_eq(state_save(f.store, &state), 0);
        store_fixture_commit(&f);
        store_fixture_reopen(&f);
        struct state again = load(&f);
        cr_expect_str_eq(again.source_path, state.source_path);
        cr_expect_eq(again.source_device, state.source_device);
        cr_expect_eq(again.source_inode, state.source_inode);
        cr_expect_eq(again.page_size, state.page_size);
        cr_expect_eq(again.generation, state.generation);
        cr_expect_eq(memcmp(again.wal_salt, state.wal_salt, sizeof state.wal_salt), 0);
        cr_expect_eq(again.wal_frame, state.wal_frame);
        cr_expect_eq(memcmp(again.wal_frame_header, state.wal_frame_header,
                             sizeof state.wal_frame_header),
                0);
        cr_expect_eq(again.wal_frame_hash, state.wal_frame_hash);
        cr_expect_eq(again.database_pages, state.database_pages);
        cr_expect_eq(again.schema_cookie, state.schema_cookie);
        cr_expect(again.is_backfilled);
        cr_expect_eq(again.source_size, state.source_size);
        cr_expect_eq(again.source_mtime_ns, state.source_mtime_ns);
        cr_expect_eq(again.source_change_counter, state.source_change_counter);
        cr_expect_eq(lsn_compare(again.max_lsn, state.max_lsn), 0);
        cr_expect_eq(again.last_commit_time_ns, state.last_commit_time_ns);
        cr_expect_eq(again.next_change, state.next_change);
        state_release(&again);
        state_release(&state);
        store_fixture_close(&f);
}

Test(state, saving_the_position_leaves_the_counters_of_others_alone)
{
        struct store_fixture f;
        uint64_t first = 0;
        int64_t mtime = 0;
        store_fixture_open(&f, TEXT_UTF8);
        struct state state = load(&f);
        store_fixture_begin(&f);
        cr_assert_eq(state_take_inos(f.store, 5, &first), 0);
        cr_assert_eq(state_take_mtime(f.store, 100, &mtime), 0);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        cr_assert_eq(state_set_capture_stopped(f.store, true), 0);
        cr_assert_eq(state_set_min_lsn(f.store, lsn_make(1, 2, 1)), 0);
        cr_assert_eq(state_save(f.store, &state), 0);
        store_fixture_commit(&f);

        struct state again = load(&f);
        cr_expect_eq(first, state.next_ino);
        cr_expect_eq(again.next_ino, state.next_ino + 5);
        cr_expect_eq(again.last_mtime_ns, 100);
        cr_expect_eq(again.catalog_version, 1);
        cr_expect(again.capture_stopped);
        cr_expect(again.has_min_lsn);
        state_release(&again);
        state_release(&state);
        store_fixture_close(&f);
}

Test(state, the_low_mark_only_rises)
{
        struct store_fixture f;
        static const uint32_t frames[] = {5, 3, 9, 9, 1};
        static const uint32_t marks[] = {5, 5, 9, 9, 9};
        store_fixture_open(&f, TEXT_UTF8);
        for (size_t i = 0; i < COUNT(frames); i++) {
                cr_assert_eq(state_set_min_lsn(f.store, lsn_make(1, frames[i], 1)), 0);
                struct state state = load(&f);
                cr_expect_eq(lsn_frame(state.min_lsn), marks[i], "%zu", i);
                state_release(&state);
        }
        store_fixture_close(&f);
}

Test(state, stamps_rise_strictly_whatever_the_clock_says)
{
        struct store_fixture f;
        static const int64_t at[] = {1000, 1000, 5, 2000, -7, 2001, 1};
        static const int64_t stamps[] = {1000, 1001, 1002, 2000, 2001, 2002, 2003};
        store_fixture_open(&f, TEXT_UTF8);
        for (size_t i = 0; i < COUNT(at); i++) {
                int64_t stamp = 0;
                cr_assert_eq(state_take_mtime(f.store, at[i], &stamp), 0);
                cr_expect_eq(stamp, stamps[i], "%zu", i);
        }
        store_fixture_close(&f);
}

Test(state, inode_numbers_end_before_2_to_the_52)
{
        struct store_fixture f;
        uint64_t first = 0;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(
                sql_execute(store_db(f.store), "UPDATE cdcfs_state SET next_ino = (1 << 52) - 3"),
                0);
        cr_expect_eq(state_take_inos(f.store, 3, &first), 0);
        cr_expect_eq(first, (UINT64_C(1) << 52) - 3);
        cr_expect_eq(state_take_inos(f.store, 1, &first), -EOVERFLOW);
        store_fixture_close(&f);
}

Test(state, a_store_without_its_row_is_damaged)
{
        struct store_fixture f;
        struct state state;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(sql_execute(store_db(f.store), "UPDATE cdcfs_state SET wal_salt = x'00'"), 0);
        cr_expect_eq(state_load(f.store, &state), -EBADMSG);
        cr_assert_eq(sql_execute(store_db(f.store), "DELETE FROM cdcfs_state"), 0);
        cr_expect_eq(state_load(f.store, &state), -EBADMSG);
        store_close(f.store);
        f.store = NULL;
        cr_expect_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), -EBADMSG);
        store_fixture_close(&f);
}
