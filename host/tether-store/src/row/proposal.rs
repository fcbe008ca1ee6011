//! The columns of what never changes of an action.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::action::{Arguments, Preview, Proposal};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::IdempotencyKey;
use tether_core::json::JsonText;

use super::handler::{self, HandlerColumns};
use super::{Fault, parsed};

/// The columns that [`proposal_digest`] covers.
const DIGESTED: &str = "tenant, proposer, proposal_key, tool, arguments, arguments_digest, handler, handler_name, \
     handler_digest, grants, preview_kind, preview, preview_digest, created_at, max_attempts, people";

/// What a proposal leaves in its row beside its handler.
pub(super) struct ProposalColumns {
    tenant: String,
    proposer: String,
    key: Option<String>,
    tool: String,
    pub(super) arguments: String,
    arguments_digest: Option<String>,
    pub(super) handler: HandlerColumns,
    pub(super) preview_kind: String,
    pub(super) preview: Option<String>,
    preview_digest: Option<String>,
    created_at: i64,
    max_attempts: u32,
    people: u32,
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
            preview_kind: preview_kind.to_owned(),
            preview,
            preview_digest: None,
            created_at: proposal.created_at.as_millis(),
            max_attempts: proposal.max_attempts,
            people: proposal.people,
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            tenant: row.get("tenant")?,
            proposer: row.get("proposer")?,
            key: row.get("proposal_key")?,
            tool: row.get("tool")?,
            arguments: row.get("arguments")?,
            arguments_digest: row.get("arguments_digest")?,
            handler: HandlerColumns::read(row)?,
            preview_kind: row.get("preview_kind")?,
            preview: row.get("preview")?,
            preview_digest: row.get("preview_digest")?,
            created_at: row.get("created_at")?,
            max_attempts: row.get("max_attempts")?,
            people: row.get("people")?,
        })
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
        self.preview_digest.clone().unwrap_or_else(|| {
            let text = self.preview.as_deref().unwrap_or_default();
            Digest::of(format!("{}\n{text}", self.preview_kind)).to_string()
        })
    }

    /// The digest of everything here; the same whether texts are kept or erased. No name
    /// holds a line break, and what may is there as its digest.
    pub(super) fn digest(&self) -> Digest {
        let Self { tenant, proposer, tool, created_at, max_attempts, people, .. } = self;
        let HandlerColumns { kind, name, digest, grants } = &self.handler;
        let (name, grants) = (Digest::of(name), Digest::of(grants));
        let key = self.key.as_deref().unwrap_or_default();
        let arguments = match &self.arguments_digest {
            None => Digest::of(&self.arguments).to_string(),
            // Of the text; their fingerprint is in that of the row.
            Some(left) => left.split(' ').next_back().unwrap_or_default().to_owned(),
        };
        let preview = self.preview_left();
        Digest::of(format!(
            "{tenant}\n{proposer}\n{key}\n{tool}\n{arguments}\n{kind}\n{name}\n{digest}\n{grants}\n{preview}\n\
             {created_at}\n{max_attempts}\n{people}"
        ))
    }
}

/// The word for a preview that was erased.
const ERASED: &str = "erased";

/// What was proposed, and whether that is what the row's fingerprint is of.
pub(super) fn read(row: &Row<'_>) -> anyhow::Result<Proposal> {
    let erased: Option<String> = row.get("arguments_digest")?;
    let proposal = Proposal {
        tenant: parsed(row, "tenant")?,
        proposer: parsed(row, "proposer")?,
        tool: parsed(row, "tool")?,
        arguments: match erased {
            None => Arguments::Kept(JsonText::parse(row.get::<_, String>("arguments")?)?),
            Some(left) => Arguments::Erased(left.split(' ').next().unwrap_or_default().parse()?),
        },
        binding: HandlerColumns::read(row)?.binding()?,
        preview: preview(row)?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        max_attempts: row.get("max_attempts")?,
        people: row.get("people")?,
    };
    let stored: Digest = parsed(row, "fingerprint")?;
    anyhow::ensure!(stored == fingerprint(&proposal), "its fingerprint does not fit any more");
    Ok(proposal)
}

fn preview(row: &Row<'_>) -> anyhow::Result<Preview> {
    let text = row.get::<_, Option<String>>("preview")?;
    match (row.get::<_, String>("preview_kind")?.as_str(), text) {
        ("text", Some(text)) => Ok(Preview::Text(text)),
        ("none", None) => Ok(Preview::None),
        ("unavailable", Some(why)) => Ok(Preview::Unavailable(why)),
        (ERASED, None) => Ok(Preview::Erased),
        (kind, _) => anyhow::bail!("its preview is {kind:?}"),
    }
}

/// The digest of what was shown and will run. No name holds a line break, and the
/// handler, which may, comes last: two proposals never give one text.
pub(super) fn fingerprint(proposal: &Proposal) -> Digest {
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
        .prepare_cached(&format!("SELECT {DIGESTED} FROM actions WHERE number = ?"))?
        .query_row([number], ProposalColumns::read)
        .optional()
}
