-- Names of columns.
CREATE TABLE key(name);
INSERT INTO key VALUES('a,b'), ('q"x');
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, "a,b", "q""x", " lead", "back\slash", "grüß", "header__change_seq");
INSERT INTO t VALUES
  (x'00000001000000020001', x'00000000000000000001', 1, x'3f', 1796032800000000000, x'00000001000000020001', 1, 2, 3, 4, 5, 6);
