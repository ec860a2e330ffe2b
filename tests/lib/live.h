/* SPDX-License-Identifier: MIT
 *
 * live: a database that an application writes, a log reader beside it, and the truth.
 *
 * After each commit of the application all captured columns of all captured tables are read by
 * SQL. What the log reader tells of a transaction must be the difference of the tables before and
 * after it: every change with its values and its mask, in order, and nothing else. After each
 * transaction the page map of the reader must be the one that a scan of the trees makes.
 *
 *      struct live l;
 *      live_open(&l, &(struct live_options){.schema = "CREATE TABLE t(a PRIMARY KEY, b)"});
 *      live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b", .key = "1"});
 *      live_run(&l, "INSERT INTO t VALUES(1, 2)");
 *      cr_expect_eq(live_tell(&l), 1);
 *      live_close(&l);
 *
 * The application is in the same process. So the test must not open the database's files by
 * itself: closing them would drop SQLite's locks.
 */
#ifndef CDC_TESTS_LIVE_H
#define CDC_TESTS_LIVE_H

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>

#include "meaning/logreader.c" /* for what struct logreader hides: the page map */
#include "tmp.h"

enum { LIVE_TABLES = 12, LIVE_COLUMNS = 64 };

struct live_options {
        uint32_t page_size; /* 0 = 4096 */
        int reserved;
        const char *settings; /* pragmas before the first page */
        const char *schema;   /* and first rows */
        bool is_fresh;        /* the reader opens before the schema is made */
};

struct live_table {
        const char *name;
        const char *columns; /* captured, separated by commas, no quotes */
        const char *key;     /* ordinals, separated by commas; NULL = none */
        bool is_rowid_key;   /* the key is the INTEGER PRIMARY KEY */
        bool is_without_rowid;
        const char *rowid; /* its name, where a column has the name rowid */
        int64_t object_id; /* 0 = its place, from 1 */
};

/* A table as SQL shows it, in the order of identities. */
struct live_dump {
        struct buf bytes;
        struct live_row {
                size_t identity, identity_size;
                size_t content, content_size; /* values as value_append_key has them */
                size_t text;                  /* values as text, separated by | */
        } * rows;                             /* owned */
        size_t count;
        bool is_by_content; /* the order is that of contents */
};

/* The captured tables at one commit. */
struct live_state {
        struct live_state *next;
        struct live_dump dumps[LIVE_TABLES];
};

struct live {
        struct tmp tmp;
        char path[300];
        sqlite3 *app;
        sqlite3 *look; /* sees what is committed */
        struct database *database;
        struct logreader *reader;
        struct transaction_source source;
        struct live_table tables[LIVE_TABLES]; /* parents first */
        unsigned count;
        struct live_state *told, *last; /* of the base, and of the newest commit */
        struct buf events;              /* of the transactions told last */
        uint64_t transactions, changes; /* told so far */
        bool is_renumbered; /* rowids mean nothing over the next transaction (VACUUM, rebuild) */
};

/* ---- values as text ---- */

static inline void live_append_value(struct buf *buf, const struct value *value)
{
        uint64_t hash = UINT64_C(14695981039346656037), bits = 0;
        switch (value->type) {
        case VALUE_INTEGER:
                buf_append_format(buf, "|%lld", (long long)value->integer);
                break;
        case VALUE_REAL:
                memcpy(&bits, &value->real, sizeof(bits));
                buf_append_format(buf, "|%.17g:%016llx", value->real, (unsigned long long)bits);
                break;
        case VALUE_TEXT:
        case VALUE_BLOB:
                for (uint32_t i = 0; i < value->size; i++)
                        hash = (hash ^ value->bytes[i]) * UINT64_C(1099511628211);
                buf_append_format(buf, "|%s%u:%016llx", value->type == VALUE_TEXT ? "t" : "b",
                        value->size, (unsigned long long)hash);
                break;
        default:
                buf_append_string(buf, "|NULL");
                break;
        }
}

