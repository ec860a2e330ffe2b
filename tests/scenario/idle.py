#!/usr/bin/env python3
"""An idle database: strace of the agent shows the poll and nothing else."""
import collections
import os
import re
import shutil
import subprocess
import time

from cdctest import case, main

SECONDS = 12
POLL = 5
# What a look at the log needs: waiting, draining the events, SQLite's locks, the time.
HARMLESS = {
    "poll", "ppoll", "epoll_wait", "epoll_pwait", "epoll_pwait2", "select", "pselect6", "futex",
    "restart_syscall", "clock_nanosleep", "clock_gettime", "gettimeofday", "fcntl",
    "timerfd_settime"}
# A look may also see whether the files are still the same, and read a file header.
LOOKS = {"stat", "newfstatat", "fstat", "lstat", "statx", "pread64", "lseek", "access", "faccessat",
         "read", "getpid"}


def trace(pid):
    """Lines of system calls of all threads, finished ones."""
    process = subprocess.Popen(["strace", "-f", "-qq", "-p", str(pid)],
                               stderr=subprocess.PIPE, text=True)
    time.sleep(SECONDS)
    process.terminate()
    _, output = process.communicate(timeout=10)
    return [line for line in output.splitlines() if line.strip()]


def call(line):
    """(name, returned value) of one line, or None for half a call."""
    line = re.sub(r"^\[pid +[0-9]+\] ", "", line)
    match = re.match(r"(?:<\.\.\. )?([a-z0-9_]+)[( ].*= (-?[0-9]+)", line)
    return match and (match[1], int(match[2]))


@case("idle for 12 s: nothing is written, the database is not read, wake-ups are the poll's")
def _(db):
    assert shutil.which("strace"), "strace is not here"
    app = db.connect()
    app.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    db.start("t", mount=False)
    app.executemany("INSERT INTO t(v) VALUES(?)", [(i,) for i in range(100)])
    db.rotate()
    time.sleep(13)  # the checkpoint after 10 s without movement, and the watch after it
    times = {name: os.stat(os.path.join(db.directory, name)).st_mtime_ns
             for name in os.listdir(db.directory)}
    lines = trace(db.agent.process.pid)
    calls = [c for c in map(call, lines) if c]
    counts = collections.Counter(name for name, _ in calls)
    print(f"# {dict(counts)}")
    assert set(counts) <= HARMLESS | LOOKS, (counts, lines[:200])
    read = sum(max(size, 0) for name, size in calls if name in ("pread64", "read"))
    assert read <= 4096 * (SECONDS // POLL + 1), f"{read} bytes read"
    waits = sum(counts[name] for name in ("poll", "ppoll", "epoll_wait", "epoll_pwait"))
    assert waits <= 2 * (SECONDS // POLL + 1), f"{waits} wake-ups"
    assert sum(counts.values()) <= 60 * (SECONDS // POLL + 1), counts
    now = {name: os.stat(os.path.join(db.directory, name)).st_mtime_ns
           for name in os.listdir(db.directory)}
    assert now == times, "a file was written"


main()
