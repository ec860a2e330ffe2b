/* SPDX-License-Identifier: MIT */
#include "image.h"
#include "meaning/schemarows.h"
#include "meaning/tracking.h"

struct subject {
        sqlite3 *db;
        struct image image;
        struct btpage_source source;
        struct tracking tracking;
        struct problem problem;
};

static void look_again(struct subject *s)
{
        image_take(&s->image, s->db);
        s->source = image_source(&s->image);
}

static void subject_open(struct subject *s, const char *sql)
{
        *s = (struct subject){.db = image_open(512, 0)};
        image_run(s->db, sql);
        look_again(s);
        cr_assert_eq(tracking_open(&s->tracking, TEXT_UTF8, &s->source), 0);
}

static void subject_release(struct subject *s)
{
        tracking_release(&s->tracking);
        tracking_release(&s->tracking);
        image_release(&s->image);
        sqlite3_close(s->db);
}

/* Columns are one letter each. */
static struct capture_request request_of(
        int64_t object_id, const char *table, const char *columns, char *names[], char text[])
{
        struct capture_request request = {.object_id = object_id, .table = table, .columns = names};
        for (unsigned i = 0; columns[i]; i++) {
                text[2 * i] = columns[i];
                text[2 * i + 1] = '\0';
                names[request.column_count++] = text + 2 * i;
        }
        return request;
}

static int attach(struct subject *s, int64_t object_id, const char *table, const char *columns)
{
        char *names[20], text[40];
        struct capture_request request = request_of(object_id, table, columns, names, text);
        return tracking_attach(&s->tracking, &request, &s->source, &s->problem);
}

/* What the rows of sqlite_schema are now is applied. */
static void apply(struct subject *s, const char *sql)
{
        struct schema_rows rows = {0};
        tracking_clear_events(&s->tracking);
        image_run(s->db, sql);
        look_again(s);
        cr_assert_eq(schema_rows_read(s->db, &rows), 0);
        cr_assert_eq(tracking_apply(&s->tracking, &rows), 0);
        cr_expect_eq(rows.count, 0, "the rows were taken over");
}

/* "3 1 2": the instances in their order. */
static void expect_order(struct subject *s, const char *want)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        for (size_t i = 0; i < s->tracking.count; i++)
                buf_append_format(
                        &text, "%s%d", i > 0 ? " " : "", (int)s->tracking.list[i].object_id);
        cr_expect_str_eq(buf_string(&text), want, "%s, not %s", buf_string(&text), want);
}

static void expect_events(struct subject *s, const char *want)
{
        static const char *const names[] = {"ddl", "bound", "dropped", "stopped"};
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        for (size_t i = 0; i < s->tracking.event_count; i++) {
                const struct change_event *e = &s->tracking.events[i];
                buf_append_format(&text, "%d %s%s", (int)e->object_id, names[e->type],
                        e->required_column_update ? "!" : "");
                if (e->type == CHANGE_EVENT_BOUND)
                        buf_append_format(&text, " %s", e->binding->table);
                else if (e->text[0])
                        buf_append_format(&text, " %s", e->text);
                buf_append_string(&text, "; ");
        }
        cr_expect_str_eq(buf_string(&text), want, "%s", buf_string(&text));
}

static unsigned count_pages(const struct subject *s, uint16_t tree)
{
        unsigned count = 0;
        for (uint32_t pgno = 1; pgno <= s->image.pages; pgno++)
                count += pagemap_get(&s->tracking.map, pgno).tree == tree;
        return count;
}

/* ---- opening ---- */

Test(tracking, the_schema_is_read_from_pages)
{
        static const enum text_encoding encodings[] = {TEXT_UTF8, TEXT_UTF16LE, TEXT_UTF16BE};
        static const char *const names[] = {"UTF-8", "UTF-16le", "UTF-16be"};
        for (size_t i = 0; i < COUNT(encodings); i++) {
                _cleanup_sqlite_ sqlite3 *db = image_open(512, 0);
                struct image image = {0};
                struct tracking t;
                image_run_format(db, "PRAGMA encoding='%s'", names[i]);
                for (int k = 0; k < 40; k++)
                        image_run_format(db,
                                "CREATE TABLE \"t\xc3\xa4 %d\"(a PRIMARY KEY, b); "
                                "CREATE VIEW v%d AS SELECT 1",
                                k, k);
                image_take(&image, db);
                struct btpage_source source = image_source(&image);
                cr_assert_eq(tracking_open(&t, encodings[i], &source), 0, "%s", names[i]);
                cr_expect_eq(t.rows.count, 3 * 40, "%s", names[i]);
                const struct schema_table *table = schema_find_table(t.schema, "t\xc3\xa4 39");
                cr_assert(table, "%s", names[i]);
                cr_expect_eq(table->column_count, 2);
                cr_expect_eq(table->root, image_root(db, "t\xc3\xa4 39"));
                tracking_release(&t);
                image_release(&image);
        }
}

