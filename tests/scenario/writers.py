#!/usr/bin/env python3
"""Eight processes commit 50000 rows with default auto-checkpoints while another one runs
wal_checkpoint(TRUNCATE) every 50 ms: every row arrives once, no commit fails, the log stays below
its bound."""
import collections
import os
import subprocess
import sys
import threading
import time

from cdctest import case, main

WRITERS = 8
ROWS = 50_000 // WRITERS
PAGE = 4096
# Four times the default auto-checkpoint, and the frames of one transaction.
BOUND = 4 * 1000 + 64

WRITER = """
import random, sqlite3, sys
path, writer, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(writer)
c = sqlite3.connect(path, timeout=5, isolation_level=None)
c.execute('PRAGMA synchronous=NORMAL')
n = 0
while n < rows:
    count = min(rng.randint(1, 3), rows - n)
    c.execute('BEGIN IMMEDIATE')
    c.executemany('INSERT INTO t(writer, n, v) VALUES(?,?,?)',
                  [(writer, n + i, 'x' * rng.randint(0, 200)) for i in range(count)])
    c.execute('COMMIT')
    n += count
"""

CHECKPOINTER = """
import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
while True:
    try:
        c.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
    except sqlite3.OperationalError:
        pass
    time.sleep(0.05)
"""


class LogSize(threading.Thread):
    """The most frames that the log held."""

    def __init__(self, path):
        super().__init__()
        self.path, self.peak, self.stopping = path + "-wal", 0, threading.Event()
        self.start()

    def run(self):
        while not self.stopping.wait(0.005):
            try:
                size = os.stat(self.path).st_size
            except FileNotFoundError:
                continue
            self.peak = max(self.peak, size // (24 + PAGE))


@case("8 writers, 50000 rows, TRUNCATE every 50 ms")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, writer INTEGER, n INTEGER, v TEXT)")
    db.start("t", mount=False)
    log = LogSize(db.path)
    start = time.monotonic()
    checkpointer = subprocess.Popen([sys.executable, "-c", CHECKPOINTER, db.path])
    try:
        writers = [subprocess.Popen([sys.executable, "-c", WRITER, db.path, str(i), str(ROWS)])
                   for i in range(WRITERS)]
        codes = [writer.wait(300) for writer in writers]
    finally:
        checkpointer.kill()
        checkpointer.wait()
        log.stopping.set()
        log.join()
    print(f"# written in {time.monotonic() - start:.1f} s, most frames in the log: {log.peak}")
    assert codes == [0] * WRITERS, f"a commit failed: {codes}"
    rows = db.check_replay("main_t", "t")
    counts = collections.Counter(row.values[1:3] for row in rows)
    assert {row.operation for row in rows} == {2}
    assert counts == {(w, n): 1 for w in range(WRITERS) for n in range(ROWS)}
    assert log.peak <= BOUND, f"{log.peak} frames in the log"


main()
