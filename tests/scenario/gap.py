#!/usr/bin/env python3
"""What the log no longer holds is a gap on record: ranges over it fail, all else stays right."""
import json
import os
import signal
import subprocess
import sys

from cdctest import case, main, read_file, run_ctl, wait_until
from changes import commits, read_csv


def checkpoint(app, mode):
    wait_until(lambda: app.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0] == 0,
               10, f"a {mode} checkpoint that succeeds")


def after(lsn):
    """The LSN after it, as text."""
    digits = f"{int(lsn.replace(':', ''), 16) + 1:020x}"
    return f"{digits[:8]}:{digits[8:16]}:{digits[16:]}"


def gaps(db):
    """[(from, to)], the same in every place that tells them."""
    status = db.status()
    told = [value for name, value in status.items() if "gap" in name]
    assert told and told != ["0"], status
    if not db.mountpoint:
        return None
    result = []
    for path in ("validity.json", "main_t/validity.json"):
        document = json.loads(read_file(os.path.join(db.mountpoint, path)))
        result.append([(gap["from"], gap["to"]) for gap in document["gaps"]])
        assert all(gap["cause"] and gap["time"] for gap in document["gaps"]), document
    assert result[0] == result[1]
    return result[0]


def has_no_gap(db):
    if db.mountpoint:
        document = json.loads(read_file(os.path.join(db.mountpoint, "validity.json")))
        return document["gaps"] == []
    return True


def check_around_the_gap(db, before, before_csv, last_captured, after_gap):
    """Ranges before the gap are as they were and over it they fail. After it stands after_gap, a
    list of commits, or the end of it, which is returned (None where there is no mount to ask)."""
    first, last_before = db.min_lsn("main_t"), before[-1].lsn
    assert db.get_changes("main_t", first, last_before) == before_csv
    found = gaps(db)
    start = after(last_captured or last_before)
    for low, high in ((first, db.max_lsn()), (last_before, db.max_lsn()), (first, start),
                      (start, start), (start, db.max_lsn())):
        done = run_ctl("get-all-changes", db.path, "main_t", low, high)
        assert done.returncode == 1 and not done.stdout, (low, high, done)
        assert b"gap" in done.stderr, done.stderr
    if found is None:
        return None
    [(gap_from, gap_to)] = found
    assert gap_from == start, (gap_from, start)
    _, rows = read_csv(db.get_changes("main_t", after(gap_to), db.max_lsn()))
    seen = commits(rows)
    assert seen == after_gap[len(after_gap) - len(seen):], seen
    return seen


def files_of(db):
    return {path: read_file(path) for path in db.files("main_t")} if db.mountpoint else {}


@case("stopped, committed, TRUNCATE, started: a gap, and later changes right")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for i in range(1, 11):
        app.execute("INSERT INTO t VALUES(?,'before')", (i,))
    before = db.changes("main_t")
    before_csv = db.get_changes("main_t", db.min_lsn("main_t"), before[-1].lsn)
    first, files = db.min_lsn("main_t"), files_of(db)
    db.stop()
    for i in range(11, 111):
        app.execute("INSERT INTO t VALUES(?,'lost')", (i,))
    checkpoint(app, "TRUNCATE")
    for i in range(111, 121):
        app.execute("INSERT INTO t VALUES(?,'on the edge')", (i,))
    db.start()
    app.execute("UPDATE t SET v='after' WHERE id IN (1, 50, 115)")
    app.execute("DELETE FROM t WHERE id=2")
    db.rotate()
    assert db.min_lsn("main_t") == first, "min_lsn moved"
    later = [[(3, 1, "before"), (4, 1, "after"), (3, 50, "lost"), (4, 50, "after"),
              (3, 115, "on the edge"), (4, 115, "after")], [(1, 2, "before")]]
    edge = [[(2, i, "on the edge")] for i in range(111, 121)]
    seen = check_around_the_gap(db, before, before_csv, before[-1].lsn, edge + later)
    if seen is not None:
        assert len(seen) >= len(later)
        now = files_of(db)
        assert files.items() <= now.items(), "a file from before the gap changed"
        [(_, end)] = gaps(db)
        [new] = sorted(now.keys() - files.keys())
        assert os.path.basename(new).startswith(after(end).replace(":", "") + "-"), new


