/* SPDX-License-Identifier: MIT
 *
 * check: looks at a file, its name and its place, and refuses in words.
 *
 * It knows what the engine needs of a source, and refuses to know what is in it.
 */
#include "source/check.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "ground/bytes.h"
#include "ground/cleanup.h"

enum {
        HEADER_SIZE = 100,
        HEADER_PAGE_SIZE = 16,
        HEADER_WRITE_VERSION = 18,
        HEADER_READ_VERSION = 19,
        VERSION_WAL = 2,
        SHARED_FIRST = 0x40000002, /* the bytes SQLite locks to read, os.h */
        SHARED_SIZE = 510,
        LOCK_TRIES = 20,
        LOCK_PAUSE_NS = 50 * 1000 * 1000,
        BUSY_MS = 5000,
};

static const char magic[16] = "SQLite format 3";

/* Files seen by several machines, where SQLite's shared memory and locks do not hold. */
static const struct {
        uint32_t magic;
        const char *name;
} refused_filesystems[] = {
        {0x6969, "NFS"},
        {0xff534d42, "CIFS"},
        {0xfe534d42, "SMB"},
        {0x517b, "SMB"},
        {0x01021997, "9p"},
        {0x65735546, "FUSE or virtiofs"},
        {0x5346414f, "AFS"},
        {0x00c36400, "Ceph"},
        {0x73757245, "Coda"},
        {0x0bd00bd0, "Lustre"},
        {0x47504653, "GPFS"},
        {0x01161970, "GFS2"},
        {0x7461636f, "OCFS2"},
        {0x786f4256, "vboxsf"},
        {0xbacbacbc, "vmhgfs"},
};

int check_filesystem(const char *path, struct problem *problem)
{
        struct statfs st;
        if (statfs(path, &st) < 0)
                return problem_set(problem, errno, 0, "%s: %s", path, strerror(errno));
        for (unsigned i = 0; i < COUNT(refused_filesystems); i++) {
                if ((uint32_t)st.f_type == refused_filesystems[i].magic)
                        return problem_set(problem, ENOTSUP, 0,
                                "%s is on a file system of type %s, where SQLite's shared memory "
                                "and locks are not safe; put it on a local disk",
                                path, refused_filesystems[i].name);
        }
        return 0;
}

static int refuse_system(struct problem *problem, const char *path)
{
        int error = errno;
        return problem_set(problem, error, 0, "%s: %s", path, strerror(error));
}

/* Kind of file and number of names. */
static int check_file(const char *path, const struct stat *st, struct problem *problem)
{
        if (S_ISDIR(st->st_mode))
                return problem_set(
                        problem, EISDIR, 0, "%s is a directory; name the database file", path);
        if (!S_ISREG(st->st_mode))
                return problem_set(problem, ENOTSUP, 0, "%s is no regular file", path);
        if (st->st_size == 0)
                return problem_set(problem, ENOTSUP, 0,
                        "%s is empty (0 bytes), not yet a database; create a table in it first",
                        path);
        if (st->st_nlink > 1)
                return problem_set(problem, ENOTSUP, 0,
                        "%s has %lu hard links; each name would have a log of its own: remove the "
                        "other names",
                        path, (unsigned long)st->st_nlink);
        return 0;
}

static int check_writable(const char *path, struct problem *problem)
{
        if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
                return 0;
        int error = errno;
        return problem_set(problem, error, 0,
                "%s cannot be read and written: %s; run as its owner, or give this user the right",
                path, strerror(error));
}

/* The side files must be writable where they are, or be makeable where they are not. */
static int check_access(const char *path, struct problem *problem)
{
        static const char *const suffixes[] = {"-wal", "-shm"};
        bool is_complete = true;
        int r = check_writable(path, problem);
        for (unsigned i = 0; r == 0 && i < COUNT(suffixes); i++) {
                char name[PATH_MAX];
                snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
                if (faccessat(AT_FDCWD, name, F_OK, AT_EACCESS) == 0)
                        r = check_writable(name, problem);
                else
                        is_complete = false;
        }
        if (r < 0 || is_complete)
                return r;
        _cleanup_free_ char *copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        const char *directory = dirname(copy);
        if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0)
                return 0;
        int error = errno;
        return problem_set(problem, error, 0,
                "%s: the log's files cannot be made in its directory: %s", path, strerror(error));
}

