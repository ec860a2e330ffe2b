/* SPDX-License-Identifier: MIT
 *
 * running: time that passes by the monotonic clock, over processes and restarts of the machine.
 */
#include "memory/running.h"

#include <criterion/criterion.h>

#include "store_fixture.h"

struct fake {
        int64_t wall, monotonic;
};

static int64_t fake_wall(void *context)
{
        return ((struct fake *)context)->wall;
}

static int64_t fake_monotonic(void *context)
{
        return ((struct fake *)context)->monotonic;
}

static int64_t save(struct store_fixture *f, const struct clock *clock)
{
        int64_t running_ns = -1;
        store_fixture_begin(f);
        cr_assert_eq(running_save(f->store, clock, &running_ns), 0);
        store_fixture_commit(f);
        return running_ns;
}

static int64_t read_running(struct store_fixture *f, const struct clock *clock)
{
        int64_t running_ns = -1;
        cr_assert_eq(running_read(store_db(f->store), clock, &running_ns), 0);
        return running_ns;
}

Test(running, goes_with_the_monotonic_clock_only)
{
        struct store_fixture f;
        struct fake fake = {.wall = STORE_FIXTURE_NOW, .monotonic = 5000};
        struct clock clock = {fake_wall, fake_monotonic, &fake};
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(save(&f, &clock), 0, "it begins with the store");
        fake.monotonic += 700;
        fake.wall += INT64_C(30) * 86400 * 1000000000;
        cr_expect_eq(read_running(&f, &clock), 700);
        fake.wall = 0;
        cr_expect_eq(read_running(&f, &clock), 700);
        store_fixture_close(&f);
}

Test(running, goes_on_between_processes_of_one_boot)
{
        struct store_fixture f;
        struct fake fake = {.monotonic = 5000};
        struct clock clock = {fake_wall, fake_monotonic, &fake};
        store_fixture_open(&f, TEXT_UTF8);
        save(&f, &clock);
        store_fixture_reopen(&f);
        fake.monotonic += 300;
        cr_expect_eq(save(&f, &clock), 300);
        fake.monotonic += 50;
        cr_expect_eq(read_running(&f, &clock), 350);
        store_fixture_close(&f);
}

Test(running, counts_nothing_while_the_machine_is_off_and_never_goes_back)
{
        struct store_fixture f;
        struct fake fake = {.monotonic = 5000};
        struct clock clock = {fake_wall, fake_monotonic, &fake};
        store_fixture_open(&f, TEXT_UTF8);
        save(&f, &clock);
        fake.monotonic += 300;
        save(&f, &clock);
        store_fixture_check(
                sql_execute(store_db(f.store), "UPDATE cdcfs_state SET running_boot = 'another'"),
                "UPDATE");
        fake.monotonic = 40000;
        cr_expect_eq(save(&f, &clock), 300);
        fake.monotonic = 39000;
        cr_expect_eq(read_running(&f, &clock), 300);
        store_fixture_close(&f);
}