static inline struct value live_column(sqlite3_stmt *stmt, int column)
{
        struct value value = {.type = VALUE_NULL};
        switch (sqlite3_column_type(stmt, column)) {
        case SQLITE_INTEGER:
                value.type = VALUE_INTEGER;
                value.integer = sqlite3_column_int64(stmt, column);
                break;
        case SQLITE_FLOAT:
                value.type = VALUE_REAL;
                value.real = sqlite3_column_double(stmt, column);
                break;
        case SQLITE_TEXT:
        case SQLITE_BLOB:
                value.type =
                        sqlite3_column_type(stmt, column) == SQLITE_TEXT ? VALUE_TEXT : VALUE_BLOB;
                /* As a BLOB: TEXT stays in the encoding of the database. */
                value.bytes = sqlite3_column_blob(stmt, column);
                value.size = (uint32_t)sqlite3_column_bytes(stmt, column);
                break;
        }
        return value;
}

/* ---- the truth ---- */

static inline unsigned live_ordinals(const char *text, unsigned *ret_ordinals)
{
        unsigned count = 0;
        for (const char *p = text; p && *p; p += strcspn(p, ","), p += *p == ',')
                ret_ordinals[count++] = (unsigned)strtoul(p, NULL, 10);
        return count;
}

static inline bool live_has_key(
        const struct live_table *table, const struct value *values, const unsigned *key, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                if (values[key[i] - 1].type == VALUE_NULL)
                        return false;
        return n > 0 && !table->is_rowid_key;
}

static inline void live_dump_row(
        const struct live_table *table, sqlite3_stmt *stmt, struct live_dump *dump)
{
        struct value values[LIVE_COLUMNS], rowid = live_column(stmt, 0);
        unsigned key[LIVE_COLUMNS], keys = live_ordinals(table->key, key);
        unsigned columns = (unsigned)sqlite3_column_count(stmt) - 1;
        if ((dump->count & (dump->count - 1)) == 0) {
                size_t capacity = dump->count ? dump->count * 2 : 1;
                dump->rows = realloc(dump->rows, capacity * sizeof(*dump->rows));
        }
        struct live_row *row = &dump->rows[dump->count++];
        for (unsigned i = 0; i < columns; i++)
                values[i] = live_column(stmt, (int)i + 1);
        bool is_keyed = live_has_key(table, values, key, keys);
        row->identity = dump->bytes.size;
        buf_append_byte(&dump->bytes, is_keyed);
        for (unsigned i = 0; i < (is_keyed ? keys : 1); i++)
                value_append_key(&dump->bytes, is_keyed ? &values[key[i] - 1] : &rowid);
        row->identity_size = dump->bytes.size - row->identity;
        row->content = dump->bytes.size;
        buf_append_byte(&dump->bytes, is_keyed);
        for (unsigned i = 0; i < (is_keyed ? keys : columns); i++)
                value_append_key(&dump->bytes, is_keyed ? &values[key[i] - 1] : &values[i]);
        row->content_size = dump->bytes.size - row->content;
        row->text = dump->bytes.size;
        for (unsigned i = 0; i < columns; i++)
                live_append_value(&dump->bytes, &values[i]);
        buf_append_byte(&dump->bytes, '\0');
}

static inline int live_compare(const struct live_dump *a, const struct live_row *x,
        const struct live_dump *b, const struct live_row *y)
{
        const uint8_t *p = a->bytes.data + (a->is_by_content ? x->content : x->identity);
        const uint8_t *q = b->bytes.data + (b->is_by_content ? y->content : y->identity);
        size_t p_size = a->is_by_content ? x->content_size : x->identity_size;
        size_t q_size = b->is_by_content ? y->content_size : y->identity_size;
        int order = memcmp(p, q, p_size < q_size ? p_size : q_size);
        return order != 0 ? order : (p_size > q_size) - (p_size < q_size);
}

static inline int live_compare_rows(const void *a, const void *b, void *context)
{
        return live_compare(context, a, context, b);
}

static inline void live_sort(struct live_dump *dump, bool is_by_content)
{
        dump->is_by_content = is_by_content;
        if (dump->count > 1)
                qsort_r(dump->rows, dump->count, sizeof(*dump->rows), live_compare_rows, dump);
}

