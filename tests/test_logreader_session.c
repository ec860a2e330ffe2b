/* SPDX-License-Identifier: MIT
 *
 * SQLite's session extension sees the same transactions from the inside. For tables with a
 * declared key its changesets and ours must be the same: net per transaction, a changed key as a
 * delete and an insert, nothing where nothing captured changed. Rows whose key is NULL it leaves
 * out.
 */
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "live.h"
#include "workload.h"

static const struct live_table captured[] = {
        {.name = "ipk", .columns = "id,b,c", .key = "1", .is_rowid_key = true},
        {.name = "keyed", .columns = "k,b,n", .key = "1"},
};

/* ---- lines of text, to be sorted ---- */

struct lines {
        char **lines; /* owned */
        size_t count, capacity;
};

static void lines_add(struct lines *lines, struct buf *text)
{
        if (lines->count == lines->capacity) {
                lines->capacity = lines->capacity ? lines->capacity * 2 : 64;
                lines->lines = realloc(lines->lines, lines->capacity * sizeof(*lines->lines));
        }
        lines->lines[lines->count++] = buf_steal(text);
}

static int compare_lines(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lines_sort(struct lines *lines)
{
        if (lines->count > 1)
                qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_lines);
}

static void lines_release(struct lines *lines)
{
        for (size_t i = 0; i < lines->count; i++)
                free(lines->lines[i]);
        free(lines->lines);
        *lines = (struct lines){0};
}

/* ---- what the session says ---- */

static struct value session_value(sqlite3_value *value)
{
        struct value v = {.type = VALUE_NULL};
        switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
                return (struct value){.type = VALUE_INTEGER, .integer = sqlite3_value_int64(value)};
        case SQLITE_FLOAT:
                return (struct value){.type = VALUE_REAL, .real = sqlite3_value_double(value)};
        case SQLITE_TEXT:
        case SQLITE_BLOB:
                v.type = sqlite3_value_type(value) == SQLITE_TEXT ? VALUE_TEXT : VALUE_BLOB;
                v.bytes = sqlite3_value_blob(value);
                v.size = (uint32_t)sqlite3_value_bytes(value);
        }
        return v;
}

typedef int (*session_getter)(sqlite3_changeset_iter *, int, sqlite3_value **);

/* An update has values of the key and of changed columns alone; the others stand as `_`. */
static void append_side(
        struct buf *line, sqlite3_changeset_iter *iterator, int columns, session_getter get)
{
        for (int i = 0; i < columns; i++) {
                sqlite3_value *value = NULL;
                get(iterator, i, &value);
                struct value v = value ? session_value(value) : (struct value){0};
                if (value)
                        live_append_value(line, &v);
                else
                        buf_append_string(line, "|_");
        }
}

static void read_session(sqlite3_session *session, struct lines *lines)
{
        int size = 0;
        void *changeset = NULL;
        sqlite3_changeset_iter *iterator = NULL;
        cr_assert_eq(sqlite3session_changeset(session, &size, &changeset), SQLITE_OK);
        cr_assert_eq(sqlite3changeset_start(&iterator, size, changeset), SQLITE_OK);
        while (sqlite3changeset_next(iterator) == SQLITE_ROW) {
                struct buf line = BUF_INIT;
                const char *table;
                int columns, operation, is_indirect;
                sqlite3changeset_op(iterator, &table, &columns, &operation, &is_indirect);
                buf_append_format(&line, "%s %d ", table, operation);
                if (operation != SQLITE_INSERT)
                        append_side(&line, iterator, columns, sqlite3changeset_old);
                buf_append_string(&line, " -> ");
                if (operation != SQLITE_DELETE)
                        append_side(&line, iterator, columns, sqlite3changeset_new);
                lines_add(lines, &line);
        }
        sqlite3changeset_finalize(iterator);
        sqlite3_free(changeset);
}

/* ---- the same form of what the log reader says ---- */

