/* SPDX-License-Identifier: MIT
 *
 * ending: waiting for a signal, and the order in which the session ends.
 */
#include "ending.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fuse_api.h"

enum { KICK_MS = 10 };

struct ending {
        struct fuse_session *session; /* immutable, as all here */
        struct notify *notify;
        pthread_t loop; /* the thread that runs it */
        int signals;    /* a signalfd */
        int finished;   /* an eventfd: the loop has returned */
        pthread_t thread;
};

static bool is_readable(int fd, int timeout_ms)
{
        struct pollfd pollfd = {.fd = fd, .events = POLLIN};
        return poll(&pollfd, 1, timeout_ms) > 0;
}

/* A signal that comes just before the loop falls asleep does not wake it; so again. */
static void end_session(struct ending *ending)
{
        notify_stop(ending->notify);
        fuse_session_exit(ending->session);
        do
                pthread_kill(ending->loop, SIGUSR1);
        while (!is_readable(ending->finished, KICK_MS));
}

static void *run(void *context)
{
        struct ending *ending = context;
        struct pollfd fds[] = {{.fd = ending->signals, .events = POLLIN},
                {.fd = ending->finished, .events = POLLIN}};
        while (poll(fds, 2, -1) < 0)
                ;
        if (!fds[1].revents)
                end_session(ending);
        return NULL;
}

static void wake(int number)
{
}

static void let_wake_through(void)
{
        struct sigaction action = {.sa_handler = wake}; /* no SA_RESTART: it shall interrupt */
        sigset_t set;
        sigaction(SIGUSR1, &action, NULL);
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void ending_free(struct ending *ending)
{
        if (ending->signals >= 0)
                close(ending->signals);
        if (ending->finished >= 0)
                close(ending->finished);
        free(ending);
}

int ending_start(struct fuse_session *session, struct notify *notify, struct ending **ret_ending)
{
        struct ending *ending = calloc(1, sizeof *ending);
        if (!ending)
                return -ENOMEM;
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        *ending = (struct ending){
                .session = session,
                .notify = notify,
                .loop = pthread_self(),
                .signals = signalfd(-1, &set, SFD_CLOEXEC),
                .finished = eventfd(0, EFD_CLOEXEC),
        };
        int r = ending->signals < 0 || ending->finished < 0 ? -errno : 0;
        if (r == 0)
                r = -pthread_create(&ending->thread, NULL, run, ending);
        if (r < 0) {
                ending_free(ending);
                return r;
        }
        let_wake_through();
        *ret_ending = ending;
        return 0;
}

void ending_finish(struct ending *ending)
{
        if (!ending)
                return;
        eventfd_write(ending->finished, 1);
        pthread_join(ending->thread, NULL);
        ending_free(ending);
}
