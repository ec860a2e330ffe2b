/* SPDX-License-Identifier: MIT
 *
 * options: parsing -o lists and words.
 *
 * A new option is a field, a setter, a row in the table and a line in cdcfs.8.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* A number with the given suffix letters, each worth 1024 times the one before, in `unit`s. */
static int parse_number(const char *text, const char *suffixes, uint64_t unit, uint64_t largest,
        uint64_t *ret_number)
{
        char *end = NULL;
        errno = 0;
        if (text[0] < '0' || text[0] > '9')
                return -EINVAL;
        uint64_t number = strtoull(text, &end, 10);
        const char *suffix = *end ? strchr(suffixes, *end) : NULL;
        if (errno || (*end && (!suffix || end[1])))
                return -EINVAL;
        uint64_t scale = 1;
        for (const char *p = suffixes; suffix && p <= suffix; p++)
                scale *= unit;
        if (number > largest / scale)
                return -EINVAL;
        *ret_number = number * scale;
        return 0;
}

static int parse_count(const char *text, unsigned smallest, unsigned largest, unsigned *ret_count)
{
        uint64_t number = 0;
        if (parse_number(text, "", 1, largest, &number) < 0 || number < smallest)
                return -EINVAL;
        *ret_count = (unsigned)number;
        return 0;
}

static int set_nojobs(struct options *options, const char *value)
{
        options->is_jobs_off = true;
        return 0;
}

static int set_store(struct options *options, const char *value)
{
        if (!value[0])
                return -EINVAL;
        char *copy = strdup(value);
        if (!copy)
                return -ENOMEM;
        free(options->store);
        options->store = copy;
        return 0;
}

static int set_segment_age(struct options *options, const char *value)
{
        return parse_count(value, 1, 365 * 86400, &options->segment_age_seconds);
}

static int set_segment_size(struct options *options, const char *value)
{
        uint64_t bytes = 0;
        if (parse_number(value, "KMG", 1024, UINT64_C(1) << 40, &bytes) < 0 || bytes == 0)
                return -EINVAL;
        options->segment_bytes = bytes;
        return 0;
}

static int set_nobarrier(struct options *options, const char *value)
{
        options->is_barrier_off = true;
        return 0;
}

static int set_wake(struct options *options, const char *value)
{
        if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
                return -EINVAL;
        options->is_wake_off = strcmp(value, "off") == 0;
        return 0;
}

static int set_linger(struct options *options, const char *value)
{
        return parse_count(value, 1, 365 * 86400, &options->linger_seconds);
}

static int set_max_store(struct options *options, const char *value)
{
        uint64_t bytes = 0;
        if (parse_number(value, "KMG", 1024, UINT64_C(1) << 50, &bytes) < 0 || bytes == 0)
                return -EINVAL;
        options->max_store = bytes;
        return 0;
}

static int set_formats(struct options *options, const char *value)
{
        return cdc_parse_formats(value, &options->formats);
}

static int set_log(struct options *options, const char *value)
{
        static const struct {
                const char *name;
                enum cdc_log_level level;
        } levels[] = {{"error", CDC_LOG_ERROR}, {"warning", CDC_LOG_WARNING},
                {"info", CDC_LOG_INFO}, {"debug", CDC_LOG_DEBUG}};
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
                if (strcmp(levels[i].name, value) == 0) {
                        options->log_level = levels[i].level;
                        return 0;
                }
        }
        return -EINVAL;
}

static int set_allow_other(struct options *options, const char *value)
{
        options->is_allow_other = true;
        return 0;
}

static int set_max_threads(struct options *options, const char *value)
{
        return parse_count(value, 2, 1024, &options->max_threads);
}

static int set_max_read(struct options *options, const char *value)
{
        return parse_count(value, 4096, 1 << 20, &options->max_read);
}

static const struct option_row table[] = {
        {"nojobs", NULL, "show the store only; run no capture job", set_nojobs},
        {"store=", "PATH", "the store, if not DATABASE-cdc", set_store},
        {"segment_age=", "SECONDS", "close a file when its first change is so old (300)",
                set_segment_age},
        {"segment_size=", "BYTES", "close files at so many bytes of CSV (16M)", set_segment_size},
        {"nobarrier", NULL, "never take the application's write lock", set_nobarrier},
        {"wake=", "on|off", "off: capture looks every pollinginterval only (on)", set_wake},
        {"linger=", "SECONDS", "how long files that cleanup took can be opened (900)", set_linger},
        {"max_store=", "BYTES", "over it holds of consumers yield (no limit)", set_max_store},
        {"formats=", "LIST", "csv:jsonl:debezium:qlik or some of it: what is listed", set_formats},
        {"log=", "LEVEL", "error, warning, info or debug (info)", set_log},
        {"allow_other", NULL, "let other users in, as the database's mode allows", set_allow_other},
        {"max_threads=", "N", "threads that answer requests (10)", set_max_threads},
        {"max_read=", "BYTES", "largest read request", set_max_read},
        {NULL, NULL, NULL, NULL},
};

const struct option_row *options_table(void)
{
        return table;
}

/* ---- lists ---- */

