/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>

#include "ground/cleanup.h"
#include "meaning/changeset.h"
#include "prng.h"
#include "tmp.h"
#include "values.h"

#define V(...) ((const struct value[]){__VA_ARGS__})

static void expect_changes(struct changeset *set, const char *want)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        struct change change;
        int r;
        cr_assert_eq(changeset_seal(set), 0);
        while ((r = changeset_next(set, &change)) == 1)
                append_change(&text, &change);
        cr_expect_eq(r, 0);
        cr_expect_str_eq(buf_string(&text), want, "%s", buf_string(&text));
        cr_expect_eq(changeset_next(set, &change), 0, "the end stays the end");
}

Test(changeset, an_empty_set_has_no_change)
{
        struct changeset set;
        changeset_init(&set, NULL);
        expect_changes(&set, "");
        changeset_reset(&set);
        cr_assert_eq(changeset_begin_instance(&set, 1, 2), 0);
        expect_changes(&set, "");
        changeset_release(&set);
}

Test(changeset, deletes_come_children_first_then_updates_then_inserts_parents_first)
{
        struct changeset set;
        changeset_init(&set, NULL);
        for (int64_t id = 1; id <= 3; id++) {
                cr_assert_eq(changeset_begin_instance(&set, id, 1), 0);
                for (int64_t k = 10 * id; k < 10 * id + 2; k++) {
                        cr_assert_eq(changeset_add(&set, NULL, V(v_integer(k))), 0);
                        cr_assert_eq(changeset_add(&set, V(v_integer(k)), NULL), 0);
                        cr_assert_eq(changeset_add(&set, V(v_integer(k)), V(v_integer(-k))), 0);
                }
        }
        expect_changes(&set,
                "3 delete x 30; 3 delete x 31; 2 delete x 20; 2 delete x 21; 1 delete x 10; "
                "1 delete x 11; 1 update x 10>-10; 1 update x 11>-11; 2 update x 20>-20; "
                "2 update x 21>-21; 3 update x 30>-30; 3 update x 31>-31; 1 insert x 10; "
                "1 insert x 11; 2 insert x 20; 2 insert x 21; 3 insert x 30; 3 insert x 31; ");
        changeset_release(&set);
}

Test(changeset, the_mask_says_which_values_differ)
{
        static const struct value a[] = {{.type = VALUE_INTEGER, .integer = 1},
                {.type = VALUE_REAL, .real = 1}, {.type = VALUE_NULL}};
        struct changeset set;
        changeset_init(&set, NULL);
        cr_assert_eq(changeset_begin_instance(&set, 1, 3), 0);
        changeset_add(&set, a, V(v_integer(2), v_real(1), v_null()));
        changeset_add(&set, a, V(v_integer(1), v_integer(1), v_null()));
        changeset_add(&set, a, V(v_integer(1), v_real(1), v_text("")));
        changeset_add(&set, a, V(v_text("1"), v_real(2), v_blob("", 0)));
        changeset_add(&set, a, a);
        changeset_add(&set, a, V(v_integer(1), v_real(1), v_null()));
        expect_changes(&set, "1 update x.. 1,1.0,NULL>2,1.0,NULL; "
                             "1 update .x. 1,1.0,NULL>1,1,NULL; "
                             "1 update ..x 1,1.0,NULL>1,1.0,''; "
                             "1 update xxx 1,1.0,NULL>'1',2.0,x''; ");
        changeset_release(&set);
}

