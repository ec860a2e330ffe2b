"""A store filled without an engine, and mounts of it: for tests of the mount alone.

    from cdctest import case, main
    from mounting import need_fuse, Store, Mount

    need_fuse()

    @case("what it promises")
    def _(db):
        with Store(db, "table t", "commit t 10 5", "rotate") as store, Mount(store) as mount:
            assert os.listdir(mount.path)
"""
import os
import signal
import subprocess
import sys
import time

from cdctest import BUILD, CDCFS, can_mount, is_dead, wait_until

FILL_STORE = os.path.join(BUILD, "tests", "mount", "fill_store")


def need_fuse():
    if not can_mount():
        print("1..0 # SKIP /dev/fuse does not open")
        sys.exit(0)


def run(*command, code=0, **options):
    """Standard output of a command that must exit with the code."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          check=False, **options)
    assert done.returncode == code, (
        f"{' '.join(command)}: exit {done.returncode}, not {code}: "
        f"{done.stderr.decode(errors='replace')}")
    return done.stdout


class Store:
    """A source and its store below db.directory; orders of fill_store."""

    def __init__(self, db, *orders):
        self.process = subprocess.Popen([FILL_STORE], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE,
                                        env={**os.environ, "TMPDIR": db.directory})
        self.source = self.process.stdout.readline().strip()
        self.directory = os.path.dirname(self.source)
        self.order(*orders)

    def order(self, *orders):
        for order in orders:
            self.process.stdin.write(order + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", order

    def leave(self):
        """Nobody has the store open any more."""
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.process.stdin.closed:
            self.leave()


class Mount:
    """cdcfs -f on a store, as a viewer; unmounted at the end, with an exit status of 0."""

    def __init__(self, store, path=None, options="nojobs", env=None):
        self.path = path or os.path.join(os.path.dirname(store.directory), "mnt")
        self.instance = os.path.join(self.path, "main_t")
        self.csv = os.path.join(self.instance, "all", "csv")
        os.makedirs(self.path, exist_ok=True)
        assert not os.path.ismount(self.path)
        self.log = open(store.source + ".log", "ab")
        self.process = subprocess.Popen([CDCFS, store.source, self.path, "-f", "-o", options],
                                        stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env={**os.environ, **(env or {})})
        wait_until(self.is_up, 10, "a mount")

    def is_up(self):
        assert self.process.poll() is None, f"cdcfs ended: {self.read_log()}"
        return os.path.ismount(self.path)

    def read_log(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    def files(self, form="csv", instance="main_t"):
        folder = os.path.join(self.path, instance, "all", form)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def all_files(self):
        """Every path below the mount that is a file."""
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.path)
                for name in sorted(names)]

    def expect_end(self, code=0):
        assert self.process.wait(10) == code, self.read_log()
        self.log.close()
        assert not os.path.ismount(self.path), "still mounted"
        assert os.listdir(self.path) == [], "something is left in the mount point"

    def unmount(self):
        run("fusermount3", "-u", self.path)
        self.expect_end()

    def terminate(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.expect_end()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None and kind is None:
            self.terminate()
        elif self.process.poll() is None:
            self.kill()
        if os.path.ismount(self.path) or is_dead(self.path):
            subprocess.run(["fusermount3", "-u", "-z", self.path], check=False)
            time.sleep(0.05)
