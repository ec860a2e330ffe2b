/* SPDX-License-Identifier: MIT
 *
 * node: the table of kinds, and walking it.
 *
 * Places are for ever: a number that a directory or document once had never means another.
 */
#include "node.h"

#include <errno.h>
#include <string.h>

enum {
        KIND_ROOT,
        KIND_README,
        KIND_VALIDITY,
        KIND_MIN_LSN,
        KIND_MAX_LSN,
        KIND_DDL_HISTORY,
        KIND_DDL_HISTORY_JSONL,
        KIND_CDC,
        KIND_CHANGE_TABLES,
        KIND_CAPTURED_COLUMNS,
        KIND_INDEX_COLUMNS,
        KIND_JOBS,
        KIND_SCAN_SESSIONS,
        KIND_ERRORS,
        KIND_PARTITIONS,
        KIND_MAPPING,
        KIND_MAPPING_FILE,
        KIND_TRANSACTIONS,
        KIND_TRANSACTIONS_FILE,
        KIND_INSTANCE,
        KIND_INSTANCE_VALIDITY,
        KIND_INSTANCE_MIN_LSN,
        KIND_INSTANCE_MAX_LSN,
        KIND_INSTANCE_DDL_HISTORY,
        KIND_INSTANCE_DDL_HISTORY_JSONL,
        KIND_INSTANCE_CAPTURED_COLUMNS,
        KIND_INSTANCE_SCHEMA,
        KIND_FILES,
        KIND_ALL,
        KIND_ALL_FORMAT,
        KIND_ALL_FILE,
        KIND_NET,
        KIND_NET_FORMAT,
        KIND_NET_FILE,
        KIND_LIVE,
        KIND_LIVE_FILE,
        KIND_RANGE,
        KIND_RANGE_ALL,
        KIND_RANGE_ALL_FORMAT,
        KIND_RANGE_NET,
        KIND_RANGE_NET_FORMAT,
        KIND_COUNT,
};

#define ROW(name_, type_, parent_, place_, ...)                                                    \
        {                                                                                          \
                .name = name_, .type = type_, .parent = parent_, .place = place_, __VA_ARGS__      \
        }
#define DIRECTORY(name, parent, place) ROW(name, NODE_DIRECTORY, parent, place, .places = 1)
#define DOCUMENT(name, parent, place, number)                                                      \
        ROW(name, NODE_DOCUMENT, parent, place, .places = 1, .document = number)
#define RANGES(parent, place, count, members_)                                                     \
        ROW(NULL, NODE_DIRECTORY, parent, place, .places = count, .members = &members_,            \
                .is_range_folder = true)
#define MEMBERS(type, parent, place, count, members_)                                              \
        ROW(NULL, type, parent, place, .places = count, .members = &members_)

