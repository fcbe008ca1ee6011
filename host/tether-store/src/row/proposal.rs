//! The columns of what never changes of an action.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::action::{Arguments, Preview, Proposal};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::grant::Binding;
use tether_core::id::{IdempotencyKey, TenantId};
use tether_core::json::JsonText;

use super::handler::{self, HandlerColumns};
use super::{Columns, Fault};

/// What [`ProposalColumns::read`] reads, in this order.
pub(super) const COLUMNS: &str = "tenant, proposer, proposal_key, tool, arguments, arguments_digest, handler, handler_name, \
     handler_digest, grants, fingerprint, preview_kind, preview, preview_digest, created_at, max_attempts, people";

/// What a proposal leaves in its row beside its handler.
pub(super) struct ProposalColumns {
    tenant: String,
    proposer: String,
    key: Option<String>,
    tool: String,
    pub(super) arguments: String,
    arguments_digest: Option<String>,
    pub(super) handler: HandlerColumns,
    pub(super) fingerprint: String,
    pub(super) preview_kind: String,
    pub(super) preview: Option<String>,
    preview_digest: Option<String>,
    created_at: i64,
    // As they may be there: what is no count is found, too.
    max_attempts: i64,
    people: i64,
}

impl ProposalColumns {
    /// Those of a new action.
    pub(super) fn new(proposal: &Proposal, key: Option<&IdempotencyKey>) -> Self {
        let (preview_kind, preview) = match &proposal.preview {
            Preview::Text(text) => ("text", Some(text.clone())),
            Preview::None => ("none", None),
            Preview::Unavailable(why) => ("unavailable", Some(why.clone())),
            Preview::Erased => (ERASED, None),
        };
        let (arguments, arguments_digest) = match &proposal.arguments {
            Arguments::Kept(text) => (text.as_str().to_owned(), None),
            Arguments::Erased(fingerprint) => (String::new(), Some(fingerprint.to_string())),
        };
        Self {
            tenant: proposal.tenant.to_string(),
            proposer: proposal.proposer.to_string(),
            key: key.map(|key| key.to_string()),
            tool: proposal.tool.to_string(),
            arguments,
            arguments_digest,
            handler: HandlerColumns::from(&proposal.binding),
            fingerprint: fingerprint(proposal).to_string(),
            preview_kind: preview_kind.to_owned(),
            preview,
            preview_digest: None,
            created_at: proposal.created_at.as_millis(),
            max_attempts: proposal.max_attempts.into(),
            people: proposal.people.into(),
        }
    }

