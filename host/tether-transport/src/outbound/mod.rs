//! Requests of handlers, under the transport policy.
//!
//! In a read a request is repeated out of the call's allowance; in a confirmed write
//! it is noted and sent once. What a handler may send, and where, is decided before
//! anything happens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tether_core::allowance::Allowance;
use tether_core::clock::{Clock, Timestamp};
use tether_core::destination::Destination;
use tether_core::id::RequestId;
use tether_core::port::journal::Journal;

use lane::{Lane, Way};
use names::SystemNames;
use parcel::{Cap, Cut, Lost, Parcel, compressed, host_headers};
use passage::Passage;
use places::{Place, Places};

pub(crate) mod address;
pub(crate) mod check;
mod error;
mod follow;
pub(crate) mod headers;
pub(crate) mod lane;
mod names;
pub(crate) mod once;
pub(crate) mod parcel;
pub(crate) mod passage;
mod places;
pub(crate) mod repeat;
mod request;
mod secrets;
mod sender;

pub use error::{SendError, SetUpError};
pub use headers::reserved;
pub use names::Names;
pub use request::Request;
pub use secrets::{Secrets, Unfilled};
pub use sender::Sender;

/// The whole answer to a request.
pub type Response = http::Response<Bytes>;

/// How requests are sent, for a whole host.
#[derive(Debug)]
pub struct Settings {
    /// An answer's body may be so many bytes, counted as they arrive: the host
    /// decompresses nothing.
    pub max_answer_bytes: usize,
    /// A request's headers and body may be so many bytes.
    pub max_request_bytes: usize,
    /// So many requests may be asked for in one attempt; repetitions and redirects,
    /// which the host makes, are not counted.
    pub max_requests: usize,
    /// Certificates that are trusted besides the system's, in PEM; may be empty.
    pub extra_roots: Vec<u8>,
    /// What the headers of destinations are filled in with.
    pub secrets: Secrets,
}

/// So many requests are under way at once, for all calls of the host: each may hold a
/// connection, and a process has so many files and no more. Any further one waits.
const MOST_UNDER_WAY: usize = 256;

/// The way out of the host: one for each host, cheap to clone.
#[derive(Clone)]
pub struct Outbound(Arc<Inner>);

struct Inner {
    settings: Settings,
    clock: Arc<dyn Clock>,
    way: Way,
    places: Arc<Places>,
    /// By their destination's text.
    lanes: Mutex<BTreeMap<String, Arc<Lane>>>,
}

/// What an attempt may do with its requests.
#[derive(Clone)]
pub enum Course {
    /// Send what a read may send, and repeat it out of the call's allowance.
    Read(Arc<Allowance>),
    /// Send each request once, noted first.
    Write(Arc<dyn Journal>),
}

impl Outbound {
    /// Requests by `settings`; names are looked up as the system does. Reads the
    /// system's root certificates, which takes a while: where there are none, this is
    /// logged, and no `https` destination can be reached.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, SetUpError> {
        Self::with_names(settings, clock, Arc::new(SystemNames::default()))
    }

    /// The same, with another way to look names up.
    pub fn with_names(
        settings: Settings,
        clock: Arc<dyn Clock>,
        names: Arc<dyn Names>,
    ) -> Result<Self, SetUpError> {
        let extra_roots = crate::tls::roots(&settings.extra_roots).map_err(SetUpError::Roots)?;
        if extra_roots.is_empty() && !settings.extra_roots.is_empty() {
            return Err(SetUpError::NoRoots);
        }
        let way = Way { names, tls: crate::tls::config(extra_roots) };
        let (places, lanes) = (Places::new(MOST_UNDER_WAY), Mutex::default());
        Ok(Self(Arc::new(Inner { settings, clock, way, places, lanes })))
    }

    /// What one attempt of one call sends, to `destinations` and nowhere else.
    pub fn sender(&self, destinations: &[Destination], key: RequestId, course: Course) -> Arc<Sender> {
        let lanes = destinations.iter().map(|destination| self.lane(destination)).collect();
        Sender::new(self.clone(), lanes, key, course)
    }

    /// What is wrong with the headers that the operator configured for `destination`,
    /// for the start of a host: no such secret, or a header that is the host's own.
    /// Where this finds nothing, filling them in never fails.
    pub fn check(&self, destination: &Destination) -> Result<(), String> {
        let names = destination.headers.keys().chain(&destination.key_header);
        if let Some(reason) = names.into_iter().find_map(|name| headers::reserved(name)) {
            return Err(reason);
        }
        host_headers(destination, RequestId::from_random([0; 16]), self.secrets()).map(drop)
    }

    /// The connections to `destination`. There are as many as the operator has granted
    /// since the host started.
    pub(crate) fn lane(&self, destination: &Destination) -> Arc<Lane> {
        let mut lanes = self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(destination.to_string());
        lane.or_insert_with(|| Arc::new(Lane::new(destination.clone()))).clone()
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.0.settings.secrets
    }

    fn cap(&self) -> Cap {
        Cap { bytes: self.0.settings.max_answer_bytes, cut: Cut::Nothing }
    }

    fn way(&self) -> &Way {
        &self.0.way
    }

    /// The time of day.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Waits for a place among the requests under way.
    async fn place(&self, origin: &str) -> Place {
        self.0.places.take(origin).await
    }

    /// Sends `parcel` once, on a connection that reads keep. Whether it left where that
    /// failed after all is told as well as the client knows it. Where this is dropped
    /// before its end, `passage` knows.
    pub(crate) async fn read(
        &self,
        lane: &Lane,
        parcel: Parcel,
        cap: Cap,
        passage: Arc<Passage>,
    ) -> Result<Response, SendError> {
        let origin = parcel.origin();
        let failed = |error: &reqwest::Error| match error.is_connect() || error.is_builder() {
            true => SendError::not_connected(&origin, error),
            false => SendError::lost(&origin, error),
        };
        let client = lane.reads(self.way()).map_err(|error| failed(&error))?;
        let _place = self.place(&origin).await;
        let answer = passage.on_any_connection(parcel.exchange(client, cap, self)).await;
        answer.map_err(|lost| match lost {
            Lost::Compressed { .. } => SendError::Refused(compressed(&origin)),
            Lost::TooLarge { .. } => SendError::TooLarge(cap.bytes as u64),
            Lost::Broken(error) => failed(&error),
        })
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.settings.fmt(f)
    }
}
