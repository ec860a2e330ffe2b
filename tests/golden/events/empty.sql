-- No rows.
CREATE TABLE key(name);
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", tran_end_time, tran_id, a, b);
