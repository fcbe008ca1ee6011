//! What one call did so far, and what it may still do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tether_core::failure::{Cause, Failure};
use tether_core::json::JsonText;
use tether_core::port::databases::{Rights, Session, SqlError};
use tether_core::schema::Schema;

use super::traffic::{Held, Traffic};
use super::trouble::LastTrouble;

/// What a tool may answer with.
#[derive(Debug)]
pub(crate) struct OutputRule {
    /// Bytes.
    pub(crate) max_bytes: usize,
    /// What the tool promises, where it promises something.
    pub(crate) schema: Option<Schema>,
}

/// Why an output is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("the output has {bytes} bytes; the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("{0}")]
    Invalid(String),
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        let cause = match error {
            OutputError::TooLarge { .. } => Cause::ResultTooLarge,
            OutputError::Invalid(_) => Cause::ResultInvalid,
        };
        Self::new(cause, error.to_string())
    }
}

impl OutputRule {
    /// The output of a step: JSON of a bounded size.
    fn step(&self, output: String) -> Result<JsonText, OutputError> {
        if output.len() > self.max_bytes {
            return Err(OutputError::TooLarge { bytes: output.len(), limit: self.max_bytes });
        }
        JsonText::parse(output)
            .map_err(|error| OutputError::Invalid(format!("the output is no result: {error}")))
    }

    /// The output of the tool: the same, and what its schema promises.
    pub(crate) fn result(&self, output: String) -> Result<JsonText, OutputError> {
        let output = self.step(output)?;
        if let Some(Err(violations)) = self.schema.as_ref().map(|schema| schema.check(&output)) {
            let violations: Vec<_> = violations.iter().map(ToString::to_string).collect();
            let message = format!("the output is not what the tool promises: {}", violations.join("; "));
            return Err(OutputError::Invalid(message));
        }
        Ok(output)
    }
}

/// One call's session and its course.
pub(crate) struct Call {
    pub(crate) session: Box<dyn Session>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) trouble: LastTrouble,
    rights: Rights,
    rule: Arc<OutputRule>,
    /// Outlives the call: an attempt that ran out of time is asked as well.
    began_main: Arc<AtomicBool>,
    /// The main record is there: the action has succeeded.
    settled: bool,
    tried_to_write: bool,
    /// The output that could not be recorded, until one could.
    unrecorded: Option<OutputError>,
}

impl Call {
    pub(crate) fn new(
        session: Box<dyn Session>,
        traffic: Arc<Traffic>,
        trouble: LastTrouble,
        rights: Rights,
        rule: Arc<OutputRule>,
        began_main: Arc<AtomicBool>,
    ) -> Self {
        Self {
            session,
            traffic,
            trouble,
            rights,
            rule,
            began_main,
            settled: false,
            tried_to_write: false,
            unrecorded: None,
        }
    }

    /// The place of the call's transaction, if one may begin now.
    pub(crate) fn hold(&self) -> Result<Held, SqlError> {
        let forbidden = |rule: String| SqlError::Forbidden(rule);
        match self.rights {
            Rights::Read => Err(SqlError::ReadOnly),
            Rights::Write if self.settled => Err(forbidden(
                "the main record is written, so the write is done; nothing may begin after it".into(),
            )),
            Rights::Write => self.traffic.hold().map_err(|hindrance| forbidden(hindrance.to_string())),
        }
    }

    /// A fresh main transaction began.
    pub(crate) fn began_main(&self) {
        self.began_main.store(true, Ordering::Release);
    }

    /// The main record was written, or found.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
        self.traffic.settled();
    }

    /// A database said no.
    pub(crate) fn failed_in_database(&mut self, error: &SqlError) {
        self.tried_to_write |= matches!(error, SqlError::ReadOnly);
        self.trouble.in_database(error);
    }

    /// The output as it may be recorded. What is wrong with it is found before
    /// the commit, so that nothing is done whose result cannot be told.
    pub(crate) fn recordable(&mut self, output: String, main: bool) -> Result<JsonText, OutputError> {
        let checked = if main { self.rule.result(output) } else { self.rule.step(output) };
        self.unrecorded = checked.as_ref().err().cloned();
        checked
    }

    /// What lies behind a failure that the guest told: the host's own refusal,
    /// where there was one.
    pub(crate) fn explain(&self, told: Failure) -> Failure {
        if let Some(error) = &self.unrecorded {
            return error.clone().into();
        }
        if self.tried_to_write && told.cause == Cause::Failed {
            let message = "the handler tried to change a database in a read or a preview; \
                           a tool that changes something must be described as a write";
            return Failure { message: message.into(), ..told };
        }
        self.trouble.explain(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(max_bytes: usize, schema: Option<&str>) -> OutputRule {
        let compile = |text| Schema::compile(&JsonText::parse(text).unwrap()).unwrap();
        OutputRule { max_bytes, schema: schema.map(compile) }
    }

    #[track_caller]
    fn check(rule: &OutputRule, output: &str, cause: Option<Cause>) {
        let result = rule.result(output.into()).map_err(Failure::from);
        assert_eq!(result.err().map(|failure| failure.cause), cause, "{output}");
    }

    #[test]
    fn an_output_is_whole_or_none() {
        // Seven bytes: the emoji's four are on the edge.
        let output = "\"a😀\"";
        check(&rule(7, None), output, None);
        check(&rule(8, None), output, None);
        check(&rule(6, None), output, Some(Cause::ResultTooLarge));
    }

    #[test]
    fn an_output_is_what_the_tool_promises() {
        let rule = rule(100, Some(r#"{"type":"object","required":["n"]}"#));
        check(&rule, r#"{"n":9007199254740993}"#, None);
        check(&rule, "{}", Some(Cause::ResultInvalid));
        check(&rule, r#"{"n":1,"n":2}"#, Some(Cause::ResultInvalid));
        check(&rule, "n", Some(Cause::ResultInvalid));
    }
}