Test(tracking, a_schema_that_is_no_tree_is_refused)
{
        struct image image;
        struct tracking t;
        image_make(&image, 512, 5);
        struct btpage_source source = image_source(&image);
        cr_expect_eq(tracking_open(&t, TEXT_UTF8, &source), -EBADMSG);
        tracking_release(&t);
        image_release(&image);
}

/* ---- attaching ---- */

Test(tracking, what_cannot_be_captured_is_refused_with_a_reason)
{
        static const struct {
                const char *table, *columns;
                int error;
                const char *words;
        } cases[] = {
                {"nothing", "a", -ENOENT, "nothing"},
                {"t", "ax", -ENOENT, "t lacks a column"},
                {"v", "a", -ENOTSUP, "v is no ordinary table"},
                {"f", "a", -ENOTSUP, "f is no ordinary table"},
                {"f_data", "a", -ENOTSUP, "f_data is no ordinary table"},
                {"sqlite_sequence", "n", -ENOTSUP, "sqlite_sequence is no ordinary table"},
                {"spoilt", "a", -EBADMSG, "spoilt is corrupt (root page"},
        };
        struct subject s;
        subject_open(&s, "CREATE TABLE t(a, b); CREATE VIEW v AS SELECT a FROM t;"
                         "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE spoilt(a);"
                         "CREATE TABLE n(a INTEGER PRIMARY KEY AUTOINCREMENT)");
        memset(image_page(&s.image, image_root(s.db, "spoilt")), 0, 512);
        for (size_t i = 0; i < COUNT(cases); i++) {
                s.problem = (struct problem){0};
                cr_expect_eq(attach(&s, 1, cases[i].table, cases[i].columns), cases[i].error, "%s",
                        cases[i].table);
                cr_expect(strstr(s.problem.message, cases[i].words), "%s: %s", cases[i].table,
                        s.problem.message);
                cr_expect_eq(s.tracking.count, 0, "%s", cases[i].table);
        }
        cr_expect_eq(attach(&s, 1, "T", "AB"), 0, "names without regard to case");
        cr_expect_eq(count_pages(&s, 2), 1);
        subject_release(&s);
}

Test(tracking, instances_of_a_table_share_its_tree)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE t(a, b); CREATE TABLE u(a, b);"
                         "INSERT INTO t VALUES(1, zeroblob(9000)); INSERT INTO u SELECT * FROM t");
        cr_assert_eq(attach(&s, 10, "t", "a"), 0);
        cr_assert_eq(attach(&s, 20, "u", "a"), 0);
        cr_assert_eq(attach(&s, 30, "t", "ba"), 0);
        cr_expect_eq(tracking_find(&s.tracking, 10)->tree, tracking_find(&s.tracking, 30)->tree);
        cr_expect_neq(tracking_find(&s.tracking, 10)->tree, tracking_find(&s.tracking, 20)->tree);
        cr_expect_eq(tracking_find(&s.tracking, 40), NULL);
        cr_expect_eq(count_pages(&s, 2), 18);
        tracking_detach(&s.tracking, 10);
        tracking_detach(&s.tracking, 10);
        cr_expect_eq(count_pages(&s, 2), 18, "the other instance needs it");
        tracking_detach(&s.tracking, 30);
        cr_expect_eq(count_pages(&s, 2), 0);
        cr_expect_eq(count_pages(&s, 3), 18);
        expect_order(&s, "20");
        subject_release(&s);
}

