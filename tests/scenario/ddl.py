#!/usr/bin/env python3
"""Schema changes under a capture instance: its columns stay, its rows stay right, and each change
is in ddl_history once for each instance. The number of a case stays; its text says what is right.
"""
import os
import subprocess
import time

from cdctest import Database, case, ctl, main, read_file, run_ctl, wait_until
from changes import commits
from story import Story

NUMBERS = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def fill(count, select, table="t"):
    return NUMBERS.format(count) + f"INSERT INTO {table} SELECT {select} FROM n"


def roots(story, tables):
    return [story.execute(f"SELECT rootpage FROM sqlite_schema WHERE name = '{t}'")
            for t in tables]


# ---- ADD COLUMN


@case("ADD COLUMN: ignored by the instance, short records stay what they are")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)",
                  "INSERT INTO t VALUES(1,'a'),(2,'b')")
    first = story.run("INSERT INTO t VALUES(3,'c')")
    old = story.freeze()
    added = story.run("ALTER TABLE t ADD COLUMN c INT DEFAULT 9")
    story.run("UPDATE t SET c = 5 WHERE id = 1")  # of a column that is not captured
    second = story.run("UPDATE t SET v = 'bb', c = 6 WHERE id = 2")
    third = story.run("DELETE FROM t WHERE id = 3")
    story.check({"main_t": [(first, [(2, 3, "c")]), (second, [(3, 2, "b"), (4, 2, "bb")]),
                            (third, [(1, 3, "c")])]},
                {"main_t": [(added, 'ALTER TABLE "t" ADD COLUMN c INT DEFAULT 9')]}, old)
    assert story.columns("main_t") == ["id", "v"]


@case("ADD COLUMN: rows stored before it show its default, in the column's affinity")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)",
                  "INSERT INTO t VALUES(1,'a'),(2,'b'),(3,'c')")
    adds = [story.run("ALTER TABLE t ADD COLUMN " + definition) for definition in (
        "i INT DEFAULT '9'", "s TEXT DEFAULT 7", "r REAL DEFAULT 3", "x DEFAULT x'00ff'", "n")]
    story.enable("t", "all_columns")
    first = story.run("UPDATE t SET v = 'aa' WHERE id = 1")
    second = story.run("UPDATE t SET i = 1, n = 2 WHERE id = 2")
    third = story.run("DELETE FROM t WHERE id = 3")
    default = (9, "7", 3.0, b"\x00\xff", None)
    story.check(
        {"main_t": [(first, [(3, 1, "a"), (4, 1, "aa")]), (third, [(1, 3, "c")])],
         "all_columns": [
             (first, [(3, 1, "a") + default, (4, 1, "aa") + default]),
             (second, [(3, 2, "b") + default, (4, 2, "b", 1, "7", 3.0, b"\x00\xff", 2)]),
             (third, [(1, 3, "c") + default])]},
        {"main_t": [(lsn, 'ALTER TABLE "t" ADD COLUMN ' + definition) for lsn, definition in zip(
            adds, ("i INT DEFAULT '9'", "s TEXT DEFAULT 7", "r REAL DEFAULT 3",
                   "x DEFAULT x'00ff'", "n"))]})


@case("ADD COLUMN twice in one transaction, with rows between")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES(1,'a')")
    lsn = story.run(
        "INSERT INTO t VALUES(2,'b')", 'ALTER TABLE t ADD COLUMN "c, (c" TEXT DEFAULT \'x, y)\'',
        "INSERT INTO t VALUES(3,'c','d')", "ALTER TABLE t ADD COLUMN d CHECK(d <> 1)",
        "UPDATE t SET d = 2, v = 'z' WHERE id = 1")
    story.check({"main_t": [(lsn, [(3, 1, "a"), (4, 1, "z"), (2, 2, "b"), (2, 3, "c")])]},
                {"main_t": [
                    (lsn, 'ALTER TABLE "t" ADD COLUMN "c, (c" TEXT DEFAULT \'x, y)\''),
                    (lsn, 'ALTER TABLE "t" ADD COLUMN d CHECK(d <> 1)')]})


# ---- DROP COLUMN

DROPS = {"first": "a", "middle": "b", "last": "c"}


def drop_column(where):
    """Rewrites 10000 rows, which is no change; one of them is changed in the same transaction."""
    db = Database()
    try:
        names = ["a", "b", "c"]
        gone = names.index(DROPS[where])
        other = names[(gone + 1) % 3]
        story = Story(db, "CREATE TABLE t(a, b, c)",
                      fill(10_000, "'a' || i, 'b' || i, CASE WHEN i % 500 THEN i"
                                   " ELSE zeroblob(9000) END"))
        first = story.run("UPDATE t SET a = 'new', b = 'new' WHERE rowid = 77")
        old = story.freeze()
        changed = story.run(f"ALTER TABLE t DROP COLUMN {DROPS[where]}",
                            f"UPDATE t SET {other} = 'x' WHERE rowid = 5001",
                            "DELETE FROM t WHERE rowid = 5002")
        last = story.run("INSERT INTO t VALUES(1, 2)",
                         f"UPDATE t SET {other} = 'y' WHERE rowid = 5")

        def row(i, **values):
            value = {"a": f"a{i}", "b": f"b{i}", "c": i, **values, DROPS[where]: None}
            return tuple(value[name] for name in names)
        new = dict(zip([name for name in names if name != DROPS[where]], (1, 2)))
        story.check(
            {"main_t": [
                (first, [(3, "a77", "b77", 77), (4, "new", "new", 77)]),
                (changed, [(1,) + row(5002), (3,) + row(5001), (4,) + row(5001, **{other: "x"})]),
                (last, [(3,) + row(5), (4,) + row(5, **{other: "y"}), (2,) + row(0, **new)])]},
            {"main_t": [(changed, f'ALTER TABLE "t" DROP COLUMN "{DROPS[where]}"')]}, old)
        assert story.columns("main_t") == names
    finally:
        db.close()


