//! The transport policy on the wire: a real upstream on this machine refuses, stalls,
//! breaks off and answers, and counts what reaches it.

mod cancelled;
mod connecting;
mod endpoints;
mod errands;
mod journal;
mod limits;
mod names;
mod places;
mod reads;
mod redirects;
mod secrets;
mod setup;
mod steps;
mod tls;
mod upstream;
mod writes;
