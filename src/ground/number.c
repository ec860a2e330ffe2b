/* SPDX-License-Identifier: MIT
 *
 * number: writes a REAL with the fewest digits that read back as the same bits.
 *
 * The C library formats and reads in the thread's locale; what leaves this room does not
 * depend on it. Infinities and NaN have no digits: the faces have their own words for them.
 */
#include "ground/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MIN = 15, DIGITS_MAX = 17 };

static bool is_number_byte(char c)
{
        return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
}

/* A locale's decimal point, of one byte or several, becomes `.`. Returns the new length. */
static size_t replace_point(char *text)
{
        size_t size = 0;
        for (const char *from = text; *from;) {
                if (is_number_byte(*from)) {
                        text[size++] = *from++;
                        continue;
                }
                text[size++] = '.';
                while (*from && !is_number_byte(*from))
                        from++;
        }
        text[size] = 0;
        return size;
}

int number_format_real(double value, char ret_text[NUMBER_SIZE])
{
        for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
                snprintf(ret_text, NUMBER_SIZE, "%.*g", digits, value);
                if (strtod(ret_text, NULL) == value)
                        break;
        }
        size_t size = replace_point(ret_text);
        /* Without a point or an exponent a reader would take it for an INTEGER. */
        if (!strpbrk(ret_text, ".e")) {
                memcpy(ret_text + size, ".0", 3);
                size += 2;
        }
        return (int)size;
}
