//! Numbers for tests that try many inputs: the same ones in every run.

/// A linear congruential generator (Knuth's MMIX).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from 0 to below `end`, which is small.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The high bits are the random ones.
        (self.0 >> 33) as usize % end
    }
}
