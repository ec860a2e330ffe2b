"""A copy that follows the source by the recipes of the manual equals it after random transactions."""
import csv
import io
import os
import random

from cdctest import Skip, case, main
from consumers import Postgres, duckdb, need, recipe, recipes, shell
from mounting import need_fuse

need_fuse()

TRANSACTIONS = int(os.environ.get("CDC_FOLLOW_TRANSACTIONS", "10000"))
FILES = 25
TEXTS = ["", "plain", "a,b", 'q"uote', "two\nlines", "\\.", "NULL", "\\x00ff", "\\", " lead ", "é€😀",
         "{\"$text\": 1}", "\r\n", "'"]


def any_row(chance):
    return (chance.choice([None, *TEXTS, f"text {chance.random()}"]),
            chance.choice([None, 0.0, -1.5, 1e300, 5e-324, chance.random()]),
            chance.choice([None, b"", b"\x00\xff", chance.randbytes(20)]))


def any_change(app, chance):
    key = chance.choice([chance.randrange(300), chance.randrange(300), 2**63 - 1, -2**63])
    kind = chance.random()
    if kind < 0.4:
        app.execute("INSERT OR REPLACE INTO orders VALUES(?, ?, ?, ?)", (key, *any_row(chance)))
    elif kind < 0.75:
        app.execute("UPDATE orders SET customer = ?, total = ?, photo = ? WHERE id = ?",
                    (*any_row(chance), key))
    elif kind < 0.9:
        app.execute("DELETE FROM orders WHERE id = ?", (key,))
    else:
        app.execute("UPDATE OR REPLACE orders SET id = ? WHERE id = ?",
                    (chance.randrange(300), key))


def any_transaction(app, chance):
    app.execute("BEGIN")
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        any_change(app, chance)
    app.execute("ROLLBACK" if chance.random() < 0.05 else "COMMIT")


def start(db, chance):
    """The source with some rows, and those."""
    app = db.connect()
    app.execute(recipes()["table"])
    app.executemany("INSERT INTO orders VALUES(?, ?, ?, ?)",
                    [(i, *any_row(chance)) for i in range(100)])
    db.start("orders")
    return app, app.execute("SELECT * FROM orders").fetchall()


def as_csv(rows):
    """As PostgreSQL's COPY reads it."""
    def field(value):
        if value is None:
            return ""
        if isinstance(value, bytes):
            return "\\x" + value.hex()
        return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)
    return "".join(",".join(map(field, row)) + "\n" for row in rows)


def from_csv(text):
    return sorted((int(i), c, float(t) if t else None, p) for i, c, t, p in
                  csv.reader(io.StringIO(text, newline="")))


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"from_hex('{value.hex()}')"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def check_duckdb(db, baseline, wanted):
    values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in baseline)
    for name in ("duckdb-jsonl", "duckdb-debezium"):
        rows = duckdb(
            "CREATE TABLE baseline(id BIGINT, customer VARCHAR, total DOUBLE, photo BLOB)",
            f"INSERT INTO baseline VALUES {values}",
            "SELECT id::VARCHAR AS id, customer, total::VARCHAR AS total, hex(photo) AS photo FROM ("
            + recipe(name, {"/mnt/shop": db.mountpoint}) + ")")
        got = sorted((int(r["id"]), r["customer"], None if r["total"] is None else float(r["total"]),
                      None if r["photo"] is None else bytes.fromhex(r["photo"])) for r in rows)
        assert got == wanted, (name, set(map(repr, got)) ^ set(map(repr, wanted)))


@case(f"PostgreSQL, from net/csv: equal after {TRANSACTIONS} transactions; then DuckDB")
def _(db):
    chance = random.Random(6)
    app, baseline = start(db, chance)
    with Postgres(db) as postgres:
        postgres.sql("CREATE TABLE orders(id bigint PRIMARY KEY, customer text,"
                     " total double precision, photo bytea);"
                     " CREATE TABLE applied(name text PRIMARY KEY)")
        copy = os.path.join(db.directory, "baseline.csv")
        with open(copy, "w", encoding="utf-8", newline="") as file:
            file.write(as_csv(baseline))
        postgres.sql(f"\\copy orders FROM '{copy}' WITH (FORMAT csv)\n")
        script = recipe("psql-net", {"/mnt/shop": db.mountpoint})
        for _ in range(FILES):
            for _ in range(TRANSACTIONS // FILES):
                any_transaction(app, chance)
            db.rotate()
            shell(script, env=postgres.environment())
        got = postgres.sql("COPY orders TO STDOUT WITH (FORMAT csv, FORCE_QUOTE (customer))")
        wanted = sorted(app.execute("SELECT * FROM orders").fetchall())
        assert from_csv(got) == from_csv(as_csv(wanted))
        assert postgres.sql("SELECT count(*) FROM orders WHERE customer IS NULL") == (
            str(sum(row[1] is None for row in wanted)) + "\n")
        assert int(postgres.sql("SELECT count(*) FROM applied")) == FILES
    try:
        check_duckdb(db, baseline, wanted)
    except Skip as skip:
        print(f"# without DuckDB: {skip}")


@case("DuckDB, from all/jsonl and from all/debezium: equal after random transactions")
def _(db):
    need("node")
    chance = random.Random(7)
    app, baseline = start(db, chance)
    for _ in range(5):
        for _ in range(TRANSACTIONS // 20):
            any_transaction(app, chance)
        db.rotate()
        wanted = sorted(app.execute("SELECT * FROM orders").fetchall())
        check_duckdb(db, baseline, wanted)


main()