    /// Those of a row.
    pub(super) fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            tenant: columns.next()?,
            proposer: columns.next()?,
            key: columns.next()?,
            tool: columns.next()?,
            arguments: columns.next()?,
            arguments_digest: columns.next()?,
            handler: HandlerColumns::read(columns)?,
            fingerprint: columns.next()?,
            preview_kind: columns.next()?,
            preview: columns.next()?,
            preview_digest: columns.next()?,
            created_at: columns.next()?,
            max_attempts: columns.next()?,
            people: columns.next()?,
        })
    }

    /// What was proposed, if that is what the fingerprint is of.
    pub(super) fn proposal(self) -> anyhow::Result<Proposal> {
        let proposal = Proposal {
            tenant: self.tenant.parse()?,
            proposer: self.proposer.parse()?,
            tool: self.tool.parse()?,
            arguments: match self.arguments_digest {
                None => Arguments::Kept(JsonText::parse(self.arguments)?),
                Some(left) => Arguments::Erased(left.split(' ').next().unwrap_or_default().parse()?),
            },
            binding: self.handler.binding()?,
            preview: match (self.preview_kind.as_str(), self.preview) {
                ("text", Some(text)) => Preview::Text(text),
                ("none", None) => Preview::None,
                ("unavailable", Some(why)) => Preview::Unavailable(why),
                (ERASED, None) => Preview::Erased,
                (kind, _) => anyhow::bail!("its preview is {kind:?}"),
            },
            created_at: Timestamp::from_millis(self.created_at),
            max_attempts: self.max_attempts.try_into()?,
            people: self.people.try_into()?,
        };
        let fits = self.fingerprint == fingerprint(&proposal).to_string();
        anyhow::ensure!(fits, "its fingerprint does not fit any more");
        Ok(proposal)
    }

    /// What stays of the arguments when they are erased: their fingerprint, and the
    /// digest of their text.
    fn arguments_left(&self) -> String {
        self.arguments_digest.clone().unwrap_or_else(|| {
            let text = Digest::of(&self.arguments);
            // What is damaged is erased as well, though it has no fingerprint.
            let fingerprint = JsonText::parse(self.arguments.as_str()).map(|text| text.fingerprint());
            format!("{} {text}", fingerprint.unwrap_or(text))
        })
    }

    /// The same of the preview.
    fn preview_left(&self) -> String {
        let text = self.preview.as_deref().unwrap_or_default();
        let of_text = || Digest::of(format!("{}\n{text}", self.preview_kind)).to_string();
        let erased = self.preview_digest.clone().filter(|_| self.preview_kind == ERASED);
        erased.unwrap_or_else(of_text)
    }

    /// The digest of everything here; the same whether texts are kept or erased. A text
    /// that is there beside what an erasure leaves of it counts as well: nobody writes
    /// both. No name holds a line break, and what may is there as its digest.
    pub(super) fn digest(&self) -> Digest {
        let Self { tenant, proposer, tool, created_at, max_attempts, people, .. } = self;
        let HandlerColumns { kind, name, digest, grants } = &self.handler;
        let (name, grants) = (Digest::of(name), Digest::of(grants));
        let key = self.key.as_deref().unwrap_or_default();
        let arguments = match &self.arguments_digest {
            None => Digest::of(&self.arguments).to_string(),
            Some(left) if self.arguments.is_empty() => {
                left.split(' ').next_back().unwrap_or_default().to_owned()
            }
            Some(left) => format!("{} beside {left}", Digest::of(&self.arguments)),
        };
        let preview = match (self.preview_kind == ERASED, &self.preview, &self.preview_digest) {
            (true, None, _) | (false, _, None) => self.preview_left(),
            _ => format!("{} beside what was erased", self.preview_left()),
        };
        let fingerprint = &self.fingerprint;
        Digest::of(format!(
            "{tenant}\n{proposer}\n{key}\n{tool}\n{arguments}\n{fingerprint}\n{kind}\n{name}\n{digest}\n\
             {grants}\n{preview}\n{created_at}\n{max_attempts}\n{people}"
        ))
    }
}

/// The word for a preview that was erased.
const ERASED: &str = "erased";

/// The digest of what was shown and will run. No name holds a line break, and the
/// handler, which may, comes last: two proposals never give one text.
fn fingerprint(proposal: &Proposal) -> Digest {
    let Proposal { tenant, proposer, tool, arguments, binding, .. } = proposal;
    let (arguments, handler) = (arguments.fingerprint(), handler::text(binding));
    Digest::of(format!("{tenant}\n{proposer}\n{tool}\n{arguments}\n{handler}"))
}

/// The digest of what never changes of the action in row `number`, as the row is.
pub(crate) fn proposal_digest(connection: &Connection, number: i64) -> Result<Digest, Fault> {
    let columns = columns(connection, number)?;
    // Without a row there is nothing that could fit.
    Ok(columns.map_or_else(|| Digest::of(""), |columns| columns.digest()))
}

/// Whose action `id` is, and what it is bound to, as its row says; none where there is none.
pub(crate) fn bound(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<anyhow::Result<(TenantId, Binding)>>> {
    let read = |row: &Row<'_>| {
        let mut columns = Columns::from(row, 0);
        Ok((columns.next::<String>()?.parse()?, HandlerColumns::read(&mut columns)?.binding()?))
    };
    connection
        .prepare_cached(
            "SELECT tenant, handler, handler_name, handler_digest, grants FROM actions WHERE id = ?",
        )?
        .query_row([id], |row| Ok(read(row)))
        .optional()
}

/// Erases arguments and preview in row `number`; their digests stay.
pub(crate) fn erase_arguments(connection: &Connection, number: i64) -> Result<(), Fault> {
    let Some(columns) = columns(connection, number)? else { return Ok(()) };
    connection
        .prepare_cached(
            "UPDATE actions SET arguments = '', arguments_digest = :arguments, preview_kind = :erased,
                 preview = NULL, preview_digest = :preview, revision = revision + 1
             WHERE number = :number",
        )?
        .execute(named_params! {
            ":number": number,
            ":arguments": columns.arguments_left(),
            ":preview": columns.preview_left(),
            ":erased": ERASED,
        })?;
    Ok(())
}

fn columns(connection: &Connection, number: i64) -> rusqlite::Result<Option<ProposalColumns>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM actions WHERE number = ?"))?
        .query_row([number], |row| ProposalColumns::read(&mut Columns::from(row, 0)))
        .optional()
}
