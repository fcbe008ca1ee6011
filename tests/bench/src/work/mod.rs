//! What is measured: a file for each kind of work.

mod instances;
mod lone;
mod memory;
mod reads;
mod start;
mod stored;
mod writes;

use crate::stage::Stage;
use crate::table::Table;

/// Measures one kind of work, and adds its rows.
type Work = fn(&Stage, &mut Table) -> anyhow::Result<()>;

/// Every kind of work, by name, in the order of the table.
pub(crate) const ALL: [(&str, Work); 7] = [
    ("reads", reads::measure),
    ("writes", writes::measure),
    ("lone", lone::measure),
    ("stored", stored::measure),
    ("instances", instances::measure),
    ("memory", memory::measure),
    ("start", start::measure),
];
