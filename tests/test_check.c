/* SPDX-License-Identifier: MIT
 *
 * check: each kind of file that cannot be captured is refused in words, and left as it was.
 */
#include "source/check.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ground/cleanup.h"
#include "tmp.h"

static void make_database(const char *path, const char *sql)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
}

/* Everything about the files of a directory that a user could see. */
static struct run_result list(struct tmp *tmp)
{
        return run("cd '%s' && ls -ld --time-style=full-iso . * && sha256sum *", tmp->directory);
}

static void make_wal(struct tmp *tmp)
{
        make_database(tmp_path(tmp, "app.db"), "PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
}

static void make_nothing(struct tmp *tmp)
{
        (void)tmp;
}

static void make_empty(struct tmp *tmp)
{
        tmp_write(tmp_path(tmp, "app.db"), "", 0);
}

static void make_text(struct tmp *tmp)
{
        char text[200];
        memset(text, 'x', sizeof text);
        tmp_write(tmp_path(tmp, "app.db"), text, sizeof text);
}

static void make_short(struct tmp *tmp)
{
        tmp_write(tmp_path(tmp, "app.db"), "SQLite format 3", 16);
}

static void make_encrypted(struct tmp *tmp)
{
        uint8_t bytes[4096];
        for (unsigned i = 0; i < sizeof bytes; i++)
                bytes[i] = (uint8_t)(i * 37 + i / 7);
        tmp_write(tmp_path(tmp, "app.db"), bytes, sizeof bytes);
}

static void make_directory(struct tmp *tmp)
{
        cr_assert_eq(mkdir(tmp_path(tmp, "app.db"), 0777), 0);
        tmp_write(tmp_path(tmp, "app.db/x"), "x", 1);
}

static void make_fifo(struct tmp *tmp)
{
        cr_assert_eq(mkfifo(tmp_path(tmp, "app.db"), 0666), 0);
}

static void make_links(struct tmp *tmp)
{
        make_wal(tmp);
        cr_assert_eq(link(tmp_path(tmp, "app.db"), tmp_path(tmp, "other.db")), 0);
}

static const struct {
        const char *name;
        void (*make)(struct tmp *tmp);
        int result;
        const char *word;
} cases[] = {
        {"in WAL mode", make_wal, 0, NULL},
        {"not there", make_nothing, -ENOENT, "there is no database"},
        {"0 bytes", make_empty, -ENOTSUP, "empty (0 bytes)"},
        {"text", make_text, -EBADMSG, "not a SQLite database"},
        {"shorter than a header", make_short, -EBADMSG, "not a SQLite database"},
        {"encrypted", make_encrypted, -EBADMSG, "encrypted"},
        {"directory", make_directory, -EISDIR, "is a directory"},
        {"fifo", make_fifo, -ENOTSUP, "no regular file"},
        {"hard links", make_links, -ENOTSUP, "2 hard links"},
};

Test(check, refuses_in_words_and_changes_nothing)
{
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct tmp tmp;
                struct problem problem = {0};
                _cleanup_(check_release) struct check check = {0};
                tmp_open(&tmp);
                cases[i].make(&tmp);
                bool has_content = cases[i].make != make_fifo;
                struct run_result before = has_content ? list(&tmp) : (struct run_result){0};
                int r = check_source(tmp_path(&tmp, "app.db"), &check, &problem);
                struct run_result after = has_content ? list(&tmp) : (struct run_result){0};
                cr_expect_eq(r, cases[i].result, "%s: %d %s", cases[i].name, r, problem.message);
                if (cases[i].word) {
                        cr_expect_not_null(strstr(problem.message, cases[i].word), "%s: %s",
                                cases[i].name, problem.message);
                        cr_expect_not_null(strstr(problem.message, "app.db"), "%s: %s",
                                cases[i].name, problem.message);
                }
                if (has_content)
                        cr_expect_str_eq(after.text, before.text, "%s", cases[i].name);
                run_release(&before);
                run_release(&after);
                tmp_close(&tmp);
        }
}

