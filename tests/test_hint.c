/* SPDX-License-Identifier: MIT
 *
 * hint: what messages tell to run can be pasted into a shell, and means the same store.
 */
#include "desk/hint.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "ground/cleanup.h"

Test(hint, names_the_store_only_where_it_is_elsewhere)
{
        static const struct {
                char source[32], store[32];
                const char *command, *agents;
        } cases[] = {
                {"/a/s.db", "/a/s.db-cdc", "cdcctl rotate /a/s.db",
                        "cdcctl agent /a/s.db, or cdcfs"},
                {"/a b/s.db", "/a b/s.db-cdc", "cdcctl rotate '/a b/s.db'",
                        "cdcctl agent '/a b/s.db', or cdcfs"},
                {"/a/s.db", "other dir/st", "cdcctl rotate /a/s.db --store 'other dir/st'",
                        "cdcctl agent /a/s.db --store 'other dir/st', or cdcfs -o "
                        "'store=other dir/st'"},
                {"/a/s.db", "/it's,$x", "cdcctl rotate /a/s.db --store '/it'\\''s,$x'",
                        "cdcctl agent /a/s.db --store '/it'\\''s,$x', or cdcfs -o "
                        "'store=/it'\\''s\\,$x'"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf command = BUF_INIT, agents = BUF_INIT;
                char source[32], store[32];
                strcpy(source, cases[i].source);
                strcpy(store, cases[i].store);
                struct call_paths paths = {source, store};
                hint_command(&command, &paths, "rotate");
                hint_agents(&agents, &paths);
                cr_expect_str_eq(buf_string(&command), cases[i].command);
                cr_expect_str_eq(buf_string(&agents), cases[i].agents);
        }
}

Test(hint, tells_what_enables_a_database)
{
        char source[] = "/a/s.db", store[] = "/st 1";
        struct problem problem = {0};
        cr_expect_eq(hint_refuse_disabled(&(struct call_paths){source, store}, &problem), -ENOENT);
        cr_expect_eq(problem.number, 22901);
        cr_expect_not_null(strstr(problem.message, "run cdcctl enable-db /a/s.db --store '/st 1'"),
                "%s", problem.message);
}
