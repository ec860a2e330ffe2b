-- No row: the header alone, and nothing.
CREATE TABLE t("__$start_lsn", "__$seqval", "__$operation", "__$update_mask", id, "a b");
