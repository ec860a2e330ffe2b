/* SPDX-License-Identifier: MIT
 *
 * netchanges: the rows of every window and filter, against the rules and against a model.
 */
#include "faces/netchanges.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>

#include "changes_fixture.h"
#include "ground/buf.h"
#include "prng.h"

static const enum netchanges_filter filters[] = {
        NETCHANGES_ALL, NETCHANGES_ALL_WITH_MASK, NETCHANGES_ALL_WITH_MERGE};

/* `frame:operation/mask:x` words. */
static void append_row(struct buf *buf, const struct value *row)
{
        struct lsn lsn;
        memcpy(lsn.bytes, row[0].bytes, LSN_SIZE);
        buf_append_format(buf, "%s%u:%lld", buf->size ? " " : "", (unsigned)lsn_frame(lsn),
                (long long)row[1].integer);
        if (row[2].type != VALUE_NULL)
                buf_append_format(buf, "/%u", row[2].bytes[0]);
        buf_append_format(buf, ":%.*s", (int)row[4].size, (const char *)row[4].bytes);
}

static int read_rows(struct netchanges *net, struct buf *buf)
{
        const struct value *row;
        int r;
        while ((r = netchanges_next(net, &row)) > 0)
                append_row(buf, row);
        return r;
}

static void read_window(struct store_fixture *f, int64_t id, uint32_t from, uint32_t to,
        enum netchanges_filter filter, struct buf *buf)
{
        _cleanup_netchanges_ struct netchanges *net = NULL;
        cr_assert_eq(netchanges_open(store_db(f->store), id, changes_fixture_lsn(from),
                             changes_fixture_lsn(to), filter, &net),
                0);
        cr_assert_eq(read_rows(net, buf), 0);
}

/* Each word a commit, from frame 2 on; rows for each filter. */
static const struct {
        const char *name;
        const char *commits[6];
        const char *rows[3];
} histories[] = {
        {"I", {"i1"}, {"2:2:i1", "2:2:i1", "2:5:i1"}},
        {"I, U", {"i1", "u1"}, {"3:2:u1", "3:2:u1", "3:5:u1"}},
        {"I, D", {"i1", "d1"}, {"", "", ""}},
        {"I, U, D", {"i1", "u1", "d1"}, {"", "", ""}},
        {"I, U, D in one transaction", {"i1 u1 d1"}, {"", "", ""}},
        {"U", {"u1"}, {"2:4:u1", "2:4/2:u1", "2:5:u1"}},
        {"U, U", {"u1", "u1"}, {"3:4:u1", "3:4/2:u1", "3:5:u1"}},
        {"D", {"d1"}, {"2:1:-d1", "2:1:-d1", "2:1:-d1"}},
        {"U, D", {"u1", "d1"}, {"3:1:-d1", "3:1:-d1", "3:1:-d1"}},
        {"D, I", {"d1", "i1"}, {"3:4:i1", "3:4/3:i1", "3:5:i1"}},
        {"D, I in one transaction", {"d1 i1"}, {"2:4:i1", "2:4/3:i1", "2:5:i1"}},
        {"D, I, D", {"d1", "i1", "d1"}, {"4:1:-d1", "4:1:-d1", "4:1:-d1"}},
        {"I, D, I", {"i1", "d1", "i1"}, {"4:2:i1", "4:2:i1", "4:5:i1"}},
        {"key change 1 to 2", {"d1 i2"}, {"2:1:-d1 2:2:i2", "2:1:-d1 2:2:i2", "2:1:-d1 2:5:i2"}},
        {"key change to one that was there", {"d2", "d1 i2"},
                {"3:1:-d1 3:4:i2", "3:1:-d1 3:4/3:i2", "3:1:-d1 3:5:i2"}},
        {"insert and key change", {"i1", "d1 i2"}, {"3:2:i2", "3:2:i2", "3:5:i2"}},
        {"order of the last changes", {"i1 i2 u3", "u2", "u1"},
                {"2:4:u3 3:2:u2 4:2:u1", "2:4/2:u3 3:2:u2 4:2:u1", "2:5:u3 3:5:u2 4:5:u1"}},
        {"nothing", {""}, {"", "", ""}},
};