static inline void live_dump_table(
        sqlite3 *db, const struct live_table *table, struct live_dump *ret_dump)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        struct live_dump dump = {0};
        const char *rowid = table->is_without_rowid ? "0" : table->rowid ? table->rowid : "rowid";
        char *sql =
                sqlite3_mprintf("SELECT %s, %s FROM \"%w\"", rowid, table->columns, table->name);
        int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        cr_assert_eq(r, SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
        sqlite3_free(sql);
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
                live_dump_row(table, stmt, &dump);
        cr_assert_eq(r, SQLITE_DONE, "%s", sqlite3_errmsg(db));
        live_sort(&dump, false);
        *ret_dump = dump;
}

static inline void live_free_state(struct live_state *state)
{
        for (unsigned i = 0; state && i < LIVE_TABLES; i++) {
                buf_release(&state->dumps[i].bytes);
                free(state->dumps[i].rows);
        }
        free(state);
}

static inline struct live_state *live_read_state(struct live *l)
{
        struct live_state *state = calloc(1, sizeof(*state));
        for (unsigned i = 0; i < l->count; i++)
                if (l->tables[i].name)
                        live_dump_table(l->app, &l->tables[i], &state->dumps[i]);
        return state;
}

/* Called by SQLite after each commit. */
static inline int live_committed(void *context, sqlite3 *db, const char *name, int frames)
{
        struct live *l = context;
        (void)db;
        (void)name;
        (void)frames;
        l->last->next = live_read_state(l);
        l->last = l->last->next;
        return SQLITE_OK;
}

/* ---- changes as lines of text ---- */

static inline unsigned live_text_columns(const char *text)
{
        unsigned count = 0;
        for (; *text; text++)
                count += *text == '|';
        return count;
}

/* Are the values at ordinal i the same? Moves both cursors behind them. */
static inline bool live_same_column(const char **a, const char **b)
{
        size_t x = 1 + strcspn(*a + 1, "|"), y = 1 + strcspn(*b + 1, "|");
        bool is_same = x == y && memcmp(*a, *b, x) == 0;
        *a += x;
        *b += y;
        return is_same;
}

static inline void live_append_line(
        struct buf *buf, const struct live_table *table, const char *old, const char *new)
{
        unsigned columns = live_text_columns(old ? old : new);
        const char *a = old, *b = new;
        buf_append_format(buf, "%lld %s ", (long long)table->object_id,
                !new   ? "delete"
                : !old ? "insert"
                       : "update");
        for (unsigned i = 0; i < columns; i++)
                buf_append_byte(buf, old && new &&live_same_column(&a, &b) ? '.' : 'x');
        buf_append_format(
                buf, " %s%s%s\n", old ? old : "", old && new ? " -> " : "", new ? new : "");
}

static inline void live_append_change(struct buf *buf, const struct change *change)
{
        static const char *const names[] = {"?", "delete", "insert", "?", "update"};
        unsigned operation = change->operation <= 4 ? change->operation : 0;
        buf_append_format(buf, "%lld %s ", (long long)change->object_id, names[operation]);
        for (unsigned i = 1; i <= change->columns; i++)
                buf_append_byte(
                        buf, mask_is_set(change->mask, mask_size(change->columns), i) ? 'x' : '.');
        buf_append_byte(buf, ' ');
        for (unsigned i = 0; change->before && i < change->columns; i++)
                live_append_value(buf, &change->before[i]);
        if (change->before && change->after)
                buf_append_string(buf, " -> ");
        for (unsigned i = 0; change->after && i < change->columns; i++)
                live_append_value(buf, &change->after[i]);
        buf_append_byte(buf, '\n');
}

/* What was done to one table, of one operation. */
static inline void live_append_truth(struct buf *buf, const struct live_table *table,
        const struct live_dump *old, const struct live_dump *new, enum change_operation operation)
{
        size_t i = 0, k = 0;
        while (i < old->count || k < new->count) {
                int order = i >= old->count ? 1
                            : k >= new->count
                                    ? -1
                                    : live_compare(old, &old->rows[i], new, &new->rows[k]);
                const char *a = order <= 0 ? (char *)old->bytes.data + old->rows[i].text : NULL;
                const char *b = order >= 0 ? (char *)new->bytes.data + new->rows[k].text : NULL;
                enum change_operation found = !b   ? CHANGE_DELETE
                                              : !a ? CHANGE_INSERT
                                                   : CHANGE_UPDATE;
                if (found == operation && (!a || !b || strcmp(a, b) != 0))
                        live_append_line(buf, table, a, b);
                i += order <= 0;
                k += order >= 0;
        }
}

