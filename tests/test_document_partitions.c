/* SPDX-License-Identifier: MIT */
#include "faces/document.h"

#include <criterion/criterion.h>
#include <string.h>

#include "files_fixture.h"

static char *partitions(struct files_fixture *f)
{
        struct buf buf = BUF_INIT;
        cr_assert_eq(document_partitions(store_db(f->base.store), "host \"a\"", &buf), 0);
        return buf_steal(&buf);
}

Test(document_partitions, has_a_row_for_each_listed_file_of_qlik)
{
        static const char header[] = "SERVER_NAME,TASK_NAME,PARTITION_NAME,PARTITION_START_TIME,"
                                     "PARTITION_END_TIME,TABLE_OWNER,TABLE_NAME,FILE\n";
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t one = files_fixture_table(&f, "one"), two = files_fixture_table(&f, "two");
        _cleanup_free_ char *none = partitions(&f);
        cr_expect_str_eq(none, header);
        files_fixture_commit(&f, one, 1, 10);
        files_fixture_commit(&f, two, 1, 10);
        files_fixture_border(&f);
        _cleanup_free_ char *closed = partitions(&f);
        cr_expect_str_eq(closed, header, "what is not listed yet");
        files_fixture_publish(&f);
        files_fixture_commit(&f, two, 1, 10);
        files_fixture_rotate(&f);

        _cleanup_free_ char *text = partitions(&f);
        static const char *const parts[] = {"\"host \"\"a\"\"\",\"",
                ",\"main\",\"one\",\"main_one/all/qlik/", ",\"main\",\"two\",\"main_two/all/qlik/",
                ",\"main\",\"two\",\""};
        const char *line = text;
        cr_assert_eq(strncmp(line, header, strlen(header)), 0);
        for (size_t i = 1; i < COUNT(parts); i++) {
                line = strchr(line, '\n') + 1;
                cr_expect_eq(strncmp(line, parts[0], strlen(parts[0])), 0, "%s", line);
                const char *found = strstr(line, parts[i]);
                cr_expect(found && found < strchr(line, '\n'), "%s", line);
        }
        cr_expect_str_eq(strchr(line, '\n'), "\n");
        files_fixture_close(&f);
}

/* 2027-01-15T08:00:00Z is when the fixtures begin; a commit is a second. */
Test(document_partitions, is_from_the_first_commit_to_the_closing)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t id = files_fixture_table(&f, "t");
        files_fixture_commit(&f, id, 1, 10);
        files_fixture_commit(&f, id, 1, 10);
        files_fixture_rotate(&f);
        _cleanup_free_ char *text = partitions(&f);
        char name[64], start[64], end[64];
        const char *line = strchr(text, '\n') + 1;
        for (unsigned i = 0; i < 2; i++)
                line = strchr(line, ',') + 1;
        cr_assert_eq(sscanf(line, "%63[^,],%63[^,],%63[^,]", name, start, end), 3, "%s", line);
        cr_expect_eq(strlen(start), 27);
        cr_expect_lt(strcmp(start, end), 0, "%s %s", start, end);
        cr_expect_eq(name[8], 'T');
        cr_expect_eq(name[15], '_');
        cr_expect_eq(strlen(name), 31, "%s", name);
        cr_expect_eq(strncmp(name + 9, start + 11, 2), 0, "%s %s", name, start);
        files_fixture_close(&f);
}