Test(changeset, masks_of_many_columns_are_right)
{
        static const unsigned counts[] = {1, 7, 8, 9, 16, 17, 1990};
        static struct value before[1990], after[1990];
        for (size_t i = 0; i < COUNT(counts); i++) {
                struct changeset set;
                struct change change;
                unsigned n = counts[i];
                for (unsigned k = 0; k < n; k++) {
                        before[k] = v_integer(k);
                        after[k] = v_integer(k % 3 == 0 ? -1 : (int64_t)k);
                }
                changeset_init(&set, NULL);
                cr_assert_eq(changeset_begin_instance(&set, 1, n), 0);
                cr_assert_eq(changeset_add(&set, before, after), 0);
                cr_assert_eq(changeset_add(&set, NULL, after), 0);
                cr_assert_eq(changeset_seal(&set), 0);
                cr_assert_eq(changeset_next(&set, &change), 1);
                cr_expect_eq(change.columns, n);
                for (unsigned k = 0; k < n; k++) {
                        cr_assert_eq(mask_is_set(change.mask, mask_size(n), k + 1), k % 3 == 0);
                        cr_assert(value_equal(&change.before[k], &before[k]));
                        cr_assert(value_equal(&change.after[k], &after[k]));
                }
                cr_assert_eq(changeset_next(&set, &change), 1);
                for (unsigned k = 0; k < n; k++)
                        cr_assert(mask_is_set(change.mask, mask_size(n), k + 1));
                changeset_release(&set);
        }
}

Test(changeset, instances_may_have_different_numbers_of_columns)
{
        struct changeset set;
        changeset_init(&set, NULL);
        changeset_begin_instance(&set, 1, 1);
        changeset_add(&set, NULL, V(v_text("a")));
        changeset_begin_instance(&set, 2, 3);
        changeset_add(&set, NULL, V(v_text("b"), v_null(), v_blob("\1\2", 2)));
        changeset_begin_instance(&set, 3, 2);
        changeset_add(&set, V(v_null(), v_null()), NULL);
        expect_changes(
                &set, "3 delete xx NULL,NULL; 1 insert x 'a'; 2 insert xxx 'b',NULL,x'0102'; ");
        changeset_release(&set);
}

Test(changeset, a_void_instance_is_not_told_and_the_others_are)
{
        for (int64_t gone = 1; gone <= 3; gone++) {
                struct changeset set;
                _cleanup_(buf_release) struct buf want = BUF_INIT;
                changeset_init(&set, NULL);
                for (int64_t id = 1; id <= 3; id++) {
                        changeset_begin_instance(&set, id, 1);
                        changeset_add(&set, NULL, V(v_integer(id)));
                        changeset_add(&set, V(v_integer(id)), V(v_integer(0)));
                        if (id == gone)
                                changeset_void_instance(&set);
                }
                for (int64_t id = 1; id <= 3; id++)
                        if (id != gone)
                                buf_append_format(&want, "%d update x %d>0; ", (int)id, (int)id);
                for (int64_t id = 1; id <= 3; id++)
                        if (id != gone)
                                buf_append_format(&want, "%d insert x %d; ", (int)id, (int)id);
                expect_changes(&set, buf_string(&want));
                changeset_release(&set);
        }
}

Test(changeset, voiding_without_an_instance_does_nothing)
{
        struct changeset set;
        changeset_init(&set, NULL);
        changeset_void_instance(&set);
        expect_changes(&set, "");
        changeset_release(&set);
}

Test(changeset, a_reset_set_is_used_again)
{
        struct changeset set;
        changeset_init(&set, NULL);
        for (int64_t round = 0; round < 5; round++) {
                _cleanup_(buf_release) struct buf want = BUF_INIT;
                changeset_reset(&set);
                changeset_begin_instance(&set, round, 1);
                changeset_add(&set, NULL, V(v_integer(round)));
                buf_append_format(&want, "%d insert x %d; ", (int)round, (int)round);
                expect_changes(&set, buf_string(&want));
        }
        changeset_release(&set);
}

/* ---- more than memory takes ---- */

