//! HTTP that leaves the host
