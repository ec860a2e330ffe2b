"""Who may read what: the source's owner, group and read bits, and the group of a role."""
import contextlib
import grp
import os
import pwd
import stat
import sys

from cdctest import CDCFS, case, ctl, main, wait_until
from mounting import need_fuse, run

need_fuse()
if os.getuid() != 0:
    print("1..0 # SKIP only root can be other users")
    sys.exit(0)

ROLE = grp.getgrnam("daemon")
SOURCES = grp.getgrnam("bin")
STRANGER = pwd.getpwnam("nobody")


@contextlib.contextmanager
def served(db, mode, *options):
    """Tables t, open to all who read the source, and s with a role; mounted for all users."""
    app = db.connect()
    for table in ("t", "s"):
        app.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, v)")
    os.chmod(db.directory, 0o755)
    os.chown(db.path, 0, SOURCES.gr_gid)
    os.chmod(db.path, mode)
    db.enable("t", options=options)
    ctl("enable-table", db.path, "s", "--role", ROLE.gr_name)
    os.makedirs(db.mountpoint)
    run(CDCFS, db.path, db.mountpoint, "-o", "allow_other")
    try:
        for name in ("main_t", "main_s"):
            wait_until(lambda n=name: db.min_lsn(n), 10, "an instance recognised")
        for table in ("t", "s"):
            app.execute(f"INSERT INTO {table} VALUES(1, 'x')")
        db.rotate()
        for table in ("t", "s"):
            app.execute(f"INSERT INTO {table} VALUES(2, 'y')")
        db.rotate()
        yield
    finally:
        run("fusermount3", "-u", db.mountpoint)
        wait_until(lambda: not os.path.exists(db.path + "-cdc-wal"), 10, "the end of the daemon")


def paths_of(db, instance):
    """A directory and a file of each kind."""
    root = os.path.join(db.mountpoint, instance)
    listed = os.listdir(os.path.join(root, "all", "csv"))
    first, last = db.min_lsn(instance).replace(":", ""), db.max_lsn().replace(":", "")
    files = [os.path.join(root, *parts) for parts in (
        ("validity.json",), ("min_lsn",), ("files.csv",), ("schema.json",), ("ddl_history.csv",),
        ("all", "csv", listed[0]), ("net", "csv", listed[0]),
        ("live", "all.csv"), ("live", "all.jsonl"),
        ("range", "all", "csv", f"{first}-{last}.csv"),
        ("range", "net", "jsonl", f"{first}-{last}.jsonl"))]
    folders = [root] + [os.path.join(root, *parts) for parts in (
        ("all",), ("all", "csv"), ("net", "jsonl"), ("live",), ("range",), ("range", "all", "csv"))]
    return folders, files


def can_read(path, gid):
    """As a user of that group alone, who is not the owner."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(STRANGER.pw_uid)
            if os.path.isdir(path):
                os.listdir(path)
            else:
                with open(path, "rb") as file:
                    file.read()
            code = 0
        except PermissionError:
            code = 2
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 2), (path, gid, code)
    return code == 0


def look(path):
    found = os.stat(path)
    with open(path, "rb") if not os.path.isdir(path) else contextlib.nullcontext() as file:
        again = os.fstat(file.fileno()) if file else os.stat(path)
    assert (found.st_mode, found.st_uid, found.st_gid) == (
        again.st_mode, again.st_uid, again.st_gid), path
    return oct(stat.S_IMODE(found.st_mode)), found.st_uid, found.st_gid


@case("everything of a role is its group's: directories 0550, files 0440")
def _(db):
    for mode in (0o644, 0o600):
        with served(db, mode):
            folders, files = paths_of(db, "main_s")
            assert {path: look(path) for path in folders} == dict.fromkeys(
                folders, ("0o550", 0, ROLE.gr_gid))
            assert {path: look(path) for path in files} == dict.fromkeys(
                files, ("0o440", 0, ROLE.gr_gid))
        for suffix in ("", "-cdc", "-cdc-wal", "-wal", "-shm"):
            if os.path.exists(db.path + suffix):
                os.unlink(db.path + suffix)
        os.rmdir(db.mountpoint)


@case("without a role it has the source's owner, group and read bits")
def _(db):
    with served(db, 0o640):
        folders, files = paths_of(db, "main_t")
        assert {path: look(path) for path in folders} == dict.fromkeys(
            folders, ("0o550", 0, SOURCES.gr_gid))
        assert {path: look(path) for path in files} == dict.fromkeys(
            files, ("0o440", 0, SOURCES.gr_gid))
        # The source is opened to all: so is what has no role, and nothing else.
        os.chmod(db.path, 0o644)
        secret, _ = paths_of(db, "main_s")
        wait_until(lambda: look(folders[0])[0] == "0o555", 30, "the new mode")
        wait_until(lambda: {look(path)[0] for path in folders} == {"0o555"}, 10, "folders")
        wait_until(lambda: {look(path)[0] for path in files} == {"0o444"}, 10, "files")
        assert {look(path)[0] for path in secret} == {"0o550"}


@case("members of the role read it, whoever may read the source; others do not")
def _(db):
    with served(db, 0o640):
        for instance, granted, refused in (("main_s", ROLE, SOURCES), ("main_t", SOURCES, ROLE)):
            folders, files = paths_of(db, instance)
            for path in folders + files:
                wait_until(lambda p=path: can_read(p, granted.gr_gid), 10, path)
                assert not can_read(path, refused.gr_gid), path
                assert not can_read(path, STRANGER.pw_gid), path
        # It opens nothing but its instance.
        for name in ("", "validity.json", "cdc", "transactions", "ddl_history.csv"):
            assert not can_read(os.path.join(db.mountpoint, name), ROLE.gr_gid), name
        os.chmod(db.path, 0o644)
        wait_until(lambda: can_read(db.mountpoint, STRANGER.pw_gid), 30, "the new mode")
        assert not can_read(os.path.join(db.mountpoint, "main_s"), STRANGER.pw_gid)
        assert not can_read(os.path.join(db.mountpoint, "transactions"), ROLE.gr_gid)


@case("the store is the owner's alone as soon as there is a role")
def _(db):
    with served(db, 0o644):
        for suffix in ("-cdc", "-cdc-wal", "-cdc-shm"):
            assert stat.S_IMODE(os.stat(db.path + suffix).st_mode) == 0o600, suffix


main()