for place in DROPS:
    case(f"DROP COLUMN, the {place} one, under 10000 rows")(lambda _, p=place: drop_column(p))


@case("DROP COLUMN, then ADD COLUMN of the same name: it is another column")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, w)",
                  "INSERT INTO t VALUES(1,'a','w1'),(2,'b','w2')")
    dropped = story.run("ALTER TABLE t DROP COLUMN v")
    added = story.run("ALTER TABLE t ADD COLUMN v DEFAULT 'new'")
    story.run("UPDATE t SET v = 'x' WHERE id = 1")
    lsn = story.run("UPDATE t SET w = 'y', v = 'z' WHERE id = 2")
    both = story.run("ALTER TABLE t DROP COLUMN w", "ALTER TABLE t ADD COLUMN w DEFAULT 3")
    last = story.run("DELETE FROM t WHERE id = 1")
    told = story.told("main_t")
    assert told[0] == (lsn, [(3, 2, None, "w2"), (4, 2, None, "y")])
    assert told[1:] == [(last, [(1, 1, None, None)])], told
    assert story.history("main_t") == [
        (dropped, 'ALTER TABLE "t" DROP COLUMN "v"'),
        (added, 'ALTER TABLE "t" ADD COLUMN v DEFAULT \'new\''),
        (both, 'CREATE TABLE t(id INTEGER PRIMARY KEY, v DEFAULT \'new\', w DEFAULT 3)')]


# ---- RENAME COLUMN


@case("auto_vacuum moves the table while it is altered: it stays the table that it was")
def _(db):
    story = Story(db, "CREATE TABLE one(x)", "CREATE INDEX i ON one(x)", "CREATE TABLE two(x)",
                  "CREATE TABLE k(id INTEGER PRIMARY KEY, a, b, c)", "CREATE TABLE n(a, b, c)",
                  "CREATE TABLE w(k PRIMARY KEY, a, b, c) WITHOUT ROWID",
                  "INSERT INTO k VALUES(1,'a','b','c')", "INSERT INTO n VALUES('a','b','c')",
                  "INSERT INTO w VALUES(1,'a','b','c')", tables=("k", "n", "w"), auto_vacuum=1)
    tables = {"k": [1, "a", "b", "c"], "n": ["a", "b", "c"], "w": [1, "a", "b", "c"]}
    steps = (("DROP INDEX i", "ADD COLUMN d DEFAULT 7", {}),
             ("DROP TABLE one", "DROP COLUMN c", {-1: None}),
             ("DROP TABLE two", "RENAME COLUMN b TO e", {}))
    for step, (drop, alter, gone) in enumerate(steps):
        before = roots(story, tables)
        lsn = story.run(drop, *(f"UPDATE {t} SET a = 'a{step}'" for t in tables),
                        *(f"ALTER TABLE {t} {alter}" for t in tables))
        assert roots(story, tables) != before, "no root has moved"
        for table, old in tables.items():
            for at, value in gone.items():
                old[at] = value
            new = list(old)
            new[-3] = f"a{step}"
            assert story.told("main_" + table)[-1] == (lsn, [(3, *old), (4, *new)]), table
            tables[table] = new


@case("B029 RENAME COLUMN in a cycle: values stay with their column")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, x, y)")
    first = story.run("INSERT INTO t VALUES(1,'in-x','in-y')")
    old = story.freeze()
    renames = [story.run(f"ALTER TABLE t RENAME {a} TO {b}")
               for a, b in (("x", "tmp"), ("y", "x"), ("tmp", "y"))]
    start = story.enable("t", "new")
    second = story.run("INSERT INTO t VALUES(2,'p','q')")
    third = story.run("UPDATE t SET x = 'was y' WHERE id = 1")
    fourth = story.run("ALTER TABLE t RENAME x TO tmp", "ALTER TABLE t RENAME y TO x",
                       "ALTER TABLE t RENAME tmp TO y", "UPDATE t SET y = 'still' WHERE id = 2")
    story.check(
        {"main_t": [
            (first, [(2, 1, "in-x", "in-y")]), (second, [(2, 2, "p", "q")]),
            (third, [(3, 1, "in-x", "in-y"), (4, 1, "in-x", "was y")]),
            (fourth, [(3, 2, "p", "q"), (4, 2, "p", "still")])],
         "new": [
             (second, [(2, 2, "p", "q")]),
             (third, [(3, 1, "in-x", "in-y"), (4, 1, "in-x", "was y")]),
             (fourth, [(3, 2, "p", "q"), (4, 2, "p", "still")])]},
        {"main_t": [
            (renames[0], 'ALTER TABLE "t" RENAME COLUMN "x" TO "tmp"'),
            (renames[1], 'ALTER TABLE "t" RENAME COLUMN "y" TO "x"'),
            (renames[2], 'ALTER TABLE "t" RENAME COLUMN "tmp" TO "y"'),
            (fourth, 'ALTER TABLE "t" RENAME COLUMN "y" TO "x"'),
            (fourth, 'ALTER TABLE "t" RENAME COLUMN "x" TO "y"')],
         "new": [(fourth, 'ALTER TABLE "t" RENAME COLUMN "y" TO "x"'),
                 (fourth, 'ALTER TABLE "t" RENAME COLUMN "x" TO "y"')]}, old)
    assert story.columns("main_t") == ["id", "x", "y"]
    assert story.columns("new") == ["id", "y", "x"]
    assert start >= renames[-1]


# ---- RENAME TABLE


