/* SPDX-License-Identifier: MIT
 *
 * netkeys: what the changes of a window come to for each key (cdc.fn_cdc_get_net_changes_…).
 *
 *      netkeys_new(limit, &keys);
 *      netkeys_add(keys, key, key_size, operation, number, mask, mask_size);  in capture order
 *      netkeys_finish(keys);
 *      while ((r = netkeys_next(keys, &net)) > 0) …
 *
 * The first and the last operation on a key decide, and nothing between them:
 *
 *      first \ last    1 delete     2 insert or 4 update
 *      2 insert        nothing      2
 *      4 update        1            4
 *      1 delete        1            4
 *
 * A key stays in memory as its bytes, two operations, a number and a mask. Beyond `limit` bytes
 * what is there goes to a temporary SQLite database, and the parts of a key are put together at
 * the end; memory stays below about twice the limit, whatever the window holds.
 *
 * It sees neither values nor change tables: a key is bytes, equal if they are.
 */
#ifndef CDC_NETKEYS_H
#define CDC_NETKEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NETKEYS_LIMIT = 32 << 20 }; /* bytes of memory; for netkeys_new */

struct netkeys;

/* A key with something left of it. */
struct netkey {
        int operation;       /* 1, 2 or 4 */
        uint64_t number;     /* `__$seqval` of its last change, whose row has its values */
        const uint8_t *mask; /* the bits of all its changes; borrowed until the next call */
        size_t mask_size;
};

int netkeys_new(size_t limit, struct netkeys **ret_keys);
void netkeys_free(struct netkeys *keys); /* NULL is allowed */
void netkeys_freep(struct netkeys **keys);
/* A delete (1), an insert (2) or an update (4). Numbers rise from call to call, masks have one
 * size. key NULL: a row that nothing identifies; each such change stands for itself. 0, -ENOMEM,
 * -ENOSPC, -EIO, -EINVAL. */
int netkeys_add(struct netkeys *keys, const void *key, size_t key_size, int operation,
        uint64_t number, const uint8_t *mask, size_t mask_size);
/* Ends adding; netkeys_next follows. */
int netkeys_finish(struct netkeys *keys);
/* In the order of the numbers. 1, 0 at the end, or negative errno. */
int netkeys_next(struct netkeys *keys, struct netkey *ret_net);
/* Did memory not hold them? */
bool netkeys_is_spilled(const struct netkeys *keys);

#endif
