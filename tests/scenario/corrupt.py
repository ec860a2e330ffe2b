#!/usr/bin/env python3
"""Pages that are no pages: the table that they belong to stops with an error on record that names
the page, everything else goes on, and nothing wrong is told."""
import subprocess
import sys

from cdctest import case, main, run_ctl, wait_until
from changes import commits

PAGE = 1024

# In a process of its own: a test that opens and closes the file would drop SQLite's locks.
SPOIL = """
import os, sys
path, offset, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
fd = os.open(path, os.O_RDWR)
old = os.pread(fd, 1024, offset)
new = {'zeroes': bytes(1024), 'ones': b'\\xff' * 1024, 'noise': os.urandom(1024),
       'cells': old[:8] + b'\\x7f\\xff' * 4 + old[16:],
       'count': old[:3] + b'\\xff\\xff' + old[5:],
       'child': old[:8] + int(sys.argv[4]).to_bytes(4, 'big') + old[12:]}[kind]
os.pwrite(fd, new, offset)
os.close(fd)
"""


def spoil(path, pgno, kind, value=0):
    subprocess.run([sys.executable, "-c", SPOIL, path, str((pgno - 1) * PAGE), kind, str(value)],
                   check=True)


def checkpoint(app):
    wait_until(lambda: app.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0,
               10, "a TRUNCATE checkpoint that succeeds")


def set_up(db):
    """Three tables with interior pages and overflow chains, all of it in the database file."""
    app = db.connect(page_size=PAGE)
    app.execute("CREATE TABLE bad(id INTEGER PRIMARY KEY, v)")
    app.execute("CREATE TABLE good(id INTEGER PRIMARY KEY, v)")
    app.execute("CREATE TABLE keyed(k TEXT PRIMARY KEY, v) WITHOUT ROWID")
    for table, key in (("bad", "i"), ("good", "i"), ("keyed", "'k' || i")):
        app.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)"
                    f" INSERT INTO {table} SELECT {key}, zeroblob(i % 10 * 300) FROM n")
    checkpoint(app)
    return app


def roots(app):
    return dict(app.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))


def check_stopped(db, instance, pgno, is_new=False):
    """Told by whoever is asked, with the page if it is known; its range from there on fails."""
    store = db.store()
    [(error,)] = store.execute(
        "SELECT error FROM cdcfs_instances JOIN change_tables USING(object_id)"
        " WHERE capture_instance = ?", (instance,))
    where = f"page {pgno} in the database file" if pgno else "page "
    assert error and where in error and "(commit at frame " in error, error
    told = store.execute("SELECT error_message FROM dm_cdc_errors").fetchall()
    assert told == ([(error,)] if is_new else []), told  # it is of the present agent
    first, last = db.min_lsn(instance), db.max_lsn()
    done = run_ctl("get-all-changes", db.path, instance, first, last)
    assert done.returncode == 1 and b"stopped" in done.stderr and not done.stdout, done


def check_others(db, app, tables=("good", "keyed")):
    """The next changes of the other tables are there, whole and right."""
    before = {table: len(db.changes("main_" + table)) for table in tables}
    app.execute("BEGIN")
    for table in tables:
        key = 5 if table == "good" else "k5"
        app.execute(f"UPDATE {table} SET v = 'other' WHERE {'id' if table == 'good' else 'k'} = ?",
                    (key,))
    app.execute("COMMIT")
    for table in tables:
        key = 5 if table == "good" else "k5"
        rows = db.changes("main_" + table)[before[table]:]
        assert commits(rows) == [[(3, key, bytes(1500)), (4, key, "other")]], rows
    assert db.agent.is_alive()


@case("a page that is corrupt before capture first reads it: the table is not captured")
def _(db):
    app = set_up(db)
    db.enable("bad", "good", "keyed")
    root = roots(app)["bad"]
    app.close()
    spoil(db.path, root, "zeroes")
    app = db.connect()
    db.start()
    db.rotate()
    [(error,)] = db.store().execute("SELECT error FROM cdcfs_instances JOIN change_tables"
                                    " USING(object_id) WHERE capture_instance = 'main_bad'")
    assert f"page {root}" in error and "bad" in error, error
    assert b"main_bad" in db.agent.read_log().encode()
    assert db.min_lsn("main_good")
    check_others(db, app)


def stops(db, kind, table, change, is_named=True):
    """The writer has all pages of the table in memory; behind its back its root is spoiled."""
    app = set_up(db)
    db.start("bad", "good", "keyed")
    app.execute("INSERT INTO good VALUES(10000, 'before')")
    db.rotate()
    app.close()
    writer = db.connect()
    root = roots(writer)[table]
    writer.execute(f"SELECT count(*), sum(length(v)) FROM {table}").fetchone()
    spoil(db.path, root, kind, root)
    writer.execute(change)
    writer.execute("INSERT INTO good VALUES(10001, 'after')")
    db.rotate()
    place = root if is_named else None
    check_stopped(db, "main_" + table, place, is_new=True)
    others = [name for name in ("good", "keyed") if name != table]
    check_others(db, writer, others)
    rows = commits(db.changes("main_good"))
    assert rows[0] == [(2, 10000, "before")] and [(2, 10001, "after")] in rows, rows
    db.stop()
    db.start()
    check_stopped(db, "main_" + table, place)
    check_others_again(db, writer)


def check_others_again(db, app):
    """After a new start."""
    lsn = db.max_lsn()
    app.execute("INSERT INTO good VALUES(10002, 'again')")
    rows = [row for row in db.changes("main_good") if row.lsn > lsn]
    assert commits(rows) == [[(2, 10002, "again")]], rows


@case("a root page in the file turns into zeroes under capture")
def _(db):
    stops(db, "zeroes", "bad", "UPDATE bad SET v = 'x'")


@case("a root page in the file turns into noise under capture")
def _(db):
    stops(db, "ones", "bad", "DELETE FROM bad")


@case("a root page that leads to itself: no loop")
def _(db):
    stops(db, "child", "bad", "UPDATE bad SET v = 'x'", is_named=False)


@case("a root page of a table WITHOUT ROWID whose cells lie outside")
def _(db):
    stops(db, "cells", "keyed", "UPDATE keyed SET v = 'x'")


@case("a corrupt page of an index or of a table that nobody captures is nobody's concern")
def _(db):
    app = set_up(db)
    app.execute("CREATE INDEX i ON good(v)")
    app.execute("CREATE TABLE unseen(a)")
    app.execute("INSERT INTO unseen VALUES(zeroblob(100000))")
    checkpoint(app)
    db.start("good", "keyed")
    index, unseen = (app.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
                     .fetchone()[0] for name in ("i", "unseen"))
    app.close()
    spoil(db.path, index, "noise")
    spoil(db.path, unseen, "zeroes")
    app = db.connect()
    app.execute("PRAGMA writable_schema=ON")
    app.execute("DELETE FROM sqlite_schema WHERE name = 'i'")
    app.execute("PRAGMA writable_schema=RESET")
    check_others(db, app)
    assert db.store().execute("SELECT count(*) FROM dm_cdc_errors").fetchone() == (0,)


main()
