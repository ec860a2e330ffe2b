/* SPDX-License-Identifier: MIT
 *
 * mount: libfuse's session, its options and its loop.
 */
#include "mount.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "ending.h"
#include "ops.h"

/* libfuse's own lines. Before the mount stands its callers say what went wrong. */
static void log_libfuse(enum fuse_log_level level, const char *format, va_list arguments)
        __attribute__((format(printf, 2, 0)));
static void log_libfuse(enum fuse_log_level level, const char *format, va_list arguments)
{
        if (level <= FUSE_LOG_WARNING)
                vsyslog((int)level, format, arguments);
}

/* ---- beginning ---- */

static int add_options(const struct options *options, const char *database, char **list)
{
        char *source = NULL, number[64];
        if (asprintf(&source, "fsname=%s", database) < 0)
                return -ENOMEM;
        int r = fuse_opt_add_opt(list, "ro,nosuid,nodev,noexec,default_permissions,subtype=cdcfs");
        if (r == 0)
                r = fuse_opt_add_opt_escaped(list, source);
        if (r == 0 && options->is_allow_other)
                r = fuse_opt_add_opt(list, "allow_other");
        snprintf(number, sizeof number, "max_read=%u", options->max_read);
        if (r == 0 && options->max_read)
                r = fuse_opt_add_opt(list, number);
        free(source);
        return r < 0 ? -ENOMEM : 0;
}

static int new_session(struct server *server, const char *database)
{
        struct fuse_args arguments = FUSE_ARGS_INIT(0, NULL);
        char *list = NULL;
        int r = add_options(server->options, database, &list);
        if (r == 0 && (fuse_opt_add_arg(&arguments, "cdcfs") < 0 ||
                              fuse_opt_add_arg(&arguments, "-o") < 0 ||
                              fuse_opt_add_arg(&arguments, list) < 0))
                r = -ENOMEM;
        if (r == 0) {
                struct fuse_lowlevel_ops table = ops_table();
                server->session = fuse_session_new(&arguments, &table, sizeof table, server);
                r = server->session ? 0 : -EINVAL;
        }
        free(list);
        fuse_opt_free_args(&arguments);
        return r;
}

int mount_begin(struct server *server, const char *database, const char *mountpoint)
{
        fuse_set_log_func(log_libfuse);
        int r = new_session(server, database);
        if (r < 0)
                return r;
        errno = 0;
        if (fuse_session_mount(server->session, mountpoint) == 0) {
                server->connection = fuse_session_fd(server->session);
                return 0;
        }
        r = errno ? -errno : -EPERM;
        fuse_session_destroy(server->session);
        server->session = NULL;
        return r;
}

/* ---- serving ---- */

int mount_serve(struct server *server, struct notify *notify)
{
        struct ending *ending = NULL;
        struct fuse_loop_config *config = fuse_loop_cfg_create();
        int r = config ? ending_start(server->session, notify, &ending) : -ENOMEM;
        if (r == 0) {
                fuse_loop_cfg_set_max_threads(config, server->options->max_threads);
                r = fuse_session_loop_mt(server->session, config);
                cdc_engine_halt(server->engine);
                ending_finish(ending);
        }
        notify_stop(notify);
        fuse_loop_cfg_destroy(config);
        return r < 0 ? r : 0;
}

/* The kernel lets go of the connection before umount(2) returns, and that is an error of it. */
bool mount_is_ending(void *context)
{
        struct server *server = context;
        struct pollfd pollfd = {.fd = server->connection};
        return pollfd.fd > 0 && poll(&pollfd, 1, 0) > 0 &&
               pollfd.revents & (POLLERR | POLLHUP | POLLNVAL);
}

void mount_end(struct server *server)
{
        if (!server->session)
                return;
        fuse_session_unmount(server->session);
        fuse_session_destroy(server->session);
        server->session = NULL;
}
