#!/usr/bin/env python3
"""What happened to users of comparable software, as small cases in the areas capture and types.

The number of a case stays; its text says what is right. Net results are folded from all changes,
as a consumer would.
"""
import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time

from cdctest import Database, case, ctl, main, run_ctl, wait_until
from changes import RawText, commits, csv_fields, mask_of, net, typed

KEY = [0]  # the first column is the key


def sha(value):
    return hashlib.sha256(value.encode() if isinstance(value, str) else value).hexdigest()


# ---- capture


@case("B001 INSERT OR REPLACE: the row it silently removes is a delete")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE u(id INTEGER PRIMARY KEY, e TEXT UNIQUE, v TEXT)")
    db.start("u")
    app.execute("INSERT INTO u VALUES(1,'a@x','A'),(2,'b@x','B')")
    app.execute("INSERT OR REPLACE INTO u VALUES(1,'b@x','C')")
    rows = db.check_replay("main_u", "u")
    assert commits(rows) == [
        [(2, 1, "a@x", "A"), (2, 2, "b@x", "B")],
        [(1, 2, "b@x", "B"), (3, 1, "a@x", "A"), (4, 1, "b@x", "C")]]
    assert [r.mask for r in rows] == ["\\x07", "\\x07", "\\x07", "\\x06", "\\x06"]
    assert net([r for r in rows if r.lsn == rows[-1].lsn], KEY) == [
        (1, 2, "b@x", "B"), (4, 1, "b@x", "C")]


def delete_all(db, count):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?)"
                " INSERT INTO t SELECT i, 'value ' || i FROM n", (count,))
    app.execute("DELETE FROM t")
    rows = db.check_replay("main_t", "t")
    expected = [(i, f"value {i}") for i in range(1, count + 1)]
    assert commits(rows) == [[(2,) + row for row in expected], [(1,) + row for row in expected]]
    assert len({r.seqval for r in rows if r.operation == 1}) == count
    deleted = [r for r in rows if r.operation == 1]
    assert net(deleted, KEY) == sorted(((1,) + row for row in expected), key=repr)


@case("B002 DELETE without WHERE gives every row, 1000 rows")
def _(db):
    delete_all(db, 1000)


@case("B002 DELETE without WHERE gives every row, a deep tree of 100000")
def _(db):
    delete_all(db, 100_000)


@case("B004 a failed statement publishes what SQLite keeps of it and no more")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE f(a UNIQUE)")
    db.start("f")
    app.execute("INSERT INTO f VALUES(2)")
    for sql in ("INSERT OR FAIL INTO f VALUES(1),(2),(3)", "INSERT INTO f VALUES(2)"):
        try:
            app.execute(sql)
            raise AssertionError(f"{sql} did not fail")
        except app.IntegrityError:
            pass
    rows = db.check_replay("main_f", "f")
    assert commits(rows) == [[(2, 2)], [(2, 1)]]
    assert db.max_lsn() == rows[-1].lsn, "an LSN for a commit that never was"


@case("B005 a changed key is a delete and an insert")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("INSERT INTO t VALUES(1,'a')")
    app.execute("UPDATE t SET id=1001 WHERE id=1")
    rows = db.check_replay("main_t", "t")
    assert commits(rows) == [[(2, 1, "a")], [(1, 1, "a"), (2, 1001, "a")]]
    assert net(rows[1:], KEY) == [(1, 1, "a"), (2, 1001, "a")]
    assert net(rows, KEY) == [(2, 1001, "a")]
    merged = {}
    for row in rows:  # MERGE on id
        merged.pop(row.values[0], None)
        if row.operation in (2, 4):
            merged[row.values[0]] = row.values
    assert list(merged) == [1001]


@case("B008 frames of a transaction that is rolled back are never taken")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("PRAGMA cache_size=2")
    wal = db.path + "-wal"
    app.execute("BEGIN")
    app.executemany("INSERT INTO t VALUES(?,?)", [(i, "x" * 1000) for i in range(1000, 1400)])
    spilled = os.stat(wal).st_size
    assert spilled > 90 * 4096, "nothing was spilled into the log"
    time.sleep(0.2)
    assert db.changes("main_t") == []
    app.execute("ROLLBACK")
    app.execute("INSERT INTO t VALUES(2,'after')")
    assert os.stat(wal).st_size == spilled
    assert commits(db.check_replay("main_t", "t")) == [[(2, 2, "after")]]


