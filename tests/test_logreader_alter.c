/* SPDX-License-Identifier: MIT
 *
 * A table that is altered, renamed, rebuilt and vacuumed at random, with rows in the same
 * transactions and other work beside it. Two instances, with a key and without, follow it.
 */
#include "live.h"
#include "workload.h"

enum { COLUMNS = 5, MOST = 12 };

/* The table as it is, and where the columns captured first have gone. Column 0 is the key. */
struct table {
        struct live *l;
        struct workload *w;
        char name[16];
        char columns[MOST][16];
        unsigned count;
        int at[COLUMNS];       /* place of a captured column, -1 = dropped */
        unsigned names;        /* given so far */
        char lists[2][2][200]; /* as the instances know them: before and now */
        char known[2][16];
        unsigned turn;
        bool is_without_rowid;
};

static const char *const types[] = {"", "INTEGER", "TEXT", "REAL", "BLOB"};

static uint32_t below(struct table *t, uint32_t limit)
{
        return prng_below(&t->w->prng, limit);
}

static void new_name(struct table *t, char ret_name[16])
{
        snprintf(ret_name, 16, "c%u", t->names++);
}

/* What the instances capture, as SQL: names, or NULL. They take turns in two buffers, as the one
 * before is still in use. */
static void rebind(struct table *t)
{
        t->turn = !t->turn;
        memcpy(t->known[t->turn], t->name, sizeof(t->name));
        for (unsigned instance = 0; instance < 2; instance++) {
                char *list = t->lists[instance][t->turn];
                list[0] = '\0';
                for (unsigned i = 0; i < COLUMNS; i++) {
                        /* The second one has the columns from the last to the first, keyless. */
                        int at = t->at[instance == 0 ? i : COLUMNS - 1 - i];
                        strcat(list, i > 0 ? "," : "");
                        strcat(list, at < 0 ? "NULL" : t->columns[at]);
                }
                live_rebind(t->l, instance + 1, t->known[t->turn], list);
                t->l->tables[instance].is_without_rowid = t->is_without_rowid;
        }
}

/* ---- rows ---- */

static void write_rows(struct table *t, unsigned count)
{
        for (; count > 0; count--) {
                const char *column = t->columns[t->count > 1 ? 1 + below(t, t->count - 1) : 0];
                const char *key = t->columns[0];
                switch (below(t, 4)) {
                case 0:
                        workload_run(t->w,
                                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
                                "WHERE i < %u) INSERT OR REPLACE INTO %s(%s) SELECT rnd(500) "
                                "FROM n",
                                1 + below(t, 40), t->name, key);
                        break;
                case 1:
                        workload_run(t->w, "DELETE FROM %s WHERE %s %% 9 = rnd(30)", t->name, key);
                        break;
                default:
                        if (t->count > 1)
                                workload_run(t->w,
                                        "UPDATE %s SET %s = CASE rnd(3) WHEN 0 THEN payload() "
                                        "WHEN 1 THEN rnd(10) ELSE 'text' END WHERE %s %% 7 = "
                                        "rnd(7)",
                                        t->name, column, key);
                        break;
                }
        }
}

/* ---- the table ---- */

static void add_column(struct table *t)
{
        if (t->count == MOST)
                return;
        new_name(t, t->columns[t->count]);
        workload_run(t->w, "ALTER TABLE %s ADD COLUMN %s %s DEFAULT %u", t->name,
                t->columns[t->count], types[below(t, COUNT(types))], below(t, 100));
        t->count++;
}

static void drop_column(struct table *t, bool is_last_kept)
{
        if (t->count < 3)
                return;
        unsigned gone = 1 + below(t, t->count - 1 - is_last_kept);
        workload_run(t->w, "ALTER TABLE %s DROP COLUMN %s", t->name, t->columns[gone]);
        t->count--;
        memmove(t->columns[gone], t->columns[gone + 1], (t->count - gone) * sizeof(*t->columns));
        for (unsigned i = 0; i < COLUMNS; i++)
                if (t->at[i] == (int)gone)
                        t->at[i] = -1;
                else if (t->at[i] > (int)gone)
                        t->at[i]--;
}

static void rename_column(struct table *t)
{
        char name[16];
        unsigned i = below(t, t->count);
        new_name(t, name);
        workload_run(t->w, "ALTER TABLE %s RENAME COLUMN %s TO %s", t->name, t->columns[i], name);
        memcpy(t->columns[i], name, sizeof(name));
}

static void rename_table(struct table *t)
{
        char name[16];
        new_name(t, name);
        name[0] = 't';
        workload_run(t->w, "ALTER TABLE %s RENAME TO %s", t->name, name);
        memcpy(t->name, name, sizeof(name));
}