/* Rows without a key, or with a NULL in it, pair by content where rowids mean nothing. */
static inline void live_pair(struct live *l, struct live_state *state, bool is_renumbered)
{
        for (unsigned i = 0; i < l->count; i++)
                if (!l->tables[i].is_rowid_key)
                        live_sort(&state->dumps[i], is_renumbered || l->tables[i].is_without_rowid);
}

static inline void live_truth(
        struct live *l, struct live_state *old, struct live_state *new, struct buf *ret_text)
{
        live_pair(l, old, l->is_renumbered);
        live_pair(l, new, l->is_renumbered);
        for (unsigned i = l->count; i-- > 0;)
                live_append_truth(
                        ret_text, &l->tables[i], &old->dumps[i], &new->dumps[i], CHANGE_DELETE);
        for (unsigned i = 0; i < l->count; i++)
                live_append_truth(
                        ret_text, &l->tables[i], &old->dumps[i], &new->dumps[i], CHANGE_UPDATE);
        for (unsigned i = 0; i < l->count; i++)
                live_append_truth(
                        ret_text, &l->tables[i], &old->dumps[i], &new->dumps[i], CHANGE_INSERT);
        live_pair(l, new, false);
        l->is_renumbered = false;
}

static inline void live_expect_same(struct live *l, struct buf *told, struct buf *truth)
{
        const char *a = buf_string(told), *b = buf_string(truth), *line = a, *other = b;
        for (; *a && *a == *b; a++, b++)
                if (*a == '\n') {
                        line = a + 1;
                        other = b + 1;
                }
        cr_assert(*a == *b, "transaction %llu: told is\n%.*s\nright is\n%.*s",
                (unsigned long long)l->transactions, (int)strcspn(line, "\n"), line,
                (int)strcspn(other, "\n"), other);
}

/* ---- the page map ---- */

static inline void live_check_map(struct live *l)
{
        struct logreader *reader = l->reader;
        const struct tracking *t = &reader->tracking;
        struct pagemap fresh = {0};
        struct btpage_source source =
                page_source(reader, read_old, reader->usable, reader->base.pages);
        cr_assert_eq(pagemap_build_tree(&fresh, TRACKING_SCHEMA_TREE, 1, &source), 0);
        for (size_t i = 0; i < t->count; i++)
                if (pagemap_get(&fresh, t->list[i].root).tree == 0)
                        cr_assert_eq(pagemap_build_tree(
                                             &fresh, t->list[i].tree, t->list[i].root, &source),
                                0);
        uint32_t chunks =
                t->map.chunk_count > fresh.chunk_count ? t->map.chunk_count : fresh.chunk_count;
        for (uint32_t pgno = 0; pgno < chunks * 4096; pgno++) {
                struct pagemap_owner a = pagemap_get(&t->map, pgno), b = pagemap_get(&fresh, pgno);
                if (memcmp(&a, &b, sizeof(a)) != 0)
                        cr_assert(a.tree == b.tree && a.kind == b.kind && a.parent == b.parent,
                                "page %u: tree %u, kind %u, parent %u; right is %u, %u, %u", pgno,
                                a.tree, a.kind, a.parent, b.tree, b.kind, b.parent);
        }
        pagemap_release(&fresh);
}

/* ---- telling ---- */

static inline void live_append_event(struct buf *buf, const struct change_event *event)
{
        const struct change_binding *b = event->binding;
        buf_append_format(buf, "%lld ", (long long)event->object_id);
        switch (event->type) {
        case CHANGE_EVENT_DDL:
                buf_append_format(
                        buf, "ddl%s %s", event->required_column_update ? "!" : "", event->text);
                break;
        case CHANGE_EVENT_BOUND:
                buf_append_format(buf, "bound %s", b->table);
                for (unsigned i = 0; i < b->count; i++)
                        buf_append_format(buf, " %d", b->positions[i]);
                break;
        case CHANGE_EVENT_DROPPED:
                buf_append_string(buf, "dropped");
                break;
        case CHANGE_EVENT_STOPPED:
                buf_append_format(buf, "stopped %s", event->text);
                break;
        }
        buf_append_byte(buf, '\n');
}

