/* SPDX-License-Identifier: MIT
 *
 * values: see values.h.
 */
#include "values.h"

#include <math.h>
#include <string.h>

#define TEXT(literal)                                                                              \
        {                                                                                          \
                literal, sizeof(literal) - 1                                                       \
        }

static const struct {
        const char *bytes;
        size_t size;
} odd_texts[] = {
        TEXT(""),
        TEXT("0"),
        TEXT("3.0"),
        TEXT("-7"),
        TEXT("1e3"),
        TEXT("12abc"),
        TEXT("NULL"),
        TEXT("\\x41"),
        TEXT("\\X41"),
        TEXT("\\"),
        TEXT("\\y"),
        TEXT("\""),
        TEXT("\"\""),
        TEXT("it's"),
        TEXT("a,b"),
        TEXT("line\nfeed"),
        TEXT("carriage\r\nreturn"),
        TEXT("\t"),
        TEXT(" leading"),
        TEXT("trailing "),
        TEXT("\x01\x02\x1f"),
        TEXT("\x7f"),
        TEXT("Ünï"),
        TEXT("日本語"),
        TEXT("\xf0\x9f\x98\x80"),
        TEXT("\xe2\x80\xa8"),
        TEXT("\xef\xbb\xbf"
             "bom"),
        TEXT("nul\0inside"),
        TEXT("\0"),
        TEXT("\xff\xfe"),
        TEXT("cut\xc3"),
        TEXT("\xed\xa0\x80"),
        TEXT("\xc0\x80"),
        TEXT("\xf4\x90\x80\x80"),
        TEXT("{\"$text\": \"\\\\x\"}"),
        TEXT("\\."),
        TEXT("abc"),
        TEXT("ABC"),
};

static const int64_t odd_integers[] = {0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, 32768,
        -32768, -32769, 8388607, 8388608, -8388608, -8388609, 2147483647, 2147483648, -2147483648,
        -2147483649, 140737488355327, 140737488355328, -140737488355328, -140737488355329,
        9007199254740992, 9007199254740993, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1};

static const double odd_reals[] = {0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 3.0, 1e15, 1e16, 1e300,
        -1e300, 1e-300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, INFINITY,
        -INFINITY, 9007199254740993.0, 140737488355328.0, 140737488355327.5, 9223372036854775808.0,
        0.30000000000000004, 123456789.125, 1e22, 1e23, 9.5367431640625e-07};

void arguments_release(struct arguments *arguments)
{
        for (unsigned i = 0; i < arguments->count; i++)
                bytes_release(&arguments->bytes[i]);
        free(arguments->bytes);
        free(arguments->cells);
        *arguments = (struct arguments){0};
}

void arguments_add(struct arguments *arguments, const struct cell *cell)
{
        if (arguments->count == arguments->capacity) {
                arguments->capacity = arguments->capacity * 2 + 8;
                arguments->cells = memory_grow(
                        arguments->cells, arguments->capacity * sizeof(*arguments->cells));
                arguments->bytes = memory_grow(
                        arguments->bytes, arguments->capacity * sizeof(*arguments->bytes));
        }
        struct bytes *bytes = &arguments->bytes[arguments->count];
        *bytes = (struct bytes){0};
        arguments->cells[arguments->count] = *cell;
        if (cell->bytes) {
                bytes_append(bytes, cell->bytes, cell->size);
                arguments->cells[arguments->count].bytes = bytes->data;
        }
        arguments->count++;
}

void arguments_add_integer(struct arguments *arguments, int64_t integer)
{
        struct cell cell = cell_integer(integer);
        arguments_add(arguments, &cell);
}

void arguments_add_text(struct arguments *arguments, const char *text)
{
        struct cell cell = {
                .type = CELL_TEXT, .bytes = (const uint8_t *)text, .size = strlen(text)};
        arguments_add(arguments, &cell);
}

static size_t random_size(struct random *random, unsigned page_size, bool is_small)
{
        unsigned choice = random_below(random, is_small ? 850 : 10000);
        if (choice < 6000 || is_small)
                return random_below(random, 20);
        if (choice < 8600)
                return random_below(random, 200);
        if (choice < 9500)
                return random_below(random, 3000);
        if (choice < 9994) {
                /* Around the largest local payload of a leaf and the ends of overflow pages. */
                size_t whole = page_size * random_between(random, 0, page_size > 4096 ? 1 : 3);
                return whole + page_size - random_below(random, 60);
        }
        return random_between(random, 100000, 1000000);
}

