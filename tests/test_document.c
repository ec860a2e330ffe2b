/* SPDX-License-Identifier: MIT
 *
 * document: the plain files, ddl_history and metadata tables, byte for byte.
 */
#include "faces/document.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"

struct fixture {
        struct store_fixture f;
        int64_t id;
        int64_t pending;
};

static struct fixture setup(enum text_encoding encoding)
{
        struct fixture x;
        store_fixture_open(&x.f, encoding);
        x.id = changes_fixture_enable(&x.f, "main_t");
        x.pending = store_fixture_enable(&x.f, "CREATE TABLE \"a,b\"(x)", "a,b", NULL);
        changes_fixture_recognise(&x.f, x.id, 10);
        changes_fixture_commit(&x.f, x.id, 15, "i1");
        return x;
}

static void add_ddl(struct store_fixture *f, int64_t object_id, const char *command)
{
        struct history_ddl ddl = {
                .source_object_id = 1,
                .object_id = object_id,
                .command = command,
                .lsn = changes_fixture_lsn(12),
                .time_ns = STORE_FIXTURE_NOW,
        };
        store_fixture_begin(f);
        store_fixture_check(history_add_ddl(f->store, &ddl), "history_add_ddl");
        store_fixture_commit(f);
}

Test(document, plain_files_are_one_line_or_empty)
{
        static const struct {
                int (*make)(sqlite3 *, int64_t, struct buf *);
                bool is_pending;
                const char *wanted;
        } cases[] = {
                {document_min_lsn, false, "00000001:0000000a:0001\n"},
                {document_max_lsn, false, "00000001:0000000f:0001\n"},
                {document_min_lsn, true, ""},
                {document_max_lsn, true, ""},
        };
        struct fixture x = setup(TEXT_UTF8);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                int64_t id = cases[i].is_pending ? x.pending : x.id;
                cr_assert_eq(cases[i].make(store_db(x.f.store), id, &buf), 0);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted, "case %u", i);
                cr_expect_eq(cases[i].make(store_db(x.f.store), 99, &buf), -ENOENT);
        }
        store_fixture_close(&x.f);
}

static const char ddl_of_t[] =
        "\"main\",\"t\",\"main_t\",0,\"ALTER TABLE \"\"t\"\" ADD COLUMN y\",00000001:0000000c:0001,"
        "2026-11-30T10:00:00.000000Z\n";
static const char ddl_header[] = "source_schema,source_table,capture_instance,"
                                 "required_column_update,ddl_command,ddl_lsn,ddl_time\n";

/* In a store of any encoding the file is the same. */
Test(document, ddl_history_has_the_columns_of_the_procedure)
{
        for (int encoding = TEXT_UTF8; encoding <= TEXT_UTF16BE; encoding++) {
                struct fixture x = setup((enum text_encoding)encoding);
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                char wanted[1024];
                add_ddl(&x.f, x.id, "ALTER TABLE \"t\" ADD COLUMN y");
                cr_assert_eq(
                        document_ddl_history(store_db(x.f.store), x.id, render_find("csv"), &buf),
                        0);
                snprintf(wanted, sizeof wanted, "%s%s", ddl_header, ddl_of_t);
                cr_expect_str_eq(buf_string(&buf), wanted);
                store_fixture_close(&x.f);
        }
}

