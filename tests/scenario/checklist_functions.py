#!/usr/bin/env python3
"""SQL Server's change data capture, feature by feature: its functions and what they return."""
import json
import os

from cdctest import case, ctl, main, read_file, run_ctl, wait_until
from sqlserver import changes, increment, refuse, scalar, select, table, window

ZERO, HIGHEST = "00000000:00000000:0000", "ffffffff:ffffffff:ffff"


def start(db, *rows, mount=False):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    for row in rows:
        app.execute("INSERT INTO t VALUES(?, ?)", row)
    db.start("t", mount=mount)
    return app


@case("get_min_lsn")
def _(db):
    app = start(db)
    app.execute("CREATE TABLE late(id INTEGER PRIMARY KEY)")
    done = run_ctl("get-min-lsn", db.path, "nowhere")
    assert done.returncode == 1, "SQL Server gives 0x0: the SQL function does"
    db.stop()
    ctl("enable-table", db.path, "late")
    assert scalar("get-min-lsn", db.path, "main_late") == "", "not established yet"
    assert scalar("get-min-lsn", db.path, "main_t") == table(
        "help-change-data-capture", db.path, "t")[0]["start_lsn"]


@case("get_max_lsn")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    assert scalar("get-max-lsn", db.path) == "", "before the first capture"
    db.start(mount=False)
    wait_until(lambda: db.min_lsn("main_t"), 10, "an instance recognised")
    app.execute("INSERT INTO t VALUES(1, 1)")
    db.rotate()
    newest, = select(db, "SELECT max(start_lsn) FROM lsn_time_mapping")[0]
    assert db.max_lsn().replace(":", "") == newest.hex()
    ctl("cleanup-change-table", db.path, "main_t", db.max_lsn())
    assert db.max_lsn().replace(":", "") == newest.hex(), "it is kept over cleanup"


@case("map_time_to_lsn x4, map_lsn_to_time")
def _(db):
    app = start(db)
    for number in range(3):
        app.execute("INSERT INTO t VALUES(?, 'x')", (number,))
        db.rotate()
    rows = [(f"{h[:8]}:{h[8:16]}:{h[16:]}", at) for h, at in select(
        db, "SELECT lower(hex(start_lsn)), tran_end_time FROM lsn_time_mapping ORDER BY rowid")]

    def find(operator, at):
        return scalar("map-time-to-lsn", db.path, operator, at)
    for _, at in rows:
        lower = [lsn for lsn, t in rows if t < at]
        same = [lsn for lsn, t in rows if t == at]
        upper = [lsn for lsn, t in rows if t > at]
        assert find("largest less than", at) == (lower[-1] if lower else "")
        assert find("largest less than or equal", at) == same[-1]
        assert find("smallest greater than or equal", at) == same[0]
        assert find("smallest greater than", at) == (upper[0] if upper else "")
        for lsn in same:
            assert scalar("map-lsn-to-time", db.path, lsn) == at
    assert scalar("map-lsn-to-time", db.path, increment(rows[-1][0])) == ""


@case("increment / decrement")
def _(db):
    for low, high in (("00000001:00000002:ffff", "00000001:00000003:0000"),
                      ("00000001:ffffffff:ffff", "00000002:00000000:0000"),
                      (ZERO, "00000000:00000000:0001")):
        assert increment(low) == high and scalar("decrement-lsn", high) == low
    assert db.directory and increment("0x00000001000000020001") == "00000001:00000002:0002"


@case("is_bit_set, get_column_ordinal, has_column_changed")
def _(db):
    app = db.connect()
    columns = [f"c{number}" for number in range(1, 10)]
    app.execute(f"CREATE TABLE t({', '.join(columns)}, PRIMARY KEY(c1))")
    app.execute(f"INSERT INTO t VALUES({','.join('1' * 9)})")
    db.start("t", mount=False)
    first, last = window(db, lambda: app.execute("UPDATE t SET c3 = 2, c9 = 2"))
    mask = changes(db, "main_t", first, last)[0][1]
    assert mask == "\\x0104", "big-endian: the first eight ordinals are in the last byte"
    for number, name in enumerate(columns, 1):
        assert scalar("get-column-ordinal", db.path, "main_t", name) == str(number)
        wanted = "1" if number in (3, 9) else "0"
        assert scalar("is-bit-set", str(number), mask) == wanted
        assert scalar("has-column-changed", db.path, "main_t", name, mask) == wanted
    assert scalar("get-column-ordinal", db.path, "main_t", "nowhere") == ""


@case("all changes 'all' / 'all update old'")
def _(db):
    app = start(db)
    first, last = window(db, lambda: app.execute("INSERT INTO t VALUES(1, 'a')"),
                         lambda: app.execute("UPDATE t SET v = 'b'"),
                         lambda: app.execute("DELETE FROM t"))
    assert changes(db, "main_t", first, last) == [
        ["2", "\\x03", "1", "a"], ["3", "\\x02", "1", "a"], ["4", "\\x02", "1", "b"],
        ["1", "\\x03", "1", "b"]]
    for word in ("all", " ALL "):
        assert [row[0] for row in changes(db, "main_t", first, last, word)] == ["2", "4", "1"]
    assert list(table("get-all-changes", db.path, "main_t", first, last)[0]) == [
        "__$start_lsn", "__$seqval", "__$operation", "__$update_mask", "id", "v"]
    lsns = [row["__$start_lsn"] for row in
            table("get-all-changes", db.path, "main_t", first, last, "--row-filter", "all")]
    for number, lsn in enumerate(lsns):
        assert len(changes(db, "main_t", lsn, lsn, "all")) == 1, "both ends are included"
        assert len(changes(db, "main_t", lsns[0], lsn, "all")) == number + 1


