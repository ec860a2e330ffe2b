-- Hundredths are cut off; the largest numbers; a tran_id that is none.
CREATE TABLE key(name);
INSERT INTO key VALUES('id');
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, id);
INSERT INTO t VALUES
  (x'00000001000000010001', x'00000000000000000001', 2, x'01', 0, x'00000001000000010001', 1),
  (x'00000001000000020001', x'00000000000000000002', 2, x'01', 1798761599999999000, x'00000001000000020001', 2),
  (x'00000001000000030001', x'00000000000000000003', 2, x'01', 1798761599999999000, x'00', 3),
  (x'fffffffffffffffffffe', x'00007fffffffffffffff', 2, x'01', 9223372036854775000, x'fffffffffffffffffffe', 4);
