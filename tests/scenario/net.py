#!/usr/bin/env python3
"""Net changes of live databases: the command line, the SQL function and the mount say the same.

The number of a case stays; its text says what is right.
"""
import os
import subprocess

from cdctest import BUILD, case, ctl, main, read_file, run_ctl

EXTENSION = os.path.join(BUILD, "src", "extension", "libcdc_sqlite")
FILTERS = ("all", "all with mask", "all with merge")


def increment(lsn):
    return ctl("increment-lsn", lsn).decode().strip()


def by_command(db, function, first, last, row_filter, instance="main_t"):
    """Rows as [operation, mask, value, …] of fields as CSV has them."""
    lines = ctl(function, db.path, instance, first, last, "--row-filter", row_filter,
                "--format", "csv").decode().splitlines()
    start = lines[0].split(",").index("__$operation")
    return [line.split(",")[start:] for line in lines[1:]]


def shell(db, sql):
    """What the SQLite shell prints with the extension and the store attached to the source."""
    done = subprocess.run(
        ["sqlite3", "-batch", "-init", "/dev/null", db.path], capture_output=True, check=False,
        input=f"ATTACH '{db.path}-cdc' AS cdc;\n.load {EXTENSION}\n.mode csv\n{sql};\n".encode())
    assert not done.stderr, done.stderr.decode()
    return done.stdout.decode().splitlines()


def by_function(db, function, first, last, row_filter):
    rows = shell(db, f"""SELECT __$operation,
        CASE WHEN __$update_mask IS NOT NULL THEN '\\x' || lower(hex(__$update_mask)) END,
        id, '"' || v || '"' FROM {function}('{first}', '{last}', '{row_filter}')""")
    return [line.replace('"""', '"').split(",") for line in rows]


def net(db, first, last, row_filter):
    rows = by_command(db, "get-net-changes", first, last, row_filter)
    assert rows == by_function(db, "fn_cdc_get_net_changes_main_t", first, last, row_filter), (
        rows, by_function(db, "fn_cdc_get_net_changes_main_t", first, last, row_filter))
    return rows


def last_file(db, form="csv", instance="main_t"):
    folder = os.path.join(db.mountpoint, instance, "net", form)
    return os.path.join(folder, sorted(os.listdir(folder))[-1])


def start(db, rows=()):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    for row in rows:
        app.execute("INSERT INTO t VALUES(?, ?)", row)
    db.start("t")
    return app


def window(db, app, *statements):
    """The window in which the statements are committed, each by itself."""
    db.rotate()
    first = increment(db.max_lsn())
    for statement in statements:
        app.execute(statement)
    db.rotate()
    return first, db.max_lsn()


INSERT, UPDATE, DELETE = ("INSERT INTO t VALUES(1,'i')", "UPDATE t SET v=v||'u' WHERE id=1",
                          "DELETE FROM t WHERE id=1")
# name, was the row there, statements, [operation, mask, values] with the filter 'all with mask'
HISTORIES = (
    ("I", False, (INSERT,), ["2", "", "1", '"i"']),
    ("I,U", False, (INSERT, UPDATE), ["2", "", "1", '"iu"']),
    ("I,D", False, (INSERT, DELETE), None),
    ("U", True, (UPDATE,), ["4", "\\x02", "1", '"0u"']),
    ("U,U", True, (UPDATE, UPDATE), ["4", "\\x02", "1", '"0uu"']),
    ("D", True, (DELETE,), ["1", "", "1", '"0"']),
    ("U,D", True, (UPDATE, DELETE), ["1", "", "1", '"0u"']),
    ("D,I", True, (DELETE, INSERT), ["4", "\\x03", "1", '"i"']),
    ("D,I,D", True, (DELETE, INSERT, DELETE), ["1", "", "1", '"i"']),
    ("I,D,I", False, (INSERT, DELETE, INSERT), ["2", "", "1", '"i"']),
)


@case("each history of a key comes to what SQL Server makes of it, everywhere")
def _(db):
    app = start(db)
    for name, is_there, statements, wanted in HISTORIES:
        app.execute("DELETE FROM t")
        if is_there:
            app.execute("INSERT INTO t VALUES(1,'0')")
        first, last = window(db, app, *statements)
        for row_filter in FILTERS:
            rows = [list(wanted)] if wanted else []
            for row in rows:
                if row_filter != "all with mask":
                    row[1] = ""
                if row_filter == "all with merge" and row[0] != "1":
                    row[0] = "5"
            assert net(db, first, last, row_filter) == rows, (name, row_filter)
        if db.mountpoint:
            for form in ("csv", "jsonl"):
                assert read_file(last_file(db, form)) == ctl(
                    "get-net-changes", db.path, "main_t", first, last, "--format", form), name


