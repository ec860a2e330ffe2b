/* SPDX-License-Identifier: MIT
 *
 * differential: what the programs deliver against what SQLite itself says.
 *
 *      differential --program-dir BUILD [--transactions N] [--seed S] [--mode MODE]
 *                   [--round SEED] [--directory DIR] [--mount] [--keep]
 *
 * From the seed it makes rounds: a random schema, random capture instances, writer processes with
 * a random workload of 250 to 450 transactions, and checkpoints, long readers, killed agents and
 * late instances around them. Every writer records what SQLite says a transaction changed: by the
 * session extension, or by the content of tables before and after. Each round's instances are
 * then read with `cdcctl get-all-changes`, as CSV and as JSONL, and compared row by row. At the end
 * of a round the agent ends as the last one, and the application's database must be whole and hold
 * what it held.
 *
 * The schemas draw from everything that SQLite can hold: keys of every kind, WITHOUT ROWID, STRICT,
 * generated columns, odd names, 1 to 2000 columns, in databases of every page size, encoding and
 * auto_vacuum. What is delivered around a change of the schema, and what ddl_history says of it,
 * must follow the rules of the design (shape.h); what the log cannot tell is in alteration.h.
 *
 * Modes: steady (the agent runs all the time), schema (so it does, mostly, while ALTER TABLE,
 * rebuilds, DROP, CREATE and VACUUM come between and within transactions), kill (it is killed and
 * restarted while the log cannot be reset: nothing may be lost), chaos (checkpoints go on while no
 * agent runs: gaps are legal, must be recorded, and what stands around them must be right), mixed
 * (all but schema; the default).
 *
 * A difference is printed with the round's seed and the statements of the transaction; the
 * round's directory stays, with the database, the store, what was delivered (changes.csv,
 * changes.jsonl), command.log and agent.log. `--round SEED` with the same mode runs that round
 * alone; with one writer it is the same workload again, only the moments differ.
 *
 * The long run before a release, some twenty minutes on two cores:
 *
 *      meson compile -C build && build/tests/differential/differential \
 *              --program-dir build --transactions 100000 --seed $(date +%s)
 *
 * Exit status: 0 no difference, 1 differences, 2 usage, 3 a program or the test itself failed.
 * It is linked with no room of src/ and includes none of its headers.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "company.h"
#include "random.h"
#include "round.h"

enum { EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_BROKEN = 3 };

struct options {
        const char *program_directory;
        const char *directory; /* NULL = a new one, removed at the end */
        const char *mode;
        uint64_t transactions;
        uint64_t seed;
        uint64_t round; /* 0 = all of the seed */
        bool is_mounting;
        bool is_kept;
};

static int usage(void)
{
        fputs("usage: differential --program-dir DIR [--transactions N] [--seed S]\n"
              "                    [--mode steady|schema|kill|chaos|mixed] [--round SEED]\n"
              "                    [--directory DIR] [--mount] [--keep]\n",
                stderr);
        return EXIT_USAGE;
}

static bool read_number(const char *text, uint64_t *ret_number)
{
        char *end = NULL;
        errno = 0;
        *ret_number = strtoull(text, &end, 10);
        return errno == 0 && end != text && !*end;
}

static bool read_option(struct options *options, int option)
{
        switch (option) {
        case 'p':
                options->program_directory = optarg;
                return true;
        case 'd':
                options->directory = optarg;
                return true;
        case 'm':
                options->mode = optarg;
                return settings_is_mode(optarg);
        case 't':
                return read_number(optarg, &options->transactions);
        case 's':
                return read_number(optarg, &options->seed);
        case 'r':
                return read_number(optarg, &options->round);
        case 'f':
                return options->is_mounting = true;
        case 'k':
                return options->is_kept = true;
        default:
                return false;
        }
}

