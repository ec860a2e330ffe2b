"""The files that are not listed yet, followed while they grow and pass on."""
import hashlib
import mmap
import os
import subprocess
import sys
import threading
import time

from cdctest import Agent, case, main, read_file, wait_until
from mounting import need_fuse, run

need_fuse()

HEADER = b"__$start_lsn,__$seqval,__$operation,__$update_mask,id,v\n"


def start(db, options=()):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    if options:
        db.stop()
        db.agent = Agent(db.path, db.mountpoint)
    return app


def live(db, form="csv", mountpoint=None):
    return os.path.join(mountpoint or db.mountpoint, "main_t", "live", "all." + form)


def listed(db):
    return db.files("main_t")


def ids(data):
    """The ids in whole lines of CSV, in order."""
    return [int(line.split(b",")[4]) for line in data.splitlines(keepends=True)
            if line.endswith(b"\n") and not line.startswith(b"__")]


class Writer:
    """Commits rows with ids that rise, `size` a commit, until it is left."""

    def __init__(self, db, pause=0.01, size=1, text="x" * 50):
        self.connection, self.pause, self.size, self.text = db.connect(), pause, size, text
        self.count = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.stopping.wait(self.pause):
            rows = [(self.count + i, self.text) for i in range(self.size)]
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT INTO t VALUES(?, ?)", rows)
            self.connection.execute("COMMIT")
            self.count += self.size

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


@case("a header alone before the first row, then whole rows at once")
def _(db):
    app = start(db)
    assert read_file(live(db)) == HEADER and read_file(live(db, "jsonl")) == b""
    assert os.stat(live(db, "jsonl")).st_size == 0
    assert sorted(os.listdir(os.path.dirname(live(db)))) == ["all.csv", "all.jsonl"]
    for number in range(5):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        wait_until(lambda n=number: ids(read_file(live(db))) == list(range(n + 1)), 5, "a row")
        wait_until(lambda n=number: read_file(live(db, "jsonl")).count(b"\n") == n + 1, 5, "a row")
        info = os.stat(live(db))
        assert info.st_size == len(read_file(live(db)))
        assert info.st_blocks == (info.st_size + 511) // 512


@case("the closed file has the inode and the bytes of the live one, in both formats")
def _(db):
    app = start(db)
    for number in range(6):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        wait_until(lambda n=number: ids(read_file(live(db)))[-1:] == [n], 5, "the row")
        before = {form: (os.stat(live(db, form)), read_file(live(db, form)))
                  for form in ("csv", "jsonl")}
        held = open(live(db), "rb")
        db.rotate()
        for form, (info, data) in before.items():
            path = db.files("main_t", form)[-1]
            now = os.stat(path)
            assert (now.st_ino, now.st_size) == (info.st_ino, info.st_size), path
            assert now.st_mtime_ns >= info.st_mtime_ns
            assert read_file(path) == data
            assert os.stat(live(db, form)).st_ino != info.st_ino
        assert ids(read_file(live(db))) == []
        with held:
            assert held.read() == before["csv"][1]


@case("B091 an open descriptor and a map of a growing file: no NUL, always a prefix, whole lines")
def _(db):
    start(db)
    with Writer(db, 0.002, 3) as writer:
        wait_until(lambda: writer.count > 10, 10, "rows")
        with open(live(db), "rb") as file:
            previous = b""
            end = time.monotonic() + 5
            while time.monotonic() < end:
                size = os.fstat(file.fileno()).st_size
                data = os.pread(file.fileno(), size + (1 << 20), 0)
                with mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE,
                               prot=mmap.PROT_READ) as view:
                    mapped = view[:size]
                fresh = read_file(live(db))
                for now in (data, mapped):
                    assert now.startswith(previous) and b"\0" not in now
                    assert now.endswith(b"\n") and ids(now)[-1] % 3 == 2, "a torn transaction"
                assert len(data) >= size, f"{size} promised, {len(data)} read"
                assert data.startswith(mapped), "the map differs"
                assert fresh.startswith(data), f"{len(data)}, then {len(fresh)} in a new open"
                previous = data
    wait_until(lambda: len(ids(read_file(live(db)))) == writer.count, 5, "all rows")


