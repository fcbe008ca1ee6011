//! `wasi:io/poll`, as WASI has it: but a guest that waits there is seen to wait, so that
//! its own time stands still while what it waits for is an answer.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::io::poll::{Host, HostPollable};

use crate::guest::Guest;
use crate::imports::instead;

/// As wasmtime has it.
const POLL: &str = "wasi:io/poll@0.2.12";

/// Puts what waits in the place of what WASI has.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    instead(linker, POLL, "poll", |io, name| io.func_wrap_async(name, poll))?;
    instead(linker, POLL, "[method]pollable.block", |io, name| io.func_wrap_async(name, block))
}

type Waiting<'a, T> = Box<dyn Future<Output = wasmtime::Result<T>> + Send + 'a>;

fn poll(
    mut store: StoreContextMut<'_, Guest>,
    (pollables,): (Vec<Resource<DynPollable>>,),
) -> Waiting<'_, (Vec<u32>,)> {
    Box::new(async move {
        let guest = store.data_mut();
        let _parked = guest.parks();
        Ok((Host::poll(&mut guest.table, pollables).await?,))
    })
}

fn block(mut store: StoreContextMut<'_, Guest>, (pollable,): (Resource<DynPollable>,)) -> Waiting<'_, ()> {
    Box::new(async move {
        let guest = store.data_mut();
        let _parked = guest.parks();
        HostPollable::block(&mut guest.table, pollable).await
    })
}