@case("RENAME TABLE: followed under the instance's name, also after kill -9")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "PRAGMA wal_autocheckpoint=0")
    first = story.run("INSERT INTO t VALUES(1,'a')")
    old = story.freeze()
    quoted = '"u ""v"""'
    renamed = story.run(f"ALTER TABLE t RENAME TO {quoted}")
    second = story.run(f"UPDATE {quoted} SET v = 'b'")
    db.kill()
    story.execute(f"INSERT INTO {quoted} VALUES(2,'c')")
    story.execute(f"ALTER TABLE {quoted} RENAME TO w")
    story.execute("INSERT INTO w VALUES(3,'d')")
    db.start()
    fifth = story.run("DELETE FROM w WHERE id = 1")
    told = story.told("main_t")
    history = story.history("main_t")
    assert told == [
        (first, [(2, 1, "a")]), (second, [(3, 1, "a"), (4, 1, "b")]), (told[2][0], [(2, 2, "c")]),
        (told[3][0], [(2, 3, "d")]), (fifth, [(1, 1, "b")])], told
    assert history == [(renamed, f'ALTER TABLE "t" RENAME TO {quoted}'),
                       (history[1][0], f'ALTER TABLE {quoted} RENAME TO "w"')], history
    assert told[2][0] < history[1][0] < told[3][0]
    story.check_frozen(old)


@case("RENAME TABLE that changes the case of letters only")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, Ab)", "INSERT INTO t VALUES(1,1)")
    renamed = story.run("ALTER TABLE t RENAME TO x", "ALTER TABLE x RENAME TO T")
    column = story.run("ALTER TABLE T RENAME ab TO AB")
    lsn = story.run("UPDATE t SET ab = 2")
    story.check({"main_t": [(lsn, [(3, 1, 1), (4, 1, 2)])]},
                {"main_t": [(renamed, 'ALTER TABLE "t" RENAME TO "T"'),
                            (column, 'ALTER TABLE "T" RENAME COLUMN "Ab" TO "AB"')]})
    assert story.columns("main_t") == ["id", "Ab"]


@case("RENAME TABLE a to b and a new a in one transaction: the instance goes with b")
def _(db):
    story = Story(db, "CREATE TABLE a(id INTEGER PRIMARY KEY, v)", "INSERT INTO a VALUES(1,'old')",
                  tables=("a",))
    renamed = story.run("ALTER TABLE a RENAME TO b", "CREATE TABLE a(id INTEGER PRIMARY KEY, v)",
                        "INSERT INTO a VALUES(1,'other')", "UPDATE b SET v = 'new'")
    story.run("UPDATE a SET v = 'another'")
    lsn = story.run("INSERT INTO b VALUES(2,'c')", "INSERT INTO a VALUES(2,'d')")
    db.kill()
    story.execute("DELETE FROM a")
    db.start()
    last = story.run("DELETE FROM b WHERE id = 1")
    story.check({"main_a": [(renamed, [(3, 1, "old"), (4, 1, "new")]), (lsn, [(2, 2, "c")]),
                            (last, [(1, 1, "new")])]},
                {"main_a": [(renamed, 'ALTER TABLE "a" RENAME TO "b"')]})
    start = story.enable("a", "new_a")  # the new one can have an instance of its own
    first = story.run("INSERT INTO a VALUES(1,'x')")
    assert start >= last and story.told("new_a") == [(first, [(2, 1, "x")])]


@case("two captured tables that change names")
def _(db):
    story = Story(db, "CREATE TABLE a(id INTEGER PRIMARY KEY, v)",
                  "CREATE TABLE b(id INTEGER PRIMARY KEY, v)",
                  "INSERT INTO a VALUES(1,'a')", "INSERT INTO b VALUES(1,'b')", tables=("a", "b"))
    lsn = story.run("ALTER TABLE a RENAME TO x", "ALTER TABLE b RENAME TO a",
                    "ALTER TABLE x RENAME TO b", "UPDATE a SET v = 'was b'")
    last = story.run("UPDATE b SET v = 'was a'")
    story.check(
        {"main_a": [(last, [(3, 1, "a"), (4, 1, "was a")])],
         "main_b": [(lsn, [(3, 1, "b"), (4, 1, "was b")])]},
        {"main_a": [(lsn, 'ALTER TABLE "a" RENAME TO "b"')],
         "main_b": [(lsn, 'ALTER TABLE "b" RENAME TO "a"')]})


# ---- another type


def rebuild(new, select, table="t"):
    """SQLite's twelve steps, as an ORM takes them."""
    return (f"CREATE TABLE new_{table}({new})", f"INSERT INTO new_{table} {select}",
            f"DROP TABLE {table}", f"ALTER TABLE new_{table} RENAME TO {table}")


@case("a type changed by a rebuild: no row is told that stayed what it was")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, v TEXT)",
                  fill(500, "i, i * 2, '0' || i"))
    first = story.run("UPDATE t SET v = 'x' WHERE id = 7")
    old = story.freeze()
    lsn = story.run(*rebuild("id INTEGER PRIMARY KEY, n INTEGER, v VARCHAR(20), more DEFAULT 1",
                             "SELECT id, n, v, 5 FROM t"),
                    "UPDATE t SET n = -1 WHERE id = 9", "DELETE FROM t WHERE id = 10")
    last = story.run("UPDATE t SET n = -2, v = 3 WHERE id = 9")
    story.check(
        {"main_t": [
            (first, [(3, 7, 14, "07"), (4, 7, 14, "x")]),
            (lsn, [(1, 10, 20, "010"), (3, 9, 18, "09"), (4, 9, -1, "09")]),
            (last, [(3, 9, -1, "09"), (4, 9, -2, "3")])]},
        {"main_t": [(lsn, 'CREATE TABLE "t"(id INTEGER PRIMARY KEY, n INTEGER, v VARCHAR(20),'
                          " more DEFAULT 1)", True)]}, old)
    assert story.columns("main_t") == ["id", "n", "v"]
    assert story.types("main_t") == ["INTEGER", "INTEGER", "VARCHAR(20)"]