static const struct node_kind kinds[KIND_COUNT] = {
        [KIND_ROOT] = DIRECTORY("", NULL, 1),
        [KIND_README] = DOCUMENT("README.txt", &kinds[KIND_ROOT], 2, CDC_DOCUMENT_README),
        [KIND_VALIDITY] = DOCUMENT("validity.json", &kinds[KIND_ROOT], 3, CDC_DOCUMENT_VALIDITY),
        [KIND_MIN_LSN] = DOCUMENT("min_lsn", &kinds[KIND_ROOT], 4, CDC_DOCUMENT_MIN_LSN),
        [KIND_MAX_LSN] = DOCUMENT("max_lsn", &kinds[KIND_ROOT], 5, CDC_DOCUMENT_MAX_LSN),
        [KIND_DDL_HISTORY] =
                DOCUMENT("ddl_history.csv", &kinds[KIND_ROOT], 6, CDC_DOCUMENT_DDL_HISTORY),
        [KIND_DDL_HISTORY_JSONL] =
                DOCUMENT("ddl_history.jsonl", &kinds[KIND_ROOT], 7, CDC_DOCUMENT_DDL_HISTORY_JSONL),
        [KIND_CDC] = DIRECTORY("cdc", &kinds[KIND_ROOT], 8),
        [KIND_CHANGE_TABLES] =
                DOCUMENT("change_tables.csv", &kinds[KIND_CDC], 16, CDC_DOCUMENT_CHANGE_TABLES),
        [KIND_CAPTURED_COLUMNS] = DOCUMENT(
                "captured_columns.csv", &kinds[KIND_CDC], 17, CDC_DOCUMENT_CAPTURED_COLUMNS),
        [KIND_INDEX_COLUMNS] =
                DOCUMENT("index_columns.csv", &kinds[KIND_CDC], 18, CDC_DOCUMENT_INDEX_COLUMNS),
        [KIND_JOBS] = DOCUMENT("cdc_jobs.csv", &kinds[KIND_CDC], 19, CDC_DOCUMENT_JOBS),
        [KIND_SCAN_SESSIONS] = DOCUMENT(
                "dm_cdc_log_scan_sessions.csv", &kinds[KIND_CDC], 20, CDC_DOCUMENT_SCAN_SESSIONS),
        [KIND_ERRORS] = DOCUMENT("dm_cdc_errors.csv", &kinds[KIND_CDC], 21, CDC_DOCUMENT_ERRORS),
        [KIND_PARTITIONS] = DOCUMENT(
                "attrep_cdc_partitions.csv", &kinds[KIND_CDC], 23, CDC_DOCUMENT_PARTITIONS),
        [KIND_MAPPING] = DIRECTORY("lsn_time_mapping", &kinds[KIND_CDC], 22),
        [KIND_MAPPING_FILE] = MEMBERS(NODE_FILE, &kinds[KIND_MAPPING], 0, 0, node_mapping),
        [KIND_TRANSACTIONS] = DIRECTORY("transactions", &kinds[KIND_ROOT], 9),
        [KIND_TRANSACTIONS_FILE] =
                MEMBERS(NODE_FILE, &kinds[KIND_TRANSACTIONS], 0, 0, node_transactions),

        [KIND_INSTANCE] = MEMBERS(NODE_DIRECTORY, &kinds[KIND_ROOT], 0, 1, node_instances),
        [KIND_INSTANCE_VALIDITY] =
                DOCUMENT("validity.json", &kinds[KIND_INSTANCE], 1, CDC_DOCUMENT_VALIDITY),
        [KIND_INSTANCE_MIN_LSN] =
                DOCUMENT("min_lsn", &kinds[KIND_INSTANCE], 2, CDC_DOCUMENT_MIN_LSN),
        [KIND_INSTANCE_MAX_LSN] =
                DOCUMENT("max_lsn", &kinds[KIND_INSTANCE], 3, CDC_DOCUMENT_MAX_LSN),
        [KIND_INSTANCE_DDL_HISTORY] =
                DOCUMENT("ddl_history.csv", &kinds[KIND_INSTANCE], 4, CDC_DOCUMENT_DDL_HISTORY),
        [KIND_INSTANCE_DDL_HISTORY_JSONL] = DOCUMENT(
                "ddl_history.jsonl", &kinds[KIND_INSTANCE], 8, CDC_DOCUMENT_DDL_HISTORY_JSONL),
        [KIND_INSTANCE_CAPTURED_COLUMNS] = DOCUMENT(
                "captured_columns.csv", &kinds[KIND_INSTANCE], 9, CDC_DOCUMENT_CAPTURED_COLUMNS),
        [KIND_INSTANCE_SCHEMA] =
                DOCUMENT("schema.json", &kinds[KIND_INSTANCE], 10, CDC_DOCUMENT_SCHEMA),
        [KIND_FILES] = DOCUMENT("files.csv", &kinds[KIND_INSTANCE], 15, CDC_DOCUMENT_FILES),
        [KIND_ALL] = DIRECTORY("all", &kinds[KIND_INSTANCE], 16),
        [KIND_ALL_FORMAT] = MEMBERS(NODE_DIRECTORY, &kinds[KIND_ALL], 24, 8, node_formats),
        [KIND_ALL_FILE] = MEMBERS(NODE_FILE, &kinds[KIND_ALL_FORMAT], 0, 0, node_files),
        [KIND_NET] = MEMBERS(NODE_DIRECTORY, &kinds[KIND_INSTANCE], 18, 1, node_net),
        [KIND_NET_FORMAT] = MEMBERS(NODE_DIRECTORY, &kinds[KIND_NET], 34, 6, node_net_formats),
        [KIND_NET_FILE] = MEMBERS(NODE_FILE, &kinds[KIND_NET_FORMAT], 0, 0, node_files),
        [KIND_LIVE] = DIRECTORY("live", &kinds[KIND_INSTANCE], 17),
        [KIND_LIVE_FILE] = MEMBERS(NODE_LIVE, &kinds[KIND_LIVE], 0, 0, node_live),
        [KIND_RANGE] = DIRECTORY("range", &kinds[KIND_INSTANCE], 40),
        [KIND_RANGE_ALL] = DIRECTORY("all", &kinds[KIND_RANGE], 41),
        [KIND_RANGE_ALL_FORMAT] = RANGES(&kinds[KIND_RANGE_ALL], 48, 8, node_formats),
        [KIND_RANGE_NET] = MEMBERS(NODE_DIRECTORY, &kinds[KIND_RANGE], 42, 1, node_net),
        [KIND_RANGE_NET_FORMAT] = RANGES(&kinds[KIND_RANGE_NET], 58, 6, node_net_formats),
};

