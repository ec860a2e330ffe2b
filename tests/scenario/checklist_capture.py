#!/usr/bin/env python3
"""SQL Server's change data capture, feature by feature: what is captured, kept and told."""
import os
import shutil
import sqlite3

from cdctest import case, ctl, main, run_ctl, wait_until
from sqlserver import changes, increment, notice, refuse, scalar, select, table, window


def start(db, *sql, enable=("t",), rows=(), options=()):
    app = db.connect()
    for statement in sql or ("CREATE TABLE t(id INTEGER PRIMARY KEY, v)",):
        app.execute(statement)
    for row in rows:
        app.execute("INSERT INTO t VALUES(?, ?)", row)
    db.enable(*enable, options=options)
    db.start(mount=False)
    for name in enable:
        wait_until(lambda n=name: db.min_lsn("main_" + n), 10, "an instance recognised")
    return app


def transaction(app, *statements):
    app.execute("BEGIN")
    for statement in statements:
        app.execute(statement)
    app.execute("COMMIT")


@case("CT layout")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT NOT NULL)")
    app.execute("INSERT INTO t VALUES(1, 'a')")
    app.execute("UPDATE t SET v = 'b'")
    db.rotate()
    columns = select(db, "SELECT name, \"notnull\" FROM pragma_table_info('main_t_CT')")
    assert [name for name, _ in columns] == [
        "__$start_lsn", "__$end_lsn", "__$seqval", "__$operation", "__$update_mask", "id", "v",
        "__$command_id"]
    assert not any(is_required for name, is_required in columns if not name.startswith("__$"))
    keys = select(db, 'SELECT "__$start_lsn", "__$command_id", "__$seqval", "__$operation"'
                      " FROM main_t_CT ORDER BY rowid")
    assert keys == sorted(set(keys)) and len(keys) == 3
    assert select(db, 'SELECT count(*) FROM main_t_CT WHERE "__$end_lsn" IS NOT NULL') == [(0,)]


@case("ops 1/2/3/4")
def _(db):
    app = start(db)
    first, last = window(db, lambda: app.execute("INSERT INTO t VALUES(1, 'a')"),
                         lambda: app.execute("UPDATE t SET v = 'b'"),
                         lambda: app.execute("DELETE FROM t"))
    rows = table("get-all-changes", db.path, "main_t", first, last)
    assert [row["__$operation"] for row in rows] == ["2", "3", "4", "1"]
    assert rows[1]["__$seqval"] == rows[2]["__$seqval"]
    assert len({row["__$seqval"] for row in rows}) == 3


@case("commit LSN shared by a transaction over all CTs")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY)",
                "CREATE TABLE u(id INTEGER PRIMARY KEY)", enable=("t", "u"))
    for number in range(3):
        transaction(app, f"INSERT INTO t VALUES({number})", f"INSERT INTO u VALUES({number})")
    db.rotate()
    of_t, of_u = (select(db, f'SELECT "__$start_lsn" FROM main_{name}_CT ORDER BY rowid')
                  for name in "tu")
    assert of_t == of_u == sorted(set(of_t)) and all(len(lsn) == 10 for lsn, in of_t)


@case("one transaction per scan cycle")
def _(db):
    """Change tables and mapping move together, also when the process is killed between."""
    app = start(db)
    for number in range(300):
        app.execute("INSERT INTO t VALUES(?, 'x')", (number,))
        if number % 100 == 50:
            db.kill()
            db.start(mount=False)
        mapped, captured = select(
            db, "SELECT (SELECT sum(cdcfs_change_count) FROM lsn_time_mapping),"
                " (SELECT count(*) FROM main_t_CT)")[0]
        assert (mapped or 0) == captured
    db.check_replay("main_t", "t")


@case("update mask")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h)")
    first, last = window(db, lambda: app.execute("INSERT INTO t(id) VALUES(1)"),
                         lambda: app.execute("UPDATE t SET a = 1, h = 1"),
                         lambda: app.execute("UPDATE t SET a = a"),
                         lambda: app.execute("DELETE FROM t"))
    assert [row[:2] for row in changes(db, "main_t", first, last)] == [
        ["2", "\\x01ff"], ["3", "\\x0102"], ["4", "\\x0102"], ["1", "\\x01ff"]]