/* Tells one transaction and holds it to the truth. */
static inline void live_tell_one(struct live *l)
{
        _cleanup_(buf_release) struct buf told = BUF_INIT, truth = BUF_INIT;
        struct change_transaction transaction;
        struct change change;
        int r = l->source.next(l->source.context, &transaction);
        cr_assert_eq(r, 1, "%d: a transaction is missing", r);
        l->transactions++;
        for (unsigned i = 0; i < transaction.event_count; i++)
                live_append_event(&l->events, &transaction.events[i]);
        while ((r = l->source.next_change(l->source.context, &change)) == 1) {
                live_append_change(&told, &change);
                l->changes++;
        }
        cr_assert_eq(r, 0, "%d", r);
        live_truth(l, l->told, l->told->next, &truth);
        live_expect_same(l, &told, &truth);
        struct live_state *state = l->told;
        l->told = l->told->next;
        live_free_state(state);
        live_check_map(l);
}

/* Tells all that was committed. Returns the number of changes. */
static inline unsigned live_tell(struct live *l)
{
        struct change_transaction transaction;
        uint64_t before = l->changes;
        buf_reset(&l->events);
        int r = logreader_poll(l->reader);
        cr_assert_eq(r, l->told->next != NULL, "poll: %d", r);
        while (l->told->next)
                live_tell_one(l);
        if (r > 0)
                cr_assert_eq(l->source.next(l->source.context, &transaction), 0,
                        "a transaction is invented");
        return (unsigned)(l->changes - before);
}

/* Tells, and moves the pin, as capture does it. */
static inline unsigned live_step(struct live *l)
{
        cr_assert_eq(logreader_take_pin(l->reader), 0);
        unsigned changes = live_tell(l);
        logreader_drop_pin(l->reader);
        return changes;
}

/* ---- the application ---- */

__attribute__((format(printf, 2, 3))) static inline void live_run(
        struct live *l, const char *format, ...)
{
        char *message = NULL;
        va_list arguments;
        va_start(arguments, format);
        char *sql = sqlite3_vmprintf(format, arguments);
        va_end(arguments);
        cr_assert_eq(
                sqlite3_exec(l->app, sql, NULL, NULL, &message), SQLITE_OK, "%s: %s", sql, message);
        sqlite3_free(sql);
}

/* Copies what the pin allows into the database file. True if that is all of it. */
static inline bool live_checkpoint(struct live *l, int mode)
{
        int frames = 0, copied = 0;
        int r = sqlite3_wal_checkpoint_v2(l->app, "main", mode, &frames, &copied);
        return r == SQLITE_OK && frames == copied;
}

/* ---- beginning and end ---- */

