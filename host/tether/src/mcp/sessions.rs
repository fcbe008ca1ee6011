//! The sessions of the older revisions: whose each is, and how many there are.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Caller;

use super::seats::Seats;

/// Sessions of one user.
const MOST_OF_ONE: usize = 256;

/// The sessions that are open. They do not outlive the process: their clients begin anew.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    most: usize,
    idle: Duration,
    open: Mutex<HashMap<String, Session>>,
    uses: AtomicU64,
    pub(super) seats: Seats,
}

struct Session {
    tenant: TenantId,
    user: UserId,
    used: Use,
}

/// When a session was used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    /// No two are the same.
    number: u64,
    at: Instant,
}

impl Session {
    fn is_of(&self, caller: &Caller) -> bool {
        self.tenant == caller.tenant && self.user == caller.user
    }
}

impl Sessions {
    /// No sessions; at most `most`, each of which ends after so long without a request. A call
    /// takes at most `call`.
    pub(super) fn new(most: usize, idle: Duration, call: Duration) -> Self {
        let mut config = SessionConfig::default();
        // rmcp counts from the last message, also while a call is under way.
        config.keep_alive = Some(idle + call);
        // A stream that broke off is not resumed.
        config.sse_retry = None;
        config.completed_cache_ttl = Duration::ZERO;
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self {
            manager: Arc::new(manager),
            most,
            idle,
            open: Mutex::default(),
            uses: AtomicU64::default(),
            seats: Seats::default(),
        }
    }

    /// Where rmcp keeps them.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Notes whose session this is that was just opened, and makes room for it.
    pub(super) async fn opened(&self, id: &str, caller: &Caller) {
        let (tenant, user) = (caller.tenant.clone(), caller.user.clone());
        let surplus = {
            let mut open = self.open();
            let used = self.used_now();
            // rmcp closes them by itself, a little later.
            open.retain(|_, session| used.at.duration_since(session.used.at) < self.idle);
            open.insert(id.to_owned(), Session { tenant, user, used });
            let mut surplus = Vec::new();
            if open.values().filter(|session| session.is_of(caller)).count() > MOST_OF_ONE {
                surplus.extend(longest_unused(&open, |session| session.is_of(caller)));
            } else if open.len() > self.most {
                surplus.extend(longest_unused(&open, |_| true));
            }
            surplus.iter().for_each(|id| drop(open.remove(id)));
            surplus
        };
        for id in surplus {
            self.close(&id).await;
        }
    }

    /// Whether this is a session of the caller's, which then counts as used.
    pub(super) fn is_of(&self, id: &str, caller: &Caller) -> bool {
        let mut open = self.open();
        let Some(session) = open.get_mut(id).filter(|session| session.is_of(caller)) else { return false };
        if session.used.at.elapsed() >= self.idle {
            open.remove(id);
            return false;
        }
        session.used = self.used_now();
        true
    }

    /// The session was ended by its client.
    pub(super) fn ended(&self, id: &str) {
        self.open().remove(id);
    }

    fn used_now(&self) -> Use {
        Use { number: self.uses.fetch_add(1, Ordering::Relaxed), at: Instant::now() }
    }

    async fn close(&self, id: &str) {
        // It may have ended by itself.
        let _ = self.manager.close_session(&id.into()).await;
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// There is no such session of the caller's.
pub(super) fn unknown() -> ErrorData {
    const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32_001);
    ErrorData::new(SESSION_NOT_FOUND, "there is no such session; begin anew with `initialize`", None)
}

fn longest_unused(open: &HashMap<String, Session>, wanted: impl Fn(&Session) -> bool) -> Option<String> {
    let sessions = open.iter().filter(|(_, session)| wanted(session));
    sessions.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone())
}

#[cfg(test)]
mod tests {
    use tether_core::identity::{Channel, Role};

    use super::*;

    fn caller(tenant: &str, user: &str) -> Caller {
        Caller {
            tenant: tenant.parse().unwrap(),
            user: user.parse().unwrap(),
            roles: vec![Role::Agent],
            channel: Channel::Mcp,
            alone: false,
            operator: false,
        }
    }

    fn sessions(most: usize) -> Sessions {
        Sessions::new(most, Duration::from_secs(3600), Duration::from_secs(60))
    }

    #[tokio::test]
    async fn a_session_that_was_not_used_for_so_long_is_over() {
        let (sessions, bot) =
            (Sessions::new(8, Duration::from_millis(20), Duration::ZERO), caller("acme", "bot"));
        sessions.opened("s", &bot).await;
        let over = std::time::Instant::now() + Duration::from_millis(20);
        tokio::time::sleep_until(over.into()).await;
        assert!(!sessions.is_of("s", &bot));
    }

    #[tokio::test]
    async fn a_session_is_its_users_and_nobody_elses() {
        let sessions = sessions(8);
        sessions.opened("s", &caller("acme", "bot")).await;
        assert!(sessions.is_of("s", &caller("acme", "bot")));
        assert!(!sessions.is_of("s", &caller("acme", "other")));
        assert!(!sessions.is_of("s", &caller("globex", "bot")));
        assert!(!sessions.is_of("t", &caller("acme", "bot")));
        sessions.ended("s");
        assert!(!sessions.is_of("s", &caller("acme", "bot")));
    }

    #[tokio::test]
    async fn the_longest_unused_makes_room() {
        let (sessions, bot) = (sessions(2), caller("acme", "bot"));
        for id in ["a", "b"] {
            sessions.opened(id, &bot).await;
        }
        assert!(sessions.is_of("a", &bot));
        sessions.opened("c", &caller("globex", "bot")).await;
        assert!(sessions.is_of("a", &bot) && !sessions.is_of("b", &bot));
    }

    #[tokio::test]
    async fn one_user_takes_no_more_than_its_share() {
        let (sessions, bot, ann) = (sessions(4_096), caller("acme", "bot"), caller("acme", "ann"));
        sessions.opened("anns", &ann).await;
        for number in 0..=MOST_OF_ONE {
            sessions.opened(&number.to_string(), &bot).await;
        }
        assert!(!sessions.is_of("0", &bot) && sessions.is_of("1", &bot) && sessions.is_of("anns", &ann));
    }
}
