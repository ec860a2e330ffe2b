"""Mounts that run the capture job, and viewers beside them."""
import os
import subprocess

from cdctest import CDCFS, Agent, case, ctl, is_dead, main, read_file, wait_until
from mounting import need_fuse, run

need_fuse()


def start(db, rows=3):
    """A captured table t with some rows, served by db.agent."""
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for number in range(rows):
        app.execute("INSERT INTO t VALUES(?, ?)", (number, "x" * number))
    return app


def names(mountpoint):
    return sorted(os.listdir(os.path.join(mountpoint, "main_t", "all", "csv")))


def daemons_on(mountpoint):
    """Process numbers of the cdcfs that were started for this mount point."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"cdcfs") and os.fsencode(mountpoint) in words:
            found.append(int(number))
    return found


@case("what rotate closed is there when it returns, in every mount")
def _(db):
    app = start(db)
    viewer = Agent(db.path, os.path.join(db.directory, "second"))
    try:
        wait_until(viewer.is_alive and (lambda: os.path.ismount(viewer.mountpoint)), 10, "a viewer")
        for number in range(100, 120):
            app.execute("INSERT INTO t VALUES(?, 'y')", (number,))
            db.rotate()
            listed = names(db.mountpoint)
            assert len(listed) == number - 99, listed
            assert names(viewer.mountpoint) == listed
            for name in listed:
                path = os.path.join("main_t", "all", "csv", name)
                first, second = (os.path.join(m, path) for m in (db.mountpoint, viewer.mountpoint))
                assert read_file(first) == read_file(second)
                assert os.stat(first).st_ino == os.stat(second).st_ino
        assert "runs the jobs" in viewer.read_log(), viewer.read_log()
        assert len(viewer.read_log().splitlines()) == 1, viewer.read_log()
    finally:
        viewer.stop()
    assert names(db.mountpoint) == listed


@case("the document of the interval tells what only a running engine knows")
def _(db):
    start(db)
    db.rotate()
    text = read_file(os.path.join(db.mountpoint, "validity.json")).decode()
    assert '"caught_up": true' in text and '"as_of": "20' in text, text


@case("ending the mount ends the jobs and leaves no file of ours but the store")
def _(db):
    start(db)
    db.rotate()
    db.stop()
    left = [name for name in os.listdir(db.directory) if "-cdc" in name]
    assert left == ["app.db-cdc"], left


@case("in the background, started by the first, refused by none")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    os.makedirs(db.mountpoint)
    done = subprocess.run([CDCFS, db.path, db.mountpoint], capture_output=True, check=False)
    try:
        assert (done.returncode, done.stderr) == (0, b""), done
        app.execute("INSERT INTO t VALUES(1, 1)")
        db.rotate()
        assert len(names(db.mountpoint)) == 1
        second = os.path.join(db.directory, "second")
        os.mkdir(second)
        done = subprocess.run([CDCFS, db.path, second], capture_output=True, check=False)
        assert done.returncode == 0 and done.stderr.count(b"\n") == 1, done
        assert names(second) == names(db.mountpoint)
        run("fusermount3", "-u", second)
        # The last one out removes the store's log; a viewer may not write, so it must not be that.
        wait_until(lambda: not daemons_on(second), 30, "the end of the viewer")
    finally:
        run("fusermount3", "-u", db.mountpoint)
    wait_until(lambda: not daemons_on(db.mountpoint), 30, "the end of the daemon")
    assert not os.path.exists(db.path + "-cdc-wal")


@case("after kill -9 the next one goes on and shows the same files")
def _(db):
    app = start(db)
    db.rotate()
    before = names(db.mountpoint)
    db.agent.process.kill()
    db.agent.process.wait()
    assert is_dead(db.mountpoint) or os.path.ismount(db.mountpoint)
    app.execute("INSERT INTO t VALUES(1000, 'z')")
    db.start()
    db.rotate()
    assert names(db.mountpoint)[:len(before)] == before
    assert len(names(db.mountpoint)) == len(before) + 1


@case("a database that cannot be captured any more is refused, nothing is mounted")
def _(db):
    app = start(db)
    db.stop()
    assert app.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    for extra in ((), ("-f",)):
        done = subprocess.run([CDCFS, db.path, db.mountpoint, *extra], capture_output=True,
                              timeout=20, check=False)
        assert done.returncode == 3 and done.stderr.count(b"\n") == 1, done
        assert not os.path.ismount(db.mountpoint)
    # What was captured can still be looked at.
    run(CDCFS, db.path, db.mountpoint, "-o", "nojobs")
    try:
        assert "main_t" in os.listdir(db.mountpoint)
    finally:
        run("fusermount3", "-u", db.mountpoint)


@case("instances that are enabled and disabled while it runs come and go")
def _(db):
    app = start(db)
    app.execute("CREATE TABLE u(id INTEGER PRIMARY KEY)")
    ctl("enable-table", db.path, "u")
    assert "main_u" in os.listdir(db.mountpoint)
    app.execute("INSERT INTO u VALUES(1)")
    db.rotate()
    path = os.path.join(db.mountpoint, "main_u", "all", "csv")
    assert len(os.listdir(path)) == 1
    ctl("disable-table", db.path, "u", "--capture-instance", "all")
    assert "main_u" not in os.listdir(db.mountpoint)
    wait_until(lambda: not os.path.exists(path), 3, "the name to go")


main()
