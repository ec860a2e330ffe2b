/* SPDX-License-Identifier: MIT
 *
 * admin_cleanup: cleanup of one table and holds, without an agent and with one.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

/* An instance main_t with commits 1 (recognised), 2, 3 and 4. */
static void open_filled(struct desk_fixture *x)
{
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
        cr_assert_eq(cdc_enable_db(&x->database, false, desk_fixture_notice, x, &x->error), 0);
        struct store_fixture *f = desk_fixture_store(x);
        int64_t id = changes_fixture_enable(f, "main_t");
        changes_fixture_recognise(f, id, 1);
        changes_fixture_commit(f, id, 2, "i1 i2");
        changes_fixture_commit(f, id, 3, "i3 u1");
        changes_fixture_commit(f, id, 4, "d2");
}

static const char *text_of(uint32_t frame)
{
        static char text[LSN_TEXT_SIZE];
        lsn_format(changes_fixture_lsn(frame), text);
        return text;
}

static int clean(struct desk_fixture *x, const char *instance, const char *mark, int64_t threshold)
{
        memset(&x->error, 0, sizeof x->error);
        return cdc_cleanup_change_table(
                &x->database, instance, mark, threshold, desk_fixture_notice, x, &x->error);
}

static int64_t rows(struct desk_fixture *x)
{
        return store_fixture_integer(desk_fixture_store(x), "SELECT count(*) FROM main_t_CT");
}

Test(admin_cleanup, raises_the_mark_and_deletes_without_an_agent)
{
        struct desk_fixture x;
        char min[24];
        open_filled(&x);
        cr_expect_eq(clean(&x, "main_t", text_of(3), 1), 0, "%s", x.error.message);
        cr_expect_eq(cdc_get_min_lsn(&x.database, "main_t", min, &x.error), 0);
        cr_expect_str_eq(min, text_of(3));
        cr_expect_eq(rows(&x), 4);
        cr_expect_eq(clean(&x, "main_t", NULL, CDC_UNSET), 0, "%s", x.error.message);
        cr_expect_eq(rows(&x), 4, "NULL leaves the mark");
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), 0, "equal is no refusal");
        cr_expect_str_eq(x.notices, "");
        desk_fixture_close(&x);
}

Test(admin_cleanup, refuses_by_number)
{
        struct desk_fixture x;
        open_filled(&x);
        cr_expect_eq(clean(&x, "main_t", text_of(9), CDC_UNSET), -EINVAL);
        cr_expect_eq(x.error.number, 22964);
        cr_expect_eq(clean(&x, "main_t", "nonsense", CDC_UNSET), -EINVAL);
        cr_expect_eq(x.error.number, 22964);
        cr_expect_eq(clean(&x, "main_t", text_of(3), 0), -EINVAL);
        cr_expect_eq(x.error.number, 22850);
        cr_expect_eq(clean(&x, "none", text_of(3), CDC_UNSET), -ENOENT);
        cr_expect_eq(x.error.number, 22920);
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), 0);
        cr_expect_eq(clean(&x, "main_t", text_of(4), CDC_UNSET), 0);
        changes_fixture_commit(&x.f, desk_fixture_id(&x, "main_t"), 5, "i9");
        int64_t other = changes_fixture_enable(&x.f, "other");
        changes_fixture_recognise(&x.f, other, 6);
        cr_expect_eq(clean(&x, "other", text_of(5), CDC_UNSET), -ERANGE);
        cr_expect_eq(x.error.number, 22957);
        cr_expect_not_null(strstr(x.error.message, text_of(6)), "%s", x.error.message);
        desk_fixture_close(&x);
}

Test(admin_cleanup, a_failure_to_delete_is_a_notice_and_the_mark_stays_up)
{
        struct desk_fixture x;
        char min[24];
        open_filled(&x);
        store_fixture_check(sql_execute(store_db(desk_fixture_store(&x)->store),
                                    "CREATE TRIGGER no BEFORE DELETE ON main_t_CT BEGIN"
                                    " SELECT raise(ABORT, 'no'); END"),
                "CREATE TRIGGER");
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), 0, "%s", x.error.message);
        cr_expect_eq(strncmp(x.notices, "22852 ", 6), 0, "%s", x.notices);
        cr_expect_eq(cdc_get_min_lsn(&x.database, "main_t", min, &x.error), 0);
        cr_expect_str_eq(min, text_of(3));
        desk_fixture_close(&x);
}

Test(admin_cleanup, a_hold_keeps_what_begins_at_it)
{
        struct desk_fixture x;
        struct cdc_rows *status = NULL;
        bool is_shown = false;
        open_filled(&x);
        cr_expect_eq(cdc_hold(&x.database, "etl", "main_t", text_of(3), NULL, &x.error), 0, "%s",
                x.error.message);
        cr_expect_eq(clean(&x, "main_t", text_of(4), CDC_UNSET), -EBUSY);
        cr_expect_not_null(strstr(x.error.message, "'etl'"), "%s", x.error.message);
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), 0);
        cr_assert_eq(cdc_status(&x.database, &status, &x.error), 0);
        while (cdc_rows_next(status) > 0) {
                struct cdc_value value;
                cdc_rows_value(status, 1, &value);
                is_shown |= value.type == CDC_TEXT &&
                            memmem(value.bytes, value.size, "main_t: etl from", 16);
        }
        cdc_rows_close(status);
        cr_expect(is_shown, "status shows it");
        cr_expect_eq(cdc_remove_hold(&x.database, "etl", "main_t", &x.error), 0);
        cr_expect_eq(cdc_remove_hold(&x.database, "etl", "main_t", &x.error), -ENOENT);
        cr_expect_eq(clean(&x, "main_t", text_of(4), CDC_UNSET), 0);
        desk_fixture_close(&x);
}

Test(admin_cleanup, holds_only_what_is_there)
{
        struct desk_fixture x;
        open_filled(&x);
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), 0);
        cr_expect_eq(cdc_hold(&x.database, "a", "main_t", text_of(2), NULL, &x.error), -ERANGE);
        cr_expect_eq(cdc_hold(&x.database, "a", "main_t", text_of(5), NULL, &x.error), -ERANGE);
        cr_expect_eq(cdc_hold(&x.database, "a", "main_t", "x", NULL, &x.error), -EINVAL);
        cr_expect_eq(cdc_hold(&x.database, "", "main_t", text_of(3), NULL, &x.error), -EINVAL);
        cr_expect_eq(cdc_hold(&x.database, "a", "none", text_of(3), NULL, &x.error), -ENOENT);
        cr_expect_eq(cdc_hold(&x.database, "a", "main_t", text_of(3), "x", &x.error), -EINVAL);
        cr_expect_eq(
                cdc_hold(&x.database, "a", "main_t", text_of(3), "2020-01-01T00:00:00Z", &x.error),
                -EINVAL);
        cr_expect_eq(
                cdc_hold(&x.database, "a", "main_t", text_of(3), "2100-01-01T00:00:00Z", &x.error),
                0, "%s", x.error.message);
        desk_fixture_close(&x);
}

Test(admin_cleanup, is_the_agents_where_one_runs)
{
        struct desk_fixture x;
        open_filled(&x);
        desk_fixture_start_agent(&x, -EIO, "went wrong");
        cr_expect_eq(clean(&x, "main_t", text_of(3), CDC_UNSET), -EIO);
        cr_expect_str_eq(x.error.message, "cleanup-change-table went wrong");
        desk_fixture_close(&x);
}