FOLLOW = """
import os, sys, time
path, seconds = sys.argv[1], float(sys.argv[2])
end, at, wrong = time.monotonic() + seconds, 0, 0
with open(path, "rb") as file:
    while time.monotonic() < end:
        for descriptor in (file.fileno(), os.open(path, os.O_RDONLY)):
            data = os.pread(descriptor, 1 << 20, at)
            wrong += bool(data) and (b"\\0" in data or data[-1] != 10)
            wrong += os.fstat(descriptor).st_size < at + len(data)
        os.close(descriptor)
        at += len(data) if len(data) > 100000 else 0
        time.sleep(0.002)
print(wrong, at)
"""


@case("B091 many readers of a growing file: no NUL and no torn row for any of them")
def _(db):
    start(db)
    with Writer(db, 0.005, 1, "x" * 2000):
        wait_until(lambda: len(ids(read_file(live(db)))) > 5, 10, "rows")
        readers = [subprocess.Popen([sys.executable, "-c", FOLLOW, live(db, form), "8"],
                                    stdout=subprocess.PIPE)
                   for form in ("csv", "csv", "csv", "jsonl", "jsonl")]
        told = [reader.communicate()[0].split() for reader in readers]
    assert all(wrong == b"0" and int(at) > 20000 for wrong, at in told), told


@case("B098 a descriptor's fstat is of the bytes that it gives")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(0, 'a')")
    wait_until(lambda: ids(read_file(live(db))) == [0], 5, "a row")
    with open(live(db), "rb") as file:
        first = os.fstat(file.fileno()).st_size
        for number in range(1, 51):
            app.execute("BEGIN")
            app.execute("INSERT INTO t VALUES(?, 'b')", (number * 10,))
            app.execute("INSERT INTO t VALUES(?, 'c')", (number * 10 + 1,))
            app.execute("COMMIT")
        data = file.read()
        last = os.fstat(file.fileno()).st_size
        assert first <= len(data) <= last and data.endswith(b"\n")
        assert len(ids(data)) % 2 == 1, "a transaction cut in two"
        wait_until(lambda: len(ids(read_file(live(db)))) == 101, 5, "all rows in a new open")
        data += file.read()
        assert len(ids(data)) == 101 and os.fstat(file.fileno()).st_size == len(data)


@case("tail -F over ten rotations gives every row once, in order")
def _(db):
    start(db)
    # As cdcfs-tree(5) says it. By default tail takes up the next file after 6 s without growth.
    output = os.path.join(db.directory, "tail")
    with open(output, "wb") as file:
        tail = subprocess.Popen(["tail", "-F", "--max-unchanged-stats=1", "-s", "0.1", "-n", "+1",
                                 live(db)], stdout=file, stderr=subprocess.DEVNULL)
    try:
        with Writer(db, 0.01) as writer:
            for _ in range(10):
                number = writer.count
                wait_until(lambda n=number: n in ids(read_file(output)), 10, "tail to follow")
                db.rotate()
        wait_until(lambda: ids(read_file(output))[-1:] == [writer.count - 1], 10, "the last row")
    finally:
        tail.terminate()
        tail.wait()
    found = ids(read_file(output))
    assert found == list(range(writer.count)), sorted(set(range(writer.count)) - set(found))[:20]
    assert read_file(output).count(HEADER) == 11, "a file was left out"
    assert len(listed(db)) == 10


@case("files that close by themselves leave no hole between the listing and live")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    os.makedirs(db.mountpoint)
    db.agent = Agent(db.path, None)
    db.agent.kill()
    run(os.path.join(os.environ["CDC_BUILD"], "fs", "cdcfs"), db.path, db.mountpoint, "-o",
        "segment_size=100000")
    try:
        wait_until(lambda: os.path.exists(live(db)), 10, "a live file")
        with Writer(db, 0.001, 20):
            end = time.monotonic() + 6
            while time.monotonic() < end:
                # Live first: what is missing in it then has its name.
                data = read_file(live(db))
                files = listed(db)
                parts = [read_file(path) for path in files]
                if data in parts:
                    parts = parts[:parts.index(data)]
                else:
                    while parts and ids(parts[-1]) > ids(data) and ids(data):
                        parts.pop()
                found = [number for part in parts + [data] for number in ids(part)]
                assert found == list(range(len(found))), "a hole or a row twice"
        db.rotate()
        assert len(listed(db)) > 5
    finally:
        run("fusermount3", "-u", "-z", db.mountpoint)
        wait_until(lambda: not os.path.exists(db.path + "-cdc-wal"), 20, "the end of the daemon")


