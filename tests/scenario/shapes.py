#!/usr/bin/env python3
"""Every shape of table and database that SQLite has, and what moves rows without changing them.
The number of a case stays; its text says what is right.
"""
import os
import random
import subprocess

from cdctest import Database, case, ctl, main, read_file, run_ctl
from changes import commits, csv_fields, mask_of, read_csv
from story import Story

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
MIB = 1 << 20


def fill(count, select, table="t"):
    return NUMBERS.format(count) + f"INSERT INTO {table} SELECT {select} FROM n"


def each(*functions):
    """Runs each with a database of its own."""
    for function in functions:
        db = Database()
        try:
            function(db)
        finally:
            db.close()


# ---- VACUUM

FOUR_KINDS = ("CREATE TABLE ipk(id INTEGER PRIMARY KEY, v)", "CREATE TABLE nokey(a, v)",
              "CREATE TABLE textkey(k TEXT PRIMARY KEY, v)",
              "CREATE TABLE worowid(k TEXT PRIMARY KEY, v) WITHOUT ROWID")
KINDS = ("ipk", "nokey", "textkey", "worowid")
KEYS = {"ipk": "id", "nokey": "a", "textkey": "k", "worowid": "k"}
SOME = {"ipk": 33, "nokey": 31, "textkey": "k5831", "worowid": "k5831"}  # a row of each


def fill_kinds(count, size):
    value = f"substr(hex(i) || hex(randomblob({size})), 1, {size})"
    return (fill(count, f"i * 3, {value}", "ipk"), fill(count, f"i, {value}", "nokey"),
            fill(count, f"'k' || (i * 7919 % 10007), {value}", "textkey"),
            fill(count, f"'k' || (i * 7919 % 10007), {value}", "worowid"),
            "DELETE FROM nokey WHERE a % 3 = 0", "DELETE FROM textkey WHERE rowid % 3 = 0",
            "DROP TABLE hole")


def one_update(story, kind, key, new):
    """The next change after a VACUUM: exactly one pair, with the row as it was."""
    [(old,)] = story.execute(f"SELECT v FROM {kind} WHERE {KEYS[kind]} = {key!r}")
    lsn = story.run(f"UPDATE {kind} SET v = {new!r} WHERE {KEYS[kind]} = {key!r}")
    return lsn, [(3, key, old), (4, key, new)]


@case("VACUUM changes no row, though it renumbers them; the next change is right")
def _(db):
    story = Story(db, "CREATE TABLE hole AS SELECT zeroblob(50000)", *FOUR_KINDS,
                  *fill_kinds(700, 90), tables=KINDS)
    told = {"main_" + kind: [] for kind in KINDS}
    for turn in range(3):
        story.run("VACUUM")
        if turn == 1:  # what was learned of the moved rows must survive
            db.kill()
            db.start()
        for kind in KINDS:
            told["main_" + kind].append(one_update(story, kind, SOME[kind], f"turn {turn}"))
        story.run("DELETE FROM nokey WHERE a % 100 = 50")  # more rowids to close up
        lsn = db.max_lsn()
        gone = story.told("main_nokey")[len(told["main_nokey"]):]
        assert all(row[0] == 1 and row[1] % 100 == 50 for _, rows in gone for row in rows), gone
        told["main_nokey"] += gone
        assert not gone or gone[0][0] == lsn
    story.check(told, {})


@case("VACUUM together with what waits before and after it in the log")
def _(db):
    story = Story(db, "CREATE TABLE hole(x)", *FOUR_KINDS, *fill_kinds(300, 90), tables=KINDS)
    db.agent.pause()
    for kind in KINDS:
        story.execute(f"UPDATE {kind} SET v = 'before' WHERE {KEYS[kind]} = {SOME[kind]!r}")
    story.execute("VACUUM")
    story.execute("CREATE INDEX i ON nokey(a)")
    story.execute("VACUUM")
    for kind in KINDS:
        story.execute(f"UPDATE {kind} SET v = 'after' WHERE v = 'before'")
    db.agent.resume()
    for kind in KINDS:
        rows = [[row[:1] + row[2:] for row in commit] for _, commit in story.told("main_" + kind)]
        assert [len(commit) for commit in rows] == [2, 2], (kind, rows)
        assert rows[0][1] == (4, "before") and rows[1] == [(3, "before"), (4, "after")], rows
    assert [row[1] for row in story.history("main_nokey")] == ["CREATE INDEX i ON nokey(a)"]
    assert story.history("main_textkey") == []


