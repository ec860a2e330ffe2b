/* SPDX-License-Identifier: MIT
 *
 * A live database and its log, changed in place: before SQLite opens them, before the log reader
 * builds its map, or before it reads what is new. It must give rows or a recorded error; a table
 * that none of the changed pages ever belonged to must be told as if nothing had happened.
 * Input: patches, see fuzz.h; the second file is the log.
 */
#include "fuzz.h"
#include "meaning/logreader.c" /* for what struct logreader hides: the page map */
#include "tmp.h"

enum { PAGE = 512, TABLES = 3, PAGES_LIMIT = 2000, ALL = (1 << TABLES) - 1 };

struct told {
        uint64_t hash[TABLES]; /* of the changes and events of each table */
        int error;             /* that ended it */
};

static struct {
        struct tmp tmp;
        char path[300], wal_path[304], shm_path[304];
        uint8_t *files[2]; /* database, log */
        size_t sizes[2];
        uint8_t owners[PAGES_LIMIT]; /* a bit for each table that the page ever belonged to */
        struct told truth;
} base;

static const char schema[] =
        "PRAGMA page_size=512; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
        "CREATE TABLE t1(a INTEGER PRIMARY KEY, b);"
        "CREATE TABLE t2(a TEXT PRIMARY KEY, b) WITHOUT ROWID;"
        "CREATE TABLE t3(a, b); CREATE INDEX i3 ON t3(a);";
static const char rows[] =
        "CREATE TEMP VIEW n(i) AS WITH RECURSIVE x(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM x "
        "WHERE i < 60) SELECT i FROM x;"
        "INSERT INTO t1 SELECT i, zeroblob(i % 9 * 100) FROM n;"
        "INSERT INTO t2 SELECT 'k' || i, zeroblob(i % 9 * 100) FROM n;"
        "INSERT INTO t3 SELECT i, zeroblob(i % 5 * 30) FROM n;"
        "PRAGMA wal_checkpoint(TRUNCATE);";
static const char work[] =
        "UPDATE t1 SET b = 'x' WHERE a % 7 = 0; DELETE FROM t2 WHERE a > 'k3';"
        "BEGIN; INSERT INTO t3 SELECT a + 100, b FROM t1; DELETE FROM t1 WHERE a < 20; COMMIT;"
        "ALTER TABLE t3 ADD COLUMN c DEFAULT 5; UPDATE t3 SET b = c WHERE a < 5;"
        "BEGIN; INSERT INTO t2 SELECT 'm' || a, b FROM t3; UPDATE t1 SET a = a + 1000; COMMIT;"
        "ALTER TABLE t1 RENAME TO t1b; DELETE FROM t1b; INSERT INTO t1b VALUES(1, zeroblob(5000));"
        "DELETE FROM t3 WHERE a > 50;";

