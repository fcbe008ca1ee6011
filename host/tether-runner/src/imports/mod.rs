//! What a guest may ask of the host: one file for each interface of `wit/`, and one
//! for each of WASI in which something is the host's own.

use wasmtime::component::{Linker, LinkerInstance};

use crate::guest::Guest;

// The generated bindings re-export its types, so they must be `pub`.
#[expect(unreachable_pub)]
pub(crate) mod database;
pub(crate) mod transport;
pub(crate) mod wasi_http;
pub(crate) mod wasi_poll;

/// Puts what `define` defines in the place of a function of WASI's.
///
/// # Errors
///
/// When there is no such function: it has another version, say, since wasmtime was
/// updated, and what was put beside it would be called by nobody.
fn instead(
    linker: &mut Linker<Guest>,
    interface: &str,
    name: &str,
    define: impl Fn(&mut LinkerInstance<'_, Guest>, &str) -> wasmtime::Result<()>,
) -> wasmtime::Result<()> {
    if define(&mut linker.instance(interface)?, name).is_ok() {
        wasmtime::bail!("there is no `{name}` in `{interface}` that could be replaced");
    }
    linker.allow_shadowing(true);
    let defined = define(&mut linker.instance(interface)?, name);
    linker.allow_shadowing(false);
    defined
}

#[cfg(test)]
mod tests {
    use wasmtime::Engine;

    use super::*;

    #[track_caller]
    fn check(interface: &str, name: &str, is_there: bool) {
        let mut linker = Linker::<Guest>::new(&Engine::default());
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        wasi_http::add_to_linker(&mut linker).unwrap();
        let replaced =
            instead(&mut linker, interface, name, |types, name| types.func_wrap(name, |_, (): ()| Ok(())));
        assert_eq!(replaced.is_ok(), is_there, "{interface} {name}: {replaced:?}");
    }

    #[test]
    fn only_what_is_there_can_be_replaced() {
        check("wasi:http/types@0.2.12", "[constructor]fields", true);
        check("wasi:http/types@0.2.99", "[constructor]fields", false);
        check("wasi:http/types@0.2.12", "[constructor]pastures", false);
    }
}
