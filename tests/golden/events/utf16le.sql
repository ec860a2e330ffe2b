-- TEXT of a store in UTF-16.
PRAGMA encoding = 'UTF-16le';
CREATE TABLE key(name);
INSERT INTO key VALUES('id');
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, id, v);
INSERT INTO t VALUES
  (x'00000001000000020001', x'00000000000000000001', 2, x'03', 1796032800000000000, x'00000001000000020001', 1, 'grüß "x"'),
  (x'00000001000000020001', x'00000000000000000002', 2, x'03', 1796032800000000000, x'00000001000000020001', 2, CAST(x'3dd8' AS TEXT));
