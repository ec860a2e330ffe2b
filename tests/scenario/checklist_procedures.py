#!/usr/bin/env python3
"""SQL Server's change data capture, feature by feature: what its procedures do."""
import os
import sqlite3

from cdctest import case, ctl, main, run_ctl, wait_until
from sqlserver import notice, refuse, scalar, select, table

OPTION = "--capture-instance"


def tables(db, *more):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    for sql in more:
        app.execute(sql)
    return app


@case("enable_db / disable_db")
def _(db):
    tables(db)
    refuse(22901, "help-change-data-capture", db.path)
    ctl("enable-db", db.path)
    notice(22905, "enable-db", db.path)
    ctl("enable-table", db.path, "t")
    assert {name for name, in select(db, "SELECT name FROM sqlite_schema")} >= {
        "change_tables", "captured_columns", "index_columns", "ddl_history", "lsn_time_mapping",
        "cdc_jobs"}
    ctl("disable-db", db.path)
    assert not [name for name in os.listdir(db.directory) if "-cdc" in name]
    refuse(22901, "disable-db", db.path)
    ctl("enable-db", db.path)
    assert table("help-change-data-capture", db.path) == []
    assert table("help-jobs", db.path) == []


@case("enable_table")
def _(db):
    tables(db, "CREATE TABLE u(a, b)")
    ctl("enable-db", db.path)
    ctl("enable-table", db.path, "t")
    ctl("enable-table", db.path, "t", OPTION, "x" * 100)
    refuse(22962, "enable-table", db.path, "t", OPTION, "third")
    refuse(22927, "enable-table", db.path, "u", OPTION, "x" * 101)
    for taken in ("main_t", "MAIN_T"):
        refuse(22926, "enable-table", db.path, "u", OPTION, taken)
    ctl("enable-table", db.path, "u", "--captured-columns", "b", OPTION, "right  ")
    rows = {row["capture_instance"]: row for row in table("help-change-data-capture", db.path)}
    assert sorted(rows) == sorted(["main_t", "x" * 100, "right"])
    assert (rows["main_t"]["supports_net_changes"], rows["main_t"]["index_column_list"]) == (
        "1", "[id]")
    assert (rows["right"]["supports_net_changes"], rows["right"]["captured_column_list"]) == (
        "0", "[b]")
    assert {row["job_type"] for row in table("help-jobs", db.path)} == {"capture", "cleanup"}


