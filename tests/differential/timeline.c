/* SPDX-License-Identifier: MIT
 *
 * timeline: see timeline.h.
 */
#include "timeline.h"

#include <stdio.h>
#include <string.h>

void timeline_release(struct timeline *timeline)
{
        free(timeline->moments);
}

static int by_lsn(const void *a, const void *b)
{
        return strcmp(((const struct moment *)a)->lsn, ((const struct moment *)b)->lsn);
}

/* The number and the seed of an inserted row of the marker table. */
static bool read_marker(const struct change *change, uint64_t *ret_number, uint64_t *ret_seed)
{
        struct change_parts parts = change_split(change);
        struct reader reader = {parts.after, parts.after + parts.after_size, false};
        struct cell number, seed;
        if (parts.operation != 2 || !cell_read(&reader, &number) || !cell_read(&reader, &seed))
                return false;
        *ret_number = (uint64_t)number.integer;
        *ret_seed = (uint64_t)seed.integer;
        return number.type == CELL_INTEGER && seed.type == CELL_INTEGER;
}

static void add_markers(struct timeline *timeline, const struct stream *stream,
        const struct settings *settings, struct report *report)
{
        for (size_t i = 0; i < stream->changes.count; i++) {
                struct change change = changes_at(&stream->changes, i);
                struct moment *moment = NULL;
                struct moment wanted = {{0}, 0, false};
                uint64_t number, seed;
                memcpy(wanted.lsn, stream->deliveries[i].lsn, LSN_SIZE);
                if (!read_marker(&change, &number, &seed) || seed != settings->seed >> 1 ||
                        !(moment = bsearch(&wanted, timeline->moments, timeline->count,
                                  sizeof(*timeline->moments), by_lsn)) ||
                        moment->number) {
                        report_difference(report, NULL, stream->instance->name,
                                "at %s: not one inserted marker", wanted.lsn);
                        continue;
                }
                moment->number = number;
        }
}

void timeline_make(struct timeline *timeline, const struct stream *streams, unsigned count,
        const struct settings *settings, struct report *report)
{
        size_t total = 0;
        for (unsigned i = 0; i < count; i++)
                total += streams[i].changes.count;
        timeline->moments = memory_grow(NULL, (total + 1) * sizeof(*timeline->moments));
        for (unsigned i = 0; i < count; i++)
                for (size_t j = 0; j < streams[i].changes.count; j++) {
                        struct moment *moment = &timeline->moments[timeline->count++];
                        *moment = (struct moment){{0}, 0, false};
                        memcpy(moment->lsn, streams[i].deliveries[j].lsn, LSN_SIZE);
                }
        qsort(timeline->moments, timeline->count, sizeof(*timeline->moments), by_lsn);
        size_t unique = 0;
        for (size_t i = 0; i < timeline->count; i++)
                if (!unique || by_lsn(&timeline->moments[unique - 1], &timeline->moments[i]) != 0)
                        timeline->moments[unique++] = timeline->moments[i];
        timeline->count = unique;
        add_markers(timeline, &streams[0], settings, report);
}

const char *timeline_take_marked(
        struct timeline *timeline, const struct transaction *transaction, struct report *report)
{
        /* Nearly always the next or one soon after it; else it is out of order. */
        for (size_t i = 0; i < timeline->count; i++) {
                size_t at = (timeline->next + i) % timeline->count;
                struct moment *moment = &timeline->moments[at];
                if (moment->number != transaction->number)
                        continue;
                if (moment->is_taken)
                        continue;
                if (at < timeline->next)
                        report_difference(report, transaction, NULL,
                                "its LSN %s is below that of an earlier commit", moment->lsn);
                else
                        timeline->next = at + 1;
                moment->is_taken = true;
                return moment->lsn;
        }
        return NULL;
}

const char *timeline_take_unmarked(struct timeline *timeline)
{
        if (timeline->next >= timeline->count || timeline->moments[timeline->next].number)
                return NULL;
        struct moment *moment = &timeline->moments[timeline->next++];
        moment->is_taken = true;
        return moment->lsn;
}

void timeline_report_rest(const struct timeline *timeline, struct report *report)
{
        for (size_t i = 0; i < timeline->count; i++)
                if (!timeline->moments[i].is_taken)
                        report_difference(report, NULL, NULL,
                                "rows at %s, where no transaction changed anything (marker %llu)",
                                timeline->moments[i].lsn,
                                (unsigned long long)timeline->moments[i].number);
}
