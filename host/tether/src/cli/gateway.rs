//! The gateway that a command talks to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use serde::de::DeserializeOwned;
use tether_core::hex::Hex;
use tether_transport::client::{Answer, Client, ClientError};

use super::Usage;
use crate::token;
use crate::wire::seen::SeenProblem;
use tether_core::plain::shown;

/// Longer than an attempt takes, however it is configured by default.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often a request is sent whose answer was lost.
const SENDINGS: u32 = 5;

/// The pause before it is sent again.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the gateway is, and who asks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Gateway")]
pub(super) struct Address {
    /// The gateway's address [default: http://127.0.0.1:8484]
    #[arg(long, env = "TETHER_URL")]
    url: Option<String>,

    /// The token; by default the one in the data folder
    #[arg(long, env = "TETHER_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// The data folder of a gateway on this machine
    #[arg(long, env = "TETHER_DATA_DIR", default_value = "tether-data")]
    data_dir: PathBuf,
}

/// A gateway, and how its answers are printed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Gateway")]
pub(super) struct Connection {
    #[command(flatten)]
    address: Address,

    /// Print the gateway's answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A gateway, with a token.
pub(super) struct Gateway {
    client: Client,
    json: bool,
    advice: Advice,
}

/// What somebody can do who gets no answer.
#[derive(Debug, Clone, Copy)]
struct Advice {
    /// The command that shows what became of a request.
    look: &'static str,
    /// What would do as well as this gateway.
    instead: Option<&'static str>,
}

const OF_ACTIONS: Advice = Advice { look: "tether actions list", instead: None };

const OF_TOKENS: Advice = Advice { look: "tether token list", instead: None };

/// For a command that can do without a gateway, and was told of one.
const FOLDER: &str = "repeat this without --url and --token (TETHER_URL, TETHER_TOKEN): where no gateway has the \
                      data folder, it is opened itself";

/// Where a gateway is that nobody placed elsewhere.
const URL: &str = "http://127.0.0.1:8484";

impl Address {
    /// A client of the gateway, with the token that is named or that of the data folder.
    pub(super) fn client(&self) -> anyhow::Result<Client> {
        self.client_or(None)
    }

    /// The same of a command that can do something else `instead`.
    fn client_or(&self, instead: Option<&str>) -> anyhow::Result<Client> {
        let token = match &self.token {
            Some(token) => token.trim().to_owned(),
            None => {
                let path = token::file(&self.data_dir);
                token::read(&path).map_err(|error| {
                    let instead = instead.map(|instead| format!("; or {instead}")).unwrap_or_default();
                    Usage(format!(
                        "there is no token: {} cannot be read ({error}). Name the gateway's folder with \
                         --data-dir, or give its token with --token or TETHER_TOKEN{instead}",
                        path.display()
                    ))
                })?
            }
        };
        let client = Client::new(self.url.as_deref().unwrap_or(URL), Some(&token), TIMEOUT);
        Ok(client.map_err(|error| Usage(error.to_string()))?)
    }
}

impl Connection {
    /// The data folder that is meant, where neither a gateway nor a token is named.
    pub(super) fn folder(&self) -> Option<&Path> {
        let Address { url, token, data_dir } = &self.address;
        (url.is_none() && token.is_none()).then_some(&**data_dir)
    }

    pub(super) fn open(&self) -> anyhow::Result<Gateway> {
        self.open_with(OF_ACTIONS)
    }

    /// The same for a command about tokens, which can do without a gateway.
    pub(super) fn open_for_tokens(&self) -> anyhow::Result<Gateway> {
        self.open_with(Advice { instead: self.folder().is_none().then_some(FOLDER), ..OF_TOKENS })
    }

    fn open_with(&self, advice: Advice) -> anyhow::Result<Gateway> {
        let client = self.address.client_or(advice.instead)?;
        Ok(Gateway { client, json: self.json, advice })
    }
}

impl Gateway {
    /// Whether answers are printed as JSON.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// Asks for `path`; any answer but a success is an error.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let answer = self.client.get(path).await.map_err(|error| self.not_answered(error))?;
        self.success(answer)
    }

    /// Sends `body` to `path`, and never again; any answer but a success is an error.
    pub(super) async fn post_once(&self, path: &str, body: &str) -> anyhow::Result<Answer> {
        let answer =
            self.client.post(path, body.to_owned(), &[]).await.map_err(|error| self.not_answered(error))?;
        self.success(answer)
    }

