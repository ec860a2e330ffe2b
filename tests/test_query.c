/* SPDX-License-Identifier: MIT
 *
 * query: the change function, the interval and the report of instances, from the outside.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "desk_fixture.h"

/* main_t from frame 10 to 20, main_pending not captured yet. */
static void setup(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x);"
                             "CREATE TABLE \"p]q\"(a, \"b,c\", PRIMARY KEY(\"b,c\", a))");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0);
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
        options.table = "p]q";
        options.capture_instance = "main_pending";
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
        int64_t id = desk_fixture_id(x, "main_t");
        changes_fixture_recognise(desk_fixture_store(x), id, 10);
        changes_fixture_commit(desk_fixture_store(x), id, 15, "i1 u1");
        changes_fixture_commit(desk_fixture_store(x), id, 20, "d1");
        store_close(x->f.store);
        x->f.store = NULL;
}

/* All rows in a format; the caller frees them. */
static char *write_rows(struct desk_fixture *x, struct cdc_rows *rows, const char *format)
{
        const char *path = store_fixture_path(&x->f, "out");
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        cr_assert_eq(cdc_rows_write(rows, format, fd), 0);
        close(fd);
        cdc_rows_close(rows);
        char *text = tmp_read(path, NULL);
        unlink(path);
        return text;
}

static const char lsn10[] = "00000001:0000000a:0001", lsn20[] = "00000001:00000014:0001";

Test(query, gives_the_bytes_of_a_change_file)
{
        static const struct {
                const char *filter;
                const char *wanted;
        } cases[] = {
                {NULL, "__$start_lsn,__$seqval,__$operation,__$update_mask,id,x\n"
                       "00000001:0000000f:0001,00000000:00000000:0001,2,\\x03,1,\"i1\"\n"
                       "00000001:0000000f:0001,00000000:00000000:0002,3,\\x02,1,\"-u1\"\n"
                       "00000001:0000000f:0001,00000000:00000000:0002,4,\\x02,1,\"u1\"\n"
                       "00000001:00000014:0001,00000000:00000000:0003,1,\\x03,1,\"-d1\"\n"},
                {" ALL ", "__$start_lsn,__$seqval,__$operation,__$update_mask,id,x\n"
                          "00000001:0000000f:0001,00000000:00000000:0001,2,\\x03,1,\"i1\"\n"
                          "00000001:0000000f:0001,00000000:00000000:0002,4,\\x02,1,\"u1\"\n"
                          "00000001:00000014:0001,00000000:00000000:0003,1,\\x03,1,\"-d1\"\n"},
        };
        struct desk_fixture x;
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_rows *rows = NULL;
                cr_assert_eq(cdc_get_all_changes(&x.database, "main_t", lsn10, lsn20,
                                     cases[i].filter, &rows, &x.error),
                        0, "%s", x.error.message);
                _cleanup_free_ char *text = write_rows(&x, rows, "csv");
                cr_expect_str_eq(text, cases[i].wanted);
        }
        desk_fixture_close(&x);
}

Test(query, refuses_ranges_by_cause)
{
        static const struct {
                const char *name;
                const char *instance, *from, *to, *filter;
                int result;
                int number;
        } cases[] = {
                {"unknown instance", "main_z", "1", "1", NULL, -ENOENT, 22981},
                {"empty instance", "", lsn10, lsn20, NULL, -ENOENT, 22981},
                {"another case", "MAIN_T", lsn10, lsn20, NULL, -ENOENT, 22981},
                {"no LSN", "main_t", "1", lsn20, NULL, -EINVAL, 0},
                {"no filter", "main_t", lsn10, lsn20, "some", -EINVAL, 313},
                {"pending", "main_pending", lsn10, lsn20, NULL, -ERANGE, 313},
                {"before min", "main_t", "00000001:00000009:0001", lsn20, NULL, -ERANGE, 313},
                {"after max", "main_t", lsn10, "00000001:00000015:0001", NULL, -ERANGE, 313},
                {"reversed", "main_t", lsn20, lsn10, NULL, -EINVAL, 313},
                {"nothing new", "main_t", "00000001:00000014:0002", lsn20, NULL, -EAGAIN, 0},
        };
        struct desk_fixture x;
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_rows *rows = NULL;
                memset(&x.error, 0, sizeof x.error);
                int r = cdc_get_all_changes(&x.database, cases[i].instance, cases[i].from,
                        cases[i].to, cases[i].filter, &rows, &x.error);
                cr_expect_eq(r, cases[i].result, "%s: %d %s", cases[i].name, r, x.error.message);
                cr_expect_eq(
                        x.error.number, cases[i].number, "%s: %d", cases[i].name, x.error.number);
                cr_expect_neq(x.error.message[0], 0, "%s", cases[i].name);
                cr_expect_null(rows);
        }
        desk_fixture_close(&x);
}