void arguments_add_sized(
        struct arguments *arguments, struct random *random, enum cell_type type, size_t size)
{
        struct cell cell = {.type = type, .size = size};
        arguments_add(arguments, &cell);
        struct bytes *bytes = &arguments->bytes[arguments->count - 1];
        uint8_t *at = bytes_grow(bytes, size);
        /* Long values repeat with a period that is no divisor of a page. */
        for (size_t i = 0; i < size && i < 1009; i++)
                at[i] = (uint8_t)(type == CELL_TEXT ? 'a' + random_below(random, 26)
                                                    : random_next(random));
        for (size_t i = 1009; i < size; i++)
                at[i] = at[i - 1009];
        arguments->cells[arguments->count - 1].bytes = bytes->data;
}

static int64_t random_integer(struct random *random, bool is_key)
{
        unsigned choice = random_below(random, 10);
        if (choice < 3 && !is_key)
                return odd_integers[random_below(random, COUNT(odd_integers))];
        if (is_key && random_percent(random, 2))
                return (int64_t)(random_next(random) >> random_below(random, 63));
        if (choice < 8 || is_key)
                return random_below(random, is_key ? 3000 : 100);
        return (int64_t)random_next(random) >> random_below(random, 64);
}

static double random_real(struct random *random)
{
        unsigned choice = random_below(random, 3);
        if (choice == 0)
                return odd_reals[random_below(random, COUNT(odd_reals))];
        if (choice == 1)
                return (double)random_below(random, 100000) / 100.0;
        uint64_t bits = random_next(random);
        double real;
        memcpy(&real, &bits, sizeof(real));
        return real; /* a NaN becomes NULL when it is bound */
}

/* Few keys are long: an index row with overflow pages. */
static bool is_short(struct random *random, const struct value_wish *wish)
{
        return wish->is_small || (wish->is_key && random_percent(random, 85));
}

static void add_text(struct arguments *arguments, struct random *random, unsigned page_size,
        const struct value_wish *wish)
{
        if (wish->is_key && random_percent(random, 80)) {
                _cleanup_bytes_ struct bytes text = {0};
                bytes_append_format(&text, "key %u", random_below(random, 2000));
                arguments_add_text(arguments, bytes_string(&text));
        } else if (random_percent(random, 35)) {
                unsigned i = random_below(random, COUNT(odd_texts));
                struct cell cell = {.type = CELL_TEXT,
                        .bytes = (const uint8_t *)odd_texts[i].bytes,
                        .size = odd_texts[i].size};
                arguments_add(arguments, &cell);
        } else {
                arguments_add_sized(arguments, random, CELL_TEXT,
                        random_size(random, page_size, is_short(random, wish)));
        }
}

static enum value_bias random_bias(struct random *random, const struct value_wish *wish)
{
        static const enum value_bias all[] = {
                VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_TEXT, VALUE_BLOB};
        bool is_free = wish->bias == VALUE_ANY || (!wish->is_strict && random_percent(random, 12));
        return is_free ? random_pick(random, all) : wish->bias;
}

void arguments_add_random(struct arguments *arguments, struct random *random, unsigned page_size,
        const struct value_wish *wish)
{
        struct cell cell = {.type = CELL_NULL};
        if (!wish->is_not_null && random_percent(random, 12)) {
                arguments_add(arguments, &cell);
                return;
        }
        switch (random_bias(random, wish)) {
        case VALUE_INTEGER:
                arguments_add_integer(arguments, random_integer(random, wish->is_key));
                break;
        case VALUE_REAL:
                cell = (struct cell){.type = CELL_REAL, .real = random_real(random)};
                if (wish->is_key)
                        cell.real = random_below(random, 4000) / 2.0;
                arguments_add(arguments, &cell);
                break;
        case VALUE_TEXT:
                add_text(arguments, random, page_size, wish);
                break;
        default:
                arguments_add_sized(arguments, random, CELL_BLOB,
                        random_size(random, page_size, is_short(random, wish)));
        }
}
