"""What happened to readers of comparable files, as small cases in the area files and formats.

The number of a case stays; its text says what is right.
"""
import csv
import io
import json
import os
import shutil
import subprocess

from cdctest import case, ctl, main, read_file, wait_until
from changes import net, read_csv, read_jsonl
from mounting import need_fuse, run

need_fuse()


def rows_of(path):
    """Records of a CSV file as Python's csv reads it by default."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def directories(db):
    """{true name of an instance: its directory}, as change_tables says."""
    connection = db.store()
    return dict(connection.execute("SELECT capture_instance, directory FROM change_tables"))


def newest(db, instance, form="csv"):
    return read_file(db.files(instance, form)[-1])


@case("B074 a quoted field far down the file does not surprise: all TEXT is quoted")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("BEGIN")
    app.executemany("INSERT INTO t VALUES(?, ?)", [(i, f"plain{i}") for i in range(25000)])
    app.execute("INSERT INTO t VALUES(25000, 'Beth, Bens. Co.'), (25001, ?)", ("two\nlines",))
    app.execute("COMMIT")
    db.rotate()
    path, = db.files("main_t")
    rows = rows_of(path)
    assert len(rows) == 25002
    assert [row["v"] for row in rows[-2:]] == ["Beth, Bens. Co.", "two\nlines"]
    first = read_file(path).split(b"\n")[1]
    assert first.endswith(b',0,"plain0"'), first


@case("B076 values that look like comments or separators are values")
def _(db):
    app = db.connect()
    app.execute('CREATE TABLE t("#h" TEXT, id INTEGER PRIMARY KEY, v TEXT)')
    db.start("t")
    odd = ["#1", "//x", "--", ";", "# 2", "'", '"', "", " ", "\t", "\r"]
    values = ["#1" if i in (0, 2047) else f"x{i}" for i in range(4000)] + odd
    app.executemany('INSERT INTO t("#h", v) VALUES(?, ?)', [(v, "a,b") for v in values])
    db.rotate()
    rows = rows_of(db.files("main_t")[0])
    assert [row["#h"] for row in rows] == values
    lines = [json.loads(line) for line in newest(db, "main_t", "jsonl").splitlines()]
    assert [line["#h"] for line in lines] == values


@case("B077 no rows, and columns of nothing but NULL")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a REAL, b TEXT)")
    db.start("t")
    app.execute("INSERT INTO t VALUES(1, 1.5, 'x')")
    db.rotate()
    app.execute("INSERT INTO t VALUES(2, NULL, NULL)")
    db.rotate()
    live = os.path.join(db.mountpoint, "main_t", "live")
    header = newest(db, "main_t").split(b"\n")[0] + b"\n"
    assert read_file(os.path.join(live, "all.csv")) == header
    assert read_file(os.path.join(live, "all.jsonl")) == b""
    run("jq", "-c", ".", os.path.join(live, "all.jsonl"))
    rows = [row for path in db.files("main_t") for row in rows_of(path)]
    assert [(row["id"], row["a"], row["b"]) for row in rows] == [("1", "1.5", "x"), ("2", "", "")]
    schema = json.loads(read_file(os.path.join(db.mountpoint, "main_t", "schema.json")))
    assert [(c["name"], c["affinity"]) for c in schema["columns"]] == [
        ("id", "INTEGER"), ("a", "REAL"), ("b", "TEXT")], schema


@case("B079 every line of a large transaction is whole by itself")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    app.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
                " INSERT INTO t SELECT i, 'v' FROM n")
    db.rotate()
    data = b"".join(read_file(path) for path in db.files("main_t", "jsonl"))
    assert data.count(b"\n") == 300000 and data.endswith(b"}\n")
    assert len({json.loads(line)["__$start_lsn"] for line in data.splitlines()}) == 1
    head = run("head", "-n", "1000", db.files("main_t", "jsonl")[0])
    assert [json.loads(line)["id"] for line in head.splitlines()] == list(range(1, 1001))
    assert sum(len(rows_of(path)) for path in db.files("main_t")) == 300000


@case("B080 names sort in the order of events, in every locale")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("t")
    for number in range(40):
        app.execute("INSERT INTO t VALUES(?, 'v')", (number,))
        db.rotate()
    folder = os.path.join(db.mountpoint, "main_t", "all", "csv")
    names = run("ls", folder, env={**os.environ, "LC_ALL": "C"}).split()
    assert names == run("ls", folder, env={**os.environ, "LC_ALL": "en_US.UTF-8"}).split()
    assert len({len(name) for name in names}) == 1 and len(names) == 40
    keys = [(row["__$start_lsn"], row["__$seqval"]) for name in names
            for row in rows_of(os.path.join(folder, name.decode()))]
    assert keys == sorted(set(keys)) and len(keys) == 40


@case("B082 B083 long names, and names that differ only at their ends, have directories of their own")
def _(db):
    app = db.connect()
    tables = ["a" * 300, "€" * 90, "b" * 299 + "1", "b" * 299 + "2", "caf\u00e9", "cafe\u0301",
              "plain"]
    for number, table in enumerate(tables):
        app.execute(f'CREATE TABLE "{table}"(id INTEGER PRIMARY KEY, v)')
    ctl("enable-db", db.path)
    ctl("enable-table", db.path, "--all")
    db.start()
    for number, table in enumerate(tables):
        app.execute(f'INSERT INTO "{table}" VALUES(?, ?)', (number, f"of {number}"))
    db.rotate()
    connection = db.store()
    names = connection.execute(
        "SELECT t.name, c.directory FROM change_tables AS c JOIN cdcfs_source_tables AS t"
        " USING (source_object_id)").fetchall()
    assert len(names) == len(tables) == len({directory for _, directory in names})
    for name, directory in names:
        assert len(directory.encode()) <= 255
        path = os.path.join(db.mountpoint, directory)
        row, = rows_of(db.files(directory)[0])
        assert row["v"] == f"of {tables.index(name)}", name
        assert os.stat(path).st_ino
    inodes = {os.stat(os.path.join(db.mountpoint, d)).st_ino for _, d in names}
    assert len(inodes) == len(tables)
    run("find", db.mountpoint)
    before = sorted(os.listdir(db.mountpoint))
    db.stop()
    db.start()
    assert sorted(os.listdir(db.mountpoint)) == before


@case("B085 names that shells and other systems trip over are plain directories")
def _(db):
    app = db.connect()
    tables = ["CON", "a:b", "x.", "-rf", "*", "~", ".hidden", "a/b", "new\nline", "x y"]
    for table in tables:
        app.execute(f'CREATE TABLE "{table}"(id INTEGER PRIMARY KEY)')
    ctl("enable-db", db.path)
    for table in tables:
        ctl("enable-table", db.path, "--capture-instance", table, "--", table)
    db.start()
    for table in tables:
        app.execute(f'INSERT INTO "{table}" VALUES(7)')
    db.rotate()
    found = directories(db)
    assert set(found) == set(tables)
    for directory in found.values():
        assert directory[0] not in "-." and "/" not in directory and "\n" not in directory
        path, = db.files(directory)
        assert run("cat", path).count(b"\n") == 2


@case("B086 spaces, reserved words and brackets in names are only names")
def _(db):
    app = db.connect()
    columns = ["id", "from", "order", "a]b", 'q"x', "ключ", "a b", " lead"]
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    app.execute(f'CREATE TABLE "CRON UK$Item Ledger Entry"({quoted}, PRIMARY KEY("id"))')
    db.start("CRON UK$Item Ledger Entry")
    table = '"CRON UK$Item Ledger Entry"'
    app.execute(f"INSERT INTO {table} VALUES(1, 2, 3, 4, 5, 6, 7, 8)")
    app.execute(f"UPDATE {table} SET \"a b\" = 70")
    app.execute(f"DELETE FROM {table}")
    db.rotate()
    instance = directories(db)["main_CRON UK$Item Ledger Entry"]
    names, rows = read_csv(b"".join(read_file(path) for path in db.files(instance)))
    assert names == columns and [row.operation for row in rows] == [2, 3, 4, 1]
    assert net(rows, [0]) == []
    json_names, json_rows = read_jsonl(newest(db, instance, "jsonl"))
    assert json_names == columns and len(json_rows) == 4
    record = rows_of(db.files(instance)[0])[2]
    assert record["a b"] == "70" and record["from"] == "2"


@case("fields that PostgreSQL, pandas and jq would read are where they say")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for value in (None, 1, -1.5, "text", b"\x00\xff", float("inf"), "\\x00", "NULL", ""):
        app.execute("INSERT INTO t(v) VALUES(?)", (value,))
    db.rotate()
    data = newest(db, "main_t")
    fields = [line.rsplit(b",", 1)[1] for line in data.splitlines()[1:]]
    assert fields == [b"", b"1", b"-1.5", b'"text"', b"\\x00ff", b"Infinity", b'"\\x00"',
                      b'"NULL"', b'""'], fields
    assert len(list(csv.reader(io.StringIO(data.decode())))) == 10
    lines = subprocess.run(["jq", "-c", ".v"], input=newest(db, "main_t", "jsonl"),
                           capture_output=True, check=True).stdout.split()
    assert len(lines) == 9 and lines[0] == b"null" and lines[3] == b'"text"', lines
    assert shutil.which("jq")
    wait_until(lambda: read_file(os.path.join(db.mountpoint, "main_t", "max_lsn")), 5, "max_lsn")


main()
