/* SPDX-License-Identifier: MIT
 *
 * batch_mount: the listed files of a mount against get-all-changes: their ranges touch, their
 * sizes are what a read gives, and one after the other they hold the very bytes.
 */
#include "batch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "stream.h"

enum { DIGITS = 20 };

struct folder {
        struct round *round;
        struct report *report;
        const struct instance *instance;
        const char *format; /* "csv" or "jsonl" */
        char path[2 * PATH_SIZE];
        char next_from[DIGITS + 1]; /* what the next file's name must begin with; "" = unknown */
        struct bytes text;          /* of all files; a CSV header only once */
};

/* 8:8:4 without its colons. */
static void lsn_digits(const char *lsn, char *ret_digits)
{
        memcpy(ret_digits, lsn, 8);
        memcpy(ret_digits + 8, lsn + 9, 8);
        memcpy(ret_digits + 16, lsn + 18, 4);
        ret_digits[DIGITS] = 0;
}

static void lsn_text(const char *digits, char *ret_lsn)
{
        snprintf(ret_lsn, LSN_SIZE, "%.8s:%.8s:%.4s", digits, digits + 8, digits + 16);
}

static int complain(const struct folder *folder, const char *name, const char *what)
{
        report_difference(folder->report, NULL, folder->instance->name, "%s/%s: %s", folder->path,
                name, what);
        return -EBADMSG;
}

/* The next file's FROM is this one's TO plus one. */
static int check_name(struct folder *folder, const char *name)
{
        char lsn[LSN_SIZE], next[LSN_SIZE];
        _cleanup_bytes_ struct bytes wanted = {0};
        size_t size = strlen(name);
        bytes_append_format(
                &wanted, "-%.20s.%s", size > DIGITS ? name + DIGITS + 1 : "", folder->format);
        if (size <= DIGITS || strcmp(name + DIGITS, bytes_string(&wanted)) != 0)
                return complain(folder, name, "not FROM-TO and the format");
        if (strncmp(name, folder->next_from, DIGITS) != 0)
                return complain(folder, name, "its range does not touch the one before");
        lsn_text(name + DIGITS + 1, lsn);
        lsn_step(lsn, 1, next);
        lsn_digits(next, folder->next_from);
        return 0;
}

/* Behind the header's line feed; quoted names may hold others. NULL if it does not end. */
static uint8_t *header_end(uint8_t *at, size_t size)
{
        bool is_quoted = false;
        for (size_t i = 0; i < size; i++) {
                is_quoted ^= at[i] == '"';
                if (at[i] == '\n' && !is_quoted)
                        return at + i + 1;
        }
        return NULL;
}

static int append_file(struct folder *folder, const char *name)
{
        char path[3 * PATH_SIZE];
        struct stat status;
        size_t start = folder->text.size;
        bool is_csv = strcmp(folder->format, "csv") == 0;
        snprintf(path, sizeof(path), "%s/%s", folder->path, name);
        if (stat(path, &status) < 0 || bytes_read_file(&folder->text, path) < 0)
                return complain(folder, name, "it cannot be read");
        size_t size = folder->text.size - start;
        if (size != (size_t)status.st_size || size == 0)
                return complain(folder, name, "its size is not that of its bytes, or 0");
        uint8_t *at = folder->text.data + start;
        uint8_t *end = is_csv && start ? header_end(at, size) : NULL;
        if (end) {
                memmove(at, end, size - (size_t)(end - at));
                folder->text.size -= (size_t)(end - at);
        }
        return 0;
}

