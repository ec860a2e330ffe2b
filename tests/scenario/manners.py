#!/usr/bin/env python3
"""How cdcctl behaves on a command line: help, usage, exit codes, one clean line for each error."""
import os
import re
import signal
import socket
import subprocess

from cdctest import CDCCTL, case, ctl, main, run_ctl, wait_until


def commands():
    text = ctl("--help").decode()
    return re.findall(r"^  ([a-z]+(?:-[a-z]+)+|status|rotate|agent) ", text, re.M)


def error_line(done, code):
    """The one line that a refusal writes to standard error."""
    lines = done.stderr.decode().splitlines()
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stdout == b"", done.stdout
    assert len(lines) == 1 and lines[0].startswith("cdcctl: "), lines
    return lines[0]


@case("--help goes to standard output, in 80 columns, for every command")
def _(_db):
    names = commands()
    assert len(names) >= 28, names
    for words in [[], *([name] for name in names)]:
        for option in "--help", "-h":
            done = run_ctl(*words, option)
            assert done.returncode == 0 and done.stderr == b"", done
            lines = done.stdout.decode().splitlines()
            assert lines[0].startswith("Usage: cdcctl"), lines[0]
            assert max(map(len, lines)) <= 80, max(lines, key=len)


@case("--help wins over everything else on the line")
def _(_db):
    for words in (["enable-db", "--help"], ["enable-table", "x.db", "t", "--help"],
                  ["get-all-changes", "--help", "too", "few"]):
        assert run_ctl(*words).returncode == 0


@case("--version is one line")
def _(_db):
    assert re.fullmatch(rb"cdcctl \d+\.\d+\.\d+\n", ctl("--version"))


@case("a wrong command line is exit 2 and says where help is")
def _(_db):
    for words, what in [
            ([], "a command is missing"),
            (["nothing"], "there is no command 'nothing'"),
            (["--nothing"], "there is no option '--nothing'"),
            (["enable-db"], "DATABASE is missing"),
            (["enable-db", "a", "b"], "an argument too many: 'b'"),
            (["enable-db", "a", "--nothing"], "unknown option '--nothing'"),
            (["enable-db", "a", "-x"], "unknown option '-x'"),
            (["enable-db", "a", "--store"], "'--store' needs a value"),
            (["enable-db", "a", "--set-wal=1"], "'--set-wal' takes no value"),
            (["enable-db", "a", "--format", "csv"], "unknown option '--format'"),
            (["increment-lsn", "--store", "a", "1"], "unknown option '--store'"),
            (["status", "a", "--format", "xml"], "there is no format 'xml'"),
            (["enable-table", "a"], "TABLE is missing"),
            (["enable-table", "a", "t", "--all"], "--all takes no TABLE"),
            (["enable-table", "a", "t", "--like", "x"], "--like is for --all"),
            (["enable-table", "a", "--all", "--role", "x"], "--all takes no --role"),
            (["enable-table", "a", "t", "--mirror", "2"], "--mirror takes 0 or 1"),
            (["disable-table", "a", "t"], "--capture-instance is missing"),
            (["get-all-changes", "a", "i", "1"], "TO is missing"),
            (["agent", "a", "--segment-age", "x"], "--segment-age takes a number"),
            (["agent", "a", "--segment-age", "-1"], "--segment-age takes a number"),
            (["agent", "a", "--segment-bytes", "99999999999G"], "--segment-bytes takes a number"),
            (["agent", "a", "--segment-bytes", "1Z"], "--segment-bytes takes a number"),
            (["agent", "a", "--log-level", "x"], "--log-level takes"),
    ]:
        line = error_line(run_ctl(*words), 2)
        assert what in line and "--help" in line, (words, line)


@case("a refusal is exit 1 with SQL Server's number and what to do")
def _(db):
    line = error_line(run_ctl("status", db.path), 1)
    assert line.startswith("cdcctl: error: there is no database"), line
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    line = error_line(run_ctl("status", db.path), 1)
    assert line.startswith("cdcctl: error 22901: ") and "enable-db" in line, line
    ctl("enable-db", db.path)
    done = run_ctl("enable-db", db.path)
    assert done.returncode == 0 and done.stderr.startswith(b"cdcctl: notice 22905: "), done
    line = error_line(run_ctl("enable-table", db.path, "nothing"), 1)
    assert line.startswith("cdcctl: error 22931: "), line
    line = error_line(run_ctl("rotate", db.path), 1)
    assert "cdcctl agent" in line, line


@case("what a refusal or a notice tells to run can be pasted, with the store that is meant")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    os.mkdir(os.path.join(db.directory, "other dir"))
    store = os.path.join(db.directory, "other dir", "st")
    told = f"{os.path.realpath(db.path)} --store '{store}'"
    line = error_line(run_ctl("status", db.path, "--store", store), 1)
    assert line.startswith("cdcctl: error 22901: ") and f"cdcctl enable-db {told}" in line, line
    ctl("enable-db", db.path, "--store", store)
    notice = run_ctl("enable-table", db.path, "t", "--store", store).stderr.decode()
    for text in (notice, error_line(run_ctl("rotate", db.path, "--store", store), 1),
                 error_line(run_ctl("start-job", db.path, "--store", store), 1)):
        assert f"cdcctl agent {told}, or cdcfs -o 'store={store}'" in text, text
    ctl("drop-job", db.path, "capture", "--store", store)
    line = error_line(run_ctl("start-job", db.path, "--store", store), 1)
    assert f"cdcctl add-job {told} capture" in line, line


