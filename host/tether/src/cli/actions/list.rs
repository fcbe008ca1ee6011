//! `tether actions list`.

use std::process::ExitCode;

use crate::cli::gateway::{Connection, read};
use crate::cli::{say, show};
use crate::wire::seen::SeenList;

/// List actions, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct List {
    /// Only those that stand so
    #[arg(long, value_parser = ["Pending", "Executing", "Succeeded", "Failed", "Declined", "Expired"], ignore_case = true)]
    status: Option<String>,

    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,

    /// Where a list before this one ended
    #[arg(long)]
    cursor: Option<String>,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Example:
  tether actions list --status Pending";

impl List {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let gateway = self.gateway.open()?;
        let mut path = format!("v1/actions?limit={}", self.limit);
        if let Some(status) = &self.status {
            path.push_str(&format!("&status={}", capitalised(status)));
        }
        if let Some(cursor) = &self.cursor {
            path.push_str(&format!("&cursor={}", encoded(cursor)));
        }
        let answer = gateway.get(&path).await?;
        if gateway.json() {
            say(&answer.body);
            return Ok(ExitCode::SUCCESS);
        }
        let list: SeenList = read(&answer)?;
        for action in &list.actions {
            say(show::line(action));
        }
        if list.actions.is_empty() {
            eprintln!("there are none");
        }
        if let Some(cursor) = &list.next_cursor {
            eprintln!("there are more: add --cursor {cursor}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn capitalised(word: &str) -> String {
    let mut word = word.to_ascii_lowercase();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// Percent-encoded, for a query.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_the_query() {
        assert_eq!(encoded("a-1&b=ä"), "a-1%26b%3D%C3%A4");
        assert_eq!(capitalised("pending"), "Pending");
    }
}
