/* SPDX-License-Identifier: MIT
 *
 * A store file in which some bytes were changed: it is opened and read, or refused. Input: patches.
 */
#include "fuzz.h"
#include "memory/files.h"
#include "memory/history.h"
#include "memory/jobs.h"
#include "store_fixture.h"

static struct {
        struct store_fixture fixture;
        uint8_t *bytes;
        uint8_t *changed;
        size_t size;
} base;

static void fill(struct store_fixture *f)
{
        int64_t number, id = store_fixture_enable(
                                f, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)", "t", "main_t");
        struct history_gap gap = {.from = lsn_make(1, 5, 1),
                .to = lsn_make(1, 9, 1),
                .time_ns = STORE_FIXTURE_NOW,
                .cause = (char *)"a cause"};
        struct history_ddl ddl = {
                .object_id = id, .command = "DROP TABLE t", .lsn = lsn_make(1, 2, 1)};
        store_fixture_begin(f);
        store_fixture_check(history_add_gap(f->store, &gap, &number), "history_add_gap");
        store_fixture_check(history_add_ddl(f->store, &ddl), "history_add_ddl");
        store_fixture_check(instances_recognise(f->store, id, lsn_make(1, 1, 1)), "recognise");
        store_fixture_commit(f);
}

static void make_base(void)
{
        store_fixture_open(&base.fixture, TEXT_UTF8);
        fill(&base.fixture);
        store_close(base.fixture.store);
        base.fixture.store = NULL;
        base.bytes = (uint8_t *)tmp_read(base.fixture.path, &base.size);
        base.changed = malloc(base.size);
        FUZZ_CHECK(base.changed != NULL);
}

static void read_store(struct store *store)
{
        struct state state = {0};
        struct instances instances = {0};
        struct history_gaps gaps = {0};
        uint64_t version;
        if (state_load(store, &state) == 0)
                state_release(&state);
        if (instances_load(store, &instances) == 0) {
                for (size_t i = 0; i < instances.count; i++)
                        FUZZ_CHECK(instances.items[i].name && instances.items[i].directory);
                instances_release(&instances);
        }
        if (history_load_gaps(store_db(store), 0, &gaps) == 0)
                history_gaps_release(&gaps);
        state_catalog_version(store, &version);
        store_changed(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fuzz fuzz = {data, size};
        struct fuzz_patch patch;
        if (!base.bytes) {
                fuzz_prepare_sqlite();
                make_base();
        }
        memcpy(base.changed, base.bytes, base.size);
        enum store_mode mode = fuzz_u8(&fuzz) % 2 ? STORE_WRITE : STORE_READ;
        while (fuzz_next_patch(&fuzz, &patch))
                for (unsigned i = 0; i < patch.size; i++)
                        base.changed[(patch.at + i) % base.size] = patch.bytes[i];
        tmp_write(base.fixture.path, base.changed, base.size);
        struct store *store = NULL;
        struct problem problem = {0};
        int r = store_open(base.fixture.path, mode, &problem, &store);
        FUZZ_CHECK(r <= 0 && (r == 0) == (store != NULL));
        FUZZ_CHECK(r == 0 || problem.message[0] != '\0');
        if (r == 0)
                read_store(store);
        store_close(store);
        static const char *const rest[] = {
                "app.db-cdc-wal", "app.db-cdc-shm", "app.db-cdc-journal"};
        for (size_t i = 0; i < COUNT(rest); i++)
                unlink(store_fixture_path(&base.fixture, rest[i]));
        return 0;
}