@case("disable_table name / 'all'")
def _(db):
    app = tables(db, "CREATE TABLE u(a)")
    db.start("t", "u", mount=False)
    ctl("enable-table", db.path, "t", OPTION, "two")
    app.execute("INSERT INTO t VALUES(1, 1)")
    db.rotate()
    refuse(22960, "disable-table", db.path, "u", OPTION, "two")
    refuse(22931, "disable-table", db.path, "nowhere", OPTION, "all")
    ctl("disable-table", db.path, "t", OPTION, "two")
    ctl("disable-table", db.path, "t", OPTION, "all")
    refuse(22985, "disable-table", db.path, "t", OPTION, "all")
    names = [name for name, in select(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")
             if name.endswith("_CT")]
    assert names == ["main_u_CT"], names
    assert select(db, "SELECT count(*) FROM lsn_time_mapping")[0][0] > 0
    ctl("disable-table", db.path, "u", OPTION, "main_u")
    assert table("help-jobs", db.path) == []
    assert select(db, "SELECT count(*) FROM lsn_time_mapping") == [(0,)]


@case("role gating")
def _(db):
    tables(db)
    ctl("enable-db", db.path)
    refuse(22907, "enable-table", db.path, "t", "--role", "")
    done = run_ctl("enable-table", db.path, "t", "--role", "no such group")
    assert done.returncode == 1 and b"group" in done.stderr, done
    ctl("enable-table", db.path, "t", "--role", "daemon")
    assert table("help-change-data-capture", db.path)[0]["role_name"] == "daemon"
    assert os.stat(db.path + "-cdc").st_mode & 0o777 == 0o600


@case("index_name")
def _(db):
    app = tables(
        db, "CREATE TABLE u(a INT NOT NULL, b INT, c INT NOT NULL, PRIMARY KEY(a, c))",
        "CREATE UNIQUE INDEX good ON u(c)", "CREATE UNIQUE INDEX nullable ON u(b)",
        "CREATE INDEX plain ON u(a)")
    columns = [f"c{number} INT NOT NULL" for number in range(15)]
    app.execute(f"CREATE TABLE wide({', '.join(columns)},"
                f" PRIMARY KEY({', '.join(c.split()[0] for c in columns)}))")
    ctl("enable-db", db.path)
    refuse(22928, "enable-table", db.path, "u", "--index", "nowhere")
    refuse(22929, "enable-table", db.path, "u", "--index", "plain")
    refuse(22838, "enable-table", db.path, "u", "--index", "nullable")
    refuse(22865, "enable-table", db.path, "wide", "--supports-net-changes", "1")
    ctl("enable-table", db.path, "u", "--index", "good")
    row, = table("help-change-data-capture", db.path, "u")
    assert (row["index_name"], row["index_column_list"]) == ("good", "[c]")


@case("captured_column_list")
def _(db):
    tables(db, 'CREATE TABLE u(id INTEGER PRIMARY KEY, "a,b", "c""d", e)',
           'CREATE TABLE reserved(id INTEGER PRIMARY KEY, "__$operation")')
    ctl("enable-db", db.path)
    refuse(22943, "enable-table", db.path, "u", "--captured-columns", "e")
    refuse(22930, "enable-table", db.path, "u", "--captured-columns", "id,zz")
    refuse(22942, "enable-table", db.path, "u", "--captured-columns", "id,,e")
    refuse(22965, "enable-table", db.path, "u", "--captured-columns", 'id,"a')
    refuse(22975, "enable-table", db.path, "reserved")
    ctl("enable-table", db.path, "reserved", "--captured-columns", "id")
    ctl("enable-table", db.path, "u", "--captured-columns", '[id],"a,b","c""d"')
    assert [row["column_name"].replace('""', '"') for row in
            table("get-captured-columns", db.path, "main_u")] == ["id", "a,b", 'c"d']


@case("filegroup_name")
def _(db):
    tables(db)
    ctl("enable-db", db.path)
    assert "--store" in refuse(22973, "enable-table", db.path, "t", "--filegroup", "fast")
    notice(22857, "enable-table", db.path, "t", "--allow-partition-switch", "0")
    store = os.path.join(db.directory, "elsewhere.cdc")
    ctl("enable-db", db.path, "--store", store)
    ctl("enable-table", db.path, "t", "--store", store)
    assert sqlite3.connect(store).execute("SELECT capture_instance FROM change_tables").fetchall()


@case("error numbers")
def _(db):
    """The rest of those that no other case meets."""
    tables(db)
    with open(db.path + "-cdc", "w", encoding="ascii") as file:
        file.write("something else")
    assert "--store" in refuse(22906, "enable-db", db.path)
    os.unlink(db.path + "-cdc")
    ctl("enable-db", db.path)
    refuse(22989, "enable-db", db.path + "-cdc")
    refuse(22974, "enable-table", db.path, "cdc.change_tables")
    refuse(22931, "enable-table", db.path, "nowhere")
    refuse(22932, "enable-table", db.path, "t", OPTION, "sqlite_x")
    refuse(22932, "enable-table", db.path, "t", OPTION, "transactions")
    ctl("enable-table", db.path, "t")
    refuse(22981, "get-captured-columns", db.path, "nowhere")
    refuse(22981, "get-ddl-history", db.path, "nowhere")
    refuse(22920, "cleanup-change-table", db.path, "nowhere", "0x00000001000000000001")
    assert run_ctl("enable-table", db.path).returncode == 2, "22963 is the command line's"


JOB_REFUSALS = (
    (22991, "capture", "--maxtrans", "0"), (22970, "capture", "--maxscans", "0"),
    (22998, "capture", "--continuous", "2"), (22990, "capture", "--pollinginterval", "86400"),
    (22994, "cleanup", "--retention", "0"), (22994, "cleanup", "--retention", "999999999999"),
    (22850, "cleanup", "--threshold", "0"), (22995, "capture", "--retention", "5"),
    (22995, "capture", "--threshold", "5"), (22996, "cleanup", "--maxtrans", "5"),
    (22996, "cleanup", "--pollinginterval", "5"), (22992, "nightly"))


@case("job add/change/drop/start/stop")
def _(db):
    tables(db)
    db.start("t", mount=False)
    for number, *arguments in JOB_REFUSALS:
        refuse(number, "change-job", db.path, *arguments)

    def job(name="capture"):
        return next(r for r in table("help-jobs", db.path) if r["job_type"] == name)
    ctl("change-job", db.path, "capture", "--continuous", "0", "--pollinginterval", "9")
    assert (job()["continuous"], job()["pollinginterval"]) == ("0", "0")
    ctl("change-job", db.path, "capture", "--pollinginterval", "3", "--maxtrans", "7")
    assert [job()[name] for name in ("continuous", "pollinginterval", "maxtrans")] == [
        "1", "3", "7"]
    ctl("stop-job", db.path)
    assert job()["state"] == "stopped"
    ctl("start-job", db.path)
    assert job()["state"] == "running"
    ctl("drop-job", db.path, "cleanup")
    refuse(22997, "change-job", db.path, "cleanup", "--retention", "5")
    refuse(22997, "drop-job", db.path, "cleanup")
    ctl("add-job", db.path, "cleanup", "--retention", "60", "--threshold", "10")
    assert [job("cleanup")[n] for n in ("retention", "threshold", "maxtrans")] == ["60", "10", "0"]


@case("help_change_data_capture, get_captured_columns, get_ddl_history, help_jobs")
def _(db):
    app = tables(db)
    db.start("t", mount=False)
    app.execute("ALTER TABLE t ADD COLUMN late")
    db.rotate()
    row, = table("help-change-data-capture", db.path)
    assert list(row) == [
        "source_schema", "source_table", "capture_instance", "object_id", "source_object_id",
        "start_lsn", "end_lsn", "supports_net_changes", "has_drop_pending", "role_name",
        "index_name", "filegroup_name", "create_date", "index_column_list",
        "captured_column_list"]
    assert row["start_lsn"] == db.min_lsn("main_t") and row["end_lsn"] == ""
    row = table("get-captured-columns", db.path, "main_t")[0]
    assert list(row) == [
        "source_schema", "source_table", "capture_instance", "column_name", "column_id",
        "column_ordinal", "data_type", "character_maximum_length", "numeric_precision",
        "numeric_precision_radix", "numeric_scale", "datetime_precision"]
    row, = table("get-ddl-history", db.path, "main_t")
    assert list(row) == ["source_schema", "source_table", "capture_instance",
                         "required_column_update", "ddl_command", "ddl_lsn", "ddl_time"]
    assert row["ddl_command"].startswith("ALTER TABLE") and row["required_column_update"] == "0"
    assert list(table("help-jobs", db.path)[0])[:9] == [
        "job_id", "job_type", "job_name", "maxtrans", "maxscans", "continuous",
        "pollinginterval", "retention", "threshold"]


@case("capture job")
def _(db):
    """One-shot: it ends when the log is drained; parameters are those of its start."""
    app = tables(db)
    db.start("t", mount=False)

    def state():
        return next(r for r in table("help-jobs", db.path) if r["job_type"] == "capture")["state"]
    ctl("change-job", db.path, "capture", "--continuous", "0", "--maxtrans", "2")
    assert state() == "running", "the change waits for the next start"
    ctl("stop-job", db.path)
    for number in range(9):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
    ctl("start-job", db.path)
    wait_until(lambda: state() == "stopped", 20, "the end of the one-shot job")
    assert select(db, "SELECT count(*) FROM main_t_CT") == [(9,)]


@case("sp_cdc_scan")
def _(db):
    app = tables(db)
    db.enable("t")
    ctl("scan", db.path)
    for number in range(7):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
    ctl("scan", db.path, "--maxtrans", "2", "--maxscans", "2")
    assert select(db, "SELECT count(*) FROM main_t_CT") == [(4,)]
    refuse(22999, "scan", db.path, "--pollinginterval", "1")
    ctl("scan", db.path)
    assert select(db, "SELECT count(*) FROM main_t_CT") == [(7,)]
    assert scalar("get-max-lsn", db.path) == db.max_lsn()


main()
