//! Everybody who may come.

use std::time::Duration;

use tether_core::clock::Clock as _;
use tether_core::digest::Digest;
use tether_core::id::TokenId;
use tether_core::identity::Role::{self, Admin, Agent, Approver};
use tether_core::port::tokens::{Token, Tokens as _};

use super::server::Server;

/// Who asks, always of the tenant `acme`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Without a token.
    Nothing,
    /// With one that never was.
    Invalid,
    /// With one that is over.
    Expired,
    /// With one that is revoked.
    Revoked,
    Agent,
    Approver,
    Admin,
    AgentAndApprover,
    /// With a token that lets in and allows nothing.
    NoRole,
}

impl Who {
    pub(super) const ALL: [Self; 9] = [
        Self::Nothing,
        Self::Invalid,
        Self::Expired,
        Self::Revoked,
        Self::Agent,
        Self::Approver,
        Self::Admin,
        Self::AgentAndApprover,
        Self::NoRole,
    ];

    /// What they may do; none where they are not let in.
    pub(super) fn roles_if_known(self) -> Option<&'static [Role]> {
        Some(match self {
            Self::Nothing | Self::Invalid | Self::Expired | Self::Revoked => return None,
            Self::Agent => &[Agent],
            Self::Approver => &[Approver],
            Self::Admin => &[Admin],
            Self::AgentAndApprover => &[Agent, Approver],
            Self::NoRole => &[],
        })
    }

    pub(super) fn roles(self) -> &'static [Role] {
        self.roles_if_known().unwrap_or_default()
    }

    pub(super) fn user(self) -> &'static str {
        match self {
            Self::Nothing | Self::Invalid => "nobody",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
            Self::AgentAndApprover => "both",
            Self::NoRole => "no-role",
        }
    }
}

/// The id of the token of `who`.
pub(super) fn id_of(who: Who) -> TokenId {
    TokenId::from_random([who as u8; 16])
}

/// A server where all of them have their tokens.
pub(super) struct People {
    pub(super) server: Server,
    tokens: Vec<(Who, String)>,
}

impl People {
    pub(super) async fn new() -> Self {
        let server = Server::start().await;
        let mut tokens = Vec::new();
        for who in Who::ALL {
            let now = server.clock.now();
            let mut token = Token {
                id: id_of(who),
                tenant: "acme".parse().unwrap(),
                user: who.user().parse().unwrap(),
                roles: who.roles().to_vec(),
                created_at: now,
                created_by: "operator".parse().unwrap(),
                expires_at: now.after(Duration::from_secs(3600)),
                revoked_at: None,
                revoked_by: None,
            };
            match who {
                Who::Nothing => continue,
                Who::Invalid => {
                    tokens.push((who, format!("tether_{}", "f".repeat(64))));
                    continue;
                }
                Who::Expired => (token.roles, token.expires_at) = (Role::ALL.to_vec(), now),
                Who::Revoked => {
                    token.roles = Role::ALL.to_vec();
                    (token.revoked_at, token.revoked_by) = (Some(now), Some(token.user.clone()));
                }
                _ => {}
            }
            let secret = format!("tether_{:064}", who as u8);
            server.store.create(token, Digest::of(&secret)).await.unwrap();
            tokens.push((who, secret));
        }
        Self { server, tokens }
    }

    /// The token of `who`.
    pub(super) fn token(&self, who: Who) -> Option<&str> {
        self.tokens.iter().find(|(known, _)| *known == who).map(|(_, token)| token.as_str())
    }

    /// The id of a fresh proposal of somebody.
    pub(super) async fn propose(&self, tenant: &str, user: &str) -> String {
        let token = self.server.token(tenant, user, &[Agent]).await;
        let answer = self.server.send_as(&token, "POST", "/v1/tools/write/calls", &[], "{}").await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.at("/actionId").as_str().unwrap().to_owned()
    }
}
