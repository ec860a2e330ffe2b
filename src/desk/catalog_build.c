/* SPDX-License-Identifier: MIT
 *
 * catalog_build: making the next catalog out of the one before.
 *
 * What is shared is copied before it is changed, and nothing else is. One thread, no store.
 */
#include "desk/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/render.h"
#include "ground/cleanup.h"
#include "memory/array.h"

static void ref(atomic_uint *references)
{
        atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

static bool is_shared(atomic_uint *references)
{
        return atomic_load_explicit(references, memory_order_acquire) > 1;
}

struct cdc_catalog *catalog_new(void)
{
        struct cdc_catalog *catalog = calloc(1, sizeof *catalog);
        if (!catalog)
                return NULL;
        atomic_init(&catalog->references, 1);
        catalog->formats = UINT32_MAX;
        return catalog;
}

/* A copy of a list of pointers; one that is empty is NULL and success. */
static int copy_pointers(const void *pointers, size_t count, void *ret_copy)
{
        void *copy = NULL;
        if (count > 0) {
                copy = malloc(count * sizeof(void *));
                if (!copy)
                        return -ENOMEM;
                memcpy(copy, pointers, count * sizeof(void *));
        }
        *(void **)ret_copy = copy;
        return 0;
}

int catalog_clone(const struct cdc_catalog *catalog, struct cdc_catalog **ret_catalog)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *copy = catalog_new();
        if (!copy || copy_pointers(catalog->entries, catalog->entry_count, &copy->entries) < 0)
                return -ENOMEM;
        copy->version = catalog->version;
        copy->stamp_ns = catalog->stamp_ns;
        copy->base_ino = catalog->base_ino;
        copy->formats = catalog->formats;
        copy->mtime_ns = catalog->mtime_ns;
        copy->entry_count = catalog->entry_count;
        for (size_t i = 0; i < copy->entry_count; i++)
                ref(&copy->entries[i]->references);
        if (copy_pointers(catalog->pages, catalog->page_count, &copy->pages) < 0)
                return -ENOMEM;
        copy->page_count = catalog->page_count;
        for (size_t i = 0; i < copy->page_count; i++)
                ref(&copy->pages[i]->references);
        *ret_catalog = steal(copy);
        return 0;
}

/* ---- entries ---- */

static int share_list(const struct catalog_list *list, struct catalog_list *ret_list)
{
        if (copy_pointers(list->blocks, list->block_count, &ret_list->blocks) < 0)
                return -ENOMEM;
        ret_list->block_count = list->block_count;
        ret_list->file_count = list->file_count;
        ret_list->withdrawn_count = list->withdrawn_count;
        ret_list->withdrawn_up_to = list->withdrawn_up_to;
        for (size_t i = 0; i < list->block_count; i++)
                ref(&list->blocks[i]->references);
        return 0;
}

int catalog_begin_entry(const struct catalog_entry *previous, const struct cdc_instance *instance,
        struct catalog_entry **ret_entry)
{
        unsigned formats = render_file_formats();
        _cleanup_(catalog_entry_unrefp) struct catalog_entry *entry =
                calloc(1, sizeof *entry + formats * sizeof entry->formats[0]);
        if (!entry)
                return -ENOMEM;
        atomic_init(&entry->references, 1);
        entry->format_count = formats;
        entry->instance = *instance;
        entry->instance.name = entry->name = strdup(instance->name);
        entry->instance.directory = entry->directory = strdup(instance->directory);
        if (!entry->name || !entry->directory)
                return -ENOMEM;
        for (unsigned i = 0; previous && i < formats; i++) {
                if (share_list(&previous->formats[i], &entry->formats[i]) < 0)
                        return -ENOMEM;
        }
        entry->bytes = previous ? previous->bytes : 0;
        *ret_entry = steal(entry);
        return 0;
}

/* A block with room for one more, in place of `block` (NULL = a first one), whose reference it
 * takes over. */
static int grow_block(struct catalog_block *block, struct catalog_block **ret_block)
{
        unsigned count = block ? block->count : 0;
        unsigned capacity = 4;
        while (capacity <= count)
                capacity *= 2;
        struct catalog_block *grown = malloc(sizeof *grown + capacity * sizeof(struct cdc_file));
        if (!grown)
                return -ENOMEM;
        atomic_init(&grown->references, 1);
        grown->count = count;
        grown->capacity = capacity;
        if (block)
                memcpy(grown->files, block->files, count * sizeof(struct cdc_file));
        if (block && atomic_fetch_sub_explicit(&block->references, 1, memory_order_acq_rel) == 1)
                free(block);
        *ret_block = grown;
        return 0;
}