Test(tracking, tree_numbers_are_used_again)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE t(a); CREATE TABLE u(a); CREATE TABLE v(a)");
        for (int i = 0; i < 70000; i++) {
                cr_assert_eq(attach(&s, i, i % 2 ? "t" : "u", "a"), 0);
                if (i % 1000 == 0)
                        cr_assert_eq(attach(&s, -1, "v", "a"), 0);
                cr_assert_leq(s.tracking.list[s.tracking.count - 1].tree, 4);
                tracking_detach(&s.tracking, i);
                if (i % 1000 == 0)
                        tracking_detach(&s.tracking, -1);
        }
        cr_expect_eq(s.tracking.count, 0);
        for (uint16_t tree = 2; tree < 6; tree++)
                cr_expect_eq(count_pages(&s, tree), 0);
        subject_release(&s);
}

/* ---- foreign keys ---- */

Test(tracking, parents_stand_before_their_children)
{
        static const struct {
                const char *schema;
                const char *attached; /* names of tables, their places are the object ids */
                const char *want;
        } cases[] = {
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p)", "pc", "1 2"},
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p)", "cp", "2 1"},
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a PRIMARY KEY REFERENCES p);"
                 "CREATE TABLE g(a REFERENCES c)",
                        "gcp", "3 2 1"},
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p);"
                 "CREATE TABLE x(a)",
                        "xcp", "1 3 2"},
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES P);"
                 "CREATE TABLE d(a REFERENCES p)",
                        "cdp", "3 1 2"},
                {"CREATE TABLE p(a PRIMARY KEY, b REFERENCES p); CREATE TABLE c(a REFERENCES p)",
                        "cp", "2 1"},
                {"CREATE TABLE p(a PRIMARY KEY, b REFERENCES c);"
                 "CREATE TABLE c(a PRIMARY KEY, b REFERENCES p)",
                        "pc", "2 1"},
                {"CREATE TABLE p(a PRIMARY KEY, b REFERENCES c);"
                 "CREATE TABLE c(a PRIMARY KEY, b REFERENCES d);"
                 "CREATE TABLE d(a PRIMARY KEY, b REFERENCES p); CREATE TABLE e(a REFERENCES d)",
                        "epcd", NULL},
                {"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p)", "ccpp",
                        "3 4 1 2"},
                {"CREATE TABLE c(a REFERENCES nobody)", "c", "1"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct subject s;
                subject_open(&s, cases[i].schema);
                for (int64_t k = 0; cases[i].attached[k]; k++) {
                        char name[] = {cases[i].attached[k], '\0'};
                        cr_assert_eq(attach(&s, k + 1, name, "a"), 0, "%s", cases[i].schema);
                }
                cr_expect_eq(s.tracking.count, strlen(cases[i].attached), "%s", cases[i].schema);
                if (cases[i].want)
                        expect_order(&s, cases[i].want);
                subject_release(&s);
        }
}

Test(tracking, the_order_follows_the_schema)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE c(a); CREATE TABLE p(a PRIMARY KEY)");
        cr_assert_eq(attach(&s, 1, "c", "a"), 0);
        cr_assert_eq(attach(&s, 2, "p", "a"), 0);
        expect_order(&s, "1 2");
        apply(&s, "ALTER TABLE c ADD COLUMN b REFERENCES p");
        expect_order(&s, "2 1");
        apply(&s, "ALTER TABLE p RENAME TO q");
        expect_order(&s, "2 1");
        subject_release(&s);
}

/* ---- schema changes ---- */

Test(tracking, events_say_what_happened_to_each_instance)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE t(a, b); CREATE TABLE u(a, b); CREATE TABLE w(a, b)");
        cr_assert_eq(attach(&s, 1, "t", "ab"), 0);
        cr_assert_eq(attach(&s, 2, "u", "b"), 0);
        cr_assert_eq(attach(&s, 3, "t", "b"), 0);
        apply(&s, "CREATE TABLE z(a)");
        expect_events(&s, "");
        apply(&s, "ALTER TABLE t ADD COLUMN c");
        expect_events(&s, "1 ddl ALTER TABLE \"t\" ADD COLUMN c; 1 bound t; "
                          "3 ddl ALTER TABLE \"t\" ADD COLUMN c; 3 bound t; ");
        apply(&s, "ALTER TABLE u DROP COLUMN a");
        expect_events(&s, "2 ddl ALTER TABLE \"u\" DROP COLUMN \"a\"; 2 bound u; ");
        apply(&s, "CREATE INDEX i ON u(b)");
        expect_events(&s, "2 ddl CREATE INDEX i ON u(b); 2 bound u; ");
        apply(&s, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                  "'CREATE TABLE t(a INT, b, c)' WHERE name = 't'");
        expect_events(&s, "1 ddl! CREATE TABLE t(a INT, b, c); 1 bound t; "
                          "3 ddl CREATE TABLE t(a INT, b, c); 3 bound t; ");
        apply(&s, "DROP TABLE w");
        expect_events(&s, "");
        apply(&s, "DROP TABLE u");
        expect_events(&s, "2 ddl DROP TABLE \"u\"; 2 dropped; ");
        expect_order(&s, "1 3");
        apply(&s, "UPDATE sqlite_schema SET sql = 'CREATE TABLE t(###)' WHERE name = 't'");
        expect_events(&s, "1 stopped SQLite cannot parse the new text of the table; "
                          "3 stopped SQLite cannot parse the new text of the table; ");
        expect_order(&s, "");
        cr_expect_eq(count_pages(&s, 2), 0);
        tracking_clear_events(&s.tracking);
        expect_events(&s, "");
        subject_release(&s);
}