static void append_values_of(
        struct buf *line, const struct change *change, const struct value *values, bool has_key)
{
        bool is_update = change->operation == CHANGE_UPDATE;
        for (unsigned i = 0; values && i < change->columns; i++) {
                bool is_changed = mask_is_set(change->mask, mask_size(change->columns), i + 1);
                if (!is_update || is_changed || (i == 0 && has_key))
                        live_append_value(line, &values[i]);
                else
                        buf_append_string(line, "|_");
        }
}

static void read_reader(struct live *l, struct lines *lines)
{
        static const int operations[] = {[CHANGE_DELETE] = SQLITE_DELETE,
                [CHANGE_INSERT] = SQLITE_INSERT,
                [CHANGE_UPDATE] = SQLITE_UPDATE};
        struct change change;
        int r;
        while ((r = l->source.next_change(l->source.context, &change)) == 1) {
                const struct value *key = change.before ? change.before : change.after;
                struct buf line = BUF_INIT;
                if (key[0].type == VALUE_NULL)
                        continue;
                buf_append_format(&line, "%s %d ", captured[change.object_id - 1].name,
                        operations[change.operation]);
                append_values_of(&line, &change, change.before, true);
                buf_append_string(&line, " -> ");
                append_values_of(&line, &change, change.after, false);
                lines_add(lines, &line);
        }
        cr_assert_eq(r, 0);
}

static void expect_same(struct lines *told, struct lines *truth, unsigned round)
{
        lines_sort(told);
        lines_sort(truth);
        for (size_t i = 0; i < told->count && i < truth->count; i++)
                cr_assert_str_eq(told->lines[i], truth->lines[i],
                        "round %u: %s, and the session %s", round, told->lines[i], truth->lines[i]);
        cr_assert_eq(told->count, truth->count, "round %u: %zu changes, and the session has %zu",
                round, told->count, truth->count);
}

/* ---- both beside each other ---- */

static void step(struct live *l, struct workload *w, unsigned round)
{
        struct lines told = {0}, truth = {0};
        struct change_transaction transaction;
        sqlite3_session *session = NULL;
        cr_assert_eq(sqlite3session_create(l->app, "main", &session), SQLITE_OK);
        for (size_t i = 0; i < COUNT(captured); i++)
                cr_assert_eq(sqlite3session_attach(session, captured[i].name), SQLITE_OK);
        workload_transaction(w);
        read_session(session, &truth);
        sqlite3session_delete(session);
        cr_assert_eq(logreader_take_pin(l->reader), 0);
        if (logreader_poll(l->reader) == 1) {
                cr_assert_eq(l->source.next(l->source.context, &transaction), 1);
                read_reader(l, &told);
                cr_assert_eq(l->source.next(l->source.context, &transaction), 0);
        }
        logreader_drop_pin(l->reader);
        l->changes += told.count;
        expect_same(&told, &truth, round);
        lines_release(&told);
        lines_release(&truth);
}

static void compare_with_session(uint32_t page_size, unsigned rounds, uint64_t seed)
{
        struct live l;
        struct workload w;
        live_open(&l,
                &(struct live_options){.page_size = page_size, .schema = "CREATE TABLE first(a)"});
        workload_open(&w, l.app, page_size, 400, seed);
        live_tell(&l);
        for (size_t i = 0; i < COUNT(captured); i++)
                live_attach(&l, &captured[i]);
        sqlite3_wal_hook(l.app, NULL, NULL);
        live_run(&l, "PRAGMA cache_size=10");
        for (unsigned i = 0; i < rounds; i++)
                step(&l, &w, i);
        cr_expect_gt(l.changes, rounds * 5);
        live_close(&l);
}

Test(logreader_session, small_pages)
{
        compare_with_session(512, 500, 61);
}

Test(logreader_session, ordinary_pages)
{
        compare_with_session(4096, 250, 62);
}
