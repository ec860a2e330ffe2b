/* SPDX-License-Identifier: MIT
 *
 * extension: it loads into any connection, and makes known what is there.
 */
#include "extension_fixture.h"

static const char count_functions[] =
        "SELECT count(*) FROM pragma_module_list WHERE name LIKE 'fn_cdc_get_%_changes_main_%'";

Test(extension, makes_every_instance_known_at_load)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        extension_fixture_expect(db, count_functions, "6");
        extension_fixture_load_into(db); /* once more does no harm */
        extension_fixture_expect(db, count_functions, "6");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(extension, makes_later_instances_known_when_asked)
{
        struct extension_fixture x;
        struct cdc_table_options options = {.table = "t",
                .capture_instance = "main_späte \"Tabelle\"",
                .supports_net_changes = -1};
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        cr_assert_eq(cdc_enable_table(&x.desk.database, &options, NULL, NULL, NULL), 0);
        extension_fixture_expect(db, "SELECT cdc_register()", "4");
        extension_fixture_expect(db, count_functions, "8");
        extension_fixture_expect_words(db,
                "SELECT * FROM \"fn_cdc_get_all_changes_main_späte \"\"Tabelle\"\"\"(1, 2, 'all')",
                "LSN");
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(extension, loads_into_a_database_that_is_nothing)
{
        sqlite3 *db = extension_fixture_load(":memory:");
        extension_fixture_expect(db, count_functions, "0");
        extension_fixture_expect(db, "SELECT is_bit_set(1, x'01')", "1");
        sqlite3_close_v2(db);
}
