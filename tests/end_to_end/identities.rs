//! Who may use a gateway: tokens that people make, and those of a provider.

mod fallen;
mod logs;
mod neighbours;
pub(crate) mod provider;
mod tokens;
