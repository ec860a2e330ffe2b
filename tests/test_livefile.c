/* SPDX-License-Identifier: MIT */
#include "faces/livefile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#include "faces/filebytes.h"
#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct livefile_pool *pool;
        sqlite3 *db;
};

static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        f->db = store_db(f->files.base.store);
        cr_assert_eq(livefile_pool_new(f->files.base.tmp.directory, 0, NULL, &f->pool), 0);
}

static void close_fixture(struct fixture *f)
{
        livefile_pool_free(f->pool);
        files_fixture_close(&f->files);
}

static uint64_t live_ino(struct fixture *f, unsigned format)
{
        struct file_row file;
        cr_assert_eq(files_find_live(f->db, f->object_id, render_at(format)->name, &file), 1);
        return file.ino;
}

static struct livefile_status status_of(struct fixture *f, uint64_t ino)
{
        struct livefile_status status;
        cr_assert_eq(livefile_stat(f->pool, f->db, ino, &status), 0);
        return status;
}

/* Everything of a file, read at once; the caller frees it. */
static char *read_all(struct fixture *f, uint64_t ino, size_t *ret_size)
{
        struct livefile *livefile = NULL;
        char *bytes = malloc(64 << 20);
        cr_assert_eq(livefile_open(f->pool, f->db, ino, &livefile), 0);
        cr_assert_eq(livefile_read(livefile, f->db, 0, bytes, 64 << 20, ret_size), 0);
        livefile_close(livefile);
        return bytes;
}

Test(livefile, is_a_header_before_the_first_row)
{
        struct fixture f;
        size_t size = 0;
        open_fixture(&f);
        char *bytes = read_all(&f, live_ino(&f, 0), &size);
        cr_expect_eq(size, strlen("__$start_lsn,__$seqval,__$operation,__$update_mask,id,v,w\n"));
        cr_expect_eq(bytes[size - 1], '\n');
        cr_expect_eq(status_of(&f, live_ino(&f, 0)).size, size);
        cr_expect_eq(status_of(&f, live_ino(&f, 1)).size, 0);
        free(bytes);
        close_fixture(&f);
}

Test(livefile, grows_by_whole_transactions_and_ends_as_the_closed_file)
{
        struct fixture f;
        open_fixture(&f);
        for (unsigned format = 0; format < render_count(); format++) {
                uint64_t ino = live_ino(&f, format);
                char *before = NULL;
                size_t before_size = 0;
                struct livefile_status status = status_of(&f, ino);
                for (unsigned i = 0; i < 20; i++) {
                        files_fixture_commit(&f.files, f.object_id, 1 + 100 * i, 50);
                        struct livefile_status grown = status_of(&f, ino);
                        size_t size = 0;
                        char *bytes = read_all(&f, ino, &size);
                        cr_expect_eq(grown.size, size);
                        cr_expect_gt(grown.size, status.size);
                        cr_expect_gt(grown.mtime_ns, status.mtime_ns);
                        cr_expect(!grown.is_listed);
                        cr_expect_eq(bytes[size - 1], '\n');
                        cr_expect_null(memchr(bytes, 0, size));
                        cr_expect_eq(memcmp(bytes, before ? before : "", before_size), 0);
                        free(before);
                        before = bytes;
                        before_size = size;
                        status = grown;
                }
                files_fixture_border(&f.files);
                files_fixture_commit(&f.files, f.object_id, 5, 5); /* of the next file */
                cr_expect_eq(live_ino(&f, format), ino, "until it is listed");
                cr_expect_eq(status_of(&f, ino).size, before_size);
                files_fixture_publish(&f.files);
                cr_expect_neq(live_ino(&f, format), ino);
                struct file_row file;
                cr_assert_eq(files_find_ino(f.db, ino, &file), 1);
                cr_expect_eq((size_t)file.bytes, before_size);
                uint8_t hash[HASH_SIZE];
                struct hash state;
                hash_init(&state);
                hash_update(&state, before, before_size);
                hash_finish(&state, hash);
                cr_expect_eq(memcmp(hash, file.sha256, sizeof hash), 0);
                status = status_of(&f, ino);
                cr_expect(status.is_listed);
                cr_expect_eq(status.mtime_ns, file.mtime_ns);
                cr_expect_eq(status.size, before_size);
                free(before);
                files_fixture_rotate(&f.files);
        }
        close_fixture(&f);
}

Test(livefile, that_is_open_is_read_to_its_end_after_it_was_listed)
{
        struct fixture f;
        char bytes[4096];
        size_t size = 0, got = 0;
        struct livefile *livefile = NULL;
        open_fixture(&f);
        files_fixture_commit(&f.files, f.object_id, 3, 5);
        uint64_t ino = live_ino(&f, 0);
        cr_assert_eq(livefile_open(f.pool, f.db, ino, &livefile), 0);
        cr_assert_eq(livefile_read(livefile, f.db, 0, bytes, sizeof bytes, &size), 0);
        files_fixture_commit(&f.files, f.object_id, 3, 5);
        files_fixture_rotate(&f.files);
        files_fixture_commit(&f.files, f.object_id, 3, 5);
        struct livefile_status status = status_of(&f, ino); /* which nobody has rendered */
        cr_expect_eq(livefile_try_read(livefile, 0, bytes, sizeof bytes, &got), -EAGAIN);
        cr_assert_eq(livefile_read(livefile, f.db, 0, bytes, sizeof bytes, &got), 0);
        cr_expect_gt(got, size);
        cr_expect_eq(got, status.size);
        cr_expect_eq(livefile_try_read(livefile, 0, bytes, sizeof bytes, &got), 0);
        livefile_close(livefile);
        close_fixture(&f);
}

