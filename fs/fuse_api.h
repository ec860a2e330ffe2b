/* SPDX-License-Identifier: MIT
 *
 * fuse_api: libfuse's low-level interface, in the one version that all of fs/ speaks.
 */
#ifndef CDCFS_FUSE_API_H
#define CDCFS_FUSE_API_H

#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include <fuse_lowlevel.h>

#endif
