/* SPDX-License-Identifier: MIT
 *
 * manifests: a few manifests in the order of their last use.
 */
#include "desk/manifests.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "faces/manifest.h"
#include "ground/cleanup.h"

struct manifests {
        pthread_mutex_t lock; /* guards all below */
        unsigned count;
        struct manifest items[MANIFESTS_COUNT]; /* the first was used last */
};

int manifests_new(struct manifests **ret_manifests)
{
        struct manifests *manifests = calloc(1, sizeof *manifests);
        if (!manifests)
                return -ENOMEM;
        pthread_mutex_init(&manifests->lock, NULL);
        *ret_manifests = manifests;
        return 0;
}

void manifests_free(struct manifests *manifests)
{
        if (!manifests)
                return;
        for (unsigned i = 0; i < manifests->count; i++)
                manifest_release(&manifests->items[i]);
        pthread_mutex_destroy(&manifests->lock);
        free(manifests);
}

/* The instance's, or a new one. */
static struct manifest take(struct manifests *manifests, int64_t object_id, uint32_t formats)
{
        struct manifest taken = MANIFEST_INIT(object_id);
        taken.formats = formats;
        pthread_mutex_lock(&manifests->lock);
        for (unsigned i = 0; i < manifests->count; i++) {
                if (manifests->items[i].object_id != object_id)
                        continue;
                taken = manifests->items[i];
                manifests->count--;
                memmove(&manifests->items[i], &manifests->items[i + 1],
                        (manifests->count - i) * sizeof taken);
                break;
        }
        pthread_mutex_unlock(&manifests->lock);
        return taken;
}

/* Takes it over. One of the same instance that another thread has put there stays behind it and
 * goes in its turn. */
static void put(struct manifests *manifests, struct manifest *manifest)
{
        struct manifest oldest = {0};
        if (manifest->text.size > MANIFESTS_BYTES) {
                manifest_release(manifest);
                return;
        }
        pthread_mutex_lock(&manifests->lock);
        if (manifests->count == MANIFESTS_COUNT)
                oldest = manifests->items[--manifests->count];
        memmove(&manifests->items[1], &manifests->items[0], manifests->count * sizeof *manifest);
        manifests->items[0] = *manifest;
        manifests->count++;
        pthread_mutex_unlock(&manifests->lock);
        manifest_release(&oldest);
}

int manifests_append(struct manifests *manifests, sqlite3 *store, int64_t object_id,
        uint32_t formats, struct buf *buf)
{
        struct manifest manifest = take(manifests, object_id, formats);
        int r = manifest_update(&manifest, store);
        if (r < 0) {
                manifest_release(&manifest);
                return r;
        }
        buf_append(buf, manifest.text.data, manifest.text.size);
        put(manifests, &manifest);
        return buf_error(buf);
}
