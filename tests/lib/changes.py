"""Reads change files as a consumer would who has nothing but the manual: CSV and JSONL back to
SQLite's values with their storage classes."""
import collections
import json
import re

METADATA = ["__$start_lsn", "__$seqval", "__$operation", "__$update_mask"]

Row = collections.namedtuple("Row", "lsn seqval operation mask values")


class RawText(bytes):
    """TEXT that is not well-formed UTF-8 or holds NUL: its bytes."""


def text(stored):
    """A text_factory for sqlite3 that loses nothing."""
    try:
        string = stored.decode("utf-8")
    except UnicodeDecodeError:
        return RawText(stored)
    return RawText(stored) if "\0" in string else string


def typed(value):
    """A form in which two values are equal only if their storage classes are too."""
    return type(value).__name__, repr(value)


def same(left, right):
    return [typed(v) for v in left] == [typed(v) for v in right]


# ---- CSV

FIELD = re.compile(rb'(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)')
INTEGER = re.compile(r"-?[0-9]+\Z")
REAL = re.compile(r"-?([0-9]+\.[0-9]+(e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+|Infinity)\Z")


def csv_fields(data):
    """Records of (is_quoted, bytes)."""
    records, record, at = [], [], 0
    while at < len(data):
        match = FIELD.match(data, at)
        assert match, f"no CSV at byte {at}: {data[at:at + 60]!r}"
        quoted, bare, end = match.groups()
        record.append((quoted is not None, quoted.replace(b'""', b'"') if bare is None else bare))
        if end == b"\n":
            records.append(record)
            record = []
        at = match.end()
    assert not record, "the last line has no end"
    return records


def csv_value(is_quoted, field):
    string = field.decode("utf-8")
    if is_quoted:
        return string
    if not string:
        return None
    if string.startswith("\\x"):
        return bytes.fromhex(string[2:])
    if string.startswith("\\X"):
        return RawText(bytes.fromhex(string[2:]))
    if INTEGER.match(string):
        return int(string)
    assert REAL.match(string), f"neither INTEGER nor REAL: {string!r}"
    return float(string)


def read_csv(data):
    """(names of the captured columns, rows)"""
    header, *records = csv_fields(data)
    names = [field.decode("utf-8") for _, field in header]
    assert names[:4] == METADATA, names
    rows = []
    for record in records:
        assert len(record) == len(names), record
        assert not any(is_quoted for is_quoted, _ in record[:4]), record
        lsn, seqval, operation, mask = (field.decode("ascii") for _, field in record[:4])
        rows.append(Row(lsn, seqval, int(operation), mask,
                        tuple(csv_value(*field) for field in record[4:])))
    return names[4:], rows


# ---- JSONL


def json_constant(name):
    raise ValueError(f"{name} is not JSON")


def json_value(value):
    if isinstance(value, str) and value.startswith("\\x"):
        return bytes.fromhex(value[2:])
    if isinstance(value, str) and value.startswith("\\X"):
        return RawText(bytes.fromhex(value[2:]))
    if isinstance(value, list):  # an object, as pairs
        [(name, string)] = value
        assert name == "$text" and string[:2] in ("\\x", "\\X"), value
        return string
    return value


def read_jsonl(data):
    """(names of the captured columns, or None if there is no row; rows)"""
    names, rows = None, []
    assert not data or data.endswith(b"\n")
    for line in data.split(b"\n")[:-1]:
        pairs = json.loads(line.decode("utf-8"), object_pairs_hook=list,
                           parse_constant=json_constant)
        keys = [key for key, _ in pairs]
        assert keys[:4] == METADATA, keys
        assert names in (None, keys[4:]), keys
        names = keys[4:]
        values = [value for _, value in pairs]
        rows.append(Row(*values[:4], tuple(json_value(value) for value in values[4:])))
    return names, rows


# ---- what holds for every result


def mask_of(ordinals, columns):
    """__$update_mask as text: ordinal 1 is the lowest bit of the last byte."""
    return "\\x" + sum(1 << o - 1 for o in ordinals).to_bytes((columns + 7) // 8, "big").hex()


def check_rows(rows, columns):
    """LSNs and seqvals rise, updates are pairs, masks say what changed."""
    every = mask_of(range(1, columns + 1), columns)
    before = None
    last_lsn = last_seqval = ""
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}", row.lsn), row
        assert re.fullmatch(r"[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}", row.seqval), row
        assert row.lsn >= last_lsn, f"LSN falls at {row}"
        if row.operation == 4:
            assert before, f"4 without 3: {row}"
            assert (row.lsn, row.seqval, row.mask) == (before.lsn, before.seqval, before.mask), row
            changed = [i + 1 for i in range(columns)
                       if typed(row.values[i]) != typed(before.values[i])]
            assert changed, f"an update that changes nothing: {row}"
            assert row.mask == mask_of(changed, columns), (row.mask, changed)
            before = None
        else:
            assert before is None, f"3 without 4: {before}"
            assert row.seqval > last_seqval, f"seqval does not rise at {row}"
            if row.operation == 3:
                before = row
            else:
                assert row.operation in (1, 2), row
                assert row.mask == every, row
        last_lsn, last_seqval = row.lsn, row.seqval
    assert before is None, f"3 without 4: {before}"


def commits(rows):
    """[[(operation, value, …), …], …]: a list a transaction."""
    result, last = [], None
    for row in rows:
        if row.lsn != last:
            result.append([])
        last = row.lsn
        result[-1].append((row.operation,) + row.values)
    return result


def replay(rows, baseline=()):
    """The table's rows after all changes, as a multiset of typed rows."""
    table = collections.Counter(tuple(typed(v) for v in row) for row in baseline)
    for row in rows:
        key = tuple(typed(v) for v in row.values)
        if row.operation in (1, 3):
            assert table[key] > 0, f"a row that is not there leaves: {row}"
            table[key] -= 1
        else:
            table[key] += 1
    return +table


def net(rows, key):
    """Net changes by the columns whose positions are in key: [(operation, value, …)]."""
    state = {}  # key -> [is there before, is there after, last values]
    for row in rows:
        identity = tuple(typed(row.values[i]) for i in key)
        if row.operation == 3:
            continue
        there, _, _ = state.get(identity, (row.operation != 2, None, None))
        state[identity] = (there, row.operation != 1, row.values)
    result = []
    for there, is_there, values in state.values():
        if there or is_there:
            operation = 1 if not is_there else 4 if there else 2
            result.append((operation,) + values)
    return sorted(result, key=repr)