Test(livefile, keeps_growing_in_a_spool_that_moves_to_the_disk)
{
        struct fixture f;
        struct livefile *livefile = NULL;
        open_fixture(&f);
        uint64_t ino = live_ino(&f, 0);
        cr_assert_eq(livefile_open(f.pool, f.db, ino, &livefile), 0);
        char *bytes = malloc(16 << 20);
        size_t size = 0, whole_size = 0;
        while (size < 2 * LIVEFILE_MEMORY_SIZE) {
                files_fixture_commit(&f.files, f.object_id, 2000, 200);
                struct livefile_status status = status_of(&f, ino);
                cr_assert_eq(livefile_try_read(livefile, status.size - 1, bytes, 1, &size),
                        size == 0 ? -EAGAIN : 0);
                cr_assert_eq(livefile_read(livefile, f.db, 0, bytes, 16 << 20, &size), 0);
                cr_expect_eq(size, status.size);
                cr_expect_eq(livefile_pool_bytes(f.pool), status.size);
        }
        struct livefile_pool *other = NULL;
        cr_assert_eq(livefile_pool_new(f.files.base.tmp.directory, 0, NULL, &other), 0);
        struct livefile *again = NULL;
        char *whole = malloc(16 << 20);
        cr_assert_eq(livefile_open(other, f.db, ino, &again), 0);
        cr_assert_eq(livefile_read(again, f.db, 0, whole, 16 << 20, &whole_size), 0);
        cr_expect_eq(size, whole_size);
        cr_expect_eq(memcmp(bytes, whole, size), 0);
        livefile_close(again);
        livefile_pool_free(other);
        livefile_close(livefile);
        free(bytes);
        free(whole);
        close_fixture(&f);
}

Test(livefile, says_when_a_size_takes_long_to_find)
{
        struct fixture f;
        struct livefile_status status;
        open_fixture(&f);
        uint64_t ino = live_ino(&f, 1);
        cr_expect_eq(livefile_try_stat(f.pool, f.db, ino, &status), 0);
        files_fixture_commit(&f.files, f.object_id, LIVEFILE_AT_ONCE + 1, 5);
        cr_expect_eq(livefile_try_stat(f.pool, f.db, ino, &status), -EAGAIN);
        cr_expect_eq(livefile_stat(f.pool, f.db, ino, &status), 0);
        cr_expect_eq(livefile_try_stat(f.pool, f.db, ino, &status), 0);
        cr_expect_eq(livefile_stat(f.pool, f.db, 12345, &status), -ENOENT);
        close_fixture(&f);
}

/* ---- many at once ---- */

enum { THREADS = 4, COMMITS = 60 };

struct follower {
        pthread_t thread;
        struct livefile_pool *pool;
        const char *store;
        uint64_t ino;
        const atomic_bool *is_ended;
        bool is_torn;
        size_t size;
};

/* What stat tells can be read, and ends with a line. */
static void *follow(void *context)
{
        struct follower *follower = context;
        struct store *store = NULL;
        struct livefile *livefile = NULL;
        char *bytes = malloc(8 << 20);
        bool was_ended;
        cr_assert_eq(store_open(follower->store, STORE_READ, NULL, &store), 0);
        sqlite3 *db = store_db(store);
        cr_assert_eq(livefile_open(follower->pool, db, follower->ino, &livefile), 0);
        do {
                struct livefile_status status;
                size_t got = 0;
                was_ended = atomic_load(follower->is_ended);
                if (livefile_stat(follower->pool, db, follower->ino, &status) < 0 ||
                        livefile_read(livefile, db, 0, bytes, 8 << 20, &got) < 0)
                        break;
                follower->is_torn |=
                        got < status.size || bytes[got - 1] != '\n' || memchr(bytes, 0, got);
                follower->size = got;
        } while (!was_ended);
        livefile_close(livefile);
        store_close(store);
        free(bytes);
        return NULL;
}

Test(livefile, is_never_torn_though_many_read_while_it_grows)
{
        struct fixture f;
        atomic_bool is_ended = false;
        struct follower followers[THREADS];
        open_fixture(&f);
        for (unsigned i = 0; i < THREADS; i++) {
                followers[i] = (struct follower){.pool = f.pool,
                        .store = store_path(f.files.base.store),
                        .ino = live_ino(&f, 0),
                        .is_ended = &is_ended};
                pthread_create(&followers[i].thread, NULL, follow, &followers[i]);
        }
        for (unsigned i = 0; i < COMMITS; i++)
                files_fixture_commit(&f.files, f.object_id, 1 + i % 7 * 100, 30);
        atomic_store(&is_ended, true);
        size_t size = status_of(&f, live_ino(&f, 0)).size;
        for (unsigned i = 0; i < THREADS; i++) {
                pthread_join(followers[i].thread, NULL);
                cr_expect(!followers[i].is_torn);
                cr_expect_eq(followers[i].size, size);
        }
        close_fixture(&f);
}
