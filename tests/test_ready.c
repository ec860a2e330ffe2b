/* SPDX-License-Identifier: MIT */
#include "ready.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmp.h"

/* Runs `daemon` as cdcfs would, in a process that forks it; the exit status of the one that
 * waits. */
static int start(void (*daemon)(struct ready *))
{
        pid_t starter = fork();
        if (starter == 0) {
                struct logger logger = {.level = CDC_LOG_INFO};
                struct ready ready;
                ready_init(&ready, &logger);
                if (ready_fork(&ready) < 0)
                        _exit(99);
                daemon(&ready);
                _exit(7);
        }
        int status = 0;
        cr_assert_eq(waitpid(starter, &status, 0), starter);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void stand(struct ready *ready)
{
        ready_announce(ready);
        _exit(fcntl(STDERR_FILENO, F_GETFD) < 0);
}

static void fail_with_3(struct ready *ready)
{
        ready_end(ready, 3);
}

static void just_exit(struct ready *ready)
{
        _exit(4);
}

static void die(struct ready *ready)
{
        kill(getpid(), SIGKILL);
}

Test(ready, the_one_who_waits_exits_as_the_daemon_tells)
{
        cr_expect_eq(start(stand), 0);
        cr_expect_eq(start(fail_with_3), 3);
        cr_expect_eq(start(just_exit), 4);
        cr_expect_eq(start(die), 5);
}

Test(ready, a_daemon_that_nobody_waits_for_is_told)
{
        int ends[2];
        struct logger logger = {.level = CDC_LOG_INFO};
        struct ready ready;
        ready_init(&ready, &logger);
        cr_assert_eq(pipe(ends), 0);
        close(ends[0]);
        signal(SIGPIPE, SIG_IGN);
        ready.status = ends[1];
        cr_expect_eq(ready_announce(&ready), -EPIPE);
}

Test(ready, tells_the_service_manager)
{
        struct tmp tmp;
        tmp_open(&tmp);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%.80s/notify", tmp.directory);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        setenv("NOTIFY_SOCKET", address.sun_path, 1);
        ready_tell_manager("READY=1");
        char text[32] = "";
        cr_expect_eq(recv(fd, text, sizeof text - 1, 0), 7);
        cr_expect_str_eq(text, "READY=1");
        setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
        ready_tell_manager("READY=1");
        unsetenv("NOTIFY_SOCKET");
        ready_tell_manager("READY=1");
        close(fd);
        tmp_close(&tmp);
}