@case("a type changed by a rebuild that converts the values: the differences are told")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)",
                  "INSERT INTO t VALUES(1,'01'),(2,'x'),(3,NULL)")
    lsn = story.run(*rebuild("id INTEGER PRIMARY KEY, v INTEGER", "SELECT * FROM t"))
    last = story.run("UPDATE t SET v = '02' WHERE id = 2")
    story.check({"main_t": [(lsn, [(3, 1, "01"), (4, 1, 1)]), (last, [(3, 2, "x"), (4, 2, 2)])]},
                {"main_t": [(lsn, 'CREATE TABLE "t"(id INTEGER PRIMARY KEY, v INTEGER)', True)]})
    assert story.types("main_t") == ["INTEGER", "INTEGER"]


@case("a type changed by writable_schema: stored values stay what they are")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)",
                  "INSERT INTO t VALUES(1,'01'),(2,'02')")
    new = "CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER)"
    [(version,)] = story.execute("PRAGMA schema_version")
    story.execute("PRAGMA writable_schema=ON")
    lsn = story.run(f"UPDATE sqlite_schema SET sql = '{new}' WHERE name = 't'",
                    f"PRAGMA schema_version={version + 1}")
    story.execute("PRAGMA writable_schema=RESET")
    last = story.run("UPDATE t SET v = '7' WHERE id = 1")
    deleted = story.run("DELETE FROM t WHERE id = 2")
    story.check(
        {"main_t": [(last, [(3, 1, "01"), (4, 1, 7)]), (deleted, [(1, 2, "02")])]},
        {"main_t": [(lsn, new, True)]})
    assert story.types("main_t") == ["INTEGER", "INTEGER"]


@case("B034 an ORM's rebuild of a table: what stayed is not told, later changes are")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)", fill(100, "i, 'v' || i"))
    lsn = story.run(*rebuild("id INTEGER PRIMARY KEY, v TEXT NOT NULL", "SELECT * FROM t"))
    last = story.run("UPDATE t SET v = 'z' WHERE id = 5")
    story.check({"main_t": [(last, [(3, 5, "v5"), (4, 5, "z")])]},
                {"main_t": [(lsn, 'CREATE TABLE "t"(id INTEGER PRIMARY KEY, v TEXT NOT NULL)')]})


@case("a rebuild that moves columns about, of a table without a key")
def _(db):
    story = Story(db, "CREATE TABLE t(a, b)", fill(100, "i, i % 10"), "DELETE FROM t WHERE a < 11")
    lsn = story.run(*rebuild("b, c DEFAULT 1, a", "SELECT b, 2, a FROM t ORDER BY a DESC"),
                    "UPDATE t SET b = 1000 WHERE a = 50", "INSERT INTO t(a,b) VALUES(90,0)")
    last = story.run("DELETE FROM t WHERE a IN (51, 90)")
    [(told, rows), (later, more)] = story.told("main_t")
    assert told == lsn and later == last
    assert sorted(rows) == [(1, 50, 0), (2, 50, 1000), (2, 90, 0)], rows
    assert sorted(more) == [(1, 51, 1), (1, 90, 0), (1, 90, 0)], more
    assert story.history("main_t") == [(lsn, 'CREATE TABLE "t"(b, c DEFAULT 1, a)')]


# ---- keys and indexes


@case("another key: rows keep the identity that the instance began with")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)", fill(50, "i, 'v' || i"))
    new = "id INTEGER, v TEXT PRIMARY KEY"
    lsn = story.run(*rebuild(new, "SELECT * FROM t ORDER BY id DESC"))
    second = story.run("UPDATE t SET v = 'z' WHERE id = 5")
    third = story.run("UPDATE t SET id = 500 WHERE v = 'v6'")
    back = story.run(*rebuild("v TEXT, id INTEGER PRIMARY KEY", "SELECT v, id FROM t"),
                     "DELETE FROM t WHERE id = 7")
    last = story.run("UPDATE t SET v = 'y' WHERE id = 8")
    story.check(
        {"main_t": [(second, [(3, 5, "v5"), (4, 5, "z")]), (third, [(1, 6, "v6"), (2, 500, "v6")]),
                    (back, [(1, 7, "v7")]), (last, [(3, 8, "v8"), (4, 8, "y")])]},
        {"main_t": [(lsn, f'CREATE TABLE "t"({new})'),
                    (back, 'CREATE TABLE "t"(v TEXT, id INTEGER PRIMARY KEY)')]})


@case("a table without a key gets one, and loses it")
def _(db):
    story = Story(db, "CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1,'x'),(2,'y')")
    first = story.run(*rebuild("a INTEGER PRIMARY KEY, b", "SELECT * FROM t"))
    second = story.run("UPDATE t SET b = 'z' WHERE a = 2")
    third = story.run(*rebuild("a, b", "SELECT * FROM t ORDER BY a DESC"))
    fourth = story.run("UPDATE t SET b = 'w' WHERE a = 1")
    story.check(
        {"main_t": [(second, [(3, 2, "y"), (4, 2, "z")]), (fourth, [(3, 1, "x"), (4, 1, "w")])]},
        {"main_t": [(first, 'CREATE TABLE "t"(a INTEGER PRIMARY KEY, b)', True),
                    (third, 'CREATE TABLE "t"(a, b)', True)]})


@case("a table becomes WITHOUT ROWID and a rowid table again")
def _(db):
    story = Story(db, "CREATE TABLE t(v, k TEXT PRIMARY KEY)", fill(300, "i, 'k' || i"))
    first = story.run("CREATE TABLE n(v, k TEXT PRIMARY KEY, w) WITHOUT ROWID",
                      "INSERT INTO n SELECT v, k, 1 FROM t", "DROP TABLE t",
                      "ALTER TABLE n RENAME TO t", "UPDATE t SET v = 'x' WHERE k = 'k5'")
    second = story.run("UPDATE t SET v = 'y' WHERE k = 'k5'")
    third = story.run(*rebuild("k TEXT PRIMARY KEY, v", "SELECT k, v FROM t ORDER BY v"))
    fourth = story.run("DELETE FROM t WHERE k = 'k6'")
    story.check(
        {"main_t": [(first, [(3, 5, "k5"), (4, "x", "k5")]),
                    (second, [(3, "x", "k5"), (4, "y", "k5")]), (fourth, [(1, 6, "k6")])]},
        {"main_t": [(first, 'CREATE TABLE "t"(v, k TEXT PRIMARY KEY, w) WITHOUT ROWID'),
                    (third, 'CREATE TABLE "t"(k TEXT PRIMARY KEY, v)')]})


