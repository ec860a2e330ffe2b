/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"
#include "faces/document.h"

Test(document_schema, tells_the_columns_in_order_with_type_and_key)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = store_fixture_enable(&f,
                "CREATE TABLE \"o\"\"x\"(a VARCHAR(9), id INTEGER, r REAL, n NUMERIC, b,"
                " PRIMARY KEY(id, a))",
                "o\"x", "main_o");
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_assert_eq(document_schema(store_db(f.store), id, &buf), 0);
        cr_expect_str_eq(buf_string(&buf),
                "{\n"
                "  \"capture_instance\": \"main_o\",\n"
                "  \"source_table\": \"o\\\"x\",\n"
                "  \"columns\": [\n"
                "    {\n      \"name\": \"a\",\n      \"ordinal\": 1,\n"
                "      \"declared_type\": \"VARCHAR(9)\",\n      \"affinity\": \"TEXT\",\n"
                "      \"key\": true\n    },\n"
                "    {\n      \"name\": \"id\",\n      \"ordinal\": 2,\n"
                "      \"declared_type\": \"INTEGER\",\n      \"affinity\": \"INTEGER\",\n"
                "      \"key\": true\n    },\n"
                "    {\n      \"name\": \"r\",\n      \"ordinal\": 3,\n"
                "      \"declared_type\": \"REAL\",\n      \"affinity\": \"REAL\",\n"
                "      \"key\": false\n    },\n"
                "    {\n      \"name\": \"n\",\n      \"ordinal\": 4,\n"
                "      \"declared_type\": \"NUMERIC\",\n      \"affinity\": \"NUMERIC\",\n"
                "      \"key\": false\n    },\n"
                "    {\n      \"name\": \"b\",\n      \"ordinal\": 5,\n"
                "      \"declared_type\": \"\",\n      \"affinity\": \"BLOB\",\n"
                "      \"key\": false\n    }\n"
                "  ]\n"
                "}\n");
        cr_expect_eq(document_schema(store_db(f.store), 99, &buf), -ENOENT);
        cr_expect_eq(document_schema(store_db(f.store), 0, &buf), -ENOENT);
        store_fixture_close(&f);
}
