/* SPDX-License-Identifier: MIT
 *
 * watch: see the header. ppoll, so that pauses below a millisecond are possible.
 */
#include "source/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

int watch_open(struct watch *ret_watch)
{
        int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (inotify < 0)
                return -errno;
        int wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (wakeup < 0) {
                int error = errno;
                close(inotify);
                return -error;
        }
        *ret_watch = (struct watch){.inotify = inotify, .wakeup = wakeup};
        return 0;
}

void watch_close(struct watch *watch)
{
        if (watch->inotify > 0)
                close(watch->inotify);
        if (watch->wakeup > 0)
                close(watch->wakeup);
        *watch = (struct watch){0};
}

static int add(struct watch *watch, const char *path, uint32_t mask)
{
        return inotify_add_watch(watch->inotify, path, mask) < 0 ? -errno : 0;
}

int watch_add_file(struct watch *watch, const char *path)
{
        return add(watch, path, IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB);
}

int watch_add_directory(struct watch *watch, const char *path)
{
        return add(watch, path,
                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF |
                        IN_MOVE_SELF);
}

static void drain(int fd)
{
        char bytes[4096];
        while (read(fd, bytes, sizeof(bytes)) > 0)
                ;
}

int watch_wait(struct watch *watch, int64_t timeout_ns)
{
        struct pollfd fds[] = {
                {.fd = watch->inotify, .events = POLLIN},
                {.fd = watch->wakeup, .events = POLLIN},
        };
        struct timespec timeout = {
                .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
        int r = ppoll(fds, 2, timeout_ns < 0 ? NULL : &timeout, NULL);
        if (r < 0)
                return errno == EINTR ? 1 : -errno;
        if (fds[0].revents)
                drain(watch->inotify);
        if (fds[1].revents)
                drain(watch->wakeup);
        return r > 0;
}

void watch_wake(const struct watch *watch)
{
        uint64_t one = 1;
        ssize_t written = write(watch->wakeup, &one, sizeof(one));
        (void)written; /* a full counter wakes as well */
}