Test(document, ddl_history_is_of_one_instance_or_of_all)
{
        struct fixture x = setup(TEXT_UTF8);
        _cleanup_(buf_release) struct buf none = BUF_INIT, all = BUF_INIT, lines = BUF_INIT;
        sqlite3 *db = store_db(x.f.store);
        add_ddl(&x.f, x.id, "DROP TABLE \"t\"");
        cr_assert_eq(document_ddl_history(db, x.pending, render_find("csv"), &none), 0);
        cr_expect_str_eq(buf_string(&none), ddl_header);
        cr_assert_eq(document_ddl_history(db, 0, render_find("csv"), &all), 0);
        cr_expect_not_null(strstr(buf_string(&all), "\"main_t\",0,\"DROP TABLE \"\"t\"\"\""));
        cr_assert_eq(document_ddl_history(db, 0, render_find("jsonl"), &lines), 0);
        cr_expect_str_eq(buf_string(&lines),
                "{\"source_schema\":\"main\",\"source_table\":\"t\",\"capture_instance\":\"main_"
                "t\","
                "\"required_column_update\":0,\"ddl_command\":\"DROP TABLE \\\"t\\\"\","
                "\"ddl_lsn\":\"00000001:0000000c:0001\","
                "\"ddl_time\":\"2026-11-30T10:00:00.000000Z\"}\n");
        cr_expect_eq(document_ddl_history(db, 99, render_find("csv"), &none), -ENOENT);
        store_fixture_close(&x.f);
}

Test(document, metadata_tables_begin_with_sql_servers_columns)
{
        static const struct {
                const char *table;
                const char *start;
        } cases[] = {
                {"change_tables",
                        "object_id,version,source_object_id,capture_instance,start_lsn,"
                        "end_lsn,supports_net_changes,has_drop_pending,role_name,"
                        "index_name,filegroup_name,create_date,partition_switch,directory\n"
                        "1,0,1,\"main_t\",00000001:0000000a:0001,,1,0,,\"PRIMARY KEY\",,"
                        "2026-11-30T10:00:00.000000Z,1,\"main_t\"\n"
                        "2,0,2,\"main_a,b\",,,"},
                {"captured_columns", "object_id,column_name,column_id,column_type,column_ordinal,"
                                     "is_computed\n1,\"id\",1,\"INTEGER\",1,0\n"},
                {"index_columns", "object_id,column_name,index_ordinal,column_id\n1,\"id\",1,1\n"},
                {"cdc_jobs", "database_id,job_type,job_id,maxtrans,maxscans,continuous,"
                             "pollinginterval,retention,threshold\n1,\"capture\",\\x"},
                {"dm_cdc_log_scan_sessions", "session_id,start_time,end_time,duration,scan_phase,"},
                {"dm_cdc_errors", "session_id,phase_number,entry_time,error_number,"},
        };
        struct fixture x = setup(TEXT_UTF8);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                cr_assert_eq(document_table(store_db(x.f.store), cases[i].table, 0,
                                     render_find("csv"), &buf),
                        0);
                cr_expect_eq(strncmp(buf_string(&buf), cases[i].start, strlen(cases[i].start)), 0,
                        "%s: %s", cases[i].table, buf_string(&buf));
        }
        store_fixture_close(&x.f);
}

Test(document, metadata_tables_can_be_of_one_instance)
{
        struct fixture x = setup(TEXT_UTF8);
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_assert_eq(document_table(store_db(x.f.store), "captured_columns", x.id,
                             render_find("jsonl"), &buf),
                0);
        cr_expect_not_null(strstr(buf_string(&buf), "\"column_name\":\"id\""));
        cr_expect_null(strstr(buf_string(&buf), "\"object_id\":2"));
        cr_expect_eq(
                document_table(store_db(x.f.store), "cdcfs_state", 0, render_find("csv"), &buf),
                -ENOENT);
        cr_expect_eq(document_table(store_db(x.f.store), "main_t_CT", 0, render_find("csv"), &buf),
                -ENOENT);
        store_fixture_close(&x.f);
}

Test(document, readme_fits_on_a_screen)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        unsigned lines = 0, width = 0;
        document_readme("/srv/app.db", &buf);
        cr_expect_not_null(strstr(buf_string(&buf), "/srv/app.db"));
        for (const char *c = buf_string(&buf); *c; c++) {
                width = *c == '\n' ? 0 : width + 1;
                lines += *c == '\n';
                cr_expect_leq(width, 80);
        }
        cr_expect_leq(lines, 40);
}
