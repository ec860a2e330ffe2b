/* SPDX-License-Identifier: MIT
 *
 * rows: hostile rows of sqlite_schema, for fuzzers: type, name, table and text, each up to a NUL.
 * An empty text is none, as an automatic index has it; `*` as a field is NULL.
 */
#ifndef CDC_TESTS_FUZZ_ROWS_H
#define CDC_TESTS_FUZZ_ROWS_H

#include "fuzz.h"
#include "source/schema.h"

enum { ROWS_LIMIT = 8, ROWS_TEXT_LIMIT = 4096 };

static inline char *rows_field(struct fuzz *fuzz)
{
        char *field = fuzz_string(fuzz, 0);
        if (strcmp(field, "*") != 0 && strlen(field) < ROWS_TEXT_LIMIT)
                return field;
        free(field);
        return NULL;
}

/* Up to the byte 0x01 in place of a type, or the end. */
static inline void rows_take(struct fuzz *fuzz, struct schema_rows *ret_rows)
{
        struct schema_rows rows = {.rows = calloc(ROWS_LIMIT, sizeof(*rows.rows))};
        FUZZ_CHECK(rows.rows != NULL);
        while (fuzz->size > 0 && *fuzz->bytes != 1 && rows.count < ROWS_LIMIT) {
                struct schema_row *row = &rows.rows[rows.count];
                row->rowid = (int64_t)++rows.count;
                row->root = fuzz_u8(fuzz);
                row->type = rows_field(fuzz);
                row->name = rows_field(fuzz);
                row->table_name = rows_field(fuzz);
                row->sql = rows_field(fuzz);
                if (row->sql && row->sql[0] == '\0') {
                        free(row->sql);
                        row->sql = NULL;
                }
        }
        if (fuzz->size > 0 && *fuzz->bytes == 1)
                fuzz_u8(fuzz);
        *ret_rows = rows;
}

/* What a schema promises. */
static inline void rows_check(const struct schema *schema)
{
        for (size_t i = 0; i < schema->table_count; i++) {
                const struct schema_table *t = &schema->tables[i];
                FUZZ_CHECK(t->name && t->sql);
                FUZZ_CHECK(t->rowid_column < (int)t->column_count);
                for (unsigned k = 0; t->is_parsed && k < t->column_count; k++)
                        FUZZ_CHECK(t->columns[k].name && t->columns[k].declared_type &&
                                   t->columns[k].storage < (int)t->column_count);
                for (unsigned k = 0; t->is_parsed && k < t->key_count; k++)
                        FUZZ_CHECK(t->key[k] < t->column_count);
        }
}

#endif
