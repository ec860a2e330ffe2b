"""Runs the built programs against a database in a directory of its own; prints TAP.

    from cdctest import Database, case, main

    @case("B005 a changed key is a delete and an insert")
    def _(db):
        app = db.connect()
        app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        db.start("t")                        # enables t, starts the agent
        ...
        assert commits(db.changes("main_t")) == [...]

    main()
"""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

import changes as reader

BUILD = os.environ["CDC_BUILD"]
CDCCTL = os.path.join(BUILD, "src", "cli", "cdcctl")
CDCFS = os.path.join(BUILD, "fs", "cdcfs")
CASES = []


class Skip(Exception):
    """A case cannot run here: what it needs is not installed."""


def can_mount():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return False
    return True


def wait_until(condition, seconds=10, what="condition"):
    """Calls condition until it gives something true, which is returned."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def ctl(*arguments, code=0, env=None):
    """Runs cdcctl, which must exit with the code; gives its standard output."""
    done = run_ctl(*arguments, env=env)
    assert done.returncode == code, (
        f"cdcctl {' '.join(arguments)}: exit {done.returncode}, not {code}: "
        f"{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def run_ctl(*arguments, env=None):
    return subprocess.run([CDCCTL, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, env={**os.environ, **(env or {})}, check=False)


class Agent:
    """The process that runs the jobs: cdcfs where one can mount, else cdcctl agent."""

    def __init__(self, database, mount=None, env=None, options=None):
        """options: by the names of cdcfs's -o, whose hyphens are cdcctl agent's underscores; True
        for one that takes no value."""
        self.database = database
        self.mountpoint = mount
        if mount:
            if not is_dead(mount):  # a dead one is the new agent's to take away
                os.makedirs(mount, exist_ok=True)
            command = [CDCFS, database, mount, "-f"]
            for name, value in (options or {}).items():
                command += ["-o", name if value is True else f"{name}={value}"]
        else:
            command = [CDCCTL, "agent", database]
            for name, value in (options or {}).items():
                command += (["--no-wake"] if name == "wake" else
                            ["--" + name.replace("_", "-"), str(value)])
        self.log = open(database + ".log", "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env={**os.environ, **(env or {})})

    def wait_ready(self):
        def is_ready():
            assert self.process.poll() is None, f"the agent ended: {self.read_log()}"
            if self.mountpoint and not os.path.ismount(self.mountpoint):
                return False
            return run_ctl("rotate", self.database).returncode == 0
        wait_until(is_ready, 20, "an agent that answers")

    def read_log(self):
        return read_file(self.log.name).decode(errors="replace")[-4000:]

    def is_alive(self):
        return self.process.poll() is None

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """As a service manager would; it must end well."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.log.close()
        assert code == 0, f"the agent ended with {code}: {self.read_log()}"
        assert not (self.mountpoint and os.path.ismount(self.mountpoint)), "still mounted"

    def kill(self):
        """kill -9; what it mounted is taken away."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        if self.mountpoint and (os.path.ismount(self.mountpoint) or is_dead(self.mountpoint)):
            subprocess.run(["fusermount3", "-u", "-z", self.mountpoint], check=False)


def is_dead(path):
    """A mount point whose daemon is gone."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


