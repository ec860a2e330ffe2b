/* SPDX-License-Identifier: MIT
 *
 * tmp: a directory for one test, and commands run in the shell, for test programs.
 *
 *      struct tmp tmp;
 *      tmp_open(&tmp);
 *      struct run_result result = run("sqlite3 %s .schema", tmp_path(&tmp, "app.db"));
 *      cr_assert_eq(result.code, 0, "%s", result.text);
 *      run_release(&result);
 *      tmp_close(&tmp);
 *
 * A helper that cannot do its work aborts: the test program is then counted as failed.
 */
#ifndef CDC_TEST_TMP_H
#define CDC_TEST_TMP_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct tmp {
        char directory[256];
        char paths[8][512]; /* of the last eight tmp_path() */
        unsigned next;
};

static inline void tmp_check(int ok, const char *what)
{
        if (!ok) {
                perror(what);
                abort();
        }
}

/* A new directory under $TMPDIR, or /tmp. */
static inline void tmp_open(struct tmp *tmp)
{
        const char *parent = getenv("TMPDIR");
        memset(tmp, 0, sizeof *tmp);
        snprintf(tmp->directory, sizeof tmp->directory, "%s/cdcfs-test-XXXXXX",
                parent ? parent : "/tmp");
        tmp_check(mkdtemp(tmp->directory) != NULL, tmp->directory);
}

static inline int tmp_remove_one(
        const char *path, const struct stat *stat, int type, struct FTW *walk)
{
        (void)stat;
        (void)type;
        (void)walk;
        return remove(path);
}

/* Removes the directory with all that is in it, but nothing that is mounted there. */
static inline void tmp_close(struct tmp *tmp)
{
        nftw(tmp->directory, tmp_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* <directory>/name; good until seven more were asked for. */
static inline const char *tmp_path(struct tmp *tmp, const char *name)
{
        char *path = tmp->paths[tmp->next++ % 8];
        tmp_check(strlen(tmp->directory) + strlen(name) + 2 <= sizeof tmp->paths[0], name);
        stpcpy(stpcpy(stpcpy(path, tmp->directory), "/"), name);
        return path;
}

static inline void tmp_write(const char *path, const void *bytes, size_t size)
{
        FILE *file = fopen(path, "wb");
        tmp_check(file && fwrite(bytes, 1, size, file) == size, path);
        tmp_check(fclose(file) == 0, path);
}

/* The whole stream, with a NUL after it; the caller frees it. ret_size may be NULL. */
static inline char *tmp_read_stream(FILE *file, size_t *ret_size)
{
        size_t size = 0, capacity = 4096;
        char *text = malloc(capacity + 1);
        for (;;) {
                tmp_check(text != NULL, "malloc");
                size_t got = fread(text + size, 1, capacity - size, file);
                size += got;
                if (!got)
                        break;
                if (size == capacity)
                        text = realloc(text, (capacity *= 2) + 1);
        }
        text[size] = '\0';
        if (ret_size)
                *ret_size = size;
        return text;
}

static inline char *tmp_read(const char *path, size_t *ret_size)
{
        FILE *file = fopen(path, "rb");
        tmp_check(file != NULL, path);
        char *text = tmp_read_stream(file, ret_size);
        fclose(file);
        return text;
}

struct run_result {
        int code;   /* of its exit, or 128 + the signal's number */
        char *text; /* standard output and error together, owned */
        size_t size;
};

/* Runs one line in the shell and waits for it. */
__attribute__((format(printf, 1, 2))) static inline struct run_result run(const char *format, ...)
{
        struct run_result result = {0};
        char *line = NULL, *command = NULL;
        va_list arguments;
        va_start(arguments, format);
        tmp_check(vasprintf(&line, format, arguments) >= 0, "vasprintf");
        va_end(arguments);
        tmp_check(asprintf(&command, "{ %s\n} 2>&1", line) >= 0, "asprintf");

        FILE *pipe = popen(command, "r");
        tmp_check(pipe != NULL, command);
        result.text = tmp_read_stream(pipe, &result.size);
        int status = pclose(pipe);
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        free(command);
        free(line);
        return result;
}

static inline void run_release(struct run_result *result)
{
        free(result->text);
        memset(result, 0, sizeof *result);
}

#endif
