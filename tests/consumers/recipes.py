"""Each recipe of cdcfs-recipes(7) as it stands there, with the program that it is for."""
import csv
import io
import json
import os
import re
import socket
import subprocess

from cdctest import case, main, read_file, wait_until
from consumers import (PYTHON, Postgres, commands, duckdb, need, need_module, recipe, recipes,
                       shell)
from changes import RawText
from mounting import need_fuse

need_fuse()

ROWS = [(1, "plain", 1.5, b"\x00\xff"), (2, "", None, b""), (3, None, -0.25, None),
        (4, 'quote " and\nline', 1e300, b"abc"), (2**63 - 1, "a,b", 0.1, b"\x01"),
        (-2**63, "\\x00", 7.0, None)]


def shop(db, options=None, rows=tuple(ROWS)):
    """Files of three segments; the source, whose table began empty."""
    app = db.connect()
    app.execute(recipes()["table"])
    db.start("orders", options=options)
    app.execute("BEGIN")
    app.executemany("INSERT INTO orders VALUES(?, ?, ?, ?)", rows)
    app.execute("COMMIT")
    db.rotate()
    app.execute("UPDATE orders SET customer = 'new', total = 2.5 WHERE id = 1")
    app.execute("DELETE FROM orders WHERE id = 3")
    db.rotate()
    app.execute("UPDATE orders SET id = 30 WHERE id = 4")
    db.rotate()
    return app


def text_of(db, name):
    return recipe(name, {"/mnt/shop": db.mountpoint, "/srv": db.directory})


def copies(db, source, target):
    """The files below two folders are the same."""
    found = 0
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            assert read_file(os.path.join(target, os.path.relpath(path, source))) == read_file(path)
            found += 1
    return found


def table(app):
    return [tuple(v.decode() if isinstance(v, RawText) else v for v in row)
            for row in app.execute("SELECT * FROM orders ORDER BY id")]


@case("rsync and rclone")
def _(db):
    app = shop(db)
    need("rsync")
    everything = os.path.join(db.mountpoint, "main_orders", "all")
    os.mkdir(os.path.join(db.directory, "copy"))
    for _ in range(2):
        shell(commands(text_of(db, "rsync")))
        assert copies(db, os.path.join(everything, "csv"),
                      os.path.join(db.directory, "copy", "csv")) == 3
    live = os.path.join(db.mountpoint, "main_orders", "live", "all.jsonl")
    for number in range(100, 103):
        app.execute("INSERT INTO orders(id) VALUES(?)", (number,))
        wait_until(lambda n=number: f'"id":{n}'.encode() in read_file(live), 10, "a live row")
        shell(commands(text_of(db, "rsync-live")))
        assert read_file(os.path.join(db.directory, "copy", "all.jsonl")) == read_file(live)
    need("rclone")
    text = text_of(db, "rclone").replace("rclone copy", f"rclone --config {os.devnull} copy")
    for _ in range(2):
        shell(commands(text))
        assert copies(db, everything, os.path.join(db.directory, "copy")) == 12


@case("DuckDB: all changes, value for value")
def _(db):
    app = shop(db)
    select = ('SELECT "__$operation" AS op, id::VARCHAR AS id, customer, total,'
              " hex(from_hex(substr(photo, 3))) AS photo FROM (" + text_of(db, "duckdb-csv") +
              ") ORDER BY \"__$seqval\", \"__$operation\"")
    got = [(int(row["op"]), int(row["id"]), row["customer"], row["total"],
            None if row["photo"] is None else bytes.fromhex(row["photo"]))
           for row in duckdb(select)]
    old = [row for row in ROWS if row[0] in (1, 3, 4)]
    wanted = ([(2, *row) for row in sorted(ROWS)] +
              [(3, *old[0]), (4, 1, "new", 2.5, old[0][3]), (1, *old[1]), (1, *old[2]),
               (2, 30, *old[2][1:])])
    assert got == wanted, (got, wanted)
    assert len(table(app)) == 5


@case("DuckDB: the table from JSON lines, and from events of Debezium")
def _(db):
    app = shop(db)
    baseline = ("CREATE TABLE baseline(id BIGINT, customer VARCHAR, total DOUBLE, photo BLOB)")
    wanted = [(i, c, t, None if p is None else p.hex().upper()) for i, c, t, p in table(app)]
    for name in ("duckdb-jsonl", "duckdb-debezium"):
        rows = duckdb(baseline, "SELECT id::VARCHAR AS id, customer, total, hex(photo) AS photo FROM"
                      f" ({text_of(db, name)}) AS t ORDER BY t.id::BIGINT")
        got = [(int(r["id"]), r["customer"], r["total"], r["photo"]) for r in rows]
        assert sorted(got) == wanted, (name, got, wanted)


@case("DuckDB: updates with their before images, from Qlik's change tables")
def _(db):
    shop(db)
    row, = duckdb(text_of(db, "duckdb-qlik"))
    assert (row["id"], row["before"], row["after"]) == ("1", "plain", "new"), row
    assert re.fullmatch(r"\d{35}", row["seq"])


