#!/usr/bin/env python3
"""B013: the agent is killed 20 times while it captures transactions of 10000 rows and a stream of
small ones. Each change arrives exactly once, and the result equals that of an uninterrupted run.

The application makes no checkpoint: while the agent is dead nothing else keeps the log for it.
The two results are compared without __$start_lsn: the engine's checkpoints fall at other moments,
so the log restarts, and a new generation of LSNs begins, at other commits.
"""
import os
import random
import threading
import time

from cdctest import Agent, Database, case, main
from changes import commits

SEED = int(os.environ.get("CDC_TEST_SEED", "1"))
KILLS = 20
BIG = 10_000


def big_transaction(app, number):
    """10000 rows, 100 of them with a new key."""
    app.execute("BEGIN IMMEDIATE")
    if number % 2 == 0:
        app.executemany("INSERT INTO t VALUES(?,?,?)", [
            (number * 1_000_000 + i, i, f"{number} {i}" * (i % 7)) for i in range(BIG)])
    else:
        first = (number - 1) * 1_000_000
        app.execute("UPDATE t SET n = n + 1 WHERE id BETWEEN ? AND ?", (first, first + BIG))
        app.execute("UPDATE t SET id = id + 500000 WHERE id BETWEEN ? AND ?", (first, first + 99))
    app.execute("COMMIT")


def small_transaction(app, number):
    app.execute("BEGIN IMMEDIATE")
    app.execute("INSERT INTO t VALUES(?,?,'small')", (-number, number))
    if number % 3 == 0:
        app.execute("UPDATE t SET v = 'changed' WHERE id = ?", (1 - number,))
    if number % 5 == 0:
        app.execute("DELETE FROM t WHERE id = ?", (3 - number,))
    app.execute("COMMIT")


def workload(app, pause):
    """The same transactions in the same order at every run."""
    small = 0
    for big in range(6):
        for _ in range(100):
            small += 1
            small_transaction(app, small)
            time.sleep(pause)
        big_transaction(app, big)


def open_application(db):
    app = db.connect()
    app.execute("PRAGMA wal_autocheckpoint=0")
    app.execute("PRAGMA synchronous=NORMAL")
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, v TEXT)")
    return app


def uninterrupted():
    db = Database()
    try:
        app = open_application(db)
        db.start("t")
        workload(app, 0)
        return db.check_replay("main_t", "t")
    finally:
        db.close()


def kill_again_and_again(db, rng, source):
    """Returns how often there was work left at the kill."""
    with_work_left = 0
    for _ in range(KILLS):
        agent = Agent(db.path)
        time.sleep(rng.uniform(0.02, 0.4))
        assert agent.is_alive(), agent.read_log()
        agent.kill()
        with_work_left += is_behind(db, source)
    return with_work_left


def is_behind(db, source):
    """The table's newest small row is not in the store."""
    store = db.store()
    newest = source.execute("SELECT min(id) FROM t").fetchone()
    stored = store.execute('SELECT min(id) FROM "main_t_CT"').fetchone()
    store.close()
    return stored != newest


@case(f"20 times kill -9, seed {SEED}")
def _(db):
    rng = random.Random(SEED)
    app = open_application(db)
    db.start("t", mount=False)
    db.stop()
    writer = threading.Thread(target=workload, args=(app, 0.008))
    writer.start()
    with_work_left = kill_again_and_again(db, rng, db.connect())
    writer.join()
    db.start()
    rows = db.check_replay("main_t", "t")
    print(f"# {len(rows)} rows; at {with_work_left} of {KILLS} kills there was work left")
    expected = uninterrupted()
    assert [r[1:] for r in rows] == [r[1:] for r in expected]
    assert commits(rows) == commits(expected), "transactions are cut in another way"


main()
