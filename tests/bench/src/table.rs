//! What is printed: one row for each work and what it stands beside.

use std::fmt;

use serde::Serialize;

/// What a row is to reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// The value divided by that beside it is at least this.
    RatioAtLeast(f64),
    /// The value divided by that beside it is at most this.
    RatioAtMost(f64),
    /// The value is at most this, in the row's unit.
    AtMost(f64),
    /// Nothing: the row reports.
    None,
}

/// Names and types of the members are the interface of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    work: String,
    /// What it stands beside; null where there is no such thing.
    beside: Option<String>,
    /// Null where it was skipped: `beside` says why.
    value: Option<f64>,
    beside_value: Option<f64>,
    unit: &'static str,
    /// `value` divided by `besideValue`.
    ratio: Option<f64>,
    /// Such as `ratio >= 3` or `value <= 40`; null where the row only reports.
    goal: Option<String>,
    met: Option<bool>,
}

/// All rows, in the order in which they were measured.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds what was measured.
    pub(crate) fn add(
        &mut self,
        work: &str,
        value: f64,
        beside: Option<(&str, f64)>,
        unit: &'static str,
        goal: Goal,
    ) {
        let ratio = beside.map(|(_, beside)| value / beside);
        self.rows.push(Row {
            work: work.into(),
            beside: beside.map(|(name, _)| name.into()),
            value: Some(value),
            beside_value: beside.map(|(_, value)| value),
            unit,
            ratio,
            goal: goal.text(),
            met: goal.met(value, ratio),
        });
    }

    /// Adds a row that could not be measured here, and why.
    pub(crate) fn skip(&mut self, work: &str, beside: &str, unit: &'static str, goal: Goal, why: &str) {
        self.rows.push(Row {
            work: work.into(),
            beside: Some(format!("{beside} (skipped: {why})")),
            value: None,
            beside_value: None,
            unit,
            ratio: None,
            goal: goal.text(),
            met: None,
        });
    }

    /// One object.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are JSON")
    }
}

impl Goal {
    fn text(self) -> Option<String> {
        match self {
            Self::RatioAtLeast(least) => Some(format!("ratio >= {}", number(least))),
            Self::RatioAtMost(most) => Some(format!("ratio <= {}", number(most))),
            Self::AtMost(most) => Some(format!("value <= {}", number(most))),
            Self::None => None,
        }
    }

    fn met(self, value: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::RatioAtLeast(least) => ratio.map(|ratio| ratio >= least),
            Self::RatioAtMost(most) => ratio.map(|ratio| ratio <= most),
            Self::AtMost(most) => Some(value <= most),
            Self::None => None,
        }
    }
}

/// Markdown, so that it can be put into the docs as it is.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| work | value | beside | its value | unit | ratio | goal | met |")?;
        writeln!(f, "| --- | ---: | --- | ---: | --- | ---: | --- | --- |")?;
        for row in &self.rows {
            let met = row.met.map_or("", |met| if met { "yes" } else { "**no**" });
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} | {met} |",
                row.work,
                optional(row.value),
                row.beside.as_deref().unwrap_or_default(),
                optional(row.beside_value),
                row.unit,
                optional(row.ratio),
                row.goal.as_deref().unwrap_or_default(),
            )?;
        }
        Ok(())
    }
}

fn optional(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

/// Three digits that count, and whole numbers from a hundred on.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, part)) if part.bytes().all(|digit| digit == b'0') => whole.into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(goal: Goal, value: f64, beside: Option<f64>, met: Option<bool>) {
        let mut table = Table::default();
        table.add("work", value, beside.map(|value| ("peer", value)), "ms", goal);
        assert_eq!(table.rows[0].met, met, "{goal:?} of {value} beside {beside:?}");
    }

    #[test]
    fn a_goal_is_met_or_it_is_not() {
        check(Goal::RatioAtLeast(3.0), 30.0, Some(10.0), Some(true));
        check(Goal::RatioAtLeast(3.0), 29.9, Some(10.0), Some(false));
        check(Goal::RatioAtMost(1.2), 11.9, Some(10.0), Some(true));
        check(Goal::RatioAtMost(1.2), 12.1, Some(10.0), Some(false));
        check(Goal::AtMost(40.0), 40.0, None, Some(true));
        check(Goal::AtMost(40.0), 40.1, None, Some(false));
        check(Goal::None, 1.0, Some(2.0), None);
    }

    #[test]
    fn the_json_has_every_member_of_every_row() {
        let mut table = Table::default();
        table.add("a read", 30.0, Some(("Express", 20.0)), "1/s", Goal::RatioAtLeast(3.0));
        table.add("memory", 12.5, None, "MiB", Goal::AtMost(40.0));
        table.skip("a read", "Express", "1/s", Goal::RatioAtLeast(3.0), "no Node.js");
        let printed: Value = serde_json::from_str(&table.json()).expect("it is JSON");
        let expected = json!({ "rows": [
            { "work": "a read", "beside": "Express", "value": 30.0, "besideValue": 20.0,
              "unit": "1/s", "ratio": 1.5, "goal": "ratio >= 3", "met": false },
            { "work": "memory", "beside": null, "value": 12.5, "besideValue": null,
              "unit": "MiB", "ratio": null, "goal": "value <= 40", "met": true },
            { "work": "a read", "beside": "Express (skipped: no Node.js)", "value": null, "besideValue": null,
              "unit": "1/s", "ratio": null, "goal": "ratio >= 3", "met": null },
        ] });
        assert_eq!(printed, expected);
    }

    #[test]
    fn the_table_says_what_was_missed() {
        let mut table = Table::default();
        table.add("a read", 1234.5, Some(("axum", 9876.0)), "1/s", Goal::RatioAtLeast(0.5));
        let printed = table.to_string();
        let last = printed.lines().last();
        assert_eq!(last, Some("| a read | 1234 | axum | 9876 | 1/s | 0.12 | ratio >= 0.50 | **no** |"));
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        let shown = [12_345.6, 99.94, 3.0, 1.25, 0.057].map(number);
        assert_eq!(shown, ["12346", "99.9", "3", "1.25", "0.0570"]);
    }
}