/* B115: only what is there answers, and never with zeros. */
Test(query, gives_the_interval)
{
        static const struct {
                const char *instance;
                int result;
                const char *min;
        } cases[] = {
                {NULL, 0, "00000001:0000000a:0001"},
                {"main_t", 0, "00000001:0000000a:0001"},
                {"main_pending", 0, ""},
                {"", -ENOENT, "untouched"},
                {"main_T", -ENOENT, "untouched"},
                {"nothing", -ENOENT, "untouched"},
        };
        struct desk_fixture x;
        char text[24] = "";
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                strcpy(text, "untouched");
                cr_expect_eq(cdc_get_min_lsn(&x.database, cases[i].instance, text, &x.error),
                        cases[i].result, "case %u", i);
                cr_expect_str_eq(text, cases[i].min, "case %u", i);
        }
        cr_expect_eq(cdc_get_max_lsn(&x.database, text, &x.error), 0);
        cr_expect_str_eq(text, lsn20);
        desk_fixture_close(&x);
}

Test(query, moves_lsns_by_one)
{
        static const struct {
                const char *lsn, *next; /* NULL: no LSN */
        } cases[] = {
                {"00000001:00000014:0001", "00000001:00000014:0002"},
                {"000000010000001400FF", "00000001:00000014:0100"},
                {"0x0000000100000014ffff", "00000001:00000015:0000"},
                {"00000001:ffffffff:ffff", "00000002:00000000:0000"},
                {"nothing", NULL},
                {"", NULL},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                char next[24], back[24], same[24];
                struct cdc_error error = {0};
                int r = cdc_increment_lsn(cases[i].lsn, next, &error);
                cr_expect_eq(r, cases[i].next ? 0 : -EINVAL, "%s", cases[i].lsn);
                if (!cases[i].next) {
                        cr_expect_eq(cdc_decrement_lsn(cases[i].lsn, back, &error), -EINVAL);
                        continue;
                }
                cr_expect_str_eq(next, cases[i].next);
                cr_assert_eq(cdc_decrement_lsn(next, back, &error), 0);
                cr_assert_eq(cdc_increment_lsn(back, same, &error), 0);
                cr_expect_str_eq(same, next);
        }
}

