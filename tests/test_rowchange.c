/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "meaning/rowchange.h"
#include "prng.h"
#include "schema_of.h"
#include "tmp.h"
#include "values.h"

/* Rows of t(k, v, w); k, v are captured. A NULL in `k` is a key that is NULL. */
struct row {
        int64_t rowid;
        const char *old, *new; /* "k v w" as text, one letter or - (NULL) each; NULL = no row */
};

static unsigned parse_row(const char *text, struct value values[3])
{
        for (unsigned i = 0; i < 3; i++) {
                values[i] = v_text(text + 2 * i);
                values[i].size = 1;
                if (text[2 * i] == '-')
                        values[i] = v_null();
        }
        return 3;
}

static void add_row(struct rowchange *rows, const struct row *row)
{
        struct value old[3], new[3];
        struct rowchange_row a = {.values = old}, b = {.values = new};
        if (row->old)
                a.count = parse_row(row->old, old);
        if (row->new)
                b.count = parse_row(row->new, new);
        cr_assert_eq(
                rowchange_add(rows, row->rowid, row->old ? &a : NULL, row->new ? &b : NULL), 0);
}

static struct binding bind_table(const char *sql, bool is_keyed)
{
        struct schema *schema = schema_of(sql);
        struct binding binding;
        char *names[] = {"k", "v"};
        unsigned key[] = {1};
        cr_assert_eq(binding_make(1, schema, schema_find_table(schema, "t"), names, 2, key,
                             is_keyed, &binding),
                0);
        schema_unref(schema);
        return binding;
}

static void append_changes(struct changeset *set, struct buf *ret_text)
{
        struct change change;
        int r;
        cr_assert_eq(changeset_seal(set), 0);
        while ((r = changeset_next(set, &change)) == 1)
                append_change(ret_text, &change);
        cr_assert_eq(r, 0);
}

enum identity { BY_KEY, BY_ROWID, BY_CONTENT, BY_KEY_OR_CONTENT };

