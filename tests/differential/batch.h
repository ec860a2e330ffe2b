/* SPDX-License-Identifier: MIT
 *
 * batch: a number of transactions by the round's writers, with checkpoints, readers, killed agents
 * and late instances around them; at its end everything is captured.
 */
#ifndef DIFFERENTIAL_BATCH_H
#define DIFFERENTIAL_BATCH_H

#include "company.h"
#include "instance.h"
#include "program.h"
#include "report.h"

enum { MOST_WRITERS = 8 };

struct round {
        struct settings settings;
        const struct programs *programs;
        struct shared *shared;
        struct random random;
        struct instances instances;
        struct agent agent;
        unsigned kills;
        unsigned gaps; /* recorded when it was checked last */
        /* The processes of the running batch. */
        pid_t writers[MOST_WRITERS];
        pid_t checkpointer, reader, guard;
};

/* 0 or negative errno. Afterwards no process of the batch runs, the agent does. */
int batch_run(struct round *round, unsigned transactions);
/* The listed files of every instance, one after the other, are what get-all-changes gives. */
int batch_check_mount(struct round *round, struct report *report);

#endif
