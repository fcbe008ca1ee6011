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

    fn of(&self, tenant: TenantId, user: UserId) -> BoxFuture<'_, Result<Vec<Token>, StoreError>> {
        Box::pin(self.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM tokens WHERE tenant = ? AND user = ?");
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_map((tenant.as_str(), user.as_str()), token)?;
            Ok(found.collect::<Result<_, _>>()?)
        }))
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

    fn any_valid(&self, now: Timestamp) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.read(move |connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM tokens WHERE revoked_at IS NULL AND expires_at > ?)";
            Ok(connection.query_row(sql, [now.as_millis()], |row| row.get(0))?)
        }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_folder::Folder;

    fn store(folder: &Folder) -> SqliteActions {
        SqliteActions::open(folder.path("actions.db")).unwrap()
    }

    fn token(number: u8, tenant: &str) -> Token {
        Token {
            id: TokenId::from_random([number; 16]),
            tenant: tenant.parse().unwrap(),
            user: "ann".parse().unwrap(),
            roles: vec![Role::Agent, Role::Approver],
            created_at: Timestamp::from_millis(number.into()),
            created_by: "root".parse().unwrap(),
            expires_at: Timestamp::from_millis(1_000),
            revoked_at: None,
            revoked_by: None,
        }
    }

    fn digest(number: u8) -> Digest {
        Digest::of([number])
    }

    #[tokio::test]
    async fn a_token_is_found_as_it_was_made_also_after_a_restart() {
        let folder = Folder::new();
        let roleless = Token { roles: Vec::new(), ..token(2, "acme") };
        {
            let store = store(&folder);
            assert!(!store.any_ever().await.unwrap());
            store.create(token(1, "acme"), digest(1)).await.unwrap();
            store.create(roleless.clone(), digest(2)).await.unwrap();
        }
        let store = store(&folder);
        assert!(store.any_ever().await.unwrap());
        assert_eq!(store.find(digest(1)).await.unwrap(), Some(token(1, "acme")));
        assert_eq!(store.by_id(token(1, "acme").id).await.unwrap(), Some(token(1, "acme")));
        assert_eq!(store.find(digest(2)).await.unwrap(), Some(roleless));
        assert_eq!(store.find(digest(3)).await.unwrap(), None);
        assert_eq!(store.by_id(token(3, "acme").id).await.unwrap(), None);
        // One digest is one token.
        assert!(store.create(token(4, "acme"), digest(1)).await.is_err());
    }

    #[tokio::test]
    async fn tokens_are_listed_newest_first_for_a_tenant_or_for_all() {
        let folder = Folder::new();
        let store = store(&folder);
        let all = [token(1, "acme"), token(2, "globex"), token(3, "acme")];
        for (number, token) in (1..).zip(&all) {
            store.create(token.clone(), digest(number)).await.unwrap();
        }
        let [first, second, third] = all;
        let list = async |tenant: Option<&str>| {
            store.list(tenant.map(|tenant| tenant.parse().unwrap())).await.unwrap()
        };
        assert_eq!(list(None).await, [third.clone(), second.clone(), first.clone()]);
        assert_eq!(list(Some("acme")).await, [third, first]);
        assert_eq!(list(Some("globex")).await, [second]);
        assert_eq!(list(Some("nobody")).await, []);
    }

    #[tokio::test]
    async fn a_token_is_revoked_once_and_by_its_own_tenant() {
        let folder = Folder::new();
        let store = store(&folder);
        let token = token(1, "acme");
        store.create(token.clone(), digest(1)).await.unwrap();
        let revoke = async |tenant: Option<&str>, by: &str, at| {
            let tenant = tenant.map(|tenant| tenant.parse().unwrap());
            store.revoke(tenant, token.id, by.parse().unwrap(), Timestamp::from_millis(at)).await.unwrap()
        };
        assert_eq!(revoke(Some("globex"), "eve", 5).await, None);
        assert_eq!(store.find(digest(1)).await.unwrap(), Some(token.clone()));
        let revoked = Token {
            revoked_at: Some(Timestamp::from_millis(6)),
            revoked_by: Some("root".parse().unwrap()),
            ..token.clone()
        };
        assert_eq!(revoke(Some("acme"), "root", 6).await, Some(revoked.clone()));
        assert_eq!(revoke(None, "other", 7).await, Some(revoked.clone()));
        assert_eq!(store.find(digest(1)).await.unwrap(), Some(revoked));
    }

    #[tokio::test]
    async fn a_token_is_valid_until_it_is_revoked_or_over() {
        let folder = Folder::new();
        let store = store(&folder);
        let valid = async |now| store.any_valid(Timestamp::from_millis(now)).await.unwrap();
        assert!(!valid(0).await);
        let [first, second] = [token(1, "acme"), token(2, "globex")];
        store.create(first.clone(), digest(1)).await.unwrap();
        store.create(second.clone(), digest(2)).await.unwrap();
        assert!(valid(999).await && !valid(1_000).await);
        let revoke = async |id| {
            store.revoke(None, id, "root".parse().unwrap(), Timestamp::from_millis(5)).await.unwrap()
        };
        assert!(revoke(first.id).await.is_some());
        assert!(valid(999).await, "one is left");
        assert!(revoke(second.id).await.is_some());
        assert!(!valid(999).await && store.any_ever().await.unwrap());
    }

    #[tokio::test]
    async fn a_user_has_its_own_tokens_whether_they_are_valid_or_not() {
        let folder = Folder::new();
        let store = store(&folder);
        let others = Token { user: "bob".parse().unwrap(), ..token(3, "acme") };
        let revoked = Token {
            revoked_at: Some(Timestamp::from_millis(7)),
            revoked_by: Some("root".parse().unwrap()),
            ..token(2, "acme")
        };
        let all = [token(1, "acme"), revoked, others, token(4, "umbrella")];
        for (number, token) in (0..).zip(&all) {
            store.create(token.clone(), digest(number)).await.unwrap();
        }
        let mut found = store.of("acme".parse().unwrap(), "ann".parse().unwrap()).await.unwrap();
        found.sort_by_key(|token| token.created_at);
        assert_eq!(found, all[..2]);
    }

    #[tokio::test]
    async fn a_row_that_somebody_changed_lets_nobody_in() {
        let folder = Folder::new();
        let store = store(&folder);
        store.create(token(1, "acme"), digest(1)).await.unwrap();
        let file = Connection::open(folder.path("actions.db")).unwrap();
        for (column, value) in [("roles", "agent owner"), ("user", ""), ("revoked_by", " ")] {
            let before: Option<String> =
                file.query_row(&format!("SELECT {column} FROM tokens"), [], |row| row.get(0)).unwrap();
            let set = format!("UPDATE tokens SET {column} = ?");
            file.execute(&set, [value]).unwrap();
            assert!(store.find(digest(1)).await.is_err(), "{column}");
            file.execute(&set, [before]).unwrap();
        }
        assert!(store.find(digest(1)).await.unwrap().is_some());
    }
}