@case("net changes x3")
def _(db):
    app = start(db, (1, "old"), (2, "old"))
    first, last = window(
        db, lambda: app.execute("UPDATE t SET v = 'new' WHERE id = 1"),
        lambda: app.execute("DELETE FROM t WHERE id = 2"),
        lambda: app.execute("INSERT INTO t VALUES(3, 'a')"),
        lambda: app.execute("UPDATE t SET v = 'b' WHERE id = 3"),
        lambda: app.execute("INSERT INTO t VALUES(4, 'x')"),
        lambda: app.execute("DELETE FROM t WHERE id = 4"))

    def net(row_filter):
        return sorted(list(row.values())[1:] for row in table(
            "get-net-changes", db.path, "main_t", first, last, "--row-filter", row_filter))
    assert net("all") == [["1", "", "2", "old"], ["2", "", "3", "b"], ["4", "", "1", "new"]]
    assert net("all with mask") == [
        ["1", "", "2", "old"], ["2", "", "3", "b"], ["4", "\\x02", "1", "new"]]
    assert net("all with merge") == [
        ["1", "", "2", "old"], ["5", "", "1", "new"], ["5", "", "3", "b"]]
    assert list(table("get-net-changes", db.path, "main_t", first, last)[0]) == [
        "__$start_lsn", "__$operation", "__$update_mask", "id", "v"]


@case("range error instead of empty")
def _(db):
    app = start(db)
    first, last = window(db, lambda: app.execute("INSERT INTO t VALUES(1, 'a')"))
    low = scalar("decrement-lsn", db.min_lsn("main_t"))
    beyond = increment(increment(last))
    said = {refuse(313, command, db.path, "main_t", *arguments)
            for command in ("get-all-changes", "get-net-changes")
            for arguments in ((low, last), (first, beyond), (last, first), (ZERO, low),
                              (beyond, HIGHEST), (first, last, "--row-filter", "some"))}
    assert len(said) >= 5, "each cause has its own message"
    done = run_ctl("get-all-changes", db.path, "main_t", increment(last), increment(last))
    assert done.returncode == 3, "nothing new yet"
    middle = increment(db.min_lsn("main_t"))
    assert changes(db, "main_t", middle, middle) == [], "a valid range may be empty"


@case("wrapper functions by time")
def _(db):
    app = start(db)
    db.rotate()
    times = []
    for number in range(4):
        app.execute("INSERT INTO t VALUES(?, 'x')", (number,))
        db.rotate()
        times.append(scalar("map-lsn-to-time", db.path, db.max_lsn()))

    def rows(*options, command="get-all-changes"):
        return [row["id"] for row in table(command, db.path, "main_t", *options)]
    for command in ("get-all-changes", "get-net-changes"):
        assert rows("--from-time", times[0], "--to-time", times[2], command=command) == ["1", "2"]
        assert rows("--from-time", times[2], command=command) == ["3"]
        assert rows("--to-time", times[1], command=command) == ["0", "1"]
        refuse(313, command, db.path, "main_t", "--from-time", times[2], "--to-time", times[1])
        refuse(313, command, db.path, "main_t", "--from-time", times[0], "--to-time",
               "2199-01-01T00:00:00Z")


@case("end-of-log LSN + caught-up flag")
def _(db):
    app = start(db, mount=True)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    db.rotate()
    assert "max_lsn" in db.status()
    if not db.mountpoint:
        return

    def read():
        return json.loads(read_file(os.path.join(db.mountpoint, "main_t", "validity.json")))
    wait_until(lambda: read()["caught_up"], 20, "the end of the log")
    told = read()
    assert told["end_of_log"] == told["max_lsn"] == db.max_lsn()
    assert told["as_of"] >= told["max_time"]


@case("per-transaction view over tables")
def _(db):
    app = start(db, mount=True)
    app.execute("CREATE TABLE u(id INTEGER PRIMARY KEY)")
    ctl("enable-table", db.path, "u")
    app.execute("BEGIN")
    app.execute("INSERT INTO t VALUES(1, 'a')")
    app.execute("INSERT INTO u VALUES(1), (2)")
    app.execute("COMMIT")
    db.rotate()
    assert select(db, "SELECT cdcfs_rows FROM lsn_time_mapping WHERE cdcfs_rows IS NOT NULL") == [
        ('{"main_t":1,"main_u":2}',)]
    if db.mountpoint:
        name, = os.listdir(os.path.join(db.mountpoint, "transactions"))
        line, = read_file(os.path.join(db.mountpoint, "transactions", name)).splitlines()
        assert json.loads(line)["rows"] == {"main_t": 1, "main_u": 2}


main()
