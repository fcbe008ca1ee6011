//! Who may use a gateway: tokens that people make, and those of a provider.

mod logs;
mod neighbours;
mod provider;
mod tokens;
