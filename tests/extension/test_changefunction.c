/* SPDX-License-Identifier: MIT
 *
 * changefunction: the table-valued functions, their arguments, columns and refusals.
 */
#include "extension_fixture.h"

#define ALL "fn_cdc_get_all_changes_main_t"
#define NET "fn_cdc_get_net_changes_main_t"
#define WHOLE "(get_min_lsn('main_t'), get_max_lsn()"

static const struct {
        const char *sql, *wanted;
} cases[] = {
        {"SELECT * FROM " ALL WHOLE ", 'all')",
                "x000000010000000f0001|x00000000000000000001|2|x03|1|i1;"
                "x000000010000000f0001|x00000000000000000002|2|x03|2|i2;"
                "x00000001000000140001|x00000000000000000003|4|x02|1|u1;"
                "x00000001000000140001|x00000000000000000004|1|x03|2|-d2;"
                "x00000001000000140001|x00000000000000000005|4|x02|3|u3"},
        {"SELECT __$operation, x FROM " ALL WHOLE ", ' ALL Update old')",
                "2|i1;2|i2;3|-u1;4|u1;1|-d2;3|-u3;4|u3"},
        {"SELECT count(*) FROM " ALL WHOLE ")", "7"},
        {"SELECT * FROM " NET WHOLE ")", "x00000001000000140001|2|NULL|1|u1;"
                                         "x00000001000000140001|4|x02|3|u3"},
        {"SELECT __$operation, __$update_mask, x FROM " NET WHOLE ", 'all')",
                "2|NULL|u1;4|NULL|u3"},
        {"SELECT __$operation, x FROM " NET "('00000001:00000014:0001', "
         "'0x00000001000000140001', 'all with merge')",
                "5|u1;1|-d2;5|u3"},
        {"SELECT count(*) FROM " NET "(get_min_lsn('main_t'), get_min_lsn('main_t'), 'all')", "0"},
        {"SELECT x FROM " NET " WHERE __$to_lsn = get_max_lsn() AND __$from_lsn = get_min_lsn()"
         " AND __$row_filter = 'all' AND id > 1",
                "u3"},
        {"SELECT rowid, x FROM " NET WHOLE ", 'all') ORDER BY __$start_lsn", "1|u1;2|u3"},
        {"SELECT x FROM " NET WHOLE ", 'all') ORDER BY __$start_lsn DESC, id DESC", "u3;u1"},
        /* A window for each row of another table. */
        {"SELECT m.__$from, (SELECT count(*) FROM " ALL "(m.lsn, m.lsn, 'all')) FROM (SELECT "
         "start_lsn AS lsn, rowid AS __$from FROM lsn_time_mapping WHERE rowid > 1) AS m",
                "2|0;3|2;4|3"},
        {"SELECT tran_end_time, c.x FROM " NET WHOLE ", 'all') AS c JOIN lsn_time_mapping"
         " ON start_lsn = __$start_lsn WHERE id = 1",
                "2026-11-30T10:00:20.000000Z|u1"},
        {"SELECT count(*) FROM " ALL " AS a JOIN " NET " AS n USING(id) WHERE a.__$from_lsn = "
         "get_min_lsn() AND a.__$to_lsn = get_max_lsn() AND n.__$from_lsn = get_min_lsn() AND "
         "n.__$to_lsn = a.__$start_lsn",
                "6"},
        {"SELECT count(*) FROM " ALL "(increment_lsn(get_max_lsn()), get_max_lsn(), 'all')", "0"},
        {"SELECT count(*) FROM " NET "(increment_lsn(get_max_lsn()), get_max_lsn(), 'all')", "0"},
};

Test(changefunction, gives_the_rows_of_the_function)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        for (unsigned i = 0; i < COUNT(cases); i++)
                extension_fixture_expect(db, cases[i].sql, cases[i].wanted);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(changefunction, refuses_windows_by_cause)
{
        static const char *const wrong[][2] = {
                {"SELECT * FROM " ALL, "313: from_lsn is no LSN: NULL"},
                {"SELECT * FROM " ALL "(get_min_lsn())", "313: to_lsn is no LSN: NULL"},
                {"SELECT * FROM " ALL "(NULL, get_max_lsn(), 'all')", "313: from_lsn"},
                {"SELECT * FROM " ALL WHOLE ", NULL)", "313: there is no row filter ''"},
                {"SELECT * FROM " ALL WHOLE ", 'all with mask')", "313: there is no row filter"},
                {"SELECT * FROM " NET WHOLE ", 'all update old')", "313: there is no row filter"},
                {"SELECT * FROM " ALL "('00000001:00000001:0001', get_max_lsn(), 'all')",
                        "before its min_lsn"},
                {"SELECT * FROM " ALL "(get_min_lsn(), '00000001:00000099:0001', 'all')",
                        "after its max_lsn"},
                {"SELECT * FROM " ALL "(get_max_lsn(), get_min_lsn(), 'all')", "reversed"},
                {"SELECT * FROM " ALL "(increment_lsn(get_max_lsn()), "
                 "'00000001:00000099:0001', 'all')",
                        "nothing new yet"},
                {"SELECT * FROM fn_cdc_get_net_changes_main_nk" WHOLE ", 'all')", "208: "},
                {"SELECT * FROM fn_cdc_get_all_changes_main_pending" WHOLE ", 'all')", "pending"},
                {"SELECT * FROM fn_cdc_get_all_changes_main_x" WHOLE ", 'all')", "no such table"},
        };
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        for (unsigned i = 0; i < COUNT(wrong); i++)
                extension_fixture_expect_words(db, wrong[i][0], wrong[i][1]);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(changefunction, notices_an_instance_with_other_columns)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        extension_fixture_expect(db, "SELECT count(*) FROM " ALL WHOLE ", 'all')", "5");
        desk_fixture_run(x.store, "UPDATE captured_columns SET column_name = 'z' WHERE "
                                  "column_name = 'x'; ALTER TABLE main_t_CT RENAME x TO z");
        extension_fixture_expect_words(
                db, "SELECT count(*) FROM " ALL WHOLE ", 'all')", "cdc_register()");
        extension_fixture_expect(db, "SELECT cdc_register()", "3");
        extension_fixture_expect(db, "SELECT count(z) FROM " ALL WHOLE ", 'all')", "5");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

/* One state from the judgement to the last row, also where another connection writes meanwhile. */
Test(changefunction, keeps_its_state_to_the_last_row)
{
        struct extension_fixture x;
        sqlite3_stmt *stmt = NULL;
        unsigned count = 0;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        cr_assert_eq(
                sqlite3_prepare_v2(db, "SELECT id FROM " NET WHOLE ", 'all')", -1, &stmt, NULL),
                SQLITE_OK);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        desk_fixture_run(x.store, "DELETE FROM main_t_CT");
        do
                count++;
        while (sqlite3_step(stmt) == SQLITE_ROW);
        cr_expect_eq(count, 2);
        sqlite3_finalize(stmt);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}
