CREATE TABLE numbers (
    key     TEXT NOT NULL,
    integer INTEGER,
    real    REAL
);
