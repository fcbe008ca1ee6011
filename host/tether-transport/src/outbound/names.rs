//! From a name to the addresses that may be dialled.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tether_core::destination::Destination;
use tether_core::port::BoxFuture;
use tokio::sync::Semaphore;

use super::address;

/// Where names are looked up.
pub trait Names: Send + Sync + 'static {
    /// The addresses of `name`, in the order in which they are tried.
    fn look_up(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// So many of the system's look-ups are under way at once. Each holds a thread until
/// the system answers, whoever has stopped waiting, and databases need threads as well.
const MOST_LOOK_UPS: usize = 32;

/// The system's look-up.
pub(super) struct SystemNames {
    places: Arc<Semaphore>,
    ask: fn(&str) -> io::Result<Vec<IpAddr>>,
}

impl Default for SystemNames {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_LOOK_UPS)), ask }
    }
}

fn ask(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

impl Names for SystemNames {
    fn look_up(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (places, ask) = (self.places.clone(), self.ask);
        Box::pin(async move {
            let place = places.acquire_owned().await.map_err(io::Error::other)?;
            let look_up = move || {
                let _until_it_ends = place;
                ask(&name)
            };
            tokio::task::spawn_blocking(look_up).await?
        })
    }
}

/// Hands on the addresses at which a destination may be. The client looks a name up
/// once for each connection and dials what it is handed: there is no second look-up,
/// whose answer could be another one.
pub(super) struct Vetted {
    pub(super) names: Arc<dyn Names>,
    pub(super) destination: Arc<Destination>,
}

/// Every address of the name takes a grant that is not there.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to addresses that are not public, and none of them is granted")]
pub(super) struct NotGranted;

impl Resolve for Vetted {
    fn resolve(&self, name: Name) -> Resolving {
        let destination = self.destination.clone();
        let look_up = self.names.look_up(name.as_str().to_owned());
        Box::pin(async move {
            let found = look_up.await?;
            let none = found.is_empty();
            let mut granted = found;
            granted.retain(|found| address::is_allowed(&destination, *found));
            match (granted.is_empty(), none) {
                (true, true) => Err(io::Error::other("the name has no address").into()),
                (true, false) => Err(NotGranted.into()),
                // The client puts its own port in place of 0.
                (false, _) => Ok(Box::new(granted.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// Held by the test: until it lets go, no look-up ends.
    static NO_ANSWER: Mutex<()> = Mutex::new(());

    fn silent(_: &str) -> io::Result<Vec<IpAddr>> {
        drop(NO_ANSWER.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }

    #[tokio::test]
    #[expect(
        clippy::await_holding_lock,
        reason = "the look-ups wait for it, the test's own thread never does"
    )]
    async fn a_look_up_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        let names = SystemNames { places: Arc::new(Semaphore::new(2)), ask: silent };
        let held = NO_ANSWER.lock().unwrap();
        for left in [1, 0] {
            let given_up = tokio::spawn(names.look_up("a.test".to_owned()));
            while names.places.available_permits() > left {
                tokio::task::yield_now().await;
            }
            given_up.abort();
            assert!(given_up.await.unwrap_err().is_cancelled());
            assert_eq!(names.places.available_permits(), left);
        }
        drop(held);
        assert_eq!(names.look_up("a.test".to_owned()).await.unwrap().len(), 1);
    }
}