@case("VACUUM of 100 MB: no change at all, then exactly one pair")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE hole AS SELECT zeroblob(5000000)")
    story = Story(db, *FOUR_KINDS, *fill_kinds(7000, 4000), tables=KINDS)
    assert os.stat(db.path).st_size + os.stat(db.path + "-wal").st_size > 100 * MIB
    story.run("VACUUM")
    for kind in KINDS:
        assert story.told("main_" + kind) == [], kind
    told = {"main_" + kind: [one_update(story, kind, SOME[kind], "new")] for kind in KINDS}
    story.check(told, {})
    with open(f"/proc/{db.agent.process.pid}/status", encoding="ascii") as status:
        [peak] = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
    assert peak < 256 * 1024, f"{peak} KiB resident"


def restore(path, source):
    """As `sqlite3 PATH '.restore SOURCE'` does: through SQLite's backup interface."""
    subprocess.run(["sqlite3", path, ".timeout 5000", f".restore {source}"], check=True,
                   capture_output=True)


def reserve(path, count):
    """What the manual of the checksum VFS says to do to a database that is there."""
    subprocess.run(["sqlite3", path, ".timeout 5000", f".filectrl reserve_bytes {count}",
                    "PRAGMA wal_autocheckpoint=0; VACUUM;"], check=True, capture_output=True)


@case("VACUUM and a restore that change the reserved bytes: no change, and right afterwards")
def _(db):
    story = Story(db, "PRAGMA wal_autocheckpoint=0", "CREATE TABLE hole(x)", *FOUR_KINDS,
                  *fill_kinds(300, 3000), tables=KINDS)
    copy = os.path.join(db.directory, "copy.db")
    story.run(f"VACUUM INTO '{copy}'")
    want = {kind: [] for kind in KINDS}

    def change(new):
        for kind, key in SOME.items():
            where = f"WHERE {KEYS[kind]} = {key!r}"
            [(old,)] = story.execute(f"SELECT v FROM {kind} {where}")
            story.execute(f"UPDATE {kind} SET v = {new!r} {where}")
            want[kind].append([(3, key, old), (4, key, new)])

    for count in (32, 8, 0):
        change(f"before {count} " * 900)
        reserve(db.path, count)
        change(f"after {count} " * 900)
    db.rotate()
    db.kill()
    change("waits " * 900)
    reserve(db.path, 64)
    db.start()
    change("last " * 900)
    for kind in KINDS:
        assert [rows for _, rows in story.told("main_" + kind)] == want[kind], kind
    restore(db.path, copy)
    for kind in ("ipk", "textkey", "worowid"):
        [*_, (_, back)] = story.told("main_" + kind)
        assert back == [(3, *want[kind][-1][1][1:]), (4, *want[kind][0][0][1:])], kind
    assert db.status()["gaps"] == "0", db.status()


@case("a restore that brings another text encoding ends the instances, in words")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("INSERT INTO t VALUES(1,'one')")
    db.rotate()
    first, last = db.min_lsn("main_t"), db.max_lsn()
    rows = db.get_changes("main_t", first, last)
    app.close()
    copy = os.path.join(db.directory, "copy.db")
    other = db.connect(copy, encoding="'UTF-16le'")
    other.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    other.execute("INSERT INTO t VALUES(1,'two')")
    other.close()
    restore(db.path, copy)
    for is_stopped in (False, True):
        if is_stopped:
            db.stop()
            db.start()
        db.connect().execute("INSERT INTO t(v) VALUES('three')")
        db.rotate()
        assert "encoding" in db.status()["stopped_instance"], db.status()
        done = run_ctl("get-all-changes", db.path, "main_t", first, db.max_lsn())
        assert done.returncode == 1 and b"encoding" in done.stderr, done
        assert db.get_changes("main_t", first, last) == rows


@case("the same while no agent ran: the instances end at the start")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("INSERT INTO t VALUES(1,'one')")
    db.rotate()
    app.close()
    db.stop()
    copy = os.path.join(db.directory, "copy.db")
    other = db.connect(copy, encoding="'UTF-16le'")
    other.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    other.close()
    restore(db.path, copy)
    db.start()
    assert "encoding" in db.status()["stopped_instance"], db.status()


