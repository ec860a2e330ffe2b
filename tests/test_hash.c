/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/hash.h"

static void expect_hex(struct hash *hash, const char *expected)
{
        uint8_t digest[HASH_SIZE];
        char hex[HASH_HEX_SIZE];
        hash_finish(hash, digest);
        hash_format(digest, hex);
        cr_expect_str_eq(hex, expected);
}

Test(hash, digests_are_those_of_fips_180)
{
        static const struct {
                const char *text, *hex;
        } cases[] = {
                {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct hash hash;
                hash_init(&hash);
                hash_update(&hash, cases[i].text, strlen(cases[i].text));
                expect_hex(&hash, cases[i].hex);
        }
}

Test(hash, pieces_hash_as_the_whole)
{
        struct hash hash;
        char piece[997];
        memset(piece, 'a', sizeof(piece));
        hash_init(&hash);
        hash_update(&hash, NULL, 0);
        for (size_t left = 1000000; left > 0;) {
                size_t size = left < sizeof(piece) ? left : sizeof(piece);
                hash_update(&hash, piece, size);
                left -= size;
        }
        expect_hex(&hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Test(hash, the_short_hash_is_the_first_eight_bytes)
{
        cr_expect_eq(hash_bytes64("abc", 3), 0xba7816bf8f01cfea);
        cr_expect_eq(hash_bytes64(NULL, 0), 0xe3b0c44298fc1c14);
}