static inline void live_open_app(struct live *l, const struct live_options *options)
{
        char sql[80];
        int reserved = options->reserved;
        cr_assert_eq(sqlite3_open(l->path, &l->app), SQLITE_OK);
        snprintf(sql, sizeof(sql), "PRAGMA page_size=%u",
                options->page_size ? options->page_size : 4096);
        live_run(l, "%s", sql);
        sqlite3_file_control(l->app, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
        if (options->settings)
                live_run(l, "%s", options->settings);
        live_run(l, "PRAGMA journal_mode=WAL");
        live_run(l, "PRAGMA synchronous=OFF");
}

static inline void live_open_reader(struct live *l)
{
        struct problem problem = {0};
        int r = database_open(l->path, &l->database, &problem);
        cr_assert_eq(r, 0, "%s", problem.message);
        cr_assert_eq(logreader_open(l->database, NULL, 1, l->tmp.directory, &l->reader), 0);
        l->source = logreader_source(l->reader);
        sqlite3_wal_hook(l->app, live_committed, l);
}

static inline void live_open(struct live *l, const struct live_options *options)
{
        memset(l, 0, sizeof(*l));
        tmp_open(&l->tmp);
        snprintf(l->path, sizeof(l->path), "%s/app.db", l->tmp.directory);
        live_open_app(l, options);
        l->told = l->last = calloc(1, sizeof(*l->told));
        if (options->is_fresh)
                live_open_reader(l);
        if (options->schema)
                live_run(l, "%s", options->schema);
        if (!options->is_fresh)
                live_open_reader(l);
}

static inline void live_free_states(struct live *l)
{
        while (l->told) {
                struct live_state *next = l->told->next;
                live_free_state(l->told);
                l->told = next;
        }
        l->last = NULL;
}

static inline void live_close(struct live *l)
{
        sqlite3_wal_hook(l->app, NULL, NULL);
        logreader_close(l->reader);
        database_close(l->database);
        sqlite3_close(l->look);
        cr_assert_eq(sqlite3_close(l->app), SQLITE_OK);
        live_free_states(l);
        buf_release(&l->events);
        tmp_close(&l->tmp);
}

static inline int live_try_attach(
        struct live *l, const struct live_table *table, struct problem *problem)
{
        unsigned key[LIVE_COLUMNS], count = 0;
        char names[2000], *columns[LIVE_COLUMNS], *rest = names;
        snprintf(names, sizeof(names), "%s", table->columns);
        for (char *name; (name = strsep(&rest, ","));)
                columns[count++] = name;
        struct capture_request request = {
                .object_id = table->object_id,
                .table = table->name,
                .columns = columns,
                .column_count = count,
                .key = key,
                .key_count = live_ordinals(table->key, key),
        };
        return l->source.attach(l->source.context, &request, problem);
}

/* Captures a table from the newest commit on, of which all must have been told. */
static inline void live_attach(struct live *l, const struct live_table *table)
{
        struct problem problem = {0};
        struct live_table *added = &l->tables[l->count++];
        *added = *table;
        if (added->object_id == 0)
                added->object_id = l->count;
        int r = live_try_attach(l, added, &problem);
        cr_assert_eq(r, 0, "%s: %d %s", table->name, r, problem.message);
        cr_assert_eq(l->told, l->last);
        live_free_states(l);
        l->told = l->last = live_read_state(l);
}

/* The old columns, with NULL where the new ones have NULL. The caller frees. */
static inline char *live_gone_columns(const char *old, const char *new)
{
        struct buf buf = BUF_INIT;
        while (*old) {
                size_t size = strcspn(old, ","), new_size = strcspn(new, ",");
                bool is_gone = new_size == 4 && memcmp(new, "NULL", 4) == 0;
                buf_append(&buf, is_gone ? "NULL" : old, is_gone ? 4 : size);
                old += size + (old[size] == ',');
                new += new_size + (new[new_size] == ',');
                buf_append_string(&buf, *old ? "," : "");
        }
        return buf_steal(&buf);
}

/* Another table, or other columns, of an instance from the next commit on; where a column is NULL
 * now it was dropped, and the rows before that commit have NULL there too. To be called before the
 * commit, in the transaction if need be, when all others are told. */
static inline void live_rebind(
        struct live *l, int64_t object_id, const char *name, const char *columns)
{
        unsigned i = 0;
        while (l->tables[i].object_id != object_id)
                i++;
        struct live_table *table = &l->tables[i];
        struct live_table now = *table;
        cr_assert(l->told == l->last);
        now.name = table->name;
        now.columns = live_gone_columns(table->columns, columns);
        buf_release(&l->told->dumps[i].bytes);
        free(l->told->dumps[i].rows);
        if (!l->look)
                cr_assert_eq(sqlite3_open(l->path, &l->look), SQLITE_OK);
        live_dump_table(l->look, &now, &l->told->dumps[i]);
        free((char *)now.columns);
        table->name = name;
        table->columns = columns;
}

/* From now on nothing is expected of the table: it is gone, or stopped. To be called before the
 * commit that does it. */
static inline void live_give_up(struct live *l, const char *name)
{
        for (unsigned i = 0; i < l->count; i++) {
                if (!l->tables[i].name || strcmp(l->tables[i].name, name) != 0)
                        continue;
                l->tables[i].name = NULL;
                for (struct live_state *s = l->told; s; s = s->next) {
                        buf_release(&s->dumps[i].bytes);
                        free(s->dumps[i].rows);
                        s->dumps[i] = (struct live_dump){0};
                }
        }
}

#endif
