//! Moments on the wire.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use tether_core::clock::Timestamp;
use utoipa::ToSchema;

/// 9999-12-31T23:59:59.999Z: RFC 3339 writes years with four digits.
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// A moment: RFC 3339, UTC, milliseconds.
#[derive(Debug, Clone, Copy, ToSchema)]
#[schema(value_type = String, format = DateTime, examples("2026-01-31T12:03:07.250Z"))]
pub struct Moment(Timestamp);

impl From<Timestamp> for Moment {
    fn from(timestamp: Timestamp) -> Self {
        Self(timestamp)
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is out of range is written as the nearest end of it.
        let millis = self.0.as_millis().clamp(0, LAST_MILLIS).unsigned_abs();
        let moment = UNIX_EPOCH + Duration::from_millis(millis);
        humantime::format_rfc3339_millis(moment).fmt(f)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_utc_with_three_digits() {
        let check = |millis, expected: &str| {
            assert_eq!(Moment(Timestamp::from_millis(millis)).to_string(), expected);
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_769_860_987_250, "2026-01-31T12:03:07.250Z");
        check(-1, "1970-01-01T00:00:00.000Z");
        check(i64::MAX, "9999-12-31T23:59:59.999Z");
    }
}
