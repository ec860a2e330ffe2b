/* SPDX-License-Identifier: MIT
 *
 * view: read connections, one a thread, and the current catalog of one store.
 *
 * It reads the store and nothing else; of the source it asks owner and mode. It does not know
 * who shows the catalog, nor who wakes whom.
 *
 * One lock, a leaf: it guards the list of connections, the catalog pointer and the owner, and is
 * never held over SQLite.
 */
#include "desk/view.h"

#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "desk/catalog.h"
#include "desk/hint.h"
#include "desk/manifests.h"
#include "faces/content.h"
#include "faces/livefile.h"
#include "ground/cleanup.h"
#include "memory/instances.h"
#include "memory/state.h"

_Static_assert((int)CDC_ROOT_INOS == (int)STATE_INO_COUNT, "numbers of the root");
_Static_assert((int)CDC_INSTANCE_INOS == (int)INSTANCE_INO_COUNT, "numbers of an instance");

struct connection {
        struct cdc_view *view;
        struct store *store;
        bool is_stale; /* the store has changed since the thread last looked for a catalog */
        struct connection *next, *previous;
};

struct cdc_view {
        char *source; /* immutable, as are the next six */
        char *store;
        pthread_key_t key;
        struct content_pool *pool;
        struct livefile_pool *livefiles;
        struct manifests *manifests;
        uint32_t formats; /* that are listed */
        pthread_mutex_t lock;
        struct connection *connections;
        struct cdc_catalog *catalog; /* owns a reference */
        uint32_t uid, gid, mode;
};

/* ---- connections ---- */

static void connection_free(struct connection *connection)
{
        store_close(connection->store);
        free(connection);
}

/* At the end of a thread, which is not inside a call then. */
static void connection_end(void *value)
{
        struct connection *connection = value;
        struct cdc_view *view = connection->view;
        pthread_mutex_lock(&view->lock);
        if (connection->previous)
                connection->previous->next = connection->next;
        else
                view->connections = connection->next;
        if (connection->next)
                connection->next->previous = connection->previous;
        pthread_mutex_unlock(&view->lock);
        connection_free(connection);
}

static int connection_open(
        struct cdc_view *view, struct problem *problem, struct connection **ret_connection)
{
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection)
                return -ENOMEM;
        connection->view = view;
        connection->is_stale = true;
        int r = store_open(view->store, STORE_READ, problem, &connection->store);
        if (r == -ENOENT)
                hint_refuse_disabled(&(struct call_paths){view->source, view->store}, problem);
        if (r == 0)
                r = -pthread_setspecific(view->key, connection);
        if (r < 0) {
                connection_free(connection);
                return r;
        }
        pthread_mutex_lock(&view->lock);
        connection->next = view->connections;
        if (connection->next)
                connection->next->previous = connection;
        view->connections = connection;
        pthread_mutex_unlock(&view->lock);
        *ret_connection = connection;
        return 0;
}

static int view_connection(
        struct cdc_view *view, struct problem *problem, struct connection **ret_connection)
{
        struct connection *connection = pthread_getspecific(view->key);
        if (!connection) {
                int r = connection_open(view, problem, &connection);
                if (r < 0)
                        return r;
        }
        int r = store_changed(connection->store);
        if (r < 0)
                return r;
        connection->is_stale |= r > 0;
        *ret_connection = connection;
        return 0;
}

int view_store(struct cdc_view *view, struct problem *problem, struct store **ret_store)
{
        struct connection *connection = NULL;
        int r = view_connection(view, problem, &connection);
        if (r == 0)
                *ret_store = connection->store;
        return r;
}

const char *view_source(const struct cdc_view *view)
{
        return view->source;
}

struct content_pool *view_pool(struct cdc_view *view)
{
        return view->pool;
}

struct livefile_pool *view_livefiles(struct cdc_view *view)
{
        return view->livefiles;
}

struct manifests *view_manifests(struct cdc_view *view)
{
        return view->manifests;
}

uint32_t view_formats(const struct cdc_view *view)
{
        return view->formats;
}

/* Catalogs to come have it from the present one. */
void cdc_view_list_formats(struct cdc_view *view, uint32_t formats)
{
        view->formats = formats;
        view->catalog->formats = formats;
}

/* ---- the catalog ---- */

static void read_owner(struct cdc_view *view)
{
        struct stat stat_;
        if (stat(view->source, &stat_) < 0 && stat(view->store, &stat_) < 0)
                return;
        pthread_mutex_lock(&view->lock);
        view->uid = stat_.st_uid;
        view->gid = stat_.st_gid;
        view->mode = stat_.st_mode & 0666;
        pthread_mutex_unlock(&view->lock);
}

/* Makes `catalog` the current one, unless another thread has read a newer one meanwhile. Takes
 * its reference over. */
