//! The sessions of the older revisions: whose each is, and how many there are.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Caller;

use super::seats::Seats;

/// Sessions of one user.
const MOST_OF_ONE: usize = 256;

/// How often whoever waits for the end of a session looks.
const LOOK: Duration = Duration::from_secs(5);

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
    /// What its client and we speak; none as long as that is not agreed upon.
    revision: Option<&'static str>,
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

/// Room for a session that is about to begin. Dropped, it is given back.
pub(super) struct Room<'a> {
    sessions: &'a Sessions,
    /// Stands for the session, which has no id yet.
    name: String,
}

impl Room<'_> {
    /// The session has begun.
    pub(super) fn filled(self, id: &str, revision: &'static str) {
        let mut open = self.sessions.open();
        if let Some(session) = open.remove(&self.name) {
            open.insert(id.to_owned(), Session { revision: Some(revision), ..session });
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.sessions.open().remove(&self.name);
    }
}

/// Every session that could make room has a request that is not answered yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

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

    /// Room for a session of the caller's. Where there is none, the one that was unused for
    /// longest and is not at work makes it.
    pub(super) async fn room(&self, caller: &Caller) -> Result<Room<'_>, Full> {
        let used = self.used_now();
        let name = format!("begins {}", used.number);
        let surplus = {
            let mut open = self.open();
            let busy = self.seats.sessions();
            // rmcp closes them by itself, a little later.
            open.retain(|id, session| !self.is_over(session) || busy.contains(id));
            let of_one = open.values().filter(|session| session.is_of(caller)).count();
            let surplus = if of_one >= MOST_OF_ONE {
                Some(longest_unused(&open, &busy, |session| session.is_of(caller)).ok_or(Full)?)
            } else if open.len() >= self.most {
                Some(longest_unused(&open, &busy, |_| true).ok_or(Full)?)
            } else {
                None
            };
            surplus.iter().for_each(|id| drop(open.remove(id)));
            let (tenant, user) = (caller.tenant.clone(), caller.user.clone());
            open.insert(name.clone(), Session { tenant, user, revision: None, used });
            surplus
        };
        let room = Room { sessions: self, name };
        if let Some(id) = surplus {
            // It may have ended by itself.
            let _ = self.manager.close_session(&id.into()).await;
        }
        Ok(room)
    }

    /// The revision of this session of the caller's, which then counts as used; none where
    /// the caller has no such session.
    pub(super) fn revision(&self, id: &str, caller: &Caller) -> Option<&'static str> {
        let mut open = self.open();
        let session = open.get_mut(id).filter(|session| session.is_of(caller))?;
        if self.is_over(session) && !self.seats.sessions().contains(id) {
            open.remove(id);
            return None;
        }
        session.used = self.used_now();
        session.revision
    }

    /// Until this session is over. Whoever waits for that does not use it.
    pub(super) async fn ends(&self, id: &str) {
        let goes_on = || {
            let open = self.open();
            let session = open.get(id);
            session.is_some_and(|session| !self.is_over(session) || self.seats.sessions().contains(id))
        };
        while goes_on() {
            tokio::time::sleep(self.idle.min(LOOK)).await;
        }
    }

    /// The session was ended by its client.
    pub(super) fn ended(&self, id: &str) {
        self.open().remove(id);
    }

    fn used_now(&self) -> Use {
        Use { number: self.uses.fetch_add(1, Ordering::Relaxed), at: Instant::now() }
    }

    fn is_over(&self, session: &Session) -> bool {
        session.used.at.elapsed() >= self.idle
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn longest_unused(
    open: &HashMap<String, Session>,
    busy: &HashSet<String>,
    wanted: impl Fn(&Session) -> bool,
) -> Option<String> {
    let idle = open.iter().filter(|(id, session)| session.revision.is_some() && !busy.contains(*id));
    let idle = idle.filter(|(_, session)| wanted(session));
    idle.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone())
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

    const REVISION: &str = "2025-11-25";

    async fn begin(sessions: &Sessions, id: &str, caller: &Caller) {
        sessions.room(caller).await.ok().unwrap().filled(id, REVISION);
    }

    fn is_open(sessions: &Sessions, id: &str, caller: &Caller) -> bool {
        sessions.revision(id, caller) == Some(REVISION)
    }

    #[tokio::test]
    async fn a_session_that_was_not_used_for_so_long_is_over_unless_it_is_at_work() {
        let (sessions, bot) =
            (Sessions::new(8, Duration::from_millis(20), Duration::ZERO), caller("acme", "bot"));
        begin(&sessions, "idle", &bot).await;
        begin(&sessions, "busy", &bot).await;
        let seat = sessions.seats.take("busy", "1").await;
        let over = std::time::Instant::now() + Duration::from_millis(20);
        tokio::time::sleep_until(over.into()).await;
        assert!(!is_open(&sessions, "idle", &bot) && is_open(&sessions, "busy", &bot));
        drop(seat);
    }

    #[tokio::test]
    async fn who_waits_for_the_end_of_a_session_does_not_use_it() {
        let (sessions, bot) =
            (Sessions::new(8, Duration::from_millis(20), Duration::ZERO), caller("acme", "bot"));
        begin(&sessions, "idle", &bot).await;
        begin(&sessions, "busy", &bot).await;
        let seat = sessions.seats.take("busy", "1").await;
        sessions.ends("idle").await;
        assert!(!is_open(&sessions, "idle", &bot));
        sessions.ends("never was").await;
        let busy = tokio::time::timeout(Duration::from_millis(100), sessions.ends("busy")).await;
        assert!(busy.is_err(), "it is at work");
        drop(seat);
        sessions.ends("busy").await;
    }

    #[tokio::test]
    async fn a_session_is_its_users_and_nobody_elses() {
        let sessions = sessions(8);
        let bot = caller("acme", "bot");
        begin(&sessions, "s", &bot).await;
        assert!(is_open(&sessions, "s", &bot));
        assert!(!is_open(&sessions, "s", &caller("acme", "other")));
        assert!(!is_open(&sessions, "s", &caller("globex", "bot")));
        assert!(!is_open(&sessions, "t", &bot));
        sessions.ended("s");
        assert!(!is_open(&sessions, "s", &bot));
    }

    #[tokio::test]
    async fn a_session_that_begins_is_counted_and_nobodys_to_name() {
        let (sessions, bot) = (sessions(1), caller("acme", "bot"));
        let room = sessions.room(&bot).await.ok().unwrap();
        assert_eq!(sessions.revision(&room.name, &bot), None);
        assert!(sessions.room(&bot).await.is_err(), "it makes no room");
        drop(room);
        begin(&sessions, "s", &bot).await;
        assert!(is_open(&sessions, "s", &bot));
    }

    #[tokio::test]
    async fn the_longest_unused_makes_room() {
        let (sessions, bot) = (sessions(2), caller("acme", "bot"));
        for id in ["a", "b"] {
            begin(&sessions, id, &bot).await;
        }
        assert!(is_open(&sessions, "a", &bot));
        begin(&sessions, "c", &caller("globex", "bot")).await;
        assert!(is_open(&sessions, "a", &bot) && !is_open(&sessions, "b", &bot));
    }

    #[tokio::test]
    async fn one_that_is_at_work_makes_none() {
        let (sessions, bot) = (sessions(2), caller("acme", "bot"));
        begin(&sessions, "a", &bot).await;
        begin(&sessions, "b", &bot).await;
        let at_work = [sessions.seats.take("a", "1").await, sessions.seats.take("b", "1").await];
        assert!(sessions.room(&bot).await.is_err());
        let [first, second] = at_work;
        drop(second);
        begin(&sessions, "c", &bot).await;
        assert!(is_open(&sessions, "a", &bot) && !is_open(&sessions, "b", &bot));
        drop(first);
    }

    #[tokio::test]
    async fn one_user_takes_no_more_than_its_share() {
        let (sessions, bot, ann) = (sessions(4_096), caller("acme", "bot"), caller("acme", "ann"));
        begin(&sessions, "anns", &ann).await;
        for number in 0..=MOST_OF_ONE {
            begin(&sessions, &number.to_string(), &bot).await;
        }
        assert!(!is_open(&sessions, "0", &bot) && is_open(&sessions, "1", &bot));
        assert!(is_open(&sessions, "anns", &ann));
    }
}
