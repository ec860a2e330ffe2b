/* SPDX-License-Identifier: MIT */
#include "faces/mappingrows.h"

#include <criterion/criterion.h>

#include "faces/render.h"
#include "ground/cleanup.h"
#include "memory/mapping.h"
#include "store_fixture.h"

/* Three rows: a dummy, a transaction, one that was captured before rows were counted. */
static void open_rows(struct store_fixture *f, enum text_encoding encoding)
{
        struct state state = {0};
        store_fixture_open(f, encoding);
        store_fixture_check(state_load(f->store, &state), "state_load");
        store_fixture_begin(f);
        for (uint32_t i = 1; i <= 3; i++) {
                struct mapping_row row = {
                        .start_lsn = lsn_make(1, i, 1),
                        .begin_lsn = lsn_make(1, i, 1),
                        .end_ns = STORE_FIXTURE_NOW,
                        .is_dummy = i == 1,
                        .change_count = i > 1,
                        .rows = i == 2 ? "{\"é\":12}" : NULL,
                };
                store_fixture_check(mapping_append(f->store, &state, &row), "mapping_append");
        }
        store_fixture_commit(f);
        state_release(&state);
}

static void render(struct store_fixture *f, enum mappingrows_kind kind, uint64_t first,
        uint64_t last, const char *format, struct buf *buf)
{
        _cleanup_(result_close) struct result result = {0};
        _cleanup_(render_release) struct render render = {0};
        const struct value *values = NULL;
        uint64_t number = first - 1;
        int r = mappingrows_open(store_db(f->store), kind, first, last, &result);
        cr_assert_eq(r, 0);
        cr_assert_eq(render_init(&render, render_find(format), &result.shape), 0);
        buf_reset(buf);
        render_header(&render, buf);
        while ((r = result_next(&result, &values)) > 0) {
                cr_expect_gt(mappingrows_number(&result), number);
                number = mappingrows_number(&result);
                cr_expect_leq(number, last);
                render_row(&render, values, buf);
        }
        cr_assert_eq(r, 0);
}

Test(mappingrows, as_a_table_are_sql_servers)
{
        struct store_fixture f;
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        open_rows(&f, TEXT_UTF8);
        render(&f, MAPPINGROWS_TABLE, 1, 2, "csv", &buf);
        cr_expect_str_eq(buf_string(&buf),
                "start_lsn,tran_begin_time,tran_end_time,tran_id,tran_begin_lsn\n"
                "00000001:00000001:0001,2026-11-30T10:00:00.000000Z,2026-11-30T10:00:00.000000Z,"
                "\\x00,00000001:00000001:0001\n"
                "00000001:00000002:0001,2026-11-30T10:00:00.000000Z,2026-11-30T10:00:00.000000Z,"
                "\\x00000000000000000000,00000001:00000002:0001\n");
        store_fixture_close(&f);
}

Test(mappingrows, as_transactions_tell_counts_in_every_encoding)
{
        static const enum text_encoding encodings[] = {TEXT_UTF8, TEXT_UTF16LE, TEXT_UTF16BE};
        for (size_t i = 0; i < COUNT(encodings); i++) {
                struct store_fixture f;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                open_rows(&f, encodings[i]);
                render(&f, MAPPINGROWS_TRANSACTIONS, 1, 3, "jsonl", &buf);
                cr_expect_str_eq(buf_string(&buf),
                        "{\"start_lsn\":\"00000001:00000002:0001\","
                        "\"tran_begin_time\":\"2026-11-30T10:00:00.000000Z\","
                        "\"tran_end_time\":\"2026-11-30T10:00:00.000000Z\","
                        "\"tran_id\":\"\\\\x00000000000000000000\",\"rows\":{\"é\":12}}\n"
                        "{\"start_lsn\":\"00000001:00000003:0001\","
                        "\"tran_begin_time\":\"2026-11-30T10:00:00.000000Z\","
                        "\"tran_end_time\":\"2026-11-30T10:00:00.000000Z\","
                        "\"tran_id\":\"\\\\x00000000000000000000\",\"rows\":null}\n");
                store_fixture_close(&f);
        }
}
