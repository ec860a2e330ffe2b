/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/buf.h"
#include "ground/cleanup.h"

Test(buf, an_empty_buffer_is_an_empty_string)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_expect_eq(buf_error(&buf), 0);
        cr_expect_str_eq(buf_string(&buf), "");
        cr_expect_eq(buf.size, 0);
}

Test(buf, a_zeroed_buffer_may_be_released_twice)
{
        struct buf buf = BUF_INIT;
        buf_release(&buf);
        buf_append_string(&buf, "x");
        buf_release(&buf);
        buf_release(&buf);
        cr_expect_null(buf.data);
}

Test(buf, appends_stand_in_their_order)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append(&buf, "ab", 2);
        buf_append_byte(&buf, 'c');
        buf_append_string(&buf, "de");
        buf_append_format(&buf, "%d-%s", 7, "f");
        buf_append_hex(&buf, "\x00\x9f\xa0\xff", 4);
        cr_expect_str_eq(buf_string(&buf), "abcde7-f009fa0ff");
        cr_expect_eq(buf.size, 16);
}

Test(buf, nothing_may_be_appended_from_null)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append(&buf, NULL, 0);
        buf_append_hex(&buf, NULL, 0);
        buf_append_format(&buf, "%s", "");
        cr_expect_eq(buf.size, 0);
        cr_expect_eq(buf_error(&buf), 0);
}

Test(buf, nul_bytes_are_content)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append(&buf, "a\0b", 3);
        buf_append_byte(&buf, 0);
        cr_expect_eq(buf.size, 4);
        cr_expect_eq(memcmp(buf_string(&buf), "a\0b\0", 5), 0);
}

Test(buf, content_survives_growth)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        for (unsigned i = 0; i < 100000; i++)
                buf_append_byte(&buf, (uint8_t)(i % 251));
        cr_assert_eq(buf.size, 100000);
        for (unsigned i = 0; i < 100000; i++)
                cr_assert_eq(buf.data[i], i % 251);
}

Test(buf, a_long_format_is_whole)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append_format(&buf, "%05000d|", 42);
        cr_assert_eq(buf.size, 5001);
        cr_expect_str_eq(buf_string(&buf) + 4997, "042|");
}

Test(buf, reserved_room_is_not_moved_by_appends_that_fit)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_assert_eq(buf_reserve(&buf, 1000), 0);
        const uint8_t *data = buf.data;
        for (unsigned i = 0; i < 1000; i++)
                buf_append_byte(&buf, 'x');
        cr_expect_eq(buf.data, data);
}

Test(buf, an_error_sticks_until_reset)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append_string(&buf, "kept");
        cr_expect_eq(buf_reserve(&buf, SIZE_MAX), -ENOMEM);
        buf_append_string(&buf, "dropped");
        buf_append_byte(&buf, '!');
        buf_append_format(&buf, "%d", 1);
        buf_append_hex(&buf, "x", 1);
        cr_expect_eq(buf_error(&buf), -ENOMEM);
        cr_expect_eq(buf_reserve(&buf, 1), -ENOMEM);
        cr_expect_eq(buf.size, 4);
        cr_expect_str_eq(buf_string(&buf), "");
        cr_expect_null(buf_steal(&buf));
        buf_reset(&buf);
        buf_append_string(&buf, "again");
        cr_expect_eq(buf_error(&buf), 0);
        cr_expect_str_eq(buf_string(&buf), "again");
}

Test(buf, hex_beyond_memory_is_an_error)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append_hex(&buf, "x", SIZE_MAX / 2 + 1);
        cr_expect_eq(buf_error(&buf), -ENOMEM);
}

Test(buf, steal_hands_over_the_string_and_empties)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_append_string(&buf, "mine");
        _cleanup_free_ char *string = buf_steal(&buf);
        cr_expect_str_eq(string, "mine");
        cr_expect_eq(buf.size, 0);
        _cleanup_free_ char *nothing = buf_steal(&buf);
        cr_expect_str_eq(nothing, "");
}

Test(buf, base64_is_that_of_rfc_4648)
{
        static const struct {
                const char *bytes;
                size_t size;
                const char *text;
        } cases[] = {{"", 0, ""}, {"f", 1, "Zg=="}, {"fo", 2, "Zm8="}, {"foo", 3, "Zm9v"},
                {"foob", 4, "Zm9vYg=="}, {"fooba", 5, "Zm9vYmE="}, {"foobar", 6, "Zm9vYmFy"},
                {"\0\xff\xfe", 3, "AP/+"}};
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct buf buf = BUF_INIT;
                buf_append_base64(&buf, cases[i].bytes, cases[i].size);
                cr_expect_str_eq(buf_string(&buf), cases[i].text);
                buf_release(&buf);
        }
}
