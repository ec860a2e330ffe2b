/* SPDX-License-Identifier: MIT
 *
 * check: see check.h. One pass over the history: for each transaction what SQLite says it changed
 * stands beside what every instance delivered at its LSN.
 */
#include "check.h"

#include <errno.h>
#include <string.h>
#include "check_order.h"
#include "ddl.h"
#include "replay.h"
#include "timeline.h"
#include "truth.h"

struct pass {
        struct check *check;
        struct report *report;
        struct model model;
        struct timeline timeline;
        struct gaps gaps;
        struct stream *streams;   /* the marker table's first */
        struct changes *expected; /* one a stream, of the running transaction */
        unsigned count;
        struct placed *placed;
        size_t placed_count;
        char last_lsn[LSN_SIZE];
        char last_sequence[LSN_SIZE];
        uint64_t first_missing;     /* the transaction a run of missing ones begins with, or 0 */
        struct transaction missing; /* that transaction */
};

static void pass_release(struct pass *pass)
{
        for (unsigned i = 0; i < pass->count; i++) {
                stream_release(&pass->streams[i]);
                changes_release(&pass->expected[i]);
        }
        free(pass->streams);
        free(pass->expected);
        free(pass->placed);
        model_release(&pass->model);
        timeline_release(&pass->timeline);
        gaps_release(&pass->gaps);
}

static const struct model_table *table_of(struct pass *pass, const struct stream *stream)
{
        return model_find_number(&pass->model, stream->instance->number);
}

/* A late instance is bound by the names that its choice saw, and recognised some commits later: in
 * between its columns are followed already. (Names are not traded in rounds with late instances.)
 */
static void bind_chosen(struct pass *pass, uint64_t number)
{
        for (unsigned i = 0; i < pass->count; i++) {
                struct stream *stream = &pass->streams[i];
                const struct model_table *table = table_of(pass, stream);
                bool is_due = stream->instance->is_late && number > stream->instance->chosen_after;
                if (is_due && !stream->is_bound && table && !table->is_dropped)
                        stream->is_bound =
                                lens_make(&stream->lens, stream->instance, &table->columns) == 0;
        }
}

/* Followers begin where their interval does, and again behind a gap, with the rows that stand. */
static int begin_streams(struct pass *pass, const char *lsn)
{
        for (unsigned i = 0; i < pass->count; i++) {
                struct stream *stream = &pass->streams[i];
                const struct model_table *table = table_of(pass, stream);
                bool is_due = !stream->has_begun && strcmp(lsn, stream->min_lsn) > 0;
                if (!table || table->is_dropped || stream->is_over || !is_due)
                        continue;
                int result = replay_begin(stream, table);
                if (result < 0)
                        return result;
        }
        return 0;
}

/* The transaction changed the schema of the stream's table: it ends, or its lens follows. */
static void follow_table(struct stream *stream, const struct model_table *table)
{
        struct lens before = {0}, after = {0};
        bool is_lost = lens_loses(&stream->lens, &table->change);
        if (stream->has_begun)
                ddl_expect(stream, table);
        stream->is_over = table->change.event == SHAPE_ENDED ||
                          (table->change.event == SHAPE_REBUILT && is_lost);
        if (stream->is_over)
                return;
        lens_follow(&stream->lens, &table->change, table->columns.count, &before, &after);
        lens_release(&stream->lens);
        lens_release(&stream->before);
        stream->lens = after;
        stream->before = before;
        stream->is_altered = true;
        if (is_lost)
                replay_forget_columns(stream);
}