@case("VACUUM INTO changes nothing, and a restore of the copy is the difference")
def _(db):
    story = Story(db, "CREATE TABLE hole(x)", *FOUR_KINDS, *fill_kinds(300, 90), tables=KINDS)
    copy = os.path.join(db.directory, "copy.db")
    before = db.max_lsn()
    story.run(f"VACUUM INTO '{copy}'")
    assert db.max_lsn() == before
    restore(db.path, copy)
    db.rotate()
    for kind in KINDS:
        assert story.told("main_" + kind) == [], kind
    old = {kind: one_update(story, kind, key, "changed") for kind, key in SOME.items()}
    deleted = story.run("DELETE FROM nokey WHERE a = 40", "INSERT INTO ipk VALUES(-1,'new')")
    restore(db.path, copy)
    db.rotate()
    lsn = db.max_lsn()
    [[row]] = [rows for at, rows in story.told("main_nokey") if at == deleted]
    back = {kind: [(3,) + old[kind][1][1][1:], (4,) + old[kind][1][0][1:]] for kind in KINDS}
    assert story.told("main_textkey")[-1] == (lsn, back["textkey"])
    assert story.told("main_worowid")[-1] == (lsn, back["worowid"])
    assert story.told("main_ipk")[-1] == (lsn, [(1, -1, "new")] + back["ipk"])
    # Without a key only the content tells rows apart.
    [(at, rows)] = story.told("main_nokey")[2:]
    assert at == lsn and sorted(rows) == sorted(
        [(1,) + back["nokey"][0][1:], (2,) + back["nokey"][1][1:], (2,) + row[1:]]), rows


# ---- auto_vacuum


@case("B007 auto_vacuum shrinks the file under what waits in the log")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "PRAGMA wal_autocheckpoint=0",
                  auto_vacuum="FULL")
    assert story.execute("PRAGMA auto_vacuum") == [(1,)]
    db.agent.pause()
    story.execute(fill(20_000, "i, hex(i) || substr(hex(zeroblob(500)), 1, 490)"))
    rows = story.execute("SELECT * FROM t")
    story.execute("DELETE FROM t WHERE id > 10")
    story.execute("INSERT INTO t VALUES(99999,'n')")
    db.agent.resume()
    told = story.told("main_t")
    assert [commit for _, commit in told] == [
        [(2,) + row for row in rows], [(1,) + row for row in rows[10:]], [(2, 99999, "n")]]
    assert db.agent.is_alive()
    last = story.run("UPDATE t SET v = 'm' WHERE id = 99999")
    assert story.told("main_t")[3:] == [(last, [(3, 99999, "n"), (4, 99999, "m")])]


def move_roots(mode):
    def run(db):
        names = [f"t{i}" for i in range(8)]
        kinds = ["id INTEGER PRIMARY KEY, v", "id PRIMARY KEY, v", "id, v"]
        story = Story(
            db, *[f"CREATE TABLE {name}({kinds[i % 3]})" for i, name in enumerate(names)],
            "CREATE TABLE w(id PRIMARY KEY, v) WITHOUT ROWID",
            *[fill(200, "i, zeroblob(i * 7)", name) for name in (*names, "w")],
            tables=(*names, "w"), auto_vacuum=mode, page_size=1024)
        told = {f"main_{name}": [] for name in (*names, "w")}
        pages = story.execute("PRAGMA page_count")
        roots = dict(story.execute("SELECT name, rootpage FROM sqlite_schema"))
        dropped = {}
        for name in ("t0", "t1", "t2"):  # the last roots move into the holes
            dropped[name] = story.run(f"DROP TABLE {name}", "DELETE FROM w WHERE id = " + name[1:],
                                      f"UPDATE t7 SET v = '{name}' WHERE id = 5")
            told["main_t7"].append((dropped[name], [
                (3, 5, bytes(35) if name == "t0" else f"t{int(name[1:]) - 1}"), (4, 5, name)]))
            if name != "t0":
                number = int(name[1:])
                told["main_w"].append((dropped[name], [(1, number, bytes(number * 7))]))
        if mode == "INCREMENTAL":
            for pages_of in (1, 5, 0):
                story.run(f"PRAGMA incremental_vacuum({pages_of})")
        assert story.execute("PRAGMA page_count") < pages, "nothing shrank"
        now = dict(story.execute("SELECT name, rootpage FROM sqlite_schema"))
        assert any(now[name] != roots[name] for name in now if name in roots), "no root moved"
        for name in ("t3", "t4", "t5", "t6", "w"):
            lsn = story.run(f"UPDATE {name} SET v = 'x' WHERE id = 100")
            told[f"main_{name}"].append((lsn, [(3, 100, bytes(700)), (4, 100, "x")]))
        lsn = story.run("DELETE FROM t6 WHERE id > 3")
        told["main_t6"].append((lsn, [(1, i, "x" if i == 100 else bytes(i * 7))
                                      for i in range(4, 201)]))
        story.check(told, {f"main_{name}": [(lsn, f'DROP TABLE "{name}"')]
                           for name, lsn in dropped.items()})
    return run