@case("CREATE INDEX and DROP INDEX are told as they were written, those of other tables are not")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)", "CREATE TABLE other(a)",
                  fill(200, "i, i, i"))
    create = 'CREATE UNIQUE INDEX "i ""1" ON t(v COLLATE NOCASE DESC)  WHERE w > 3'
    first = story.run(create)
    story.run("CREATE INDEX io ON other(a)")
    second = story.run("UPDATE t SET v = -1 WHERE id = 4")
    story.run("REINDEX")
    third = story.run('DROP INDEX "i ""1"')
    both = story.run("CREATE INDEX j ON t(v)", "CREATE INDEX k ON t(w)", "DROP INDEX io")
    story.run("ANALYZE")
    again = story.run("DROP INDEX j", "CREATE INDEX j ON t(v, w)")
    story.check(
        {"main_t": [(second, [(3, 4, 4, 4), (4, 4, -1, 4)])]},
        {"main_t": [(first, create), (third, 'DROP INDEX "i ""1"'),
                    (both, "CREATE INDEX j ON t(v)"), (both, "CREATE INDEX k ON t(w)"),
                    (again, 'DROP INDEX "j"'), (again, "CREATE INDEX j ON t(v, w)")]})


@case("the index that is an instance's identity is dropped: its columns stay the identity")
def _(db):
    story = Story(db, "CREATE TABLE t(a NOT NULL, b)", "CREATE UNIQUE INDEX ua ON t(a)",
                  "INSERT INTO t VALUES(1,'x'),(2,'y')",
                  options=("--supports-net-changes", "1", "--index", "ua"))
    lsn = story.run("DROP INDEX ua")
    second = story.run("UPDATE t SET a = 3 WHERE a = 1", "UPDATE t SET b = 'z' WHERE a = 2")
    story.check({"main_t": [(second, [(1, 1, "x"), (3, 2, "y"), (4, 2, "z"), (2, 3, "x")])]},
                {"main_t": [(lsn, 'DROP INDEX "ua"')]})


# ---- DROP TABLE


@case("DROP TABLE: no row is told, the instance ends, and all of it stays readable")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "CREATE TABLE u(a)",
                  fill(500, "i, zeroblob(i)"), tables=("t", "u"))
    first = story.run("UPDATE t SET v = 'x' WHERE id = 5")
    old = story.freeze()
    lsn = story.run("INSERT INTO t VALUES(1000, 1)", "DROP TABLE t", "INSERT INTO u VALUES(1)")
    assert story.is_dropped("main_t") and not story.is_dropped("main_u")
    wanted = ({"main_t": [(first, [(3, 5, bytes(5)), (4, 5, "x")])], "main_u": [(lsn, [(2, 1)])]},
              {"main_t": [(lsn, 'DROP TABLE "t"')]})
    story.check(*wanted, old)
    db.stop()
    db.start()
    story.check(*wanted, old)
    story.run("CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES(1,'not captured')")
    db.kill()
    db.start()
    story.check(*wanted, old)
    if db.mountpoint:
        validity = read_file(os.path.join(db.mountpoint, "main_t", "validity.json")).decode()
        assert '"has_drop_pending":true' in validity.replace(" ", ""), validity


@case("DROP and CREATE of one name in one transaction: what both have is one table")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "CREATE TABLE q(a, b)",
                  "INSERT INTO t VALUES(1,'a'),(2,'b'),(3,'c')", "INSERT INTO q VALUES(1,1)",
                  tables=("t", "q"))
    lsn = story.run("DROP TABLE t", "CREATE TABLE t(w, v, id INTEGER PRIMARY KEY)",
                    "INSERT INTO t VALUES(0,'a',1),(0,'bb',2),(0,'d',4)")
    gone = story.run("DROP TABLE q", "CREATE TABLE q(a, c)", "INSERT INTO q VALUES(1,2)")
    last = story.run("DELETE FROM t WHERE id = 1", "INSERT INTO q VALUES(3,4)")
    assert story.is_dropped("main_q") and not story.is_dropped("main_t")
    story.check(
        {"main_t": [(lsn, [(1, 3, "c"), (3, 2, "b"), (4, 2, "bb"), (2, 4, "d")]),
                    (last, [(1, 1, "a")])],
         "main_q": []},
        {"main_t": [(lsn, "CREATE TABLE t(w, v, id INTEGER PRIMARY KEY)")],
         "main_q": [(gone, "CREATE TABLE q(a, c)")]})


