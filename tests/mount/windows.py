"""Ranges by time: what was committed after one moment and up to another, opened by its name."""
import errno
import json
import os
from datetime import datetime, timedelta, timezone

from cdctest import case, ctl, main, read_file, wait_until
from mounting import need_fuse

need_fuse()


def parse(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)


def compact(text):
    """A time of the store as it stands in a name."""
    return text.replace("-", "").replace(":", "")


def later(text, **delta):
    return (parse(text) + timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def window(db, first, last, kind="all", form="csv"):
    return os.path.join(db.mountpoint, "main_t", "range", kind, form,
                        f"{compact(first)}-{compact(last)}.{form}")


def by_command(db, command, first, last, form="csv"):
    return ctl(command, db.path, "main_t", "--from-time", first, "--to-time", last,
               "--format", form)


def refuses(path, number):
    try:
        os.stat(path)
    except OSError as error:
        assert error.errno == number, (path, error)
        return True
    raise AssertionError(f"{path} opens")


def validity(db):
    return json.loads(read_file(os.path.join(db.mountpoint, "main_t", "validity.json")))


def start(db, commits):
    """A captured table, and the times of its commits, each of its own microsecond."""
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t")
    for number in range(commits):
        app.execute("INSERT INTO t VALUES(?, 0)", (number,))
        app.execute("UPDATE t SET v = v + 1 WHERE id = 0")
        db.rotate()
    rows = db.store().execute("SELECT DISTINCT tran_end_time FROM lsn_time_mapping"
                              " WHERE cdcfs_change_count > 0 ORDER BY 1").fetchall()
    return [str(time) for time, in rows]


@case("item 8 a window gives what the functions give for the same times, in every format")
def _(db):
    times = start(db, 6)
    for first, last in ((times[0], times[-1]), (times[1], times[3]), (times[2], times[2]),
                        (later(times[1], microseconds=-1), times[1])):
        for form in ("csv", "jsonl"):
            for kind, command in (("all", "get-all-changes"), ("net", "get-net-changes")):
                path = window(db, first, last, kind, form)
                size = os.stat(path).st_size
                data = read_file(path)
                assert len(data) == size
                assert data == by_command(db, command, first, last, form), path


@case("item 8 windows that touch repeat nothing and leave nothing out")
def _(db):
    times = start(db, 8)
    begin = validity(db)["min_time"]
    marks = sorted({begin, *times[::3], times[-1]})
    pieces = b"".join(read_file(window(db, first, last, form="jsonl"))
                      for first, last in zip(marks, marks[1:]))
    assert pieces == read_file(window(db, begin, times[-1], form="jsonl"))
    assert pieces == db.get_changes("main_t", db.min_lsn("main_t"), db.max_lsn(), "jsonl")


@case("item 8 what cannot be asked for fails at the lookup and says why")
def _(db):
    times = start(db, 3)
    begin = validity(db)["min_time"]
    for form in ("csv", "jsonl"):
        for kind in ("all", "net"):
            refuses(window(db, times[2], times[0], kind, form), errno.EINVAL)
            refuses(window(db, later(begin, seconds=-1), times[2], kind, form), errno.ERANGE)
            refuses(window(db, times[0], later(times[2], days=1), kind, form), errno.ERANGE)
    folder = os.path.dirname(window(db, times[0], times[1]))
    for name in ("20261130T100000Z.csv", "20261130-20261131.csv",
                 "20261330T100000Z-20261130T110000Z.csv"):
        refuses(os.path.join(folder, name), errno.ENOENT)
    assert os.listdir(folder) == []


@case("item 8 a window may end where nothing was committed as soon as the log was read so far")
def _(db):
    times = start(db, 2)
    last = times[-1]
    asked = later(last, milliseconds=1)

    def has_passed():
        as_of = validity(db)["as_of"]
        return as_of and parse(as_of) >= parse(asked)
    wait_until(has_passed, 30, "the end of the log to be looked at later")
    assert read_file(window(db, times[0], asked)) == read_file(window(db, times[0], last))
    future = later(validity(db)["as_of"], hours=1)
    refuses(window(db, times[0], future), errno.ERANGE)


main()