class Database:
    """A source database, and what a test does with it."""

    def __init__(self, name="app.db"):
        self.directory = tempfile.mkdtemp(prefix="cdcfs-test-")
        self.path = os.path.join(self.directory, name)
        self.mountpoint = os.path.join(self.directory, "mnt") if can_mount() else None
        self.agent = None
        self.connections = []

    def close(self):
        for connection in self.connections:
            connection.close()
        if self.agent:
            self.agent.resume()
            self.agent.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def connect(self, path=None, **pragmas):
        """A connection in autocommit, WAL mode; pragmas come before the WAL mode is set."""
        connection = sqlite3.connect(path or self.path, timeout=5, isolation_level=None,
                                     check_same_thread=False)
        self.connections.append(connection)
        connection.text_factory = reader.text
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name}={value}")
        assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        return connection

    def enable(self, *tables, options=()):
        ctl("enable-db", self.path)
        for table in tables:
            ctl("enable-table", self.path, table, *options)

    def start(self, *tables, env=None, mount=True, options=None):
        """Enables the tables, starts the agent, waits until it captures them."""
        if tables:
            self.enable(*tables)
        self.agent = Agent(self.path, self.mountpoint if mount else None, env, options)
        self.agent.wait_ready()
        for table in tables:
            wait_until(lambda t=table: self.min_lsn("main_" + t), 10, f"{table} recognised")

    def stop(self):
        agent, self.agent = self.agent, None
        agent.stop()

    def kill(self):
        agent, self.agent = self.agent, None
        agent.kill()

    def rotate(self):
        ctl("rotate", self.path)

    def min_lsn(self, instance):
        return ctl("get-min-lsn", self.path, instance).decode().strip()

    def max_lsn(self):
        return ctl("get-max-lsn", self.path).decode().strip()

    def status(self):
        """{name: value} of cdcctl status."""
        lines = reader.csv_fields(ctl("status", self.path, "--format", "csv"))
        return {name.decode(): value.decode() for (_, name), (_, value) in lines[1:]}

    def store(self):
        """A reading connection to the store."""
        connection = sqlite3.connect(f"file:{self.path}-cdc?mode=ro", uri=True, timeout=5)
        self.connections.append(connection)
        connection.text_factory = reader.text
        return connection

    def get_changes(self, instance, first, last, form="csv", env=None):
        """The bytes of get-all-changes."""
        return ctl("get-all-changes", self.path, instance, first, last, "--format", form, env=env)

    def changes(self, instance, rotate=True):
        """Every change of the instance, each way there is to read them giving the same."""
        if rotate:
            self.rotate()
        first, last = self.min_lsn(instance), self.max_lsn()
        csv = self.get_changes(instance, first, last)
        names, rows = reader.read_csv(csv)
        reader.check_rows(rows, len(names))
        jsonl = self.get_changes(instance, first, last, "jsonl")
        json_names, json_rows = reader.read_jsonl(jsonl)
        assert json_names in (None, names), json_names
        assert len(rows) == len(json_rows), (len(rows), len(json_rows))
        for row, other in zip(rows, json_rows):
            assert row[:4] == other[:4] and reader.same(row.values, other.values), (row, other)
        if rotate and self.agent and self.agent.mountpoint:
            self.check_files(instance, "csv", csv)
            self.check_files(instance, "jsonl", jsonl)
        return rows

    def files(self, instance, form="csv"):
        """Paths of the closed files in order."""
        folder = os.path.join(self.mountpoint, instance, "all", form)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def check_files(self, instance, form, expected):
        """The closed files together hold the bytes; names touch, sizes are right at once."""
        header, rest = b"", expected
        if form == "csv":
            end = expected.index(b"\n") + 1
            header, rest = expected[:end], expected[end:]
        content, last_to = [], None
        for path in self.files(instance, form):
            size = os.stat(path).st_size
            data = read_file(path)
            assert len(data) == size, f"{path}: {size} bytes promised, {len(data)} read"
            assert data.startswith(header) and len(data) > len(header), path
            start, to = os.path.basename(path).split(".")[0].split("-")
            assert last_to is None or int(start, 16) == int(last_to, 16) + 1, path
            last_to = to
            content.append(data[len(header):])
        assert b"".join(content) == rest, f"{instance}: the {form} files differ from the function"

    def check_replay(self, instance, table, columns="*", baseline=()):
        """Replaying the changes gives the table; returns the rows."""
        rows = self.changes(instance)
        connection = self.connect()
        now = connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()
        assert reader.replay(rows, baseline) == reader.replay(
            [reader.Row("", "", 2, "", row) for row in now]), "replay differs from the table"
        return rows


def case(name):
    """Registers a test function that takes a Database."""
    def register(function):
        CASES.append((name, function))
        return function
    return register


def run_case(function):
    """None, or why it failed; a Skip."""
    db = Database()
    try:
        function(db)
    except Skip as skip:
        return skip
    except Exception:  # pylint: disable=broad-except
        log = db.agent.read_log() if db.agent else ""
        return traceback.format_exc()[-6000:] + (f"agent's log:\n{log}" if log else "")
    finally:
        db.close()
    return None


def main():
    """Runs all cases, or those whose names begin with an argument."""
    chosen = [c for c in CASES if not sys.argv[1:] or c[0].startswith(tuple(sys.argv[1:]))]
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(chosen, 1):
        start = time.monotonic()
        problem = run_case(function)
        if isinstance(problem, Skip):
            print(f"ok {number} - {name} # SKIP {problem}", flush=True)
            continue
        failed += problem is not None
        print(f"{'not ok' if problem else 'ok'} {number} - {name}", flush=True)
        for line in (problem or "").splitlines():
            print("# " + line, flush=True)
        print(f"# {time.monotonic() - start:.1f} s", flush=True)
    sys.exit(1 if failed else 0)