Test(netchanges, collapses_each_history_by_the_rules)
{
        for (unsigned i = 0; i < COUNT(histories); i++) {
                struct store_fixture f;
                store_fixture_open(&f, TEXT_UTF8);
                int64_t id = changes_fixture_enable(&f, "main_t");
                changes_fixture_recognise(&f, id, 1);
                uint32_t frame = 2;
                for (unsigned j = 0; histories[i].commits[j]; j++)
                        changes_fixture_commit(&f, id, frame++, histories[i].commits[j]);
                for (unsigned j = 0; j < COUNT(filters); j++) {
                        _cleanup_(buf_release) struct buf buf = BUF_INIT;
                        read_window(&f, id, 1, frame - 1, filters[j], &buf);
                        cr_expect_str_eq(buf_string(&buf), histories[i].rows[j], "%s, %u: %s",
                                histories[i].name, j, buf_string(&buf));
                }
                store_fixture_close(&f);
        }
}

/* B059: a window shows what was true at its end, also after the row is gone. */
Test(netchanges, B059_gives_each_window_its_own_values)
{
        static const struct {
                uint32_t from, to;
                const char *rows;
        } windows[] = {
                {1, 4, "1:2:i1"},
                {2, 6, "5:4/2:u1"},
                {6, 8, ""},
                {1, 9, "9:2:u1"},
        };
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 0);
        changes_fixture_commit(&f, id, 1, "i1");
        changes_fixture_commit(&f, id, 5, "u1");
        changes_fixture_commit(&f, id, 9, "u1");
        for (unsigned i = 0; i < 2 * COUNT(windows); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                unsigned window = i % COUNT(windows);
                if (i == COUNT(windows))
                        changes_fixture_commit(&f, id, 10, "d1");
                read_window(&f, id, windows[window].from, windows[window].to,
                        NETCHANGES_ALL_WITH_MASK, &buf);
                cr_expect_str_eq(
                        buf_string(&buf), windows[window].rows, "%u: %s", i, buf_string(&buf));
        }
        store_fixture_close(&f);
}

/* ---- a model ---- */

enum { MODEL_KEYS = 12, MODEL_FRAMES = 60 };

struct happening {
        char operation;
        unsigned key;
        uint32_t frame;
};

/* What the rules make of one key's happenings in a window, straight from their text. */
static void model_key(struct buf *lines, const struct happening *all, unsigned count, unsigned key,
        uint32_t from, uint32_t to)
{
        const struct happening *first = NULL, *last = NULL;
        unsigned mask = 0, place = 0;
        for (unsigned i = 0; i < count; i++) {
                if (all[i].key != key || all[i].frame < from || all[i].frame > to)
                        continue;
                first = first ? first : &all[i];
                last = &all[i];
                place = i;
                mask |= all[i].operation == 'u' ? 2 : 3;
        }
        if (!last || (first->operation == 'i' && last->operation == 'd'))
                return;
        char text[64];
        int operation = last->operation == 'd' ? 1 : first->operation == 'i' ? 2 : 4;
        snprintf(text, sizeof text, "%06u %u:%d%s:%s%c%u", place, last->frame, operation,
                operation == 4 ? (mask == 2 ? "/2" : "/3") : "", operation == 1 ? "-" : "",
                last->operation, key);
        buf_append(lines, text, sizeof text);
}

static int compare_lines(const void *a, const void *b)
{
        return strcmp(a, b);
}

static void model_window(
        struct buf *buf, const struct happening *all, unsigned count, uint32_t from, uint32_t to)
{
        _cleanup_(buf_release) struct buf lines = BUF_INIT;
        for (unsigned key = 0; key < MODEL_KEYS; key++)
                model_key(&lines, all, count, key, from, to);
        if (lines.size)
                qsort(lines.data, lines.size / 64, 64, compare_lines);
        for (size_t at = 0; at < lines.size; at += 64)
                buf_append_format(buf, "%s%s", at ? " " : "", (char *)lines.data + at + 7);
}

