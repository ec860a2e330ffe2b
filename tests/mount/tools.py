"""What copies, archives, lists and reads closed files in the field, on a mount that captures."""
import csv
import hashlib
import io
import mmap
import os
import shutil
import subprocess
import threading
import time

from cdctest import CDCFS, case, main, read_file, wait_until
from mounting import need_fuse, run

need_fuse()


def start(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    return app


def fill(db, app, files=4, rows=200):
    for number in range(files):
        app.execute("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
                    " INSERT INTO t(v) SELECT printf('%d %064d', ?, i) FROM n", (rows - 1, number))
        db.rotate()


def instance(db, *parts):
    return os.path.join(db.mountpoint, "main_t", *parts)


def manifest(db):
    """{path below the instance: its line}"""
    lines = csv.DictReader(io.StringIO(read_file(instance(db, "files.csv")).decode()))
    found = {}
    for line in lines:
        kind, form = ("net", line["format"][4:]) if line["format"].startswith("net-") else (
            "all", line["format"])
        found[os.path.join(kind, form, line["name"])] = line
    return found


def closed_files(root):
    """{path below root: bytes} of all/ and net/"""
    found = {}
    for kind in ("all", "net"):
        for folder, _, names in os.walk(os.path.join(root, kind)):
            for name in names:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, root)] = read_file(path)
    return found


def check_against(lines, files):
    """Every file is as the manifest says; both have the same names."""
    for name, data in files.items():
        line = lines[name]
        assert int(line["bytes"]) == len(data), name
        assert line["sha256"] == hashlib.sha256(data).hexdigest(), name


class Load:
    """Commits rows, and closes files now and then, until it is left."""

    def __init__(self, db, pause=0.01, rotate_every=0.3, size=20):
        self.db, self.pause, self.every, self.size = db, pause, rotate_every, size
        self.connection = db.connect()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.write)]
        if rotate_every:
            self.threads.append(threading.Thread(target=self.rotate))

    def write(self):
        while not self.stopping.wait(self.pause):
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT INTO t(v) VALUES(?)", [("z" * 90,)] * self.size)
            self.connection.execute("COMMIT")

    def rotate(self):
        while not self.stopping.wait(self.every):
            self.db.rotate()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


def stats(root):
    """Everything that must never change of closed files."""
    found = {}
    for path in closed_files(root):
        info = os.stat(os.path.join(root, path))
        found[path] = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_blocks, info.st_mode)
    return found


@case("B088 rsync has nothing to do the second time, after a remount and after kill -9")
def _(db):
    fill(db, start(db))
    copy = os.path.join(db.directory, "copy")
    source = instance(db, "all") + "/"
    run("rsync", "-a", source, copy)
    before, files = stats(instance(db)), closed_files(instance(db))
    assert run("rsync", "-ai", source, copy) == b""
    db.stop()
    db.start()
    assert run("rsync", "-ai", source, copy) == b""
    assert stats(instance(db)) == before
    db.kill()
    db.start()
    assert run("rsync", "-ai", source, copy) == b""
    assert run("rsync", "-aic", source, copy) == b"", "by the bytes"
    assert stats(instance(db)) == before and closed_files(instance(db)) == files
    check_against(manifest(db), files)


@case("files.csv has a line for each file of the listing, always")
def _(db):
    app = start(db)
    assert manifest(db) == {}
    path = instance(db, "files.csv")
    with Load(db, 0.02, 0.1):
        end = time.monotonic() + 4
        while time.monotonic() < end:
            before = closed_files(instance(db))
            lines = manifest(db)
            after = closed_files(instance(db))
            assert set(before) <= set(lines) <= set(after)
            assert os.stat(path).st_size >= len(lines) * 100
    files = closed_files(instance(db))
    lines = manifest(db)
    assert set(lines) == set(files) and len(files) > 10
    check_against(lines, files)
    for name, line in lines.items():
        data = files[name]
        header = 1 if name.endswith(".csv") else 0
        assert int(line["rows"]) == data.count(b"\n") - header, name
        start_lsn, to_lsn = (line[k].replace(":", "") for k in ("from_lsn", "to_lsn"))
        assert line["name"].startswith(f"{start_lsn}-{to_lsn}."), name
        assert line["first_time"] <= line["last_time"] <= line["closed_at"], name
        assert (line["odd_text"], line["resync"], line["renderer"]) == ("0", "0", "1"), name
    db.rotate()
    app.execute("INSERT INTO t(v) VALUES(CAST(x'ff' AS TEXT)), ('fine')")
    db.rotate()
    newest = manifest(db)[os.path.relpath(db.files("main_t")[-1], instance(db))]
    assert (newest["rows"], newest["odd_text"]) == ("2", "1"), newest


