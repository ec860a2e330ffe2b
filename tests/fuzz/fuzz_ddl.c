/* SPDX-License-Identifier: MIT
 *
 * What led from one hostile schema to another: rows of the old one, the byte 0x01, rows of the new
 * one. The whole input also goes through the search for definitions as text.
 */
#include "meaning/ddl.h"
#include "meaning/definitions.h"
#include "rows.h"

static void look_for_definitions(const uint8_t *data, size_t size)
{
        struct fuzz fuzz = {data, size};
        unsigned count = fuzz_u8(&fuzz) % 4;
        char *old = fuzz_string(&fuzz, 1), *new = fuzz_string(&fuzz, 1);
        size_t inserted = 0, length = strlen(new);
        const char *text = definitions_inserted(old, new, count, &inserted);
        if (text)
                FUZZ_CHECK(text >= new &&text + inserted <= new + length);
        FUZZ_CHECK(definitions_size(new, length) <= length);
        const char *begin = definitions_begin(new);
        FUZZ_CHECK(begin >= new &&begin <= new + length);
        free(old);
        free(new);
}

static void check_change(const struct ddl_change *change, const struct schema_table *old)
{
        for (unsigned i = 0; i < change->count; i++)
                FUZZ_CHECK(change->statements[i] != NULL);
        FUZZ_CHECK((change->verdict == DDL_STOPPED) == (change->reason != NULL));
        if (change->verdict == DDL_DROPPED || change->verdict == DDL_STOPPED || !change->map)
                return;
        FUZZ_CHECK(change->table != NULL);
        for (unsigned i = 0; i < old->column_count; i++)
                FUZZ_CHECK(change->map[i] < (int)change->table->column_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fuzz fuzz = {data, size};
        struct schema_rows rows[2];
        struct schema *old = NULL, *new = NULL;
        look_for_definitions(data, size);
        fuzz_prepare_sqlite();
        rows_take(&fuzz, &rows[0]);
        rows_take(&fuzz, &rows[1]);
        FUZZ_CHECK(schema_build(&rows[0], TEXT_UTF8, &old) == 0);
        FUZZ_CHECK(schema_build(&rows[1], TEXT_UTF8, &new) == 0);
        for (size_t i = 0; i < old->table_count * 2; i++) {
                struct ddl_change change = {0};
                const struct schema_table *table = &old->tables[i / 2];
                if (table->kind != SCHEMA_TABLE || !table->is_parsed)
                        continue;
                FUZZ_CHECK(ddl_compare(old, table, new, i % 2, &change) == 0);
                check_change(&change, table);
                ddl_change_release(&change);
        }
        schema_unref(old);
        schema_unref(new);
        schema_rows_release(&rows[0]);
        schema_rows_release(&rows[1]);
        return 0;
}