@case("auto_vacuum, full and incremental: roots that move, a file that shrinks")
def _(_db):
    each(move_roots("FULL"), move_roots("INCREMENTAL"))


# ---- WITHOUT ROWID


@case("B019 WITHOUT ROWID: columns in the declared order, whatever stands first on disk")
def _(db):
    story = Story(db, "CREATE TABLE wr(v TEXT, k2 INT, k1 INT, PRIMARY KEY(k1,k2)) WITHOUT ROWID",
                  tables=("wr",))
    lsn = [story.run(sql) for sql in (
        "INSERT INTO wr VALUES('val',2,1)", "UPDATE wr SET v = 'w'", "UPDATE wr SET k2 = 5",
        "DELETE FROM wr")]
    story.check({"main_wr": [
        (lsn[0], [(2, "val", 2, 1)]), (lsn[1], [(3, "val", 2, 1), (4, "w", 2, 1)]),
        (lsn[2], [(1, "w", 2, 1), (2, "w", 5, 1)]), (lsn[3], [(1, "w", 5, 1)])]}, {})
    assert story.columns("main_wr") == ["v", "k2", "k1"]


def overflow_key(i):
    return i * 7919 % 5003


@case("B019 WITHOUT ROWID: 5000 rows of 3 KB, on overflow chains and in interior pages")
def _(db):
    story = Story(db, "CREATE TABLE wr(v TEXT, k2 INT, k1 INT, PRIMARY KEY(k1,k2)) WITHOUT ROWID",
                  "CREATE TABLE other(x)", tables=("wr",))
    rows = sorted(((chr(97 + i % 26) * 3000 + str(i), i, overflow_key(i)) for i in range(5000)),
                  key=lambda row: (row[2], row[1]))
    first = story.run(("INSERT INTO wr VALUES(?,?,?)", rows), "DROP TABLE other")
    second = story.run("UPDATE wr SET v = v || 'z' WHERE k1 % 7 = 0")
    third = story.run("UPDATE wr SET k2 = -k2 WHERE k1 % 500 = 3")
    fourth = story.run("DELETE FROM wr")

    def changed(row):
        return (row[0] + "z",) + row[1:] if row[2] % 7 == 0 else row

    def moved(row):
        row = changed(row)
        return (row[0], -row[1], row[2]) if row[2] % 500 == 3 else row
    pairs = [(changed(row), moved(row)) for row in rows if changed(row) != moved(row)]

    def by_key(row):
        return row[2], row[1]
    story.check({"main_wr": [
        (first, [(2,) + row for row in rows]),
        (second, [image for row in rows if row[2] % 7 == 0
                  for image in ((3,) + row, (4,) + changed(row))]),
        (third, [(1,) + old for old, _ in pairs] +
         [(2,) + new for new in sorted((new for _, new in pairs), key=by_key)]),
        (fourth, [(1,) + row for row in sorted(map(moved, rows), key=by_key)])]}, {})


ODD_KEYS = {
    "descending": "k1 TEXT, k2 INT, v, PRIMARY KEY(k1 DESC, k2)",
    "collated": "k1 TEXT COLLATE NOCASE, k2 INT, v, PRIMARY KEY(k2 DESC, k1)",
    "a column twice": "v, k1 TEXT, k2 INT, PRIMARY KEY(k1 COLLATE NOCASE, k2, k1 COLLATE BINARY)",
    "repeated": "k1 TEXT, v, k2 INT, PRIMARY KEY(k2, k1, k2)",
    "rtrim": "k2 INT, v, k1 TEXT, PRIMARY KEY(k1 COLLATE RTRIM, k2)",
    "quoted": '"v" ANY, "k1" TEXT, "k2" INT, PRIMARY KEY("k2", [k1])',
}