@case("DROP and CREATE of one name in two transactions: two tables")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES(1,'a')")
    lsn = story.run("DROP TABLE t")
    story.run("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    story.run("INSERT INTO t VALUES(2,'b')")
    story.check({"main_t": []}, {"main_t": [(lsn, 'DROP TABLE "t"')]})
    assert story.is_dropped("main_t")


# ---- what is rolled back, and what waits in the log


@case("DDL that is rolled back is not told")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", fill(300, "i, i"))
    for sql in ("ALTER TABLE t ADD COLUMN d", "ALTER TABLE t DROP COLUMN v", "DROP TABLE t",
                "ALTER TABLE t RENAME TO u"):
        story.execute("PRAGMA cache_size=2")  # so that pages of it stand in the log
        story.execute("BEGIN")
        story.execute(sql)
        story.execute("CREATE TABLE big AS SELECT zeroblob(100000)")
        story.execute("ROLLBACK")
    lsn = story.run("INSERT INTO t VALUES(1000,'x')", "SAVEPOINT s", "ALTER TABLE t DROP COLUMN v",
                    "UPDATE t SET id = -id", "ROLLBACK TO s", "RELEASE s")
    story.check({"main_t": [(lsn, [(2, 1000, "x")])]}, {})


@case("DDL in the middle of what waits in the log: each commit by its own schema")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.agent.pause()
    for i in range(1, 101):
        story.execute(f"INSERT INTO t VALUES({i},{i})")
    story.execute("ALTER TABLE t DROP COLUMN v")
    story.execute("INSERT INTO t VALUES(101)")
    story.execute("ALTER TABLE t ADD COLUMN v DEFAULT 9")
    story.execute("INSERT INTO t VALUES(102,'new')")
    story.execute("ALTER TABLE t RENAME TO u")
    story.commit("DELETE FROM u WHERE id = 50", "CREATE INDEX i ON u(v)",
                 "INSERT INTO u VALUES(103,'c')")
    story.execute("DROP TABLE u")
    db.agent.resume()
    told, history = story.told("main_t"), story.history("main_t")
    assert [rows for _, rows in told] == [[(2, i, i)] for i in range(1, 101)] + [
        [(2, 101, None)], [(2, 102, None)], [(1, 50, None), (2, 103, None)]], told[99:]
    assert [row[1] for row in history] == [
        'ALTER TABLE "t" DROP COLUMN "v"', 'ALTER TABLE "t" ADD COLUMN v DEFAULT 9',
        'ALTER TABLE "t" RENAME TO "u"', "CREATE INDEX i ON u(v)", 'DROP TABLE "u"'], history
    lsn = [row[0] for row in history]
    assert told[99][0] < lsn[0] < told[100][0] < lsn[1] < told[101][0] < lsn[2] < told[102][0]
    assert lsn[3] == told[102][0] < lsn[4]
    assert story.is_dropped("main_t") and story.columns("main_t") == ["id", "v"]
    if db.mountpoint:  # one column list a file: a border before each change
        ends = [os.path.basename(path).split("-")[1][:20] for path in db.files("main_t")]
        assert told[99][0].replace(":", "") in ends, ends


# ---- two instances


@case("two instances of a table in tandem, the older one disabled: nothing is lost")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
    first = story.run("INSERT INTO t VALUES(1,'a1','b1')")
    added = story.run("ALTER TABLE t ADD COLUMN c DEFAULT 'c0'")
    start = story.enable("t", "newer", "id,a,c")
    both = [story.run("INSERT INTO t VALUES(2,'a2','b2','c2')"),
            story.run("UPDATE t SET b = 'b3' WHERE id = 1"),
            story.run("UPDATE t SET c = 'c3' WHERE id = 1"),
            story.run("UPDATE t SET a = 'a3', id = 3 WHERE id = 1")]
    older = [(first, [(2, 1, "a1", "b1")]), (both[0], [(2, 2, "a2", "b2")]),
             (both[1], [(3, 1, "a1", "b1"), (4, 1, "a1", "b3")]),
             (both[3], [(1, 1, "a1", "b3"), (2, 3, "a3", "b3")])]
    newer = [(both[0], [(2, 2, "a2", "c2")]), (both[2], [(3, 1, "a1", "c0"), (4, 1, "a1", "c3")]),
             (both[3], [(1, 1, "a1", "c3"), (2, 3, "a3", "c3")])]
    history = [(added, "ALTER TABLE \"t\" ADD COLUMN c DEFAULT 'c0'")]
    assert first < added <= start < both[0]
    story.check({"main_t": older, "newer": newer}, {"main_t": history})
    frozen = story.freeze("newer")
    db.agent.pause()  # what was committed before belongs to both
    story.execute("INSERT INTO t VALUES(4,'a4','b4','c4')")
    db.agent.resume()
    ctl("disable-table", db.path, "t", "--capture-instance", "main_t")
    last = story.run("DELETE FROM t WHERE id = 2")
    told = story.told("newer")
    assert told[:3] == newer and [rows for _, rows in told[3:]] == [
        [(2, 4, "a4", "c4")], [(1, 2, "a2", "c2")]] and told[4][0] == last, told
    story.check_frozen(frozen)
    story.check({"newer": told}, {})
    assert b"newer" in ctl("help-change-data-capture", db.path)
    assert b"main_t" not in ctl("help-change-data-capture", db.path)


# ---- while no agent ran


@case("schema changed while no agent ran, the log kept: told exactly")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)", "PRAGMA wal_autocheckpoint=0")
    first = story.run("INSERT INTO t VALUES(1,'a','x')")
    db.stop()
    story.execute("INSERT INTO t VALUES(2,'b','y')")
    story.execute("ALTER TABLE t DROP COLUMN v")
    story.execute("INSERT INTO t VALUES(3,'z')")
    story.commit(*rebuild("w TEXT, id INTEGER PRIMARY KEY", "SELECT w, id FROM t"),
                 "DELETE FROM t WHERE id = 1")
    db.start()
    last = story.run("UPDATE t SET w = 'yy' WHERE id = 2")
    told, history = story.told("main_t"), story.history("main_t")
    assert [rows for _, rows in told[:-1]] == [
        [(2, 1, "a", "x")], [(2, 2, "b", "y")], [(2, 3, None, "z")], [(1, 1, None, "x")]], told
    assert told[0][0] == first and told[-1] == (last, [(3, 2, None, "y"), (4, 2, None, "yy")])
    assert history == [(history[0][0], 'ALTER TABLE "t" DROP COLUMN "v"'),
                       (told[3][0], 'CREATE TABLE "t"(w TEXT, id INTEGER PRIMARY KEY)', True)]
    assert told[1][0] < history[0][0] < told[2][0]