static int fail(char error[OPTIONS_ERROR_SIZE], const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static int fail(char error[OPTIONS_ERROR_SIZE], const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error, OPTIONS_ERROR_SIZE, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

/* Words of mount(8), of its helpers and of fstab that mean nothing here; what follows an `=` or
 * is a family of names ends in `*`. The mount is always ro,nosuid,nodev,noexec. */
static bool is_dropped(const char *word)
{
        static const char *const words[] = {"rw", "ro", "suid", "nosuid", "dev", "nodev", "exec",
                "noexec", "user", "users", "nouser", "owner", "group", "auto", "noauto", "nofail",
                "_netdev", "defaults", "atime", "noatime", "diratime", "nodiratime", "relatime",
                "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime", "sync",
                "async", "dirsync", "silent", "loud", "nonempty", "comment=*", "x-*", "X-*",
                "fsname=*", "subtype=*", "default_permissions", "user=*", "uhelper=*"};
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
                size_t size = strlen(words[i]);
                bool is_family = words[i][size - 1] == '*';
                if (is_family ? strncmp(words[i], word, size - 1) == 0 : !strcmp(words[i], word))
                        return true;
        }
        return false;
}

static int set_word(struct options *options, const char *word, char error[OPTIONS_ERROR_SIZE])
{
        for (const struct option_row *row = table; row->name; row++) {
                size_t size = strlen(row->name);
                if (row->argument ? strncmp(row->name, word, size) : strcmp(row->name, word))
                        continue;
                int r = row->set(options, row->argument ? word + size : "");
                return r == -EINVAL ? fail(error, "bad value in option '%s'", word) : r;
        }
        return is_dropped(word) ? 0 : fail(error, "unknown option '%s'", word);
}

/* A list as mount(8) writes it: words between commas, `\` before a comma that belongs to one. */
static int set_list(struct options *options, const char *list, char error[OPTIONS_ERROR_SIZE])
{
        char *word = malloc(strlen(list) + 1);
        if (!word)
                return -ENOMEM;
        int r = 0;
        for (const char *p = list; r == 0 && *p;) {
                size_t size = 0;
                for (; *p && *p != ','; p++) {
                        if (*p == '\\' && p[1])
                                p++;
                        word[size++] = *p;
                }
                word[size] = '\0';
                p += *p == ',';
                if (size > 0)
                        r = set_word(options, word, error);
        }
        free(word);
        return r;
}

/* ---- the command line ---- */

static int set_positionals(
        struct options *options, int count, char **words, char error[OPTIONS_ERROR_SIZE])
{
        if (count != 2)
                return fail(error, "%s (try --help)",
                        count < 1   ? "which database?"
                        : count < 2 ? "where is it to be mounted?"
                                    : "too many arguments");
        options->database = strdup(words[0]);
        options->mountpoint = strdup(words[1]);
        return options->database && options->mountpoint ? 0 : -ENOMEM;
}

static int parse(int argc, char **argv, struct options *options, char error[OPTIONS_ERROR_SIZE])
{
        static const struct option longs[] = {
                {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
        int letter, r = 0;
        optind = 0; /* GNU: start anew */
        opterr = 0;
        while (r == 0 && (letter = getopt_long(argc, argv, ":fho:Vnvswr", longs, NULL)) != -1) {
                if (letter == 'f')
                        options->is_foreground = true;
                else if (letter == 'h')
                        options->is_help = true;
                else if (letter == 'V')
                        options->is_version = true;
                else if (letter == 'o')
                        r = set_list(options, optarg, error);
                else if (letter == ':')
                        r = fail(error, "option '-%c' wants a value", optopt);
                else if (letter == '?' && optopt)
                        r = fail(error, "unknown option '-%c' (try --help)", optopt);
                else if (letter == '?')
                        r = fail(error, "unknown option '%s' (try --help)", argv[optind - 1]);
        }
        if (r < 0 || options->is_help || options->is_version)
                return r;
        return set_positionals(options, argc - optind, argv + optind, error);
}

int options_parse(
        int argc, char **argv, struct options *ret_options, char error[OPTIONS_ERROR_SIZE])
{
        struct options options = {.max_threads = OPTIONS_MAX_THREADS, .log_level = CDC_LOG_INFO};
        int r = parse(argc, argv, &options, error);
        if (r < 0) {
                if (r == -ENOMEM)
                        fail(error, "%s", strerror(ENOMEM));
                options_release(&options);
                return r;
        }
        *ret_options = options;
        return 0;
}

void options_release(struct options *options)
{
        free(options->database);
        free(options->mountpoint);
        free(options->store);
        memset(options, 0, sizeof *options);
}

void options_print_help(FILE *file)
{
        fputs("Usage: cdcfs DATABASE MOUNTPOINT [-f] [-o OPTION,...]\n"
              "Show the changes captured from a SQLite database as files.\n\n"
              "  -f                    stay in the foreground\n"
              "  -h, --help            print this help\n"
              "  -V, --version         print the version\n\n"
              "Options, more than one with commas between them:\n",
                file);
        for (const struct option_row *row = table; row->name; row++) {
                const char *argument = row->argument ? row->argument : "";
                fprintf(file, "  -o %s%s%*s%s\n", row->name, argument,
                        (int)(22 - strlen(row->name) - strlen(argument)), "", row->help);
        }
        fputs("\nExit status: 0 mounted (with -f: unmounted), 2 usage, 3 database, 4 mount,\n"
              "5 start-up. Manual: cdcfs(8)\n",
                file);
}