Test(check, reads_the_header)
{
        static const struct {
                const char *sql;
                uint32_t page_size;
                bool is_wal;
        } headers[] = {
                {"PRAGMA journal_mode=WAL; CREATE TABLE t(x)", 4096, true},
                {"PRAGMA page_size=65536; PRAGMA journal_mode=WAL; CREATE TABLE t(x)", 65536, true},
                {"PRAGMA page_size=512; PRAGMA encoding='UTF-16le'; CREATE TABLE t(x)", 512, false},
                {"PRAGMA encoding='UTF-16be'; CREATE TABLE t(x); PRAGMA journal_mode=WAL", 4096,
                        true},
        };
        for (unsigned i = 0; i < COUNT(headers); i++) {
                struct tmp tmp;
                _cleanup_(check_release) struct check check = {0};
                tmp_open(&tmp);
                make_database(tmp_path(&tmp, "app.db"), headers[i].sql);
                cr_assert_eq(check_source(tmp_path(&tmp, "app.db"), &check, NULL), 0);
                cr_expect_eq(check.page_size, headers[i].page_size, "%s", headers[i].sql);
                cr_expect_eq(check.is_wal, headers[i].is_wal, "%s", headers[i].sql);
                tmp_close(&tmp);
        }
}

Test(check, finds_the_file_behind_a_symlink)
{
        struct tmp tmp;
        _cleanup_(check_release) struct check check = {0};
        tmp_open(&tmp);
        make_wal(&tmp);
        cr_assert_eq(symlink("app.db", tmp_path(&tmp, "link.db")), 0);
        cr_assert_eq(check_source(tmp_path(&tmp, "link.db"), &check, NULL), 0);
        cr_expect_not_null(strstr(check.path, "/app.db"), "%s", check.path);
        tmp_close(&tmp);
}

Test(check, sets_wal_mode_only_when_asked_to)
{
        struct tmp tmp;
        struct problem problem = {0};
        _cleanup_(check_release) struct check check = {0};
        tmp_open(&tmp);
        const char *path = tmp_path(&tmp, "app.db");
        make_database(path, "CREATE TABLE t(x)");
        cr_assert_eq(check_source(path, &check, NULL), 0);
        cr_expect_eq(check_is_wal(&check, &problem), -ENOTSUP);
        cr_expect_not_null(strstr(problem.message, "--set-wal"), "%s", problem.message);
        cr_expect_eq(check_set_wal(&check, &problem), 0, "%s", problem.message);
        cr_expect_eq(check_is_wal(&check, &problem), 0);
        check_release(&check);
        cr_assert_eq(check_source(path, &check, NULL), 0);
        cr_expect(check.is_wal);
        cr_expect_neq(access(tmp_path(&tmp, "app.db-wal"), F_OK), 0);
        tmp_close(&tmp);
}

/* A process that runs the statements on the database and then keeps its connection. */
static pid_t hold(struct tmp *tmp, const char *statements)
{
        int ready[2];
        char byte;
        cr_assert_eq(pipe(ready), 0);
        pid_t pid = fork();
        cr_assert_geq(pid, 0);
        if (pid == 0) {
                sqlite3 *db = NULL;
                if (sqlite3_open(tmp_path(tmp, "app.db"), &db) == SQLITE_OK &&
                        sqlite3_exec(db, statements, NULL, NULL, NULL) == SQLITE_OK &&
                        write(ready[1], "x", 1) == 1)
                        pause();
                _exit(1);
        }
        close(ready[1]);
        cr_assert_eq(read(ready[0], &byte, 1), 1, "%s", statements);
        close(ready[0]);
        return pid;
}

