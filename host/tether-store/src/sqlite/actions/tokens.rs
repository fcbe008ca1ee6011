//! Tokens, beside the actions: the same file, the same writer.

use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::identity::Role;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::tokens::{Token, Tokens};

use super::SqliteActions;
use crate::row::Fault;

/// What [`token`] reads, in this order.
const COLUMNS: &str = "id, tenant, user, roles, created_at, created_by, expires_at, revoked_at, revoked_by";

/// A list has at most so many.
const LISTED: usize = 1_000;

impl Tokens for SqliteActions {
    fn create(&self, token: Token, digest: Digest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |connection| insert(connection, &token, &digest)))
    }

    fn list(&self, tenant: Option<TenantId>) -> BoxFuture<'_, Result<Vec<Token>, StoreError>> {
        Box::pin(self.read(move |connection| list(connection, tenant.as_ref())))
    }

    fn revoke(
        &self,
        tenant: Option<TenantId>,
        id: TokenId,
        by: UserId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(self.writer.write(move |connection| revoke(connection, tenant.as_ref(), id, &by, at)))
    }

    fn find(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(self.look_up(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM tokens WHERE digest = ?");
            Ok(connection.prepare_cached(&sql)?.query_row([digest.as_bytes()], token).optional()?)
        }))
    }

    fn by_id(&self, id: TokenId) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(self.look_up(move |connection| by_id(connection, id)))
    }

    fn any_ever(&self) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.read(|connection| {
            Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM tokens)", [], |row| row.get(0))?)
        }))
    }
}

fn insert(connection: &Connection, token: &Token, digest: &Digest) -> Result<(), Fault> {
    let Token { id, tenant, user, roles, created_at, created_by, expires_at, revoked_at, revoked_by } = token;
    let roles: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
    connection
        .prepare_cached(
            "INSERT INTO tokens (id, digest, tenant, user, roles, created_at, created_by, expires_at,
                 revoked_at, revoked_by)
             VALUES (:id, :digest, :tenant, :user, :roles, :created_at, :created_by, :expires_at,
                 :revoked_at, :revoked_by)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":digest": digest.as_bytes(),
            ":tenant": tenant.as_str(),
            ":user": user.as_str(),
            ":roles": roles.join(" "),
            ":created_at": created_at.as_millis(),
            ":created_by": created_by.as_str(),
            ":expires_at": expires_at.as_millis(),
            ":revoked_at": revoked_at.map(Timestamp::as_millis),
            ":revoked_by": revoked_by.as_ref().map(|user| user.as_str()),
        })?;
    Ok(())
}

fn list(connection: &Connection, tenant: Option<&TenantId>) -> Result<Vec<Token>, Fault> {
    let whose = if tenant.is_some() { "WHERE tenant = ?" } else { "" };
    let sql = format!("SELECT {COLUMNS} FROM tokens {whose} ORDER BY created_at DESC, id LIMIT {LISTED}");
    let mut statement = connection.prepare_cached(&sql)?;
    let parameters = rusqlite::params_from_iter(tenant.map(TenantId::as_str));
    Ok(statement.query_map(parameters, token)?.collect::<Result<_, _>>()?)
}

fn revoke(
    connection: &Connection,
    tenant: Option<&TenantId>,
    id: TokenId,
    by: &UserId,
    at: Timestamp,
) -> Result<Option<Token>, Fault> {
    let found = by_id(connection, id)?;
    let Some(found) = found.filter(|found| tenant.is_none_or(|tenant| *tenant == found.tenant)) else {
        return Ok(None);
    };
    connection
        .prepare_cached(
            "UPDATE tokens SET revoked_at = :at, revoked_by = :by WHERE id = :id AND revoked_at IS NULL",
        )?
        .execute(named_params! {
            ":at": at.as_millis(),
            ":by": by.as_str(),
            ":id": found.id.to_string(),
        })?;
    by_id(connection, id)
}

fn by_id(connection: &Connection, id: TokenId) -> Result<Option<Token>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE id = ?");
    Ok(connection.prepare_cached(&sql)?.query_row([id.to_string()], token).optional()?)
}

/// A token, from a row of [`COLUMNS`].
fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    let roles: String = row.get(3)?;
    let roles: Result<Vec<Role>, _> = roles.split_ascii_whitespace().map(str::parse).collect();
    let revoked_by: Option<String> = row.get(8)?;
    Ok(Token {
        id: parsed(row, 0)?,
        tenant: parsed(row, 1)?,
        user: parsed(row, 2)?,
        roles: roles.map_err(|error| damaged(3, error))?,
        created_at: Timestamp::from_millis(row.get(4)?),
        created_by: parsed(row, 5)?,
        expires_at: Timestamp::from_millis(row.get(6)?),
        revoked_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis),
        revoked_by: revoked_by.map(|user| user.parse().map_err(|error| damaged(8, error))).transpose()?,
    })
}

fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    row.get::<_, String>(column)?.parse().map_err(|error| damaged(column, error))
}

/// The row holds what Tether never wrote: it lets nobody in.
fn damaged(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