def random_rows(columns, settings, seed):
    """Random rows come, change and go; replaying what is told gives the table."""
    def run(db):
        generator = random.Random(seed)
        story = Story(db, f"CREATE TABLE t({columns}) WITHOUT ROWID", **settings)
        for _ in range(12):
            changes = [
                ("INSERT OR REPLACE INTO t(k1,k2,v) VALUES(?,?,?)",
                 [(generator.choice("aAbBcC ") + generator.choice("xX ") * generator.randrange(4),
                   generator.randrange(60), generator.choice(
                       [None, 1, 2.5, "text", bytes(generator.choice([3, 400, 3000]))]))
                  for _ in range(generator.randrange(1, 80))]),
                f"UPDATE t SET v = 'new' WHERE k2 % 13 = {generator.randrange(13)}",
                f"UPDATE OR REPLACE t SET k1 = upper(k1) WHERE k2 % 17 = {generator.randrange(17)}",
                f"DELETE FROM t WHERE k2 % 5 = {generator.randrange(5)}"]
            story.commit(*generator.sample(changes, generator.randrange(1, 5)))
        rows = db.check_replay("main_t", "t")
        assert len(rows) > 100
    return run


@case("WITHOUT ROWID with odd keys: descending, collated, a column twice")
def _(_db):
    each(*[random_rows(columns, {"page_size": size, "auto_vacuum": mode}, i)
           for i, columns in enumerate(ODD_KEYS.values())
           for size, mode in ((512, "NONE"), (4096, "FULL"))])


# ---- columns


@case("B020 which column is the rowid: INTEGER PRIMARY KEY, not with DESC, no other INTEGER")
def _(db):
    story = Story(db, "CREATE TABLE dk(a INTEGER PRIMARY KEY DESC)",
                  "CREATE TABLE al(x, id INTEGER PRIMARY KEY, y)",
                  "CREATE TABLE bi(id BIGINT PRIMARY KEY)",
                  "CREATE TABLE late(x, id INTEGER, PRIMARY KEY(id DESC))",
                  tables=("dk", "al", "bi", "late"))
    lsn = story.run("INSERT INTO dk VALUES(123)", "INSERT INTO al VALUES(1,77,2)",
                    "INSERT INTO bi VALUES(5)", "INSERT INTO late VALUES('x', 8)")
    assert story.execute("SELECT rowid FROM dk") == [(1,)]
    last = story.run("UPDATE dk SET a = 124", "UPDATE al SET y = 3", "UPDATE al SET id = 78",
                     "DELETE FROM bi", "UPDATE late SET x = 'y'")
    story.check({"main_dk": [(lsn, [(2, 123)]), (last, [(1, 123), (2, 124)])],
                 "main_al": [(lsn, [(2, 1, 77, 2)]), (last, [(1, 1, 77, 2), (2, 1, 78, 3)])],
                 "main_bi": [(lsn, [(2, 5)]), (last, [(1, 5)])],
                 "main_late": [(lsn, [(2, "x", 8)]), (last, [(3, "x", 8), (4, "y", 8)])]}, {})


@case("STRICT tables, ANY columns keep every value as it was written")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a ANY, i INT, r REAL, s TEXT, b BLOB)"
                      " STRICT",
                  "CREATE TABLE w(k ANY, v ANY, PRIMARY KEY(k)) STRICT, WITHOUT ROWID",
                  tables=("t", "w"))
    values = [None, 1, "1", "01", 1.0, 2.5, b"\x00", "", b"", "NULL", -0.0, 9223372036854775807]
    lsn = story.run(*[("INSERT INTO t VALUES(?,?,?,?,?,?)", [(i, v, i, i, str(i), bytes(i))])
                      for i, v in enumerate(values)], "SELECT 1")
    second = story.run(("INSERT INTO w VALUES(?,?)", [(1, 1)]))
    third = story.run("UPDATE w SET v = '1'")
    stored = story.execute("SELECT a FROM t ORDER BY id")
    [(at, rows)] = story.told("main_t")
    assert at == lsn and [row[1:] for row in rows] == [
        (i, v, i, float(i), str(i), bytes(i)) for i, (v,) in enumerate(stored)]
    assert [repr(v) for (v,) in stored] == [repr(row[2]) for row in rows]
    story.check({"main_w": [(second, [(2, 1, 1)]), (third, [(3, 1, 1), (4, 1, "1")])]}, {})


