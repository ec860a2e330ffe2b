/* SPDX-License-Identifier: MIT
 *
 * Random work of an application, in every size of page, with checkpoints, restarts of the log and
 * restarts of the reader in between. All that the reader tells must be true.
 */
#include "live.h"
#include "workload.h"

static const struct live_table captured[] = {
        {.name = "plain", .columns = "a,b"},
        {.name = "ipk", .columns = "id,b,c", .key = "1", .is_rowid_key = true},
        {.name = "keyed", .columns = "n,k", .key = "2"},
        {.name = "pair", .columns = "x,y,b", .key = "2,1"},
        {.name = "spare", .columns = "b,p", .key = "2", .is_without_rowid = true},
};

/* A second instance of a table: all columns, without a key. */
static const struct live_table second = {.name = "keyed", .columns = "k,b,n"};

static void attach_all(struct live *l)
{
        for (unsigned i = 0; i < COUNT(captured); i++)
                live_attach(l, &captured[i]);
        live_attach(l, &second);
}

/* Closes the reader and opens another one where it stood. */
static void reopen(struct live *l)
{
        struct logreader_position position;
        struct problem problem = {0};
        cr_assert_eq(logreader_position(l->reader, &position), 0);
        struct pin *pin = logreader_steal_pin(l->reader);
        logreader_close(l->reader);
        cr_assert_eq(logreader_open_pinned(
                             l->database, pin, &position, 99, l->tmp.directory, &l->reader),
                0);
        l->source = logreader_source(l->reader);
        for (unsigned i = 0; i < l->count; i++)
                cr_assert_eq(live_try_attach(l, &l->tables[i], &problem), 0, "%s", problem.message);
        live_check_map(l);
}

/* Lets the next writer restart the log, or restarts it at once. */
static void restart_log(struct live *l, bool is_truncated)
{
        live_step(l);
        if (!live_checkpoint(l, SQLITE_CHECKPOINT_PASSIVE))
                return;
        live_step(l);
        if (is_truncated)
                cr_expect(live_checkpoint(l, SQLITE_CHECKPOINT_TRUNCATE), "nobody holds the log");
}

/* Everything is written anew, and no row has changed. */
static void vacuum(struct live *l)
{
        live_step(l);
        l->is_renumbered = true;
        live_run(l, "VACUUM");
        cr_expect_eq(live_step(l), 0);
}

static void interfere(struct live *l, struct workload *w)
{
        static const int sizes[] = {5, 10, 100, 2000};
        uint32_t choice = prng_below(&w->prng, 50);
        if (choice < 20)
                live_step(l);
        else if (choice < 25)
                live_tell(l);
        else if (choice < 29)
                live_checkpoint(l, SQLITE_CHECKPOINT_PASSIVE);
        else if (choice < 31)
                live_checkpoint(l, SQLITE_CHECKPOINT_TRUNCATE);
        else if (choice < 33)
                workload_run(w, "PRAGMA cache_size=%d", sizes[prng_below(&w->prng, 4)]);
        else if (choice == 33)
                reopen(l);
        else if (choice == 34)
                workload_run(w, "PRAGMA user_version=%u", prng_below(&w->prng, 1000));
        else if (choice < 38)
                restart_log(l, choice == 35);
        else if (choice == 38)
                vacuum(l);
        else if (choice < 41)
                workload_run(w, "PRAGMA incremental_vacuum(%u)", prng_below(&w->prng, 20));
}

static const struct {
        uint32_t page_size;
        int reserved;
        unsigned rows, transactions;
        const char *settings;
} sizes[] = {
        {512, 0, 500, 700, "PRAGMA secure_delete=OFF; PRAGMA cache_size=5"},
        {512, 32, 300, 500,
                "PRAGMA secure_delete=ON; PRAGMA cache_size=10; "
                "PRAGMA auto_vacuum=FULL"},
        {1024, 0, 500, 400,
                "PRAGMA secure_delete=FAST; PRAGMA cache_size=2000; "
                "PRAGMA auto_vacuum=INCREMENTAL"},
        {1024, 8, 400, 400,
                "PRAGMA secure_delete=OFF; PRAGMA cache_size=5; "
                "PRAGMA auto_vacuum=FULL; PRAGMA encoding='UTF-16le'"},
        {4096, 0, 500, 200, "PRAGMA secure_delete=OFF; PRAGMA cache_size=10"},
        {65536, 0, 200, 60,
                "PRAGMA secure_delete=ON; PRAGMA cache_size=5; "
                "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA encoding='UTF-16be'"},
};

static void random_story(size_t i, uint64_t seed)
{
        struct live l;
        struct workload w;
        live_open(&l, &(struct live_options){.page_size = sizes[i].page_size,
                              .reserved = sizes[i].reserved,
                              .settings = sizes[i].settings,
                              .schema = "CREATE TABLE first(a)"});
        workload_open(&w, l.app, sizes[i].page_size, sizes[i].rows, seed);
        live_tell(&l);
        attach_all(&l);
        for (unsigned k = 0; k < sizes[i].transactions; k++) {
                workload_transaction(&w);
                interfere(&l, &w);
        }
        live_step(&l);
        cr_expect_gt(l.reader->base.generation, 1, "the log was restarted");
        cr_expect_gt(l.changes, sizes[i].transactions * 10);
        live_close(&l);
}

Test(logreader_random, pages_of_512_bytes)
{
        random_story(0, 1);
}

Test(logreader_random, pages_of_512_bytes_of_which_32_are_reserved)
{
        random_story(1, 2);
}

Test(logreader_random, pages_of_1024_bytes)
{
        random_story(2, 3);
}

Test(logreader_random, pages_of_1024_bytes_of_which_8_are_reserved)
{
        random_story(3, 4);
}

Test(logreader_random, pages_of_4096_bytes)
{
        random_story(4, 5);
}

Test(logreader_random, pages_of_65536_bytes)
{
        random_story(5, 6);
}
