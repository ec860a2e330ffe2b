"""SQL Server's procedures and functions through cdcctl, for tests that know them by their rules."""
import sqlite3

from cdctest import ctl, run_ctl
from changes import csv_fields


def table(*arguments):
    """The rows of a command that gives rows, as {column: text}."""
    (names, *rows) = csv_fields(ctl(*arguments, "--format", "csv"))
    names = [name.decode() for _, name in names]
    return [dict(zip(names, (value.decode() for _, value in row))) for row in rows]


def scalar(*arguments):
    return ctl(*arguments).decode().rstrip("\n")


def refuse(number, *arguments):
    """The command is refused with SQL Server's number and says something; gives what."""
    done = run_ctl(*arguments)
    said = done.stderr.decode()
    assert done.returncode == 1 and done.stdout == b"", (arguments, done)
    assert said.startswith(f"cdcctl: error {number}: "), (arguments, said)
    return said


def notice(number, *arguments):
    """The command works, and says what SQL Server's message of severity 10 says."""
    done = run_ctl(*arguments)
    assert done.returncode == 0 and f"notice {number}: " in done.stderr.decode(), (arguments, done)


def increment(lsn):
    return scalar("increment-lsn", lsn)


def changes(db, instance, first=None, last=None, row_filter="all update old"):
    """[operation, mask, values …] of get-all-changes as texts of the CSV, without LSNs."""
    rows = table("get-all-changes", db.path, instance, first or db.min_lsn(instance),
                 last or db.max_lsn(), "--row-filter", row_filter)
    return [[value for name, value in row.items() if name not in ("__$start_lsn", "__$seqval")]
            for row in rows]


def select(db, sql, *parameters):
    """Rows of the store."""
    connection = sqlite3.connect(f"file:{db.path}-cdc?mode=ro", uri=True, timeout=5)
    try:
        return connection.execute(sql, parameters).fetchall()
    finally:
        connection.close()


def window(db, *actions):
    """Runs the actions; the LSNs from which and up to which they were captured."""
    db.rotate()
    first = increment(db.max_lsn())
    for action in actions:
        action()
    db.rotate()
    return first, db.max_lsn()
