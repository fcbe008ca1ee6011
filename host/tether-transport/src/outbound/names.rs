//! From a name to the addresses that may be dialled.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tether_core::destination::Destination;
use tether_core::port::BoxFuture;

use super::address;

/// Where names are looked up.
pub trait Names: Send + Sync + 'static {
    /// The addresses of `name`, in the order in which they are tried.
    fn look_up(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's look-up.
pub(super) struct SystemNames;

impl Names for SystemNames {
    fn look_up(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
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
