/* SPDX-License-Identifier: MIT
 *
 * storefind: the store is read where it is, and nothing else in its place.
 */
#include "extension_fixture.h"

static sqlite3 *open_attached(const struct extension_fixture *x)
{
        sqlite3 *db = extension_fixture_load(x->source);
        char *sql = sqlite3_mprintf("ATTACH %Q AS cdc", x->store);
        extension_fixture_execute(db, sql);
        sqlite3_free(sql);
        return db;
}

Test(storefind, reads_a_store_attached_to_the_source)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = open_attached(&x);
        extension_fixture_expect(db, "SELECT get_max_lsn()", "x00000001000000140001");
        extension_fixture_expect(db, "SELECT cdc_register()", "3");
        extension_fixture_expect(db,
                "SELECT t.x, c.x FROM fn_cdc_get_net_changes_main_t(get_min_lsn(), get_max_lsn(), "
                "'all') AS c JOIN t USING(id) JOIN cdc.lsn_time_mapping ON start_lsn = "
                "__$start_lsn",
                "now|u1;now|u3");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(storefind, refuses_where_no_store_is)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.source);
        extension_fixture_expect_words(db, "SELECT get_max_lsn()", "22901: no store is open here");
        extension_fixture_expect_words(db, "SELECT cdc_register()", "no store is open here");
        extension_fixture_expect(
                db, "SELECT increment_lsn('00000000:00000000:0000')", "x00000000000000000001");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(storefind, never_reads_a_table_that_hides_the_stores)
{
        static const char *const tables[] = {"change_tables", "CDCFS_state", "main_t_CT"};
        static const char function[] =
                "SELECT count(*) FROM fn_cdc_get_all_changes_main_t(get_min_lsn('main_t'), "
                "get_max_lsn(), 'all')";
        struct extension_fixture x;
        extension_fixture_open(&x);
        for (unsigned i = 0; i < 2 * COUNT(tables); i++) {
                char sql[100];
                sqlite3 *db = open_attached(&x);
                extension_fixture_expect(db, "SELECT cdc_register()", "3");
                extension_fixture_expect(db, function, "5");
                snprintf(sql, sizeof sql, "BEGIN; CREATE %s TABLE %s(x)", i % 2 ? "TEMP" : "",
                        tables[i / 2]);
                extension_fixture_execute(db, sql);
                extension_fixture_expect_words(db, function, "hides that of the store");
                extension_fixture_execute(db, "ROLLBACK");
                extension_fixture_expect(db, function, "5");
                sqlite3_close_v2(db);
        }
        extension_fixture_close(&x);
}

Test(storefind, refuses_a_store_of_another_version)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        desk_fixture_run(x.store, "PRAGMA user_version = 99");
        sqlite3 *db = extension_fixture_load(x.store);
        extension_fixture_expect_words(db, "SELECT get_max_lsn()", "version 99");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}
