CREATE TABLE t(x);
INSERT INTO t VALUES (x''), (x'00'), (x'000a0d22ff2c'), (x'2c2c'), (x'5c78'), (CAST('text' AS BLOB)), (zeroblob(20)), (x'0123456789abcdef'),
  (x'00000001000000020001');