/* ---- numbers ---- */

/* Where the block begins that the number of a node of this kind is in. */
static uint64_t block_of(const struct cdc_catalog *catalog, const struct node *node)
{
        return node->instance ? node->instance->base_ino : cdc_catalog_base_ino(catalog);
}

static bool is_of_instance(const struct node_kind *kind)
{
        while (kind && kind != &kinds[KIND_INSTANCE])
                kind = kind->parent;
        return kind;
}

static bool is_net(const struct node_kind *kind)
{
        while (kind && kind->members != &node_net)
                kind = kind->parent;
        return kind;
}

/* The format that stands at the first place of a kind that has folders of formats. */
static unsigned first_format(const struct node_kind *kind)
{
        return kind->places > 1 && is_net(kind) ? cdc_formats() : 0;
}

static void number(const struct cdc_catalog *catalog, struct node *node)
{
        if (node->file)
                node->ino = node->file->ino;
        else if (node->kind->type != NODE_LIVE)
                node->ino = block_of(catalog, node) + node->kind->place + node->format -
                            first_format(node->kind);
}

bool node_is_root(const struct node *node)
{
        return node->kind == &kinds[KIND_ROOT];
}

bool node_is_range_folder(const struct node *node)
{
        return node->kind->is_range_folder;
}

bool node_is_of_transactions(const struct node *node)
{
        return node->kind == &kinds[KIND_TRANSACTIONS] ||
               node->kind == &kinds[KIND_TRANSACTIONS_FILE];
}

bool node_is_live_directory(const struct node *node)
{
        return node->kind == &kinds[KIND_LIVE];
}

uint64_t node_id(const struct node *node)
{
        return node_is_root(node) ? NODE_ROOT_ID : node->ino;
}

/* A format that the kind has folders of; 0 for what is of none. */
static bool has_format(const struct node_kind *kind, unsigned format)
{
        if (kind->places <= 1)
                return format == 0;
        if (!is_net(kind))
                return format < cdc_formats();
        return format >= cdc_formats() && format < cdc_formats() + cdc_net_formats();
}

/* The directory or document at a place of a block. */
static int resolve_place(uint64_t place, struct node *node)
{
        for (unsigned i = 0; i < KIND_COUNT; i++) {
                const struct node_kind *kind = &kinds[i];
                if (is_of_instance(kind) != !!node->instance || place < kind->place ||
                        place - kind->place >= kind->places)
                        continue;
                node->kind = kind;
                node->format = (unsigned)(place - kind->place) + first_format(kind);
                if (is_net(kind) && !node->instance->supports_net_changes)
                        return -ESTALE;
                return has_format(kind, node->format) ? 0 : -ESTALE;
        }
        return -ESTALE;
}

static const struct node_kind *kind_of_file(const struct cdc_file *file)
{
        if (file->is_mapping)
                return &kinds[file->format == CDC_MAPPING_TABLE ? KIND_MAPPING_FILE
                                                                : KIND_TRANSACTIONS_FILE];
        return &kinds[file->format < cdc_formats() ? KIND_ALL_FILE : KIND_NET_FILE];
}

int node_resolve(const struct cdc_catalog *catalog, uint64_t id, struct node *ret_node)
{
        struct node node = {.ino = id};
        uint64_t base = cdc_catalog_base_ino(catalog);
        int r = 0;
        if (id == NODE_ROOT_ID) {
                node.kind = &kinds[KIND_ROOT];
                number(catalog, &node);
        } else if (id >= base && id - base < CDC_ROOT_INOS) {
                r = resolve_place(id - base, &node);
        } else if ((node.file = cdc_catalog_find_ino(catalog, id))) {
                node.kind = kind_of_file(node.file);
                node.format = node.file->format;
                (void)cdc_catalog_find_owner(catalog, id, &node.instance);
        } else if ((node.instance = cdc_catalog_find_live(catalog, id, &node.format))) {
                node.kind = &kinds[KIND_LIVE_FILE];
        } else {
                node.instance = cdc_catalog_find_block(catalog, id);
                r = node.instance ? resolve_place(id - node.instance->base_ino, &node) : -ESTALE;
        }
        if (r == 0)
                *ret_node = node;
        return r;
}

