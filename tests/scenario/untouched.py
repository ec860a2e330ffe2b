#!/usr/bin/env python3
"""B022: inside the source nothing differs from a database without cdcfs."""
import os
import sqlite3

from cdctest import Database, case, main

PRAGMAS = ("schema_version user_version application_id page_size encoding auto_vacuum journal_mode"
           " page_count freelist_count secure_delete foreign_keys recursive_triggers synchronous"
           " wal_autocheckpoint journal_size_limit cache_size locking_mode").split()


def set_up(app):
    app.executescript("""
        PRAGMA user_version = 7;
        PRAGMA application_id = 123;
        CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT UNIQUE);
        CREATE TABLE log(what TEXT);
        CREATE TRIGGER t_log AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(new.v); END;
        CREATE VIEW w AS SELECT v FROM t;
    """)


def observe(app):
    """All that the application can see while it works."""
    seen = []

    def step(sql):
        app.execute(sql)
        seen.append(app.execute(
            "SELECT changes(), total_changes(), last_insert_rowid()").fetchone())
    step("INSERT INTO t(v) VALUES('a'),('b')")
    step("UPDATE t SET v = v || 'x'")
    step("INSERT OR REPLACE INTO t(v) VALUES('ax')")
    step("DELETE FROM t WHERE id = 2")
    step("INSERT INTO log SELECT v FROM t")
    step("DELETE FROM log")
    seen.append({name: app.execute(f"PRAGMA {name}").fetchone() for name in PRAGMAS})
    seen.append(app.execute("SELECT * FROM sqlite_schema ORDER BY rowid").fetchall())
    seen.append(list(app.iterdump()))
    seen.append(app.execute("PRAGMA integrity_check").fetchall())
    return seen


@case("B022 schema, pragmas, tables, changes() and total_changes() are the same with capture")
def _(db):
    plain = Database()
    try:
        other = plain.connect()
        set_up(other)
        expected = observe(other)
    finally:
        plain.close()
    app = db.connect()
    set_up(app)
    schema_version = app.execute("PRAGMA schema_version").fetchone()
    db.start("t", "log")
    assert app.execute("PRAGMA schema_version").fetchone() == schema_version
    assert observe(app) == expected
    assert expected[0] == (2, 2, 2)
    db.check_replay("main_t", "t")
    db.check_replay("main_log", "log")
    beside = {name for name in os.listdir(db.directory) if name.startswith("app.db")}
    assert beside - {"app.db.log"} <= {
        "app.db", "app.db-wal", "app.db-shm", "app.db-cdc", "app.db-cdc-wal", "app.db-cdc-shm"}


@case("B022 and afterwards: capture disabled, the source is as it was")
def _(db):
    app = db.connect()
    set_up(app)
    before = app.execute("SELECT * FROM sqlite_schema ORDER BY rowid").fetchall()
    db.start("t")
    observe(app)
    db.stop()
    app.close()
    app = sqlite3.connect(db.path)
    assert app.execute("SELECT * FROM sqlite_schema ORDER BY rowid").fetchall() == before
    assert app.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert app.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    app.close()


main()
