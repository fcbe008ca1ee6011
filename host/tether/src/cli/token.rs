//! `tether token`: who may use a gateway.
//!
//! Over the API of a gateway that runs; where none has the data folder, in the folder
//! itself, so that the first tokens can be made before the first start.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Subcommand;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::identity::Role;
use tether_core::plain::shown_name;
use tether_core::problem::Problem;
use tether_store::SqliteActions;

use super::gateway::{self, Connection};
use super::say;
use crate::clock::SystemClock;
use crate::data_folder::{DataFolder, FolderError};
use crate::identity::operator;
use crate::identity::tokens::{self, Wanted};
use crate::wire::{self, SeenToken, SeenTokens};

/// Say who may use a gateway
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLE)]
pub(super) struct Token {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  tether token create --user ann --role approver
  tether token create --user bot-7 --role agent --tenant acme --expires 30d
  tether token list
  tether token revoke 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";

#[derive(Debug, Subcommand)]
enum Command {
    Create(Create),
    List(List),
    Revoke(Revoke),
}

/// Make a token: it is printed this once
#[derive(Debug, clap::Args)]
#[command(after_help = CREATE_EXAMPLE)]
struct Create {
    /// Whom it lets in
    #[arg(long)]
    user: UserId,

    /// What it may do: agent, approver or admin; can be given again
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<Role>,

    /// Whose user [default: of the tenant of whoever asks]
    #[arg(long)]
    tenant: Option<TenantId>,

    /// How long it lives
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = wire::token_life)]
    expires: Duration,

    #[command(flatten)]
    gateway: Connection,
}

const CREATE_EXAMPLE: &str = "\
Example:
  tether token create --user ann --role approver --expires 30d";

/// List tokens, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tether token list --tenant acme")]
struct List {
    /// Only those of this tenant
    #[arg(long)]
    tenant: Option<TenantId>,

    #[command(flatten)]
    gateway: Connection,
}

/// Revoke a token: from now on it lets nobody in
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tether token revoke 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918")]
struct Revoke {
    /// The token's id, as `tether token list` shows it
    id: TokenId,

    #[command(flatten)]
    gateway: Connection,
}

impl Token {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Create(command) => command.run().await?,
            Command::List(command) => command.run().await?,
            Command::Revoke(command) => command.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let Self { user, roles, tenant, expires: life, gateway } = self;
        let wanted = Wanted { tenant, user, roles, life };
        let json = gateway.json;
        let body = match Folder::of(&gateway, Missing::Made)? {
            Some(folder) => {
                let made = tokens::create(&folder.store, &SystemClock::new(), &operator(), wanted).await;
                let tokens::Made { secret, token } = made.map_err(refused)?;
                serde_json::to_string(&wire::NewToken { token: secret, known: token.into() })?
            }
            None => {
                let gateway = gateway.open_for_tokens()?;
                // Sent once: where the answer is lost there may be a token that nobody
                // has, and a second one would not take it back.
                gateway.post_once("v1/tokens", &wire::token_body(&wanted)).await?.body
            }
        };
        if json {
            say(body);
            return Ok(());
        }
        let made: SeenToken = gateway::parse(&body)?;
        eprintln!("{}", in_words(&made));
        eprintln!("keep it: it is shown this once");
        say(made.token.ok_or_else(|| anyhow!("the gateway's answer holds no token"))?);
        Ok(())
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let Self { tenant, gateway } = self;
        let json = gateway.json;
        let body = match Folder::of(&gateway, Missing::Left)? {
            Some(folder) => {
                let tokens = tokens::list(&folder.store, &operator(), tenant).await.map_err(refused)?;
                let tokens = tokens.into_iter().map(wire::Token::from).collect();
                serde_json::to_string(&wire::TokenList { tokens })?
            }
            None => {
                let query = tenant.map(|tenant| format!("?tenant={}", encoded(tenant.as_str())));
                gateway.open_for_tokens()?.get(&format!("v1/tokens{}", query.unwrap_or_default())).await?.body
            }
        };
        if json {
            say(body);
            return Ok(());
        }
        let SeenTokens { tokens } = gateway::parse(&body)?;
        for token in &tokens {
            say(in_words(token));
        }
        if tokens.is_empty() {
            eprintln!("there is no token besides the host's own");
        }
        Ok(())
    }
}

impl Revoke {
    async fn run(self) -> anyhow::Result<()> {
        let Self { id, gateway } = self;
        let json = gateway.json;
        let body = match Folder::of(&gateway, Missing::Left)? {
            Some(folder) => {
                let revoked = tokens::revoke(&folder.store, &SystemClock::new(), &operator(), id).await;
                let token = revoked.map_err(refused)?.ok_or_else(|| {
                    anyhow!("there is no such token; `tether token list` shows those there are")
                })?;
                serde_json::to_string(&wire::Token::from(token))?
            }
            None => gateway.open_for_tokens()?.delete(&format!("v1/tokens/{id}")).await?.body,
        };
        if json {
            say(body);
            return Ok(());
        }
        say(in_words(&gateway::parse(&body)?));
        Ok(())
    }
}

/// What a data folder that is not there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// Made.
    Made,
    /// Nothing to look into.
    Left,
}

/// A data folder that no gateway has.
struct Folder {
    store: SqliteActions,
    /// Given back last.
    _folder: DataFolder,
}

impl Folder {
    /// The folder that `connection` means; none where a gateway has it, or another
    /// gateway is named.
    fn of(connection: &Connection, missing: Missing) -> anyhow::Result<Option<Self>> {
        match connection.folder() {
            Some(path) if missing == Missing::Made || path.join("actions.db").is_file() => Self::take(path),
            _ => Ok(None),
        }
    }

    fn take(path: &Path) -> anyhow::Result<Option<Self>> {
        let folder = match DataFolder::take(path) {
            Ok(folder) => folder,
            Err(FolderError::Locked { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let file = folder.path().join("actions.db");
        let store = SqliteActions::open(&file);
        let store = store.with_context(|| format!("cannot open {}", file.display()))?;
        Ok(Some(Self { store, _folder: folder }))
    }
}

/// A value as a query holds it.
fn encoded(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(encode).collect()
}

fn refused(problem: Problem) -> anyhow::Error {
    anyhow!("{}", problem.detail)
}

/// One line about a token.
fn in_words(token: &SeenToken) -> String {
    let SeenToken { token_id, tenant, user, roles, expires_at, revoked_at, .. } = token;
    let until = match revoked_at {
        Some(at) => format!("revoked {at}"),
        None => format!("until {expires_at}"),
    };
    let (user, tenant) = (shown_name(user), shown_name(tenant));
    format!("{token_id}  {user} of {tenant}: {}, {until}", roles.join(" "))
}
