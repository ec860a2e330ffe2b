/* SPDX-License-Identifier: MIT
 *
 * main: cdcfs DATABASE MOUNTPOINT: the order in which things start and stop, and the exit codes.
 *
 * Everything is started in the process that stays, and the mount comes last: once it stands it
 * can answer. Signals are blocked from the start, so that every thread is born without them; one
 * thread waits for those that end the mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mount.h"
#include "mountpoint.h"
#include "notify.h"
#include "options.h"
#include "ready.h"
#include "server.h"

enum exit_code { EXIT_OK = 0, EXIT_USAGE = 2, EXIT_DATABASE = 3, EXIT_MOUNT = 4, EXIT_START = 5 };

struct program {
        struct options options;
        struct logger logger;
        struct ready ready;
        struct notify *notify;
        struct server server;
        char *database; /* absolute, as the next two */
        char *mountpoint;
        char *store; /* or NULL */
};

/* ---- the process ---- */

/* Whatever is opened first must not become stdin, stdout or stderr. */
static void open_standard_streams(void)
{
        int fd;
        do
                fd = open("/dev/null", O_RDWR);
        while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd >= 0)
                close(fd);
}

static void prepare_process(void)
{
        /* All but those that a fault of our own raises. */
        static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
        sigset_t signals;
        sigfillset(&signals);
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
                sigdelset(&signals, faults[i]);
        sigprocmask(SIG_SETMASK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        /* Spools and clients' files take a descriptor each. */
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
                limit.rlim_cur = limit.rlim_max;
                setrlimit(RLIMIT_NOFILE, &limit);
        }
        /* Buffers of some MiB come and go with every piece that is rendered. */
        mallopt(M_MMAP_THRESHOLD, 16 << 20);
        mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

/* ---- paths ---- */

static int absolute(struct program *program, const char *path, char **ret_path)
{
        int r = mountpoint_absolute(path, ret_path);
        if (r < 0)
                logger_line(&program->logger, CDC_LOG_ERROR, "'%s': %s", path, strerror(-r));
        return r;
}

/* A file that is named twice lies in no mount point: it is no directory, which is told later. */
static bool is_inside(const struct program *program, const char *path)
{
        return path && strcmp(program->mountpoint, path) != 0 &&
               mountpoint_contains(program->mountpoint, path);
}

static int find_paths(struct program *program)
{
        struct options *options = &program->options;
        if (absolute(program, options->mountpoint, &program->mountpoint) < 0)
                return EXIT_MOUNT;
        if (absolute(program, options->database, &program->database) < 0 ||
                (options->store && absolute(program, options->store, &program->store) < 0))
                return EXIT_DATABASE;
        const char *inside = is_inside(program, program->database) ? program->database
                             : is_inside(program, program->store)  ? program->store
                                                                   : NULL;
        if (!inside)
                return EXIT_OK;
        logger_line(&program->logger, CDC_LOG_ERROR, "'%s' lies inside the mount point '%s'",
                inside, program->mountpoint);
        return EXIT_MOUNT;
}

/* ---- the engine ---- */

static struct cdc_engine_options engine_options(struct program *program)
{
        return (struct cdc_engine_options){
                .database = {.source = program->database, .store = program->store},
                .wakeup = notify_wake,
                .wakeup_context = program->notify,
                .is_ending = mount_is_ending,
                .ending_context = &program->server,
                .log = logger_engine_line,
                .log_context = &program->logger,
                .log_level = program->options.log_level,
                .segment_bytes = program->options.segment_bytes,
                .segment_age_seconds = program->options.segment_age_seconds,
                .is_barrier_off = program->options.is_barrier_off,
                .is_wake_off = program->options.is_wake_off,
                .linger_seconds = program->options.linger_seconds,
                .max_store = program->options.max_store,
                .formats = program->options.formats,
        };
}

static int report(struct program *program, const struct cdc_error *error, int code)
{
        if (error->number)
                logger_line(&program->logger, CDC_LOG_ERROR, "error %d: %s", error->number,
                        error->message);
        else
                logger_line(&program->logger, CDC_LOG_ERROR, "%s", error->message);
        return code;
}

/* Want of memory, threads or descriptors is nothing that is wrong with a database. */
static int code_of(int r)
{
        return r == -ENOMEM || r == -EAGAIN || r == -EMFILE || r == -ENFILE ? EXIT_START
                                                                            : EXIT_DATABASE;
}

/* Runs the jobs, unless told not to or another process does. */
static int start_engine(struct program *program)
{
        if (program->options.is_jobs_off)
                return EXIT_OK;
        struct cdc_engine_options options = engine_options(program);
        struct cdc_error error = {0};
        int r = cdc_engine_check(&options, &error);
        if (r == 0)
                r = cdc_engine_start(&options, &program->server.engine, &error);
        if (r == -EBUSY) {
                logger_line(&program->logger, CDC_LOG_WARNING,
                        "%s; this mount shows what that process captures", error.message);
                return EXIT_OK;
        }
        return r < 0 ? report(program, &error, code_of(r)) : EXIT_OK;
}

static int open_view(struct program *program)
{
        struct cdc_database database = {.source = program->database, .store = program->store};
        struct cdc_error error = {0};
        int r = cdc_view_open(&database, &program->server.view, &error);
        if (r < 0)
                return report(program, &error, code_of(r));
        if (program->options.formats)
                cdc_view_list_formats(program->server.view, program->options.formats);
        return EXIT_OK;
}

/* ---- start and stop ---- */

static int start_rooms(struct program *program)
{
        struct server *server = &program->server;
        int r = -ENOMEM;
        server->documents = documents_new();
        server->ranges = ranges_new();
        if (server->documents && server->ranges)
                r = readers_start(READERS_COUNT, &server->readers);
        if (r == 0)
                r = readers_start(READERS_RANGE_COUNT, &server->range_readers);
        if (r == 0)
                return EXIT_OK;
        logger_line(&program->logger, CDC_LOG_ERROR, "cannot start: %s", strerror(-r));
        return EXIT_START;
}

static int mount_and_serve(struct program *program)
{
        struct server *server = &program->server;
        int r = mount_begin(server, program->database, program->mountpoint);
        if (r < 0) {
                logger_line(&program->logger, CDC_LOG_ERROR, "cannot mount on '%s': %s",
                        program->mountpoint, strerror(-r));
                return EXIT_MOUNT;
        }
        r = notify_start(program->notify, server);
        if (r == 0)
                r = mount_serve(server, program->notify);
        if (r == 0)
                return EXIT_OK;
        logger_line(&program->logger, CDC_LOG_ERROR, "cannot serve '%s': %s", program->mountpoint,
                strerror(-r));
        return EXIT_START;
}

static int run(struct program *program)
{
        char error[MOUNTPOINT_ERROR_SIZE];
        if (mountpoint_prepare(program->mountpoint, error) < 0) {
                logger_line(&program->logger, CDC_LOG_ERROR, "%s", error);
                return EXIT_MOUNT;
        }
        if (notify_new(&program->logger, &program->notify) < 0 ||
                buffers_init(&program->server.buffers) < 0) {
                logger_line(&program->logger, CDC_LOG_ERROR, "cannot start");
                return EXIT_START;
        }
        int code = start_engine(program);
        if (code == EXIT_OK)
                code = open_view(program);
        if (code == EXIT_OK)
                code = start_rooms(program);
        return code == EXIT_OK ? mount_and_serve(program) : code;
}

/* Clients are let go first, then the database; of the store's connections the engine's comes
 * last, since only one that may write folds the WAL in. */
static void stop(struct program *program)
{
        struct server *server = &program->server;
        ready_tell_manager("STOPPING=1");
        readers_stop(server->range_readers);
        readers_stop(server->readers);
        mount_end(server);
        documents_free(server->documents);
        ranges_free(server->ranges);
        cdc_view_close(server->view);
        cdc_engine_stop(server->engine);
        notify_free(program->notify);
        if (program->notify)
                buffers_release(&server->buffers);
}

static int start(struct program *program)
{
        program->server.options = &program->options;
        program->server.logger = &program->logger;
        program->server.ready = &program->ready;
        program->logger.level = program->options.log_level;
        ready_init(&program->ready, &program->logger);
        int code = find_paths(program);
        if (code != EXIT_OK)
                return code;
        int r = program->options.is_foreground ? 0 : ready_fork(&program->ready);
        if (r < 0) {
                logger_line(&program->logger, CDC_LOG_ERROR, "cannot fork: %s", strerror(-r));
                return EXIT_START;
        }
        code = run(program);
        stop(program);
        ready_end(&program->ready, code);
        return code;
}

int main(int argc, char **argv)
{
        open_standard_streams();
        struct program program = {.logger = {.level = CDC_LOG_INFO}};
        char error[OPTIONS_ERROR_SIZE];
        if (options_parse(argc, argv, &program.options, error) < 0) {
                logger_line(&program.logger, CDC_LOG_ERROR, "%s", error);
                return EXIT_USAGE;
        }
        int code = EXIT_OK;
        if (program.options.is_help)
                options_print_help(stdout);
        else if (program.options.is_version)
                printf("cdcfs %s\n", CDC_VERSION);
        else {
                prepare_process();
                code = start(&program);
        }
        free(program.database);
        free(program.mountpoint);
        free(program.store);
        options_release(&program.options);
        return code;
}
