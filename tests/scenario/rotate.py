#!/usr/bin/env python3
"""As soon as `cdcctl rotate` returns, the files of the mount and get-all-changes hold exactly the
net change of each transaction, in commit order, while other writers are at work."""
import os
import random
import subprocess
import threading

from cdctest import case, main, read_file
from changes import commits, mask_of, replay, Row

SEED = int(os.environ.get("CDC_TEST_SEED", "1"))


class Load:
    """Another table of the same database, written all the time."""

    def __init__(self, db):
        self.connection = db.connect()
        self.stopping = threading.Event()
        self.committed = 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.stopping.wait(0.002):
            self.connection.execute("INSERT INTO load(v) VALUES(?)", (self.committed,))
            self.committed += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def attributes(db, instance):
    """What must never change of a closed file."""
    result = {}
    for form in ("csv", "jsonl"):
        for path in db.files(instance, form):
            stat = os.stat(path)
            result[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns, read_file(path))
    return result


def random_transaction(rng, table):
    """Statements of one transaction, and its net change. Updates table, {id: v}."""
    before, statements = dict(table), []
    for _ in range(rng.randint(1, 12)):
        kind, row = rng.choice("iiuuud"), rng.randint(1, 60)
        value = rng.choice(["", "x" * rng.randint(1, 6000), f"v{rng.randint(1, 5)}"])
        if kind == "i" and row not in table:
            statements.append(("INSERT INTO orders VALUES(?,?)", (row, value)))
            table[row] = value
        elif kind == "u" and row in table:
            statements.append(("UPDATE orders SET v=? WHERE id=?", (value, row)))
            table[row] = value
        elif kind == "d" and row in table:
            statements.append(("DELETE FROM orders WHERE id=?", (row,)))
            del table[row]
    change = [(1, i, before[i]) for i in sorted(before.keys() - table.keys())]
    for i in sorted(before.keys() & table.keys()):
        if before[i] != table[i]:
            change += [(3, i, before[i]), (4, i, table[i])]
    change += [(2, i, table[i]) for i in sorted(table.keys() - before.keys())]
    return statements, change


@case("what the sqlite3 shell commits stands in the files when rotate returns")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, v TEXT)")
    app.execute("CREATE TABLE load(id INTEGER PRIMARY KEY, v)")
    app.execute("INSERT INTO orders VALUES(1,'one'),(2,'two')")
    db.start("orders", "load")
    with Load(db):
        subprocess.run(["sqlite3", "-bail", "-cmd", ".timeout 5000", db.path], check=True, input=(
            "BEGIN; INSERT INTO orders VALUES(3,'three'); UPDATE orders SET v='ONE' WHERE id=1;"
            "DELETE FROM orders WHERE id=2; UPDATE orders SET v='drei' WHERE id=3; COMMIT;"
            ).encode(), stdout=subprocess.DEVNULL)
        db.rotate()
        if db.mountpoint:
            [path] = db.files("main_orders")
            assert read_file(path).count(b"\n") == 5
    rows = db.changes("main_orders")
    assert commits(rows) == [[(1, 2, "two"), (3, 1, "one"), (4, 1, "ONE"), (2, 3, "drei")]]
    assert [r.mask for r in rows] == ["\\x03", mask_of([2], 2), mask_of([2], 2), "\\x03"]


@case(f"500 random transactions under load are their net changes, seed {SEED}")
def _(db):
    rng, table, expected, frozen = random.Random(SEED), {}, [], {}
    app = db.connect()
    app.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, v TEXT)")
    app.execute("CREATE TABLE load(id INTEGER PRIMARY KEY, v)")
    db.start("orders", "load")
    with Load(db) as load:
        for number in range(500):
            statements, change = random_transaction(rng, table)
            app.execute("BEGIN IMMEDIATE")
            for statement in statements:
                app.execute(*statement)
            app.execute("COMMIT")
            if change:
                expected.append(change)
            if number % 50 == 49:
                assert commits(db.changes("main_orders")) == expected
                if db.mountpoint:
                    now = attributes(db, "main_orders")
                    assert frozen.items() <= now.items(), "a closed file changed"
                    frozen = now
    rows = db.changes("main_load")
    assert commits(rows) == [[(2, i + 1, i)] for i in range(load.committed)]
    rows = db.changes("main_orders")
    assert replay(rows) == replay([Row("", "", 2, "", row) for row in table.items()])
    db.stop()
    db.start()
    if db.mountpoint:
        now = attributes(db, "main_orders")
        assert frozen.items() <= now.items(), "a closed file changed over a remount"
    assert db.changes("main_orders") == rows


@case("rotate with nothing to close is no error and makes no file")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, v TEXT)")
    db.start("orders")
    for _ in range(3):
        db.rotate()
    if db.mountpoint:
        assert db.files("main_orders") == []
    app.execute("INSERT INTO orders VALUES(1,'one')")
    for _ in range(3):
        db.rotate()
    if db.mountpoint:
        assert len(db.files("main_orders")) == 1
        assert len(db.files("main_orders", "jsonl")) == 1


main()