@case("PostgreSQL: COPY, a table that follows, file_fdw")
def _(db):
    app = shop(db, {"allow_other": True})
    with Postgres(db) as postgres:
        environment = postgres.environment()
        shell(text_of(db, "psql-copy"), env=environment)
        assert postgres.sql("SELECT operation, count(*) FROM orders_ct GROUP BY 1 ORDER BY 1"
                            ).split() == ["1|2", "2|7", "3|1", "4|1"]
        assert postgres.sql("SELECT customer IS NULL, photo IS NULL, customer = '' FROM orders_ct"
                            " WHERE id IN (2, 3) AND operation = 2 ORDER BY id"
                            ).split() == ["f|f|t", "t|t|"]
        postgres.sql("CREATE TABLE orders(id bigint PRIMARY KEY, customer text,"
                     " total double precision, photo bytea);"
                     " CREATE TABLE applied(name text PRIMARY KEY)")
        for _ in range(2):
            shell(text_of(db, "psql-net"), env=environment)
        got = postgres.sql("COPY (SELECT * FROM orders ORDER BY id) TO STDOUT WITH (FORMAT csv)")
        rows = [(int(i), c, float(t) if t else None, p) for i, c, t, p in
                csv.reader(io.StringIO(got))]
        assert rows == [(i, c or "", t,
                         "" if p is None else "\\x" + p.hex()) for i, c, t, p in table(app)], rows
        postgres.sql(text_of(db, "psql-fdw"))
        assert postgres.sql("SELECT count(*), sum(octet_length(photo)) FROM orders_changes"
                            ) == postgres.sql("SELECT count(*), sum(octet_length(photo))"
                                              " FROM orders_ct")


@case("pandas")
def _(db):
    need_module("pandas")
    shop(db)
    got = subprocess.run([PYTHON, "-"], input=(text_of(db, "pandas") + """
print(json.dumps([frame["id"].tolist(), frame["customer"].tolist()]))
""").encode(), capture_output=True, check=True, timeout=60)
    ids, customers = json.loads(got.stdout)
    assert ids[:6] == [-2**63, 1, 2, 3, 4, 2**63 - 1] and len(ids) == 11, ids
    assert customers[2:4] == ["", None]


@case("jq")
def _(db):
    need("jq")
    shop(db)
    assert shell(commands(text_of(db, "jq"))).split() == [b"3", b"4"]
    line = shell(commands(text_of(db, "jq-debezium")))
    assert json.loads(line) == {"id": 1, "was": 1.5, "is": 2.5}, line


@case("Miller")
def _(db):
    need("mlr")
    shop(db)
    lines = [json.loads(line) for line in shell(commands(text_of(db, "miller"))).splitlines()]
    assert len(lines) == 7 and {line["__$operation"] for line in lines} <= {2, "2"}, lines
    assert lines[4]["customer"] == 'quote " and\nline', lines


@case("sqlite3 .import")
def _(db):
    need("sqlite3")
    shop(db)
    shell("cd " + db.directory + "\n" + text_of(db, "sqlite3"))
    copy = db.connect(os.path.join(db.directory, "copy.db"))
    assert copy.execute("SELECT count(*), sum(operation = 2), max(id), typeof(max(id))"
                        " FROM orders_ct").fetchone()[:3] == (11, 7, 2**63 - 1)
    assert copy.execute("SELECT customer = 'quote \" and' || char(10) || 'line' FROM orders_ct"
                        " WHERE id = 4 AND operation = 2").fetchone() == (1,)


SERVER = """<yandex><logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog>
</logger><tcp_port>{1}</tcp_port><listen_host>127.0.0.1</listen_host><path>{0}/data/</path>
<tmp_path>{0}/tmp/</tmp_path><user_files_path>{0}/files/</user_files_path>
<mark_cache_size>1000000</mark_cache_size><users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database></yandex>"""
USERS = """<yandex><profiles><default></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default></default></quotas></yandex>"""


@case("ClickHouse")
def _(db):
    need("clickhouse-server", "clickhouse-client")
    shop(db, rows=ROWS[:-1])
    folder = os.path.join(db.directory, "clickhouse")
    os.mkdir(folder)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with open(os.path.join(folder, "config.xml"), "w", encoding="ascii") as file:
        file.write(SERVER.format(folder, port))
    with open(os.path.join(folder, "users.xml"), "w", encoding="ascii") as file:
        file.write(USERS)
    server = subprocess.Popen(["clickhouse-server", "--config-file=config.xml"], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    client = f"clickhouse-client --host 127.0.0.1 --port {port}"
    try:
        wait_until(lambda: subprocess.run([*client.split(), "--query", "SELECT 1"],
                                          capture_output=True, check=False).returncode == 0,
                   60, "a ClickHouse that answers")
        shell(text_of(db, "clickhouse").replace("clickhouse-client", client))
        got = shell(f"{client} --query 'SELECT id, customer FROM orders_ct WHERE"
                    " `__$operation` = 2 ORDER BY id FORMAT JSONEachRow'")
        rows = [json.loads(line) for line in got.splitlines()]
        assert [int(row["id"]) for row in rows] == [1, 2, 3, 4, 30, 2**63 - 1], rows
        assert [row["customer"] for row in rows][1:4] == ["", None, 'quote " and\nline'], rows
    finally:
        server.terminate()
        server.wait(60)


@case("every recipe of the manual has its case here")
def _(_):
    with open(os.path.abspath(__file__), encoding="utf-8") as file:
        text = file.read()
    missing = [name for name in recipes() if f'"{name}"' not in text]
    assert not missing and len(recipes()) > 10, missing


main()
