/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/text.h"
#include "prng.h"

enum { DIRECTORY_WHOLE = 200, DIRECTORY_LONGEST = 217 };

Test(text, well_formed_utf8_is_what_unicode_says)
{
        static const struct {
                const char *name;
                const char *bytes;
                size_t size;
                bool well_formed;
        } cases[] = {
                {"empty", "", 0, true},
                {"ASCII", "abc", 3, true},
                {"NUL", "a\0b", 3, true},
                {"two bytes, first and last", "\xc2\x80\xdf\xbf", 4, true},
                {"three bytes, first and last", "\xe0\xa0\x80\xef\xbf\xbf", 6, true},
                {"around the surrogates", "\xed\x9f\xbf\xee\x80\x80", 6, true},
                {"four bytes, first and last", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, true},
                {"lone tail", "\x80", 1, false},
                {"tail after ASCII", "a\xbf", 2, false},
                {"overlong slash", "\xc0\xaf", 2, false},
                {"overlong C1", "\xc1\xbf", 2, false},
                {"overlong three bytes", "\xe0\x9f\xbf", 3, false},
                {"overlong four bytes", "\xf0\x8f\xbf\xbf", 4, false},
                {"first surrogate", "\xed\xa0\x80", 3, false},
                {"last surrogate", "\xed\xbf\xbf", 3, false},
                {"U+110000", "\xf4\x90\x80\x80", 4, false},
                {"F5", "\xf5\x80\x80\x80", 4, false},
                {"FF", "\xff", 1, false},
                {"cut after one of two", "\xc3", 1, false},
                {"cut after two of three", "\xe2\x82", 2, false},
                {"cut after three of four", "\xf0\x9f\x98", 3, false},
                {"second byte no tail", "\xc3(", 2, false},
                {"third byte no tail", "\xe2\x82(", 3, false},
                {"fourth byte no tail", "\xf0\x9f\x98(", 4, false},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                /* An exact copy, so that a sanitizer sees a read behind it. */
                _cleanup_free_ uint8_t *bytes = malloc(cases[i].size + !cases[i].size);
                memcpy(bytes, cases[i].bytes, cases[i].size);
                cr_expect_eq(text_is_utf8(bytes, cases[i].size), cases[i].well_formed, "%s",
                        cases[i].name);
        }
}

Test(text, encodings_have_names_and_numbers)
{
        static const struct {
                const char *name;
                uint32_t number;
                enum text_encoding encoding;
        } encodings[] = {{"UTF-8", 1, TEXT_UTF8}, {"UTF-16le", 2, TEXT_UTF16LE},
                {"UTF-16be", 3, TEXT_UTF16BE}, {"", 0, TEXT_UTF8}, {"?", UINT32_MAX, TEXT_UTF8}};
        for (size_t i = 0; i < COUNT(encodings); i++) {
                cr_expect_eq(text_encoding_of(encodings[i].name), encodings[i].encoding);
                cr_expect_eq(text_encoding_at(encodings[i].number), encodings[i].encoding);
        }
}

Test(text, a_cut_splits_no_character)
{
        static const struct {
                const char *text;
                size_t limit, cut;
        } cases[] = {
                {"abc", 5, 3},
                {"abc", 3, 3},
                {"abc", 2, 2},
                {"abc", 0, 0},
                {"a\u00e9", 2, 1},
                {"a\u20acb", 3, 1},
                {"a\u20acb", 4, 4},
                {"\U0001f600", 3, 0},
                {"\x80\x80\x80\x80\x80\x80", 5, 5},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                const char *text = cases[i].text;
                cr_expect_eq(text_cut((const uint8_t *)text, strlen(text), cases[i].limit),
                        cases[i].cut, "%s at %zu", text, cases[i].limit);
        }
}