Test(query, reports_instances_with_the_columns_of_the_procedure)
{
        static const char header[] =
                "source_schema,source_table,capture_instance,object_id,source_object_id,start_lsn,"
                "end_lsn,supports_net_changes,has_drop_pending,role_name,index_name,filegroup_name,"
                "create_date,index_column_list,captured_column_list\n";
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        setup(&x);
        cr_assert_eq(cdc_help_change_data_capture(&x.database, NULL, &rows, &x.error), 0);
        _cleanup_free_ char *all = write_rows(&x, rows, "csv");
        cr_expect_eq(strncmp(all, header, strlen(header)), 0, "%s", all);
        cr_expect_not_null(strstr(all, "\"main\",\"t\",\"main_t\",1,1,00000001:0000000a:0001,,1,0,,"
                                       "\"PRIMARY KEY\",,"),
                "%s", all);
        cr_expect_not_null(strstr(all, ",\"[id]\",\"[id], [x]\"\n"), "%s", all);
        cr_expect_not_null(strstr(all, ",\"[b,c], [a]\",\"[a], [b,c]\"\n"), "%s", all);
        cr_assert_eq(cdc_help_change_data_capture(&x.database, "P]Q", &rows, &x.error), 0);
        _cleanup_free_ char *one = write_rows(&x, rows, "jsonl");
        cr_expect_not_null(strstr(one, "\"capture_instance\":\"main_pending\""), "%s", one);
        cr_expect_null(strstr(one, "main_t\""), "%s", one);
        cr_expect_eq(
                cdc_help_change_data_capture(&x.database, "nothing", &rows, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22985);
        desk_fixture_close(&x);
}

Test(query, leaves_no_trace)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        char text[24];
        setup(&x);
        static const char command[] = "cd '%s' && ls -ld --time-style=full-iso . * && sha256sum *";
        struct run_result before = run(command, x.f.tmp.directory);
        cr_expect_eq(cdc_help_change_data_capture(&x.database, NULL, &rows, &x.error), 0);
        cdc_rows_close(rows);
        cr_expect_eq(
                cdc_get_all_changes(&x.database, "main_t", lsn10, lsn20, NULL, &rows, &x.error), 0);
        cr_expect_eq(cdc_rows_next(rows), 1);
        cdc_rows_close(rows);
        cr_expect_eq(cdc_get_min_lsn(&x.database, NULL, text, &x.error), 0);
        cr_expect_eq(cdc_get_max_lsn(&x.database, text, &x.error), 0);
        cr_expect_eq(cdc_status(&x.database, &rows, &x.error), 0);
        cdc_rows_close(rows);
        struct run_result after = run(command, x.f.tmp.directory);
        cr_expect_str_eq(after.text, before.text);
        run_release(&before);
        run_release(&after);
        desk_fixture_close(&x);
}

/* Rows read as immutable are not taken for all, once somebody writes. */
Test(query, never_ends_well_over_a_store_that_was_written_to)
{
        static const bool is_written[] = {false, true};
        for (unsigned i = 0; i < COUNT(is_written); i++) {
                struct desk_fixture x;
                struct cdc_rows *rows = NULL;
                int r;
                setup(&x);
                cr_assert_eq(cdc_get_all_changes(
                                     &x.database, "main_t", lsn10, lsn20, NULL, &rows, &x.error),
                        0);
                if (is_written[i])
                        changes_fixture_commit(
                                desk_fixture_store(&x), desk_fixture_id(&x, "main_t"), 30, "i9");
                while ((r = cdc_rows_next(rows)) > 0)
                        ;
                cr_expect_eq(r, is_written[i] ? -ESTALE : 0);
                cdc_rows_close(rows);
                desk_fixture_close(&x);
        }
}

/* A store in use is read through its log: one state for as long as the rows last. */
Test(query, reads_one_state_of_a_store_in_use)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        int r, count = 0;
        setup(&x);
        desk_fixture_store(&x);
        store_fixture_begin(&x.f);
        cr_assert_eq(state_bump_catalog(x.f.store), 0);
        store_fixture_commit(&x.f);
        cr_assert_eq(
                cdc_get_all_changes(&x.database, "main_t", lsn10, lsn20, NULL, &rows, &x.error), 0);
        changes_fixture_commit(&x.f, desk_fixture_id(&x, "main_t"), 30, "i9");
        while ((r = cdc_rows_next(rows)) > 0)
                count++;
        cr_expect_eq(r, 0);
        cr_expect_eq(count, 4);
        cdc_rows_close(rows);
        desk_fixture_close(&x);
}

Test(query, needs_no_source)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        setup(&x);
        cr_assert_eq(unlink(x.f.source), 0);
        cr_expect_eq(
                cdc_get_all_changes(&x.database, "main_t", lsn10, lsn20, NULL, &rows, &x.error), 0);
        cdc_rows_close(rows);
        desk_fixture_close(&x);
}