@case("key update = 1 + 2")
def _(db):
    app = start(db, rows=((1, "a"),))
    first, last = window(db, lambda: app.execute("UPDATE t SET id = 7"))
    assert [[row[0], row[2]] for row in changes(db, "main_t", first, last)] == [
        ["1", "1"], ["2", "7"]]


@case("LOB before image")
def _(db):
    large = "y" * 100000
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, n)")
    app.execute("INSERT INTO t VALUES(1, ?, 0)", (large,))
    first, last = window(db, lambda: app.execute("UPDATE t SET n = 1"))
    assert changes(db, "main_t", first, last) == [
        ["3", "\\x04", "1", large, "0"], ["4", "\\x04", "1", large, "1"]], "in full"


@case("computed columns NULL")
def _(db):
    """Those that are stored deliver their value."""
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, virtual AS (v + 1),"
                    " stored AS (v + 2) STORED)")
    first, last = window(db, lambda: app.execute("INSERT INTO t(id, v) VALUES(1, 10)"))
    assert changes(db, "main_t", first, last) == [["2", "\\x0f", "1", "10", "", "12"]]
    assert select(db, "SELECT column_name FROM captured_columns WHERE is_computed ORDER BY 1") == [
        ("stored",), ("virtual",)]


@case("lsn_time_mapping")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "CREATE TABLE other(x)")
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
    db.rotate()
    app.execute("INSERT INTO other VALUES(1)")
    wait_until(lambda: select(db, "SELECT hex(tran_id) FROM lsn_time_mapping"
                                  " ORDER BY rowid DESC LIMIT 1") == [("00",)], 20, "a dummy row")
    rows = select(db, "SELECT start_lsn, tran_begin_time, tran_end_time, tran_begin_lsn,"
                      " hex(tran_id) FROM lsn_time_mapping ORDER BY rowid")
    assert len([row for row in rows if row[4] != "00"]) == 3
    assert [row[0] for row in rows] == sorted({row[0] for row in rows})
    assert [row[2] for row in rows] == sorted(row[2] for row in rows)
    assert all(begin <= end and begin_lsn <= lsn for lsn, begin, end, begin_lsn, _ in rows)


@case("cleanup job")
def _(db):
    """Counted back from the newest captured commit: what is young stays, whatever the clock says.
    More is in retention.py and test_cleanup.c, where the clock is the test's."""
    app = start(db)
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
        db.rotate()
    before = db.min_lsn("main_t")
    ctl("start-job", db.path, "cleanup")
    wait_until(lambda: db.status()["last_cleanup"], 20, "a run of the job")
    assert db.min_lsn("main_t") == before
    assert select(db, "SELECT count(*) FROM main_t_CT") == [(3,)]


@case("cleanup_change_table")
def _(db):
    app = start(db)
    lsns = []
    for number in range(4):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
        db.rotate()
        lsns.append(db.max_lsn())
    refuse(22964, "cleanup-change-table", db.path, "main_t", increment(lsns[1]))
    refuse(22850, "cleanup-change-table", db.path, "main_t", lsns[1], "--threshold", "0")
    ctl("cleanup-change-table", db.path, "main_t", lsns[2], "--threshold", "1")
    assert db.min_lsn("main_t") == lsns[2]
    assert [row[2] for row in changes(db, "main_t")] == ["2", "3"], "below the mark, strictly"
    refuse(22957, "cleanup-change-table", db.path, "main_t", lsns[1])


@case("marks only rise")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY)",
                "CREATE TABLE u(id INTEGER PRIMARY KEY)", enable=("t", "u"))
    lsns = []
    for number in range(4):
        transaction(app, f"INSERT INTO t VALUES({number})", f"INSERT INTO u VALUES({number})")
        db.rotate()
        lsns.append(db.max_lsn())
    other = db.min_lsn("main_u")
    ctl("cleanup-change-table", db.path, "main_t", lsns[2])
    refuse(22957, "cleanup-change-table", db.path, "main_t", lsns[0])
    ctl("start-job", db.path, "cleanup")
    wait_until(lambda: db.status()["last_cleanup"], 20, "a run of the job")
    assert (db.min_lsn("main_t"), db.min_lsn("main_u")) == (lsns[2], other)


