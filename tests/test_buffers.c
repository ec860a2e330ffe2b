/* SPDX-License-Identifier: MIT */
#include "buffers.h"

#include <criterion/criterion.h>
#include <string.h>

static void *take_in_a_thread(void *context)
{
        char *mine = buffers_take(context, 1000);
        memset(mine, 1, 1000);
        return mine;
}

Test(buffers, are_one_a_thread_and_grow)
{
        struct buffers buffers;
        pthread_t thread;
        void *theirs = NULL;
        cr_assert_eq(buffers_init(&buffers), 0);
        char *one = buffers_take(&buffers, 100);
        cr_assert(one);
        cr_expect_eq(buffers_take(&buffers, 50), one);
        memset(buffers_take(&buffers, 1 << 20), 2, 1 << 20);
        pthread_create(&thread, NULL, take_in_a_thread, &buffers);
        pthread_join(thread, &theirs);
        cr_expect_neq(theirs, buffers_take(&buffers, 10));
        buffers_release(&buffers);
}
