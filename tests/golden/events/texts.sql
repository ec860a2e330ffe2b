-- Texts that readers trip over; ill-formed ones and those with a NUL.
CREATE TABLE key(name);
INSERT INTO key VALUES('id');
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, id, v);
INSERT INTO t SELECT x'0000002d000005800001', CAST(x'000000000000000000' || CAST(char(key) AS BLOB) AS BLOB), 2, x'03',
  1796032800123456000, x'0000002d000005800001', key, value FROM (
  SELECT 1 AS key, 'a "quote"' AS value UNION ALL SELECT 2, 'a,b' UNION ALL SELECT 3, 'two' || char(10) || 'lines' || char(13)
  UNION ALL SELECT 4, '\x00ff' UNION ALL SELECT 5, '\Xff' UNION ALL SELECT 6, '1234'
  UNION ALL SELECT 7, 'NULL' UNION ALL SELECT 8, char(1, 9, 31, 127) UNION ALL SELECT 9, 'gr' || char(252, 223, 128512)
  UNION ALL SELECT 10, CAST(x'61ff62' AS TEXT) UNION ALL SELECT 11, CAST(x'610062' AS TEXT)
  UNION ALL SELECT 12, CAST(x'eda080' AS TEXT) UNION ALL SELECT 13, '\');
