//! Tokens that people make for one another: kept as digests, shown once.

use std::ops::RangeInclusive;
use std::time::Duration;

use tether_core::clock::{Clock, Timestamp};
use tether_core::digest::Digest;
use tether_core::hex::Hex;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::identity::{Caller, Role};
use tether_core::port::tokens::{Token, Tokens};
use tether_core::problem::{Code, Problem};
use tether_gateway::store_problem;

/// What every token begins with, so that people, and programs that look for secrets where
/// there should be none, know it for one.
pub(super) const PREFIX: &str = "tether_";

/// A token lives so long.
pub const LIFE: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(3650 * DAY);

/// A token lives so long where nobody says otherwise.
pub const USUAL_LIFE: Duration = Duration::from_secs(90 * DAY);

const DAY: u64 = 24 * 3600;

/// What somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Whose user; by default of the tenant of whoever asks.
    pub tenant: Option<TenantId>,
    /// Whom it lets in.
    pub user: UserId,
    /// What it may do; at least one.
    pub roles: Vec<Role>,
    /// How long it lives, within [`LIFE`].
    pub life: Duration,
}

/// A token that was just made.
pub struct Made {
    /// The token itself: nobody can ever say it again.
    pub secret: String,
    /// What is kept of it.
    pub token: Token,
}

/// Makes a token.
///
/// # Errors
///
/// 403 where it is for another tenant than that of `by`, whether there is such a tenant
/// or not.
pub async fn create(
    tokens: &dyn Tokens,
    clock: &dyn Clock,
    by: &Caller,
    wanted: Wanted,
) -> Result<Made, Problem> {
    let Wanted { tenant, user, roles, life } = wanted;
    let tenant = within(by, tenant)?.unwrap_or_else(|| by.tenant.clone());
    // Each role once, in the order in which they are told.
    let roles: Vec<_> = Role::ALL.into_iter().filter(|role| roles.contains(role)).collect();
    if roles.is_empty() {
        return Err(Problem::malformed("a token needs at least one of the roles agent, approver and admin"));
    }
    let now = clock.now();
    let token = Token {
        id: TokenId::from_random(random()?),
        tenant,
        user,
        roles,
        created_at: now,
        created_by: by.user.clone(),
        expires_at: now.after(life),
        revoked_at: None,
        revoked_by: None,
    };
    let secret = format!("{PREFIX}{}", Hex(&random::<32>()?));
    tokens.create(token.clone(), Digest::of(&secret)).await.map_err(store_problem)?;
    tracing::info!(token = %token.id, "a token was made");
    Ok(Made { secret, token })
}

/// The tokens of a tenant, by default those that `by` may see, newest first.
pub async fn list(tokens: &dyn Tokens, by: &Caller, tenant: Option<TenantId>) -> Result<Vec<Token>, Problem> {
    tokens.list(within(by, tenant)?).await.map_err(store_problem)
}

/// Revokes a token: from now on it lets nobody in. None where there is no such token, or
/// it is another tenant's.
pub async fn revoke(
    tokens: &dyn Tokens,
    clock: &dyn Clock,
    by: &Caller,
    id: TokenId,
) -> Result<Option<Token>, Problem> {
    let revoked = tokens.revoke(within(by, None)?, id, by.user.clone(), clock.now()).await;
    revoked.map_err(store_problem).inspect(|token| {
        if token.is_some() {
            tracing::info!(token = %id, "a token is revoked");
        }
    })
}

/// Whether `token` lets anybody in at `now`.
pub(super) fn is_valid(token: &Token, now: Timestamp) -> bool {
    token.revoked_at.is_none() && now < token.expires_at
}

/// The tenant that `by` means: its own, unless it is the operator, whose are all.
fn within(by: &Caller, tenant: Option<TenantId>) -> Result<Option<TenantId>, Problem> {
    match tenant {
        tenant if by.operator => Ok(tenant),
        Some(other) if other != by.tenant => {
            Err(Problem::new(Code::Forbidden, "you manage the tokens of your own tenant only"))
        }
        _ => Ok(Some(by.tenant.clone())),
    }
}

fn random<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system gives no random numbers");
        Problem::new(Code::Internal, "the host has no random numbers; no token was made")
    })?;
    Ok(bytes)
}