static void run_sql(sqlite3 *db, const char *sql)
{
        FUZZ_CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static void read_base(const char *path, int i)
{
        base.files[i] = (uint8_t *)tmp_read(path, &base.sizes[i]);
}

static void make_files(void)
{
        sqlite3 *db = NULL;
        tmp_open(&base.tmp);
        snprintf(base.path, sizeof(base.path), "%s/app.db", base.tmp.directory);
        snprintf(base.wal_path, sizeof(base.wal_path), "%s-wal", base.path);
        snprintf(base.shm_path, sizeof(base.shm_path), "%s-shm", base.path);
        FUZZ_CHECK(sqlite3_open(base.path, &db) == SQLITE_OK);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        run_sql(db, schema);
        run_sql(db, rows);
        run_sql(db, work);
        sqlite3_close(db);
        read_base(base.path, 0);
        read_base(base.wal_path, 1);
        FUZZ_CHECK(base.sizes[0] / PAGE < PAGES_LIMIT && base.sizes[1] > PAGE);
}

/* ---- a round ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
        for (size_t i = 0; i < size; i++)
                hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
        return hash;
}

static void mix_values(uint64_t *hash, const struct value *values, unsigned count)
{
        struct buf buf = BUF_INIT;
        for (unsigned i = 0; values && i < count; i++)
                value_append(&buf, &values[i]);
        if (buf.size > 0)
                *hash = mix(*hash, buf.data, buf.size);
        buf_release(&buf);
}

static uint64_t *hash_of(struct told *told, int64_t object_id)
{
        FUZZ_CHECK(object_id >= 1 && object_id <= TABLES);
        return &told->hash[object_id - 1];
}

static void note_owners(const struct logreader *reader, struct told *told)
{
        for (uint32_t pgno = 1; told == &base.truth && pgno < PAGES_LIMIT; pgno++) {
                uint16_t tree = pagemap_get(&reader->tracking.map, pgno).tree;
                if (tree == TRACKING_SCHEMA_TREE)
                        base.owners[pgno] = ALL;
                for (size_t i = 0; i < reader->tracking.count; i++)
                        if (reader->tracking.list[i].tree == tree)
                                base.owners[pgno] |= 1 << (reader->tracking.list[i].object_id - 1);
        }
}

static int tell_transaction(const struct transaction_source *source,
        const struct change_transaction *t, struct told *told)
{
        struct change change;
        int r;
        for (unsigned i = 0; i < t->event_count; i++) {
                const struct change_event *event = &t->events[i];
                uint64_t *hash = hash_of(told, event->object_id);
                *hash = mix(*hash, event->text, strlen(event->text));
        }
        while ((r = source->next_change(source->context, &change)) == 1) {
                uint64_t *hash = hash_of(told, change.object_id);
                FUZZ_CHECK(change.columns == 2);
                *hash = mix(*hash, &change.operation, sizeof(change.operation));
                *hash = mix(*hash, &t->lsn, sizeof(t->lsn));
                mix_values(hash, change.before, change.columns);
                mix_values(hash, change.after, change.columns);
        }
        return r;
}

static void attach_tables(const struct transaction_source *source)
{
        static char a[] = "a", b[] = "b", *columns[] = {a, b};
        static const unsigned key[] = {1};
        static const char *const names[TABLES] = {"t1", "t2", "t3"};
        for (int i = 0; i < TABLES; i++) {
                struct problem problem = {0};
                struct capture_request request = {.object_id = i + 1,
                        .table = names[i],
                        .columns = columns,
                        .column_count = 2,
                        .key = key,
                        .key_count = i == 2 ? 0 : 1};
                int r = source->attach(source->context, &request, &problem);
                FUZZ_CHECK(r == 0 || r == -ENOENT || r == -ENOTSUP || r == -EBADMSG);
        }
}

static void apply(const struct database *database, const uint8_t *data, size_t size, uint8_t phase)
{
        struct fuzz fuzz = {data, size};
        struct fuzz_patch patch;
        while (fuzz_next_patch(&fuzz, &patch)) {
                sqlite3_file *file = patch.is_second ? database->wal : database->main;
                size_t limit = base.sizes[patch.is_second];
                if (patch.phase == phase)
                        file->pMethods->xWrite(file, patch.bytes, patch.size,
                                (sqlite3_int64)(patch.at % (limit - sizeof(patch.bytes))));
        }
}

/* The log from its first frame on. */
static int open_reader(const struct database *database, struct logreader **ret_reader)
{
        struct database_header header;
        int r = database_header(database, &header);
        if (r < 0)
                return r;
        struct logreader_position position = {.generation = 1,
                .pages = (uint32_t)(base.sizes[0] / PAGE),
                .schema_cookie = be32(base.files[0] + OFFSET_COOKIE)};
        memcpy(position.salt, header.salt, sizeof(position.salt));
        return logreader_open(database, &position, 1, base.tmp.directory, ret_reader);
}

static int read_log(struct logreader *reader, const struct database *database, const uint8_t *data,
        size_t size, struct told *told)
{
        struct change_transaction t;
        struct logreader_position position;
        struct transaction_source source = logreader_source(reader);
        attach_tables(&source);
        note_owners(reader, told);
        apply(database, data, size, 2);
        int r = logreader_poll(reader);
        for (unsigned i = 0; r == 1 && (r = source.next(source.context, &t)) == 1; i++) {
                r = tell_transaction(&source, &t, told);
                note_owners(reader, told);
                if (i == 2)
                        apply(database, data, size, 3);
                r = r == 0 ? 1 : r;
        }
        logreader_position(reader, &position);
        return r;
}

static void run_round(const uint8_t *data, size_t size, struct told *told)
{
        struct database *database = NULL;
        struct logreader *reader = NULL;
        struct problem problem = {0};
        tmp_write(base.path, base.files[0], base.sizes[0]);
        tmp_write(base.wal_path, base.files[1], base.sizes[1]);
        unlink(base.shm_path);
        struct fuzz fuzz = {data, size};
        struct fuzz_patch patch;
        while (fuzz_next_patch(&fuzz, &patch)) {
                if (patch.phase != 0)
                        continue;
                FILE *file = fopen(patch.is_second ? base.wal_path : base.path, "r+b");
                FUZZ_CHECK(file != NULL);
                fseek(file, (long)(patch.at % base.sizes[patch.is_second]), SEEK_SET);
                fwrite(patch.bytes, 1, patch.size, file);
                fclose(file);
        }
        told->error = database_open(base.path, &database, &problem);
        if (told->error == 0 && database->page_size == PAGE) {
                apply(database, data, size, 1);
                told->error = open_reader(database, &reader);
        }
        if (told->error == 0 && reader)
                told->error = read_log(reader, database, data, size, told);
        logreader_close(reader);
        database_close(database);
}

/* ---- which tables must be as ever ---- */

static uint8_t tables_hit(const struct fuzz_patch *patch)
{
        size_t frame = PAGE + WALFRAME_HEADER,
               at = patch->at % (base.sizes[patch->is_second] - sizeof(patch->bytes));
        uint8_t hit = 0;
        for (size_t i = at; i < at + patch->size; i++) {
                uint32_t pgno = (uint32_t)(i / PAGE) + 1;
                if (patch->is_second) {
                        if (i < WALFRAME_FILE_HEADER ||
                                (i - WALFRAME_FILE_HEADER) % frame < WALFRAME_HEADER)
                                return ALL;
                        size_t start = i - (i - WALFRAME_FILE_HEADER) % frame;
                        pgno = be32(base.files[1] + start);
                }
                hit |= pgno == 1 || pgno >= PAGES_LIMIT ? ALL : base.owners[pgno];
        }
        return hit;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct told told = {0};
        struct fuzz fuzz = {data, size};
        struct fuzz_patch patch;
        uint8_t hit = 0;
        if (!base.files[0]) {
                fuzz_prepare_sqlite();
                make_files();
                run_round(NULL, 0, &base.truth);
                FUZZ_CHECK(base.truth.error == 0 && base.truth.hash[0] && base.truth.hash[2]);
        }
        while (fuzz_next_patch(&fuzz, &patch))
                hit |= patch.phase == 0 ? ALL : tables_hit(&patch);
        run_round(data, size, &told);
        FUZZ_CHECK(told.error <= 0);
        for (int i = 0; i < TABLES; i++)
                if (!(hit >> i & 1))
                        FUZZ_CHECK(told.hash[i] == base.truth.hash[i]);
        return 0;
}
