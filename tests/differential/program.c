/* SPDX-License-Identifier: MIT
 *
 * program: see program.h.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "company.h"

enum { LONGEST_COMMAND = 120, LONGEST_STOP = 30, MOST_ARGUMENTS = 24 };

static int find_one(const char *directory, const char *folder, const char *name, char *ret_path)
{
        snprintf(ret_path, PATH_SIZE, "%s/%s", directory, name);
        if (access(ret_path, X_OK) == 0)
                return 0;
        snprintf(ret_path, PATH_SIZE, "%s/%s/%s", directory, folder, name);
        return access(ret_path, X_OK) == 0 ? 0 : -errno;
}

int programs_find(struct programs *programs, const char *directory, bool is_mounting)
{
        *programs = (struct programs){.is_mounting = is_mounting};
        int result = find_one(directory, "src/cli", "cdcctl", programs->cdcctl);
        if (result == 0 && is_mounting)
                result = find_one(directory, "fs", "cdcfs", programs->cdcfs);
        return result;
}

/* NULL: the command log. Always appends. */
static int open_output(const struct settings *settings, const char *path)
{
        char log_path[PATH_SIZE + 16];
        snprintf(log_path, sizeof(log_path), "%s/command.log", settings->directory);
        return open(path ? path : log_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0644);
}

/* The child's side: never returns. */
static void become(const struct settings *settings, const char *const *command,
        const char *output_path, const char *error_path)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int output = open_output(settings, output_path);
        int error = open_output(settings, error_path);
        int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (output < 0 || error < 0 || input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 ||
                dup2(error, 2) < 0)
                _exit(126);
        execv(command[0], (char *const *)command);
        _exit(127);
}

static pid_t spawn(const struct settings *settings, const char *const *command,
        const char *output_path, const char *error_path)
{
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
                become(settings, command, output_path, error_path);
        return pid < 0 ? -errno : pid;
}

/* The wait status, or -ETIMEDOUT with the process still there. */
static int wait_for(pid_t pid, double longest, int *ret_status)
{
        double end = seconds_now() + longest;
        for (unsigned pause = 100; seconds_now() < end; pause += pause / 8) {
                pid_t ended = waitpid(pid, ret_status, WNOHANG);
                if (ended == pid)
                        return 0;
                if (ended < 0 && errno != EINTR)
                        return -errno;
                usleep(pause < 20000 ? pause : 20000);
        }
        return -ETIMEDOUT;
}

