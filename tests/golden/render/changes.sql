-- Rows of a change function.
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", id, x);
INSERT INTO t VALUES
  (x'00000001000000020001', x'00000000000000000001', 2, x'03', 1, 'a'),
  (x'00000001000000020001', x'00000000000000000002', 3, x'02', 1, 'a'),
  (x'00000001000000020001', x'00000000000000000002', 4, x'02', 1, 'b'),
  (x'0000002d000005800001', x'0000000000000000000a', 1, x'03', 1, 'b'),
  (x'ffffffffffffffffffff', x'00ffffffffffffffffff', 2, x'01ff', 2, NULL),
  (x'0000002d000005800002', x'00000000000000000010', 2, NULL, x'00000001000000020001', '');
