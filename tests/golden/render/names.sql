-- Column names that a header or a key could break on.
CREATE TABLE t(id, "from", "a]b", "q""x", "ключ", "a b", " lead", "tail ", "a,b", "new
line", "", "#h", "back\slash", "tab	x", "'s", "\x00");
INSERT INTO t VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