/* The last block of a list, owned alone and with room for a file. */
static int writable_block(struct catalog_list *list, struct catalog_block **ret_block)
{
        struct catalog_block **last =
                list->block_count ? &list->blocks[list->block_count - 1] : NULL;
        if (last && (*last)->count < CATALOG_BLOCK_FILES) {
                if ((is_shared(&(*last)->references) || (*last)->count == (*last)->capacity) &&
                        grow_block(*last, last) < 0)
                        return -ENOMEM;
                *ret_block = *last;
                return 0;
        }
        struct catalog_block **blocks =
                realloc(list->blocks, (list->block_count + 1) * sizeof *blocks);
        if (!blocks)
                return -ENOMEM;
        list->blocks = blocks;
        if (grow_block(NULL, &blocks[list->block_count]) < 0)
                return -ENOMEM;
        *ret_block = blocks[list->block_count++];
        return 0;
}

/* ---- inode numbers ---- */

/* Index of the page with a number, or where it belongs. */
static size_t page_place(const struct cdc_catalog *catalog, uint64_t number)
{
        size_t low = 0, high = catalog->page_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (catalog->pages[middle]->number < number)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int insert_page(struct cdc_catalog *catalog, size_t place, uint64_t number)
{
        struct catalog_page **pages =
                realloc(catalog->pages, (catalog->page_count + 1) * sizeof *pages);
        if (!pages)
                return -ENOMEM;
        catalog->pages = pages;
        struct catalog_page *page = calloc(1, sizeof *page);
        if (!page)
                return -ENOMEM;
        atomic_init(&page->references, 1);
        page->number = number;
        memmove(pages + place + 1, pages + place, (catalog->page_count - place) * sizeof *pages);
        pages[place] = page;
        catalog->page_count++;
        return 0;
}

static int own_page(struct catalog_page **page)
{
        if (!is_shared(&(*page)->references))
                return 0;
        struct catalog_page *copy = malloc(sizeof *copy);
        if (!copy)
                return -ENOMEM;
        atomic_init(&copy->references, 1);
        copy->number = (*page)->number;
        memcpy(copy->slots, (*page)->slots, sizeof copy->slots);
        if (atomic_fetch_sub_explicit(&(*page)->references, 1, memory_order_acq_rel) == 1)
                free(*page);
        *page = copy;
        return 0;
}

static int set_slot(struct cdc_catalog *catalog, uint64_t ino, struct catalog_slot slot)
{
        uint64_t number = ino / CATALOG_PAGE_INOS;
        size_t place = page_place(catalog, number);
        if (place == catalog->page_count || catalog->pages[place]->number != number) {
                int r = insert_page(catalog, place, number);
                if (r < 0)
                        return r;
        }
        int r = own_page(&catalog->pages[place]);
        if (r < 0)
                return r;
        catalog->pages[place]->slots[ino % CATALOG_PAGE_INOS] = slot;
        return 0;
}

int catalog_append(struct cdc_catalog *catalog, struct catalog_entry *entry, unsigned format,
        const struct cdc_file *file)
{
        struct catalog_block *block = NULL;
        struct catalog_list *list = &entry->formats[format];
        int r = writable_block(list, &block);
        if (r < 0)
                return r;
        block->files[block->count] = *file;
        block->files[block->count++].format = (uint8_t)format;
        list->file_count++;
        if (file->is_withdrawn) {
                list->withdrawn_count++;
                list->withdrawn_up_to = file->ordinal;
        } else {
                entry->bytes += file->size;
        }
        return set_slot(catalog, file->ino,
                (struct catalog_slot){.object_id = entry->instance.object_id,
                        .ordinal = file->ordinal,
                        .format = format});
}

/* ---- the list of entries ---- */

static size_t entry_place(const struct cdc_catalog *catalog, int64_t object_id)
{
        /* From the end: entries come in the order of their ids. */
        size_t place = catalog->entry_count;
        while (place > 0 && catalog->entries[place - 1]->instance.object_id >= object_id)
                place--;
        return place;
}

static bool is_entry(const struct cdc_catalog *catalog, size_t place, int64_t object_id)
{
        return place < catalog->entry_count &&
               catalog->entries[place]->instance.object_id == object_id;
}

int catalog_put(struct cdc_catalog *catalog, struct catalog_entry *entry)
{
        size_t place = entry_place(catalog, entry->instance.object_id);
        if (is_entry(catalog, place, entry->instance.object_id)) {
                catalog_entry_unref(catalog->entries[place]);
                catalog->entries[place] = entry;
                return 0;
        }
        struct catalog_entry **entries =
                realloc(catalog->entries, (catalog->entry_count + 1) * sizeof *entries);
        if (!entries) {
                catalog_entry_unref(entry);
                return -ENOMEM;
        }
        memmove(entries + place + 1, entries + place,
                (catalog->entry_count - place) * sizeof *entries);
        entries[place] = entry;
        catalog->entries = entries;
        catalog->entry_count++;
        return 0;
}

static int forget_files(struct cdc_catalog *catalog, const struct catalog_list *list)
{
        for (size_t i = 0; i < list->block_count; i++) {
                for (unsigned j = 0; j < list->blocks[i]->count; j++) {
                        int r = set_slot(
                                catalog, list->blocks[i]->files[j].ino, (struct catalog_slot){0});
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

int catalog_remove(struct cdc_catalog *catalog, int64_t object_id)
{
        size_t place = entry_place(catalog, object_id);
        if (!is_entry(catalog, place, object_id))
                return 0;
        struct catalog_entry *entry = catalog->entries[place];
        for (unsigned i = 0; i < entry->format_count; i++) {
                int r = forget_files(catalog, &entry->formats[i]);
                if (r < 0)
                        return r;
        }
        memmove(catalog->entries + place, catalog->entries + place + 1,
                (catalog->entry_count - place - 1) * sizeof(struct catalog_entry *));
        catalog->entry_count--;
        catalog_entry_unref(entry);
        return 0;
}

static int order_directory(const void *a, const void *b)
{
        const struct catalog_entry *const *x = a, *const *y = b;
        return strcmp((*x)->directory, (*y)->directory);
}

static int order_ino(const void *a, const void *b)
{
        const struct catalog_entry *const *x = a, *const *y = b;
        return ((*x)->instance.base_ino > (*y)->instance.base_ino) -
               ((*x)->instance.base_ino < (*y)->instance.base_ino);
}

int catalog_append_live(
        struct cdc_catalog *catalog, int64_t object_id, unsigned format, uint64_t ino)
{
        struct catalog_live *lives = array_room(catalog->lives, catalog->live_count, sizeof *lives);
        if (!lives)
                return -ENOMEM;
        catalog->lives = lives;
        lives[catalog->live_count++] =
                (struct catalog_live){.ino = ino, .object_id = object_id, .format = format};
        return 0;
}

static int sort_lives(struct cdc_catalog *catalog)
{
        size_t count = catalog->live_count, size = sizeof(struct catalog_live);
        if (count == 0)
                return 0;
        catalog->lives_by_ino = malloc(count * size);
        if (!catalog->lives_by_ino)
                return -ENOMEM;
        memcpy(catalog->lives_by_ino, catalog->lives, count * size);
        qsort(catalog->lives, count, size, catalog_order_live);
        qsort(catalog->lives_by_ino, count, size, catalog_order_live_ino);
        return 0;
}

int catalog_finish(struct cdc_catalog *catalog)
{
        if (sort_lives(catalog) < 0)
                return -ENOMEM;
        if (copy_pointers(catalog->entries, catalog->entry_count, &catalog->by_directory) < 0 ||
                copy_pointers(catalog->entries, catalog->entry_count, &catalog->by_ino) < 0)
                return -ENOMEM;
        if (catalog->entry_count > 0) {
                size_t size = sizeof(struct catalog_entry *);
                qsort(catalog->by_directory, catalog->entry_count, size, order_directory);
                qsort(catalog->by_ino, catalog->entry_count, size, order_ino);
        }
        for (size_t i = 0; i < catalog->entry_count; i++) {
                const struct catalog_entry *entry = catalog->entries[i];
                if (entry->instance.object_id == 0)
                        continue; /* of no instance */
                catalog->bytes += entry->bytes;
                catalog->has_roles |= entry->instance.has_role;
                for (unsigned j = 0; j < entry->format_count; j++)
                        catalog->file_count +=
                                entry->formats[j].file_count - entry->formats[j].withdrawn_count;
        }
        return 0;
}