static const struct {
        const char *name;
        enum identity identity;
        struct row rows[8];
        const char *want;
} cases[] = {
        {"nothing", BY_KEY, {{0}}, ""},
        {"a row that came", BY_KEY, {{1, NULL, "a x ."}}, "1 insert xx 'a','x'; "},
        {"a row that went", BY_KEY, {{1, "a x .", NULL}}, "1 delete xx 'a','x'; "},
        {"a row that changed", BY_KEY, {{1, "a x .", "a y ."}}, "1 update .x 'a','x'>'a','y'; "},
        {"a column that is not captured", BY_KEY, {{1, "a x .", "a x ,"}}, ""},
        {"a key that changed", BY_KEY, {{1, "a x .", "b x ."}},
                "1 delete xx 'a','x'; 1 insert xx 'b','x'; "},
        {"keys that swapped", BY_KEY, {{1, "a x .", "b x ."}, {2, "b y .", "a y ."}},
                "1 update .x 'a','x'>'a','y'; 1 update .x 'b','y'>'b','x'; "},
        {"keys that went round", BY_KEY,
                {{1, "a x .", "b x ."}, {2, "b y .", "c y ."}, {3, "c z .", "a z ."}},
                "1 update .x 'a','x'>'a','z'; 1 update .x 'b','y'>'b','x'; "
                "1 update .x 'c','z'>'c','y'; "},
        {"keys that moved up", BY_KEY, {{1, "a x .", "b x ."}, {2, "b y .", "c y ."}},
                "1 delete xx 'a','x'; 1 update .x 'b','y'>'b','x'; 1 insert xx 'c','y'; "},
        {"a key on another row", BY_KEY, {{1, "a x .", NULL}, {7, NULL, "a y ."}},
                "1 update .x 'a','x'>'a','y'; "},
        {"the same on another row", BY_KEY, {{1, "a x .", NULL}, {7, NULL, "a x ."}}, ""},
        {"the new row before the old", BY_KEY, {{1, NULL, "a y ."}, {7, "a x .", NULL}},
                "1 update .x 'a','x'>'a','y'; "},
        {"keys that swapped with equal values", BY_KEY,
                {{1, "a x .", "b x ."}, {2, "b x .", "a x ."}}, ""},
        {"the order of keys, not of rows", BY_KEY,
                {{1, NULL, "d x ."}, {2, NULL, "a x ."}, {3, "c x .", NULL}, {4, "b x .", NULL},
                        {5, "f x .", "f y ."}, {6, "e x .", "e y ."}},
                "1 delete xx 'b','x'; 1 delete xx 'c','x'; 1 update .x 'e','x'>'e','y'; "
                "1 update .x 'f','x'>'f','y'; 1 insert xx 'a','x'; 1 insert xx 'd','x'; "},
        {"keys that are NULL", BY_KEY,
                {{1, "- x .", "- y ."}, {2, "- x .", NULL}, {3, NULL, "- z ."}},
                "1 delete xx NULL,'x'; 1 update .x NULL,'x'>NULL,'y'; 1 insert xx NULL,'z'; "},
        {"a key that becomes NULL", BY_KEY, {{1, "a x .", "- x ."}, {2, "- y .", "a y ."}},
                "1 delete xx NULL,'y'; 1 update .x 'a','x'>'a','y'; 1 insert xx NULL,'x'; "},
        {"a NULL key on another row", BY_KEY, {{1, "- x .", NULL}, {2, NULL, "- x ."}},
                "1 delete xx NULL,'x'; 1 insert xx NULL,'x'; "},
        {"by rowid: a changed key is an update", BY_ROWID, {{1, "a x .", "b x ."}},
                "1 update x. 'a','x'>'b','x'; "},
        {"by rowid: rows do not pair", BY_ROWID, {{1, "a x .", NULL}, {7, NULL, "a x ."}},
                "1 delete xx 'a','x'; 1 insert xx 'a','x'; "},
        {"by rowid: not captured", BY_ROWID, {{1, "a x .", "a x ,"}, {2, "b x .", "c x ."}},
                "1 update x. 'b','x'>'c','x'; "},
        {"by content: renumbered rows", BY_CONTENT,
                {{1, "a x .", NULL}, {3, "b x .", NULL}, {1, NULL, "b x ."}, {2, NULL, "a x ."}},
                ""},
        {"by content: equal rows", BY_CONTENT,
                {{1, "a x .", NULL}, {2, "a x .", NULL}, {3, "a x .", NULL}, {1, NULL, "a x ."}},
                "1 delete xx 'a','x'; 1 delete xx 'a','x'; "},
        {"by content: one more equal row", BY_CONTENT,
                {{1, "a x .", NULL}, {1, NULL, "a x ."}, {2, NULL, "a x ."}},
                "1 insert xx 'a','x'; "},
        {"by content: a change is a delete and an insert", BY_CONTENT, {{1, "a x .", "a y ."}},
                "1 delete xx 'a','x'; 1 insert xx 'a','y'; "},
        {"by content: NULLs are equal", BY_CONTENT, {{1, "- - .", NULL}, {9, NULL, "- - ,"}}, ""},
        {"by key or content: renumbered rows", BY_KEY_OR_CONTENT,
                {{1, "- x .", "- y ."}, {2, "- y .", "a x ."}, {3, "a x .", "- x ."}}, ""},
        {"by key or content: a key is an update", BY_KEY_OR_CONTENT,
                {{1, "a x .", NULL}, {2, "- x .", NULL}, {7, NULL, "a y ."}, {8, NULL, "- x ."}},
                "1 update .x 'a','x'>'a','y'; "},
        {"by key or content: a NULL key is none", BY_KEY_OR_CONTENT, {{1, "- x .", "- y ."}},
                "1 delete xx NULL,'x'; 1 insert xx NULL,'y'; "},
        {"by key or content: a key that becomes NULL", BY_KEY_OR_CONTENT, {{1, "a x .", "- x ."}},
                "1 delete xx 'a','x'; 1 insert xx NULL,'x'; "},
};