/* What each stream must show. */
static size_t expect_all(struct pass *pass)
{
        size_t count = 0;
        for (unsigned i = 0; i < pass->count; i++) {
                struct stream *stream = &pass->streams[i];
                const struct model_table *table = table_of(pass, stream);
                changes_clear(&pass->expected[i]);
                stream->is_altered = false;
                if (!table || !stream->is_bound || stream->is_over)
                        continue;
                if (table->change.event != SHAPE_SAME)
                        follow_table(stream, table);
                if (!stream->has_begun || stream->is_over)
                        continue;
                change_expect(stream->is_altered ? &stream->before : &stream->lens, &stream->lens,
                        table, &pass->expected[i]);
                count += pass->expected[i].count;
        }
        return count;
}

static int by_image(const void *a, const void *b)
{
        return change_compare(a, b);
}

static struct change *sorted(const struct changes *changes, size_t first, size_t count)
{
        struct change *list = memory_grow(NULL, (count + 1) * sizeof(*list));
        for (size_t i = 0; i < count; i++)
                list[i] = changes_at(changes, first + i);
        qsort(list, count, sizeof(*list), by_image);
        return list;
}

static void compare(struct pass *pass, unsigned index, const char *lsn, size_t first, size_t count,
        const struct transaction *transaction)
{
        const struct changes *wanted = &pass->expected[index];
        const struct stream *stream = &pass->streams[index];
        _cleanup_free_ struct change *expected = sorted(wanted, 0, wanted->count);
        _cleanup_free_ struct change *delivered = sorted(&stream->changes, first, count);
        bool is_equal = wanted->count == count;
        for (size_t i = 0; is_equal && i < count; i++)
                is_equal = change_compare(&expected[i], &delivered[i]) == 0;
        if (!is_equal)
                report_changes(pass->report, transaction, stream->instance->name, lsn, expected,
                        wanted->count, delivered, count);
        pass->check->rows += count;
}

static void place(struct pass *pass, const struct stream *stream, size_t index)
{
        struct change change = changes_at(&stream->changes, index);
        size_t count = pass->placed_count++;
        if ((count & (count - 1)) == 0)
                pass->placed =
                        memory_grow(pass->placed, (count ? count * 2 : 1) * sizeof(*pass->placed));
        pass->placed[count] = (struct placed){stream->deliveries[index].sequence,
                change_class(change.image[0]), stream->instance};
}

/* One stream's part of a transaction. */
static void check_stream(
        struct pass *pass, unsigned index, const char *lsn, const struct transaction *transaction)
{
        struct stream *stream = &pass->streams[index];
        const char *complaint = NULL;
        while (stream->next < stream->changes.count &&
                strcmp(stream->deliveries[stream->next].lsn, lsn) < 0)
                stream->next++; /* of an LSN that the timeline reports */
        size_t first = stream->next;
        while (stream->next < stream->changes.count &&
                strcmp(stream->deliveries[stream->next].lsn, lsn) == 0) {
                struct change change = changes_at(&stream->changes, stream->next);
                const char *what = stream->has_begun ? replay_apply(stream, &change) : NULL;
                complaint = complaint ? complaint : what;
                place(pass, stream, stream->next++);
        }
        compare(pass, index, lsn, first, stream->next - first, transaction);
        if (complaint)
                report_difference(pass->report, transaction, stream->instance->name,
                        "a follower that applies row by row stumbles at %s: %s", lsn, complaint);
}

static void check_followers(struct pass *pass, const struct transaction *transaction)
{
        for (unsigned i = 0; i < pass->count; i++) {
                const struct stream *stream = &pass->streams[i];
                const struct model_table *table = table_of(pass, stream);
                if (!stream->has_begun || stream->is_over || !table)
                        continue;
                size_t differences = replay_differences(stream, table);
                if (differences)
                        report_difference(pass->report, transaction, stream->instance->name,
                                "a follower has %zu rows that differ from the table", differences);
        }
}

static void report_missing(struct pass *pass, const struct transaction *transaction)
{
        for (unsigned i = 0; i < pass->count; i++) {
                const struct changes *wanted = &pass->expected[i];
                if (!wanted->count)
                        continue;
                _cleanup_free_ struct change *expected = sorted(wanted, 0, wanted->count);
                report_changes(pass->report, transaction, pass->streams[i].instance->name, NULL,
                        expected, wanted->count, NULL, 0);
        }
}

