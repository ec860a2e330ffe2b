"""Qlik's change tables: masks, before images, and an order that no clock can turn back."""
import csv
import glob
import io
import json
import os
import random
import re
import sqlite3

from cdctest import Skip, case, main, read_file
from consumers import duckdb
from mounting import need_fuse

need_fuse()

HEADER = ["header__change_seq", "header__change_oper", "header__change_mask",
          "header__stream_position", "header__operation", "header__transaction_id",
          "header__timestamp"]
COLUMNS = [f"c{i}" for i in range(20)]
WORDS = {"I": "INSERT", "U": "UPDATE", "D": "DELETE", "B": "BEFOREIMAGE"}


def rows_of(db, instance="main_t"):
    """Rows as dictionaries, in the order of the files."""
    rows = []
    for path in db.files(instance, "qlik"):
        rows += csv.DictReader(io.StringIO(read_file(path).decode(), newline=""))
    return rows


def bits_of(mask, columns):
    """As a handler reads it that takes missing bytes for 0."""
    data = bytes.fromhex(mask) + bytes(300)
    return [name for number, name in enumerate(columns) if data[number // 8] >> number % 8 & 1]


def work(app, chance, count):
    """Random transactions on t(c0, …, c19), whose key is c2 and c19."""
    for _ in range(count):
        app.execute("BEGIN")
        for _ in range(chance.randrange(1, 4)):
            key = (chance.randrange(12), chance.randrange(3))
            if chance.random() < 0.4:
                names = chance.sample([c for c in COLUMNS if c not in ("c2", "c19")],
                                      chance.randrange(1, 6))
                app.execute("UPDATE t SET " + ", ".join(f"{c} = {chance.randrange(3)}"
                            for c in names) + " WHERE c2 = ? AND c19 = ?", key)
            elif chance.random() < 0.3:
                app.execute("DELETE FROM t WHERE c2 = ? AND c19 = ?", key)
            else:
                app.execute("INSERT OR IGNORE INTO t(c2, c19, c5, c9) VALUES(?, ?, 1, 2)", key)
        app.execute("COMMIT")


def start(db, env=None):
    app = db.connect()
    app.execute(f"CREATE TABLE t({', '.join(COLUMNS)}, PRIMARY KEY(c2, c19))")
    app.execute("CREATE TABLE u(id INTEGER PRIMARY KEY)")
    db.start("t", "u", env=env)
    return app


@case("every mask decodes to the columns that changed")
def _(db):
    app = start(db)
    work(app, random.Random(1), 300)
    db.rotate()
    rows = rows_of(db)
    columns = list(rows[0])
    assert columns == HEADER + COLUMNS
    before, seen = None, {}
    for row in rows:
        kind, bits = row["header__change_oper"], bits_of(row["header__change_mask"], columns)
        seen[kind] = seen.get(kind, 0) + 1
        assert row["header__operation"] == WORDS[kind]
        assert not row["header__change_mask"].endswith("00"), row
        assert re.fullmatch(r"[0-9a-f]{32}", row["header__transaction_id"])
        if kind == "I":
            assert bits == COLUMNS
        elif kind == "D":
            assert bits == ["c2", "c19"]
        elif kind == "B":
            assert bits == [] and row["header__change_mask"] == ""
            before = row
        else:
            assert bits == [c for c in COLUMNS if row[c] != before[c]] and bits, (row, before)
    assert all(seen.get(kind, 0) > 5 for kind in "IUDB"), seen


JOIN = """SELECT count(*), count(b.header__change_seq),
    coalesce(sum(l.header__change_oper = 'U'), 0),
    coalesce(sum(l.header__change_oper <> 'U' AND b.header__change_seq IS NOT NULL), 0),
    coalesce(sum(b.c2 IS NOT NULL AND (b.c2 <> l.c2 OR b.c19 <> l.c19)), 0)
    FROM {0} AS l LEFT JOIN {0} AS b
        ON b.header__change_seq = l.header__change_seq AND b.header__change_oper = 'B'
    WHERE l.header__operation <> 'BEFOREIMAGE'"""


@case("the left self-join finds for each update its before image: sqlite3, DuckDB")
def _(db):
    app = start(db)
    chance = random.Random(2)
    for _ in range(3):
        work(app, chance, 100)
        db.rotate()
    rows = rows_of(db)
    updates = sum(row["header__change_oper"] == "U" for row in rows)
    wanted = (len(rows) - updates, updates, updates, 0, 0)
    memory = sqlite3.connect(":memory:")
    memory.execute(f"CREATE TABLE ct({', '.join(rows[0])})")
    memory.executemany(f"INSERT INTO ct VALUES({', '.join('?' * len(rows[0]))})",
                       [tuple(row.values()) for row in rows])
    assert memory.execute(JOIN.format("ct")).fetchone() == wanted and updates > 20
    memory.close()
    files = os.path.join(db.mountpoint, "main_t", "all", "qlik", "*.csv")
    row, = duckdb(f"CREATE TABLE ct AS SELECT * FROM read_csv('{files}', header = true,"
                  " all_varchar = true)", JOIN.format("ct"))
    assert tuple(int(value) for value in row.values()) == wanted, (row, wanted)


def check_order(rows):
    """change_seq rises with the changes; only a before image shares one."""
    keys = [(row["header__change_seq"], row["header__change_oper"]) for row in rows]
    assert keys == sorted(set(keys)), "change_seq falls, or is there twice"
    assert all(re.fullmatch(r"\d{35}", seq) for seq, _ in keys)
    for row in rows:
        digits = re.sub(r"\D", "", row["header__timestamp"])
        assert row["header__change_seq"][:16] == digits[:16], row


@case("change_seq is one order over all tables")
def _(db):
    app = start(db)
    for number in range(50):
        app.execute("BEGIN")
        app.execute("INSERT INTO t(c2, c19) VALUES(?, 0)", (number,))
        app.execute("INSERT INTO u VALUES(?)", (number,))
        app.execute("COMMIT")
    db.rotate()
    one, two = rows_of(db), rows_of(db, "main_u")
    assert len(one) == len(two) == 50
    both = sorted(one + two, key=lambda row: (row["header__change_seq"],
                                              row["header__change_oper"]))
    check_order(one)
    check_order(two)
    check_order([{key: row[key] for key in HEADER} for row in both])
    assert [row["header__stream_position"] for row in both] == sorted(
        row["header__stream_position"] for row in both)


@case("a clock that is set back keeps change_seq rising, and bytes as they were")
def _(db):
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not libraries:
        raise Skip("libfaketime is not here")
    clock = os.path.join(db.directory, "clock")
    env = {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1",
           "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def set_clock(offset):
        with open(clock + "-new", "w", encoding="ascii") as file:
            file.write(offset + "\n")
        os.rename(clock + "-new", clock)

    set_clock("+0")
    app = start(db, env)
    number, rows, seen = 0, [], {}
    for offset in ("+0", "-3600", "-86400", "+60", "-60", "restart"):
        if offset == "restart":
            db.stop()
            set_clock("-7200")
            db.start(env=env)
        else:
            set_clock(offset)
        for _ in range(5):
            number += 1
            app.execute("INSERT INTO t(c2, c19) VALUES(?, 0)", (number,))
            app.execute("UPDATE t SET c0 = 1 WHERE c2 = ?", (number,))
        db.rotate()
        rows = rows_of(db)
        assert len(rows) == 3 * number
        check_order(rows)
        files = {path: read_file(path) for path in db.files("main_t", "qlik")}
        assert {path: files[path] for path in seen} == seen
        seen = files
        if offset == "-86400":
            validity = json.loads(read_file(os.path.join(db.mountpoint, "validity.json")))
            assert validity["as_of"] < rows[0]["header__timestamp"], "the clock was not set back"
    hours = {row["header__timestamp"][:13] for row in rows}
    assert len(hours) <= 2, "times do not go back"


main()
