/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_fixture.h"

static char *names_beside(struct store_fixture *f)
{
        struct run_result result = run("ls -A '%s'", f->tmp.directory);
        return result.text;
}

Test(store, a_missing_store_says_that_the_database_is_not_enabled)
{
        struct store_fixture f;
        struct store *store = NULL;
        store_fixture_create(&f, TEXT_UTF8);
        cr_assert_eq(unlink(f.path), 0);
        for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
                struct problem problem = {0};
                cr_expect_eq(store_open(f.path, mode, &problem, &store), -ENOENT);
                cr_expect_eq(problem.number, 22901);
                cr_expect(strstr(problem.message, f.path));
        }
        cr_expect_eq(access(f.path, F_OK), -1, "and none was made");
        store_fixture_close(&f);
}

Test(store, other_files_and_newer_stores_are_refused)
{
        static const struct {
                const char *command;
                int error;
                const char *words;
        } cases[] = {
                {"rm -f '%1$s'; sqlite3 '%1$s' 'CREATE TABLE t(a)'", -EMEDIUMTYPE, "not a cdcfs"},
                {"sqlite3 '%1$s' 'PRAGMA user_version = 0' >&2", -EMEDIUMTYPE, "not a cdcfs"},
                {"sqlite3 '%1$s' 'PRAGMA user_version = 1000'", -ENOTSUP, "newer"},
                {": >'%1$s'", -EMEDIUMTYPE, "not a cdcfs"},
                {"yes | head -c 8192 >'%1$s'", -EBADMSG, "not a database"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                store_fixture_create(&f, TEXT_UTF8);
                char *command = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                cr_assert(asprintf(&command, cases[i].command, f.path) > 0);
#pragma GCC diagnostic pop
                struct run_result result = run("%s", command);
                cr_assert_eq(result.code, 0, "%s", result.text);
                for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
                        struct store *store = NULL;
                        struct problem problem = {0};
                        int r = store_open(f.path, mode, &problem, &store);
                        cr_expect_eq(r, cases[i].error, "%s: %d", command, r);
                        cr_expect(strstr(problem.message, cases[i].words), "%s: %s", command,
                                problem.message);
                        cr_expect_null(store);
                }
                run_release(&result);
                free(command);
                store_fixture_close(&f);
        }
}

Test(store, reading_what_nobody_has_open_makes_no_file)
{
        struct store_fixture f;
        struct store *reader = NULL;
        struct state state;
        store_fixture_create(&f, TEXT_UTF8);
        cr_assert_eq(store_open(f.path, STORE_READ, NULL, &reader), 0);
        cr_assert_eq(state_load(reader, &state), 0);
        cr_expect_eq(state.next_change, 1);
        _cleanup_free_ char *names = names_beside(&f);
        cr_expect_str_eq(names, "app.db\napp.db-cdc\n");
        cr_expect_eq(store_begin(reader), -EROFS);
        state_release(&state);
        store_close(reader);
        store_fixture_close(&f);
}

Test(store, the_last_writer_leaves_nothing_beside_the_store)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        store_close(f.store);
        f.store = NULL;
        _cleanup_free_ char *names = names_beside(&f);
        cr_expect_str_eq(names, "app.db\napp.db-cdc\n");
        store_fixture_close(&f);
}

Test(store, a_reader_of_a_store_at_rest_notices_the_writer_who_comes)
{
        struct store_fixture f;
        struct store *reader = NULL;
        uint64_t version = 7;
        store_fixture_create(&f, TEXT_UTF8);
        cr_assert_eq(store_open(f.path, STORE_READ, NULL, &reader), 0);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(version, 0);
        cr_expect_eq(store_changed(reader), 0);

        cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), 0);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_expect_eq(store_changed(reader), 1);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(version, 1);
        cr_expect_eq(store_changed(reader), 0);
        store_close(reader);
        store_fixture_close(&f);
}

Test(store, it_tells_what_others_committed_and_not_what_it_did_itself)
{
        struct store_fixture f;
        struct store *other = NULL;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &other), 0);
        cr_expect_eq(store_changed(f.store), 0);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_expect_eq(store_changed(f.store), 0);
        cr_expect_eq(store_changed(other), 1);
        cr_expect_eq(store_changed(other), 0);
        store_close(other);
        store_fixture_close(&f);
}

