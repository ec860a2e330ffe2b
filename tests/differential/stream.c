/* SPDX-License-Identifier: MIT
 *
 * stream: see stream.h.
 */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "ddl.h"

void stream_release(struct stream *stream)
{
        delivered_release(&stream->rows);
        changes_release(&stream->changes);
        free(stream->deliveries);
        map_release(&stream->replay);
        map_release(&stream->keys);
        lens_release(&stream->lens);
        lens_release(&stream->before);
        ddl_history_release(&stream->ddl);
}

unsigned change_class(unsigned operation)
{
        return operation == 1 ? 1 : operation == 2 ? 3 : 2;
}

static void wrong(struct report *report, const struct stream *stream, size_t row, const char *what)
{
        const struct delivered_row *at = &stream->rows.rows[row];
        report_difference(report, NULL, stream->instance->name,
                "row %zu (lsn %s, seqval %s, operation %u): %s", row + 1, at->lsn, at->sequence,
                at->operation, what);
}

static void check_place(
        struct stream *stream, size_t index, const char *max_lsn, struct report *report)
{
        const struct delivered_row *row = &stream->rows.rows[index];
        const struct delivered_row *last = index ? row - 1 : NULL;
        if (strcmp(row->lsn, stream->min_lsn) <= 0 || strcmp(row->lsn, max_lsn) > 0)
                wrong(report, stream, index, "outside the interval it was asked for");
        if (strcmp(row->lsn + 18, "0001") != 0)
                wrong(report, stream, index, "the slot of a commit is 0001");
        if (row->mask_size != mask_size(stream->instance->columns.count))
                wrong(report, stream, index, "the mask has the wrong size");
        if (!last)
                return;
        bool is_pair = last->operation == 3 && row->operation == 4;
        int order = strcmp(last->sequence, row->sequence);
        if (strcmp(last->lsn, row->lsn) > 0)
                wrong(report, stream, index, "the LSN falls");
        if (is_pair ? order != 0 : order >= 0)
                wrong(report, stream, index,
                        is_pair ? "3 and 4 do not share their seqval" : "the seqval does not rise");
        if (strcmp(last->lsn, row->lsn) == 0 &&
                change_class(last->operation) > change_class(row->operation))
                wrong(report, stream, index, "deletes, updates, inserts: the order is broken");
}

/* Rows 3 and 4 make one change, others one each. */
static bool append_change(struct stream *stream, size_t index, const struct delivered_row *before)
{
        const struct delivered_row *row = &stream->rows.rows[index];
        const uint8_t *arena = stream->rows.arena.data;
        struct change_parts parts = {.operation = row->operation,
                .mask = arena + row->mask_at,
                .mask_size = row->mask_size};
        const struct delivered_row *old = row->operation == 1 ? row : before;
        if (old) {
                parts.before = arena + old->image_at;
                parts.before_size = old->image_size;
        }
        if (row->operation != 1) {
                parts.after = arena + row->image_at;
                parts.after_size = row->image_size;
        }
        changes_append(&stream->changes, &parts);
        stream->deliveries = memory_grow(
                stream->deliveries, stream->changes.count * sizeof(*stream->deliveries));
        stream->deliveries[stream->changes.count - 1] = (struct delivery){row->lsn, row->sequence};
        return !before || (row->mask_size == before->mask_size &&
                                  memcmp(arena + before->mask_at, parts.mask, row->mask_size) == 0);
}

static void make_changes(struct stream *stream, const char *max_lsn, struct report *report)
{
        const struct delivered_row *before = NULL;
        for (size_t i = 0; i < stream->rows.count; i++) {
                const struct delivered_row *row = &stream->rows.rows[i];
                check_place(stream, i, max_lsn, report);
                bool is_after = row->operation == 4;
                if (is_after != (before != NULL) || (before && strcmp(before->lsn, row->lsn) != 0))
                        wrong(report, stream, i, "3 and 4 do not come in pairs");
                if (row->operation == 3) {
                        before = row;
                        continue;
                }
                if (!append_change(stream, i, is_after ? before : NULL))
                        wrong(report, stream, i, "3 and 4 have different masks");
                before = NULL;
        }
        if (before)
                wrong(report, stream, stream->rows.count - 1, "a 3 without 4 at the end");
}

/* get-all-changes of [from, to] in one format, parsed and appended. */
static int read_format(const struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *const *range, const char *format,
        struct delivered *rows)
{
        char path[PATH_SIZE + 64];
        _cleanup_bytes_ struct bytes text = {0};
        const char *arguments[] = {"get-all-changes", settings->database, stream->instance->name,
                range[0], range[1], "--format", format, NULL};
        snprintf(path, sizeof(path), "%s/changes.%s", settings->directory, format);
        int result = cdcctl_run(programs, settings, arguments, path, NULL);
        if (result != 0) {
                snprintf(rows->problem, sizeof(rows->problem),
                        "cdcctl get-all-changes %s %s --format %s: %d", range[0], range[1], format,
                        result);
                return result < 0 ? result : -EIO;
        }
        result = bytes_read_file(&text, path);
        const char *start = bytes_string(&text);
        if (result < 0)
                return result;
        return strcmp(format, "csv") == 0 ? delivered_parse_csv(rows, start, text.size)
                                          : delivered_parse_jsonl(rows, start, text.size);
}