@case("generated columns: the stored one has its value, the virtual one is NULL")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v AS (id * 2), b,"
                      " s AS (b || '!') STORED, c, w GENERATED ALWAYS AS (c) VIRTUAL)",
                  "CREATE TABLE k(v AS (b), b, s AS (b || a) STORED, a PRIMARY KEY) WITHOUT ROWID",
                  tables=("t", "k"))
    first = story.run("INSERT INTO t(b,c) VALUES('x',3)", "INSERT INTO k(a,b) VALUES(1,2)")
    second = story.run("UPDATE t SET b = 'y'", "UPDATE k SET b = 3")
    third = story.run("ALTER TABLE t ADD COLUMN more AS (c + 1)", "UPDATE t SET c = 4")
    story.check(
        {"main_t": [(first, [(2, 1, None, "x", "x!", 3, None)]),
                    (second, [(3, 1, None, "x", "x!", 3, None), (4, 1, None, "y", "y!", 3, None)]),
                    (third, [(3, 1, None, "y", "y!", 3, None), (4, 1, None, "y", "y!", 4, None)])],
         "main_k": [(first, [(2, None, 2, "21", 1)]),
                    (second, [(3, None, 2, "21", 1), (4, None, 3, "31", 1)])]},
        {"main_t": [(third, 'ALTER TABLE "t" ADD COLUMN more AS (c + 1)')]})


@case("2000 columns: at most 1990 captured, and only what changed is marked")
def _(db):
    names = [f"c{i}" for i in range(1, 2001)]
    story = Story(db, f"CREATE TABLE wide({','.join(names)})",
                  f"CREATE TABLE t({','.join(names[:1989])})",
                  f"INSERT INTO wide VALUES({','.join(map(str, range(2000)))})")
    done = run_ctl("enable-table", db.path, "wide")
    assert done.returncode == 1 and b"22925" in done.stderr, done
    captured = names[:1989] + names[-1:]
    story.enable("wide", "most", ",".join(captured))
    story.app.execute("INSERT INTO t(c1,c1989) VALUES(1,2)")
    first = story.run("UPDATE wide SET c2000 = 'x'")
    story.run("UPDATE wide SET c1995 = 'not captured'")
    added = story.run("ALTER TABLE t ADD COLUMN c1990 DEFAULT 5")
    second = story.run("UPDATE t SET c1989 = 3")
    old = tuple(range(1989)) + (1999,)
    story.check(
        {"most": [(first, [(3,) + old, (4,) + old[:-1] + ("x",)])]}, {})
    rows = db.changes("most")
    assert {row.mask for row in rows} == {mask_of([1990], 1990)}
    assert len(rows[0].mask) == 2 + 2 * 249
    narrow = story.told("main_t")
    assert [lsn for lsn, _ in narrow][1:] == [second]
    assert narrow[1][1] == [(3, 1) + (None,) * 1987 + (2,), (4, 1) + (None,) * 1987 + (3,)]
    assert story.history("main_t") == [(added, 'ALTER TABLE "t" ADD COLUMN c1990 DEFAULT 5')]


# ---- names

ODD_NAMES = ["it's", 'quo"ted', "a b", "new\nline", "sla/sh", "back\\slash", "perc%ent", "größe",
             "select", "..", "a/../b", "名前", "x;--", "[br]", "tab\t", "é" * 120]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@case("odd names of tables and columns")
