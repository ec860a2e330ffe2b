/* SPDX-License-Identifier: MIT
 *
 * notify: one datagram to the socket that the service manager named. Whether anybody reads it is
 * not the agent's business.
 */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_service(const char *state)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *path = getenv("NOTIFY_SOCKET");
        size_t size = path ? strlen(path) : 0;
        if (size == 0 || size >= sizeof(address.sun_path))
                return;
        memcpy(address.sun_path, path, size);
        /* A leading @ stands for the NUL of an abstract name. */
        if (address.sun_path[0] == '@')
                address.sun_path[0] = 0;
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return;
        socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
        close(fd);
}
