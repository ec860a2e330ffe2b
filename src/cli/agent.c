/* SPDX-License-Identifier: MIT
 *
 * agent: cdcctl agent: runs the jobs of a database in the foreground until it is told to stop.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notify.h"
#include "output.h"

static const struct {
        const char *name;
        enum cdc_log_level level;
} levels[] = {
        {"error", CDC_LOG_ERROR},
        {"warning", CDC_LOG_WARNING},
        {"info", CDC_LOG_INFO},
        {"debug", CDC_LOG_DEBUG},
};

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

static void print_log(void *context, enum cdc_log_level level, const char *line)
{
        (void)context;
        for (unsigned i = 0; i < LEVELS; i++) {
                if (levels[i].level == level)
                        output_line(levels[i].name, line);
        }
}

/* Nothing is shown here that could be out of date. */
static void ignore_news(void *context)
{
        (void)context;
}

static enum exit_code parse_level(
        const struct invocation *invocation, enum cdc_log_level *ret_level)
{
        const char *text = invocation_option(invocation, "--log-level");
        *ret_level = CDC_LOG_INFO;
        if (!text)
                return EXIT_OK;
        for (unsigned i = 0; i < LEVELS; i++) {
                if (strcmp(levels[i].name, text) == 0) {
                        *ret_level = levels[i].level;
                        return EXIT_OK;
                }
        }
        return invocation_refuse(
                invocation->command, "--log-level takes error, warning, info or debug");
}

static enum exit_code read_options(
        const struct invocation *invocation, struct cdc_engine_options *ret_options)
{
        const char *formats = invocation_option(invocation, "--formats");
        unsigned long long bytes = 0, seconds = 0, linger = 0, max_store = 0;
        struct cdc_engine_options options = {
                .database = invocation->database,
                .wakeup = ignore_news,
                .log = print_log,
                .is_barrier_off = invocation_option(invocation, "--no-barrier") != NULL,
                .is_wake_off = invocation_option(invocation, "--no-wake") != NULL,
        };
        enum exit_code code = parse_level(invocation, &options.log_level);
        if (code == EXIT_OK)
                code = invocation_number(invocation, "--segment-bytes", INT64_MAX, &bytes);
        if (code == EXIT_OK)
                code = invocation_number(invocation, "--segment-age", UINT32_MAX, &seconds);
        if (code == EXIT_OK)
                code = invocation_number(invocation, "--linger", UINT32_MAX, &linger);
        if (code == EXIT_OK)
                code = invocation_number(invocation, "--max-store", INT64_MAX, &max_store);
        if (code == EXIT_OK && formats && cdc_parse_formats(formats, &options.formats) < 0)
                code = invocation_refuse(invocation->command,
                        "--formats takes csv, jsonl, debezium and qlik, with colons between them");
        options.linger_seconds = (unsigned)linger;
        options.max_store = max_store;
        options.segment_bytes = bytes;
        options.segment_age_seconds = (unsigned)seconds;
        *ret_options = options;
        return code;
}

/* Blocked before the engine starts its threads, so that they inherit it and sigwait gets all. */
static void block_signals(sigset_t *ret_signals)
{
        sigemptyset(ret_signals);
        sigaddset(ret_signals, SIGTERM);
        sigaddset(ret_signals, SIGINT);
        sigaddset(ret_signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
}

static enum exit_code run(const struct invocation *invocation)
{
        struct cdc_engine_options options;
        struct cdc_engine *engine;
        struct cdc_error error = {0};
        sigset_t signals;
        int signal;
        enum exit_code code = read_options(invocation, &options);
        if (code != EXIT_OK)
                return code;
        block_signals(&signals);
        int r = cdc_engine_check(&options, &error);
        if (r == 0)
                r = cdc_engine_start(&options, &engine, &error);
        if (r < 0)
                return output_error(r, &error);
        notify_service("READY=1");
        sigwait(&signals, &signal);
        cdc_engine_halt(engine);
        notify_service("STOPPING=1");
        r = cdc_engine_stop(engine);
        return r < 0 ? output_error(r, NULL) : EXIT_OK;
}

static const struct option_row option_rows[] = {
        {"--segment-age", "SECONDS",
                "close a file this long after its first change;\nthe default "
                "is 300"},
        {"--segment-bytes", "BYTES",
                "close files at this size of CSV, K, M and G\nallowed; the "
                "default is 16M"},
        {"--no-barrier", NULL, "never take the application's write lock"},
        {"--no-wake", NULL, "look every pollinginterval only"},
        {"--linger", "SECONDS",
                "how long files that cleanup took can be opened;\nthe default is 900"},
        {"--max-store", "BYTES", "over it holds of consumers yield"},
        {"--formats", "LIST",
                "formats that files are closed in; the default is\ncsv:jsonl:debezium:qlik"},
        {"--log-level", "LEVEL", "error, warning, info (the default) or debug"},
        {0},
};

const struct command command_agent = {
        .name = "agent",
        .summary = "Run the jobs of a database in the foreground",
        .arguments = {"DATABASE"},
        .options = option_rows,
        .help = "Captures until SIGTERM or SIGINT. For use without a mount: cdcfs runs the jobs\n"
                "itself. One process runs the jobs of a database; a second one is refused.\n",
        .run = run,
};