Test(text, utf16_becomes_utf8_and_stops_at_what_is_ill_formed)
{
        static const struct {
                const char *name;
                const char *little, *utf8;
                size_t size;
                size_t utf8_size;
                int result;
        } cases[] = {
                {"empty", "", "", 0, 0, 0},
                {"ASCII", "a\0b\0", "ab", 4, 2, 0},
                {"NUL", "a\0\0\0b\0", "a\0b", 6, 3, 0},
                {"last of one byte", "\x7f\0", "\x7f", 2, 1, 0},
                {"two bytes", "\x80\0\xff\x07", "\xc2\x80\xdf\xbf", 4, 4, 0},
                {"three bytes", "\0\x08\xff\xff", "\xe0\xa0\x80\xef\xbf\xbf", 4, 6, 0},
                {"pairs", "\0\xd8\0\xdc\xff\xdb\xff\xdf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, 8,
                        0},
                {"byte order mark", "\xff\xfe", "\xef\xbb\xbf", 2, 3, 0},
                {"odd size", "a\0b", "a", 3, 1, -EBADMSG},
                {"one byte", "a", "", 1, 0, -EBADMSG},
                {"high at the end", "a\0\0\xd8", "a", 4, 1, -EBADMSG},
                {"high and half a low", "\0\xd8\0", "", 3, 0, -EBADMSG},
                {"high before ASCII",
                        "a\0\0\xd8"
                        "b\0",
                        "a", 6, 1, -EBADMSG},
                {"high before high", "\0\xd8\0\xd8", "", 4, 0, -EBADMSG},
                {"low alone",
                        "a\0\0\xdc"
                        "b\0",
                        "a", 6, 1, -EBADMSG},
        };
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
                size_t c = i / 2;
                bool big = i % 2;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                _cleanup_free_ uint8_t *bytes = malloc(cases[c].size + !cases[c].size);
                for (size_t at = 0; at < cases[c].size; at++) {
                        size_t other = at ^ (size_t)big;
                        bytes[at] = other < cases[c].size ? (uint8_t)cases[c].little[other] : 0;
                }
                int result = text_append_utf16(
                        &buf, bytes, cases[c].size, big ? TEXT_UTF16BE : TEXT_UTF16LE);
                cr_expect_eq(result, cases[c].result, "%s", cases[c].name);
                cr_expect_eq(buf.size, cases[c].utf8_size, "%s", cases[c].name);
                cr_expect_eq(
                        memcmp(buf_string(&buf), cases[c].utf8, buf.size), 0, "%s", cases[c].name);
        }
}

Test(text, random_utf16_is_well_formed_utf8_up_to_the_error)
{
        struct prng prng = {5};
        for (unsigned i = 0; i < 20000; i++) {
                uint8_t bytes[12];
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                for (unsigned at = 0; at < sizeof(bytes); at++)
                        bytes[at] = (uint8_t)(prng_next(&prng) >> 56);
                /* Surrogates are rare among random units; make them half. */
                for (unsigned at = 1; at < sizeof(bytes); at += 2) {
                        if (prng_below(&prng, 2))
                                bytes[at] = (uint8_t)(0xd8 | (bytes[at] & 7));
                }
                size_t size = prng_below(&prng, sizeof(bytes) + 1);
                int result = text_append_utf16(&buf, bytes, size, TEXT_UTF16LE);
                cr_assert(result == 0 || result == -EBADMSG);
                cr_assert(text_is_utf8(buf.data, buf.size));
        }
}

Test(text, quoted_names_and_strings_are_read_by_sqlite_as_they_were)
{
        static const char *const cases[] = {
                "t", "", "a b", "\"", "\"\"", "'", "''x", "a\"b'c", "select", "größe", "--", "[x]"};
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf sql = BUF_INIT;
                sqlite3_stmt *stmt = NULL;
                buf_append_string(&sql, "SELECT ");
                text_append_literal(&sql, cases[i]);
                buf_append_string(&sql, " AS ");
                text_append_identifier(&sql, cases[i]);
                cr_expect_eq(sqlite3_prepare_v2(db, buf_string(&sql), -1, &stmt, NULL), SQLITE_OK,
                        "%s", cases[i]);
                cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
                cr_expect_str_eq((const char *)sqlite3_column_text(stmt, 0), cases[i]);
                cr_expect_str_eq(sqlite3_column_name(stmt, 0), cases[i]);
                sqlite3_finalize(stmt);
        }
        sqlite3_close(db);
}

