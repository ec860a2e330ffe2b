/* SPDX-License-Identifier: MIT
 *
 * Texts that people and file names bring: LSNs, times, numbers, names, encodings. What is written
 * must read back as it was.
 */
#include "fuzz.h"
#include "ground/clock.h"
#include "ground/lsn.h"
#include "ground/number.h"
#include "ground/text.h"

static void parse_lsn(const char *text)
{
        struct lsn lsn, again;
        char long_text[LSN_TEXT_SIZE], name[LSN_NAME_SIZE];
        if (lsn_parse(text, &lsn) == 0) {
                lsn_format(lsn, long_text);
                FUZZ_CHECK(lsn_parse(long_text, &again) == 0 && lsn_compare(lsn, again) == 0);
                FUZZ_CHECK(lsn_compare(lsn_decrement(lsn_increment(lsn)), lsn) == 0);
        }
        if (lsn_parse_name(text, &lsn) == 0) {
                lsn_format_name(lsn, name);
                FUZZ_CHECK(strncmp(name, text, strlen(name)) == 0);
        }
}

static void parse_clock(const char *text)
{
        int64_t time, again;
        char formatted[CLOCK_TEXT_SIZE];
        if (clock_parse(text, &time) < 0)
                return;
        clock_format(time, formatted);
        FUZZ_CHECK(clock_parse(formatted, &again) == 0);
        FUZZ_CHECK(time - again >= 0 && time - again < 1000);
}

static void format_real(const uint8_t *data, size_t size)
{
        double value, again;
        char text[NUMBER_SIZE];
        if (size < sizeof(value))
                return;
        memcpy(&value, data, sizeof(value));
        if (value - value != 0)
                return; /* finite values only */
        int length = number_format_real(value, text);
        FUZZ_CHECK(length > 0 && length < NUMBER_SIZE && (size_t)length == strlen(text));
        FUZZ_CHECK(strpbrk(text, ".e") != NULL);
        again = strtod(text, NULL);
        FUZZ_CHECK(memcmp(&value, &again, sizeof(value)) == 0);
}

static void convert(const uint8_t *data, size_t size, enum text_encoding encoding)
{
        struct buf buf = BUF_INIT;
        int r = text_append_utf16(&buf, data, size, encoding);
        FUZZ_CHECK(r == 0 || r == -EBADMSG);
        FUZZ_CHECK(buf.size == 0 || text_is_utf8(buf.data, buf.size));
        buf_release(&buf);
        size_t cut = text_cut(data, size, size / 2);
        FUZZ_CHECK(cut <= size / 2);
        if (text_is_utf8(data, size))
                FUZZ_CHECK(text_is_utf8(data, cut));
}

static void quote(const char *name)
{
        struct buf buf = BUF_INIT;
        text_append_directory(&buf, name);
        const char *directory = buf_string(&buf);
        if (name[0] != '\0')
                FUZZ_CHECK(buf.size >= 1 && buf.size <= 217 && !strchr(directory, '/') &&
                           directory[0] != '.');
        buf_reset(&buf);
        text_append_identifier(&buf, name);
        text_append_literal(&buf, name);
        FUZZ_CHECK(buf_error(&buf) == 0 && buf.size >= 2 * strlen(name) + 4);
        FUZZ_CHECK(text_equal_name(name, name));
        buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fuzz fuzz = {data, size};
        char *text = fuzz_string(&fuzz, 0);
        parse_lsn(text);
        parse_clock(text);
        quote(text);
        free(text);
        format_real(data, size);
        convert(data, size, TEXT_UTF16LE);
        convert(data, size, TEXT_UTF16BE);
        return 0;
}
