"""Events of Debezium: each as the connector's documentation says, all together the table."""
import base64
import json
import os
import random
import subprocess

from cdctest import case, main, read_file
from consumers import PYTHON, need_module
from mounting import need_fuse

need_fuse()

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debezium.schema.json")
VALIDATE = """
import json, sys, jsonschema
validator = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
lines = 0
for line in sys.stdin:
    validator.validate(json.loads(line))
    lines += 1
print(lines)
"""


def lines_of(db, instance="main_t"):
    data = b"".join(read_file(path) for path in db.files(instance, "debezium"))
    assert data.endswith(b"\n")
    return data.splitlines()


def events_of(db, instance="main_t"):
    return [json.loads(line) for line in lines_of(db, instance)]


def start(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v, w BLOB)")
    db.start("t")
    return app


def work(app, chance, count):
    values = [None, 0, -2**63, 2**63 - 1, 2**53 + 1, 1.0, 0.1, -1e300, "", "text", "é\n\"", "\\x00"]
    for _ in range(count):
        app.execute("BEGIN")
        for _ in range(chance.randrange(1, 4)):
            key = chance.randrange(40)
            kind = chance.random()
            if kind < 0.5:
                app.execute("INSERT OR REPLACE INTO t VALUES(?, ?, ?)", (
                    key, chance.choice(values), chance.choice([None, b"", chance.randbytes(5)])))
            elif kind < 0.7:
                app.execute("UPDATE t SET v = ? WHERE id = ?", (chance.choice(values), key))
            elif kind < 0.85:
                app.execute("UPDATE OR REPLACE t SET id = ? WHERE id = ?",
                            (chance.randrange(40), key))
            else:
                app.execute("DELETE FROM t WHERE id = ?", (key,))
        app.execute("COMMIT")


def replay(events):
    """{key: row} after all; what goes must have been there, just so."""
    table = {}
    for event in events:
        before, after = event["before"], event["after"]
        if before:
            assert table.pop(before["id"]) == before, event
        if after:
            assert after["id"] not in table, event
            table[after["id"]] = after
    return table


@case("every line validates against the schema of the documentation")
def _(db):
    need_module("jsonschema")
    app = start(db)
    chance = random.Random(3)
    for _ in range(3):
        work(app, chance, 200)
        db.rotate()
    lines = lines_of(db)
    done = subprocess.run([PYTHON, "-c", VALIDATE, SCHEMA], input=b"\n".join(lines) + b"\n",
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert int(done.stdout) == len(lines) > 500
    assert {json.loads(line)["op"] for line in lines} == set("cud")
    for wrong in ({"op": "r"}, {"before": 1}, {"source": {}}, {"extra": 1}):
        event = {**json.loads(lines[0]), **wrong}
        done = subprocess.run([PYTHON, "-c", VALIDATE, SCHEMA], input=json.dumps(event).encode(),
                              capture_output=True, timeout=120, check=False)
        assert done.returncode, f"the schema lets {wrong} through"


@case("replaying the events gives the table, integers exact and BLOBs in base64")
def _(db):
    app = start(db)
    chance = random.Random(4)
    for _ in range(4):
        work(app, chance, 300)
        db.rotate()
        wanted = {i: {"id": i, "v": v, "w": None if w is None else base64.b64encode(w).decode()}
                  for i, v, w in app.execute("SELECT * FROM t")}
        assert replay(events_of(db)) == wanted


@case("events stand in the order of their LSNs, and a changed key is a d and a c")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a', NULL), (2, 'b', NULL)")
    app.execute("UPDATE t SET id = 10 WHERE id = 1")
    app.execute("UPDATE t SET v = 'c' WHERE id = 2")
    app.execute("UPDATE t SET v = 'c' WHERE id = 2")
    db.rotate()
    events = events_of(db)
    assert [event["op"] for event in events] == ["c", "c", "d", "c", "u"]
    keys = [tuple(event["source"][name] for name in ("commit_lsn", "change_lsn", "event_serial_no"))
            for event in events]
    assert keys == sorted(set(keys))
    assert keys[2][0] == keys[3][0], "one transaction"
    assert [key[2] for key in keys] == [1, 1, 1, 1, 2]
    assert events[2]["before"] == {"id": 1, "v": "a", "w": None}
    assert events[3]["after"] == {"id": 10, "v": "a", "w": None}
    assert events[4]["before"]["v"] == "b" and events[4]["after"]["v"] == "c"
    source = events[0]["source"]
    assert (source["db"], source["schema"], source["table"]) == ("app", "main", "t")
    for event in events:
        assert event["source"]["ts_ns"] // 10**6 == event["source"]["ts_ms"] == event["ts_ms"]


@case("renaming the table and a column leaves the bytes as they were")
def _(db):
    app = start(db)
    app.execute("INSERT INTO t VALUES(1, 'a', NULL)")
    db.rotate()
    first = lines_of(db)
    app.execute("ALTER TABLE t RENAME TO renamed")
    app.execute("ALTER TABLE renamed RENAME COLUMN v TO other")
    app.execute("INSERT INTO renamed VALUES(2, 'b', NULL)")
    db.rotate()
    db.stop()
    db.start()
    lines = lines_of(db)
    assert lines[:1] == first and len(lines) == 2
    assert json.loads(lines[1])["source"]["table"] == "t"
    assert json.loads(lines[1])["after"] == {"id": 2, "v": "b", "w": None}


main()
