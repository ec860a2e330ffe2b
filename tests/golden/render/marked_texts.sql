-- TEXT that begins as a BLOB or as ill-formed TEXT is written.
CREATE TABLE t(x);
INSERT INTO t VALUES ('\x'), ('\X'), ('\x00ff'), ('\X00ff'), ('\xyz "q"'), ('\\x00'), (' \x00'), ('x00'), ('\' || char(10)), ('a\x00');
