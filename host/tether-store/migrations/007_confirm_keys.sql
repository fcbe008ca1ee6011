-- With which key somebody confirmed: the digest of the key, of nothing where there was none;
-- NULL in whatever is no confirmation, and in those of before. The event's hash covers it.
ALTER TABLE history ADD COLUMN confirm_key BLOB;
