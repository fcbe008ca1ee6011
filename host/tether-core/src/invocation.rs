//! One logical call of one tool.

use std::time::Duration;

use crate::id::{RequestId, TenantId, ToolName, UserId};
use crate::json::JsonText;

/// What a handler is called with.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The idempotency key: the same in every attempt.
    pub request_id: RequestId,
    /// The tool.
    pub tool: ToolName,
    /// Whose data it is about.
    pub tenant: TenantId,
    /// Who asked for it; of a write, who proposed it.
    pub user: UserId,
    /// The arguments, as they were received.
    pub arguments: JsonText,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// The time that this attempt has for itself: of a read without the time that
    /// it waits for what it sends, of a write for everything.
    pub timeout: Duration,
}