@case("schema changed while no agent ran, the log gone: a gap, and right afterwards")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)", "CREATE TABLE u(a, b)",
                  tables=("t", "u"))
    first = story.run("INSERT INTO t VALUES(1,'a','x')")
    old = story.freeze()
    db.stop()
    story.execute("ALTER TABLE t DROP COLUMN v")
    story.execute("ALTER TABLE t RENAME TO tt")
    story.execute("DROP TABLE u")
    wait_until(lambda: story.app.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    story.execute("INSERT INTO tt VALUES(2,'y')")
    db.start()
    last = story.run("INSERT INTO tt VALUES(3,'z')")
    assert run_ctl("get-all-changes", db.path, "main_t", first, last).returncode == 1
    rows = ctl("get-all-changes", db.path, "main_t", last, last)
    assert rows.endswith(b',2,\\x07,3,,"z"\n') and rows.count(b"\n") == 2, rows
    story.check_frozen(old)
    # The statements are lost with the log; the text that they led to is not.
    [(lsn, sql)] = story.history("main_t")
    assert sql == 'CREATE TABLE "tt"(id INTEGER PRIMARY KEY, w)' and first < lsn <= last, sql
    assert story.is_dropped("main_u")


# ---- public reports


@case("B025 a dropped instance leaves nothing that makes anyone build it again")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    added = story.run("ALTER TABLE t ADD COLUMN c")
    story.enable("t", "newer")
    dropped = story.run("ALTER TABLE t ADD COLUMN d")
    ctl("disable-table", db.path, "t", "--capture-instance", "main_t")
    catalogue = ctl("help-change-data-capture", db.path)
    assert added < dropped
    for _ in range(3):
        db.stop()
        db.start()
        assert ctl("help-change-data-capture", db.path) == catalogue
        assert story.history("newer") == [(dropped, 'ALTER TABLE "t" ADD COLUMN d')]
        assert db.store().execute(
            "SELECT count(*) FROM ddl_history WHERE object_id NOT IN"
            " (SELECT object_id FROM change_tables)").fetchone() == (0,)
    time.sleep(0.5)
    side_files = [path for path in (db.path + "-cdc", db.path + "-cdc-wal") if os.path.exists(path)]
    before = [(os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in side_files]
    time.sleep(1)
    assert before == [(os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in side_files]


@case("B026 ADD COLUMN throws nothing away that nobody has read yet")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    ten = [story.run(f"INSERT INTO t VALUES({i},'v{i}')") for i in range(10)]
    copy = db.get_changes("main_t", ten[0], ten[-1])
    old = story.freeze()
    added = story.run("ALTER TABLE t ADD COLUMN c TEXT")
    start = story.enable("t", "newer")
    assert start >= added
    five = [story.run(f"INSERT INTO t VALUES({i},'v{i}','c{i}')") for i in range(10, 15)]
    assert db.get_changes("main_t", ten[0], ten[-1]) == copy
    story.check(
        {"main_t": [(lsn, [(2, i, f"v{i}")]) for i, lsn in enumerate(ten + five)],
         "newer": [(lsn, [(2, i, f"v{i}", f"c{i}")]) for i, lsn in enumerate(five, 10)]},
        {"main_t": [(added, 'ALTER TABLE "t" ADD COLUMN c TEXT')]}, old)
    assert story.columns("main_t") == ["id", "v"] and story.columns("newer") == ["id", "v", "c"]


@case("B028 ranges of an older instance are read by its own columns")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY)")
    first = story.run("INSERT INTO t VALUES(1)")
    added = [story.run("ALTER TABLE t ADD COLUMN b")]
    start = story.enable("t", "with_b")
    second = story.run("INSERT INTO t VALUES(2,'b2')")
    added.append(story.run("ALTER TABLE t ADD COLUMN c"))
    done = run_ctl("enable-table", db.path, "t", "--capture-instance", "with_c")
    assert done.returncode == 1 and b"22962" in done.stderr, "a third instance of a table"
    third = story.run("INSERT INTO t VALUES(3,'b3','c3')")
    db.stop()
    db.start()
    assert db.get_changes("main_t", first, first).splitlines()[0].endswith(b",id")
    assert db.get_changes("with_b", second, third).splitlines()[0].endswith(b",id,b")
    assert start > first
    assert run_ctl("get-all-changes", db.path, "with_b", first, third).returncode == 1
    story.check(
        {"main_t": [(first, [(2, 1)]), (second, [(2, 2)]), (third, [(2, 3)])],
         "with_b": [(second, [(2, 2, "b2")]), (third, [(2, 3, "b3")])]},
        {"main_t": [(added[0], 'ALTER TABLE "t" ADD COLUMN b'),
                    (added[1], 'ALTER TABLE "t" ADD COLUMN c')],
         "with_b": [(added[1], 'ALTER TABLE "t" ADD COLUMN c')]})
    ctl("disable-table", db.path, "t", "--capture-instance", "main_t")
    story.enable("t", "with_c")
    fourth = story.run("INSERT INTO t VALUES(4,'b4','c4')")
    assert story.told("with_c") == [(fourth, [(2, 4, "b4", "c4")])]
    assert story.told("with_b")[-1] == (fourth, [(2, 4, "b4")])


@case("B031 DROP COLUMN beside a column with a space in its name")
def _(db):
    story = Story(db, "CREATE TABLE t(a, b, [c c])", fill(1000, "i, i * 2, 'c' || i"))
    lsn = story.run("ALTER TABLE t DROP COLUMN b")
    story.enable("t", "newer")
    last = story.run("UPDATE t SET a = 9 WHERE rowid = 5")
    story.check({"main_t": [(last, [(3, 5, None, "c5"), (4, 9, None, "c5")])],
                 "newer": [(last, [(3, 5, "c5"), (4, 9, "c5")])]},
                {"main_t": [(lsn, 'ALTER TABLE "t" DROP COLUMN "b"')]})
    assert story.columns("newer") == ["a", "c c"]


@case("B032 what was captured before DROP COLUMN keeps the column's values")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)")
    first = story.run("INSERT INTO t VALUES(1,'keep','w1')")
    old = story.freeze()
    lsn = story.run("ALTER TABLE t DROP COLUMN v")
    db.stop()
    db.start()
    second = story.run("INSERT INTO t VALUES(2,'w2')")
    assert b'"keep"' in db.get_changes("main_t", first, first)
    story.check({"main_t": [(first, [(2, 1, "keep", "w1")]), (second, [(2, 2, None, "w2")])]},
                {"main_t": [(lsn, 'ALTER TABLE "t" DROP COLUMN "v"')]}, old)


@case("B035 DROP and CREATE in one transaction, on the same root page")
def _(db):
    story = Story(db, "CREATE TABLE t(a)", "CREATE TABLE q(a, x)", "CREATE TABLE later(z)",
                  tables=("t", "q"))
    first = story.run("INSERT INTO t VALUES(1)", "INSERT INTO q VALUES(1,1)")
    old = story.freeze("main_t", "main_q")
    root = story.execute("SELECT rootpage FROM sqlite_schema WHERE name = 't'")
    lsn = story.run("DROP TABLE t", "CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1,2),(7,8)",
                    "DROP TABLE q", "CREATE TABLE q(a, b)", "INSERT INTO q VALUES(1,2)")
    assert story.execute("SELECT rootpage FROM sqlite_schema WHERE name = 't'") == root
    assert story.is_dropped("main_q") and not story.is_dropped("main_t")
    story.check({"main_t": [(first, [(2, 1)]), (lsn, [(2, 7)])], "main_q": [(first, [(2, 1, 1)])]},
                {"main_t": [(lsn, "CREATE TABLE t(a, b)")],
                 "main_q": [(lsn, "CREATE TABLE q(a, b)")]}, old)


@case("B037 rows and ADD COLUMN in one transaction, and one that is rolled back")
def _(db):
    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY)")
    lsn = story.run("INSERT INTO t(id) VALUES(1)", "ALTER TABLE t ADD COLUMN c INT DEFAULT 9",
                    "INSERT INTO t(id,c) VALUES(2,5)")
    story.enable("t", "newer")
    for sql in ("BEGIN", "ALTER TABLE t ADD COLUMN d", "ROLLBACK"):
        story.execute(sql)
    last = story.run("DELETE FROM t")
    story.check({"main_t": [(lsn, [(2, 1), (2, 2)]), (last, [(1, 1), (1, 2)])],
                 "newer": [(last, [(1, 1, 9), (1, 2, 5)])]},
                {"main_t": [(lsn, 'ALTER TABLE "t" ADD COLUMN c INT DEFAULT 9')]})


