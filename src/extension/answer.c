/* SPDX-License-Identifier: MIT
 *
 * answer: between values of SQLite and those of the library. It knows no function.
 */
#include "extension/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/validity.h"

int answer_read_lsn(sqlite3_value *value, struct lsn *ret_lsn, struct problem *problem)
{
        if (sqlite3_value_type(value) == SQLITE_NULL)
                return 0;
        if (sqlite3_value_type(value) == SQLITE_BLOB && sqlite3_value_bytes(value) == LSN_SIZE) {
                memcpy(ret_lsn->bytes, sqlite3_value_blob(value), LSN_SIZE);
                return 1;
        }
        const char *text = (const char *)sqlite3_value_text(value);
        int r = text ? validity_parse_lsn("the value", text, ret_lsn, problem) : -ENOMEM;
        return r < 0 ? r : 1;
}

char *answer_words(int result, const struct problem *problem)
{
        if (!problem->message[0])
                return sqlite3_mprintf("%s", strerror(-result));
        if (problem->number == 0)
                return sqlite3_mprintf("%s", problem->message);
        return sqlite3_mprintf("%d: %s", problem->number, problem->message);
}

void answer_problem(sqlite3_context *context, int result, const struct problem *problem)
{
        char *words = answer_words(result, problem);
        if (result == -ENOMEM || !words)
                sqlite3_result_error_nomem(context);
        else
                sqlite3_result_error(context, words, -1);
        sqlite3_free(words);
}

void answer_lsn(sqlite3_context *context, struct lsn lsn)
{
        sqlite3_result_blob(context, lsn.bytes, LSN_SIZE, SQLITE_TRANSIENT);
}

static bool has_byte_order_mark(const struct value *value)
{
        if (value->size < 2)
                return false;
        return (value->bytes[0] == 0xfe && value->bytes[1] == 0xff) ||
               (value->bytes[0] == 0xff && value->bytes[1] == 0xfe);
}

/* SQLite takes one byte order mark off the front of UTF-16; given a second one it leaves ours. */
static void answer_marked(
        sqlite3_context *context, const struct value *value, enum text_encoding encoding)
{
        size_t size = (size_t)value->size + 2;
        char *bytes = malloc(size);
        if (!bytes) {
                sqlite3_result_error_nomem(context);
                return;
        }
        memcpy(bytes, encoding == TEXT_UTF16LE ? "\xff\xfe" : "\xfe\xff", 2);
        memcpy(bytes + 2, value->bytes, value->size);
        sqlite3_result_text64(context, bytes, size, free, (unsigned char)encoding);
}

static void answer_text(
        sqlite3_context *context, const struct value *value, enum text_encoding encoding)
{
        const char *bytes = value->size ? (const char *)value->bytes : "";
        if (encoding != TEXT_UTF8 && has_byte_order_mark(value))
                answer_marked(context, value, encoding);
        else
                sqlite3_result_text64(
                        context, bytes, value->size, SQLITE_TRANSIENT, (unsigned char)encoding);
}

void answer_value(sqlite3_context *context, const struct value *value, enum text_encoding encoding)
{
        switch (value->type) {
        case VALUE_NULL:
                sqlite3_result_null(context);
                break;
        case VALUE_INTEGER:
                sqlite3_result_int64(context, value->integer);
                break;
        case VALUE_REAL:
                sqlite3_result_double(context, value->real);
                break;
        case VALUE_TEXT:
                answer_text(context, value, encoding);
                break;
        case VALUE_BLOB:
                sqlite3_result_blob64(context, value->size ? (const void *)value->bytes : "",
                        value->size, SQLITE_TRANSIENT);
                break;
        }
}
