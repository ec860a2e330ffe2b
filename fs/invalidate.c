/* SPDX-License-Identifier: MIT
 *
 * invalidate: comparing two catalogs, and the notifications.
 *
 * New state first, then the notification: the view is renewed before this room is asked.
 *
 * That a name is not there is never cached, so names that come need no word; only the attributes
 * of their directories do. It is as well: to forget a name the kernel waits for every request in
 * its directory, and would for ever if this process were killed meanwhile.
 */
#include "invalidate.h"

#include <stdio.h>
#include <string.h>

#include "fuse_api.h"

#include "node.h"

struct news {
        struct fuse_session *session;
        const struct cdc_catalog *former, *current;
};

static void forget_name(const struct news *news, uint64_t directory, const char *name)
{
        fuse_lowlevel_notify_inval_entry(news->session, directory, name, strlen(name));
}

static void forget_attributes(const struct news *news, uint64_t id)
{
        fuse_lowlevel_notify_inval_inode(news->session, id, 0, 0);
}

/* ---- folders of files ---- */

static void file_name(const struct cdc_file *file, unsigned format, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s-%s%s", file->from_lsn, file->to_lsn,
                cdc_format_suffix(format));
}

/* Files go from the oldest on. */
static void tell_removed(const struct news *news, const struct cdc_instance *former,
        const struct cdc_instance *current, unsigned format, uint64_t folder)
{
        const struct cdc_file *first = cdc_catalog_next_file(news->current, current, format, 0);
        uint64_t after = 0;
        const struct cdc_file *file;
        while ((file = cdc_catalog_next_file(news->former, former, format, after)) &&
                (!first || file->ordinal < first->ordinal)) {
                char name[NODE_NAME_SIZE];
                file_name(file, format, name);
                if (fuse_lowlevel_notify_delete(
                            news->session, folder, file->ino, name, strlen(name)) < 0)
                        forget_name(news, folder, name);
                after = file->ordinal;
        }
}

/* ---- instances ---- */

/* Of all and of net changes. */
static unsigned file_formats(void)
{
        return cdc_formats() + cdc_net_formats();
}

static void tell_directories(const struct news *news, const struct cdc_instance *instance)
{
        struct node directory, child;
        char name[NODE_NAME_SIZE];
        if (node_resolve(news->current, instance->base_ino, &directory) < 0)
                return;
        forget_attributes(news, instance->base_ino);
        uint64_t cookie = NODE_COOKIE_PARENT;
        while (node_next(news->current, &directory, cookie, &child, name, &cookie) > 0) {
                if (child.kind->type == NODE_DIRECTORY)
                        forget_attributes(news, node_id(&child));
        }
        for (unsigned format = 0; format < file_formats(); format++)
                forget_attributes(news, node_folder_id(instance, format));
}

static void tell_instance(const struct news *news, const struct cdc_instance *former,
        const struct cdc_instance *current)
{
        for (unsigned format = 0; format < file_formats(); format++)
                tell_removed(news, former, current, format, node_folder_id(current, format));
        tell_directories(news, current);
}

static void tell_files(
        const struct news *news, const struct cdc_instance *instance, unsigned format)
{
        const struct cdc_file *file;
        for (uint64_t after = 0;
                (file = cdc_catalog_next_file(news->current, instance, format, after));
                after = file->ordinal)
                fuse_lowlevel_notify_inval_inode(news->session, file->ino, -1, 0);
}

/* Files that are no instance's. */
static void tell_mapping(const struct news *news)
{
        const struct cdc_instance *former = cdc_catalog_mapping(news->former);
        const struct cdc_instance *current = cdc_catalog_mapping(news->current);
        uint64_t table = node_mapping_id(news->current);
        uint64_t transactions = node_transactions_id(news->current);
        if (former && current && former->mtime_ns != current->mtime_ns) {
                tell_removed(news, former, current, CDC_MAPPING_TABLE, table);
                tell_removed(news, former, current, CDC_MAPPING_TRANSACTIONS, transactions);
        }
        /* With the first role they become the owner's. */
        if (current && cdc_catalog_has_roles(news->former) != cdc_catalog_has_roles(news->current))
                tell_files(news, current, CDC_MAPPING_TRANSACTIONS);
        forget_attributes(news, table);
        forget_attributes(news, transactions);
}

static void tell_catalog(const struct news *news)
{
        const struct cdc_instance *instance;
        for (int64_t after = 0; (instance = cdc_catalog_next_instance(news->current, after));
                after = instance->object_id) {
                const struct cdc_instance *former =
                        cdc_catalog_find_object(news->former, instance->object_id);
                if (!former && node_is_probe(instance->directory))
                        forget_name(news, NODE_ROOT_ID, instance->directory);
                else if (former && former->mtime_ns != instance->mtime_ns)
                        tell_instance(news, former, instance);
        }
        for (int64_t after = 0; (instance = cdc_catalog_next_instance(news->former, after));
                after = instance->object_id) {
                if (!cdc_catalog_find_object(news->current, instance->object_id))
                        forget_name(news, NODE_ROOT_ID, instance->directory);
        }
        tell_mapping(news);
        forget_attributes(news, NODE_ROOT_ID);
}

/* The owner changed: of everything, and what the kernel believes for a year may be too open. */
static void tell_owner(const struct news *news)
{
        const struct cdc_instance *instance;
        forget_attributes(news, NODE_ROOT_ID);
        for (int64_t after = 0; (instance = cdc_catalog_next_instance(news->current, after));
                after = instance->object_id) {
                tell_directories(news, instance);
                for (unsigned format = 0; format < file_formats(); format++)
                        tell_files(news, instance, format);
        }
        forget_attributes(news, node_mapping_id(news->current));
        forget_attributes(news, node_transactions_id(news->current));
        if ((instance = cdc_catalog_mapping(news->current))) {
                tell_files(news, instance, CDC_MAPPING_TABLE);
                tell_files(news, instance, CDC_MAPPING_TRANSACTIONS);
        }
}

/* ---- the whole ---- */

void invalidate_begin(struct invalidate *told, struct cdc_view *view)
{
        told->catalog = cdc_view_catalog(view);
        cdc_view_owner(view, &told->uid, &told->gid, &told->mode);
}

int invalidate_news(struct invalidate *told, struct fuse_session *session, struct cdc_view *view)
{
        struct invalidate now;
        invalidate_begin(&now, view);
        struct news news = {.session = session, .former = told->catalog, .current = now.catalog};
        bool is_other_owner =
                now.uid != told->uid || now.gid != told->gid || now.mode != told->mode;
        bool is_other_catalog = now.catalog != told->catalog;
        if (is_other_catalog)
                tell_catalog(&news);
        if (is_other_owner)
                tell_owner(&news);
        cdc_catalog_unref(told->catalog);
        *told = now;
        return is_other_owner || is_other_catalog;
}

void invalidate_end(struct invalidate *told)
{
        cdc_catalog_unref(told->catalog);
        told->catalog = NULL;
}
