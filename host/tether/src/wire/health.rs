//! The answer of the health checks.

use serde::Serialize;
use utoipa::ToSchema;

/// All is well.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    #[schema(value_type = String, examples("ok"))]
    status: &'static str,
}

impl Health {
    /// The one answer.
    pub fn ok() -> Self {
        Self { status: "ok" }
    }
}
