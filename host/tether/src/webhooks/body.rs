//! What a notice says, for programs.

use serde::Serialize;
use tether_core::action::{Action, Approval, Preview};
use tether_core::identity::{Actor, Channel};
use tether_core::port::announcements::Announced;

use super::Kind;
use crate::wire::Moment;

/// A notice. It holds neither arguments nor results, nor anybody's key: who may see them
/// finds them at `url`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notice<'a> {
    r#type: &'static str,
    at: Moment,
    action_id: String,
    revision: u64,
    tenant: &'a str,
    tool: &'a str,
    status: &'static str,
    proposed_by: &'a str,
    actor: Option<&'a str>,
    channel: Option<&'static str>,
    attempts_used: u32,
    approvals: Vec<Agreed<'a>>,
    approvals_needed: u32,
    preview: Option<&'a str>,
    url: &'a str,
    chain: Link,
}

#[derive(Debug, Serialize)]
struct Agreed<'a> {
    by: &'a str,
    at: Moment,
}

/// Where the event is in the history of its tenant.
#[derive(Debug, Serialize)]
struct Link {
    place: u64,
    hash: String,
}

impl<'a> Notice<'a> {
    /// What happened, and to what; `action` may have gone on since.
    pub(super) fn new(kind: Kind, announced: &'a Announced, action: &'a Action, url: &'a str) -> Self {
        let Announced { place, hash, revision, event, .. } = announced;
        let proposal = &action.proposal;
        let agreed =
            |Approval { claim, at }: &'a Approval| Agreed { by: claim.by.as_str(), at: (*at).into() };
        Self {
            r#type: kind.as_str(),
            at: event.at.into(),
            action_id: action.id.to_string(),
            revision: revision.0,
            tenant: proposal.tenant.as_str(),
            tool: proposal.tool.as_str(),
            status: event.to.as_str(),
            proposed_by: proposal.proposer.as_str(),
            actor: event.actor.as_ref().map(|Actor { user, .. }| user.as_str()),
            channel: event.actor.as_ref().and_then(|actor| actor.channel).map(Channel::as_str),
            attempts_used: event.attempt,
            approvals: action.state.approvals().iter().map(agreed).collect(),
            approvals_needed: proposal.people,
            preview: match &proposal.preview {
                Preview::Text(text) => Some(text),
                Preview::None | Preview::Unavailable(_) | Preview::Erased => None,
            },
            url,
            chain: Link { place: *place, hash: hash.to_string() },
        }
    }

    /// As it is sent.
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Texts and numbers are always written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
