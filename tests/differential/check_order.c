/* SPDX-License-Identifier: MIT
 *
 * check_order: see check_order.h.
 */
#include "check_order.h"

#include <string.h>

static int by_sequence(const void *a, const void *b)
{
        return strcmp(((const struct placed *)a)->sequence, ((const struct placed *)b)->sequence);
}

static void check_ranks(const struct placed *placed, size_t count,
        const struct transaction *transaction, struct report *report)
{
        for (size_t i = 1; i < count; i++) {
                if (by_sequence(&placed[i - 1], &placed[i]) == 0)
                        report_difference(report, transaction, placed[i].instance->name,
                                "seqval %s stands in \"%s\" too", placed[i].sequence,
                                placed[i - 1].instance->name);
                if (placed[i - 1].rank > placed[i].rank)
                        report_difference(report, transaction, placed[i].instance->name,
                                "seqval %s: deletes, updates, inserts: the order is broken",
                                placed[i].sequence);
        }
}

static bool is_of(const struct placed *placed, unsigned rank, unsigned table)
{
        return placed->rank == rank && placed->instance->number == table;
}

/* No change of `later` stands before one of `earlier`. */
static void check_tables(const struct placed *placed, size_t count, unsigned rank,
        const struct model_table *earlier, const struct model_table *later,
        const struct transaction *transaction, struct report *report)
{
        bool has_later = false;
        for (size_t i = 0; i < count; i++) {
                has_later = has_later || is_of(&placed[i], rank, later->number);
                if (!has_later || !is_of(&placed[i], rank, earlier->number))
                        continue;
                report_difference(report, transaction, placed[i].instance->name,
                        "seqval %s: %s of \"%s\" must stand before those of \"%s\"",
                        placed[i].sequence, rank == 1 ? "deletes" : "inserts", earlier->name,
                        later->name);
                return;
        }
}

/* By the foreign keys that the transaction found and left. */
static void check_child(const struct placed *placed, size_t count, struct model *model,
        const struct model_table *child, const struct transaction *transaction,
        struct report *report)
{
        for (unsigned i = 0; i < child->shape.parent_count; i++) {
                const struct model_table *parent =
                        model_find_number(model, child->shape.parents[i]);
                bool is_new = child->change.event > SHAPE_ALTERED;
                if (!parent || parent == child || is_new)
                        continue;
                check_tables(placed, count, 1, child, parent, transaction, report);
                check_tables(placed, count, 3, parent, child, transaction, report);
        }
}

void check_order(struct placed *placed, size_t count, char *last_sequence, struct model *model,
        const struct transaction *transaction, struct report *report)
{
        if (!count)
                return;
        qsort(placed, count, sizeof(*placed), by_sequence);
        if (strcmp(placed[0].sequence, last_sequence) <= 0)
                report_difference(report, transaction, placed[0].instance->name,
                        "seqval %s is not above that of an earlier commit", placed[0].sequence);
        memcpy(last_sequence, placed[count - 1].sequence, LSN_SIZE);
        check_ranks(placed, count, transaction, report);
        for (unsigned i = 0; i < model->count; i++)
                check_child(placed, count, model, &model->tables[i], transaction, report);
}