Test(tracking, an_instance_that_is_stopped_is_detached_with_a_reason)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE t(a); CREATE TABLE u(a)");
        cr_assert_eq(attach(&s, 1, "t", "a"), 0);
        cr_assert_eq(attach(&s, 2, "u", "a"), 0);
        cr_assert_eq(tracking_stop(&s.tracking, 1, "because"), 0);
        expect_events(&s, "1 stopped because; ");
        expect_order(&s, "2");
        subject_release(&s);
}

Test(tracking, a_transaction_knows_how_the_table_was_until_it_is_settled)
{
        struct subject s;
        subject_open(&s, "CREATE TABLE first(x); CREATE TABLE t(a, b, c); CREATE TABLE last(x)");
        cr_assert_eq(attach(&s, 1, "t", "ac"), 0);
        struct tracked *t = tracking_find(&s.tracking, 1);
        uint32_t root = t->root;
        apply(&s, "ALTER TABLE t DROP COLUMN b");
        t = tracking_find(&s.tracking, 1);
        cr_expect(t->has_before);
        cr_expect_eq(t->before.columns[1].position, 2);
        cr_expect_eq(t->binding.columns[1].position, 1);
        cr_expect(t->is_whole, "its records read otherwise");
        tracking_settle(&s.tracking);
        cr_expect(!t->has_before && !t->is_whole);
        apply(&s, "CREATE TABLE n(c, a PRIMARY KEY) WITHOUT ROWID; DROP TABLE t; "
                  "ALTER TABLE n RENAME TO t");
        t = tracking_find(&s.tracking, 1);
        cr_expect(t->is_whole && t->is_by_content && t->is_index && !t->was_index);
        cr_expect_eq(t->old_root, root);
        cr_expect_eq(t->root, image_root(s.db, "t"));
        tracking_settle(&s.tracking);
        cr_expect(!t->is_whole && !t->is_by_content && t->was_index);
        cr_expect_eq(t->old_root, t->root);
        subject_release(&s);
}

/* ---- instances that were bound before ---- */

static int attach_again(struct subject *s, const char *table, const char *sql, int64_t rowid,
        const int *positions, unsigned count)
{
        char *names[20], text[40];
        struct capture_request request = request_of(1, table, "abcdefgh", names, text);
        request.column_count = count;
        request.sql = sql;
        request.schema_rowid = rowid;
        request.positions = positions;
        return tracking_attach(&s->tracking, &request, &s->source, &s->problem);
}

static const struct {
        const char *sql;  /* what happened since */
        const char *text; /* the table's text when it was bound */
        int positions[3]; /* of its columns then */
        int result;
        const char *table; /* now */
        int now[3];
} again[] = {
        {"", "CREATE TABLE t(a, b, c)", {0, 1, 2}, 0, "t", {0, 1, 2}},
        {"", "CREATE TABLE t(a, b, c)", {2, -1, 0}, 0, "t", {2, -1, 0}},
        {"ALTER TABLE t ADD COLUMN d", "CREATE TABLE t(a, b, c)", {2, 1, 0}, 0, "t", {2, 1, 0}},
        {"ALTER TABLE t DROP COLUMN b", "CREATE TABLE t(a, b, c)", {2, 1, 0}, 0, "t", {1, -1, 0}},
        {"ALTER TABLE t RENAME TO u", "CREATE TABLE t(a, b, c)", {0, 1, 2}, 0, "u", {0, 1, 2}},
        {"ALTER TABLE t RENAME b TO x", "CREATE TABLE t(a, b, c)", {0, 1, 2}, 0, "t", {0, 1, 2}},
        {"CREATE TABLE n(c, b, a); DROP TABLE t; ALTER TABLE n RENAME TO t",
                "CREATE TABLE t(a, b, c)", {0, 1, 2}, 0, "t", {2, 1, 0}},
        {"DROP TABLE t", "CREATE TABLE t(a, b, c)", {0, 1, 2}, -ENOENT, NULL, {0}},
        {"", "CREATE TABLE t(###", {0, 1, 2}, -ENOTSUP, NULL, {0}},
        {"", "CREATE TABLE t(a, b)", {0, 1, 2}, -EBADMSG, NULL, {0}},
};

