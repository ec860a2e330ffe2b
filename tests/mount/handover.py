"""One process runs the jobs, and the next one takes over from it without a pause."""
import os
import signal
import subprocess

from cdctest import CDCFS, case, ctl, is_dead, main, read_file, wait_until
from mounting import need_fuse, run

need_fuse()


def prepare(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    os.makedirs(db.mountpoint)
    return app


def daemons(mountpoint):
    """Processes that serve, or served just now, a mount there."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = read_file(f"/proc/{name}/cmdline").split(b"\0")
        except OSError:
            continue
        if words[0] == CDCFS.encode() and mountpoint.encode() in words:
            found.append(int(name))
    return found


def mount(db, mountpoint=None):
    """cdcfs in the background, which runs the jobs: it says nothing."""
    done = subprocess.run([CDCFS, db.path, mountpoint or db.mountpoint], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done


def finish(db, mountpoint=None):
    path = mountpoint or db.mountpoint
    if os.path.ismount(path) or is_dead(path):
        subprocess.run(["fusermount3", "-u", "-z", path], check=False)
    wait_until(lambda: not daemons(path), 20, "the end of the daemon")


def expect_rows(db, count):
    db.rotate()
    lines = run("sh", "-c", f"cat '{db.mountpoint}'/main_t/all/jsonl/*").splitlines()
    assert len(lines) == count, (len(lines), count)
    assert db.store().execute("SELECT count(*) FROM cdcfs_gaps").fetchone() == (0,)


@case("a mount straight after an unmount captures, on the same directory and on another")
def _(db):
    app = prepare(db)
    other = os.path.join(db.directory, "other")
    os.mkdir(other)
    try:
        for number in range(10):
            mount(db)
            app.execute("INSERT INTO t(v) VALUES(?)", (number,))
            db.rotate()
            run("fusermount3", "-u", db.mountpoint)
            mount(db, other)
            run("fusermount3", "-u", other)
        mount(db)
        app.execute("INSERT INTO t(v) VALUES('last')")
        # The first INSERT may have come before the table was captured first.
        expect_rows(db, 11)
    finally:
        finish(db, other)
        finish(db)


@case("a mount straight after kill -9 takes away the dead one and captures")
def _(db):
    app = prepare(db)
    try:
        mount(db)
        for number in range(10):
            app.execute("INSERT INTO t(v) VALUES(?)", (number,))
            pid, = daemons(db.mountpoint)
            os.kill(pid, signal.SIGKILL)
            mount(db)
        expect_rows(db, 10)
    finally:
        finish(db)


@case("an agent straight after an unmount is not refused")
def _(db):
    prepare(db)
    try:
        mount(db)
        run("fusermount3", "-u", db.mountpoint)
        db.start(mount=False)
        db.stop()
    finally:
        finish(db)


@case("the database is disabled straight after an unmount")
def _(db):
    prepare(db)
    try:
        for _ in range(5):
            mount(db)
            run("fusermount3", "-u", db.mountpoint)
            ctl("disable-db", db.path)
            db.enable("t")
    finally:
        finish(db)


@case("one store is written for one database")
def _(db):
    prepare(db)
    other = os.path.join(db.directory, "other.db")
    second = os.path.join(db.directory, "second")
    os.mkdir(second)
    run("sqlite3", other, "PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v)")

    def refuse(words):
        done = subprocess.run([CDCFS, other, second, "-o", f"store={db.path}-cdc"],
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                              check=False)
        assert done.returncode == 3 and words in done.stderr.decode(), done
        assert not os.path.ismount(second)

    db.start(mount=False)
    refuse(f"process {db.agent.process.pid} runs the jobs of the store {db.path}-cdc")
    db.stop()
    refuse(f"belongs to the database {db.path}")
    assert db.store().execute("SELECT count(*) FROM cdcfs_gaps").fetchone() == (0,)


@case("beside an agent that does not answer a mount is a viewer")
def _(db):
    prepare(db)
    db.start(mount=False)
    db.agent.pause()
    try:
        done = subprocess.run([CDCFS, db.path, db.mountpoint], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)
        assert done.returncode == 0 and b"this mount shows" in done.stderr, done
        assert str(db.agent.process.pid).encode() in done.stderr, done
    finally:
        db.agent.resume()
        finish(db)


main()
