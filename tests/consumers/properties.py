"""What programs that cannot run here rely on, as their settings in cdcfs-recipes(7) say."""
import errno
import json
import os
import re

from cdctest import case, main, read_file, wait_until
from consumers import ROOT
from mounting import need_fuse

need_fuse()


def start(db, files=4):
    """Two tables whose files are closed in turn."""
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("CREATE TABLE u(id INTEGER PRIMARY KEY, v)")
    db.start("t", "u")
    for number in range(files):
        app.execute("INSERT INTO t VALUES(?, ?)", (number, "two\nlines \" and quotes"))
        app.execute("UPDATE t SET v = 1 WHERE id = ?", (number,))
        if number % 2:
            app.execute("DELETE FROM t WHERE id = ?", (number - 1,))
            app.execute("INSERT INTO u VALUES(?, NULL)", (number,))
        db.rotate()
    return app


def listed(db):
    """Paths of all listed files of changes, in the order in which they appeared."""
    found = []
    for instance in ("main_t", "main_u"):
        for folder, _, names in os.walk(os.path.join(db.mountpoint, instance, "all")):
            found += [os.path.join(folder, name) for name in names]
    return sorted(found, key=lambda path: os.stat(path).st_mtime_ns)


def facts(paths):
    return {path: (os.stat(path).st_ino, os.stat(path).st_size, os.stat(path).st_mtime_ns,
                   read_file(path)) for path in paths}


@case("Spark, S3Queue: safe names that rise, whole files that never change")
def _(db):
    app = start(db)
    before = facts(listed(db))
    for path in before:
        assert re.fullmatch(r"[0-9a-f]{20}-[0-9a-f]{20}\.(csv|jsonl)", os.path.basename(path))
    app.execute("INSERT INTO t VALUES(100, 'x')")
    db.rotate()
    after = facts(listed(db))
    assert {path: after[path] for path in before} == before
    for path in set(after) - set(before):
        folder = os.path.dirname(path)
        assert all(os.path.basename(old) < os.path.basename(path)
                   for old in before if os.path.dirname(old) == folder), "a late lower name"
    for path in after:
        data = read_file(path)
        assert data.endswith(b"\n") and len(data) == os.stat(path).st_size, path


@case("NiFi, Airbyte: what appears later has a later time, over all folders")
def _(db):
    app = start(db, 1)
    newest = 0
    known = set()
    for number in range(50, 56):
        app.execute("INSERT INTO u VALUES(?, 1)", (number,))
        if number % 2:
            app.execute("INSERT INTO t VALUES(?, 1)", (number,))
        db.rotate()
        new = [path for path in listed(db) if path not in known]
        times = [os.stat(path).st_mtime_ns for path in new]
        assert new and min(times) > newest and len(set(times)) == len(times)
        newest = max(times)
        known.update(new)


@case("Flink: events have the images that their op wants, and no line is empty")
def _(db):
    start(db)
    seen = set()
    for path in listed(db):
        if "/debezium/" not in path:
            continue
        for line in read_file(path).split(b"\n")[:-1]:
            event = json.loads(line)
            seen.add(event["op"])
            assert (event["before"] is not None) == (event["op"] in "ud"), event
            assert (event["after"] is not None) == (event["op"] in "cu"), event
    assert seen == set("cud")


@case("Vector, Filebeat, OpenTelemetry: no two files of JSON lines begin alike")
def _(db):
    start(db)
    for form in ("jsonl", "debezium"):
        data = [read_file(path) for path in listed(db) if f"/{form}/" in path]
        assert len(data) > 4
        assert len({text.split(b"\n")[0] for text in data}) == len(data)
        if form == "jsonl":
            assert len({text[:64] for text in data}) == len(data), "LSN and number are in front"


@case("Logstash, Fluent Bit, Vector: inode numbers and sizes hold over a remount, and none comes twice")
def _(db):
    start(db)
    before = facts(listed(db))
    inodes = {info[0] for info in before.values()}
    assert len(inodes) == len(before)
    db.stop()
    db.start()
    assert facts(listed(db)) == before
    app = db.connect()
    app.execute("INSERT INTO t VALUES(77, 1)")
    db.rotate()
    new = {os.stat(path).st_ino for path in listed(db) if path not in before}
    assert new and not new & inodes


@case("log shippers: a live file grows by whole lines and is listed under its own number")
def _(db):
    app = start(db, 1)
    live = os.path.join(db.mountpoint, "main_t", "live", "all.jsonl")
    number, data = os.stat(live).st_ino, b""
    for key in range(200, 210):
        app.execute("INSERT INTO t VALUES(?, 'x')", (key,))
        wait_until(lambda k=key: f'"id":{k}'.encode() in read_file(live), 10, "a row")
        now = read_file(live)
        assert now.startswith(data) and now.endswith(b"\n")
        data = now
    db.rotate()
    path = db.files("main_t", "jsonl")[-1]
    assert os.stat(path).st_ino == number and read_file(path) == data


@case("Kafka Connect's SpoolDir: nothing can be moved or made in the mount")
def _(db):
    start(db, 1)
    path = db.files("main_t")[0]
    for what in (lambda: os.rename(path, path + ".done"), lambda: os.unlink(path),
                 lambda: os.mkdir(os.path.join(os.path.dirname(path), "finished")),
                 lambda: open(path, "ab")):
        try:
            what()
        except OSError as error:
            assert error.errno in (errno.EROFS, errno.EACCES, errno.EPERM), error
        else:
            raise AssertionError("the mount lets itself be written to")


@case("the manual names them")
def _(_):
    with open(os.path.join(ROOT, "fs", "cdcfs-recipes.7"), encoding="utf-8") as page:
        text = page.read()
    for tool in ("Spark", "Flink", "Vector", "Fluent Bit", "Logstash", "Filebeat", "NiFi",
                 "Kafka Connect"):
        assert f".It {tool}" in text, tool


main()