static void let_go(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

Test(check, refuses_a_database_that_is_locked_exclusively)
{
        struct tmp tmp;
        struct problem problem = {0};
        _cleanup_(check_release) struct check check = {0};
        tmp_open(&tmp);
        make_wal(&tmp);
        pid_t pid = hold(&tmp, "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(1)");
        cr_expect_eq(check_source(tmp_path(&tmp, "app.db"), &check, &problem), -EBUSY);
        cr_expect_not_null(strstr(problem.message, "EXCLUSIVE"), "%s", problem.message);
        let_go(pid);
        cr_expect_eq(check_source(tmp_path(&tmp, "app.db"), &check, NULL), 0);
        tmp_close(&tmp);
}

Test(check, takes_a_database_that_is_in_use)
{
        struct tmp tmp;
        _cleanup_(check_release) struct check check = {0};
        tmp_open(&tmp);
        make_wal(&tmp);
        pid_t pid = hold(&tmp, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
        cr_expect_eq(check_source(tmp_path(&tmp, "app.db"), &check, NULL), 0);
        let_go(pid);
        tmp_close(&tmp);
}

Test(check, sets_no_wal_mode_under_another_process)
{
        struct tmp tmp;
        struct problem problem = {0};
        _cleanup_(check_release) struct check check = {0};
        tmp_open(&tmp);
        make_database(tmp_path(&tmp, "app.db"), "CREATE TABLE t(x)");
        cr_assert_eq(check_source(tmp_path(&tmp, "app.db"), &check, NULL), 0);
        pid_t pid = hold(&tmp, "BEGIN; SELECT * FROM t; SELECT * FROM sqlite_schema; SAVEPOINT s;"
                               "CREATE TEMP TABLE x(y); INSERT INTO t VALUES(1)");
        cr_expect_eq(check_set_wal(&check, &problem), -EBUSY);
        cr_expect_not_null(strstr(problem.message, "stop the application"), "%s", problem.message);
        let_go(pid);
        tmp_close(&tmp);
}

/* As another user, in a process of its own: root may do everything. */
static int check_as_nobody(const char *path, char *message, size_t size)
{
        int answer[2];
        cr_assert_eq(pipe(answer), 0);
        pid_t pid = fork();
        cr_assert_geq(pid, 0);
        if (pid == 0) {
                struct problem problem = {0};
                struct check check = {0};
                int r = setgid(65534) || setuid(65534) ? -EPERM
                                                       : check_source(path, &check, &problem);
                ssize_t written = write(answer[1], problem.message, strlen(problem.message));
                _exit(written < 0 ? 255 : -r);
        }
        int status = 0;
        close(answer[1]);
        ssize_t got = read(answer[0], message, size - 1);
        message[got > 0 ? got : 0] = 0;
        close(answer[0]);
        waitpid(pid, &status, 0);
        return -WEXITSTATUS(status);
}

Test(check, needs_the_right_to_write_where_the_log_is)
{
        static const struct {
                const char *name;
                mode_t directory, database, index;
                int result;
                const char *word;
        } modes[] = {
                {"all", 0777, 0666, 0666, 0, ""},
                {"database", 0777, 0644, 0666, -EACCES, "app.db cannot be read and written"},
                {"unreadable", 0777, 0600, 0666, -EACCES, "app.db"},
                {"index", 0777, 0666, 0644, -EACCES, "app.db-shm"},
                {"directory", 0755, 0666, 0, -EACCES, "directory"},
                {"files are there", 0755, 0666, 0666, 0, ""},
        };
        if (geteuid() != 0)
                cr_skip_test("needs root to become another user");
        for (unsigned i = 0; i < COUNT(modes); i++) {
                struct tmp tmp;
                char message[1024];
                tmp_open(&tmp);
                make_wal(&tmp);
                if (modes[i].index) {
                        tmp_write(tmp_path(&tmp, "app.db-wal"), "", 0);
                        tmp_write(tmp_path(&tmp, "app.db-shm"), "", 0);
                        chmod(tmp_path(&tmp, "app.db-wal"), 0666);
                        chmod(tmp_path(&tmp, "app.db-shm"), modes[i].index);
                }
                chmod(tmp_path(&tmp, "app.db"), modes[i].database);
                chmod(tmp.directory, modes[i].directory);
                int r = check_as_nobody(tmp_path(&tmp, "app.db"), message, sizeof message);
                cr_expect_eq(r, modes[i].result, "%s: %d %s", modes[i].name, r, message);
                cr_expect_not_null(
                        strstr(message, modes[i].word), "%s: %s", modes[i].name, message);
                tmp_close(&tmp);
        }
}

Test(check, names_the_file_system_that_it_refuses)
{
        struct tmp tmp;
        struct problem problem = {0};
        tmp_open(&tmp);
        cr_expect_eq(check_filesystem(tmp.directory, &problem), 0, "%s", problem.message);
        cr_expect_eq(check_filesystem(tmp_path(&tmp, "nothing"), NULL), -ENOENT);
        tmp_close(&tmp);
}