static int read_range(const struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *from, const char *to, struct delivered *rows,
        struct delivered *jsonl)
{
        const char *range[] = {from, to};
        int result = 0;
        if (strcmp(from, to) > 0)
                return 0;
        names_release(&rows->columns);
        rows->encoding = jsonl->encoding = settings->encoding;
        result = read_format(stream, programs, settings, range, "csv", rows);
        if (result == 0 && !names_equal(&rows->columns, &stream->instance->columns))
                result = delivered_refuse(rows, 1, "the columns are not the captured ones");
        if (result == 0)
                result = read_format(stream, programs, settings, range, "jsonl", jsonl);
        return result;
}

/* The interval without its gaps, piece by piece. */
static int read_pieces(struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *max_lsn, const struct gaps *gaps,
        struct delivered *jsonl)
{
        char from[LSN_SIZE], to[LSN_SIZE];
        int result = 0;
        memcpy(from, stream->min_lsn, LSN_SIZE);
        for (unsigned i = 0; i < gaps->count && result == 0; i++) {
                if (strcmp(gaps->items[i].from, from) < 0)
                        continue;
                lsn_step(gaps->items[i].from, -1, to);
                result = read_range(stream, programs, settings, from, to, &stream->rows, jsonl);
                lsn_step(gaps->items[i].to, 1, from);
        }
        if (result == 0)
                result =
                        read_range(stream, programs, settings, from, max_lsn, &stream->rows, jsonl);
        return result;
}

static int read_min_lsn(
        struct stream *stream, const struct programs *programs, const struct settings *settings)
{
        _cleanup_free_ char *line = NULL;
        const char *arguments[] = {"get-min-lsn", settings->database, stream->instance->name, NULL};
        int result = cdcctl_line(programs, settings, arguments, &line);
        if (result == 0 && !delivered_is_lsn(line, strlen(line)))
                result = -EBADMSG;
        if (result == 0)
                memcpy(stream->min_lsn, line, LSN_SIZE);
        return result > 0 ? -EIO : result;
}

/* A range that touches a gap must fail. */
static void check_gap_refusal(struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *max_lsn, const struct gaps *gaps,
        struct report *report)
{
        if (!gaps->count || strcmp(stream->min_lsn, gaps->items[0].from) >= 0)
                return;
        const char *arguments[] = {"get-all-changes", settings->database, stream->instance->name,
                stream->min_lsn, max_lsn, "--format", "jsonl", NULL};
        int result = cdcctl_run(programs, settings, arguments, NULL, NULL);
        if (result != 1)
                report_difference(report, NULL, stream->instance->name,
                        "a range over a gap must fail with status 1, it gave %d", result);
}

int stream_read(struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *max_lsn, const struct gaps *gaps,
        struct report *report)
{
        __attribute__((cleanup(delivered_release))) struct delivered jsonl = {0};
        int result = read_min_lsn(stream, programs, settings);
        if (result == 0)
                result = read_pieces(stream, programs, settings, max_lsn, gaps, &jsonl);
        if (result == 0)
                result = delivered_compare(&stream->rows, &jsonl);
        if (result < 0) {
                report_difference(report, NULL, stream->instance->name,
                        "it cannot be read (%d, min_lsn \"%s\", max_lsn \"%s\"): %s%s", result,
                        stream->min_lsn, max_lsn, stream->rows.problem, jsonl.problem);
                return result;
        }
        make_changes(stream, max_lsn, report);
        check_gap_refusal(stream, programs, settings, max_lsn, gaps, report);
        return 0;
}

int stream_check_range(const struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *from, const char *to, struct report *report)
{
        __attribute__((cleanup(delivered_release))) struct delivered rows = {0};
        __attribute__((cleanup(delivered_release))) struct delivered jsonl = {0};
        struct delivered part = stream->rows;
        int result = read_range(stream, programs, settings, from, to, &rows, &jsonl);
        while (part.count && strcmp(part.rows[0].lsn, from) < 0)
                part.rows++, part.count--;
        while (part.count && strcmp(part.rows[part.count - 1].lsn, to) > 0)
                part.count--;
        if (result == 0)
                result = delivered_compare(&rows, &jsonl);
        if (result == 0 && part.count)
                result = delivered_compare(&rows, &part);
        if (result < 0)
                report_difference(report, NULL, stream->instance->name,
                        "the range %s %s gives other rows than the whole interval: %s%s", from, to,
                        rows.problem, jsonl.problem);
        return result;
}