/* A transaction that may happen: rows that are there are changed, others inserted. */
static unsigned invent(
        struct prng *prng, bool *is_there, uint32_t frame, struct happening *all, char *words)
{
        unsigned count = prng_below(prng, 6);
        words[0] = 0;
        for (unsigned i = 0; i < count; i++) {
                unsigned key = prng_below(prng, MODEL_KEYS);
                char operation = !is_there[key] ? 'i' : prng_below(prng, 2) ? 'u' : 'd';
                is_there[key] = operation != 'd';
                all[i] = (struct happening){operation, key, frame};
                sprintf(words + strlen(words), "%c%u ", operation, key);
        }
        return count;
}

Test(netchanges, agrees_with_a_model_on_any_window)
{
        for (uint64_t seed = 1; seed <= 4; seed++) {
                struct happening all[MODEL_FRAMES * 6];
                bool is_there[MODEL_KEYS] = {false};
                struct prng prng = {.state = seed};
                struct store_fixture f;
                char words[128];
                unsigned count = 0;
                store_fixture_open(&f, TEXT_UTF8);
                int64_t id = changes_fixture_enable(&f, "main_t");
                changes_fixture_recognise(&f, id, 1);
                for (uint32_t frame = 2; frame < MODEL_FRAMES; frame++) {
                        count += invent(&prng, is_there, frame, all + count, words);
                        changes_fixture_commit(&f, id, frame, words);
                }
                for (unsigned i = 0; i < 300; i++) {
                        _cleanup_(buf_release) struct buf wanted = BUF_INIT;
                        _cleanup_(buf_release) struct buf got = BUF_INIT;
                        uint32_t from = 1 + prng_below(&prng, MODEL_FRAMES);
                        uint32_t to = from + prng_below(&prng, MODEL_FRAMES + 1 - from);
                        model_window(&wanted, all, count, from, to);
                        read_window(&f, id, from, to, NETCHANGES_ALL_WITH_MASK, &got);
                        cr_assert_str_eq(buf_string(&got), buf_string(&wanted), "seed %u, %u to %u",
                                (unsigned)seed, from, to);
                }
                store_fixture_close(&f);
        }
}

/* ---- keys ---- */

/* Rows of one store, written with SQL: change number, operation, key columns. */
static void insert_change(
        struct store_fixture *f, unsigned number, int operation, const char *values)
{
        char sql[400];
        snprintf(sql, sizeof sql,
                "INSERT INTO main_t_CT(_rowid_, \"__$start_lsn\", \"__$seqval\", \"__$operation\", "
                "\"__$update_mask\", a, b) "
                "VALUES(%u, x'00000001000000020001', x'0000000000000000%04x', %d, x'%02x', %s)",
                2 * number + 1, number, operation, operation == 4 ? 2 : 3, values);
        store_fixture_check(sql_execute(store_db(f->store), sql), sql);
}

static void read_numbers(struct store_fixture *f, int64_t id, struct buf *buf)
{
        _cleanup_netchanges_ struct netchanges *net = NULL;
        const struct value *row;
        cr_assert_eq(netchanges_open_range(store_db(f->store), id, (struct changes_range){1, 999},
                             NETCHANGES_ALL_WITH_MASK, &net),
                0);
        while (netchanges_next(net, &row) == 1)
                buf_append_format(buf, "%s%u:%lld", buf->size ? " " : "",
                        (unsigned)netchanges_number(net), (long long)row[1].integer);
}

Test(netchanges, tells_keys_apart_by_storage_class_and_bytes)
{
        static const struct {
                const char *first, *second;
                bool is_same;
        } pairs[] = {
                {"1, 'x'", "1, 'y'", true},
                {"1, 'x'", "1.0, 'x'", false},
                {"'1', 'x'", "1, 'x'", false},
                {"'a', 'x'", "'A', 'x'", false},
                {"'a', 'x'", "x'61', 'x'", false},
                {"'', 'x'", "'', 'y'", true},
                {"'', 'x'", "x'', 'x'", false},
                {"0.0, 'x'", "-0.0, 'x'", false},
                {"NULL, 'x'", "NULL, 'x'", false},
                {"NULL, 'x'", "1, 'x'", false},
        };
        for (unsigned i = 0; i < COUNT(pairs); i++) {
                struct store_fixture f;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                store_fixture_open(&f, TEXT_UTF8);
                int64_t id =
                        store_fixture_enable(&f, "CREATE TABLE t(a PRIMARY KEY, b)", "t", "main_t");
                insert_change(&f, 1, 2, pairs[i].first);
                insert_change(&f, 2, 4, pairs[i].second);
                read_numbers(&f, id, &buf);
                cr_expect_str_eq(buf_string(&buf), pairs[i].is_same ? "2:2" : "1:2 2:4",
                        "%s and %s: %s", pairs[i].first, pairs[i].second, buf_string(&buf));
                store_fixture_close(&f);
        }
}

