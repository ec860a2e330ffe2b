"""The files of transactions/: which transactions there were, and how many rows each has where."""
import json
import os
import stat

from cdctest import case, ctl, main, read_file, wait_until
from mounting import need_fuse

need_fuse()


def folder(db):
    return os.path.join(db.mountpoint, "transactions")


def paths(db):
    return [os.path.join(folder(db), name) for name in sorted(os.listdir(folder(db)))]


def lines(db):
    return [json.loads(line) for path in paths(db) for line in read_file(path).splitlines()]


def start(db, *tables):
    app = db.connect()
    for table in tables:
        app.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, v)")
    db.start(*tables)
    return app


def work(app, number):
    """A transaction over both tables: 3 rows in a, 1 in b."""
    app.execute("BEGIN")
    app.execute("INSERT INTO a VALUES(?, 'new')", (number,))
    app.execute("UPDATE a SET v = ? WHERE id = 0", (number,))
    app.execute("INSERT INTO b VALUES(?, 'x')", (number,))
    app.execute("COMMIT")


@case("item 9 a line per transaction counts the rows that each instance's files have of it")
def _(db):
    app = start(db, "a", "b")
    app.execute("INSERT INTO a VALUES(0, 0)")
    for number in range(1, 6):
        work(app, number)
        if number % 2:
            db.rotate()
    app.execute("DELETE FROM b WHERE id > 2")
    db.rotate()
    told = lines(db)
    assert [line["rows"] for line in told] == (
        [{"main_a": 1}] + [{"main_a": 3, "main_b": 1}] * 5 + [{"main_b": 3}]), told
    counted = {}
    for instance in ("main_a", "main_b"):
        for row in db.changes(instance):
            key = (row.lsn, instance)
            counted[key] = counted.get(key, 0) + 1
    assert counted == {(line["start_lsn"], instance): rows for line in told
                       for instance, rows in line["rows"].items()}
    assert [line["start_lsn"] for line in told] == sorted(line["start_lsn"] for line in told)
    for line in told:
        assert list(line) == ["start_lsn", "tran_begin_time", "tran_end_time", "tran_id", "rows"]
        assert line["tran_begin_time"] <= line["tran_end_time"]
        assert line["tran_id"] == "\\x" + line["start_lsn"].replace(":", "")


@case("item 9 files touch, end where the instances' do, and have their sizes at once")
def _(db):
    app = start(db, "a", "b")
    for number in range(1, 8):
        work(app, number)
        db.rotate()
    listed = paths(db)
    ends = [os.path.basename(path).split(".")[0].split("-") for path in listed]
    assert len(ends) == 7
    for (_, to), (first, _) in zip(ends, ends[1:]):
        assert int(to, 16) + 1 == int(first, 16), ends
    assert [to for _, to in ends] == [
        os.path.basename(path).split(".")[0].split("-")[1] for path in db.files("main_a")]
    times = [os.stat(path).st_mtime_ns for path in listed]
    assert times == sorted(set(times))
    assert all(os.stat(path).st_size == len(read_file(path)) > 0 for path in listed)


@case("item 9 names, inodes, times and bytes hold over remounts, cleanup and instances that go")
def _(db):
    def look():
        return {path: (os.stat(path).st_ino, os.stat(path).st_mtime_ns, read_file(path))
                for path in paths(db)}
    app = start(db, "a", "b")
    for number in range(1, 4):
        work(app, number)
        db.rotate()
    before = look()
    db.stop()
    db.start()
    assert look() == before
    # b loses what it had; a still needs the mapping.
    ctl("cleanup-change-table", db.path, "main_b", db.max_lsn())
    assert look() == before
    ctl("disable-table", db.path, "b", "--capture-instance", "all")
    app.execute("CREATE TABLE c(id INTEGER PRIMARY KEY, v)")
    ctl("enable-table", db.path, "c")
    app.execute("INSERT INTO c VALUES(1, 1)")
    db.rotate()
    after = look()
    assert {path: after[path] for path in before} == before
    assert len(after) == 4
    assert lines(db)[-1]["rows"] == {"main_c": 1}


@case("item 9 files go with the interval of the database")
def _(db):
    app = start(db, "a", "b")
    for number in range(1, 4):
        work(app, number)
        db.rotate()
    listed = paths(db)
    content = read_file(listed[0])
    for instance in ("main_a", "main_b"):
        ctl("cleanup-change-table", db.path, instance, db.max_lsn())
    wait_until(lambda: len(paths(db)) < 3, 10, "files to go")
    assert paths(db) == listed[-1:]
    assert read_file(listed[0]) == content, "it lingers"


@case("item 7 transactions/ is everybody's who reads the source, until an instance has a role")
def _(db):
    os.chmod(db.directory, 0o755)
    group = "daemon" if os.getuid() == 0 else None
    app = start(db, "a", "b")
    os.chmod(db.path, 0o644)
    db.stop()
    db.start()
    work(app, 1)
    db.rotate()
    path = paths(db)[0]

    def modes():
        return [stat.S_IMODE(os.stat(p).st_mode) for p in (folder(db), path)]
    assert modes() == [0o555, 0o444]
    if not group:
        return
    app.execute("CREATE TABLE secret(id INTEGER PRIMARY KEY)")
    ctl("enable-table", db.path, "secret", "--role", group)
    wait_until(lambda: modes() == [0o500, 0o400], 5, "the owner's alone")
    ctl("disable-table", db.path, "secret", "--capture-instance", "all")
    wait_until(lambda: modes() == [0o555, 0o444], 5, "everybody's again")


main()