def stale_log(path):
    """A program that leaves a log of one live frame before hundreds of stale ones, and dies."""
    child = subprocess.Popen(
        [sys.executable, "-c", (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('PRAGMA journal_mode=WAL')\n"
            "c.execute('CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v)')\n"
            "for i in range(500): c.execute('INSERT INTO t(v) VALUES(?)', (i,))\n"
            "c.execute('PRAGMA wal_checkpoint(RESTART)').fetchall()\n"
            "c.execute(\"INSERT INTO t(v) VALUES('last')\")\n"
            "print('ready', flush=True)\n"
            "sys.stdin.read()\n"), path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    return child


def end(child):
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()


@case("B010 stale frames of an older generation are never taken: capture from the start")
def _(db):
    child = stale_log(db.path)
    assert os.stat(db.path + "-wal").st_size > 400 * 4096
    db.start("t")
    assert db.changes("main_t") == []
    app = db.connect()
    app.execute("INSERT INTO t(v) VALUES('new')")
    assert commits(db.changes("main_t")) == [[(2, 502, "new")]]
    end(child)


@case("B010 stale frames of an older generation are never taken: while and after capture ran")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for i in range(1, 501):
        app.execute("INSERT INTO t(v) VALUES(?)", (i,))
    db.rotate()
    wait_until(lambda: app.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0,
               10, "a RESTART checkpoint that succeeds")
    db.stop()
    app.execute("INSERT INTO t(v) VALUES('last')")
    db.start()
    rows = db.check_replay("main_t", "t")
    assert [c for c in commits(rows)[500:]] == [[(2, 501, "last")]]


@case("B010 a log cut in mid-frame: the last whole commit counts")
def _(db):
    child = stale_log(db.path)
    app = db.connect()
    for i in range(600):  # past the stale frames, so that the cut hits a live one
        app.execute("INSERT INTO t(v) VALUES('more')")
    app.close()
    end(child)
    os.truncate(db.path + "-wal", os.stat(db.path + "-wal").st_size - 100)
    app = db.connect()
    assert app.execute("SELECT count(*) FROM t").fetchone() == (1100,)
    db.start("t")
    assert db.changes("main_t") == []
    app.execute("INSERT INTO t(v) VALUES('new')")
    assert commits(db.changes("main_t")) == [[(2, 1101, "new")]]


@case("B011 a row changed three times in one transaction is one change")
def _(db):
    for cache in (-2000, 2):
        inner = Database()
        try:
            app = inner.connect()
            app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
            app.execute(f"PRAGMA cache_size={cache}")
            inner.start("t")
            app.execute("BEGIN")
            app.execute("INSERT INTO t VALUES(1,'a')")
            app.execute("UPDATE t SET v='b'")
            app.execute("UPDATE t SET v='c'")
            app.execute("COMMIT")
            assert commits(inner.check_replay("main_t", "t")) == [[(2, 1, "c")]]
        finally:
            inner.close()


@case("B014 one LSN for a transaction over three tables, one seqval for each change")
def _(db):
    app = db.connect()
    for name in "abc":
        app.execute(f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, v)")
    db.start("a", "b", "c")
    app.execute("BEGIN")
    for name in "abc":
        app.executemany(f"INSERT INTO {name} VALUES(?,?)", [(i, name) for i in (1, 2, 3)])
    app.execute("COMMIT")
    app.execute("BEGIN")
    for name in "abc":
        app.execute(f"UPDATE {name} SET v='u' WHERE id=2")
        app.execute(f"DELETE FROM {name} WHERE id=1")
        app.execute(f"INSERT INTO {name} VALUES(4,'n')")
    app.execute("COMMIT")
    tables = [db.check_replay("main_" + name, name) for name in "abc"]
    both = sorted({row.lsn for rows in tables for row in rows})
    assert len(both) == 2
    for lsn in both:
        seqvals = [{r.seqval for r in rows if r.lsn == lsn} for rows in tables]
        assert len(set.union(*seqvals)) == sum(map(len, seqvals)) == 9
    for rows in tables:
        assert rows == sorted(rows, key=lambda r: (r.lsn, r.seqval, r.operation))
    store = db.store()
    for lsn in both:  # __$command_id counts through the tables; 3 and 4 share one
        ids = sorted(i for name in "abc" for (i,) in store.execute(
            f'SELECT DISTINCT "__$command_id" FROM main_{name}_CT WHERE "__$start_lsn"=?',
            (bytes.fromhex(lsn.replace(":", "")),)))
        assert ids == list(range(1, 10)), ids


@case("B016 enable-table --all skips virtual, shadow and internal tables with a notice")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY AUTOINCREMENT, body)")
    app.execute("CREATE INDEX notes_body ON notes(body)")
    app.execute("CREATE VIRTUAL TABLE notes_fts USING"
                " fts5(body, content='notes', content_rowid='id')")
    app.execute("INSERT INTO notes(body) VALUES('first')")
    app.execute("ANALYZE")
    names = {name for (name,) in app.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    assert {"sqlite_sequence", "sqlite_stat1", "notes_fts_data", "notes_fts_docsize"} <= names
    ctl("enable-db", db.path)
    done = run_ctl("enable-table", db.path, "--all")
    output = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, output
    lines = [line for line in output.splitlines() if "notes_fts" in line.replace("notes_fts_", "")]
    assert len(lines) == 1, output
    db.start()
    wait_until(lambda: db.min_lsn("main_notes"), 10, "notes recognised")
    captured = csv_fields(ctl("help-change-data-capture", db.path, "--format", "csv"))
    column = [name for _, name in captured[0]].index(b"capture_instance")
    assert [record[column][1] for record in captured[1:]] == [b"main_notes"]
    app.execute("INSERT INTO notes(body) VALUES('second')")
    assert commits(db.changes("main_notes")) == [[(2, 2, "second")]]


@case("B017 rows with a NULL in the primary key are told apart")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE np(a TEXT PRIMARY KEY, b)")
    db.start("np")
    app.execute("INSERT INTO np VALUES(NULL,1),(NULL,2)")
    app.execute("DELETE FROM np WHERE b=1")
    rows = db.check_replay("main_np", "np")
    assert commits(rows) == [[(2, None, 1), (2, None, 2)], [(1, None, 1)]]
    assert net(rows, [0, 1]) == [(2, None, 2)]


# B013 (kill -9 in mid-transaction) is kill.py, B022 (nothing differs inside) is untouched.py.

# ---- types


def round_trip(db, declared, values):
    """Inserts each value as a row (id, x); gives the CSV records and JSON lines of the rows."""
    app = db.connect()
    app.execute(f"CREATE TABLE t(id INTEGER PRIMARY KEY, x {declared})")
    db.start("t")
    app.executemany("INSERT INTO t(x) VALUES(?)", [(v,) for v in values])
    rows = db.check_replay("main_t", "t")
    stored = [x for (x,) in app.execute("SELECT x FROM t ORDER BY id")]
    assert [typed(r.values[1]) for r in rows] == [typed(x) for x in stored]
    return last_fields(db, "main_t")


def last_fields(db, instance):
    """([last CSV field as (is_quoted, bytes)], [last JSON value as its text])."""
    first, last = db.min_lsn(instance), db.max_lsn()
    csv = csv_fields(db.get_changes(instance, first, last))[1:]
    lines = db.get_changes(instance, first, last, "jsonl").decode("utf-8").splitlines()
    for line in lines:
        subprocess.run(["jq", "-e", "."], input=line.encode(), check=True, capture_output=True)
    return [record[-1] for record in csv], [line[line.index(',"x":') + 5:-1] for line in lines]


@case("B041 NULL, empty text, empty blob and the text NULL stay four values")
def _(db):
    fields, jsons = round_trip(db, "", [None, "", b"", "NULL"])
    assert fields == [(False, b""), (True, b""), (False, b"\\x"), (True, b"NULL")]
    assert jsons == ["null", '""', '"\\\\x"', '"NULL"']


@case("B043 infinities are valid JSON, NaN is NULL")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    db.start("t")
    app.executemany("INSERT INTO t(x) VALUES(?)", [(math.inf,), (-math.inf,), (math.nan,)])
    app.execute("INSERT INTO t(x) VALUES(9e999)")
    rows = db.check_replay("main_t", "t")
    assert [r.values[1] for r in rows] == [math.inf, -math.inf, None, math.inf]
    fields, jsons = last_fields(db, "main_t")
    assert fields == [(False, b"Infinity"), (False, b"-Infinity"), (False, b""),
                      (False, b"Infinity")]
    assert jsons == ["9.0e+999", "-9.0e+999", "null", "9.0e+999"]


@case("B044 whole-number REALs keep their point")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE q(a REAL, x)")
    db.start("q")
    for number in ("9", "1e6", "-0", "2e15", "0.1", "1e-300", "123456789012345680"):
        app.execute(f"INSERT INTO q VALUES({number}, 9)")
    app.execute("INSERT INTO q VALUES(?, ?)", (-0.0, -0.0))
    app.execute("INSERT INTO q VALUES(9, 9223372036854775807)")
    rows = db.check_replay("main_q", "q")
    assert all(isinstance(r.values[0], float) for r in rows)
    assert [typed(r.values[1]) for r in rows[:7]] == [typed(9)] * 7
    csv = csv_fields(db.get_changes("main_q", db.min_lsn("main_q"), db.max_lsn()))[1:]
    assert csv[0][-2:] == [(False, b"9.0"), (False, b"9")]
    assert all(b"." in record[-2][1] or b"e" in record[-2][1] for record in csv)
    _, jsons = last_fields(db, "main_q")
    assert jsons[0] == "9" and jsons[-1] == "9223372036854775807"


@case("B046 digits-only text keeps every character")
def _(db):
    texts = ["0000000000000001", "0123", "1e3", "2.50", " 7", "+5", "0x10", "true"]
    fields, jsons = round_trip(db, "TEXT", texts)
    assert fields == [(True, t.encode()) for t in texts]
    assert jsons == [json.dumps(t) for t in texts]
    app = db.connect()
    app.execute("CREATE TABLE v(id INTEGER PRIMARY KEY, x)")
    ctl("enable-table", db.path, "v")
    app.executemany("INSERT INTO v(x) VALUES(?)", [(v,) for v in texts + [1]])
    db.check_replay("main_v", "v")
    fields, jsons = last_fields(db, "main_v")
    assert fields == [(True, t.encode()) for t in texts] + [(False, b"1")]
    assert jsons == [json.dumps(t) for t in texts] + ["1"]


@case("B047 text that is not UTF-8 comes out whole and can be turned back")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x TEXT)")
    db.start("t")
    bad = ["C328", "EDA080", "F5", "610062"]
    for i, expression in enumerate(["'ok1'"] + [f"CAST(X'{b}' AS TEXT)" for b in bad] + ["'ok3'"]):
        app.execute(f"INSERT INTO t VALUES({i}, {expression})")
    rows = db.check_replay("main_t", "t")
    assert [r.values[1] for r in rows] == ["ok1", *(RawText(bytes.fromhex(b)) for b in bad), "ok3"]
    fields, jsons = last_fields(db, "main_t")
    assert fields == [(True, b"ok1"), *((False, b"\\X" + b.lower().encode()) for b in bad),
                      (True, b"ok3")]
    assert jsons == ['"ok1"', *(f'"\\\\X{b.lower()}"' for b in bad), '"ok3"']
    for form in ("csv", "jsonl"):
        data = db.get_changes("main_t", db.min_lsn("main_t"), db.max_lsn(), form)
        subprocess.run(["iconv", "-f", "utf-8", "-t", "utf-8"], input=data, check=True,
                       capture_output=True)


@case("B050 a BLOB is one field on one line, told apart from text that looks like it")
def _(db):
    blobs = [bytes.fromhex("000A0D22FF2C"), b"", b",,", bytes(5000)]
    texts = ["000A0D", "\\x000a0d", "\\X00", "a\nb\r\n\"c\",d"]
    fields, jsons = round_trip(db, "", blobs + texts)
    assert fields == [(False, b"\\x" + b.hex().encode()) for b in blobs] + [
        (True, t.encode()) for t in texts]
    assert jsons == [json.dumps("\\x" + b.hex()) for b in blobs] + [
        '"000A0D"', '{"$text": "\\\\x000a0d"}', '{"$text": "\\\\X00"}', json.dumps(texts[3])]


@case("B052 an update beside a large value brings the large value whole")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, small TEXT, big TEXT)")
    big = "".join(random.Random(52).choices("abcdefgh", k=1_000_000))
    app.execute("INSERT INTO t VALUES(1,'small',?)", (big,))
    db.start("t")
    app.execute("UPDATE t SET small='s2' WHERE id=1")
    db.rotate()
    wait_until(lambda: app.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0,
               10, "a TRUNCATE checkpoint that succeeds")
    app.execute("DELETE FROM t")
    rows = db.check_replay("main_t", "t", baseline=[(1, "small", big)])
    assert [(r.operation, r.values[0], r.values[1]) for r in rows] == [
        (3, 1, "small"), (4, 1, "s2"), (1, 1, "s2")]
    assert {sha(r.values[2]) for r in rows} == {sha(big)}
    assert [r.mask for r in rows[:2]] == [mask_of([2], 3)] * 2