Test(netchanges, lets_rows_that_nothing_identifies_stand)
{
        struct store_fixture f;
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id =
                store_fixture_enable(&f, "CREATE TABLE t(a, b, PRIMARY KEY(b, a))", "t", "main_t");
        insert_change(&f, 1, 2, "NULL, 1");
        insert_change(&f, 2, 2, "NULL, 1");
        insert_change(&f, 3, 2, "1, 1");
        insert_change(&f, 4, 1, "NULL, 1");
        insert_change(&f, 5, 1, "1, 1");
        insert_change(&f, 6, 4, "NULL, NULL");
        read_numbers(&f, id, &buf);
        cr_expect_str_eq(buf_string(&buf), "1:2 2:2 4:1 6:4", "%s", buf_string(&buf));
        store_fixture_close(&f);
}

/* B061: without a key nothing is merged, and the message says why. */
Test(netchanges, B061_refuses_an_instance_without_a_key)
{
        struct store_fixture f;
        struct problem problem = {0};
        struct netchanges *net = NULL;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = store_fixture_enable(&f, "CREATE TABLE nk(a, b)", "nk", "main_nk");
        cr_expect_eq(netchanges_check(store_db(f.store), id, &problem), -ENOTSUP);
        cr_expect_eq(problem.number, 208);
        cr_expect_not_null(strstr(problem.message, "main_nk"), "%s", problem.message);
        cr_expect_not_null(strstr(problem.message, "no key"), "%s", problem.message);
        cr_expect_eq(netchanges_open_range(store_db(f.store), id, (struct changes_range){1, 2},
                             NETCHANGES_ALL, &net),
                -ENOTSUP);
        cr_expect_eq(netchanges_check(store_db(f.store), 99, &problem), -ENOENT);
        cr_expect_eq(netchanges_open_range(store_db(f.store), 99, (struct changes_range){1, 2},
                             NETCHANGES_ALL, &net),
                -ENOENT);
        struct instances_request request = {.name = "main_off", .supports_net = 0};
        cr_assert_eq(store_fixture_try(&f, "CREATE TABLE k(a INTEGER PRIMARY KEY)", "k", request,
                             &problem, &id),
                0);
        cr_expect_eq(netchanges_check(store_db(f.store), id, &problem), -ENOTSUP);
        cr_expect_not_null(
                strstr(problem.message, "--supports-net-changes 0"), "%s", problem.message);
        store_fixture_close(&f);
}

/* ---- the rest ---- */

Test(netchanges, reads_filters_as_the_function_does)
{
        static const struct {
                const char *text;
                int result;
                enum netchanges_filter filter;
        } cases[] = {
                {"all", 0, NETCHANGES_ALL},
                {" ALL WITH MASK ", 0, NETCHANGES_ALL_WITH_MASK},
                {"all with merge", 0, NETCHANGES_ALL_WITH_MERGE},
                {"all update old", -EINVAL, 0},
                {"all with", -EINVAL, 0},
                {"", -EINVAL, 0},
                {NULL, -EINVAL, 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                enum netchanges_filter filter = 0;
                cr_expect_eq(netchanges_parse_filter(cases[i].text, &filter), cases[i].result);
                cr_expect_eq(filter, cases[i].filter);
        }
}

Test(netchanges, goes_on_at_any_row)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 1);
        changes_fixture_commit(&f, id, 2, "i1 i2 i3 i4");
        changes_fixture_commit(&f, id, 3, "u2 d3");
        for (uint64_t number = 0; number <= 6; number++) {
                _cleanup_netchanges_ struct netchanges *net = NULL;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                cr_assert_eq(netchanges_open_range(store_db(f.store), id,
                                     (struct changes_range){1, 6}, NETCHANGES_ALL, &net),
                        0);
                netchanges_skip(net, number);
                cr_assert_eq(read_rows(net, &buf), 0);
                cr_expect_str_eq(buf_string(&buf),
                        number <= 1   ? "2:2:i1 2:2:i4 3:2:u2"
                        : number <= 4 ? "2:2:i4 3:2:u2"
                        : number <= 5 ? "3:2:u2"
                                      : "",
                        "%u: %s", (unsigned)number, buf_string(&buf));
        }
        store_fixture_close(&f);
}

