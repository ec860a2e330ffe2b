"""Values that the recipe for DuckDB reads are those of the source, whatever they are."""
from cdctest import case, ctl, main, wait_until
from consumers import duckdb, recipe, recipes
from mounting import need_fuse

need_fuse()

ROWS = [(1, None, None, None), (2, "", 0.0, b""), (3, 'a "quote", a comma', 1e300, b"\x00\xff"),
        (4, "two\nlines\r\nand three", -1.5, b'",\n'), (2**63 - 1, "NULL", 5e-324, b"abc"),
        (-2**63, "\\x00", float("inf"), b"\\x"), (5, "   ", float("-inf"), None),
        (6, "1234", 0.1, b"1234"), (7, "é€😀", 1 / 3, None), (9007199254740993, "'", -0.0, b"'")]


def read(db, instances):
    """The inserts, by key."""
    text = recipe("duckdb-csv", {"/mnt/shop/main_orders": f"{db.mountpoint}/{instances}"})
    extra = ", extra::VARCHAR AS extra" if "*" in instances else ""
    rows = duckdb("SELECT id::VARCHAR AS id, customer, total::VARCHAR AS total,"
                  f" hex(from_hex(substr(photo, 3))) AS photo{extra} FROM ({text})"
                  ' WHERE "__$operation" = 2')
    return sorted(((int(r["id"]), r["customer"], None if r["total"] is None else float(r["total"]),
                    None if r["photo"] is None else bytes.fromhex(r["photo"]),
                    *([r["extra"]] if extra else [])) for r in rows), key=repr)


@case("DuckDB reads every value, over files before and after ADD COLUMN")
def _(db):
    app = db.connect()
    app.execute(recipes()["table"])
    db.start("orders")
    insert = "INSERT INTO orders(id, customer, total, photo) VALUES(?, ?, ?, ?)"
    app.executemany(insert, ROWS[:5])
    db.rotate()
    app.execute("ALTER TABLE orders ADD COLUMN extra INTEGER DEFAULT 7")
    app.executemany(insert, ROWS[5:])
    db.rotate()
    assert len(db.files("main_orders")) == 2
    assert read(db, "main_orders") == sorted(ROWS, key=repr)

    # The new column is in a second instance; one pattern reads both.
    ctl("enable-table", db.path, "orders", "--capture-instance", "main_orders_2")
    wait_until(lambda: db.min_lsn("main_orders_2"), 10, "the second instance")
    app.execute("INSERT INTO orders VALUES(100, '', NULL, x'00', 9223372036854775807)")
    db.rotate()
    last = (100, "", None, b"\x00")
    assert read(db, "main_orders") == sorted([*ROWS, last], key=repr)
    assert read(db, "main_orders*") == sorted(
        [(*row, None) for row in [*ROWS, last]] + [(*last, str(2**63 - 1))], key=repr)


main()