static void random_value(struct prng *prng, uint32_t limit, uint8_t *bytes, struct value *value)
{
        switch (prng_below(prng, 6)) {
        case 0:
                *value = v_null();
                break;
        case 1:
                *value = v_integer((int64_t)prng_next(prng));
                break;
        case 2:
                *value = v_real((double)prng_below(prng, 1000) / 7);
                break;
        default:
                *value = v_blob(bytes, prng_below(prng, limit));
                value->type = prng_below(prng, 2) ? VALUE_BLOB : VALUE_TEXT;
                bytes[0]++;
                break;
        }
}

enum { INSTANCES = 4, COLUMNS = 3 };

/* What goes in, and what must come out: a hash for each stream of each instance. */
struct sum {
        uint64_t hash[INSTANCES][3];
        unsigned count[INSTANCES][3];
};

static void sum_add(struct sum *sum, int64_t id, int stream, const struct value *before,
        const struct value *after)
{
        _cleanup_(buf_release) struct buf bytes = BUF_INIT;
        for (unsigned i = 0; i < COLUMNS; i++) {
                if (before)
                        value_append(&bytes, &before[i]);
                if (after)
                        value_append(&bytes, &after[i]);
        }
        uint64_t *hash = &sum->hash[id][stream];
        for (size_t i = 0; i < bytes.size; i++)
                *hash = (*hash ^ bytes.data[i]) * UINT64_C(1099511628211) + 1;
        sum->count[id][stream]++;
}

static void add_random(struct changeset *set, struct prng *prng, uint32_t limit, int64_t id,
        uint8_t *bytes, struct sum *sum)
{
        struct value before[COLUMNS], after[COLUMNS];
        int stream = (int)prng_below(prng, 3);
        for (unsigned i = 0; i < COLUMNS; i++) {
                random_value(prng, limit, bytes, &before[i]);
                random_value(prng, limit, bytes + limit, &after[i]);
        }
        /* Both sides of an update differ somewhere. */
        before[0] = v_integer(1);
        after[0] = v_integer(2);
        const struct value *a = stream == 2 ? NULL : before, *b = stream == 0 ? NULL : after;
        cr_assert_eq(changeset_add(set, a, b), 0);
        sum_add(sum, id, stream, a, b);
}

static void expect_sum(struct changeset *set, const struct sum *want)
{
        static const int streams[] = {
                [CHANGE_DELETE] = 0, [CHANGE_UPDATE] = 1, [CHANGE_INSERT] = 2};
        struct sum sum = {0};
        struct change change;
        int r, last = 0;
        cr_assert_eq(changeset_seal(set), 0);
        while ((r = changeset_next(set, &change)) == 1) {
                int stream = streams[change.operation];
                int64_t place = stream == 0 ? INSTANCES - 1 - change.object_id
                                            : stream * INSTANCES + change.object_id;
                cr_assert_geq(place, last, "the order");
                last = (int)place;
                sum_add(&sum, change.object_id, stream, change.before, change.after);
        }
        cr_assert_eq(r, 0);
        cr_expect_eq(memcmp(&sum, want, sizeof(sum)), 0);
}

Test(changeset, what_is_spilled_comes_out_like_what_is_not)
{
        static const struct {
                unsigned changes; /* of each instance */
                uint32_t limit;   /* of values */
        } cases[] = {{100, 10}, {5000, 20}, {60000, 200}, {100, 400000}, {3, 12000000}, {2, 10}};
        struct tmp tmp;
        struct changeset set;
        struct prng prng = {31};
        tmp_open(&tmp);
        changeset_init(&set, tmp.directory);
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct sum sum = {0};
                _cleanup_free_ uint8_t *bytes = calloc(2, cases[i].limit);
                changeset_reset(&set);
                for (int64_t id = 0; id < INSTANCES; id++) {
                        cr_assert_eq(changeset_begin_instance(&set, id, COLUMNS), 0);
                        for (unsigned k = 0; k < cases[i].changes; k++)
                                add_random(&set, &prng, cases[i].limit, id, bytes, &sum);
                }
                expect_sum(&set, &sum);
        }
        changeset_release(&set);
        tmp_close(&tmp);
}
