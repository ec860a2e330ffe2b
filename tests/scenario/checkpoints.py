#!/usr/bin/env python3
"""The application checkpoints in every mode while it is captured: each one succeeds, none waits for
more than a moment of its busy timeout."""
import time

from cdctest import case, main


@case("commit and TRUNCATE by turns: no checkpoint is refused, none runs into its timeout")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("PRAGMA busy_timeout=5000")
    db.start("t", mount=False)
    longest = 0
    for i in range(300):
        app.execute("INSERT INTO t(v) VALUES(?)", (i,))
        begin = time.monotonic()
        busy = app.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        longest = max(longest, time.monotonic() - begin)
        assert busy == 0, f"checkpoint {i} was refused"
    print(f"# the longest took {longest * 1000:.0f} ms")
    rows = db.check_replay("main_t", "t")
    assert [row.operation for row in rows] == [2] * 300


@case("FULL and RESTART with several commits between them")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    app.execute("PRAGMA busy_timeout=5000")
    db.start("t", mount=False)
    for i in range(60):
        for _ in range(5):
            app.execute("INSERT INTO t(v) VALUES(?)", (i,))
        mode = ("FULL", "RESTART", "PASSIVE")[i % 3]
        busy = app.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0]
        assert busy == 0 or mode == "PASSIVE", f"{mode} {i} was refused"
    assert len(db.check_replay("main_t", "t")) == 300


main()