static int finish_command(pid_t pid, double longest)
{
        int status = 0;
        int result = wait_for(pid, longest, &status);
        if (result == -ETIMEDOUT) {
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
        }
        if (result < 0)
                return result;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

static void note_command(const struct settings *settings, const char *const *command)
{
        _cleanup_bytes_ struct bytes line = {0};
        bytes_append_format(&line, "%.3f $", seconds_now());
        for (unsigned i = 0; command[i]; i++)
                bytes_append_format(&line, " %s", command[i]);
        bytes_append_u8(&line, '\n');
        int fd = open_output(settings, NULL);
        if (fd >= 0 && write(fd, line.data, line.size) < 0)
                fprintf(stderr, "differential: the command log cannot be written\n");
        close(fd);
}

int cdcctl_run(const struct programs *programs, const struct settings *settings,
        const char *const *arguments, const char *output_path, const char *error_path)
{
        const char *command[MOST_ARGUMENTS] = {programs->cdcctl};
        for (unsigned i = 0; arguments[i]; i++) {
                if (i + 2 >= MOST_ARGUMENTS)
                        return -E2BIG;
                command[i + 1] = arguments[i];
        }
        note_command(settings, command);
        if (output_path)
                unlink(output_path);
        if (error_path)
                unlink(error_path);
        pid_t pid = spawn(settings, command, output_path, error_path);
        return pid < 0 ? pid : finish_command(pid, LONGEST_COMMAND);
}

int cdcctl_line(const struct programs *programs, const struct settings *settings,
        const char *const *arguments, char **ret_line)
{
        char path[PATH_SIZE + 16];
        _cleanup_bytes_ struct bytes text = {0};
        snprintf(path, sizeof(path), "%s/line", settings->directory);
        int result = cdcctl_run(programs, settings, arguments, path, NULL);
        if (result != 0)
                return result;
        result = bytes_read_file(&text, path);
        if (result < 0)
                return result;
        char *line = memory_text(bytes_string(&text));
        line[strcspn(line, "\n")] = 0;
        *ret_line = line;
        return 0;
}

static bool is_mounted(const char *mountpoint)
{
        struct stat inside, outside;
        char parent[PATH_SIZE + 32];
        snprintf(parent, sizeof(parent), "%s/..", mountpoint);
        return stat(mountpoint, &inside) == 0 && stat(parent, &outside) == 0 &&
               inside.st_dev != outside.st_dev;
}

static int prepare_mountpoint(struct agent *agent)
{
        snprintf(agent->mountpoint, sizeof(agent->mountpoint), "%s/mount",
                agent->settings->directory);
        return mkdir(agent->mountpoint, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int wait_for_mount(struct agent *agent)
{
        for (unsigned i = 0; i < 3000; i++) {
                if (is_mounted(agent->mountpoint))
                        return 0;
                int result = agent_check(agent);
                if (result < 0)
                        return result;
                sleep_milliseconds(5);
        }
        return -ETIMEDOUT;
}

int agent_start(struct agent *agent)
{
        const struct programs *programs = agent->programs;
        char log_path[PATH_SIZE + 16];
        snprintf(log_path, sizeof(log_path), "%s/agent.log", agent->settings->directory);
        const char *database = agent->settings->database;
        const char *plain[] = {programs->cdcctl, "agent", database, NULL};
        const char *mounting[] = {programs->cdcfs, database, agent->mountpoint, "-f", NULL};
        if (programs->is_mounting) {
                int result = prepare_mountpoint(agent);
                if (result < 0)
                        return result;
        }
        const char *const *command = programs->is_mounting ? mounting : plain;
        note_command(agent->settings, command);
        agent->pid = spawn(agent->settings, command, log_path, log_path);
        if (agent->pid < 0)
                return agent->pid;
        return programs->is_mounting ? wait_for_mount(agent) : 0;
}

int agent_stop(struct agent *agent)
{
        if (agent->pid <= 0)
                return 0;
        kill(agent->pid, SIGTERM);
        int result = finish_command(agent->pid, LONGEST_STOP);
        agent->pid = 0;
        return result > 0 ? -ECHILD : result;
}

int agent_kill(struct agent *agent)
{
        if (agent->pid <= 0)
                return -ESRCH;
        kill(agent->pid, SIGKILL);
        waitpid(agent->pid, NULL, 0);
        agent->pid = 0;
        if (agent->programs->is_mounting)
                umount2(agent->mountpoint, MNT_DETACH); /* it cannot do so itself */
        return 0;
}

int agent_check(struct agent *agent)
{
        int status;
        if (agent->pid <= 0)
                return -ESRCH;
        if (waitpid(agent->pid, &status, WNOHANG) != agent->pid)
                return 0;
        agent->pid = 0;
        fprintf(stderr, "differential: the agent ended by itself, %s %d\n",
                WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        return -ECHILD;
}

int agent_rotate(struct agent *agent)
{
        const char *arguments[] = {"rotate", agent->settings->database, NULL};
        int result = -EAGAIN;
        double end = seconds_now() + LONGEST_STOP;
        while (result != 0 && seconds_now() < end) {
                if (agent_check(agent) < 0)
                        return -ECHILD;
                result = cdcctl_run(agent->programs, agent->settings, arguments, NULL, NULL);
                if (result < 0)
                        return result;
                if (result != 0)
                        sleep_milliseconds(20);
        }
        return result == 0 ? 0 : -ETIMEDOUT;
}