@case("rotate tells what a stopped capture job wants: to be started, or to be made")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    ctl("stop-job", db.path)
    line = error_line(run_ctl("rotate", db.path), 1)
    assert f"cdcctl start-job {os.path.realpath(db.path)}," in line, line
    ctl("drop-job", db.path, "capture")
    line = error_line(run_ctl("rotate", db.path), 1)
    assert f"cdcctl add-job {os.path.realpath(db.path)} capture," in line, line


@case("names with control bytes do not reach the terminal")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    ctl("enable-db", db.path)
    line = error_line(run_ctl("enable-table", db.path, "a\x1b[31m\nb"), 1)
    assert "a\\x1b[31m\\x0ab" in line, line


@case("options stand anywhere, with = or a blank; -- ends them")
def _(db):
    db.connect().execute('CREATE TABLE "-rf"(id INTEGER PRIMARY KEY, v)')
    store = db.path + "-elsewhere"
    ctl("enable-db", "--store=" + store, db.path)
    ctl("enable-table", "--capture-instance", "mine", db.path, "--store", store, "--", "-rf")
    rows = ctl("help-change-data-capture", db.path, "--store", store, "--format=jsonl")
    assert b'"source_table":"-rf","capture_instance":"mine"' in rows, rows
    table = ctl("help-change-data-capture", db.path, "--store", store, "--format", "table")
    assert table.splitlines()[1].startswith(b"----"), table
    assert b"[id], [v]" in table, table


@case("a whole REAL is none of the integers, in a table too")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    for value in (2.0, 2, 0.1, 1e300, -0.0, float("inf")):
        app.execute("INSERT INTO t(v) VALUES(?)", (value,))
    ctl("rotate", db.path)
    low, high = (ctl(word, db.path).decode().strip() for word in ("get-min-lsn", "get-max-lsn"))
    rows = ctl("get-all-changes", db.path, "main_t", low, high, "--format", "table").decode()
    found = [line.split()[-1] for line in rows.splitlines()[2:]]
    assert found == ["2.0", "2", "0.1", "1e+300", "-0.0", "inf"], found


@case("what cannot be written is exit 1")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    ctl("enable-db", db.path)
    for words in (["--help"], ["status", db.path], ["status", db.path, "--format", "table"],
                  ["increment-lsn", "00000001000000020001"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CDCCTL, *words], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and done.stderr.startswith(b"cdcctl: error: "), (words, done)


@case("scalars are bare lines, nothing new yet is exit 3")
def _(db):
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    ctl("enable-db", db.path)
    assert ctl("get-min-lsn", db.path) == b"\n"
    assert ctl("get-max-lsn", db.path) == b"\n"
    db.start("t", mount=False)
    app.execute("INSERT INTO t VALUES(1, 'a')")
    ctl("rotate", db.path)
    low = ctl("get-min-lsn", db.path, "main_t").decode().strip()
    high = ctl("get-max-lsn", db.path).decode().strip()
    assert re.fullmatch(r"[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}", low), low
    after = ctl("increment-lsn", high).decode().strip()
    assert ctl("decrement-lsn", after).decode().strip() == high
    done = run_ctl("get-all-changes", db.path, "main_t", after, high)
    assert done.returncode == 3 and b"nothing new yet" in done.stderr, done
    rows = ctl("get-all-changes", db.path, "main_t", low, high)
    assert rows.splitlines()[1].endswith(b',1,"a"'), rows
    line = error_line(run_ctl("get-all-changes", db.path, "main_t", high, low), 1)
    assert line.startswith("cdcctl: error 313: "), line
    error_line(run_ctl("get-min-lsn", db.path, ""), 1)


@case("the agent tells the service manager, refuses a second one, and stops well")
def _(db):
    db.connect().execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    line = error_line(run_ctl("agent", db.path), 1)
    assert line.startswith("cdcctl: error"), line
    ctl("enable-db", db.path)
    address = db.path + ".notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        listener.settimeout(20)
        with subprocess.Popen([CDCCTL, "agent", db.path, "--log-level", "error"],
                              stderr=subprocess.PIPE,
                              env={**os.environ, "NOTIFY_SOCKET": address}) as agent:
            try:
                assert listener.recv(100) == b"READY=1"
                line = error_line(run_ctl("agent", db.path), 1)
                assert str(agent.pid) in line, line
                line = error_line(run_ctl("disable-db", db.path), 1)
                assert str(agent.pid) in line, line
                agent.send_signal(signal.SIGTERM)
                assert listener.recv(100) == b"STOPPING=1"
                wait_until(lambda: agent.poll() is not None, 20, "the end of the agent")
                assert agent.returncode == 0, agent.stderr.read()
            finally:
                agent.kill()
    ctl("disable-db", db.path)
    assert not os.path.exists(db.path + "-cdc")


main()