@case("B005 a changed key is a delete and an insert")
def _(db):
    app = start(db)
    first, one = window(db, app, "INSERT INTO t VALUES(1,'a')")
    second, two = window(db, app, "UPDATE t SET id=1001 WHERE id=1")
    rows = by_command(db, "get-all-changes", second, two, "all update old")
    assert rows == by_function(db, "fn_cdc_get_all_changes_main_t", second, two, "all update old")
    assert [(r[0], r[2]) for r in rows] == [("1", "1"), ("2", "1001")]
    assert [(r[0], r[2]) for r in net(db, second, two, "all")] == [("1", "1"), ("2", "1001")]
    assert [(r[0], r[2]) for r in net(db, first, two, "all")] == [("2", "1001")]
    assert [(r[0], r[2]) for r in net(db, first, one, "all")] == [("2", "1")]


@case("B058 two rows that swap their keys are two updates")
def _(db):
    app = start(db, [(1, "a"), (2, "b")])
    db.rotate()
    first = increment(db.max_lsn())
    app.execute("BEGIN")
    for old, new in ((1, -1), (2, 1), (-1, 2)):
        app.execute("UPDATE t SET id=? WHERE id=?", (new, old))
    app.execute("COMMIT")
    db.rotate()
    rows = net(db, first, db.max_lsn(), "all with mask")
    assert sorted(rows) == [["4", "\\x02", "1", '"b"'], ["4", "\\x02", "2", '"a"']], rows


@case("B059 a window shows what was true at its end, also after the row is gone")
def _(db):
    app = start(db)
    borders = [window(db, app, sql) for sql in (
        "INSERT INTO t VALUES(1,'L1')", "UPDATE t SET v='L5'", "UPDATE t SET v='L9'")]
    for _ in range(2):
        (l1, t1), (l5, t5), (l9, t9) = borders
        assert net(db, l1, t1, "all with mask") == [["2", "", "1", '"L1"']]
        assert net(db, l5, t5, "all with mask") == [["4", "\\x02", "1", '"L5"']]
        assert net(db, l1, t9, "all with mask") == [["2", "", "1", '"L9"']]
        assert net(db, increment(t5), increment(t5), "all with mask") == []
        assert l9 > t5
        window(db, app, "DELETE FROM t")


@case("B061 without a key there are no net changes, and nothing is merged")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE nk(a, b)")
    db.start("nk")
    first, last = window(db, app, "INSERT INTO nk VALUES('x',1)", "INSERT INTO nk VALUES('x',1)",
                         "DELETE FROM nk WHERE rowid = 1")
    rows = by_command(db, "get-all-changes", first, last, "all", "main_nk")
    assert sorted(r[0] for r in rows) == ["1", "2", "2"], rows
    refused = run_ctl("get-net-changes", db.path, "main_nk", first, last)
    assert refused.returncode == 1 and b"error 208" in refused.stderr and b"no key" in refused.stderr
    assert not db.mountpoint or "net" not in os.listdir(os.path.join(db.mountpoint, "main_nk"))


@case("B062 windows are closed at both ends, and add up wherever they are cut")
def _(db):
    app = start(db)
    first = db.min_lsn("main_t")
    commits = [window(db, app, f"INSERT INTO t VALUES({i}, 'v')")[1] for i in range(10)]
    whole = by_command(db, "get-all-changes", first, commits[-1], "all")
    assert [row[2] for row in whole] == [str(i) for i in range(10)]
    for cut in commits[:-1]:
        assert ctl("decrement-lsn", increment(cut)).decode().strip() == cut
        parts = [by_command(db, "get-all-changes", first, cut, "all"),
                 by_command(db, "get-all-changes", increment(cut), commits[-1], "all")]
        assert parts[0] + parts[1] == whole, cut
        assert len(by_command(db, "get-all-changes", cut, cut, "all")) == 1


@case("windows of time are half open, and follow each other without loss")
def _(db):
    app = start(db)
    first = ctl("map-lsn-to-time", db.path, db.max_lsn()).decode().strip()
    ends = [first]
    for i in range(4):
        window(db, app, f"INSERT INTO t VALUES({i}, 'v')")
        ends.append(ctl("map-lsn-to-time", db.path, db.max_lsn()).decode().strip())
    for function in ("get-all-changes", "get-net-changes"):
        for i, (after, until) in enumerate(zip(ends, ends[1:])):
            rows = ctl(function, db.path, "main_t", "--from-time", after, "--to-time", until,
                       "--format", "csv").decode().splitlines()[1:]
            assert [row.split(",")[-2] for row in rows] == [str(i)], (function, rows)
    late = run_ctl("get-all-changes", db.path, "main_t", "--to-time", "2200-01-01T00:00:00Z")
    assert late.returncode == 1 and b"error 313" in late.stderr, late.stderr


if __name__ == "__main__":
    main()