    /// Asks for what is at `path` to be taken away; any answer but a success is an error.
    pub(super) async fn delete(&self, path: &str) -> anyhow::Result<Answer> {
        let answer = self.client.delete(path).await.map_err(|error| self.not_answered(error))?;
        self.success(answer)
    }

    /// Sends `body` to `path`, and again if the answer is lost: the request must be
    /// one that can be repeated.
    pub(super) async fn post_repeatable(
        &self,
        path: &str,
        body: &str,
        headers: &[(&'static str, &str)],
    ) -> anyhow::Result<Answer> {
        let mut sent_before = false;
        for sending in 1..=SENDINGS {
            let last = sending == SENDINGS;
            match self.client.post(path, body.to_owned(), headers).await {
                Ok(answer) => return Ok(answer),
                Err(error @ ClientError::Lost { .. }) if !last => {
                    eprintln!("{error}; asking again");
                    sent_before = true;
                }
                // It went away, and may be on its way back.
                Err(ClientError::NotReached { .. }) if sent_before && !last => {}
                Err(error) => return Err(self.not_answered(error)),
            }
            tokio::time::sleep(PAUSE).await;
        }
        unreachable!("the last sending returns")
    }

    /// Sends `body` to `path`, as in [`Gateway::post_repeatable`]; any answer but a
    /// success is an error.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &str,
        headers: &[(&'static str, &str)],
    ) -> anyhow::Result<Answer> {
        let answer = self.post_repeatable(path, body, headers).await?;
        self.success(answer)
    }

    /// The answer, if it is a success.
    pub(super) fn success(&self, answer: Answer) -> anyhow::Result<Answer> {
        if answer.is_success() {
            return Ok(answer);
        }
        if self.json {
            super::say(&answer.body);
        }
        Err(refusal(&answer))
    }

    fn not_answered(&self, error: ClientError) -> anyhow::Error {
        let Advice { look, instead } = self.advice;
        let advice = match (&error, instead) {
            (ClientError::NotReached { .. }, None) => {
                "start one with `tether serve`, or name another address with --url".to_owned()
            }
            (ClientError::NotReached { .. }, Some(instead)) => {
                format!("start one with `tether serve`, name another address with --url, or {instead}")
            }
            (ClientError::Lost { .. } | ClientError::TimedOut { .. }, _) => {
                format!("look with `{look}` at what became of it before you repeat it")
            }
        };
        anyhow!("{error}; {advice}")
    }
}

/// Reads an answer's body.
pub(super) fn read<T: DeserializeOwned>(answer: &Answer) -> anyhow::Result<T> {
    parse(&answer.body)
}

/// The same of a body alone.
pub(super) fn parse<T: DeserializeOwned>(body: &str) -> anyhow::Result<T> {
    serde_json::from_str(body)
        .map_err(|error| anyhow!("the answer is not one of a Tether gateway of this version ({error})"))
}

/// Fresh, for a request that may have to be sent again.
pub(super) fn fresh_key() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random numbers ({error})"))?;
    Ok(Hex(&bytes).to_string())
}

/// A problem as an error for people.
fn refusal(answer: &Answer) -> anyhow::Error {
    let Ok(problem) = serde_json::from_str::<SeenProblem>(&answer.body) else {
        return anyhow!(
            "the answer has status {} and is not one of a Tether gateway; check --url",
            answer.status
        );
    };
    let handler_code = problem.handler_code.as_deref().map(|code| format!(" ({})", shown(code)));
    let mut text =
        format!("{}{}: {}", shown(&problem.code), handler_code.unwrap_or_default(), shown(&problem.detail));
    for violation in &problem.errors {
        let pointer = if violation.pointer.is_empty() { "(the whole)" } else { &violation.pointer };
        text.push_str(&format!("\n  {}: {}", shown(pointer), shown(&violation.message)));
    }
    if let Some(millis) = problem.retry_after_ms {
        text.push_str(&format!("\n  try again in {} s", millis.div_ceil(1000)));
    }
    if answer.status == 401 {
        text.push_str("\n  name the gateway's folder with --data-dir, or give its token with --token");
    }
    anyhow!(text)
}