@case("a viewer beside the agent shows the same, as soon as it is committed")
def _(db):
    app = start(db)
    viewer = Agent(db.path, os.path.join(db.directory, "second"))
    try:
        wait_until(viewer.is_alive and (lambda: os.path.ismount(viewer.mountpoint)), 10, "a viewer")
        with open(live(db, mountpoint=viewer.mountpoint), "rb") as file:
            data = b""
            for number in range(30):
                app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
                start_time = time.monotonic()
                while number not in ids(data):
                    data += file.read()
                    assert time.monotonic() - start_time < 2, "the viewer is late"
        for form in ("csv", "jsonl"):
            one, two = live(db, form), live(db, form, viewer.mountpoint)
            assert read_file(one) == read_file(two)
            assert os.stat(one).st_ino == os.stat(two).st_ino
            assert os.stat(one).st_mtime_ns == os.stat(two).st_mtime_ns
        db.rotate()
        assert os.stat(live(db)).st_ino == os.stat(live(db, mountpoint=viewer.mountpoint)).st_ino
    finally:
        viewer.stop()


@case("after kill -9 and a remount live goes on where it was")
def _(db):
    app = start(db)
    for number in range(20):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
    wait_until(lambda: len(ids(read_file(live(db)))) == 20, 5, "rows")
    before, data = os.stat(live(db)), read_file(live(db))
    db.kill()
    db.agent = Agent(db.path, db.mountpoint)
    wait_until(lambda: os.path.ismount(db.mountpoint) and os.path.exists(live(db)), 20, "a mount")
    after = os.stat(live(db))
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert after.st_mtime_ns == before.st_mtime_ns and read_file(live(db)) == data
    app.execute("INSERT INTO t VALUES(100, 'a')")
    wait_until(lambda: ids(read_file(live(db)))[-1] == 100, 5, "the next row")
    assert read_file(live(db)).startswith(data)


@case("ten readers in parallel leave ls its time, and each has the same bytes")
def _(db):
    start(db)
    with Writer(db, 0.005, 100, "y" * 200) as writer:
        wait_until(lambda: writer.count > 5000, 30, "rows")
        readers = [subprocess.Popen(
            ["sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do cat '{live(db)}' '{live(db, 'jsonl')}'"
             " >/dev/null || exit 1; done"]) for _ in range(10)]
        longest = 0
        while any(reader.poll() is None for reader in readers):
            begin = time.monotonic()
            os.listdir(os.path.join(db.mountpoint, "main_t"))
            os.listdir(os.path.dirname(live(db)))
            longest = max(longest, time.monotonic() - begin)
            time.sleep(0.01)
        assert all(reader.wait() == 0 for reader in readers)
    print(f"# the longest ls took {longest * 1000:.0f} ms")
    wait_until(lambda: len(ids(read_file(live(db)))) == writer.count, 10, "all rows")
    hashes = {hashlib.sha256(read_file(live(db))).hexdigest() for _ in range(3)}
    assert len(hashes) == 1


@case("a disabled instance takes its live files along, an open one fails whole or is whole")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    wait_until(lambda: ids(read_file(live(db))) == [1], 5, "a row")
    with open(live(db), "rb") as file:
        run(os.path.join(os.environ["CDC_BUILD"], "src", "cli", "cdcctl"), "disable-table",
            db.path, "t", "--capture-instance", "all")
        wait_until(lambda: not os.path.exists(live(db)), 5, "the name to go")
        try:
            assert ids(file.read()) == [1]
        except OSError:
            pass


main()
