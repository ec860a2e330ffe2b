/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses a line of words between blanks. */
static int parse(const char *line, struct options *options, char *error)
{
        char copy[512], *words[32] = {"cdcfs"};
        int count = 1;
        strcpy(copy, line);
        for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
                words[count++] = word;
        return options_parse(count, words, options, error);
}

Test(options, takes_database_and_mount_point_in_that_order)
{
        struct options options;
        char error[OPTIONS_ERROR_SIZE];
        cr_assert_eq(parse("a.db /mnt", &options, error), 0);
        cr_expect_str_eq(options.database, "a.db");
        cr_expect_str_eq(options.mountpoint, "/mnt");
        cr_expect_null(options.store);
        cr_expect_not(options.is_foreground || options.is_jobs_off || options.is_barrier_off ||
                      options.is_allow_other);
        cr_expect_eq(options.max_threads, OPTIONS_MAX_THREADS);
        cr_expect_eq(options.log_level, CDC_LOG_INFO);
        options_release(&options);
}

Test(options, may_stand_anywhere)
{
        static const char *const lines[] = {"-f -o nojobs a.db /mnt", "a.db -o nojobs /mnt -f",
                "a.db /mnt -onojobs -f", "-fonojobs -- a.db /mnt",
                "a.db /mnt -n -o rw,nojobs -svf"};
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
                struct options options;
                char error[OPTIONS_ERROR_SIZE] = "";
                cr_assert_eq(parse(lines[i], &options, error), 0, "%s: %s", lines[i], error);
                cr_expect(options.is_foreground && options.is_jobs_off, "%s", lines[i]);
                cr_expect_str_eq(options.mountpoint, "/mnt");
                options_release(&options);
        }
}

Test(options, read_their_values)
{
        struct options options;
        char error[OPTIONS_ERROR_SIZE];
        cr_assert_eq(parse("a b -o store=/x\\,y,segment_age=60,segment_size=2M,nobarrier,log=debug"
                           " -o allow_other,max_threads=3,max_read=65536",
                             &options, error),
                0);
        cr_expect_str_eq(options.store, "/x,y");
        cr_expect_eq(options.segment_age_seconds, 60);
        cr_expect_eq(options.segment_bytes, 2 << 20);
        cr_expect(options.is_barrier_off);
        cr_expect(options.is_allow_other);
        cr_expect_eq(options.log_level, CDC_LOG_DEBUG);
        cr_expect_eq(options.max_threads, 3);
        cr_expect_eq(options.max_read, 65536);
        options_release(&options);
}

Test(options, drop_what_mount_and_fstab_add)
{
        struct options options;
        char error[OPTIONS_ERROR_SIZE] = "";
        cr_expect_eq(parse("a b -o rw,ro,nofail,_netdev,user,noauto,comment=x,defaults,relatime,"
                           "strictatime,x-gvfs-hide,x-systemd.automount,,dev,suid,nodev, -n -v -s"
                           " -w -r",
                             &options, error),
                0, "%s", error);
        options_release(&options);
}

Test(options, refuse_what_is_wrong_in_one_line)
{
        static const struct {
                const char *line, *names;
        } wrong[] = {
                {"", "database"},
                {"a.db", "mounted"},
                {"a b c", "too many"},
                {"a b -o bogus", "bogus"},
                {"a b -o nojobs=1", "nojobs=1"},
                {"a b -o store=", "store="},
                {"a b -o store", "store"},
                {"a b -o log=loud", "log=loud"},
                {"a b -o segment_age=0", "segment_age=0"},
                {"a b -o segment_age=1h", "segment_age=1h"},
                {"a b -o segment_size=-1", "segment_size"},
                {"a b -o segment_size=1MM", "1MM"},
                {"a b -o segment_size=99999999999999999999", "segment_size"},
                {"a b -o segment_size=9999999G", "segment_size"},
                {"a b -o max_threads=1", "max_threads=1"},
                {"a b -o max_read=1", "max_read=1"},
                {"a b -x", "-x"},
                {"a b --nothing", "--nothing"},
                {"a b -o", "-o"},
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                struct options options;
                char error[OPTIONS_ERROR_SIZE] = "";
                cr_expect_eq(parse(wrong[i].line, &options, error), -EINVAL, "%s", wrong[i].line);
                cr_expect(strstr(error, wrong[i].names), "%s: %s", wrong[i].line, error);
                cr_expect_null(strchr(error, '\n'));
        }
}

Test(options, know_help_and_version)
{
        struct options options;
        char error[OPTIONS_ERROR_SIZE];
        cr_assert_eq(parse("--help", &options, error), 0);
        cr_expect(options.is_help);
        cr_assert_eq(parse("-V", &options, error), 0);
        cr_expect(options.is_version);
}

Test(options, help_fits_into_80_columns_and_names_every_row)
{
        char *text = NULL, *next;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        options_print_help(file);
        fclose(file);
        for (const struct option_row *row = options_table(); row->name; row++)
                cr_expect(strstr(text, row->name), "%s", row->name);
        for (char *line = text; line; line = next) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                cr_expect_leq(strlen(line), 80, "%s", line);
        }
        free(text);
}
