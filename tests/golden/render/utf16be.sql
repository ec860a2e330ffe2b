-- What a UTF-8 database would show, and the bytes of what is ill-formed.
PRAGMA encoding = 'UTF-16be';
CREATE TABLE t("größe", x);
INSERT INTO t VALUES ('é😀', 1), ('', 2.5), ('plain', NULL), ('say "hi", ключ', x'00ff'), ('\x00', '\X'), ('two
lines', 'tab	'), (char(97, 0, 98), 'NUL');
INSERT INTO t VALUES (CAST(x'd800' AS TEXT), 'high surrogate'), (CAST(x'0061dc00' AS TEXT), 'low surrogate');