/* A transaction that was not delivered: right only inside a recorded gap. Followers stop. */
static void miss(struct pass *pass, const struct transaction *transaction)
{
        if (!pass->gaps.count) {
                report_missing(pass, transaction);
                return;
        }
        if (!pass->first_missing) {
                pass->first_missing = transaction->number;
                pass->missing = *transaction;
        }
        for (unsigned i = 0; i < pass->count; i++)
                pass->streams[i].has_begun = false;
}

/* A run of missing transactions ended before lsn (NULL: at the end of the history). */
static void end_gap(struct pass *pass, const char *lsn)
{
        if (!pass->first_missing)
                return;
        bool is_recorded = false;
        for (unsigned i = 0; i < pass->gaps.count; i++) {
                const struct gap *gap = &pass->gaps.items[i];
                bool is_behind = strcmp(gap->from, pass->last_lsn) > 0;
                is_recorded = is_recorded || (is_behind && (!lsn || strcmp(gap->to, lsn) < 0));
        }
        if (!is_recorded)
                report_difference(pass->report, &pass->missing, NULL,
                        "transactions from this one on are missing between %s and %s, and no gap "
                        "says so",
                        pass->last_lsn, lsn ? lsn : "the end");
        pass->first_missing = 0;
}

static int step(struct pass *pass, const struct transaction *transaction)
{
        bool is_marked = transaction->flags & RECORD_MARKED;
        const char *lsn = NULL;
        size_t count = 0;
        int result = 0;
        if (is_marked)
                lsn = timeline_take_marked(&pass->timeline, transaction, pass->report);
        bind_chosen(pass, transaction->number);
        if (lsn) {
                end_gap(pass, lsn);
                result = begin_streams(pass, lsn);
        }
        if (result == 0)
                result = model_apply(&pass->model, transaction);
        if (result < 0)
                return result;
        count = expect_all(pass);
        if (!is_marked && count)
                lsn = timeline_take_unmarked(&pass->timeline);
        if (!lsn && (count || is_marked)) {
                miss(pass, transaction);
                return 0;
        }
        pass->placed_count = 0;
        for (unsigned i = 0; lsn && i < pass->count; i++) {
                check_stream(pass, i, lsn, transaction);
                if (!pass->gaps.count)
                        ddl_check(&pass->streams[i], lsn, transaction, pass->report);
        }
        check_order(pass->placed, pass->placed_count, pass->last_sequence, &pass->model,
                transaction, pass->report);
        if (lsn)
                memcpy(pass->last_lsn, lsn, LSN_SIZE);
        if (transaction->flags & RECORD_VERIFIES)
                check_followers(pass, transaction);
        return 0;
}

/* The history's begin: instances that were there before the writers start with its rows. */
static int begin(struct pass *pass, const struct transaction *transaction)
{
        int result = model_apply(&pass->model, transaction);
        for (unsigned i = 0; i < pass->count && result == 0; i++) {
                struct stream *stream = &pass->streams[i];
                const struct model_table *table = table_of(pass, stream);
                if (table && !stream->instance->is_late)
                        result = replay_begin(stream, table);
        }
        return result;
}

/* The database as it is now must be what the history ends with. */
static int check_end(struct pass *pass)
{
        struct check *check = pass->check;
        _cleanup_database_ sqlite3 *db = NULL;
        _cleanup_bytes_ struct bytes bytes = {0};
        struct transaction last = {.flags = RECORD_VERIFIES};
        if (sqlite3_open_v2(check->settings->database, &db, SQLITE_OPEN_READWRITE, NULL) !=
                SQLITE_OK)
                return -EIO;
        int result = truth_dump_all(db, check->shared, DUMP_VERIFIES, &bytes);
        if (result < 0)
                return result;
        /* Behind the head of the record: size, number, flags, writer, no statements. */
        last.entries = (struct reader){bytes.data + 18, bytes.data + bytes.size, false};
        result = model_apply(&pass->model, &last);
        if (result == 0)
                check_followers(pass, NULL);
        return result;
}