Test(rowchange, rows_pair_by_their_identity)
{
        struct binding keyed = bind_table("CREATE TABLE t(k PRIMARY KEY, v, w)", true);
        struct binding plain = bind_table("CREATE TABLE t(k, v, w)", false);
        struct rowchange rows = {0};
        struct changeset set;
        changeset_init(&set, NULL);
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT;
                enum identity identity = cases[i].identity;
                bool is_keyed = identity == BY_KEY || identity == BY_KEY_OR_CONTENT;
                bool is_by_content = identity == BY_CONTENT || identity == BY_KEY_OR_CONTENT;
                const struct binding *b = is_keyed ? &keyed : &plain;
                changeset_reset(&set);
                cr_assert_eq(rowchange_begin(&rows, b, b, is_by_content, &set), 0);
                for (const struct row *row = cases[i].rows; row->old || row->new; row++)
                        add_row(&rows, row);
                cr_assert_eq(rowchange_end(&rows), 0);
                append_changes(&set, &text);
                cr_expect_str_eq(buf_string(&text), cases[i].want, "%s: %s", cases[i].name,
                        buf_string(&text));
        }
        rowchange_release(&rows);
        rowchange_release(&rows);
        changeset_release(&set);
        binding_release(&keyed);
        binding_release(&plain);
}

Test(rowchange, two_instances_follow_each_other)
{
        struct binding keyed = bind_table("CREATE TABLE t(k PRIMARY KEY, v, w)", true);
        struct binding plain = bind_table("CREATE TABLE t(v, k, w)", false);
        struct rowchange rows = {0};
        struct changeset set;
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        changeset_init(&set, NULL);
        plain.object_id = 2;
        cr_assert_eq(rowchange_begin(&rows, &keyed, &keyed, false, &set), 0);
        add_row(&rows, &(struct row){1, "a x .", "b x ."});
        cr_assert_eq(rowchange_end(&rows), 0);
        cr_assert_eq(rowchange_begin(&rows, &plain, &plain, false, &set), 0);
        add_row(&rows, &(struct row){1, "a x .", "b x ."});
        cr_assert_eq(rowchange_end(&rows), 0);
        append_changes(&set, &text);
        cr_expect_str_eq(buf_string(&text),
                "1 delete xx 'a','x'; 2 update .x 'x','a'>'x','b'; 1 insert xx 'b','x'; ", "%s",
                buf_string(&text));
        rowchange_release(&rows);
        changeset_release(&set);
        binding_release(&keyed);
        binding_release(&plain);
}

Test(rowchange, old_and_new_rows_are_read_by_their_own_binding)
{
        struct binding b = bind_table("CREATE TABLE t(k PRIMARY KEY, w, v)", true), before;
        struct schema *schema = schema_of("CREATE TABLE t(k PRIMARY KEY, v)");
        static const int map[] = {0, -1, 1};
        struct rowchange rows = {0};
        struct changeset set;
        struct value old[] = {v_text("a"), v_text("w"), v_text("x")};
        struct value new[] = {v_text("a"), v_text("x")}, other[] = {v_text("a"), v_text("y")};
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        cr_assert_eq(binding_renew(&b, schema, schema_find_table(schema, "t"), map, &before), 0);
        changeset_init(&set, NULL);
        cr_assert_eq(rowchange_begin(&rows, &before, &b, false, &set), 0);
        struct rowchange_row a = {.values = old, .count = 3}, c = {.values = new, .count = 2};
        cr_assert_eq(rowchange_add(&rows, 1, &a, &c), 0);
        cr_assert_eq(rowchange_end(&rows), 0);
        cr_assert_eq(rowchange_begin(&rows, &before, &b, false, &set), 0);
        c.values = other;
        cr_assert_eq(rowchange_add(&rows, 1, &a, &c), 0);
        cr_assert_eq(rowchange_end(&rows), 0);
        append_changes(&set, &text);
        cr_expect_str_eq(
                buf_string(&text), "1 update .x 'a','x'>'a','y'; ", "%s", buf_string(&text));
        rowchange_release(&rows);
        changeset_release(&set);
        binding_release(&before);
        binding_release(&b);
        schema_unref(schema);
}

