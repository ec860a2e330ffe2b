-- Each storage class, and the values that are taken for one another.
CREATE TABLE t(id INTEGER PRIMARY KEY, x);
INSERT INTO t(x) VALUES (NULL), (''), (x''), ('NULL'), (0), (0.0), ('0'), (x'30'), ('0.0'), (1), (1.0), ('1');
