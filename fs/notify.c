/* SPDX-License-Identifier: MIT
 *
 * notify: waiting for news. What is told is in invalidate.c.
 */
#include "notify.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "invalidate.h"
#include "server.h"

enum {
        IDLE_MS = 5000,         /* a look without a reason: inotify does not work everywhere */
        BACKOFF_LAST_MS = 1024, /* a WAL is written before its commit can be seen */
};

struct notify {
        struct logger *logger; /* set before the thread starts, as all of the first block */
        const struct server *server;
        int wake;  /* an eventfd */
        int watch; /* inotify, or -1 */
        char *wal; /* path of the store's WAL */
        pthread_t thread;
        bool is_started;
        atomic_bool is_stopping;
        /* the thread's own */
        struct invalidate told;
        int last_error;
};

int notify_new(struct logger *logger, struct notify **ret_notify)
{
        struct notify *notify = calloc(1, sizeof *notify);
        if (!notify)
                return -ENOMEM;
        notify->logger = logger;
        notify->watch = -1;
        notify->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (notify->wake < 0) {
                int r = -errno;
                notify_free(notify);
                return r;
        }
        *ret_notify = notify;
        return 0;
}

void notify_wake(void *context)
{
        struct notify *notify = context;
        eventfd_write(notify->wake, 1); /* if it is full it is raised already */
}

/* ---- the thread ---- */

static void drain(int fd)
{
        char bytes[4096];
        while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0)
                ;
}

/* A WAL that was made anew is another file; watching the same one again changes nothing. */
static void watch_wal(struct notify *notify)
{
        if (notify->watch >= 0)
                inotify_add_watch(notify->watch, notify->wal, IN_MODIFY);
}

/* 1: something is new and told; 0: nothing; the same error is logged once. */
static int look(struct notify *notify)
{
        const struct server *server = notify->server;
        int r = cdc_view_refresh(server->view);
        if (r < 0 && r != notify->last_error)
                logger_line(notify->logger, CDC_LOG_WARNING, "cannot read '%s': %s",
                        cdc_view_store(server->view), strerror(-r));
        notify->last_error = r < 0 ? r : 0;
        return r < 0 ? 0 : invalidate_news(&notify->told, server->session, server->view);
}

static void *run(void *context)
{
        struct notify *notify = context;
        struct pollfd fds[] = {
                {.fd = notify->wake, .events = POLLIN}, {.fd = notify->watch, .events = POLLIN}};
        int pause = IDLE_MS;
        for (;;) {
                watch_wal(notify);
                int events = poll(fds, 2, pause);
                if (atomic_load(&notify->is_stopping))
                        break;
                drain(notify->wake);
                drain(notify->watch);
                if (look(notify) || pause >= BACKOFF_LAST_MS)
                        pause = IDLE_MS;
                else
                        pause *= 2;
                if (events > 0 && fds[1].revents)
                        pause = 1;
        }
        return NULL;
}

/* ---- start and end ---- */

static int open_watch(struct notify *notify)
{
        const char *store = cdc_view_store(notify->server->view);
        char *directory = strdup(store);
        if (!directory || asprintf(&notify->wal, "%s-wal", store) < 0) {
                free(directory);
                notify->wal = NULL;
                return -ENOMEM;
        }
        *strrchr(directory, '/') = '\0';
        notify->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (notify->watch >= 0) {
                inotify_add_watch(notify->watch, directory[0] ? directory : "/",
                        IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
                inotify_add_watch(notify->watch, store, IN_MODIFY);
        }
        free(directory);
        return 0; /* without inotify the idle look remains */
}

int notify_start(struct notify *notify, const struct server *server)
{
        notify->server = server;
        int r = server->engine ? 0 : open_watch(notify);
        if (r < 0)
                return r;
        invalidate_begin(&notify->told, server->view);
        r = -pthread_create(&notify->thread, NULL, run, notify);
        notify->is_started = r == 0;
        return r;
}

void notify_stop(struct notify *notify)
{
        if (!notify->is_started)
                return;
        atomic_store(&notify->is_stopping, true);
        notify_wake(notify);
        pthread_join(notify->thread, NULL);
        notify->is_started = false;
}

void notify_free(struct notify *notify)
{
        if (!notify)
                return;
        notify_stop(notify);
        invalidate_end(&notify->told);
        if (notify->wake >= 0)
                close(notify->wake);
        if (notify->watch >= 0)
                close(notify->watch);
        free(notify->wal);
        free(notify);
}
