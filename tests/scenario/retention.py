#!/usr/bin/env python3
"""Ranges outside the interval, and cleanup under readers, load and kill -9."""
import hashlib
import os
import time

from cdctest import case, ctl, main, read_file, run_ctl, wait_until
from changes import read_csv


def first_lsn(db, offset):
    """start_lsn of a row of the mapping, as 0x digits."""
    row = db.store().execute("SELECT hex(start_lsn) FROM lsn_time_mapping ORDER BY rowid LIMIT 1"
                             f" OFFSET {offset}").fetchone()
    return "0x" + row[0]


def digits(lsn):
    return lsn.replace(":", "")


@case("B064 a bad range is refused with the interval, and gives no file")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
    db.rotate()
    low, high = db.min_lsn("main_t"), db.max_lsn()
    after = ctl("increment-lsn", high).decode().strip()
    before = ctl("decrement-lsn", low).decode().strip()
    refusals = [(high, low, 1), (before, high, 1), (low, after, 1), ("zz" * 10, high, 1),
                (digits(low)[1:], high, 1), (digits(low) + "0", high, 1), ("", high, 1),
                (after, high, 3), (after, after, 3)]
    for start, end, code in refusals:
        done = run_ctl("get-all-changes", db.path, "main_t", start, end)
        assert done.returncode == code, (start, end, done.returncode, done.stderr)
        assert done.stdout == b"" and done.stderr, (start, end)
    for start, end in ((before, high), (low, after)):
        stderr = run_ctl("get-all-changes", db.path, "main_t", start, end).stderr.decode()
        assert f"[{low}, {high}]" in stderr and "313" in stderr, stderr
    assert run_ctl("get-all-changes", db.path, "none", low, high).returncode == 1
    for form in (digits(low), digits(low).upper(), "0x" + digits(low)):
        assert len(read_csv(ctl("get-all-changes", db.path, "main_t", form, high))[1]) == 3


@case("B065 right after enabling the interval is no contradiction")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    low, high = db.min_lsn("main_t"), db.max_lsn()
    assert low <= high
    names, rows = read_csv(ctl("get-all-changes", db.path, "main_t", low, high))
    assert names and not rows
    app.execute("INSERT INTO t VALUES(1, 'a')")
    wait_until(lambda: db.max_lsn() > high, 2, "the first commit")
    rows = read_csv(ctl("get-all-changes", db.path, "main_t", low, db.max_lsn()))[1]
    assert len(rows) == 1 and rows[0].lsn > high, rows


@case("B070 a file that is read goes on to its end over its cleanup")
def _(db):
    if not db.mountpoint:
        print("# nothing can be mounted here")
        return
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", options={"linger": 1})
    app.execute("BEGIN")
    app.executemany("INSERT INTO t VALUES(?, ?)", [(n, f"row {n} " * 9) for n in range(40000)])
    app.execute("COMMIT")
    db.rotate()
    app.execute("INSERT INTO t VALUES(-1, 'later')")
    db.rotate()
    path = db.files("main_t")[0]
    whole = hashlib.sha256(read_file(path)).digest()
    inode, size = os.stat(path).st_ino, os.stat(path).st_size
    db.stop()
    db.start(options={"linger": 1})
    with open(path, "rb") as file:
        head = file.read(1024)
        ctl("cleanup-change-table", db.path, "main_t", first_lsn(db, 2))
        # The mark lies inside the newer file, so that goes as well.
        wait_until(lambda: db.files("main_t") == [], 5, "the listing without it")
        low = read_file(os.path.join(db.mountpoint, "main_t", "min_lsn")).decode().strip()
        assert low == db.min_lsn("main_t")
        wait_until(lambda: db.store().execute(
            'SELECT count(*) FROM "main_t_CT"').fetchone()[0] == 1, 20, "its rows gone")
        assert os.fstat(file.fileno()).st_size == size
        rest = file.read()
        assert hashlib.sha256(head + rest).digest() == whole, "other bytes than before"
        assert os.fstat(file.fileno()).st_ino == inode
    wait_until(lambda: not os.path.exists(path), 5, "the name gone")
    rows = read_csv(db.get_changes("main_t", db.min_lsn("main_t"), db.max_lsn()))[1]
    assert [row.values[0] for row in rows] == [-1], rows


@case("an unlisted file opens by its exact name while it lingers")
def _(db):
    if not db.mountpoint:
        print("# nothing can be mounted here")
        return
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        db.rotate()
    first, second, third = db.files("main_t")
    before, inode = read_file(first), os.stat(first).st_ino
    ctl("cleanup-change-table", db.path, "main_t", first_lsn(db, 2))
    wait_until(lambda: db.files("main_t") == [third], 5, "the listing without them")
    assert read_file(first) == before and os.stat(first).st_ino == inode
    assert len(read_file(second)) == os.stat(second).st_size
    # What is at and after the mark in the file that held it can still be asked for.
    low, high = db.min_lsn("main_t"), db.max_lsn()
    assert len(read_csv(db.get_changes("main_t", low, high))[1]) == 2


@case("B071 cleanup of many rows stalls nobody, and a kill -9 in its middle hurts nobody")
def _(db):
    rows, step = 200_000, 20_000
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("CREATE TABLE other(id INTEGER PRIMARY KEY, v)")
    db.start("t", "other", mount=False, options={"linger": 1})
    for start in range(0, rows, step):
        app.execute("BEGIN")
        app.executemany("INSERT INTO t VALUES(?, ?)",
                        [(n, "x" * 60) for n in range(start, start + step)])
        app.execute("COMMIT")
    db.rotate()
    app.execute("INSERT INTO t VALUES(-1, 'kept')")
    app.execute("INSERT INTO other VALUES(0, 'kept')")
    db.rotate()

    def count():
        return db.store().execute('SELECT count(*) FROM "main_t_CT"').fetchone()[0]
    mark = "0x" + db.store().execute(
        'SELECT hex("__$start_lsn") FROM "main_t_CT" ORDER BY rowid DESC LIMIT 1').fetchone()[0]
    ctl("cleanup-change-table", db.path, "main_t", mark, "--threshold", "20")
    low = db.min_lsn("main_t")
    assert digits(low).upper() == mark[2:], (low, mark)
    wait_until(lambda: count() < rows, 20, "the first rows gone")
    app.execute("INSERT INTO other VALUES(1, 'during')")
    wait_until(lambda: db.store().execute(
        'SELECT count(*) FROM "main_other_CT"').fetchone()[0] == 2, 5, "a commit meanwhile")
    left = count()
    db.kill()
    assert left > 1, "the cleanup was over too soon for this test"
    db.start(mount=False, options={"linger": 1})
    assert db.min_lsn("main_t") == low, "the mark was moved before the first row went"
    assert len(read_csv(db.get_changes("main_t", low, db.max_lsn()))[1]) == 1
    refused = run_ctl("get-all-changes", db.path, "main_t",
                      ctl("decrement-lsn", low).decode().strip(), db.max_lsn())
    assert refused.returncode == 1 and not refused.stdout
    wait_until(lambda: count() == 1, 60, "the rest gone after the restart")
    db.check_replay("main_other", "other")
    start = time.monotonic()
    app.execute("INSERT INTO other VALUES(2, 'after')")
    db.rotate()
    assert time.monotonic() - start < 5


main()
