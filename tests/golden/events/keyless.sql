-- Without a key a delete names all columns.
CREATE TABLE key(name);
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, a, b);
INSERT INTO t VALUES
  (x'00000001000000020001', x'00000000000000000001', 2, x'03', 1796032800000000000, x'00000001000000020001', NULL, 1),
  (x'00000001000000020001', x'00000000000000000002', 1, x'03', 1796032800000000000, x'00000001000000020001', NULL, 1);
