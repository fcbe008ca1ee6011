//! Tokens on the wire.

use serde::{Deserialize, Serialize};
use tether_core::identity::Role;
use tether_core::port::tokens;
use utoipa::ToSchema;

use super::request::{InvalidBody, read};
use super::time::Moment;
use crate::config::duration;
use crate::identity::tokens::{LIFE, USUAL_LIFE, Wanted};

/// The body of `POST /v1/tokens`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenRequest {
    /// Whom it lets in.
    #[schema(min_length = 1, max_length = 128)]
    user: String,
    /// What it may do.
    #[schema(min_items = 1)]
    roles: Vec<TokenRole>,
    /// How long it lives, such as `90d`, which is the default: from `1m` to `3650d`.
    expires_after: Option<String>,
    /// Whose user; by default of the own tenant.
    #[schema(min_length = 1, max_length = 128)]
    tenant: Option<String>,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenRole {
    /// List tools, run reads, propose writes, see its own actions.
    Agent,
    /// See the tenant's actions, confirm, decline.
    Approver,
    /// See the tenant's actions, manage its tokens.
    Admin,
}

impl From<Role> for TokenRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Agent => Self::Agent,
            Role::Approver => Self::Approver,
            Role::Admin => Self::Admin,
        }
    }
}

impl From<TokenRole> for Role {
    fn from(role: TokenRole) -> Self {
        match role {
            TokenRole::Agent => Self::Agent,
            TokenRole::Approver => Self::Approver,
            TokenRole::Admin => Self::Admin,
        }
    }
}

impl TokenRequest {
    /// What a body asks for.
    pub fn parse(body: &str) -> Result<Wanted, InvalidBody> {
        let Self { user, roles, expires_after, tenant } = read(body)?;
        let wrong = |name: &str, why: &dyn std::fmt::Display| InvalidBody::Shape(format!("{name}: {why}"));
        let life = match expires_after {
            None => USUAL_LIFE,
            Some(text) => life(&text).map_err(|why| wrong("expiresAfter", &why))?,
        };
        Ok(Wanted {
            tenant: tenant.map(|name| name.parse()).transpose().map_err(|why| wrong("tenant", &why))?,
            user: user.parse().map_err(|why| wrong("user", &why))?,
            roles: roles.into_iter().map(Role::from).collect(),
            life,
        })
    }
}

/// How long a token lives, as people write it.
pub fn life(text: &str) -> Result<std::time::Duration, String> {
    duration::parse(text).filter(|life| LIFE.contains(life)).ok_or_else(|| {
        let [shortest, longest] = [LIFE.start(), LIFE.end()].map(|life| duration::write(*life));
        format!("it must be a time from {shortest} to {longest}, such as \"12h\" or \"90d\"")
    })
}

/// The body that asks for `wanted`, for our own client.
pub fn token_body(wanted: &Wanted) -> String {
    let roles: Vec<_> = wanted.roles.iter().map(|role| role.as_str()).collect();
    let mut body = serde_json::json!({
        "user": wanted.user.as_str(),
        "roles": roles,
        "expiresAfter": duration::write(wanted.life),
    });
    if let Some(tenant) = &wanted.tenant {
        body["tenant"] = tenant.as_str().into();
    }
    body.to_string()
}

/// What is known of a token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Its name, which opens nothing.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub token_id: String,
    /// Whose user it lets in.
    pub tenant: String,
    /// Whom.
    pub user: String,
    /// What it may do.
    pub roles: Vec<TokenRole>,
    /// When it was made.
    pub created_at: Moment,
    /// By whom.
    pub created_by: String,
    /// From when on it lets nobody in.
    pub expires_at: Moment,
    /// When it was revoked; null where it was not.
    #[schema(required)]
    pub revoked_at: Option<Moment>,
    /// By whom it was revoked.
    #[schema(required)]
    pub revoked_by: Option<String>,
}

/// A token that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewToken {
    /// The token itself. Nobody can ever say it again: keep it.
    pub token: String,
    /// What is known of it.
    #[serde(flatten)]
    pub known: Token,
}

/// Tokens, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenList {
    /// At most 1,000.
    pub tokens: Vec<Token>,
}

impl From<tokens::Token> for Token {
    fn from(token: tokens::Token) -> Self {
        Self {
            token_id: token.id.to_string(),
            tenant: token.tenant.to_string(),
            user: token.user.to_string(),
            roles: token.roles.into_iter().map(TokenRole::from).collect(),
            created_at: token.created_at.into(),
            created_by: token.created_by.to_string(),
            expires_at: token.expires_at.into(),
            revoked_at: token.revoked_at.map(Moment::from),
            revoked_by: token.revoked_by.map(|user| user.to_string()),
        }
    }
}

/// A token, as our own client sees it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenToken {
    /// The token itself, where it was just made.
    pub token: Option<String>,
    /// Its name.
    pub token_id: String,
    /// Whose user it lets in.
    pub tenant: String,
    /// Whom.
    pub user: String,
    /// What it may do.
    pub roles: Vec<String>,
    /// Until when.
    pub expires_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A list of them.
#[derive(Debug, Deserialize)]
pub struct SeenTokens {
    /// The tokens.
    pub tokens: Vec<SeenToken>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_asked_for_is_read_as_it_was_written() {
        let wanted = Wanted {
            tenant: Some("acme".parse().unwrap()),
            user: "ann".parse().unwrap(),
            roles: vec![Role::Agent, Role::Approver],
            life: Duration::from_secs(3600),
        };
        assert_eq!(TokenRequest::parse(&token_body(&wanted)).unwrap(), wanted);
        let short = TokenRequest::parse(r#"{"user":"ann","roles":["admin"]}"#).unwrap();
        assert_eq!((short.tenant, short.life), (None, USUAL_LIFE));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |body: &str, part: &str| {
            let error = TokenRequest::parse(body).unwrap_err().to_string();
            assert!(error.contains(part), "{body}: {error}");
        };
        check("", "missing field `user`");
        check(r#"{"user":"ann"}"#, "missing field `roles`");
        check(r#"{"user":"","roles":[]}"#, "user: ");
        check(r#"{"user":"a","roles":["boss"]}"#, "unknown variant `boss`, expected one of `agent`");
        check(r#"{"user":"a","roles":[],"tenant":" "}"#, "tenant: ");
        check(r#"{"user":"a","roles":[],"role":"admin"}"#, "unknown field `role`");
        for life in ["", "1s", "3651d", "1y", "-1d", "never"] {
            check(&format!(r#"{{"user":"a","roles":[],"expiresAfter":"{life}"}}"#), "from 1m to 3650d");
        }
    }
}
