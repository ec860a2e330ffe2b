/* SPDX-License-Identifier: MIT
 *
 * notify: tells the service manager how far the agent is (sd_notify, without the library).
 */
#ifndef CDCCTL_NOTIFY_H
#define CDCCTL_NOTIFY_H

/* Sends "READY=1" or the like to $NOTIFY_SOCKET. Without one, or without a listener, nothing. */
void notify_service(const char *state);

#endif