static int install(struct cdc_view *view, struct cdc_catalog *catalog)
{
        struct cdc_catalog *loser = catalog;
        pthread_mutex_lock(&view->lock);
        if (!view->catalog || catalog_is_newer(catalog, view->catalog)) {
                loser = view->catalog;
                view->catalog = catalog;
        }
        pthread_mutex_unlock(&view->lock);
        cdc_catalog_unref(loser);
        return loser != catalog;
}

int cdc_view_refresh(struct cdc_view *view)
{
        struct connection *connection = NULL;
        int r = view_connection(view, NULL, &connection);
        if (r < 0)
                return r;
        read_owner(view);
        if (!connection->is_stale)
                return 0;
        _cleanup_(catalog_unrefp) struct cdc_catalog *current = cdc_view_catalog(view);
        struct cdc_catalog *next = NULL;
        r = catalog_load(connection->store, current, &next);
        if (r >= 0)
                connection->is_stale = false;
        if (r <= 0)
                return r;
        /* Where that fails, reading on tries again. */
        (void)content_pool_keep(view->pool, store_db(connection->store));
        return install(view, next);
}

struct cdc_catalog *cdc_view_catalog(struct cdc_view *view)
{
        pthread_mutex_lock(&view->lock);
        struct cdc_catalog *catalog = view->catalog ? catalog_ref(view->catalog) : NULL;
        pthread_mutex_unlock(&view->lock);
        return catalog;
}

void cdc_view_owner(struct cdc_view *view, uint32_t *ret_uid, uint32_t *ret_gid, uint32_t *ret_mode)
{
        pthread_mutex_lock(&view->lock);
        *ret_uid = view->uid;
        *ret_gid = view->gid;
        *ret_mode = view->mode;
        pthread_mutex_unlock(&view->lock);
}

void cdc_view_instance_owner(struct cdc_view *view, const struct cdc_instance *instance,
        uint32_t *ret_uid, uint32_t *ret_gid, uint32_t *ret_mode)
{
        cdc_view_owner(view, ret_uid, ret_gid, ret_mode);
        if (!instance->has_role)
                return;
        bool has_group = instance->role_gid != UINT32_MAX;
        *ret_mode = has_group ? 0440 : 0400;
        if (has_group)
                *ret_gid = instance->role_gid;
}

const char *cdc_view_store(const struct cdc_view *view)
{
        return view->store;
}

/* ---- life ---- */

static int new_pools(struct cdc_view *view)
{
        _cleanup_free_ char *copy = strdup(view->store);
        if (!copy)
                return -ENOMEM;
        const char *directory = dirname(copy);
        int r = content_pool_new(directory, 0, view, &view->pool);
        if (r == 0)
                r = livefile_pool_new(directory, 0, view, &view->livefiles);
        return r < 0 ? r : manifests_new(&view->manifests);
}

static int view_new(const struct cdc_database *database, struct cdc_view **ret_view)
{
        struct cdc_view *view = calloc(1, sizeof *view);
        if (!view)
                return -ENOMEM;
        int r = -pthread_key_create(&view->key, connection_end);
        if (r < 0) {
                free(view);
                return r;
        }
        pthread_mutex_init(&view->lock, NULL);
        view->formats = UINT32_MAX;
        view->source = strdup(database->source);
        view->store =
                database->store ? strdup(database->store) : store_default_path(database->source);
        r = view->source && view->store ? new_pools(view) : -ENOMEM;
        if (r < 0) {
                cdc_view_close(view);
                return r;
        }
        *ret_view = view;
        return 0;
}

static int first_look(struct cdc_view *view, struct problem *problem)
{
        struct store *store = NULL;
        int r = view_store(view, problem, &store);
        if (r < 0)
                return r;
        r = cdc_view_refresh(view);
        if (r < 0)
                return problem_set(
                        problem, -r, 0, "cannot read '%s': %s", view->store, strerror(-r));
        return 0;
}

int cdc_view_open(const struct cdc_database *database, struct cdc_view **ret_view,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        struct cdc_view *view = NULL;
        int r = view_new(database, &view);
        if (r < 0)
                problem_set(&problem, -r, 0, "%s: %s", database->source, strerror(-r));
        else
                r = first_look(view, &problem);
        if (r < 0) {
                cdc_view_close(view);
                if (ret_error) {
                        ret_error->number = problem.number;
                        memcpy(ret_error->message, problem.message, sizeof ret_error->message);
                }
                return r;
        }
        *ret_view = view;
        return 0;
}

void cdc_view_close(struct cdc_view *view)
{
        if (!view)
                return;
        pthread_key_delete(view->key);
        for (struct connection *connection = view->connections, *next; connection;
                connection = next) {
                next = connection->next;
                connection_free(connection);
        }
        content_pool_free(view->pool);
        livefile_pool_free(view->livefiles);
        manifests_free(view->manifests);
        cdc_catalog_unref(view->catalog);
        pthread_mutex_destroy(&view->lock);
        free(view->source);
        free(view->store);
        free(view);
}
