//! Where actions, records and databases are kept