def _(db):
    app = db.connect()
    ctl("enable-db", db.path)
    for name in ODD_NAMES:
        app.execute(f"CREATE TABLE {quoted(name)}(id INTEGER PRIMARY KEY, {quoted(name)})")
        ctl("enable-table", db.path, name)
    db.start()
    for name in ODD_NAMES:
        app.execute(f"INSERT INTO {quoted(name)} VALUES(1,?)", (name,))
        app.execute(f"ALTER TABLE {quoted(name)} ADD COLUMN {quoted('+' + name)} DEFAULT 1")
    db.rotate()
    catalogue = {name: (instance, folder) for name, instance, folder in db.store().execute(
        "SELECT name, capture_instance, directory FROM change_tables"
        " JOIN cdcfs_source_tables USING(source_object_id)")}
    folders = {folder for _, folder in catalogue.values()}
    assert len(folders) == len(ODD_NAMES) and not any(
        set(folder) & set("/\\\n\t") for folder in folders), folders
    assert catalogue["sla/sh"] == ("main_sla/sh", "main_sla%2Fsh")
    for name in ODD_NAMES:
        instance, folder = catalogue[name]
        assert instance == "main_" + name or (len(name) > 95 and len(instance) <= 100), instance
        first, last = db.min_lsn(instance), db.max_lsn()
        columns, rows = read_csv(db.get_changes(instance, first, last))
        assert columns == ["id", name] and commits(rows) == [[(2, 1, name)]], (name, rows)
        assert db.store().execute(
            "SELECT ddl_command FROM ddl_history JOIN change_tables USING(object_id)"
            " WHERE capture_instance = ?", (instance,)).fetchall() == [
                (f"ALTER TABLE {quoted(name)} ADD COLUMN {quoted('+' + name)} DEFAULT 1",)]
        if db.mountpoint:
            path = os.path.join(db.mountpoint, folder, "all", "csv")
            [file] = os.listdir(path)
            assert read_file(os.path.join(path, file)) == db.get_changes(instance, first, last)
    if db.mountpoint:
        assert folders <= {entry.name for entry in os.scandir(db.mountpoint) if entry.is_dir()}


@case("names match without regard to ASCII case, as SQLite does it")
def _(db):
    story = Story(db, "CREATE TABLE Orders(Id INTEGER PRIMARY KEY, Grösse, other)", tables=())
    ctl("enable-table", db.path, "ORDERS", "--captured-columns", "ID,GRösse")
    story.wait_for("main_Orders")
    lsn = story.run("INSERT INTO orders VALUES(1,2,3)")
    assert story.told("main_Orders") == [(lsn, [(2, 1, 2)])]
    assert story.columns("main_Orders") == ["Id", "Grösse"]


# ---- databases


@case("B049 UTF-16 databases: names and values come out as from a UTF-8 one")
def _(_db):
    outputs = []

    def run(encoding):
        def steps(db):
            story = Story(db, 'CREATE TABLE "naïve"("größe" TEXT, b, "日本" DEFAULT \'ü😀\')',
                          "INSERT INTO \"naïve\" VALUES('vorher', 1, 'x')",
                          tables=("naïve",), encoding=f"'{encoding}'")
            assert story.execute("PRAGMA encoding") == [(encoding,)]
            for value in ("é😀", "", "plain", "\u07ff\uffee\U0010ffff", "x" * 500 + "ß"):
                story.run(('INSERT INTO "naïve" VALUES(?,?,?)', [(value, value.encode(), 1.5)]))
            story.run("UPDATE \"naïve\" SET \"größe\" = 'nachher' WHERE b = 1")
            story.run("ALTER TABLE \"naïve\" ADD COLUMN \"später\" TEXT DEFAULT 'ä'")
            story.enable("naïve", "zweite")
            story.run('DELETE FROM "naïve"')
            output = []
            for instance in ("main_naïve", "zweite"):
                csv = db.get_changes(instance, db.min_lsn(instance), db.max_lsn())
                output.append([line.partition(b",")[2] for line in csv.split(b"\n")])
                rows = db.changes(instance)
                assert rows
            history = [row[1] for row in story.history("main_naïve")]
            assert history == ['ALTER TABLE "naïve" ADD COLUMN "später" TEXT DEFAULT \'ä\'']
            if db.mountpoint:
                assert "main_naïve" in os.listdir(db.mountpoint)
            outputs.append(output)
        return steps
    each(run("UTF-8"), run("UTF-16le"), run("UTF-16be"))
    for output in outputs[1:]:
        for lines, expected in zip(output, outputs[0]):
            different = [pair for pair in zip(lines, expected) if pair[0] != pair[1]]
            assert not different and len(lines) == len(expected), str(different)[:1000]
    assert b'"\xc3\xa9\xf0\x9f\x98\x80"' in b"".join(outputs[0][0])