@case("stopped, committed without a checkpoint, started: nothing is missing, no gap")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    app.execute("INSERT INTO t VALUES(1,'before')")
    db.rotate()
    db.stop()
    for i in range(2, 12):
        app.execute("INSERT INTO t VALUES(?,'meanwhile')", (i,))
    db.start()
    app.execute("INSERT INTO t VALUES(12,'after')")
    rows = db.check_replay("main_t", "t")
    assert [r.values[0] for r in rows] == list(range(1, 13))
    assert has_no_gap(db)


APPLICATION = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    print(c.execute(line).fetchall(), flush=True)
"""


def application(path):
    """An application in a process of its own, that can be killed; gives (process, run SQL)."""
    process = subprocess.Popen([sys.executable, "-c", APPLICATION, path], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def execute(sql):
        process.stdin.write(sql + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    return process, execute


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()


def kill_everything(db, app, is_page_in_log):
    """The agent dies, the application goes on: v2, a checkpoint that copies v2 and cannot restart
    the log, v3; then it dies too, and SQLite's recovery forgets what was copied. Gives a new
    connection and our position. is_page_in_log: the log holds the table's
    page as of our position."""
    wait_until(lambda: app.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0,
               10, "a TRUNCATE checkpoint that succeeds")
    app.execute("INSERT INTO other VALUES(1)")
    if is_page_in_log:
        app.execute("UPDATE t SET v='v1' WHERE id=2")
    db.rotate()
    position = db.max_lsn()
    writer, write = application(db.path)
    reader, read = application(db.path)
    write("SELECT * FROM t")
    app.close()
    db.kill()
    write("UPDATE t SET v='v2'")
    read("BEGIN")
    read("SELECT * FROM t")  # from here on the log cannot restart
    busy, frames, copied = json.loads(
        write("PRAGMA wal_checkpoint(PASSIVE)").replace("(", "[").replace(")", "]"))[0]
    assert busy == 0 and frames == copied > 0
    write("UPDATE t SET v='v3'")
    kill(writer)
    kill(reader)
    app = db.connect()
    assert app.execute("SELECT v FROM t").fetchall() == [("v3",), ("v3",)]
    return app, position


def set_up_two_rows(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("CREATE TABLE other(x)")
    app.execute("INSERT INTO t VALUES(1,'v0'),(2,'v0')")
    db.start("t")
    app.execute("UPDATE t SET v='v1' WHERE id=1")
    return app


def updates(before, after_):
    return [image for i in (1, 2) for image in ((3, i, before), (4, i, after_))]


@case("everything killed, pages beyond our position copied, recovered: a gap and no wrong row")
def _(db):
    app = set_up_two_rows(db)
    before = db.changes("main_t")
    before_csv = db.get_changes("main_t", db.min_lsn("main_t"), before[-1].lsn)
    app, last_captured = kill_everything(db, app, False)
    db.start()
    app.execute("UPDATE t SET v='v4'")
    db.rotate()
    seen = check_around_the_gap(db, before, before_csv, last_captured,
                                [updates("v2", "v3"), updates("v3", "v4")])
    assert seen is None or seen, "the change after the gap is missing"


@case("the same with the old images still in the log: nothing is missing, no gap")
def _(db):
    app, _ = kill_everything(db, set_up_two_rows(db), True)
    db.start()
    app.execute("UPDATE t SET v='v4'")
    rows = db.check_replay("main_t", "t", baseline=[(1, "v0"), (2, "v0")])
    assert commits(rows) == [
        [(3, 1, "v0"), (4, 1, "v1")], [(3, 2, "v0"), (4, 2, "v1")],
        updates("v1", "v2"), updates("v2", "v3"), updates("v3", "v4")]
    assert has_no_gap(db)


@case("the application's process and the agent killed, nothing checkpointed: no gap")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("INSERT INTO t VALUES(1,'v0')")
    db.start("t")
    app.execute("UPDATE t SET v='v1'")
    db.rotate()
    process, execute = application(db.path)
    execute("SELECT * FROM t")
    app.close()
    db.kill()
    execute("UPDATE t SET v='v2'")
    kill(process)
    app = db.connect()
    app.execute("UPDATE t SET v='v3'")
    db.start()
    rows = db.check_replay("main_t", "t", baseline=[(1, "v0")])
    assert commits(rows) == [[(3, 1, f"v{i}"), (4, 1, f"v{i + 1}")] for i in range(3)]
    assert has_no_gap(db)


main()