/* One range inside the interval of one instance. */
static void check_some_range(struct pass *pass)
{
        struct check *check = pass->check;
        const struct stream *stream = &pass->streams[random_below(check->random, pass->count)];
        size_t count = stream->changes.count;
        if (!count || pass->gaps.count)
                return;
        size_t first = random_below(check->random, (unsigned)count);
        size_t last = first + random_below(check->random, (unsigned)(count - first));
        stream_check_range(stream, check->programs, check->settings, stream->deliveries[first].lsn,
                stream->deliveries[last].lsn, pass->report);
}

static int read_streams(struct pass *pass)
{
        struct check *check = pass->check;
        _cleanup_free_ char *max_lsn = NULL;
        const char *arguments[] = {"get-max-lsn", check->settings->database, NULL};
        int result = cdcctl_line(check->programs, check->settings, arguments, &max_lsn);
        if (result == 0)
                result = gaps_read(&pass->gaps, check->programs, check->settings);
        if (result != 0)
                return result > 0 ? -EIO : result;
        if (pass->gaps.stopped[0])
                report_difference(pass->report, NULL, NULL, "capture of an instance stopped: %s",
                        pass->gaps.stopped);
        for (unsigned i = 0; i < check->instances->count && !pass->gaps.stopped[0]; i++) {
                if (!check->instances->items[i].is_enabled)
                        continue;
                struct stream *stream = &pass->streams[pass->count++];
                stream->instance = &check->instances->items[i];
                stream_read(stream, check->programs, check->settings, max_lsn, &pass->gaps,
                        pass->report);
        }
        if (pass->report->differences)
                return -EBADMSG;
        return ddl_read(pass->streams, pass->count, check->settings);
}

static int run_pass(struct pass *pass, const struct history *history)
{
        struct check *check = pass->check;
        int result = history->count ? begin(pass, &history->transactions[0]) : -EBADMSG;
        for (size_t i = 1; i < history->count && result == 0; i++)
                result = step(pass, &history->transactions[i]);
        if (result < 0)
                return result;
        end_gap(pass, NULL);
        timeline_report_rest(&pass->timeline, pass->report);
        /* What happened in a gap is not known one by one. */
        for (unsigned i = 0; i < pass->count && !pass->gaps.count; i++)
                ddl_check_end(&pass->streams[i], pass->report);
        result = check_end(pass);
        if (pass->gaps.count && !check->settings->kind->may_lose)
                report_difference(pass->report, NULL, NULL,
                        "a gap is recorded (from %s to %s) though nothing could be lost",
                        pass->gaps.items[0].from, pass->gaps.items[0].to);
        check->gaps = pass->gaps.count;
        return result;
}

int check_batch(struct check *check)
{
        unsigned count = check->instances->count;
        __attribute__((cleanup(history_release))) struct history history = {0};
        __attribute__((cleanup(pass_release))) struct pass pass = {
                .check = check, .report = check->report};
        pass.streams = memory_grow(NULL, count * sizeof(*pass.streams));
        pass.expected = memory_grow(NULL, count * sizeof(*pass.expected));
        memset(pass.streams, 0, count * sizeof(*pass.streams));
        memset(pass.expected, 0, count * sizeof(*pass.expected));
        int result = history_read(&history, check->settings);
        if (result == 0)
                result = read_streams(&pass);
        if (result < 0)
                return check->report->differences ? 0 : result;
        timeline_make(&pass.timeline, pass.streams, pass.count, check->settings, check->report);
        result = run_pass(&pass, &history);
        if (result == 0)
                check_some_range(&pass);
        return result;
}
