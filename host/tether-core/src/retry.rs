//! The retry budget of a read: arithmetic only.

use std::time::Duration;

use crate::failure::Failure;

/// The first pause; each further one is twice as long.
pub const FIRST_BACKOFF: Duration = Duration::from_millis(150);

/// How often and how long. The `tool_transport` section of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    max_attempts: u32,
    timeout: Duration,
    jitter: bool,
}

/// A policy that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPolicy {
    /// No attempt, or more than 10.
    #[error("max_attempts is {0}; it must be 1 (no retries) to 10")]
    Attempts(u32),
    /// No time, or more than an hour.
    #[error("timeout_seconds is {0:?}; it must be more than 0 and at most 3600")]
    Timeout(Duration),
}

impl RetryPolicy {
    /// A policy of 1 to 10 attempts that take more than nothing and at most an
    /// hour each.
    pub fn try_new(max_attempts: u32, timeout: Duration) -> Result<Self, InvalidPolicy> {
        if !(1..=10).contains(&max_attempts) {
            return Err(InvalidPolicy::Attempts(max_attempts));
        }
        if timeout.is_zero() || timeout > Duration::from_secs(3600) {
            return Err(InvalidPolicy::Timeout(timeout));
        }
        Ok(Self { max_attempts, timeout, jitter: false })
    }

    /// The same policy, with pauses that are longer by up to a half, at random: many
    /// callers that failed at once then come back one after the other. Never
    /// shorter: a pause is a promise to whoever is overloaded.
    pub fn with_jitter(self, jitter: bool) -> Self {
        Self { jitter, ..self }
    }

    /// Attempts in all.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// The time that each attempt has.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The pause before the `retry`-th retry, counted from 1.
    pub fn backoff(&self, retry: u32) -> Duration {
        FIRST_BACKOFF * 2_u32.saturating_pow(retry.saturating_sub(1))
    }

    /// The time that a whole call has, pauses included.
    pub fn call_time(&self) -> Duration {
        let pauses: Duration = (1..self.max_attempts).map(|retry| self.backoff(retry)).sum();
        self.timeout * self.max_attempts + pauses
    }
}

impl Default for RetryPolicy {
    /// 3 attempts of 20 seconds, without jitter.
    fn default() -> Self {
        Self { max_attempts: 3, timeout: Duration::from_secs(20), jitter: false }
    }
}

/// What one call of a read has left to spend.
#[derive(Debug)]
pub struct Budget {
    policy: RetryPolicy,
    spent: u32,
}

impl Budget {
    /// A fresh budget of `max_attempts − 1` retries.
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, spent: 0 }
    }

    /// The time that each attempt has.
    pub fn timeout(&self) -> Duration {
        self.policy.timeout
    }

    /// 1 and the retries that were spent.
    pub fn attempts(&self) -> u32 {
        1 + self.spent
    }

    /// The pause before the next retry, if there is one: spends a retry. None
    /// where `failure` is not worth repeating, the budget is spent, or the pause
    /// does not fit into `remaining`, what the call's time has left.
    ///
    /// `chance` is a random number from 0 to 1, for the jitter.
    pub fn next(&mut self, failure: &Failure, remaining: Duration, chance: f64) -> Option<Duration> {
        if !failure.cause.retries_read() || self.attempts() >= self.policy.max_attempts {
            return None;
        }
        let mut backoff = self.policy.backoff(self.spent + 1);
        if self.policy.jitter {
            backoff += backoff.mul_f64(chance.clamp(0.0, 1.0) / 2.0);
        }
        let pause = failure.retry_after.map_or(backoff, |asked| asked.max(backoff));
        if pause >= remaining {
            return None;
        }
        self.spent += 1;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Cause;

    const MINUTE: Duration = Duration::from_secs(60);

    fn failure(cause: Cause, retry_after_ms: Option<u64>) -> Failure {
        Failure { retry_after: retry_after_ms.map(Duration::from_millis), ..Failure::new(cause, "") }
    }

    #[track_caller]
    fn check(failures: &[Failure], pauses: &[Option<u64>]) {
        let mut budget = Budget::new(RetryPolicy::default());
        let got: Vec<_> = failures.iter().map(|failure| budget.next(failure, MINUTE, 1.0)).collect();
        let expected: Vec<_> = pauses.iter().map(|pause| pause.map(Duration::from_millis)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn two_retries_after_150_and_300_milliseconds() {
        let transient = || failure(Cause::Transient, None);
        check(&[transient(), transient(), transient()], &[Some(150), Some(300), None]);
        check(&[failure(Cause::TimedOut, None)], &[Some(150)]);
        check(&[failure(Cause::Trapped, None)], &[None]);
    }

    #[test]
    fn never_sooner_than_asked_and_never_past_the_end() {
        check(
            &[failure(Cause::Transient, Some(900)), failure(Cause::Transient, Some(1))],
            &[Some(900), Some(300)],
        );
        check(&[failure(Cause::Transient, Some(60_000))], &[None]);
    }

    #[test]
    fn one_attempt_means_no_retries() {
        let policy = RetryPolicy::try_new(1, MINUTE).unwrap();
        assert_eq!(Budget::new(policy).next(&failure(Cause::Transient, None), MINUTE, 0.0), None);
        assert_eq!(policy.call_time(), MINUTE);
    }

    #[test]
    fn jitter_makes_a_pause_longer_by_up_to_a_half_and_never_shorter() {
        let policy = RetryPolicy::default().with_jitter(true);
        for (chance, first, second) in [(0.0, 150, 300), (0.5, 187, 375), (1.0, 225, 450)] {
            let mut budget = Budget::new(policy);
            let mut pause = || {
                let pause = budget.next(&failure(Cause::TimedOut, None), MINUTE, chance);
                pause.unwrap().as_millis()
            };
            assert_eq!((pause(), pause()), (first, second), "chance {chance}");
        }
    }

    #[test]
    fn a_whole_call_has_60_450_milliseconds() {
        assert_eq!(RetryPolicy::default().call_time(), Duration::from_millis(60_450));
    }

    #[test]
    fn a_policy_that_cannot_be_is_refused() {
        assert_eq!(RetryPolicy::try_new(0, MINUTE), Err(InvalidPolicy::Attempts(0)));
        assert_eq!(RetryPolicy::try_new(3, Duration::ZERO), Err(InvalidPolicy::Timeout(Duration::ZERO)));
    }
}
