-- What a UTF-8 database would show, and the bytes of what is ill-formed.
PRAGMA encoding = 'UTF-16le';
CREATE TABLE t("größe", x);
INSERT INTO t VALUES ('é😀', 1), ('', 2.5), ('plain', NULL), ('say "hi", ключ', x'00ff'), ('\x00', '\X'), ('two
lines', 'tab	'), (char(97, 0, 98), 'NUL');
INSERT INTO t VALUES (CAST(x'00d8' AS TEXT), 'high surrogate'), (CAST(x'610000dc' AS TEXT), 'low surrogate');
