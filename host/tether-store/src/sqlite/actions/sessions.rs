//! The sessions of browsers. A row is found by the digest of its cookie, which itself is
//! nowhere.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{TenantId, UserId};
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::sessions::{Credential, Session, Sessions};

use super::SqliteActions;
use crate::row::Fault;

impl Sessions for SqliteActions {
    fn open(&self, digest: Digest, session: Session) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |connection| insert(connection, &digest, &session)))
    }

    fn find(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Session>, StoreError>> {
        Box::pin(self.look_up(move |connection| find(connection, &digest)))
    }

    fn of(&self, tenant: TenantId, user: UserId) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>> {
        Box::pin(self.read(move |connection| of(connection, &tenant, &user)))
    }

    fn close(&self, digest: Digest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM sessions WHERE digest = ?")?
                .execute((digest.as_bytes(),))?;
            Ok(())
        }))
    }

    fn prune(&self, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM sessions WHERE expires_at <= ?")?
                .execute((now.as_millis(),))?;
            Ok(())
        }))
    }
}

fn insert(connection: &Connection, digest: &Digest, session: &Session) -> Result<(), Fault> {
    let (kind, credential) = match &session.credential {
        Credential::Host(token) => ("host", token.to_string()),
        Credential::Token(id) => ("token", id.to_string()),
        Credential::Provider(issuer) => ("provider", issuer.clone()),
    };
    let roles: Vec<_> = session.roles.iter().map(|role| role.as_str()).collect();
    connection
        .prepare_cached(
            "INSERT INTO sessions (digest, tenant, user, roles, credential_kind, credential, created_at,
                 expires_at)
             VALUES (:digest, :tenant, :user, :roles, :kind, :credential, :created_at, :expires_at)",
        )?
        .execute(named_params! {
            ":digest": digest.as_bytes(),
            ":tenant": session.tenant.as_str(),
            ":user": session.user.as_str(),
            ":roles": roles.join(" "),
            ":kind": kind,
            ":credential": credential,
            ":created_at": session.created_at.as_millis(),
            ":expires_at": session.expires_at.as_millis(),
        })?;
    Ok(())
}

fn find(connection: &Connection, digest: &Digest) -> Result<Option<Session>, Fault> {
    let found = connection
        .prepare_cached(
            "SELECT tenant, user, roles, credential_kind, credential, created_at, expires_at
             FROM sessions WHERE digest = ?",
        )?
        .query_row((digest.as_bytes(),), |row| Ok(read(row)))
        .optional()?;
    found
        .map(|session| {
            // The digest of a cookie opens nothing, and names the row.
            session.map_err(|error| Fault::Unreadable(format!("session {digest} was changed: {error:#}")))
        })
        .transpose()
}

/// It looks at all rows: nobody signs in often enough for an index that every session keeps up.
fn of(connection: &Connection, tenant: &TenantId, user: &UserId) -> Result<Vec<Digest>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT digest FROM sessions WHERE tenant = ? AND user = ? ORDER BY created_at")?;
    let rows =
        statement.query_map((tenant.as_str(), user.as_str()), |row| row.get(0).map(Digest::from_bytes))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> anyhow::Result<Session> {
    let text = |column: &str| row.get::<_, String>(column);
    let credential = text("credential")?;
    Ok(Session {
        tenant: text("tenant")?.parse()?,
        user: text("user")?.parse()?,
        roles: text("roles")?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?,
        credential: match text("credential_kind")?.as_str() {
            "host" => Credential::Host(credential.parse()?),
            "token" => Credential::Token(credential.parse()?),
            "provider" => Credential::Provider(credential),
            kind => anyhow::bail!("its credential is of kind {kind:?}"),
        },
        created_at: Timestamp::from_millis(row.get("created_at")?),
        expires_at: Timestamp::from_millis(row.get("expires_at")?),
    })
}

#[cfg(test)]
mod tests {
    use tether_core::identity::Role;

    use super::*;
    use crate::sqlite::test_folder::Folder;

    fn session(credential: Credential, expires_at: i64) -> Session {
        Session {
            tenant: "acme".parse().unwrap(),
            user: "ann".parse().unwrap(),
            roles: vec![Role::Approver, Role::Admin],
            credential,
            created_at: Timestamp::from_millis(5),
            expires_at: Timestamp::from_millis(expires_at),
        }
    }

    #[tokio::test]
    async fn a_session_is_found_as_it_was_opened_until_it_is_closed() {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("actions.db")).unwrap();
        let credentials = [
            Credential::Host(Digest::of("token")),
            Credential::Token("9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap()),
            Credential::Provider("https://id.example.com".into()),
        ];
        for (number, credential) in credentials.into_iter().enumerate() {
            let (digest, session) = (Digest::of(number.to_string()), session(credential, 10));
            assert_eq!(store.find(digest).await.unwrap(), None);
            store.open(digest, session.clone()).await.unwrap();
            assert_eq!(store.find(digest).await.unwrap(), Some(session));
        }
        store.close(Digest::of("1")).await.unwrap();
        assert_eq!(store.find(Digest::of("1")).await.unwrap(), None);
        assert!(store.find(Digest::of("2")).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_session_that_allows_nothing_is_one_as_well() {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("actions.db")).unwrap();
        let session = Session { roles: vec![], ..session(Credential::Host(Digest::of("token")), 10) };
        store.open(Digest::of("cookie"), session.clone()).await.unwrap();
        assert_eq!(store.find(Digest::of("cookie")).await.unwrap(), Some(session));
    }

    #[tokio::test]
    async fn the_sessions_of_a_user_come_in_the_order_in_which_they_were_opened() {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("actions.db")).unwrap();
        for (name, tenant, user, created_at) in [
            ("later", "acme", "ann", 7),
            ("first", "acme", "ann", 5),
            ("elsewhere", "umbrella", "ann", 5),
            ("another's", "acme", "bob", 5),
        ] {
            let session = Session {
                tenant: tenant.parse().unwrap(),
                user: user.parse().unwrap(),
                created_at: Timestamp::from_millis(created_at),
                ..session(Credential::Host(Digest::of("token")), 10)
            };
            store.open(Digest::of(name), session).await.unwrap();
        }
        let found = store.of("acme".parse().unwrap(), "ann".parse().unwrap()).await.unwrap();
        assert_eq!(found, ["first", "later"].map(Digest::of));
    }

    #[tokio::test]
    async fn those_that_are_over_are_forgotten() {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("actions.db")).unwrap();
        for end in [9, 10, 11] {
            let session = session(Credential::Host(Digest::of("token")), end);
            store.open(Digest::of(end.to_string()), session).await.unwrap();
        }
        store.prune(Timestamp::from_millis(10)).await.unwrap();
        for (end, there) in [("9", false), ("10", false), ("11", true)] {
            assert_eq!(store.find(Digest::of(end)).await.unwrap().is_some(), there, "{end}");
        }
    }
}