def shell(path, *lines):
    subprocess.run(["sqlite3", path], input="\n".join(lines).encode(), check=True,
                   capture_output=True)


def work(db, seed):
    """Rows of all sizes, and a schema change in the midst."""
    generator = random.Random(seed)
    story = Story(db, "PRAGMA cache_size=20", fill(200, "i, zeroblob(i * 20), 'old'"),
                  fill(200, "'k' || i, zeroblob(i % 50 * 90), i", "w"), tables=("t", "w"))
    baseline = {name: story.execute(f"SELECT * FROM {name}") for name in "tw"}
    for turn in range(8):
        story.commit(
            ("INSERT INTO t(id,a,b) VALUES(?,?,?)", [
                (1000 * (turn + 1) + i, bytes(generator.randrange(3000)), "new")
                for i in range(generator.randrange(60))]),
            ("INSERT OR REPLACE INTO w VALUES(?,?,?)", [
                (f"k{generator.randrange(400)}", bytes(generator.randrange(3000)), turn)
                for i in range(generator.randrange(60))]),
            f"UPDATE t SET a = zeroblob(length(a) * 3 / 2) WHERE id % 11 = {turn}",
            f"DELETE FROM t WHERE id % 7 = {turn % 7}", f"DELETE FROM w WHERE v % 8 = {turn}")
        if turn == 4:
            story.run("ALTER TABLE t ADD COLUMN more DEFAULT 'd'", "CREATE INDEX i ON t(b)")
    for name, columns in (("t", "id, a, b"), ("w", "*")):
        db.check_replay("main_" + name, name, columns, baseline[name])
    assert [row[1] for row in story.history("main_t")] == [
        "ALTER TABLE \"t\" ADD COLUMN more DEFAULT 'd'", "CREATE INDEX i ON t(b)"]


TABLES = ("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
          "CREATE TABLE w(k TEXT PRIMARY KEY DESC, a, v) WITHOUT ROWID;")


def paged(size, reserved):
    def run(db):
        shell(db.path, f"PRAGMA page_size={size};", f".filectrl reserve_bytes {reserved}",
              "PRAGMA journal_mode=WAL;", TABLES)
        head = read_file(db.path)[:24]
        assert int.from_bytes(head[16:18], "big") in (size, 1) and head[20] == reserved, head
        work(db, size + reserved)
    return run


@case("page sizes from 512 to 65536")
def _(_db):
    each(*[paged(512 << i, 0) for i in range(8)])


@case("reserved bytes at the end of each page")
def _(_db):
    each(paged(512, 32), paged(1024, 8), paged(4096, 255), paged(65536, 16))


@case("the legacy file format, which ADD COLUMN makes a newer one")
def _(db):
    shell(db.path, ".dbconfig legacy_file_format on", "PRAGMA journal_mode=WAL;", TABLES)
    assert read_file(db.path)[44:48] == b"\0\0\0\1"
    work(db, 1)


@case("B023 a commit over two attached databases: each tree has its own part")
def _(db):
    other = Database("b.db")
    try:
        for one in (db, other):
            one.connect().execute("CREATE TABLE t(v)")
            one.start("t")
        app = db.connect()
        app.execute("ATTACH ? AS b", (other.path,))
        app.execute("CREATE TEMP TABLE secret(v)")
        app.execute("BEGIN")
        for sql in ("main.t VALUES(1)", "b.t VALUES(2)", "temp.secret VALUES('hidden')"):
            app.execute("INSERT INTO " + sql)
        app.execute("COMMIT")
        times = []
        for one, value in ((db, 1), (other, 2)):
            assert commits(one.changes("main_t")) == [[(2, value)]]
            lsn = one.max_lsn()
            [(time,)] = one.store().execute(
                "SELECT strftime('%s', tran_end_time) FROM lsn_time_mapping WHERE start_lsn = ?",
                (bytes.fromhex(lsn.replace(":", "")),))
            times.append(int(time))
            catalogue = csv_fields(ctl("help-change-data-capture", one.path, "--format", "csv"))
            assert not any(b"secret" in field for record in catalogue for _, field in record)
        assert abs(times[0] - times[1]) <= 1, times
    finally:
        other.close()


main()