Test(netchanges, refuses_what_is_damaged_or_gone)
{
        struct store_fixture f;
        struct netchanges *net = NULL;
        const struct value *row;
        store_fixture_open(&f, TEXT_UTF8);
        sqlite3 *db = store_db(f.store);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 1);
        changes_fixture_commit(&f, id, 2, "i1");
        const struct changes_range range = {1, 6};
        cr_assert_eq(netchanges_open_range(db, id, range, NETCHANGES_ALL, &net), 0);
        store_fixture_check(sql_execute(db, "DELETE FROM main_t_CT"), "DELETE");
        cr_expect_eq(netchanges_next(net, &row), -ESTALE);
        netchanges_close(net);
        static const char *const damages[] = {"\"__$operation\" = 7", "\"__$seqval\" = 1",
                "\"__$update_mask\" = NULL", "\"__$update_mask\" = x'000001'"};
        for (unsigned i = 0; i < COUNT(damages); i++) {
                char sql[100];
                snprintf(sql, sizeof sql, "UPDATE main_t_CT SET %s WHERE rowid > %u", damages[i],
                        2 * (2 * i + 2) + 2);
                changes_fixture_commit(&f, id, 3 + i, "i1 u1");
                store_fixture_check(sql_execute(db, sql), sql);
                cr_expect_eq(netchanges_open_range(db, id, (struct changes_range){2 * i + 2, 99},
                                     NETCHANGES_ALL, &net),
                        -EBADMSG, "%s", damages[i]);
        }
        store_fixture_close(&f);
}

static long peak_kib(void)
{
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
}

static void insert_many(sqlite3 *db, unsigned count)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        store_fixture_check(sql_execute(db, "BEGIN"), "BEGIN");
        cr_assert_eq(sqlite3_prepare_v2(db,
                             "INSERT INTO main_t_CT(_rowid_, \"__$start_lsn\", \"__$seqval\","
                             "  \"__$operation\", \"__$update_mask\", a) VALUES(2 * ?1 + 1,"
                             "  x'00000001000000020001', ?2, 2, x'03', printf('%090d', ?3))",
                             -1, &stmt, NULL),
                SQLITE_OK);
        for (unsigned i = 1; i <= count; i++) {
                sqlite3_bind_int64(stmt, 1, i);
                sql_bind_lsn(stmt, 2, lsn_from_change(i));
                sqlite3_bind_int64(stmt, 3, (int64_t)i * 7919 % 1000003);
                sqlite3_step(stmt);
                sqlite3_reset(stmt);
        }
        store_fixture_check(sql_execute(db, "COMMIT"), "COMMIT");
}

/* Sanitizers keep what was freed, and take their time. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED 0
#endif

/* The keys of a million changes would take 160 MiB. */
Test(netchanges, holds_a_million_keys_in_bounded_memory, .timeout = 100)
{
        enum {
                KEYS = IS_SANITIZED ? 300000 : 1000000,
                BOUND_KIB = (IS_SANITIZED ? 999 : 100) << 10
        };
        struct store_fixture f;
        struct netchanges *net = NULL;
        const struct value *row;
        unsigned count = 0;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id =
                store_fixture_enable(&f, "CREATE TABLE t(a TEXT PRIMARY KEY, b)", "t", "main_t");
        insert_many(store_db(f.store), KEYS);
        long before = peak_kib();
        cr_assert_eq(netchanges_open_range(store_db(f.store), id, (struct changes_range){1, KEYS},
                             NETCHANGES_ALL, &net),
                0);
        while (netchanges_next(net, &row) == 1)
                count++;
        cr_expect_eq(count, KEYS, "%u", count);
        cr_expect_lt(peak_kib() - before, BOUND_KIB, "%ld KiB", peak_kib() - before);
        netchanges_close(net);
        store_fixture_close(&f);
}