/* Another table under the same name, with the columns in another order. */
static void rebuild(struct table *t)
{
        _cleanup_(buf_release) struct buf definitions = BUF_INIT, list = BUF_INIT;
        char old[MOST][16];
        unsigned order[MOST];
        memcpy(old, t->columns, sizeof(old));
        for (unsigned i = 0; i < t->count; i++)
                order[i] = i;
        for (unsigned i = t->count - 1; i > 1; i--) {
                unsigned k = 1 + below(t, i), swap = order[i];
                order[i] = order[k];
                order[k] = swap;
        }
        t->is_without_rowid = below(t, 3) == 0;
        for (unsigned i = 0; i < t->count; i++) {
                buf_append_format(&definitions, "%s%s%s", i > 0 ? "," : "", old[order[i]],
                        i == 0 ? " PRIMARY KEY" : "");
                buf_append_format(&list, "%s%s", i > 0 ? "," : "", old[order[i]]);
                memcpy(t->columns[i], old[order[i]], sizeof(*t->columns));
        }
        workload_run(t->w,
                "CREATE TABLE fresh(%s)%s; INSERT INTO fresh SELECT %s FROM %s; DROP TABLE %s; "
                "ALTER TABLE fresh RENAME TO %s",
                buf_string(&definitions), t->is_without_rowid ? " WITHOUT ROWID" : "",
                buf_string(&list), t->name, t->name, t->name);
        for (unsigned i = 0; i < COLUMNS; i++)
                for (unsigned k = 0; t->at[i] >= 0 && k < t->count; k++)
                        if (order[k] == (unsigned)t->at[i]) {
                                t->at[i] = (int)k;
                                break;
                        }
        t->l->is_renumbered = true;
}

/* One schema change; several of a kind can be told apart. */
static void alter(struct table *t)
{
        unsigned times = 1 + below(t, 3);
        switch (below(t, 7)) {
        case 0:
                for (; times > 0; times--)
                        add_column(t);
                break;
        case 1:
                for (; times > 0; times--)
                        drop_column(t, false);
                break;
        case 2:
                rename_column(t);
                break;
        case 3:
                rename_table(t);
                break;
        case 4:
                rebuild(t);
                break;
        case 5:
                /* The last one dropped and another added would look as if it was renamed. */
                drop_column(t, true);
                add_column(t);
                break;
        default:
                workload_run(t->w, "CREATE INDEX %s_i ON %s(%s); DROP INDEX %s_i", t->name, t->name,
                        t->columns[0], t->name);
                break;
        }
}

/* A transaction with a schema change, and perhaps rows before and after it. The truth must know of
 * it before the commit. */
static void alter_step(struct table *t)
{
        live_step(t->l);
        live_run(t->l, "BEGIN");
        if (below(t, 2))
                write_rows(t, 2);
        alter(t);
        if (below(t, 2))
                write_rows(t, 2);
        rebind(t);
        live_run(t->l, "COMMIT");
        live_step(t->l);
}

static void vacuum_step(struct table *t)
{
        live_step(t->l);
        t->l->is_renumbered = true;
        live_run(t->l, "VACUUM");
        cr_expect_eq(live_step(t->l), 0);
}

/* ---- the story ---- */

static void attach_table(struct table *t)
{
        static char columns[2][COLUMNS * 4];
        snprintf(columns[0], sizeof(columns[0]), "c0,c1,c2,c3,c4");
        snprintf(columns[1], sizeof(columns[1]), "c4,c3,c2,c1,c0");
        memcpy(t->known[0], t->name, sizeof(t->name));
        live_attach(
                t->l, &(struct live_table){.name = t->known[0], .columns = columns[0], .key = "1"});
        live_attach(t->l, &(struct live_table){.name = t->known[0], .columns = columns[1]});
}

static void open_table(struct table *t, struct live *l, struct workload *w)
{
        *t = (struct table){.l = l, .w = w, .name = "t0", .count = COLUMNS};
        for (unsigned i = 0; i < COLUMNS; i++) {
                new_name(t, t->columns[i]);
                t->at[i] = (int)i;
        }
        workload_run(w, "CREATE TABLE t0(c0 PRIMARY KEY, c1, c2 INTEGER, c3 REAL, c4 TEXT)");
        write_rows(t, 10);
        live_tell(l);
        attach_table(t);
}

static void step(struct table *t)
{
        switch (below(t, 12)) {
        case 0:
        case 1:
        case 2:
                alter_step(t);
                break;
        case 3:
                vacuum_step(t);
                break;
        case 4:
                live_checkpoint(t->l, SQLITE_CHECKPOINT_PASSIVE);
                break;
        case 5:
                workload_transaction(t->w);
                break;
        default:
                live_run(t->l, "BEGIN");
                write_rows(t, 3);
                live_run(t->l, "COMMIT");
                break;
        }
        if (below(t, 3) == 0)
                live_step(t->l);
}

static void random_story(uint32_t page_size, const char *settings, unsigned steps, uint64_t seed)
{
        struct live l;
        struct workload w;
        struct table t;
        live_open(&l, &(struct live_options){.page_size = page_size,
                              .settings = settings,
                              .schema = "CREATE TABLE first(a)"});
        workload_open(&w, l.app, page_size, 100, seed);
        open_table(&t, &l, &w);
        for (unsigned i = 0; i < steps; i++)
                step(&t);
        live_step(&l);
        cr_expect_gt(l.changes, steps * 5);
        live_close(&l);
}

Test(logreader_alter, small_pages)
{
        random_story(512, "PRAGMA secure_delete=OFF; PRAGMA cache_size=5", 600, 81);
}

Test(logreader_alter, pages_that_move)
{
        random_story(1024, "PRAGMA secure_delete=OFF; PRAGMA auto_vacuum=FULL", 600, 82);
}

Test(logreader_alter, another_encoding)
{
        random_story(4096, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA encoding='UTF-16le'", 400, 83);
}