@case("ADD ignored / DROP -> NULL / type change propagated")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT)")
    first, last = window(db, lambda: app.execute("ALTER TABLE t ADD COLUMN c"),
                         lambda: app.execute("INSERT INTO t VALUES(1, 'a', 'b', 'c')"),
                         lambda: app.execute("ALTER TABLE t DROP COLUMN a"),
                         lambda: app.execute("INSERT INTO t VALUES(2, 'b', 'c')"))
    rows = [row[2:] for row in changes(db, "main_t", first, last) if row[0] == "2"]
    assert rows == [["1", "a", "b"], ["2", "", "b"]], rows
    window(db, lambda: transaction(
        app, "CREATE TABLE new(id INTEGER PRIMARY KEY, b INTEGER, c)",
        "INSERT INTO new SELECT * FROM t", "DROP TABLE t", "ALTER TABLE new RENAME TO t"))
    assert select(db, "SELECT column_type FROM captured_columns WHERE column_name = 'b'") == [
        ("INTEGER",)]
    history = table("get-ddl-history", db.path, "main_t")
    assert [row["required_column_update"] for row in history] == ["0", "0", "1"], history


@case("column rename")
def _(db):
    app = start(db)
    first, last = window(db, lambda: app.execute("ALTER TABLE t RENAME COLUMN v TO w"),
                         lambda: app.execute("INSERT INTO t VALUES(1, 'a')"))
    row, = table("get-all-changes", db.path, "main_t", first, last)
    assert row["v"] == "a", "under the name that the instance has for it"
    assert "RENAME COLUMN" in table("get-ddl-history", db.path, "main_t")[0]["ddl_command"]


@case("table rename followed")
def _(db):
    app = start(db)
    first, last = window(db, lambda: app.execute("ALTER TABLE t RENAME TO u"),
                         lambda: app.execute("INSERT INTO u VALUES(1, 'a')"))
    assert len(changes(db, "main_t", first, last)) == 1
    row, = table("help-change-data-capture", db.path)
    assert (row["source_table"], row["capture_instance"]) == ("u", "main_t")


@case("two instances in tandem")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    app.execute("ALTER TABLE t ADD COLUMN w")
    ctl("enable-table", db.path, "t", "--capture-instance", "two")
    app.execute("INSERT INTO t VALUES(2, 'b', 'c')")
    db.rotate()
    assert [row[2:] for row in changes(db, "main_t")] == [["1", "a"], ["2", "b"]]
    assert [row[2:] for row in changes(db, "two")] == [["2", "b", "c"]]
    assert db.min_lsn("two") > db.min_lsn("main_t")


@case("log held until captured")
def _(db):
    app = start(db)
    ctl("stop-job", db.path)
    for number in range(3000):
        app.execute("INSERT INTO t VALUES(?, 'x')", (number,))
    app.execute("PRAGMA wal_checkpoint(PASSIVE)")
    ctl("start-job", db.path)
    db.check_replay("main_t", "t")
    assert db.status()["gaps"] == "0"


@case("dm_cdc_log_scan_sessions")
def _(db):
    app = start(db)
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
        db.rotate()
    rows = select(db, "SELECT session_id, tran_count, command_count, scan_phase, latency,"
                      " empty_scan_count FROM dm_cdc_log_scan_sessions ORDER BY session_id")
    assert rows[0][0] == 0 and rows[0][3] == "Aggregate"
    assert rows[0][1:3] == (3, 3), rows[0]
    assert sum(row[1] for row in rows[1:]) == 3
    assert all(row[4] >= 0 and row[5] >= 0 for row in rows[1:])