static int parse_header(int fd, struct check *check, struct problem *problem)
{
        uint8_t header[HEADER_SIZE];
        ssize_t size = pread(fd, header, sizeof(header), 0);
        if (size < 0)
                return refuse_system(problem, check->path);
        if (size < HEADER_SIZE || memcmp(header, magic, sizeof(magic)) != 0)
                return problem_set(problem, EBADMSG, 0,
                        "%s is not a SQLite database, or an encrypted one", check->path);
        uint32_t page_size = be16(header + HEADER_PAGE_SIZE);
        check->page_size = page_size == 1 ? 65536 : page_size;
        check->is_wal = header[HEADER_WRITE_VERSION] == VERSION_WAL &&
                        header[HEADER_READ_VERSION] == VERSION_WAL;
        return 0;
}

/* A connection that entered WAL mode with locking_mode=EXCLUSIVE keeps this lock for its life;
 * others only for a moment, as when the last one closes. */
static int check_lock(int fd, const char *path, struct problem *problem)
{
        static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
        for (unsigned i = 0; i < LOCK_TRIES; i++) {
                struct flock lock = {.l_type = F_RDLCK,
                        .l_whence = SEEK_SET,
                        .l_start = SHARED_FIRST,
                        .l_len = SHARED_SIZE};
                if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
                        return 0;
                nanosleep(&pause, NULL);
        }
        return problem_set(problem, EBUSY, 0,
                "%s is locked by another process, with locking_mode=EXCLUSIVE or in a long "
                "transaction; let the application use locking_mode=NORMAL",
                path);
}

static int check_open(struct check *check, struct problem *problem)
{
        struct stat st;
        if (stat(check->path, &st) < 0)
                return refuse_system(problem, check->path);
        int r = check_file(check->path, &st, problem);
        if (r < 0 || (r = check_filesystem(check->path, problem)) < 0)
                return r;
        check->device = st.st_dev;
        check->inode = st.st_ino;
        _cleanup_close_ int fd = open(check->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return refuse_system(problem, check->path);
        r = parse_header(fd, check, problem);
        if (r < 0 || (r = check_lock(fd, check->path, problem)) < 0)
                return r;
        return check_access(check->path, problem);
}

int check_source(const char *path, struct check *ret_check, struct problem *problem)
{
        _cleanup_(check_release) struct check check = {.path = realpath(path, NULL)};
        if (!check.path && errno == ENOENT)
                return problem_set(problem, ENOENT, 0, "there is no database %s", path);
        if (!check.path)
                return refuse_system(problem, path);
        int r = check_open(&check, problem);
        if (r < 0)
                return r;
        *ret_check = check;
        check.path = NULL;
        return 0;
}

int check_is_wal(const struct check *check, struct problem *problem)
{
        if (check->is_wal)
                return 0;
        return problem_set(problem, ENOTSUP, 0,
                "%s is not in WAL mode, and changes are read from the write-ahead log; run cdcctl "
                "enable-db --set-wal (or PRAGMA journal_mode=WAL in the application)",
                check->path);
}

static int ask_for_wal(sqlite3 *db, bool *ret_is_wal)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db, "PRAGMA journal_mode=WAL", -1, &stmt, NULL);
        if (r == SQLITE_OK)
                r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
                return r == SQLITE_DONE ? -EIO : problem_errno(r);
        const char *mode = (const char *)sqlite3_column_text(stmt, 0);
        *ret_is_wal = mode && strcmp(mode, "wal") == 0;
        return 0;
}

int check_set_wal(struct check *check, struct problem *problem)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        int r = sqlite3_open_v2(check->path, &db, SQLITE_OPEN_READWRITE, NULL);
        if (r == SQLITE_OK)
                sqlite3_busy_timeout(db, BUSY_MS);
        r = r == SQLITE_OK ? ask_for_wal(db, &check->is_wal) : problem_errno(r);
        if (r == -EAGAIN || (r == 0 && !check->is_wal))
                return problem_set(problem, EBUSY, 0,
                        "%s cannot be set to WAL mode while another process uses it; stop the "
                        "application for a moment and run this again",
                        check->path);
        if (r < 0)
                return problem_set(problem, -r, 0, "%s cannot be set to WAL mode: %s", check->path,
                        db ? sqlite3_errmsg(db) : strerror(-r));
        return 0;
}

void check_release(struct check *check)
{
        free(check->path);
        check->path = NULL;
}