def overflow_texts(page_size):
    db = Database()
    try:
        app = db.connect(page_size=page_size)
        app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
        old = {i: (chr(96 + i) + str(i)) * 2500 for i in (1, 2, 3)}
        new = {i: (chr(112 + i) + str(i)) * 2500 for i in (1, 2, 3)}
        app.executemany("INSERT INTO t VALUES(?,?)", old.items())
        db.start("t")
        app.execute("BEGIN")
        app.executemany("UPDATE t SET v=? WHERE id=?", [(v, i) for i, v in new.items()])
        app.execute("COMMIT")
        rows = db.check_replay("main_t", "t", baseline=list(old.items()))
        assert commits(rows) == [
            [image for i in (1, 2, 3) for image in ((3, i, old[i]), (4, i, new[i]))]]
        assert len({sha(r.values[1]) for r in rows}) == 6
    finally:
        db.close()


@case("B053 large texts updated together keep to their rows")
def _(_db):
    overflow_texts(4096)
    overflow_texts(1024)


@case("B055 dates are text and numbers, whatever the time zone")
def _(db):
    dates = ["0000-00-00 00:00:00", "2024-02-30", "2024-03-10 02:30:00", "2024-11-03T01:30:00",
             "1 Jan"]
    outputs = []
    for zone in ("UTC", "America/New_York"):
        inner = Database()
        try:
            app = inner.connect()
            app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT, created_at)")
            inner.start("t", env={"TZ": zone})
            for day in dates:
                app.execute("INSERT INTO t(day,created_at) VALUES(?,1700000000)", (day,))
            rows = inner.check_replay("main_t", "t")
            assert [r.values[1:] for r in rows] == [(day, 1700000000) for day in dates]
            first, last = inner.min_lsn("main_t"), inner.max_lsn()
            both = [inner.get_changes("main_t", first, last, form, {"TZ": z})
                    for form in ("csv", "jsonl") for z in ("UTC", "America/New_York")]
            assert both[0] == both[1] and both[2] == both[3], "the output knows the time zone"
            # LSNs are this database's own.
            outputs.append([(r.seqval, r.operation, r.mask, r.values) for r in rows])
        finally:
            inner.close()
    assert outputs[0] == outputs[1], "the agent's time zone shows in the output"


@case("B056 a column that changes its type far down keeps every value's own")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER)")
    db.start("t")
    app.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 25000)"
                " INSERT INTO t SELECT i, 1 FROM n")
    odd = ["abc", 1.5, b"\x01", None]
    app.executemany("INSERT INTO t(n) VALUES(?)", [(v,) for v in odd])
    rows = db.check_replay("main_t", "t")
    assert len(rows) == 25_004
    assert [typed(r.values[1]) for r in rows] == [typed(v) for v in [1] * 25_000 + odd]
    lines = db.get_changes("main_t", db.min_lsn("main_t"), db.max_lsn(), "jsonl").splitlines()
    assert [line[line.index(b',"n":') + 5:-1] for line in lines[-5:]] == [
        b"1", b'"abc"', b"1.5", b'"\\\\x01"', b"null"]
    # The declared types stand beside the data, so that a loader need not guess.
    assert db.store().execute(
        "SELECT column_name, column_type, column_ordinal FROM captured_columns"
        " ORDER BY column_ordinal").fetchall() == [("id", "INTEGER", 1), ("n", "INTEGER", 2)]


main()