def drop_behind_rows(sql, statement, is_dropped):
    db = Database()
    try:
        story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        db.agent.pause()
        for i in range(100):
            story.execute(f"INSERT INTO t VALUES({i},'v{i}')")
        story.execute(sql)
        db.agent.resume()
        told = story.told("main_t")
        assert [rows for _, rows in told] == [[(2, i, f"v{i}")] for i in range(100)]
        [(lsn, command)] = story.history("main_t")
        assert command == statement and lsn > told[-1][0] and lsn == db.max_lsn()
        assert story.is_dropped("main_t") == is_dropped
        assert story.columns("main_t") == ["id", "v"]
    finally:
        db.close()


@case("B038 rows that were not read yet when the table, or their column, was dropped")
def _(_db):
    drop_behind_rows("DROP TABLE t", 'DROP TABLE "t"', True)
    drop_behind_rows("ALTER TABLE t DROP COLUMN v", 'ALTER TABLE "t" DROP COLUMN "v"', False)
    drop_behind_rows("ALTER TABLE t RENAME TO u", 'ALTER TABLE "t" RENAME TO "u"', False)


@case("B040 a database without a table, and none at all")
def _(db):
    # From another process: this one must hold no descriptor of the file.
    subprocess.run(["sqlite3", db.path, "PRAGMA journal_mode=WAL"], check=True, capture_output=True)
    ctl("enable-db", db.path)
    db.start()
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("INSERT INTO t VALUES(1,'a')")
    ctl("enable-table", db.path, "t")
    db.rotate()
    app.execute("INSERT INTO t VALUES(2,'b')")
    assert commits(db.changes("main_t")) == [[(2, 2, "b")]]
    assert db.agent.is_alive()


@case("B040 a database without a table that becomes UTF-16 with its first one")
def _(db):
    subprocess.run(["sqlite3", db.path, "PRAGMA journal_mode=WAL"], check=True, capture_output=True)
    ctl("enable-db", db.path)
    db.start()
    app = db.connect(encoding="'UTF-16be'")
    app.execute("CREATE TABLE tä(id INTEGER PRIMARY KEY, ö DEFAULT 'ü')")
    done = run_ctl("enable-table", db.path, "tä")  # the store was made for UTF-8
    assert done.returncode == 1 and b"disable-db" in done.stderr, done
    db.stop()
    ctl("disable-db", db.path)
    ctl("enable-db", db.path)
    db.start()
    ctl("enable-table", db.path, "tä")
    app.execute("INSERT INTO tä(id) VALUES(1)")
    assert commits(db.changes("main_tä")) == [[(2, 1, "ü")]]


@case("B040 a file of 0 bytes, and a name without a file: refused in words")
def _(db):
    empty, missing = db.path + ".empty", db.path + ".missing"
    open(empty, "wb").close()
    for path in (empty, missing):
        for command in ("enable-db", "agent", "status"):
            done = run_ctl(command, path)
            assert done.returncode == 1 and done.stderr.startswith(b"cdcctl: "), (command, done)
            assert os.path.basename(path).encode() in done.stderr or b"WAL" in done.stderr, done
    assert os.stat(empty).st_size == 0 and not os.path.exists(missing)
    assert sorted(os.listdir(db.directory)) == [os.path.basename(empty)]


main()