Test(store, a_store_that_was_removed_or_replaced_is_stale)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        struct store *reader = NULL;
        cr_assert_eq(store_open(f.path, STORE_READ, NULL, &reader), 0);
        cr_expect_eq(rename(f.path, store_fixture_path(&f, "moved")), 0);
        cr_expect_eq(store_changed(reader), -ESTALE);
        tmp_write(f.path, "x", 1);
        cr_expect_eq(store_changed(reader), -ESTALE);
        store_close(reader);
        store_fixture_close(&f);
}

Test(store, deleting_waits_for_nobody_and_takes_all_files)
{
        struct store_fixture f;
        struct store *reader = NULL;
        struct problem problem = {0};
        uint64_t version = 0;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(store_open(f.path, STORE_READ, NULL, &reader), 0);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(store_delete(&f.store, &problem), -EBUSY);
        cr_assert_not_null(f.store);
        store_fixture_begin(&f);
        cr_expect_eq(state_bump_catalog(f.store), 0, "it is still usable");
        store_fixture_commit(&f);
        _cleanup_free_ char *mode = store_fixture_text(&f, "PRAGMA journal_mode");
        cr_expect_str_eq(mode, "wal");
        store_close(reader);
        cr_expect_eq(store_delete(&f.store, &problem), 0, "%s", problem.message);
        cr_expect_null(f.store);
        _cleanup_free_ char *names = names_beside(&f);
        cr_expect_str_eq(names, "app.db\n");
        store_fixture_close(&f);
}

Test(store, paths_with_signs_of_uris_are_paths)
{
        static const char *const names[] = {"a?b", "a#b", "a%41", "a b", "file:x", "q?mode=memory"};
        struct store_fixture f;
        store_fixture_create(&f, TEXT_UTF8);
        for (size_t i = 0; i < COUNT(names); i++) {
                struct store_source source = {.path = f.source, .encoding = TEXT_UTF8};
                const char *path = store_fixture_path(&f, names[i]);
                struct stat before, after;
                cr_assert_eq(store_create(path, &source, NULL), 0, "%s", names[i]);
                cr_assert_eq(stat(path, &before), 0);
                for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
                        struct store *store = NULL;
                        cr_expect_eq(store_open(path, mode, NULL, &store), 0, "%s", names[i]);
                        store_close(store);
                }
                cr_assert_eq(stat(path, &after), 0);
                cr_expect_eq(before.st_ino, after.st_ino, "%s", names[i]);
        }
        store_fixture_close(&f);
}

Test(store, a_log_that_a_dead_writer_left_is_read)
{
        struct store_fixture f;
        uint64_t version = 0;
        store_fixture_create(&f, TEXT_UTF8);
        pid_t child = fork();
        if (child == 0) {
                if (store_open(f.path, STORE_WRITE, NULL, &f.store) < 0 ||
                        store_begin(f.store) < 0 || state_bump_catalog(f.store) < 0 ||
                        store_commit(f.store) < 0)
                        _exit(1);
                raise(SIGKILL);
        }
        int status = 0;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFSIGNALED(status));
        struct store *reader = NULL;
        struct problem problem = {0};
        cr_assert_eq(store_open(f.path, STORE_READ, &problem, &reader), 0, "%s", problem.message);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(version, 1);
        store_close(reader);
        store_fixture_close(&f);
}

Test(store, a_log_that_cannot_be_opened_is_a_clear_problem)
{
        if (geteuid() != 0)
                cr_skip("needs root");
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_assert_eq(chmod(f.path, 0644), 0);
        cr_assert_eq(chmod(f.tmp.directory, 0755), 0);
        cr_assert_eq(chmod(store_fixture_path(&f, "app.db-cdc-wal"), 0600), 0);
        cr_assert_eq(chmod(store_fixture_path(&f, "app.db-cdc-shm"), 0600), 0);
        pid_t child = fork();
        if (child == 0) {
                struct store *reader = NULL;
                struct problem problem = {0};
                if (setgid(4242) < 0 || setuid(4242) < 0)
                        _exit(1);
                int r = store_open(f.path, STORE_READ, &problem, &reader);
                _exit(r == -EACCES && strstr(problem.message, "write-ahead log") ? 0 : 2);
        }
        int status = 0;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect_eq(status, 0, "%x", status);
        store_fixture_close(&f);
}