static bool read_options(struct options *options, int count, char **arguments)
{
        static const struct option known[] = {
                {"program-dir", required_argument, NULL, 'p'},
                {"directory", required_argument, NULL, 'd'},
                {"mode", required_argument, NULL, 'm'},
                {"transactions", required_argument, NULL, 't'},
                {"seed", required_argument, NULL, 's'},
                {"round", required_argument, NULL, 'r'},
                {"mount", no_argument, NULL, 'f'},
                {"keep", no_argument, NULL, 'k'},
                {NULL, 0, NULL, 0},
        };
        int option;
        while ((option = getopt_long(count, arguments, "", known, NULL)) != -1)
                if (!read_option(options, option))
                        return false;
        return options->program_directory && optind == count;
}

static int make_directory(const struct options *options, char *ret_path, size_t size)
{
        const char *parent = getenv("TMPDIR");
        if (options->directory) {
                snprintf(ret_path, size, "%s", options->directory);
                return mkdir(ret_path, 0755) < 0 && errno != EEXIST ? -errno : 0;
        }
        snprintf(ret_path, size, "%s/cdcfs-differential-XXXXXX", parent ? parent : "/tmp");
        return mkdtemp(ret_path) ? 0 : -errno;
}

static int run_rounds(
        const struct options *options, const struct round_options *round, struct totals *totals)
{
        struct random seeds = {options->seed};
        int result = 0;
        if (options->round)
                return round_run(round, options->round, UINT64_MAX, totals);
        while (result == 0 && totals->transactions < options->transactions &&
                totals->differences == 0)
                result = round_run(round, random_next(&seeds) >> 1,
                        options->transactions - totals->transactions, totals);
        return result;
}

static void print_summary(
        const struct options *options, const struct totals *totals, double seconds, bool is_good)
{
        uint64_t transactions = totals->transactions ? totals->transactions : 1;
        printf("%s differential: seed %llu, mode %s, %llu transactions in %llu rounds "
               "(%llu statements, %llu refused, %.0f %% beside a checkpoint or another writer), "
               "%llu instances (%llu late), %llu changes compared, %llu checkpoints, "
               "%llu kills, %llu gaps, %llu differences, %.1f s\n",
                is_good ? "ok" : "not ok", (unsigned long long)options->seed, options->mode,
                (unsigned long long)totals->transactions, (unsigned long long)totals->rounds,
                (unsigned long long)totals->statements, (unsigned long long)totals->refused,
                100.0 * (double)totals->accompanied / (double)transactions,
                (unsigned long long)totals->instances, (unsigned long long)totals->late_instances,
                (unsigned long long)totals->rows, (unsigned long long)totals->checkpoints,
                (unsigned long long)totals->kills, (unsigned long long)totals->gaps,
                (unsigned long long)totals->differences, seconds);
}

int main(int count, char **arguments)
{
        struct options options = {.mode = "mixed", .transactions = 10000, .seed = 1};
        struct programs programs;
        struct totals totals = {0};
        char directory[PATH_SIZE - 64];
        if (!read_options(&options, count, arguments))
                return usage();
        if (programs_find(&programs, options.program_directory, options.is_mounting) < 0) {
                fprintf(stderr, "differential: no cdcctl or cdcfs in %s\n",
                        options.program_directory);
                return EXIT_BROKEN;
        }
        if (make_directory(&options, directory, sizeof(directory)) < 0) {
                fprintf(stderr, "differential: %s: %s\n", directory, strerror(errno));
                return EXIT_BROKEN;
        }
        struct round_options round = {.programs = &programs,
                .mode = options.mode,
                .directory = directory,
                .is_kept = options.is_kept,
                .report = stdout};
        double start = seconds_now();
        int result = run_rounds(&options, &round, &totals);
        bool is_good = result == 0 && totals.differences == 0 && totals.rows > 0;
        print_summary(&options, &totals, seconds_now() - start, is_good);
        if (is_good && !options.is_kept && !options.directory)
                rmdir(directory);
        return totals.differences ? EXIT_DIFFERENT : is_good ? 0 : EXIT_BROKEN;
}