uint64_t node_mapping_id(const struct cdc_catalog *catalog)
{
        return cdc_catalog_base_ino(catalog) + kinds[KIND_MAPPING].place;
}

uint64_t node_transactions_id(const struct cdc_catalog *catalog)
{
        return cdc_catalog_base_ino(catalog) + kinds[KIND_TRANSACTIONS].place;
}

uint64_t node_folder_id(const struct cdc_instance *instance, unsigned format)
{
        const struct node_kind *kind =
                &kinds[format < cdc_formats() ? KIND_ALL_FORMAT : KIND_NET_FORMAT];
        return instance->base_ino + kind->place + format - first_format(kind);
}

/* ---- names ---- */

/* A child that inherits what its directory stands for. */
static struct node child_of(const struct node *directory, const struct node_kind *kind)
{
        return (struct node){
                .kind = kind, .instance = directory->instance, .format = directory->format};
}

int node_find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *ret_child)
{
        for (unsigned i = 0; i < KIND_COUNT; i++) {
                const struct node_kind *kind = &kinds[i];
                struct node child = child_of(directory, kind);
                if (kind->parent != directory->kind)
                        continue;
                if (kind->name ? strcmp(kind->name, name) != 0
                               : !kind->members->find(catalog, directory, name, &child))
                        continue;
                number(catalog, &child);
                *ret_child = child;
                return 0;
        }
        return -ENOENT;
}

static struct node parent_of(const struct cdc_catalog *catalog, const struct node *node)
{
        struct node parent = *node;
        if (node->kind->parent)
                parent.kind = node->kind->parent;
        if (!is_of_instance(parent.kind))
                parent.instance = NULL;
        if (parent.kind->places <= 1)
                parent.format = 0;
        number(catalog, &parent);
        return parent;
}

static int next_named(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t cookie, struct node *ret_child, char ret_name[NODE_NAME_SIZE],
        uint64_t *ret_cookie)
{
        for (uint64_t i = cookie - NODE_COOKIE_PARENT; i < KIND_COUNT; i++) {
                if (kinds[i].parent != directory->kind || !kinds[i].name)
                        continue;
                *ret_child = child_of(directory, &kinds[i]);
                number(catalog, ret_child);
                strcpy(ret_name, kinds[i].name);
                *ret_cookie = i + NODE_COOKIE_PARENT + 1;
                return 1;
        }
        return 0;
}

static int next_member(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t after, struct node *ret_child, char ret_name[NODE_NAME_SIZE], uint64_t *ret_cookie)
{
        for (unsigned i = 0; i < KIND_COUNT; i++) {
                const struct node_kind *kind = &kinds[i];
                struct node child = child_of(directory, kind);
                uint64_t ordinal = 0;
                if (kind->parent != directory->kind || !kind->members ||
                        !kind->members->next(catalog, directory, after, &child, &ordinal))
                        continue;
                number(catalog, &child);
                kind->members->name(&child, ret_name);
                *ret_child = child;
                *ret_cookie = NODE_COOKIE_MEMBERS + ordinal;
                return 1;
        }
        return 0;
}

int node_next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t cookie,
        struct node *ret_child, char ret_name[NODE_NAME_SIZE], uint64_t *ret_cookie)
{
        if (cookie < NODE_COOKIE_PARENT) {
                *ret_child = cookie == 0 ? *directory : parent_of(catalog, directory);
                strcpy(ret_name, cookie == 0 ? "." : "..");
                *ret_cookie = cookie + 1;
                return 1;
        }
        if (cookie < NODE_COOKIE_MEMBERS &&
                next_named(catalog, directory, cookie, ret_child, ret_name, ret_cookie))
                return 1;
        uint64_t after = cookie > NODE_COOKIE_MEMBERS ? cookie - NODE_COOKIE_MEMBERS : 0;
        return next_member(catalog, directory, after, ret_child, ret_name, ret_cookie);
}

bool node_is_probe(const char *name)
{
        static const char *const names[] = {".Trash", ".hidden", ".git", ".directory",
                ".xdg-volume-info", "autorun.inf", "desktop.ini"};
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
                if (strcmp(names[i], name) == 0)
                        return true;
        }
        return strncmp(name, ".Trash-", 7) == 0;
}

int64_t node_mtime(const struct cdc_catalog *catalog, const struct node *node)
{
        if (node->file)
                return node->file->mtime_ns;
        return node->instance ? node->instance->mtime_ns : cdc_catalog_mtime(catalog);
}
