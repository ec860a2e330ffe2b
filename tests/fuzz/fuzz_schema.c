/* SPDX-License-Identifier: MIT
 *
 * A schema of hostile rows: a byte for the encoding, then rows.
 */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fuzz fuzz = {data, size};
        struct schema_rows rows;
        struct schema *schema = NULL;
        enum text_encoding encoding = 1 + fuzz_u8(&fuzz) % 3;
        fuzz_prepare_sqlite();
        rows_take(&fuzz, &rows);
        int r = schema_build(&rows, encoding, &schema);
        FUZZ_CHECK(r == 0);
        rows_check(schema);
        schema_unref(schema);
        schema_rows_release(&rows);
        return 0;
}
