CREATE TABLE tickets (
    id           INTEGER PRIMARY KEY,
    title        TEXT    NOT NULL,
    state        TEXT    NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'void')),
    amount_cents BIGINT  NOT NULL CHECK (amount_cents >= 0),
    currency     TEXT    NOT NULL CHECK (length(currency) = 3)
);

INSERT INTO tickets (id, title, state, amount_cents, currency) VALUES
    (40, 'Seat 12A, Vienna to Zagreb',   'closed',  8900, 'EUR'),
    (41, 'Parking, second week of May',  'void',    1250, 'EUR'),
    (42, 'Concert, row 7',               'open',    4500, 'EUR'),
    (43, 'Museum, group of eleven',      'open',   13200, 'CHF');
