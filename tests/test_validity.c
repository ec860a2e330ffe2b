/* SPDX-License-Identifier: MIT
 *
 * validity: each range gets the answer of the first check that it fails, in the binding order.
 */
#include "faces/validity.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"

struct fixture {
        struct store_fixture f;
        int64_t id;      /* captured from frame 10 to 50, with a gap from 20 to 30 */
        int64_t stopped; /* the same, and stopped at 41 */
        int64_t pending;
};

static struct fixture setup(void)
{
        struct fixture x;
        store_fixture_open(&x.f, TEXT_UTF8);
        x.id = changes_fixture_enable(&x.f, "main_t");
        x.stopped = changes_fixture_enable(&x.f, "main_stopped");
        x.pending = store_fixture_enable(
                &x.f, "CREATE TABLE u(x); CREATE TABLE v(x)", "v", "main_pending");
        changes_fixture_recognise(&x.f, x.id, 10);
        changes_fixture_recognise(&x.f, x.stopped, 10);
        changes_fixture_commit(&x.f, x.id, 15, "i1");
        changes_fixture_commit(&x.f, x.id, 40, "i2");
        changes_fixture_commit(&x.f, x.id, 50, "i3");
        changes_fixture_gap(&x.f, 0, 20, 30);
        changes_fixture_gap(&x.f, x.stopped, 41, 0);
        return x;
}

Test(validity, answers_by_the_first_check_that_fails)
{
        static const struct {
                const char *name;
                uint32_t from, to;
                int result;
                int number;
                const char *word; /* in the message */
        } cases[] = {
                {"whole interval before the gap", 10, 19, 0, 0, NULL},
                {"after the gap", 31, 50, 0, 0, NULL},
                {"one commit", 15, 15, 0, 0, NULL},
                {"no commit", 16, 17, 0, 0, NULL},
                {"across the gap", 10, 50, -ENODATA, 0, "gap"},
                {"touches its start", 10, 20, -ENODATA, 0, "the log was reset"},
                {"touches its end", 30, 50, -ENODATA, 0, "00000001:00000014:0001"},
                {"gap before range", 5, 20, -ENODATA, 0, "gap"},
                {"gap before end", 25, 99, -ENODATA, 0, "gap"},
                {"before min", 9, 15, -ERANGE, 313, "before its min_lsn"},
                {"before min, names the interval", 9, 15, -ERANGE, 313,
                        "[00000001:0000000a:0001, 00000001:00000032:0001]"},
                {"before min, names what was asked", 9, 15, -ERANGE, 313,
                        "[00000001:00000009:0001, 00000001:0000000f:0001]"},
                {"after max", 40, 51, -ERANGE, 313, "after its max_lsn"},
                {"far after max", 60, 70, -ERANGE, 313, "main_t"},
                {"far before min", 1, 2, -ERANGE, 313, "min_lsn"},
                {"far after max, says so", 60, 70, -ERANGE, 313, "from_lsn is after its max_lsn"},
                {"far before min, says so", 1, 2, -ERANGE, 313, "to_lsn is before its min_lsn"},
                {"both ends outside", 9, 15, -ERANGE, 313, "from_lsn is before"},
                {"reversed", 50, 40, -EINVAL, 313, "from_lsn is after to_lsn"},
                {"reversed, names what was asked", 50, 40, -EINVAL, 313,
                        "[00000001:00000032:0001, 00000001:00000028:0001]"},
                {"reversed, outside", 70, 60, -EINVAL, 313, "from_lsn is after to_lsn"},
        };
        struct fixture x = setup();
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct problem problem = {0};
                int r = validity_check(store_db(x.f.store), x.id,
                        changes_fixture_lsn(cases[i].from), changes_fixture_lsn(cases[i].to),
                        &problem);
                cr_expect_eq(r, cases[i].result, "%s: %d", cases[i].name, r);
                cr_expect_eq(
                        problem.number, cases[i].number, "%s: %d", cases[i].name, problem.number);
                if (cases[i].word)
                        cr_expect_not_null(strstr(problem.message, cases[i].word), "%s: %s",
                                cases[i].name, problem.message);
                else
                        cr_expect_str_eq(problem.message, "", "%s", cases[i].name);
        }
        store_fixture_close(&x.f);
}