Test(text, a_word_is_one_word_of_a_shell)
{
        static const struct {
                const char *word, *want;
        } cases[] = {{"/a/b-c_1.db", "/a/b-c_1.db"}, {"", "''"}, {"a b", "'a b'"}, {"$x", "'$x'"},
                {"ü", "ü"}, {"a*", "'a*'"}, {"it's", "'it'\\''s'"}, {"~/x", "'~/x'"},
                {"a\nb", "'a\nb'"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                text_append_word(&buf, cases[i].word);
                cr_expect_str_eq(buf_string(&buf), cases[i].want);
        }
}

static char *directory(const char *name)
{
        struct buf buf = BUF_INIT;
        text_append_directory(&buf, name);
        return buf_steal(&buf);
}

Test(text, directories_escape_what_a_path_or_a_shell_would_take_amiss)
{
        static const struct {
                const char *name, *directory;
        } cases[] = {
                {"main_orders", "main_orders"},
                {"", "%"},
                {".", "%2E"},
                {"..", "%2E."},
                {".hidden", "%2Ehidden"},
                {"a.b-c", "a.b-c"},
                {"-rf", "%2Drf"},
                {"--", "%2D-"},
                {"a/b", "a%2Fb"},
                {"../../etc", "%2E.%2F..%2Fetc"},
                {"50%", "50%25"},
                {"%2F", "%252F"},
                {"a\\b", "a%5Cb"},
                {"a\nb\tc\x01\x1f\x7f", "a%0Ab%09c%01%1F%7F"},
                {"größe €", "größe €"},
                {"a b'\"*?", "a b'\"*?"},
                {"\xff", "\xff"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_free_ char *got = directory(cases[i].name);
                cr_expect_str_eq(got, cases[i].directory);
        }
}

Test(text, directories_are_appended)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        char name[301];
        memset(name, 'x', 300);
        name[300] = 0;
        buf_append_string(&buf, "dir/");
        text_append_directory(&buf, name);
        cr_expect_eq(buf.size, 4 + DIRECTORY_LONGEST);
        cr_expect_eq(strncmp(buf_string(&buf), "dir/xxx", 7), 0);
}

Test(text, a_name_of_200_bytes_is_whole_and_one_of_201_is_cut)
{
        char name[202];
        memset(name, 'n', 201);
        name[201] = 0;
        _cleanup_free_ char *cut = directory(name);
        cr_expect_eq(strlen(cut), DIRECTORY_LONGEST);
        cr_expect_eq(strncmp(cut, name, DIRECTORY_WHOLE), 0);
        /* printf 'n%.0s' $(seq 201) | sha256sum */
        cr_expect_str_eq(cut + DIRECTORY_WHOLE, "~291c4194382c6bd5");
        name[200] = 0;
        _cleanup_free_ char *whole = directory(name);
        cr_expect_str_eq(whole, name);
}

Test(text, long_names_that_differ_in_the_last_byte_have_different_directories)
{
        char first[301], second[301];
        memset(first, 'x', 300);
        first[300] = 0;
        memcpy(second, first, 301);
        second[299] = 'y';
        _cleanup_free_ char *one = directory(first);
        _cleanup_free_ char *other = directory(second);
        cr_expect_eq(strncmp(one, other, DIRECTORY_WHOLE), 0);
        cr_expect_str_neq(one, other);
}

Test(text, a_cut_directory_splits_neither_a_character_nor_an_escape)
{
        static const char *const pieces[] = {"é", "€", "😀", "/", "\x01", "a€/"};
        for (size_t i = 0; i < COUNT(pieces) * 4; i++) {
                char name[400] = "xxx";
                const char *piece = pieces[i / 4];
                name[i % 4] = 0;
                while (strlen(name) + strlen(piece) < 300)
                        strcat(name, piece);
                _cleanup_free_ char *got = directory(name);
                size_t length = strlen(got);
                const char *tilde = strrchr(got, '~');
                cr_assert_not_null(tilde, "%s", name);
                cr_expect(length <= DIRECTORY_LONGEST && length >= DIRECTORY_LONGEST - 3, "%s: %zu",
                        got, length);
                cr_expect_eq(got + length - tilde, 17, "%s", got);
                cr_expect(text_is_utf8((const uint8_t *)got, length), "%s", got);
                cr_expect(tilde[-1] != '%' && tilde[-2] != '%', "%s", got);
        }
}

Test(text, random_names_give_safe_directories)
{
        struct prng prng = {11};
        for (unsigned i = 0; i < 20000; i++) {
                char name[400];
                size_t size = prng_below(&prng, sizeof(name));
                for (size_t at = 0; at < size; at++)
                        name[at] = (char)(1 + prng_below(&prng, i % 2 ? 255 : 64));
                name[size] = 0;
                _cleanup_free_ char *got = directory(name);
                size_t length = strlen(got);
                cr_assert(length >= 1 && length <= DIRECTORY_LONGEST);
                cr_assert(got[0] != '.' && got[0] != '-');
                for (const char *c = got; *c; c++)
                        cr_assert((unsigned char)*c >= 0x20 && *c != '/' && *c != 0x7f);
        }
}

Test(text, names_are_equal_without_regard_to_ascii_case_only)
{
        static const struct {
                const char *a, *b;
                bool equal;
        } cases[] = {
                {"", "", true},
                {"orders", "ORDERS", true},
                {"a_1", "A_1", true},
                {"a", "ab", false},
                {"a", "b", false},
                {"größe", "GRößE", true},
                {"größe", "GRÖßE", false},
                {"[", "{", false},
                {"@", "`", false},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                cr_expect_eq(text_equal_name(cases[i].a, cases[i].b), cases[i].equal, "%s %s",
                        cases[i].a, cases[i].b);
                cr_expect_eq(text_equal_name(cases[i].b, cases[i].a), cases[i].equal, "%s %s",
                        cases[i].b, cases[i].a);
        }
}
