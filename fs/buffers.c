/* SPDX-License-Identifier: MIT
 *
 * buffers: one growing piece of memory a thread, behind a pthread key.
 */
#include "buffers.h"

#include <stdlib.h>

struct piece {
        size_t size;
        char bytes[];
};

int buffers_init(struct buffers *buffers)
{
        return -pthread_key_create(&buffers->key, free);
}

void buffers_release(struct buffers *buffers)
{
        free(pthread_getspecific(buffers->key));
        pthread_setspecific(buffers->key, NULL);
        pthread_key_delete(buffers->key);
}

char *buffers_take(struct buffers *buffers, size_t size)
{
        struct piece *piece = pthread_getspecific(buffers->key);
        if (piece && piece->size >= size)
                return piece->bytes;
        free(piece);
        piece = malloc(sizeof *piece + size);
        if (piece)
                piece->size = size;
        pthread_setspecific(buffers->key, piece);
        return piece ? piece->bytes : NULL;
}
