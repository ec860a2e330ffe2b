"""Many instances, and many files in one directory. Times are printed, never asserted."""
import os
import sqlite3
import struct
import time

from cdctest import case, main, read_file
from mounting import Mount, Store, need_fuse, run

need_fuse()

FILES = 50_000
INSTANCES = 2000


def add_files(store, count):
    """Files of one row each, as a store has them; there is nothing behind their names."""
    connection = sqlite3.connect(store.source + "-cdc", timeout=30)
    ino, = connection.execute("SELECT next_ino FROM cdcfs_state").fetchone()

    def lsn(frame, slot):
        return struct.pack(">IIH", 2, frame, slot)

    # ino, format, ordinal, from, to, closed by, then first and last change, times …
    rows = ((ino + 2 * i + is_json, "jsonl" if is_json else "csv", 1000 + i, lsn(i, 2),
             lsn(i + 1, 1), i, 1_600_000_000_000_000_000 + 2 * i + is_json)
            for i in range(1, count + 1) for is_json in (0, 1))
    with connection:
        connection.executemany(
            "INSERT INTO cdcfs_files(ino, object_id, format, renderer_version, ordinal, from_lsn,"
            " to_lsn, segment, first_change, last_change, row_count, inserts, updates, deletes,"
            " first_time_ns, last_time_ns, closed_ns, bytes, sha256, odd_text, mtime_ns) VALUES("
            "?1, 1, ?2, 1, ?3, ?4, ?5, ?6, ?6, ?6, 1, 1, 0, 0, ?6, ?6, ?6, 100, zeroblob(32), 0,"
            " ?7)", rows)
        connection.execute("UPDATE cdcfs_state SET next_ino = next_ino + ?,"
                           " last_mtime_ns = 1700000000000000000", (2 * count + 10,))
        connection.execute("UPDATE cdcfs_instances SET changed_ns = changed_ns + 1")
        # The open files come after them.
        connection.execute("UPDATE cdcfs_files SET ordinal = 1001 + ? WHERE mtime_ns IS NULL",
                           (count,))
    connection.close()


def measure(what, function, *arguments):
    begin = time.monotonic()
    result = function(*arguments)
    print(f"# {what}: {(time.monotonic() - begin) * 1000:.0f} ms")
    return result


@case(f"{FILES} files in one directory")
def _(db):
    with Store(db, "table t") as store:
        add_files(store, FILES)
        with measure("mount", Mount, store) as mount:
            names = measure("list", os.listdir, mount.csv)
            assert len(names) == FILES and names == sorted(names)
            measure("ls -l", run, "ls", "-l", mount.csv)
            path = os.path.join(mount.instance, "files.csv")
            measure("stat of files.csv, first", os.stat, path)
            assert measure("reading it", read_file, path).count(b"\n") == 2 * FILES + 1
            measure("again", os.stat, path)
            store.order("commit t 1 1", "rotate")
            measure("with four files more", os.stat, path)
            data = measure("reading it", read_file, path)
            assert data.count(b"\n") == 2 * FILES + 1 + 4, "one in each format"
            assert len(os.listdir(mount.csv)) == FILES + 1
            measure("stat of a live file", os.stat, os.path.join(mount.instance, "live/all.csv"))


@case(f"{INSTANCES} instances")
def _(db):
    with Store(db, *(f"table t{number}" for number in range(INSTANCES))) as store:
        with measure("mount", Mount, store) as mount:
            names = [name for name in measure("list", os.listdir, mount.path) if name[:5] == "main_"]
            assert len(names) == INSTANCES
            sizes = measure("stat of all live files", lambda: {
                os.stat(os.path.join(mount.path, name, "live", "all.csv")).st_size
                for name in names})
            assert len(sizes) == 1
            store.order("commit t7 10 10")
            read = measure("one that grew", read_file,
                           os.path.join(mount.path, "main_t7", "live", "all.csv"))
            assert read.count(b"\n") == 11
            with open(f"/proc/{mount.process.pid}/status", encoding="ascii") as status:
                resident = [line.split()[1] for line in status if line.startswith("VmRSS")][0]
            print(f"# resident: {int(resident) // 1024} MiB")


main()