Test(tracking, an_instance_finds_its_columns_again)
{
        for (size_t i = 0; i < COUNT(again); i++) {
                struct subject s;
                subject_open(&s, "CREATE TABLE first(x); CREATE TABLE t(a, b, c)");
                image_run(s.db, again[i].sql);
                tracking_release(&s.tracking);
                look_again(&s);
                cr_assert_eq(tracking_open(&s.tracking, TEXT_UTF8, &s.source), 0);
                int r = attach_again(&s, "t", again[i].text, 2, again[i].positions, 3);
                cr_expect_eq(r, again[i].result, "%zu: %d %s", i, r, s.problem.message);
                struct change_binding *b = tracking_describe(&s.tracking, 1);
                cr_expect_eq(b != NULL, again[i].table != NULL, "%zu", i);
                if (b) {
                        cr_expect_str_eq(b->table, again[i].table, "%zu", i);
                        cr_expect_eq(memcmp(b->positions, again[i].now, sizeof(again[i].now)), 0,
                                "%zu", i);
                        cr_expect_eq(b->types[0] == NULL, b->positions[0] < 0);
                }
                free(b);
                subject_release(&s);
        }
}

/* ---- rows of sqlite_schema ---- */

static void add_row(struct schema_rows *rows, int64_t rowid, const char *name)
{
        _cleanup_(buf_release) struct buf payload = BUF_INIT;
        size_t size = strlen(name);
        uint8_t head[] = {6, 23, (uint8_t)(13 + 2 * size), (uint8_t)(13 + 2 * size), 1, 15};
        buf_append(&payload, head, sizeof(head));
        buf_append_format(&payload, "table%s%s\3x", name, name);
        cr_assert_eq(schemarows_change(rows, TEXT_UTF8, rowid, &payload), 0);
}

static void expect_rows(const struct schema_rows *rows, const char *want)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        for (size_t i = 0; i < rows->count; i++)
                buf_append_format(&text, "%d %s ", (int)rows->rows[i].rowid, rows->rows[i].name);
        cr_expect_str_eq(buf_string(&text), want, "%s", buf_string(&text));
}

Test(tracking, rows_are_added_changed_and_removed_in_order)
{
        struct schema_rows rows = {0}, copy = {0};
        add_row(&rows, 5, "five");
        add_row(&rows, 2, "two");
        add_row(&rows, 9, "nine");
        expect_rows(&rows, "2 two 5 five 9 nine ");
        cr_assert_eq(schemarows_copy(&rows, &copy), 0);
        add_row(&rows, 5, "other");
        cr_assert_eq(schemarows_change(&rows, TEXT_UTF8, 2, NULL), 0);
        cr_assert_eq(schemarows_change(&rows, TEXT_UTF8, 7, NULL), 0);
        expect_rows(&rows, "5 other 9 nine ");
        expect_rows(&copy, "2 two 5 five 9 nine ");
        cr_expect_eq(rows.rows[0].root, 3);
        schema_rows_release(&rows);
        schema_rows_release(&copy);
}

Test(tracking, a_row_that_cannot_be_decoded_is_refused)
{
        struct schema_rows rows = {0};
        struct buf empty = BUF_INIT;
        _cleanup_(buf_release) struct buf nulls = BUF_INIT;
        buf_append(&nulls, "\6\0\0\0\0\0", 6);
        cr_expect_eq(schemarows_change(&rows, TEXT_UTF8, 1, &empty), -EBADMSG);
        cr_expect_eq(schemarows_change(&rows, TEXT_UTF8, 1, &nulls), -EBADMSG);
        cr_expect_eq(rows.count, 0);
        schema_rows_release(&rows);
}