static int is_no_dot(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static int read_files(struct folder *folder)
{
        struct dirent **entries = NULL;
        int count = scandir(folder->path, &entries, is_no_dot, alphasort);
        int result = count < 0 ? complain(folder, "", "it cannot be listed") : 0;
        for (int i = 0; i < count; i++) {
                if (result == 0)
                        result = check_name(folder, entries[i]->d_name);
                if (result == 0)
                        result = append_file(folder, entries[i]->d_name);
                free(entries[i]);
        }
        free(entries);
        return result;
}

/* One line of a command with at most one argument more; an LSN. */
static int read_lsn(struct folder *folder, const char *command, const char *argument, char *ret_lsn)
{
        _cleanup_free_ char *line = NULL;
        const struct settings *settings = &folder->round->settings;
        const char *arguments[] = {command, settings->database, argument, NULL};
        int result = cdcctl_line(folder->round->programs, settings, arguments, &line);
        if (result != 0 || !delivered_is_lsn(line, strlen(line)))
                return complain(folder, command, "no LSN comes of it");
        memcpy(ret_lsn, line, LSN_SIZE);
        return 0;
}

/* The whole interval by the command: after a rotation no row stands behind the last file. */
static int read_command(struct folder *folder, const char *min_lsn, struct bytes *text)
{
        char path[PATH_SIZE + 32], max_lsn[LSN_SIZE];
        int result = read_lsn(folder, "get-max-lsn", NULL, max_lsn);
        const struct settings *settings = &folder->round->settings;
        const char *arguments[] = {"get-all-changes", settings->database, folder->instance->name,
                min_lsn, max_lsn, "--format", folder->format, NULL};
        snprintf(path, sizeof(path), "%s/mount.%s", settings->directory, folder->format);
        if (result == 0)
                result = cdcctl_run(folder->round->programs, settings, arguments, path, NULL);
        return result == 0 ? bytes_read_file(text, path) : result > 0 ? -EIO : result;
}

static bool same_bytes(const struct bytes *a, const struct bytes *b)
{
        return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Without rows there is no file; the command still gives a CSV header. */
static bool has_rows(const struct folder *folder, const struct bytes *text)
{
        if (!text->size || strcmp(folder->format, "jsonl") == 0)
                return text->size > 0;
        const uint8_t *end = header_end(text->data, text->size);
        return end && end < text->data + text->size;
}

/* The instance's directory: its name with `/ % \\`, control bytes and a leading . or - as %XX. */
static void write_directory(const char *name, char *ret_directory, size_t size)
{
        size_t used = 0;
        for (const char *at = name; *at && used + 4 < size; at++) {
                uint8_t byte = (uint8_t)*at;
                bool is_plain = byte >= 0x20 && byte != 0x7f && !strchr("/%\\", byte) &&
                                (at > name || !strchr(".-", byte));
                used += (size_t)snprintf(
                        ret_directory + used, size - used, is_plain ? "%c" : "%%%02X", byte);
        }
}

static int check_folder(struct folder *folder)
{
        char min_lsn[LSN_SIZE], directory[4 * PATH_SIZE] = "";
        _cleanup_bytes_ struct bytes text = {0};
        int result = read_lsn(folder, "get-min-lsn", folder->instance->name, min_lsn);
        if (result < 0)
                return result;
        lsn_digits(min_lsn, folder->next_from);
        write_directory(folder->instance->name, directory, sizeof(directory));
        snprintf(folder->path, sizeof(folder->path), "%s/%s/all/%s",
                folder->round->agent.mountpoint, directory, folder->format);
        result = read_files(folder);
        if (result == 0)
                result = read_command(folder, min_lsn, &text);
        if (result < 0)
                return result;
        bool is_equal =
                folder->text.size ? same_bytes(&folder->text, &text) : !has_rows(folder, &text);
        return is_equal ? 0 : complain(folder, "", "other bytes than get-all-changes gives");
}

int batch_check_mount(struct round *round, struct report *report)
{
        static const char *const formats[] = {"csv", "jsonl"};
        for (unsigned i = 0; i < round->instances.count && !round->gaps; i++) {
                if (!round->instances.items[i].is_enabled)
                        continue;
                for (unsigned j = 0; j < COUNT(formats); j++) {
                        struct folder folder = {.round = round,
                                .report = report,
                                .instance = &round->instances.items[i],
                                .format = formats[j]};
                        int result = check_folder(&folder);
                        bytes_release(&folder.text);
                        if (result < 0 && !report->differences)
                                return result;
                }
        }
        return 0;
}
