"""How mounts begin and end."""
import errno
import os
import signal
import stat
import subprocess
import time

from cdctest import CDCFS, case, is_dead, main, read_file, wait_until
from mounting import Mount, Store, need_fuse, run

need_fuse()

FILLED = ("table t", "commit t 2000 60", "rotate")


def refuse(code, *arguments, text=""):
    """cdcfs does not start, says so in one line, and nothing is mounted."""
    done = subprocess.run([CDCFS, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=20, check=False)
    message = done.stderr.decode()
    assert done.returncode == code, (done.returncode, message)
    assert message.count("\n") == 1 and message.startswith("cdcfs: "), message
    assert text in message, message
    return message


def daemon_of(path):
    """The pid of the process that serves a mount: who has its lock on /dev/fuse is found by what
    it was started with."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = read_file(f"/proc/{name}/cmdline").split(b"\0")
            except OSError:
                continue
            if len(words) > 2 and words[0] == CDCFS.encode() and path.encode() in words:
                return int(name)
    return None


@case("SIGTERM, SIGINT and fusermount3 -u end it well and leave nothing")
def _(db):
    with Store(db, *FILLED) as store:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Mount(store) as mount:
                assert len(mount.files()) == 1
                mount.terminate(number)
        with Mount(store) as mount:
            assert len(mount.files()) == 1
            mount.unmount()


@case("in the background: the mount stands when the command returns")
def _(db):
    with Store(db, *FILLED) as store:
        path = os.path.join(db.directory, "mnt")
        os.mkdir(path)
        for _ in range(10):
            run(CDCFS, store.source, path, "-o", "nojobs")
            try:
                assert len(os.listdir(os.path.join(path, "main_t/all/csv"))) == 1
                pid = daemon_of(path)
                assert os.readlink(f"/proc/{pid}/cwd") == "/"
                assert os.readlink(f"/proc/{pid}/fd/2") == "/dev/null"
                assert os.getsid(pid) == pid
            finally:
                run("fusermount3", "-u", path)
            wait_until(lambda: daemon_of(path) is None, 5, "the end of the daemon")


@case("relative paths, and options as mount(8) and fstab give them")
def _(db):
    with Store(db, *FILLED) as store:
        os.mkdir(os.path.join(db.directory, "mnt"))
        options = ("rw,nofail,_netdev,user,noauto,relatime,x-gvfs-hide,x-systemd.automount,"
                   "comment=a b,defaults,,nojobs,")
        run(CDCFS, os.path.relpath(store.source, db.directory), "mnt", "-o", options, "-n", "-s",
            cwd=db.directory)
        path = os.path.join(db.directory, "mnt")
        try:
            assert len(os.listdir(os.path.join(path, "main_t/all/csv"))) == 1
            with open("/proc/self/mounts", encoding="utf-8") as mounts:
                line, = [line for line in mounts if f" {path} " in line]
            assert line.split()[0] == store.source and line.split()[2] == "fuse.cdcfs"
            for word in ("ro", "nosuid", "nodev", "noexec", "default_permissions"):
                assert word in line.split()[3].split(","), line
        finally:
            run("fusermount3", "-u", path)
        wait_until(lambda: daemon_of("mnt") is None, 5, "the end of the daemon")


@case("mount.cdcfs takes what mount(8) gives it")
def _(db):
    script = os.path.join(os.path.dirname(__file__), "../../mountscripts/mount.cdcfs")
    env = {**os.environ, "PATH": os.path.dirname(CDCFS) + ":" + os.environ["PATH"]}
    path = os.path.join(db.directory, "mnt")
    os.mkdir(path)
    with Store(db, *FILLED) as store:
        run(script, store.source, path, "-f", "-o", "rw", env=env)
        assert not os.path.ismount(path)
        run(script, store.source, path, "-sn", "-v", "-o", "rw,nojobs", "-t", "cdcfs", env=env)
        assert os.path.ismount(path)
        run("fusermount3", "-u", path)
        wait_until(lambda: daemon_of(path) is None, 5, "the end of the daemon")


@case("what is wrong is told by the exit status and one line")
def _(db):
    path = os.path.join(db.directory, "mnt")
    os.mkdir(path)
    plain = os.path.join(db.directory, "plain.db")
    run("sqlite3", plain, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
    before = sorted(os.listdir(db.directory))
    refuse(2)
    refuse(2, plain)
    refuse(2, plain, path, "more")
    refuse(2, plain, path, "-o", "no_such_option", text="no_such_option")
    refuse(2, plain, path, "-o", "log=loud", text="log=loud")
    refuse(2, plain, path, "--frobnicate", text="--frobnicate")
    for options in ("nojobs", "log=info"):
        refuse(3, plain, path, "-o", options, text="22901")
        refuse(3, plain, path, "-f", "-o", options, text="22901")
        refuse(3, os.path.join(db.directory, "no.db"), path, "-o", options)
    assert sorted(os.listdir(db.directory)) == before, "something was made"
    with Store(db, *FILLED) as store:
        refuse(4, store.source, os.path.join(db.directory, "nowhere"), "-o", "nojobs")
        refuse(4, store.source, plain, "-o", "nojobs", text="not a directory")
        os.rename(store.source, store.source + "-away")
        refuse(3, store.source, path, text="-o nojobs")
        os.rename(store.source + "-away", store.source)
        refuse(4, store.source, store.source, "-o", "nojobs", text="not a directory")
        refuse(4, store.source, store.directory, "-o", "nojobs", text="inside the mount point")
        refuse(4, store.source, "/", "-o", "nojobs", text="inside the mount point")
    assert not os.path.ismount(path)


@case("a second mount on the same directory is refused, on another one it shows the same")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as first:
        refuse(4, store.source, first.path, "-o", "nojobs", text="mounted")
        with Mount(store, os.path.join(db.directory, "second")) as second:
            run("diff", "-r", first.path, second.path)
            for one, two in zip(first.files(), second.files()):
                assert os.stat(one).st_ino == os.stat(two).st_ino
                assert os.stat(one).st_mtime_ns == os.stat(two).st_mtime_ns
        assert len(first.files()) == 1


@case("after kill -9 the same command mounts over the corpse")
def _(db):
    with Store(db, *FILLED) as store:
        with Mount(store) as mount:
            readers = [open(path, "rb") for path in mount.files("jsonl")]
            mount.kill()
            assert is_dead(mount.path) or os.path.ismount(mount.path)
            for reader in readers:
                for act in (reader.read, reader.close):
                    try:
                        act()
                    except OSError as error:
                        assert error.errno in (errno.ENOTCONN, errno.ECONNABORTED), error
            run(CDCFS, store.source, mount.path, "-o", "nojobs")
            try:
                assert len(mount.files()) == 1
            finally:
                run("fusermount3", "-u", mount.path)
            assert not os.path.ismount(mount.path) and not is_dead(mount.path)
            assert os.listdir(mount.path) == []
            wait_until(lambda: daemon_of(mount.path) is None, 5, "the end of the daemon")


@case("it ends while clients read, list and hold files open")
def _(db):
    with Store(db, "table t", "commit t 40000 200", "rotate", "commit t 9 9", "rotate") as store:
        for number in (signal.SIGTERM, signal.SIGKILL, None):
            with Mount(store) as mount:
                clients = [subprocess.Popen(["sh", "-c", command], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
                           for command in (f"cat '{mount.csv}'/*", f"cat '{mount.csv}'/../jsonl/*",
                                           f"while ls -lR '{mount.instance}'; do :; done")]
                time.sleep(0.05)
                start = time.monotonic()
                if number:
                    mount.process.send_signal(number)
                else:
                    run("fusermount3", "-u", "-z", mount.path)
                if number == signal.SIGKILL:
                    mount.kill()
                    run("fusermount3", "-u", "-z", mount.path)
                for client in clients:
                    client.wait(20)
                if number != signal.SIGKILL:
                    assert mount.process.wait(20) == 0, mount.read_log()
                assert time.monotonic() - start < 15
                assert not os.path.ismount(mount.path)


@case("news while clients look up and the end comes do not block each other")
def _(db):
    with Store(db, "table t", "commit t 1 1", "rotate") as store:
        for _ in range(3):
            with Mount(store) as mount:
                client = subprocess.Popen(
                    ["sh", "-c", f"while ls -l '{mount.csv}'; do :; done"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(20):
                    store.order("commit t 1 1", "rotate")
                start = time.monotonic()
                mount.process.send_signal(signal.SIGTERM)
                assert mount.process.wait(10) == 0, mount.read_log()
                assert time.monotonic() - start < 5
                client.wait(10)


@case("sd_notify says when it stands and when it goes")
def _(db):
    import socket
    path = os.path.join(db.directory, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(5)
        with Store(db, *FILLED) as store:
            with Mount(store, env={"NOTIFY_SOCKET": path}) as mount:
                assert manager.recv(100) == b"READY=1"
                assert os.path.ismount(mount.path)
                mount.terminate()
            assert manager.recv(100) == b"STOPPING=1"


@case("users other than the one who mounted are kept out, or see what the source allows")
def _(db):
    if os.getuid() != 0:
        print("# not root: left out")
        return
    def as_nobody(*command):
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                               *command], capture_output=True, check=False).returncode
    for folder in (db.directory,):
        os.chmod(folder, 0o755)
    with Store(db, *FILLED) as store:
        os.chmod(store.source, 0o600)
        with Mount(store) as mount:
            assert as_nobody("ls", mount.path) != 0
        with Mount(store, options="nojobs,allow_other") as mount:
            assert as_nobody("ls", mount.path) != 0
            assert as_nobody("cat", mount.files()[0]) != 0
        os.chmod(store.source, 0o604)
        with Mount(store, options="nojobs,allow_other") as mount:
            path = mount.files()[0]
            assert as_nobody("cat", path) == 0
            # What the source no longer allows ends here too, whatever is cached.
            os.chmod(store.source, 0o600)
            wait_until(lambda: stat.S_IMODE(os.stat(path).st_mode) == 0o400, 10, "the new mode")
            assert as_nobody("cat", path) != 0


main()
