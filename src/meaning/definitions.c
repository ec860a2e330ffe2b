/* SPDX-License-Identifier: MIT
 *
 * definitions: see the header. Minds quotes, comments and parentheses; everything else in a
 * definition is SQLite's business.
 */
#include "meaning/definitions.h"

#include <stdbool.h>
#include <string.h>

#include "ground/cleanup.h"

/* Length of a string, quoted name or comment at the start of the text; 0 if there is none. */
static size_t opaque_size(const char *text, size_t size)
{
        static const struct {
                const char *begin, *end;
        } kinds[] = {{"'", "'"}, {"\"", "\""}, {"`", "`"}, {"[", "]"}, {"--", "\n"}, {"/*", "*/"}};
        for (size_t i = 0; i < COUNT(kinds); i++) {
                size_t begin = strlen(kinds[i].begin), end = strlen(kinds[i].end);
                if (size < begin || memcmp(text, kinds[i].begin, begin) != 0)
                        continue;
                const char *found = memmem(text + begin, size - begin, kinds[i].end, end);
                return found ? (size_t)(found - text) + end : size;
        }
        return 0;
}

const char *definitions_begin(const char *sql)
{
        size_t size = strlen(sql), i = 0;
        while (i < size && sql[i] != '(') {
                size_t opaque = opaque_size(sql + i, size - i);
                i += opaque > 0 ? opaque : 1;
        }
        return sql + i;
}

/* Length of the first definition in a comma list, minding quotes, comments and parentheses. */
size_t definitions_size(const char *text, size_t size)
{
        int depth = 0;
        for (size_t i = 0; i < size;) {
                size_t opaque = opaque_size(text + i, size - i);
                if (opaque == 0 && text[i] == ',' && depth == 0)
                        return i;
                if (opaque == 0 && (text[i] == '(' || text[i] == ')'))
                        depth += text[i] == '(' ? 1 : -1;
                i += opaque > 0 ? opaque : 1;
        }
        return size;
}

/* True if the text is this many definitions with a comma before each. */
static bool is_definitions(const char *text, size_t size, unsigned count)
{
        for (; count > 0 && size > 0 && *text == ','; count--) {
                size_t definition = 1 + definitions_size(text + 1, size - 1);
                text += definition;
                size -= definition;
        }
        return count == 0 && size == 0;
}

/* The definitions that the new text holds beyond the old; NULL if the old text does not enclose
 * them. What is inserted into `a, b` to make `a, c, b` may be `, c` or `c, `: it is looked for
 * from the right to the left. */
const char *definitions_inserted(const char *old, const char *new, unsigned count, size_t *ret_size)
{
        size_t old_size = strlen(old), new_size = strlen(new), prefix = 0;
        while (prefix < old_size && old[prefix] == new[prefix])
                prefix++;
        size_t rest = old_size - prefix;
        if (new_size < old_size || memcmp(old + prefix, new + new_size - rest, rest) != 0)
                return NULL;
        size_t size = new_size - old_size;
        *ret_size = size;
        for (const char *text = new + prefix;; text--) {
                if (is_definitions(text, size, count))
                        return text;
                if (text == new || size == 0 || text[-1] != text[size - 1])
                        return NULL;
        }
}
