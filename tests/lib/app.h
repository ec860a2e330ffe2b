/* SPDX-License-Identifier: MIT
 *
 * app: an application of the database in a process of its own: a sqlite3 shell that is fed
 * statements and answers with what it prints, errors included. Locks between processes, a second
 * opinion of a database, and a writer that can be killed.
 *
 *      struct app app;
 *      app_open(&app, path);
 *      app_run(&app, "CREATE TABLE t(a)");                  aborts if it prints anything
 *      app_send(&app, "INSERT INTO t VALUES(%d)", 1);       returns at once
 *      _cleanup_free_ char *text = app_wait(&app);          what all statements since then printed
 *      app_close(&app);
 *
 * The shell waits for no lock unless told so with `.timeout`.
 */
#ifndef CDC_TEST_APP_H
#define CDC_TEST_APP_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ground/buf.h"
#include "tmp.h"

extern char **environ;

struct app {
        pid_t pid;
        int to;            /* its standard input */
        int from;          /* its output and errors */
        unsigned sent;     /* number of the last sentinel */
        unsigned taken;    /* of the last one whose answer was taken */
        struct buf answer; /* printed since the last app_wait() */
};

static inline void app_open(struct app *app, const char *path)
{
        char *arguments[] = {
                "sqlite3", "-batch", "-init", "/dev/null", (char *)(uintptr_t)path, NULL};
        int to[2], from[2];
        posix_spawn_file_actions_t actions;
        memset(app, 0, sizeof *app);
        tmp_check(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "pipe2");
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to[0], 0);
        posix_spawn_file_actions_adddup2(&actions, from[1], 1);
        posix_spawn_file_actions_adddup2(&actions, from[1], 2);
        tmp_check(posix_spawnp(&app->pid, "sqlite3", &actions, NULL, arguments, environ) == 0,
                "sqlite3");
        posix_spawn_file_actions_destroy(&actions);
        close(to[0]);
        close(from[1]);
        app->to = to[1];
        app->from = from[0];
}

static inline void app_write(struct app *app, const char *text, size_t size)
{
        while (size > 0) {
                ssize_t written = write(app->to, text, size);
                tmp_check(written > 0, "the application does not read");
                text += written;
                size -= (size_t)written;
        }
}

__attribute__((format(printf, 2, 0))) static inline void app_send_v(
        struct app *app, const char *format, va_list arguments)
{
        char *sql = NULL, *text = NULL;
        tmp_check(vasprintf(&sql, format, arguments) >= 0, "vasprintf");
        int size = asprintf(
                &text, "%s%s\n.print done-%u\n", sql, sql[0] == '.' ? "" : ";", ++app->sent);
        tmp_check(size >= 0, "asprintf");
        app_write(app, text, (size_t)size);
        free(text);
        free(sql);
}

/* One or more statements, or one dot command. Returns before they are run. */
__attribute__((format(printf, 2, 3))) static inline void app_send(
        struct app *app, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        app_send_v(app, format, arguments);
        va_end(arguments);
}

/* Has all that was sent been run? Waits for it at most so long. */
static inline bool app_is_done(struct app *app, int timeout_ms)
{
        char last[32];
        snprintf(last, sizeof last, "done-%u\n", app->sent);
        while (app->taken != app->sent && !strstr(buf_string(&app->answer), last)) {
                char bytes[4096];
                struct pollfd fd = {.fd = app->from, .events = POLLIN};
                if (poll(&fd, 1, timeout_ms) == 0)
                        return false;
                ssize_t size = read(app->from, bytes, sizeof bytes);
                tmp_check(size > 0, "the application died");
                buf_append(&app->answer, bytes, (size_t)size);
        }
        return true;
}

/* What was printed since the last call, without the sentinels; the caller frees it. */
static inline char *app_wait(struct app *app)
{
        struct buf text = BUF_INIT;
        app_is_done(app, -1);
        char *rest = NULL, *all = strdup(buf_string(&app->answer));
        for (char *line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
                if (strncmp(line, "done-", 5) != 0)
                        buf_append_format(&text, "%s%s", text.size ? "\n" : "", line);
        free(all);
        buf_reset(&app->answer);
        app->taken = app->sent;
        return buf_steal(&text);
}

/* Runs and waits; the caller frees the text. */
__attribute__((format(printf, 2, 3))) static inline char *app_ask(
        struct app *app, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        app_send_v(app, format, arguments);
        va_end(arguments);
        return app_wait(app);
}

/* Runs what must print nothing. */
__attribute__((format(printf, 2, 3))) static inline void app_run(
        struct app *app, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        app_send_v(app, format, arguments);
        va_end(arguments);
        char *text = app_wait(app);
        if (text[0]) {
                fprintf(stderr, "the application: %s\n%s\n", format, text);
                abort();
        }
        free(text);
}

__attribute__((format(printf, 2, 3))) static inline int64_t app_number(
        struct app *app, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        app_send_v(app, format, arguments);
        va_end(arguments);
        char *text = app_wait(app), *end;
        int64_t number = strtoll(text, &end, 10);
        if (end == text || *end) {
                fprintf(stderr, "the application: %s\n%s\n", format, text);
                abort();
        }
        free(text);
        return number;
}

static inline void app_end(struct app *app)
{
        int status;
        close(app->to);
        close(app->from);
        tmp_check(waitpid(app->pid, &status, 0) == app->pid, "waitpid");
        buf_release(&app->answer);
        memset(app, 0, sizeof *app);
}

/* Lets it finish and close the database. */
static inline void app_close(struct app *app)
{
        app_is_done(app, -1);
        app_end(app);
}

static inline void app_kill(struct app *app)
{
        kill(app->pid, SIGKILL);
        app_end(app);
}

#endif
