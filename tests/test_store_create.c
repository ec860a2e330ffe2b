/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_fixture.h"

static char *in_shell(struct store_fixture *f, const char *sql)
{
        struct run_result result = run("sqlite3 '%s' \"%s\"", f->path, sql);
        char *text = result.text;
        text[strcspn(text, "\n")] = '\0';
        return text;
}

Test(store_create, the_shell_opens_a_new_store_and_finds_it_whole)
{
        static const struct {
                enum text_encoding encoding;
                const char *name;
        } cases[] = {{TEXT_UTF8, "UTF-8"}, {TEXT_UTF16LE, "UTF-16le"}, {TEXT_UTF16BE, "UTF-16be"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                store_fixture_create(&f, cases[i].encoding);
                const struct {
                        const char *sql, *answer;
                } asked[] = {
                        {"PRAGMA integrity_check", "ok"},
                        {"PRAGMA journal_mode", "wal"},
                        {"PRAGMA page_size", "4096"},
                        {"PRAGMA application_id", "1667523430"},
                        {"PRAGMA user_version", "5"},
                        {"PRAGMA encoding", cases[i].name},
                        {"SELECT count(*) FROM cdcfs_state", "1"},
                        {"SELECT count(*) FROM change_tables", "0"},
                };
                for (size_t j = 0; j < COUNT(asked); j++) {
                        _cleanup_free_ char *answer = in_shell(&f, asked[j].sql);
                        cr_expect_str_eq(
                                answer, asked[j].answer, "%s, %s", cases[i].name, asked[j].sql);
                }
                store_fixture_close(&f);
        }
}

Test(store_create, nothing_else_lies_beside_a_new_store)
{
        struct store_fixture f;
        store_fixture_create(&f, TEXT_UTF8);
        struct run_result result = run("ls -A '%s'", f.tmp.directory);
        cr_expect_str_eq(result.text, "app.db\napp.db-cdc\n");
        run_release(&result);
        store_fixture_close(&f);
}

Test(store_create, owner_and_mode_are_those_of_the_source)
{
        static const mode_t modes[] = {0600, 0640, 0660, 0644, 0666};
        for (size_t i = 0; i < COUNT(modes); i++) {
                struct store_fixture f;
                struct stat made;
                store_fixture_create(&f, TEXT_UTF8);
                cr_assert_eq(unlink(f.path), 0);
                cr_assert_eq(chmod(f.source, modes[i]), 0);
                if (geteuid() == 0)
                        cr_assert_eq(chown(f.source, 12345, 54321), 0);
                struct store_source source = {.path = f.source, .encoding = TEXT_UTF8};
                cr_assert_eq(store_create(f.path, &source, NULL), 0);
                cr_assert_eq(stat(f.path, &made), 0);
                cr_expect_eq(made.st_mode & 07777, modes[i], "%o", modes[i]);
                cr_expect_eq(made.st_uid, geteuid() == 0 ? 12345 : geteuid());
                if (geteuid() == 0)
                        cr_expect_eq(made.st_gid, 54321);

                struct store *store = NULL;
                cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &store), 0);
                cr_assert_eq(store_begin(store), 0);
                cr_assert_eq(state_bump_catalog(store), 0);
                cr_assert_eq(store_commit(store), 0);
                cr_assert_eq(stat(store_fixture_path(&f, "app.db-cdc-wal"), &made), 0);
                cr_expect_eq(made.st_mode & 07777, modes[i], "%o of the WAL", modes[i]);
                store_close(store);
                store_fixture_close(&f);
        }
}

Test(store_create, a_user_who_does_not_own_the_source_gives_no_more_than_it_does)
{
        if (geteuid() != 0)
                cr_skip("needs root");
        static const struct {
                mode_t source, store;
        } cases[] = {{0666, 0606}, {0646, 0604}, {0606, 0600}, {0666, 0606}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                store_fixture_create(&f, TEXT_UTF8);
                cr_assert_eq(unlink(f.path), 0);
                cr_assert_eq(chmod(f.source, cases[i].source), 0);
                cr_assert_eq(chmod(f.tmp.directory, 0777), 0);
                pid_t child = fork();
                if (child == 0) {
                        struct store_source source = {.path = f.source, .encoding = TEXT_UTF8};
                        _exit(setgid(4242) == 0 && setuid(4242) == 0 &&
                                                store_create(f.path, &source, NULL) == 0
                                        ? 0
                                        : 1);
                }
                int status = 0;
                struct stat made;
                cr_assert_eq(waitpid(child, &status, 0), child);
                cr_assert_eq(status, 0);
                cr_assert_eq(stat(f.path, &made), 0);
                cr_expect_eq(made.st_mode & 07777, cases[i].store, "%o became %o", cases[i].source,
                        made.st_mode & 07777);
                store_fixture_close(&f);
        }
}