/* A consumer asks from increment(what it has read) to the present max_lsn. */
Test(validity, tells_a_consumer_who_has_everything_to_come_again)
{
        struct fixture x = setup();
        struct lsn max = changes_fixture_lsn(50);
        struct lsn next = lsn_increment(max);
        struct problem problem = {0};
        sqlite3 *db = store_db(x.f.store);
        cr_expect_eq(validity_check(db, x.id, next, max, &problem), -EAGAIN);
        cr_expect_not_null(strstr(problem.message, "nothing new yet"), "%s", problem.message);
        cr_expect_eq(validity_check(db, x.id, next, next, NULL), -EAGAIN);
        cr_expect_eq(validity_check(db, x.id, next, changes_fixture_lsn(99), NULL), -EAGAIN);
        cr_expect_eq(validity_check(db, x.id, next, changes_fixture_lsn(49), NULL), -EINVAL);
        cr_expect_eq(validity_check(db, x.id, lsn_increment(next), changes_fixture_lsn(99), NULL),
                -ERANGE);
        store_fixture_close(&x.f);
}

Test(validity, never_tells_a_consumer_of_a_stopped_instance_to_wait)
{
        struct fixture x = setup();
        struct problem problem = {0};
        struct lsn next = lsn_increment(changes_fixture_lsn(50));
        sqlite3 *db = store_db(x.f.store);
        cr_expect_eq(validity_check(db, x.stopped, next, changes_fixture_lsn(50), NULL), -ENODATA);
        cr_expect_eq(validity_check(db, x.stopped, next, next, &problem), -ENODATA);
        cr_expect_not_null(strstr(problem.message, "stopped"), "%s", problem.message);
        cr_expect_eq(validity_check(
                             db, x.stopped, changes_fixture_lsn(31), changes_fixture_lsn(40), NULL),
                0);
        cr_expect_eq(validity_check(
                             db, x.stopped, changes_fixture_lsn(31), changes_fixture_lsn(41), NULL),
                -ENODATA);
        store_fixture_close(&x.f);
}

Test(validity, has_no_interval_while_pending)
{
        struct fixture x = setup();
        struct problem problem = {0};
        struct validity validity;
        sqlite3 *db = store_db(x.f.store);
        cr_assert_eq(validity_read(db, x.pending, &validity), 0);
        cr_expect(validity.is_pending);
        cr_expect(lsn_is_zero(validity.min) && lsn_is_zero(validity.max));
        cr_expect_eq(validity_check(db, x.pending, changes_fixture_lsn(10), changes_fixture_lsn(15),
                             &problem),
                -ERANGE);
        cr_expect_eq(problem.number, 313);
        cr_expect_not_null(strstr(problem.message, "pending"), "%s", problem.message);
        store_fixture_close(&x.f);
}

Test(validity, reads_the_interval_of_instance_and_database)
{
        struct fixture x = setup();
        struct validity validity;
        const int64_t objects[] = {0, x.id};
        for (unsigned i = 0; i < COUNT(objects); i++) {
                cr_assert_eq(validity_read(store_db(x.f.store), objects[i], &validity), 0);
                cr_expect_not(validity.is_pending);
                cr_expect_eq(lsn_compare(validity.min, changes_fixture_lsn(10)), 0);
                cr_expect_eq(lsn_compare(validity.max, changes_fixture_lsn(50)), 0);
        }
        cr_expect_eq(validity_read(store_db(x.f.store), 99, &validity), -ENOENT);
        cr_expect_eq(validity_check(store_db(x.f.store), 99, changes_fixture_lsn(10),
                             changes_fixture_lsn(15), NULL),
                -ENOENT);
        store_fixture_close(&x.f);
}

Test(validity, names_the_argument_that_is_no_lsn)
{
        static const struct {
                const char *from, *to;
                int result;
                const char *word;
        } cases[] = {
                {"00000001:00000002:0001", "0x00000001000000020001", 0, NULL},
                {"00000001000000020001", "0000000100000002000A", 0, NULL},
                {"1", "00000001:00000002:0001", -EINVAL, "from_lsn"},
                {"00000001:00000002:0001", "", -EINVAL, "to_lsn"},
                {"0000000100000002000", "00000001:00000002:0001", -EINVAL, "from_lsn"},
                {"00000001:00000002:0001", "000000010000000200011", -EINVAL, "to_lsn"},
                {"0000000g:00000002:0001", "00000001:00000002:0001", -EINVAL, "from_lsn"},
                {NULL, "00000001:00000002:0001", -EINVAL, "NULL"},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct lsn from, to;
                struct problem problem = {0};
                cr_expect_eq(validity_parse(cases[i].from, cases[i].to, &from, &to, &problem),
                        cases[i].result, "case %u", i);
                if (cases[i].word)
                        cr_expect_not_null(
                                strstr(problem.message, cases[i].word), "%s", problem.message);
        }
}