/* ---- more than memory takes ---- */

enum { ROWS = 12000, PAYLOAD = 1500 };

/* Each row's key goes to another row: before, row i has key i; after, it has key to[i], or is
 * gone (to[i] < 0). Values say which row they came from. */
static void shuffle(int32_t *to, struct prng *prng)
{
        for (int32_t i = 0; i < ROWS; i++)
                to[i] = i;
        for (uint32_t i = ROWS - 1; i > 0; i--) {
                uint32_t k = prng_below(prng, i + 1);
                int32_t swap = to[i];
                to[i] = to[k];
                to[k] = swap;
        }
        for (int32_t i = 0; i < ROWS; i++)
                if (prng_below(prng, 10) == 0)
                        to[i] = -1;
}

static void fill_values(struct value values[2], int32_t key, int32_t origin, uint8_t *bytes)
{
        memset(bytes, 0, PAYLOAD);
        memcpy(bytes, &origin, sizeof(origin));
        values[0] = v_integer(key);
        values[1] = v_blob(bytes, PAYLOAD);
}

static void expect_shuffled(struct changeset *set, const int32_t *to)
{
        _cleanup_free_ int32_t *from = malloc(ROWS * sizeof(*from));
        struct change change;
        int64_t last[5] = {-1, -1, -1, -1, -1};
        unsigned deletes = 0, updates = 0, want_deletes = 0, want_updates = 0;
        memset(from, 0xff, ROWS * sizeof(*from));
        for (int32_t i = 0; i < ROWS; i++)
                if (to[i] >= 0)
                        from[to[i]] = i;
        cr_assert_eq(changeset_seal(set), 0);
        while (changeset_next(set, &change) == 1) {
                int64_t key = change.before[0].integer;
                int32_t before, after = -1;
                cr_assert_gt(key, last[change.operation], "the order of keys");
                last[change.operation] = key;
                memcpy(&before, change.before[1].bytes, sizeof(before));
                if (change.after)
                        memcpy(&after, change.after[1].bytes, sizeof(after));
                cr_assert_eq(before, key);
                cr_assert_eq(after, from[key]);
                deletes += change.operation == CHANGE_DELETE;
                updates += change.operation == CHANGE_UPDATE;
        }
        for (int32_t i = 0; i < ROWS; i++) {
                want_deletes += from[i] < 0;
                want_updates += from[i] >= 0 && from[i] != i;
        }
        cr_expect_eq(deletes, want_deletes);
        cr_expect_eq(updates, want_updates);
}

Test(rowchange, many_megabytes_of_swapped_keys_pair_all_the_same)
{
        struct binding b = bind_table("CREATE TABLE t(k PRIMARY KEY, v)", true);
        _cleanup_free_ int32_t *to = malloc(ROWS * sizeof(*to));
        struct rowchange rows = {0};
        struct changeset set;
        struct prng prng = {51};
        struct tmp tmp;
        uint8_t bytes[2][PAYLOAD];
        tmp_open(&tmp);
        changeset_init(&set, tmp.directory);
        for (int round = 0; round < 3; round++) {
                shuffle(to, &prng);
                changeset_reset(&set);
                cr_assert_eq(rowchange_begin(&rows, &b, &b, false, &set), 0);
                for (int32_t i = 0; i < ROWS; i++) {
                        struct value old[2], new[2];
                        struct rowchange_row a = {.values = old, .count = 2};
                        struct rowchange_row c = {.values = new, .count = 2};
                        fill_values(old, i, i, bytes[0]);
                        fill_values(new, to[i], i, bytes[1]);
                        cr_assert_eq(rowchange_add(&rows, i, &a, to[i] < 0 ? NULL : &c), 0);
                }
                cr_expect(rows.sorter.is_spilled);
                cr_assert_eq(rowchange_end(&rows), 0);
                expect_shuffled(&set, to);
        }
        rowchange_release(&rows);
        changeset_release(&set);
        binding_release(&b);
        tmp_close(&tmp);
}
