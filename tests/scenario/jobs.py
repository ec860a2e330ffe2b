#!/usr/bin/env python3
"""The jobs as an administrator runs them: stop, start, scan, and a job that nothing wakes."""
import threading
import time

from cdctest import Agent, case, ctl, main, run_ctl, wait_until
from changes import csv_fields


def state_of(db, job="capture"):
    rows = csv_fields(ctl("help-jobs", db.path, "--format", "csv"))
    return next(row[9][1].decode() for row in rows[1:] if row[1][1].decode() == job)


def captured(db, table="main_t"):
    return db.store().execute(f'SELECT count(*) FROM "{table}_CT"').fetchone()[0]


class Writer(threading.Thread):
    """Inserts, updates and deletes, a transaction each, until it is ended."""

    def __init__(self, db):
        super().__init__()
        self.app = db.connect()
        self.count = 0
        self.is_over = False

    def run(self):
        while not self.is_over:
            self.count += 1
            self.app.execute("INSERT INTO t VALUES(?, ?)", (self.count, "x" * (self.count % 90)))
            if self.count % 3 == 0:
                self.app.execute("UPDATE t SET v = 'changed' WHERE id = ?", (self.count - 1,))
            if self.count % 7 == 0:
                self.app.execute("DELETE FROM t WHERE id = ?", (self.count - 4,))
            time.sleep(0.0005)

    def end(self):
        self.is_over = True
        self.join()


@case("the capture job stopped and started under load loses nothing")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    writer = Writer(db)
    writer.start()
    for pause in (0.05, 0.4, 0.1, 0.8):
        time.sleep(0.2)
        ctl("stop-job", db.path)
        before = captured(db)
        time.sleep(pause)
        assert captured(db) == before, "rows while the job was stopped"
        assert state_of(db) == "stopped"
        assert db.status()["capture"] == "stopped"
        ctl("start-job", db.path)
    writer.end()
    db.check_replay("main_t", "t")
    assert db.status()["gaps"] == "0"
    assert writer.count > 100, writer.count


@case("a stopped job stays stopped over a restart of the agent, until start-job")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    ctl("stop-job", db.path)
    db.stop()
    assert state_of(db) == "stopped" and state_of(db, "cleanup") == "no agent"
    db.agent = Agent(db.path)  # start() would wait for a rotation
    wait_until(lambda: db.status()["agent"] == "running", 10, "the agent")
    app.execute("INSERT INTO t VALUES(1, 'a')")
    time.sleep(0.5)
    assert captured(db) == 0
    refused = run_ctl("rotate", db.path)
    assert refused.returncode == 1 and b"stopped" in refused.stderr, refused.stderr
    ctl("start-job", db.path)
    assert state_of(db) == "running" and state_of(db, "cleanup") == "scheduled"
    wait_until(lambda: captured(db) == 1, 5, "what was written meanwhile")


@case("without an agent start-job says which command to run")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    refused = run_ctl("start-job", db.path)
    assert refused.returncode == 1 and b"cdcctl agent" in refused.stderr, refused.stderr
    ctl("stop-job", db.path)
    assert state_of(db) == "stopped"


@case("the job stopped, cron runs scan: the agent makes the passes")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    ctl("stop-job", db.path)
    for number in range(5):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        ctl("scan", db.path)
        assert captured(db) == number + 1
    app.execute("INSERT INTO t VALUES(99, 'a')")
    time.sleep(0.3)
    assert captured(db) == 5
    ctl("start-job", db.path)
    db.check_replay("main_t", "t")


@case("without an agent cron runs scan, and an agent goes on from there")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    ctl("scan", db.path)
    for number in range(5):
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        app.execute("UPDATE t SET v = 'b' WHERE id = ?", (number,))
        ctl("scan", db.path)
        assert captured(db) == 3 * (number + 1)
    limited = 5 * 3
    for number in range(10, 20):
        app.execute("INSERT INTO t VALUES(?, 'c')", (number,))
    ctl("scan", db.path, "--maxtrans", "2", "--maxscans", "2")
    assert captured(db) == limited + 4, captured(db)
    db.start(mount=False)
    db.check_replay("main_t", "t")
    assert db.status()["gaps"] == "0"


@case("22903: one scan at a time, and it is refused only while another one is active")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    app.executemany("INSERT INTO t VALUES(?, 'a')", [(number,) for number in range(500)])
    done = []
    threads = [threading.Thread(target=lambda: done.append(run_ctl("scan", db.path)))
               for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in done:
        assert one.returncode == 0 or b"22903" in one.stderr, one.stderr
    assert any(one.returncode == 0 for one in done)
    ctl("scan", db.path)


@case("with wake=off the pollinginterval is the real wait between two passes")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.enable("t")
    ctl("change-job", db.path, "--pollinginterval", "3")
    db.start(mount=False, options={"wake": "off"})
    wait_until(lambda: db.min_lsn("main_t"), 10, "t recognised")
    app.execute("INSERT INTO t VALUES(0, 'a')")
    wait_until(lambda: captured(db) == 1, 6, "the first pass")
    start, number = time.monotonic(), 0
    while captured(db) == 1:
        number += 1
        app.execute("INSERT INTO t VALUES(?, 'a')", (number,))
        time.sleep(0.05)
        assert time.monotonic() - start < 10
    assert time.monotonic() - start > 2, "woken by a commit"
    db.check_replay("main_t", "t")


main()
