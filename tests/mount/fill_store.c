/* SPDX-License-Identifier: MIT
 *
 * fill_store: a store with closed files, for tests that mount it as a viewer. Works in a new
 * directory under $TMPDIR, prints the path of the source, then obeys lines from stdin, each
 * answered with "ok":
 *
 *      table NAME                 a recognised instance main_NAME
 *      commit NAME ROWS SIZE      one transaction of inserts
 *      rotate                     closes and lists
 *      sql TEXT                   runs it on the store
 *
 * The end of stdin ends it; the directory stays.
 */
#include <stdio.h>
#include <string.h>

#include "files_fixture.h"

static int64_t find_table(struct files_fixture *f, const char *name)
{
        char sql[256];
        snprintf(sql, sizeof sql,
                "SELECT object_id FROM change_tables WHERE capture_instance = 'main_%s'", name);
        return store_fixture_integer(&f->base, sql);
}

static void obey(struct files_fixture *f, const char *line)
{
        char name[64];
        unsigned rows = 0;
        size_t size = 0;
        if (sscanf(line, "table %63s", name) == 1)
                files_fixture_table(f, name);
        else if (sscanf(line, "commit %63s %u %zu", name, &rows, &size) == 3)
                files_fixture_commit(f, find_table(f, name), rows, size);
        else if (strcmp(line, "rotate") == 0)
                files_fixture_rotate(f);
        else if (strncmp(line, "sql ", 4) == 0)
                store_fixture_check(sql_execute(store_db(f->base.store), line + 4), line);
        else
                tmp_check(0, line);
        puts("ok");
        fflush(stdout);
}

int main(void)
{
        static struct files_fixture f;
        char line[4096];
        files_fixture_open(&f);
        puts(f.base.source);
        fflush(stdout);
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                obey(&f, line);
        }
        segments_free(f.segments);
        state_release(&f.state);
        store_close(f.base.store);
        return 0;
}
