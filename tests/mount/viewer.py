"""The mount of a store that no engine writes: what tools see of it."""
import errno
import mmap
import os
import stat
import subprocess

from cdctest import case, main, read_file, wait_until
from mounting import Mount, Store, need_fuse, run

need_fuse()

FILLED = ("table t", "commit t 2000 60", "rotate", "commit t 10 5", "commit t 1 0", "rotate",
          "table u", "commit u 300 2000", "rotate")
DOCUMENTS = ("validity.json", "min_lsn", "max_lsn", "ddl_history.csv", "ddl_history.jsonl")
OF_INSTANCE = ("captured_columns.csv", "schema.json", "files.csv")
TABLES = ("change_tables.csv", "captured_columns.csv", "index_columns.csv", "cdc_jobs.csv",
          "dm_cdc_log_scan_sessions.csv", "dm_cdc_errors.csv", "attrep_cdc_partitions.csv")


def expect_error(number, function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        assert error.errno == number, error
    else:
        raise AssertionError(f"{function.__name__}{arguments} works")


@case("the tree has the documents and folders, and nothing else")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        assert sorted(os.listdir(mount.path)) == sorted(
            ("README.txt", "cdc", "transactions", "main_t", "main_u") + DOCUMENTS)
        assert set(os.listdir(os.path.join(mount.path, "cdc"))) >= set(TABLES)
        assert sorted(os.listdir(mount.instance)) == sorted(
            ("all", "live", "net", "range") + DOCUMENTS + OF_INSTANCE)
        for folder, formats in (("all", ["csv", "debezium", "jsonl", "qlik"]),
                                ("net", ["csv", "jsonl"])):
            assert sorted(os.listdir(os.path.join(mount.instance, folder))) == formats
            assert sorted(os.listdir(os.path.join(mount.instance, "range", folder))) == formats
        names = [os.path.basename(path) for path in mount.files()]
        assert len(names) == 2 and all(name.endswith(".csv") for name in names), names
        assert int(names[1][:20], 16) == int(names[0][21:41], 16) + 1, names


@case("sizes at the first stat are the bytes that are read, by every tool")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        sizes = {path: os.stat(path).st_size for path in mount.all_files()}
        in_instance = len(DOCUMENTS) + len(OF_INSTANCE) + 2
        assert len(sizes) >= 1 + len(DOCUMENTS) + len(TABLES) + 2 * in_instance + 6
        for path, size in sizes.items():
            assert size == len(read_file(path)), path
            assert size == int(run("wc", "-c", path).split()[0]), path
            assert size == len(run("cat", path)), path
            assert os.stat(path).st_blocks == (size + 511) // 512, path
        copy = os.path.join(db.directory, "copy")
        run("cp", "-a", mount.path, copy)
        run("diff", "-r", mount.path, copy)
        archive = os.path.join(db.directory, "sparse.tar")
        run("tar", "-C", mount.path, "-cSf", archive, ".")
        run("tar", "-C", mount.path, "-df", archive)


@case("rsync has nothing to do the second time, also after a remount")
def _(db):
    copy = os.path.join(db.directory, "copy")
    with Store(db, *FILLED) as store:
        with Mount(store) as mount:
            run("rsync", "-a", mount.path + "/", copy)
            assert run("rsync", "-ai", mount.path + "/", copy) == b""
        with Mount(store) as mount:
            assert run("rsync", "-ai", mount.path + "/", copy) == b""


@case("inode numbers agree, are unique, and stay over a remount")
def _(db):
    def numbers(mount):
        found = {}
        for folder, _, names in os.walk(mount.path):
            for entry in os.scandir(folder):
                path = os.path.relpath(entry.path, mount.path)
                found[path] = os.stat(entry.path).st_ino
                assert entry.inode() == found[path], path
                assert 0 < found[path] < 2 ** 52, path
        assert len(set(found.values())) == len(found), found
        return found
    with Store(db, *FILLED) as store:
        with Mount(store) as mount:
            before = numbers(mount)
        with Mount(store) as mount:
            assert numbers(mount) == before


@case("every way to read gives the same bytes")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        for path in mount.files(instance="main_u") + [os.path.join(mount.path, "README.txt")]:
            whole = read_file(path)
            with open(path, "rb") as file:
                with mmap.mmap(file.fileno(), 0, flags=mmap.MAP_SHARED,
                               prot=mmap.PROT_READ) as view:
                    assert view[:] == whole
                for offset in (0, 1, 4095, len(whole) - 1, len(whole) // 2):
                    assert os.pread(file.fileno(), 5000, offset) == whole[offset:offset + 5000]
                assert os.pread(file.fileno(), 10, len(whole)) == b""
                assert os.pread(file.fileno(), 10, len(whole) + 100000) == b""
            assert run("tail", "-c", "100", path) == whole[-100:]
            assert run("dd", f"if={path}", "bs=777", "status=none") == whole


@case("nothing can be changed")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        path, new = mount.files()[0], os.path.join(mount.csv, "new")
        for function, *arguments in (
                (os.open, path, os.O_RDWR), (os.open, path, os.O_WRONLY | os.O_TRUNC),
                (os.open, new, os.O_CREAT | os.O_WRONLY), (os.unlink, path), (os.mkdir, new),
                (os.rmdir, mount.csv), (os.rename, path, new), (os.symlink, path, new),
                (os.link, path, new), (os.chmod, path, 0o777), (os.chown, path, 1, 1),
                (os.utime, path), (os.truncate, path, 0), (os.mknod, new),
                (os.setxattr, path, "user.x", b"1"),
                (os.unlink, os.path.join(mount.path, "README.txt"))):
            expect_error(errno.EROFS, function, *arguments)
        assert not os.access(path, os.W_OK)
        assert read_file(path)


@case("nor after root has made the mount writable")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        done = subprocess.run(["mount", "-i", "-o", "remount,rw", mount.path], check=False,
                              capture_output=True)
        if done.returncode != 0:
            print("# not root: left out")
            return
        path, new = mount.files()[0], os.path.join(mount.csv, "new")
        for function, *arguments in (
                (os.open, path, os.O_RDWR), (os.open, path, os.O_RDONLY | os.O_TRUNC),
                (os.open, new, os.O_CREAT | os.O_WRONLY), (os.unlink, path), (os.mkdir, new),
                (os.rmdir, mount.csv), (os.rename, path, new), (os.symlink, path, new),
                (os.link, path, new), (os.chmod, path, 0o777), (os.utime, path),
                (os.truncate, path, 0), (os.mknod, new)):
            expect_error(errno.EROFS, function, *arguments)


@case("names that are not there are ENOENT, and desktops' questions are answered")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        good = os.path.basename(mount.files()[0])
        for name in ("x", ".Trash", ".Trash-0", ".hidden", "autorun.inf", "MAIN_T", "main_t ",
                     "main_t/nothing", "main_t/all/xml", "main_t/all/csv/" + good[:-4],
                     "main_t/all/csv/" + good.replace(".csv", ".jsonl"),
                     "main_t/all/csv/" + good.upper(), "main_t/all/csv/" + "f" * 250):
            expect_error(errno.ENOENT, os.stat, os.path.join(mount.path, name))
        expect_error(errno.ENOTDIR, os.stat, os.path.join(mount.path, "min_lsn", "x"))
        expect_error(errno.ENOTDIR, os.listdir, os.path.join(mount.path, "min_lsn"))


@case("directories can be listed from any position, again and again")
def _(db):
    orders = ["table t"] + ["commit t 1 5", "rotate"] * 150
    with Store(db, *orders) as store, Mount(store) as mount:
        names = os.listdir(mount.csv)
        assert len(names) == len(set(names)) == 150
        assert names == sorted(names)
        # ls -f reads through one descriptor; find reads . and .. and everything below.
        assert run("ls", "-fa", mount.csv).split() == [b".", b".."] + [n.encode() for n in names]
        assert len(run("find", mount.csv, "-name", "*.csv", "-size", "+0").split()) == 150
        folder = os.open(mount.csv, os.O_RDONLY)
        for _ in range(3):
            assert os.listdir(folder) == names
        os.close(folder)
        assert run("ls", "-l", mount.csv).count(b"\n") == 151


@case("owner, group and mode are the source's, read bits only")
def _(db):
    with Store(db, *FILLED) as store:
        os.chmod(store.source, 0o640)
        with Mount(store) as mount:
            source = os.stat(store.source)
            for path in (mount.files()[0], os.path.join(mount.path, "min_lsn")):
                info = os.stat(path)
                assert stat.S_IMODE(info.st_mode) == 0o440, oct(info.st_mode)
                assert (info.st_uid, info.st_gid) == (source.st_uid, source.st_gid)
                assert info.st_nlink == 1 and info.st_blksize == 131072
            for path in (mount.path, mount.instance, mount.csv):
                assert stat.S_IMODE(os.stat(path).st_mode) == 0o550


@case("df and statvfs know the mount")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        info = os.statvfs(mount.path)
        assert info.f_blocks > 0 and info.f_bavail == 0 and info.f_namemax == 255
        assert info.f_files == 3 * 4
        assert store.source.encode() in run("df", mount.path)


@case("new files and instances appear, and directories tell by their times")
def _(db):
    with Store(db, "table t") as store, Mount(store) as mount:
        assert mount.files() == []
        for count in range(1, 6):
            before = os.stat(mount.csv).st_mtime_ns
            root_before = os.stat(mount.path).st_mtime_ns
            store.order("commit t 10 5", "rotate")
            # A listing that begins after the file was published shows it.
            assert len(os.listdir(mount.csv)) == count
            wait_until(lambda b=before: os.stat(mount.csv).st_mtime_ns > b, 2, "an mtime")
            wait_until(lambda b=root_before: os.stat(mount.path).st_mtime_ns > b, 2, "an mtime")
            assert read_file(mount.files()[-1])
        times = [os.stat(path).st_mtime_ns for path in mount.files()]
        assert times == sorted(times) and len(set(times)) == len(times)
        expect_error(errno.ENOENT, os.stat, os.path.join(mount.path, "main_later"))
        store.order("table later")
        assert os.path.isdir(os.path.join(mount.path, "main_later"))
        assert "main_later" in os.listdir(mount.path)


@case("a document that is open stays as it was")
def _(db):
    with Store(db, "table t") as store, Mount(store) as mount:
        path = os.path.join(mount.path, "max_lsn")
        with open(path, "rb") as file:
            before = file.read()
            number = os.fstat(file.fileno()).st_ino
            store.order("commit t 1 1")
            assert read_file(path) != before
            file.seek(0)
            assert file.read() == before
            assert os.stat(path).st_ino == number
        store.order("commit t 1 1")
        assert len(read_file(path)) == os.stat(path).st_size


@case("an instance that goes takes its names along, and open files fail whole")
def _(db):
    with Store(db, *FILLED) as store, Mount(store) as mount:
        path = mount.files(instance="main_u")[0]
        with open(path, "rb") as file:
            store.order("sql BEGIN; DELETE FROM change_tables WHERE capture_instance = 'main_u';"
                        " DELETE FROM cdcfs_files WHERE object_id = 2;"
                        " DELETE FROM cdcfs_instances WHERE object_id = 2;"
                        " UPDATE cdcfs_state SET catalog_version = catalog_version + 1; COMMIT")
            assert "main_u" not in os.listdir(mount.path)
            wait_until(lambda: not os.path.exists(path), 3, "the name to go")
            expect_error(errno.ESTALE, file.read)


@case("the mount point may be in the directory of the database")
def _(db):
    with Store(db, *FILLED) as store:
        with Mount(store, os.path.join(store.directory, "mnt, with a comma")) as mount:
            assert len(mount.files()) == 2


@case("a viewer leaves no file beside a store that nobody has open")
def _(db):
    with Store(db, *FILLED) as store:
        store.leave()
        before = sorted(os.listdir(store.directory))
        with Mount(store) as mount:
            for path in mount.all_files():
                read_file(path)
            assert sorted(os.listdir(store.directory)) == sorted(before + ["app.db.log"])
        os.remove(store.source)
        with Mount(store) as mount:
            assert len(mount.files()) == 2


main()
