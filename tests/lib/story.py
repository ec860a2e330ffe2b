"""An application, what it does transaction by transaction, and all that is told of it.

    story = Story(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    first = story.run("INSERT INTO t VALUES(1,'a')")
    old = story.freeze()
    lsn = story.run("ALTER TABLE t RENAME TO u")
    story.check({"main_t": [(first, [(2, 1, "a")])]}, {"main_t": [(lsn, 'ALTER TABLE …')]}, old)
"""
import os

from cdctest import ctl, read_file
from changes import csv_fields, read_csv

INITIAL = ("t",)


def text(lsn):
    digits = lsn.hex()
    return f"{digits[:8]}:{digits[8:16]}:{digits[16:]}"


class Story:
    """setup runs before capture begins; tables are the captured ones."""

    def __init__(self, db, *setup, tables=INITIAL, options=(), **pragmas):
        self.db = db
        self.app = db.connect(**pragmas)
        for sql in setup:
            self.execute(sql)
        db.enable(*tables, options=options)
        db.start()
        for table in tables:
            self.wait_for("main_" + table)

    def wait_for(self, instance):
        """The instance is recognised; gives its start_lsn."""
        self.db.rotate()
        lsn = self.db.min_lsn(instance)
        assert lsn, f"{instance} is not recognised"
        return lsn

    def enable(self, table, instance, columns=None, options=()):
        """One more instance, with the columns that are named; gives its start_lsn."""
        more = ("--captured-columns", columns) if columns else ()
        ctl("enable-table", self.db.path, table, "--capture-instance", instance, *more, *options)
        return self.wait_for(instance)

    def execute(self, sql):
        """A statement, or one and the rows of its parameters."""
        if isinstance(sql, str):
            return self.app.execute(sql).fetchall()
        return self.app.executemany(*sql)

    def commit(self, *statements):
        """One transaction, which capture may see when it likes."""
        self.app.execute("BEGIN")
        for sql in statements:
            self.execute(sql)
        self.app.execute("COMMIT")

    def run(self, *statements):
        """One transaction, captured; gives its LSN. A single statement runs by itself."""
        if len(statements) == 1:
            self.execute(statements[0])
        else:
            self.commit(*statements)
        self.db.rotate()
        return self.db.max_lsn()

    # ---- what is told

    def told(self, instance):
        """[(LSN, [(operation, value, …), …]), …]"""
        result = []
        for row in self.db.changes(instance):
            if not result or result[-1][0] != row.lsn:
                result.append((row.lsn, []))
            result[-1][1].append((row.operation,) + row.values)
        return result

    def history(self, instance):
        """[(LSN, statement)] or [(LSN, statement, True)] if columns must be updated; the same in
        the store and in both files of the mount."""
        stored = self.db.store().execute(
            "SELECT ddl_lsn, ddl_command, required_column_update FROM ddl_history"
            " JOIN change_tables USING(object_id) WHERE capture_instance = ?"
            " ORDER BY ddl_lsn, ddl_history.rowid", (instance,))
        rows = [(text(lsn), command, required) for lsn, command, required in stored]
        for folder in (instance, ".") if self.db.mountpoint else ():
            assert self.read_history(folder, instance) == rows, (folder, instance, rows)
        return [row if row[2] else row[:2] for row in rows]

    def read_history(self, folder, instance):
        path = os.path.join(self.db.mountpoint, folder, "ddl_history.csv")
        header, *records = csv_fields(read_file(path))
        names = [name.decode() for _, name in header]
        result = []
        for record in records:
            line = {name: value.decode() for name, (_, value) in zip(names, record)}
            if line["capture_instance"] == instance:
                result.append((line["ddl_lsn"], line["ddl_command"],
                               int(line["required_column_update"])))
        return result

    def columns(self, instance):
        """Names of the captured columns, as every reader of the instance sees them."""
        first = self.db.min_lsn(instance)
        names, _ = read_csv(self.db.get_changes(instance, first, first))
        return names

    def types(self, instance):
        return [row[0] for row in self.db.store().execute(
            "SELECT column_type FROM captured_columns JOIN change_tables USING(object_id)"
            " WHERE capture_instance = ? ORDER BY column_ordinal", (instance,))]

    def is_dropped(self, instance):
        """has_drop_pending"""
        [(flag,)] = self.db.store().execute(
            "SELECT has_drop_pending FROM change_tables WHERE capture_instance = ?", (instance,))
        return bool(flag)

    # ---- files of before

    def freeze(self, *instances):
        """All that can be read by now of the instances, to be compared later."""
        result = {}
        for instance in instances or ("main_t",):
            first, last = self.db.min_lsn(instance), self.db.max_lsn()
            for form in ("csv", "jsonl"):
                key = (instance, first, last, form)
                result[key] = self.db.get_changes(*key)
                for path in self.db.files(instance, form) if self.db.mountpoint else ():
                    result[path] = look(path)
        return result

    def check_frozen(self, frozen):
        """Whatever happened since: the same names, inodes, times and bytes."""
        for key, value in frozen.items():
            now = look(key) if isinstance(key, str) else self.db.get_changes(*key)
            assert now == value, f"{key} is not what it was"

    def check(self, told, history, frozen=None):
        """The whole result: {instance: rows} and {instance: statements}, and nothing else."""
        for instance, rows in told.items():
            found = self.told(instance)
            assert found == rows, f"{instance}:\n{found}\nnot\n{rows}"
        for instance in told:
            found = self.history(instance)
            assert found == history.get(instance, []), f"{instance}: {found}"
        self.check_frozen(frozen or {})
        errors = self.db.store().execute("SELECT error_message FROM dm_cdc_errors").fetchall()
        assert not errors, errors


def look(path):
    status = os.stat(path)
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode, read_file(path))