Test(store_create, of_many_creators_one_wins_and_the_others_say_that_it_exists)
{
        enum { CREATORS = 6 };
        struct store_fixture f;
        store_fixture_create(&f, TEXT_UTF8);
        cr_assert_eq(unlink(f.path), 0);
        pid_t children[CREATORS];
        for (int i = 0; i < CREATORS; i++) {
                children[i] = fork();
                if (children[i] == 0) {
                        struct store_source source = {.path = f.source, .encoding = TEXT_UTF8};
                        int r = store_create(f.path, &source, NULL);
                        _exit(r == 0 ? 0 : r == -EEXIST ? 1 : 2);
                }
        }
        int made = 0, existed = 0;
        for (int i = 0; i < CREATORS; i++) {
                int status = 0;
                cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
                made += WIFEXITED(status) && WEXITSTATUS(status) == 0;
                existed += WIFEXITED(status) && WEXITSTATUS(status) == 1;
        }
        cr_expect_eq(made, 1);
        cr_expect_eq(existed, CREATORS - 1);
        struct run_result result = run("ls -A '%s'", f.tmp.directory);
        cr_expect_str_eq(result.text, "app.db\napp.db-cdc\n");
        run_release(&result);
        store_fixture_close(&f);
}

Test(store_create, refusals_have_an_errno_a_number_and_words)
{
        struct store_fixture f;
        struct problem problem = {0};
        store_fixture_create(&f, TEXT_UTF8);
        struct store_source source = {.path = f.source, .encoding = TEXT_UTF8};
        cr_expect_eq(store_create(f.path, &source, &problem), -EEXIST);
        cr_expect_eq(problem.number, 22905);
        source.path = "/nowhere/at/all";
        cr_expect_eq(store_create(store_fixture_path(&f, "other"), &source, &problem), -ENOENT);
        cr_expect(strstr(problem.message, "/nowhere/at/all"));
        source.path = f.source;
        cr_expect_eq(store_create("/nowhere/at/all-cdc", &source, &problem), -ENOENT);
        cr_expect(strstr(problem.message, "/nowhere/at/all-cdc"));
        store_fixture_close(&f);
}

Test(store_create, two_stores_share_neither_their_number_nor_their_inodes)
{
        struct store_fixture f[2];
        struct state state[2];
        for (int i = 0; i < 2; i++) {
                store_fixture_open(&f[i], TEXT_UTF8);
                cr_assert_eq(state_load(f[i].store, &state[i]), 0);
                cr_expect_gt(state[i].base_ino, 1);
                cr_expect_eq(state[i].next_ino, state[i].base_ino + STATE_INO_COUNT);
                cr_expect_lt(state[i].next_ino, UINT64_C(1) << 52);
        }
        cr_expect_neq(memcmp(state[0].store_id, state[1].store_id, STATE_ID_SIZE), 0);
        cr_expect_neq(state[0].base_ino, state[1].base_ino);
        for (int i = 0; i < 2; i++) {
                state_release(&state[i]);
                store_fixture_close(&f[i]);
        }
}

Test(store_create, a_path_that_is_no_utf8_is_kept_byte_for_byte)
{
        static const enum text_encoding encodings[] = {TEXT_UTF8, TEXT_UTF16LE};
        for (size_t i = 0; i < COUNT(encodings); i++) {
                struct store_fixture f;
                struct state state;
                store_fixture_create(&f, TEXT_UTF8);
                const char *odd = store_fixture_path(&f, "odd \xff name");
                tmp_write(odd, "", 0);
                struct store_source source = {.path = odd, .encoding = encodings[i]};
                _cleanup_free_ char *path = store_default_path(odd);
                cr_assert_eq(store_create(path, &source, NULL), 0);
                cr_assert_eq(store_open(path, STORE_WRITE, NULL, &f.store), 0);
                cr_assert_eq(state_load(f.store, &state), 0);
                cr_expect_str_eq(state.source_path, odd);
                state_release(&state);
                store_fixture_close(&f);
        }
}

Test(store_create, the_default_store_is_beside_the_file_that_a_symlink_means)
{
        struct store_fixture f;
        store_fixture_create(&f, TEXT_UTF8);
        const char *link = store_fixture_path(&f, "link.db");
        cr_assert_eq(symlink("app.db", link), 0);
        _cleanup_free_ char *path = store_default_path(link);
        _cleanup_free_ char *wanted = store_default_path(f.source);
        cr_expect_str_eq(path, wanted);
        _cleanup_free_ char *absent = store_default_path("/nowhere/app.db");
        cr_expect_str_eq(absent, "/nowhere/app.db-cdc");
        store_fixture_close(&f);
}