@case("dm_cdc_errors")
def _(db):
    app = start(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "CREATE TABLE u(v)",
                enable=("t", "u"))
    columns = [name for name, in select(db, "SELECT name FROM pragma_table_info('dm_cdc_errors')")]
    assert columns == ["session_id", "phase_number", "entry_time", "error_number",
                       "error_severity", "error_state", "error_message", "start_lsn", "begin_lsn",
                       "sequence_value"]
    app.execute("INSERT INTO t VALUES(1, 1)")
    db.rotate()
    assert select(db, "SELECT count(*) FROM dm_cdc_errors") == [(0,)]
    assert db.status()["errors"] == "0"


@case("restore/attach rule")
def _(db):
    """A copy without its store has no change data capture; with it, it has."""
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    db.stop()
    app.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for connection in db.connections:
        connection.close()
    bare, whole = (os.path.join(db.directory, name) for name in ("bare", "whole"))
    for folder in (bare, whole):
        os.mkdir(folder)
        shutil.copy(db.path, folder)
    shutil.copy(db.path + "-cdc", whole)
    refuse(22901, "get-max-lsn", os.path.join(bare, "app.db"))
    assert scalar("get-max-lsn", os.path.join(whole, "app.db")) == db.max_lsn()
    notice(22905, "enable-db", os.path.join(whole, "app.db"))


@case("drop of source")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    app.execute("DROP TABLE t")
    db.rotate()
    row, = table("help-change-data-capture", db.path)
    assert row["has_drop_pending"] == "1"
    assert [row[0] for row in changes(db, "main_t")] == ["2"], "no row is told of the drop"


OF_VERSION_1 = """
    ALTER TABLE cdcfs_instances DROP COLUMN table_name;
    ALTER TABLE lsn_time_mapping DROP COLUMN cdcfs_rows;
    DROP TRIGGER cdcfs_files_gone; DROP TABLE cdcfs_checkpoints; DROP TABLE cdcfs_holds;
    DROP INDEX cdcfs_files_unstamped; DROP INDEX cdcfs_files_withdrawn;
    ALTER TABLE cdcfs_files DROP COLUMN listed_ns; ALTER TABLE cdcfs_files DROP COLUMN withdrawn_ns;
    ALTER TABLE cdcfs_state DROP COLUMN running_ns;
    ALTER TABLE cdcfs_state DROP COLUMN running_boot;
    ALTER TABLE cdcfs_state DROP COLUMN running_seen_ns;
    ALTER TABLE cdcfs_state DROP COLUMN cleaned_ns; PRAGMA user_version = 1"""


@case("vupgrade")
def _(db):
    """A store of the first version goes on; a newer one than the program's is refused."""
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    db.stop()
    store = sqlite3.connect(db.path + "-cdc", isolation_level=None)
    newest = store.execute("PRAGMA user_version").fetchone()[0]
    store.executescript(OF_VERSION_1)
    store.close()
    db.start(mount=False)
    app.execute("INSERT INTO t VALUES(2, 'b')")
    db.check_replay("main_t", "t")
    assert select(db, "PRAGMA user_version") == [(newest,)]
    db.stop()
    store = sqlite3.connect(db.path + "-cdc", isolation_level=None)
    store.execute(f"PRAGMA user_version = {newest + 1}")
    store.close()
    done = run_ctl("scan", db.path)
    assert done.returncode == 1 and b"newer" in done.stderr, done.stderr


@case("consistent snapshot LSN at enable")
def _(db):
    """start_lsn is where the table's state is the baseline: nothing before it is told, nothing
    after it is missing."""
    app = start(db, rows=((1, "before"), (2, "before")))
    baseline = app.execute("SELECT * FROM t").fetchall()
    app.execute("UPDATE t SET v = 'after' WHERE id = 1")
    app.execute("INSERT INTO t VALUES(3, 'after')")
    db.rotate()
    rows = changes(db, "main_t")
    assert [row[0] for row in rows] == ["3", "4", "2"]
    first = db.min_lsn("main_t")
    assert changes(db, "main_t", first, first) == []
    copy = dict(baseline)
    for operation, _, key, value in rows:
        if operation in "24":
            copy[int(key)] = value
    assert sorted(copy.items()) == app.execute("SELECT * FROM t").fetchall()


main()
