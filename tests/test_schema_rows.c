/* SPDX-License-Identifier: MIT */
#include "schema_fixture.h"

Test(schema_rows, rows_come_in_the_order_of_their_rowids)
{
        struct sample sample;
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        schema_fixture_open(&sample,
                "CREATE TABLE a(x); CREATE TABLE b(y UNIQUE); CREATE VIEW c AS SELECT 1;"
                "DROP TABLE a; CREATE TABLE d(z)");
        cr_assert_eq(schema_rows_read(sample.db, &rows), 0);
        cr_expect_eq(rows.count, 4);
        for (size_t i = 0; i < rows.count; i++) {
                cr_expect(i == 0 || rows.rows[i].rowid > rows.rows[i - 1].rowid);
                bool is_automatic = strncmp(rows.rows[i].name, "sqlite_auto", 11) == 0;
                cr_expect_eq(rows.rows[i].sql == NULL, is_automatic, "%s", rows.rows[i].name);
        }
        schema_rows_release(&rows);
        schema_rows_release(&rows);
        sample_release(&sample);
}