def tar(*arguments):
    """A directory in which files appear meanwhile has changed, which tar says; no file has."""
    done = subprocess.run(["tar", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == (1 if lines else 0), done
    for line in lines:
        assert line.endswith(": file changed as we read it") and "." not in line, line


@case("cp -a, tar, tar -S and rclone copy closed files while others close under load")
def _(db):
    app = start(db)
    fill(db, app, 3, 3000)
    copies = {}
    with Load(db):
        for number in range(3):
            for tool in ("cp", "tar", "sparse", "rclone"):
                target = os.path.join(db.directory, f"{tool}{number}")
                os.mkdir(target)
                if tool == "cp":
                    run("cp", "-a", instance(db, "all"), target)
                elif tool == "rclone" and shutil.which("rclone"):
                    run("rclone", "--config", os.devnull, "copy", instance(db, "all"),
                        os.path.join(target, "all"))
                elif tool != "rclone":
                    archive = target + ".tar"
                    tar("-C", instance(db), "-cSf" if tool == "sparse" else "-cf", archive, "all")
                    run("tar", "-C", target, "-xf", archive)
                copies[target] = closed_files(target)
    lines = manifest(db)
    assert len(lines) > 10
    for target, files in copies.items():
        assert files or not shutil.which("rclone"), target
        check_against(lines, files)


@case("B089 sizes are the bytes at the first stat, for every tool and every length")
def _(db):
    app = start(db)
    for rows in (1, 2, 40, 41, 5000, 30000):
        fill(db, app, 1, rows)
    db.stop()
    db.start()
    for name in sorted(manifest(db)):
        path = instance(db, name)
        size = os.stat(path).st_size
        assert size == len(run("cat", path)) == int(run("wc", "-c", path).split()[0]), name
        copy = os.path.join(db.directory, "copy")
        run("cp", path, copy)
        assert os.stat(copy).st_size == size
        run("rsync", path, copy + "2")
        assert os.stat(copy + "2").st_size == size
        assert run("tail", "-c", "1", path) == b"\n"
        assert run("dd", f"if={path}", "bs=1", f"skip={size}", "status=none") == b""
        assert abs(int(run("du", "-B1", path).split()[0]) - size) < 512
        assert run("stat", "-c", "%s %b", path).split() == [
            str(size).encode(), str((size + 511) // 512).encode()]


@case("B092 inode numbers are never given twice, and stay")
def _(db):
    app = start(db)
    numbers = {}
    for round_ in range(3):
        fill(db, app, 15, 1)
        for name in closed_files(instance(db)):
            number = os.stat(instance(db, name)).st_ino
            assert numbers.setdefault(name, number) == number and 0 < number < 2 ** 52, name
        assert len(set(numbers.values())) == len(numbers) >= 30 * (round_ + 1)
        live = os.stat(instance(db, "live", "all.csv")).st_ino
        assert live not in numbers.values()
        for name, number in list(numbers.items())[:3]:
            assert run("find", instance(db), "-inum", str(number)).decode().strip() == instance(
                db, name)
        db.stop()
        db.start()


@case("B094 closed files can be mapped, shared and private, live ones privately")
def _(db):
    app = start(db)
    fill(db, app, 1, 5000)
    app.execute("INSERT INTO t(v) VALUES('open')")
    live = instance(db, "live", "all.csv")
    wait_until(lambda: b"open" in read_file(live), 5, "a row")
    for path in (db.files("main_t")[0], db.files("main_t", "jsonl")[0], live,
                 instance(db, "files.csv"), os.path.join(db.mountpoint, "README.txt")):
        with open(path, "rb") as file:
            for flags in (mmap.MAP_PRIVATE,) + (mmap.MAP_SHARED,) * (path != live):
                with mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ) as view:
                    assert len(view) == os.stat(path).st_size and view[:] == read_file(path)
    db.rotate()
    with open(instance(db, "live", "all.jsonl"), "rb") as file:
        try:
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            raise AssertionError("an empty file was mapped")
        except ValueError:
            pass


@case("B095 after kill -9 with readers the same command mounts again")
def _(db):
    fill(db, start(db), 2, 20000)
    readers = [open(path, "rb") for path in db.files("main_t") + db.files("main_t", "jsonl")]
    before = stats(instance(db))
    db.agent.process.kill()
    db.agent.process.wait()
    for reader in readers:
        begin = time.monotonic()
        try:
            reader.read()
        except OSError:
            pass
        assert time.monotonic() - begin < 2, "a reader hangs"
    done = subprocess.run([CDCFS, db.path, db.mountpoint], capture_output=True, check=False)
    assert done.returncode == 0, done
    assert stats(instance(db)) == before
    second = subprocess.run([CDCFS, db.path, db.mountpoint], capture_output=True, check=False)
    assert second.returncode == 4 and second.stderr, second
    for reader in readers:
        reader.close()
    run("fusermount3", "-u", db.mountpoint)
    assert os.listdir(db.mountpoint) == []
    wait_until(lambda: not os.path.exists(db.path + "-cdc-wal"), 20, "the end of the daemon")
    db.agent.log.close()
    db.agent = None


PREADER = """
import hashlib, os, random, sys
paths, rounds = sys.argv[3:], int(sys.argv[2])
rng = random.Random(int(sys.argv[1]))
whole = {}
for path in paths:
    with open(path, "rb") as file:
        whole[path] = file.read()
fds = [(os.open(path, os.O_RDONLY), whole[path]) for path in paths]
for _ in range(rounds):
    fd, data = rng.choice(fds)
    at, size = rng.randrange(len(data)), rng.randint(1, 100000)
    assert os.pread(fd, size, at) == data[at:at + size], "other bytes"
for path in paths:
    print(path, hashlib.sha256(whole[path]).hexdigest())
"""


@case("B097 50 processes with 1000 random reads each while 100 commits a second arrive")
def _(db):
    fill(db, start(db), 10, 2000)
    paths = db.files("main_t")
    expected = b"".join(f"{path} {hashlib.sha256(read_file(path)).hexdigest()}\n".encode()
                        for path in paths)
    db.stop()
    db.start()
    with Load(db, 0.01, 0.5, 1):
        readers = [subprocess.Popen(
            ["python3", "-c", PREADER, str(number), "1000", *paths], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) for number in range(50)]
        for reader in readers:
            output, errors = reader.communicate(timeout=150)
            assert reader.returncode == 0 and output == expected, errors.decode()[-500:]


def see_in_mc(folder, environment):
    """What mc draws of a folder until F10 ends it."""
    process = subprocess.Popen(
        ["script", "-qec", f"mc -u -x -d '{folder}' /", os.devnull], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**environment, "TERM": "xterm", "COLUMNS": "200", "LINES": "40"})
    time.sleep(1)
    process.stdin.write(b"\x1b0y")
    process.stdin.flush()
    try:
        screen, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        screen, _ = process.communicate()
    return screen


@case("gio lists, tells and reads; mc shows the folder")
def _(db):
    fill(db, start(db), 2, 50)
    path = db.files("main_t")[0]
    environment = {**os.environ, "HOME": db.directory, "XDG_RUNTIME_DIR": db.directory}
    if shutil.which("gio"):
        names = run("gio", "list", instance(db, "all", "csv"), env=environment).decode().split()
        assert sorted(names) == [os.path.basename(p) for p in db.files("main_t")]
        told = run("gio", "info", path, env=environment).decode()
        assert f"size: {os.stat(path).st_size}" in told, told
        assert "type: regular" in told and "text/csv" in told, told
        assert run("gio", "cat", path, env=environment) == read_file(path)
        live = run("gio", "list", "-l", instance(db, "live"), env=environment).decode()
        assert "all.csv" in live and "(regular)" in live, live
    else:
        print("# gio is not here: left out")
    if shutil.which("mc") and shutil.which("script"):
        screen = see_in_mc(instance(db, "all", "csv"), environment)
        # Names are cut to the width of a panel.
        assert b".csv" in screen and b"00000001" in screen, screen[-2000:]
        assert b"annot" not in screen, screen[-2000:]
    else:
        print("# mc is not here: left out")


@case("owner, group and read bits are the source's, enforced by the kernel")
def _(db):
    if os.getuid() != 0:
        print("# not root: left out")
        return
    os.chmod(db.directory, 0o755)
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    os.chown(db.path, 1234, 4321)
    os.chmod(db.path, 0o640)
    os.makedirs(db.mountpoint)
    run(CDCFS, db.path, db.mountpoint, "-o", "allow_other")
    try:
        wait_until(lambda: os.path.exists(instance(db, "live", "all.csv")), 10, "a live file")
        app.execute("INSERT INTO t VALUES(1, 'x')")
        db.rotate()
        for path in (db.files("main_t")[0], instance(db, "live", "all.csv"),
                     instance(db, "files.csv")):
            info = os.stat(path)
            assert (info.st_uid, info.st_gid, info.st_mode & 0o777) == (1234, 4321, 0o440), path
            for ids, code in (((1234, 1234), 0), ((999, 4321), 0), ((999, 999), 1)):
                done = subprocess.run(["cat", path], user=ids[0], group=ids[1], extra_groups=[],
                                      capture_output=True, check=False)
                assert done.returncode == code, (path, ids, done.stderr)
        os.chmod(db.path, 0o644)
        wait_until(lambda: os.stat(db.files("main_t")[0]).st_mode & 0o777 == 0o444, 8, "the mode")
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            line, = [line for line in mounts if f" {db.mountpoint} " in line]
        assert {"default_permissions", "allow_other"} <= set(line.split()[3].split(",")), line
    finally:
        run("fusermount3", "-u", "-z", db.mountpoint)
        wait_until(lambda: not os.path.exists(db.path + "-cdc-wal"), 20, "the end of the daemon")


@case("small files wait for others: 64 KiB or the age of the first change")
def _(db):
    app = db.connect()
    for name in ("large", "middle", "small"):
        app.execute(f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, v)")
    db.enable("large", "middle", "small")
    os.makedirs(db.mountpoint)
    run(CDCFS, db.path, db.mountpoint, "-o", "segment_size=400000,segment_age=4")
    try:
        wait_until(lambda: os.path.exists(os.path.join(db.mountpoint, "main_small/live/all.csv")),
                   10, "live files")
        began = time.monotonic()
        app.execute("INSERT INTO small VALUES(1, 'x')")
        app.executemany("INSERT INTO middle(v) VALUES(?)", [("y" * 1000,)] * 100)
        app.executemany("INSERT INTO large(v) VALUES(?)", [("z" * 1000,)] * 500)
        wait_until(lambda: len(db.files("main_large")) == 1, 5, "a border by size")
        wait_until(lambda: len(db.files("main_middle")) == 1, 2, "100 KB take part")
        if time.monotonic() - began < 3:
            assert db.files("main_small") == [], "one row does not"
        wait_until(lambda: len(db.files("main_small")) == 1, 10, "it is old")
        assert time.monotonic() - began >= 4
        assert b",1,\"x\"\n" in read_file(db.files("main_small")[0])
        for name in ("large", "middle", "small"):
            assert all(os.stat(path).st_size for path in db.files("main_" + name))
    finally:
        run("fusermount3", "-u", "-z", db.mountpoint)
        wait_until(lambda: not os.path.exists(db.path + "-cdc-wal"), 20, "the end of the daemon")


main()
