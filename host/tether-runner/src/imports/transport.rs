//! `tether:tool/transport`.

use crate::bindings::tether::tool::transport::{Error, Host, Request, Response};
use crate::guest::Guest;

impl Host for Guest {
    async fn send(&mut self, _request: Request) -> wasmtime::Result<Result<Response, Error>> {
        if self.call()?.transaction_open() {
            return Ok(Err(Error::TransactionOpen));
        }
        // Grants name no destinations yet.
        let message =
            "no destination is granted to this component; the operator grants them in its configuration";
        Ok(Err(Error::Denied(message.into())))
    }
}
