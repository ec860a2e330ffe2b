/* SPDX-License-Identifier: MIT */
#include "documents.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node.h"

static struct document *take(struct documents *documents, uint64_t ino, const char *text)
{
        struct document *document = NULL;
        cr_assert_eq(
                documents_take(documents, ino, strdup(text), strlen(text), 1000, &document), 0);
        return document;
}

Test(documents, keep_the_version_while_nothing_changes)
{
        struct documents *documents = documents_new();
        struct document *one = take(documents, 7, "a");
        struct document *two = take(documents, 7, "a");
        cr_expect_eq(one, two);
        cr_expect_eq(one->ino, 7);
        cr_expect_geq(one->id, NODE_FIRST_VERSION);
        cr_expect_eq(one->mtime_ns, 1000);
        documents_put(documents, one);
        documents_put(documents, two);
        documents_forget(documents, one->id, 2);
        cr_expect_eq(take(documents, 7, "a"), one);
        documents_free(documents);
}

Test(documents, give_a_new_version_a_new_number_and_a_later_time)
{
        struct documents *documents = documents_new();
        struct document *one = take(documents, 7, "a"), *two = take(documents, 7, "b"),
                        *other = take(documents, 8, "b"), *back = take(documents, 7, "a");
        cr_expect(one->id != two->id && two->id != other->id && one->id != back->id);
        cr_expect_eq(two->ino, 7);
        cr_expect_gt(two->mtime_ns, one->mtime_ns);
        cr_expect_gt(back->mtime_ns, two->mtime_ns);
        cr_expect_eq(memcmp(one->bytes, "a", 1), 0);
        documents_free(documents);
}

Test(documents, go_when_the_kernel_has_forgotten_them_and_nobody_reads)
{
        struct documents *documents = documents_new();
        struct document *one = take(documents, 7, "a");
        uint64_t id = one->id;
        documents_put(documents, one);
        documents_put(documents, take(documents, 7, "b"));
        cr_expect_eq(documents_count(documents), 2);
        one = documents_get(documents, id);
        cr_assert(one);
        documents_forget(documents, id, 1);
        cr_expect_eq(documents_count(documents), 2);
        documents_put(documents, one);
        cr_expect_eq(documents_count(documents), 1);
        cr_expect_null(documents_get(documents, id));
        documents_forget(documents, id, 1);
        documents_free(documents);
}

Test(documents, forget_lookups_one_by_one)
{
        struct documents *documents = documents_new();
        struct document *one = take(documents, 7, "a");
        documents_put(documents, one);
        documents_put(documents, take(documents, 7, "a"));
        documents_put(documents, take(documents, 7, "b"));
        documents_forget(documents, one->id, 1);
        cr_expect_eq(documents_count(documents), 2);
        documents_forget(documents, one->id, 1);
        cr_expect_eq(documents_count(documents), 1);
        documents_free(documents);
}

Test(documents, may_be_empty)
{
        struct documents *documents = documents_new();
        struct document *empty = take(documents, 7, "");
        cr_expect_eq(empty->size, 0);
        cr_expect_eq(take(documents, 7, ""), empty);
        documents_free(documents);
}

Test(documents, are_dated_now_where_nothing_dates_them)
{
        struct documents *documents = documents_new();
        struct document *document = NULL;
        cr_assert_eq(documents_take(documents, 7, strdup("a"), 1, 0, &document), 0);
        cr_expect_geq(document->mtime_ns / 1000000000, time(NULL) - 5);
        documents_free(documents);
}
