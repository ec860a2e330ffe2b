"""The option formats: what is closed, what is listed, and what opens all the same."""
import json
import os

from cdctest import Agent, case, ctl, main, read_file, run_ctl, wait_until
from mounting import need_fuse

need_fuse()

ALL = ["csv", "debezium", "jsonl", "qlik"]


def start(db, formats=None):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", options={"formats": formats} if formats else None)
    return app


def restart(db, formats=None):
    db.stop()
    db.start(options={"formats": formats} if formats else None)


def names(db, *parts):
    return sorted(os.listdir(os.path.join(db.mountpoint, "main_t", *parts)))


def contents(db):
    """{path: what must never change of a listed file}"""
    found = {}
    top = os.path.join(db.mountpoint, "main_t")
    for kind in ("all", "net"):
        for folder, _, files in os.walk(os.path.join(top, kind)):
            for name in files:
                path = os.path.join(folder, name)
                info = os.stat(path)
                found[os.path.relpath(path, top)] = (
                    info.st_ino, info.st_size, info.st_mtime_ns, read_file(path))
    return found


def manifest(db):
    lines = read_file(os.path.join(db.mountpoint, "main_t", "files.csv")).decode().splitlines()[1:]
    return sorted(line.split(",")[1] for line in lines)


@case("by default all four are listed, net changes as csv and jsonl")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    assert names(db, "all") == ALL and names(db, "net") == ["csv", "jsonl"]
    assert len(contents(db)) == 6
    assert len({path.split("/")[-1].split(".")[0] for path in contents(db)}) == 1, "one range"
    assert names(db, "live") == ["all.csv", "all.jsonl"]


@case("what is not listed opens as a range, with the bytes that a listed file would have")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a'), (2, NULL)")
    app.execute("UPDATE t SET v = x'00' WHERE id = 1")
    db.rotate()
    listed = contents(db)
    restart(db, "csv")
    assert names(db, "all") == ["csv"] and names(db, "net") == ["csv"]
    assert names(db, "live") == ["all.csv"]
    assert set(manifest(db)) == {"csv", "net-csv"}
    for path, (_, _, _, data) in listed.items():
        assert read_file(os.path.join(db.mountpoint, "main_t", "range", path)) == data, path
        kept = os.path.exists(os.path.join(db.mountpoint, "main_t", path))
        assert kept == ("csv" in path.split("/")[1]), path
    assert not os.path.exists(os.path.join(db.mountpoint, "main_t", "all", "qlik"))


@case("a format that is added changes nothing that is listed, and begins with the next file")
def _(db):
    app = start(db, "csv:jsonl")
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        db.rotate()
    app.execute("INSERT INTO t VALUES(10, 'open')")
    before = contents(db)
    assert len(before) == 12 and names(db, "all") == ["csv", "jsonl"]
    restart(db)
    assert {path: there for path, there in contents(db).items() if path in before} == before
    assert names(db, "all") == ALL
    db.rotate()
    after = contents(db)
    new = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert sorted(os.path.dirname(path) for path in new) == sorted(
        [f"all/{form}" for form in ALL] + ["net/csv", "net/jsonl"]), new
    assert len({os.path.basename(path).split(".")[0] for path in new}) == 1, "one range"
    app.execute("INSERT INTO t VALUES(11, 'b')")
    db.rotate()
    for form in ALL:
        last = [name.split(".")[0].split("-") for name in names(db, "all", form)[-2:]]
        assert int(last[1][0], 16) == int(last[0][1], 16) + 1, "ranges touch"
    # What came before it was added is one look away.
    first = db.min_lsn("main_t").replace(":", "")
    to = names(db, "all", "qlik")[0][21:41]
    whole = read_file(os.path.join(db.mountpoint, "main_t", "range", "all", "debezium",
                                   f"{first}-{to}.jsonl"))
    assert [json.loads(line)["after"]["id"] for line in whole.splitlines()] == [0, 1, 2, 10]


@case("a format that is taken away is closed no more")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    before = contents(db)
    restart(db, "debezium:csv")
    for number in range(10, 13):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        db.rotate()
    assert names(db, "all") == ["csv", "debezium"] and len(names(db, "all", "csv")) == 4
    restart(db)
    after = contents(db)
    assert {path: after[path] for path in before} == before
    assert len(names(db, "all", "csv")) == len(names(db, "all", "debezium")) == 4
    assert len(names(db, "all", "qlik")) == 2, "what was open then was closed with the others"


@case("a viewer lists what it is told to, an agent without a mount closes what it is told to")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False, options={"formats": "jsonl:qlik"})
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    for formats, wanted in ((None, ALL), ("qlik", ["qlik"]), ("csv:jsonl", ["csv", "jsonl"])):
        viewer = Agent(db.path, db.mountpoint, options={
            "nojobs": True, **({"formats": formats} if formats else {})})
        try:
            wait_until(lambda: os.path.ismount(db.mountpoint), 10, "a mount")
            assert names(db, "all") == wanted, (formats, names(db, "all"))
            for form in wanted:
                assert len(names(db, "all", form)) == (form in ("jsonl", "qlik")), form
        finally:
            viewer.stop()


@case("what is no list of formats is refused")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id)")
    ctl("enable-db", db.path)
    for wrong in ("", "xml", "csv,", "csv:", "CSV"):
        done = run_ctl("agent", db.path, "--formats", wrong)
        assert done.returncode == 2, (wrong, done)
        assert b"csv" in done.stderr, done.stderr


main()
