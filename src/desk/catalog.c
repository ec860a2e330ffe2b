/* SPDX-License-Identifier: MIT
 *
 * catalog: finding things in a catalog, and its life.
 *
 * Readers only: any number of threads, no lock. How one is made is in catalog_build.c.
 */
#include "desk/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "faces/render.h"
#include "ground/lsn.h"

/* ---- life ---- */

struct cdc_catalog *catalog_ref(struct cdc_catalog *catalog)
{
        atomic_fetch_add_explicit(&catalog->references, 1, memory_order_relaxed);
        return catalog;
}

static bool is_last_reference(atomic_uint *references)
{
        return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

static void unref_list(struct catalog_list *list)
{
        for (size_t i = 0; i < list->block_count; i++) {
                if (is_last_reference(&list->blocks[i]->references))
                        free(list->blocks[i]);
        }
        free(list->blocks);
}

void catalog_entry_unref(struct catalog_entry *entry)
{
        if (!entry || !is_last_reference(&entry->references))
                return;
        for (unsigned i = 0; i < entry->format_count; i++)
                unref_list(&entry->formats[i]);
        free(entry->name);
        free(entry->directory);
        free(entry);
}

void catalog_entry_unrefp(struct catalog_entry **entry)
{
        catalog_entry_unref(*entry);
}

void cdc_catalog_unref(struct cdc_catalog *catalog)
{
        if (!catalog || !is_last_reference(&catalog->references))
                return;
        for (size_t i = 0; i < catalog->entry_count; i++)
                catalog_entry_unref(catalog->entries[i]);
        for (size_t i = 0; i < catalog->page_count; i++) {
                if (is_last_reference(&catalog->pages[i]->references))
                        free(catalog->pages[i]);
        }
        free(catalog->entries);
        free(catalog->by_directory);
        free(catalog->by_ino);
        free(catalog->pages);
        free(catalog->lives);
        free(catalog->lives_by_ino);
        free(catalog);
}

bool catalog_is_newer(const struct cdc_catalog *a, const struct cdc_catalog *b)
{
        return a->version > b->version || a->stamp_ns > b->stamp_ns;
}

void catalog_unrefp(struct cdc_catalog **catalog)
{
        cdc_catalog_unref(*catalog);
}

/* ---- the whole ---- */

uint64_t cdc_catalog_base_ino(const struct cdc_catalog *catalog)
{
        return catalog->base_ino;
}

int64_t cdc_catalog_mtime(const struct cdc_catalog *catalog)
{
        return catalog->mtime_ns;
}

void cdc_catalog_totals(const struct cdc_catalog *catalog, uint64_t *ret_files, uint64_t *ret_bytes)
{
        *ret_files = catalog->file_count;
        *ret_bytes = catalog->bytes;
}

unsigned cdc_formats(void)
{
        return render_count();
}

unsigned cdc_net_formats(void)
{
        return render_file_formats() - render_count();
}

const char *cdc_format_name(unsigned format)
{
        const struct renderer *renderer = render_at(format);
        return renderer ? renderer->folder : NULL;
}

const char *cdc_format_suffix(unsigned format)
{
        const struct renderer *renderer = render_at(format);
        return renderer ? renderer->suffix : NULL;
}

int cdc_parse_formats(const char *list, uint32_t *ret_formats)
{
        return render_parse_formats(list, ret_formats);
}

bool cdc_catalog_lists(const struct cdc_catalog *catalog, unsigned format)
{
        return catalog->formats >> format & 1;
}

/* ---- instances ---- */

/* Index of the first entry whose object_id is greater than `after`. */
static size_t entry_after(const struct cdc_catalog *catalog, int64_t after)
{
        size_t low = 0, high = catalog->entry_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (catalog->entries[middle]->instance.object_id <= after)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

struct catalog_entry *catalog_find_entry(const struct cdc_catalog *catalog, int64_t object_id)
{
        size_t index = entry_after(catalog, object_id);
        if (index == 0 || catalog->entries[index - 1]->instance.object_id != object_id)
                return NULL;
        return catalog->entries[index - 1];
}

size_t cdc_catalog_instances(const struct cdc_catalog *catalog)
{
        return catalog->entry_count - (cdc_catalog_mapping(catalog) != NULL);
}

const struct cdc_instance *cdc_catalog_mapping(const struct cdc_catalog *catalog)
{
        return cdc_catalog_find_object(catalog, 0);
}

bool cdc_catalog_has_roles(const struct cdc_catalog *catalog)
{
        return catalog->has_roles;
}

const struct cdc_instance *cdc_catalog_next_instance(
        const struct cdc_catalog *catalog, int64_t after)
{
        size_t index = entry_after(catalog, after);
        return index < catalog->entry_count ? &catalog->entries[index]->instance : NULL;
}

const struct cdc_instance *cdc_catalog_find_object(
        const struct cdc_catalog *catalog, int64_t object_id)
{
        const struct catalog_entry *entry = catalog_find_entry(catalog, object_id);
        return entry ? &entry->instance : NULL;
}

const struct cdc_instance *cdc_catalog_find_instance(
        const struct cdc_catalog *catalog, const char *directory)
{
        size_t low = 0, high = catalog->entry_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(catalog->by_directory[middle]->directory, directory);
                if (order == 0)
                        return &catalog->by_directory[middle]->instance;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const struct cdc_instance *cdc_catalog_find_block(const struct cdc_catalog *catalog, uint64_t ino)
{
        size_t low = 0, high = catalog->entry_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (catalog->by_ino[middle]->instance.base_ino <= ino)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0 || ino - catalog->by_ino[low - 1]->instance.base_ino >= CDC_INSTANCE_INOS)
                return NULL;
        return &catalog->by_ino[low - 1]->instance;
}

/* ---- files ---- */

static const struct catalog_list *list_of(const struct cdc_instance *instance, unsigned format)
{
        const struct catalog_entry *entry = (const struct catalog_entry *)instance;
        return format < entry->format_count ? &entry->formats[format] : NULL;
}

const struct cdc_file *catalog_newest_file(const struct catalog_list *list)
{
        if (list->block_count == 0)
                return NULL;
        const struct catalog_block *block = list->blocks[list->block_count - 1];
        return &block->files[block->count - 1];
}

const struct cdc_file *cdc_catalog_last_file(
        const struct cdc_catalog *catalog, const struct cdc_instance *instance, unsigned format)
{
        const struct catalog_list *list = list_of(instance, format);
        const struct cdc_file *file = list ? catalog_newest_file(list) : NULL;
        return file && !file->is_withdrawn ? file : NULL;
}

/* The first file that `is_before` does not hold for; files must be ordered by it. */
static const struct cdc_file *first_not_before(const struct catalog_list *list,
        bool (*is_before)(const struct cdc_file *, const void *), const void *key)
{
        size_t low = 0, high = list->block_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                const struct catalog_block *block = list->blocks[middle];
                if (is_before(&block->files[block->count - 1], key))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == list->block_count)
                return NULL;

        const struct catalog_block *block = list->blocks[low];
        unsigned first = 0, last = block->count;
        while (first < last) {
                unsigned middle = first + (last - first) / 2;
                if (is_before(&block->files[middle], key))
                        first = middle + 1;
                else
                        last = middle;
        }
        return &block->files[first];
}

static bool has_ordinal_up_to(const struct cdc_file *file, const void *ordinal)
{
        return file->ordinal <= *(const uint64_t *)ordinal;
}

static bool has_from_below(const struct cdc_file *file, const void *from)
{
        return memcmp(file->from_lsn, from, LSN_NAME_SIZE - 1) < 0;
}

const struct cdc_file *cdc_catalog_next_file(const struct cdc_catalog *catalog,
        const struct cdc_instance *instance, unsigned format, uint64_t after)
{
        const struct catalog_list *list = list_of(instance, format);
        if (list && after < list->withdrawn_up_to)
                after = list->withdrawn_up_to;
        return list ? first_not_before(list, has_ordinal_up_to, &after) : NULL;
}

const struct cdc_file *cdc_catalog_find_file(const struct cdc_catalog *catalog,
        const struct cdc_instance *instance, unsigned format, const char *name)
{
        enum { DIGITS = LSN_NAME_SIZE - 1 };
        const char *suffix = cdc_format_suffix(format);
        const struct catalog_list *list = list_of(instance, format);
        if (!list || strlen(name) != 2 * DIGITS + 1 + strlen(suffix) || name[DIGITS] != '-' ||
                strcmp(name + 2 * DIGITS + 1, suffix) != 0)
                return NULL;
        const struct cdc_file *file = first_not_before(list, has_from_below, name);
        if (!file || memcmp(file->from_lsn, name, DIGITS) != 0 ||
                memcmp(file->to_lsn, name + DIGITS + 1, DIGITS) != 0)
                return NULL;
        return file;
}

static const struct catalog_slot *find_slot(const struct cdc_catalog *catalog, uint64_t ino)
{
        uint64_t number = ino / CATALOG_PAGE_INOS;
        size_t low = 0, high = catalog->page_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (catalog->pages[middle]->number == number)
                        return &catalog->pages[middle]->slots[ino % CATALOG_PAGE_INOS];
                if (catalog->pages[middle]->number < number)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const struct cdc_file *cdc_catalog_find_ino(const struct cdc_catalog *catalog, uint64_t ino)
{
        const struct catalog_slot *slot = find_slot(catalog, ino);
        if (!slot || slot->ordinal == 0)
                return NULL;
        const struct catalog_entry *entry = catalog_find_entry(catalog, slot->object_id);
        uint64_t before = slot->ordinal - 1;
        return entry ? first_not_before(&entry->formats[slot->format], has_ordinal_up_to, &before)
                     : NULL;
}

/* ---- files that are not listed yet ---- */

int catalog_order_live(const void *a, const void *b)
{
        const struct catalog_live *x = a, *y = b;
        if (x->object_id != y->object_id)
                return x->object_id < y->object_id ? -1 : 1;
        return (x->format > y->format) - (x->format < y->format);
}

int catalog_order_live_ino(const void *a, const void *b)
{
        const struct catalog_live *x = a, *y = b;
        return (x->ino > y->ino) - (x->ino < y->ino);
}

uint64_t cdc_catalog_live(
        const struct cdc_catalog *catalog, const struct cdc_instance *instance, unsigned format)
{
        const struct catalog_live key = {.object_id = instance->object_id, .format = format};
        const struct catalog_live *live = NULL;
        if (catalog->live_count > 0)
                live = bsearch(
                        &key, catalog->lives, catalog->live_count, sizeof key, catalog_order_live);
        return live ? live->ino : 0;
}

const struct cdc_instance *cdc_catalog_find_live(
        const struct cdc_catalog *catalog, uint64_t ino, unsigned *ret_format)
{
        const struct catalog_live key = {.ino = ino};
        const struct catalog_live *live = NULL;
        if (catalog->live_count > 0)
                live = bsearch(&key, catalog->lives_by_ino, catalog->live_count, sizeof key,
                        catalog_order_live_ino);
        if (!live)
                return NULL;
        *ret_format = live->format;
        return cdc_catalog_find_object(catalog, live->object_id);
}

/* ---- whose it is ---- */

bool cdc_catalog_find_owner(
        const struct cdc_catalog *catalog, uint64_t ino, const struct cdc_instance **ret_instance)
{
        const struct catalog_slot *slot = find_slot(catalog, ino);
        const struct cdc_instance *instance;
        unsigned format;
        *ret_instance = NULL;
        if (ino >= catalog->base_ino && ino - catalog->base_ino < CDC_ROOT_INOS)
                return true;
        if (slot && slot->ordinal > 0)
                instance = cdc_catalog_find_object(catalog, slot->object_id);
        else if (!(instance = cdc_catalog_find_live(catalog, ino, &format)))
                instance = cdc_catalog_find_block(catalog, ino);
        if (instance && instance->object_id > 0)
                *ret_instance = instance;
        return instance;
}
