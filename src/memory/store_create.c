/* SPDX-License-Identifier: MIT
 *
 * store_create: makes the file of a new store.
 *
 * The database is built in memory and written out whole, so that no SQLite connection ever has a
 * half-made or nameless file open. It refuses to know what comes into the store later.
 */
#include "memory/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include "ground/cleanup.h"
#include "memory/sql.h"
#include "memory/state.h"
#include "memory/store_schema.h"

/* Inode numbers stay below 2^52: 24 random bits above a counter of 28. */
enum { INO_COUNTER_BITS = 28, INO_RANDOM_MASK = 0xffffff };

char *store_default_path(const char *source_path)
{
        char *path = NULL;
        _cleanup_free_ char *absolute = realpath(source_path, NULL);
        return asprintf(&path, "%s-cdc", absolute ? absolute : source_path) < 0 ? NULL : path;
}

static int random_bytes(void *bytes, size_t size)
{
        ssize_t got = getrandom(bytes, size, 0);
        return got == (ssize_t)size ? 0 : -EIO;
}

static int insert_state(sqlite3 *db, const struct store_source *source)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        uint8_t store_id[STATE_ID_SIZE];
        uint32_t random = 0;
        int r = random_bytes(store_id, sizeof store_id);
        if (r == 0)
                r = random_bytes(&random, sizeof random);
        if (r < 0)
                return r;
        int64_t base = (int64_t)((random & INO_RANDOM_MASK) | 1) << INO_COUNTER_BITS;
        r = problem_errno(sqlite3_prepare_v2(db,
                "INSERT INTO cdcfs_state(id, store_id, encoding, base_ino, next_ino, source_path,"
                "  source_device, source_inode, page_size) VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?)",
                -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_blob(stmt, 1, store_id, sizeof store_id, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 2, (int)source->encoding);
        sqlite3_bind_int64(stmt, 3, base);
        sqlite3_bind_int64(stmt, 4, base + STATE_INO_COUNT);
        sqlite3_bind_int64(stmt, 6, (int64_t)source->device);
        sqlite3_bind_int64(stmt, 7, (int64_t)source->inode);
        sqlite3_bind_int64(stmt, 8, source->page_size);
        r = sql_bind_path(stmt, 5, source->path);
        return r < 0 ? r : sql_run(stmt);
}

static const char *encoding_name(enum text_encoding encoding)
{
        switch (encoding) {
        case TEXT_UTF16LE:
                return "UTF-16le";
        case TEXT_UTF16BE:
                return "UTF-16be";
        default:
                return "UTF-8";
        }
}

/* The bytes of a new store; the caller frees them with sqlite3_free. */
static int build_image(
        const struct store_source *source, unsigned char **ret_image, sqlite3_int64 *ret_size)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        char pragmas[200];
        int r = problem_errno(sqlite3_open(":memory:", &db));
        if (r < 0)
                return r;
        snprintf(pragmas, sizeof pragmas,
                "PRAGMA page_size = 4096; PRAGMA encoding = '%s'; PRAGMA application_id = %d;"
                "PRAGMA user_version = %d",
                encoding_name(source->encoding), STORE_APPLICATION_ID, STORE_VERSION);
        r = sql_execute(db, pragmas);
        if (r == 0)
                r = store_schema_create(db);
        if (r == 0)
                r = insert_state(db, source);
        if (r < 0)
                return r;
        *ret_image = sqlite3_serialize(db, "main", ret_size, 0);
        if (!*ret_image)
                return -ENOMEM;
        /* File format §1.3.3: 2 = WAL, for reading and for writing. */
        (*ret_image)[18] = (*ret_image)[19] = 2;
        return 0;
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
        while (size > 0) {
                ssize_t written = write(fd, bytes, size);
                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                bytes += written;
                size -= (size_t)written;
        }
        return 0;
}

/* Owner and mode of the source, or less: what cannot be given to its group is given to nobody of
 * the group, and then others may not have what the group lacks. */
static int take_over_rights(int fd, const struct stat *source)
{
        struct stat made;
        if (fstat(fd, &made) < 0)
                return -errno;
        if (made.st_uid != source->st_uid || made.st_gid != source->st_gid) {
                if (fchown(fd, source->st_uid, source->st_gid) < 0)
                        (void)!fchown(fd, (uid_t)-1, source->st_gid);
                if (fstat(fd, &made) < 0)
                        return -errno;
        }
        mode_t mode = source->st_mode & 0666;
        if (made.st_gid != source->st_gid)
                mode &= (mode_t)~0060;
        if (made.st_uid != source->st_uid || made.st_gid != source->st_gid) {
                mode |= 0600;
                mode &= (mode_t)~07 | (source->st_mode >> 3 & 07 & source->st_mode);
        }
        return fchmod(fd, mode) < 0 ? -errno : 0;
}

/* Gives the file its name unless that exists. */
static int publish(const char *temporary, const char *path)
{
        if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS)
                return -errno;
        /* A file system without this flag; a link does not replace anything either. */
        if (link(temporary, path) < 0)
                return -errno;
        (void)unlink(temporary);
        return 0;
}

static int sync_directory(const char *path)
{
        _cleanup_free_ char *copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        char *slash = strrchr(copy, '/');
        if (slash)
                slash[slash == copy] = '\0';
        _cleanup_close_ int fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) < 0)
                return -errno;
        return 0;
}

/* Writes the image under the temporary name, durably. The file is closed again before anybody can
 * know it by its own name, so no lock of SQLite's is lost. */
static int write_image(
        const char *temporary, const struct stat *source, const unsigned char *image, size_t size)
{
        _cleanup_close_ int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        int r = write_all(fd, image, size);
        if (r == 0)
                r = take_over_rights(fd, source);
        if (r == 0 && fsync(fd) < 0)
                r = -errno;
        if (r < 0)
                (void)unlink(temporary);
        return r;
}

static void sqlite_freep(unsigned char **image)
{
        sqlite3_free(*image);
}

static int create(const char *path, const struct store_source *source, const struct stat *stat)
{
        _cleanup_(sqlite_freep) unsigned char *image = NULL;
        _cleanup_free_ char *temporary = NULL;
        sqlite3_int64 size = 0;
        uint64_t random = 0;
        int r = build_image(source, &image, &size);
        if (r == 0)
                r = random_bytes(&random, sizeof random);
        if (r < 0)
                return r;
        if (asprintf(&temporary, "%s-new-%016llx", path, (unsigned long long)random) < 0)
                return -ENOMEM;
        r = write_image(temporary, stat, image, (size_t)size);
        if (r < 0)
                return r;
        r = publish(temporary, path);
        if (r < 0)
                (void)unlink(temporary);
        return r < 0 ? r : sync_directory(path);
}

int store_create(const char *path, const struct store_source *source, struct problem *problem)
{
        struct stat stat_source, stat_store;
        if (stat(source->path, &stat_source) < 0)
                return problem_set(problem, errno, 0, "cannot look at the database '%s': %s",
                        source->path, strerror(errno));
        int r = lstat(path, &stat_store) == 0 ? -EEXIST : create(path, source, &stat_source);
        if (r == -EEXIST)
                return problem_set(problem, EEXIST, 22905,
                        "'%s' is already enabled for change data capture: its store '%s' exists",
                        source->path, path);
        if (r < 0)
                return problem_set(
                        problem, -r, 0, "cannot make the store '%s': %s", path, strerror(-r));
        return 0;
}
