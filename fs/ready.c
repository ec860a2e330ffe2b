/* SPDX-License-Identifier: MIT
 *
 * ready: fork, the status pipe, and the datagram of sd_notify(3). No libsystemd.
 */
#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_CHILD_DIED = 5 };

void ready_init(struct ready *ready, struct logger *logger)
{
        *ready = (struct ready){.logger = logger, .status = -1};
}

/* The process that was started: exits as the daemon tells, or as it ended. */
static void wait_for_child(int status, pid_t child) __attribute__((noreturn));
static void wait_for_child(int status, pid_t child)
{
        unsigned char code = EXIT_CHILD_DIED;
        ssize_t got;
        sigset_t none;
        sigemptyset(&none); /* the user may lose patience */
        sigprocmask(SIG_SETMASK, &none, NULL);
        do
                got = read(status, &code, 1);
        while (got < 0 && errno == EINTR);
        if (got == 1)
                _exit(code);
        int ended = 0;
        if (waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) != 0)
                _exit(WEXITSTATUS(ended));
        _exit(EXIT_CHILD_DIED);
}

int ready_fork(struct ready *ready)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        pid_t child = fork();
        if (child < 0) {
                int r = -errno;
                close(ends[0]);
                close(ends[1]);
                return r;
        }
        if (child > 0) {
                close(ends[1]); /* or a child that dies would never be an end of file */
                wait_for_child(ends[0], child);
        }
        close(ends[0]);
        setsid();
        ready->status = ends[1];
        ready->is_background = true;
        return 0;
}

static int tell_parent(struct ready *ready, unsigned char code)
{
        if (ready->status < 0)
                return 0;
        ssize_t written = write(ready->status, &code, 1);
        int r = written == 1 ? 0 : -errno;
        close(ready->status);
        ready->status = -1;
        return r;
}

static void leave_terminal(void)
{
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
                dup2(null, fd);
        if (null > STDERR_FILENO)
                close(null);
        if (chdir("/") < 0)
                return; /* then some directory stays busy */
}

int ready_announce(struct ready *ready)
{
        if (ready->is_background) {
                logger_leave_terminal(ready->logger);
                leave_terminal();
        }
        int r = tell_parent(ready, 0);
        if (r == 0)
                ready_tell_manager("READY=1");
        return r;
}

void ready_end(struct ready *ready, int code)
{
        tell_parent(ready, (unsigned char)code);
}

void ready_tell_manager(const char *state)
{
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        size_t size = path ? strlen(path) : 0;
        if (size < 2 || size >= sizeof address.sun_path || !strchr("/@", path[0]))
                return;
        memcpy(address.sun_path, path, size);
        if (path[0] == '@')
                address.sun_path[0] = '\0'; /* an abstract name */
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return;
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
        close(fd);
}
