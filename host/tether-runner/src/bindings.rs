//! The contract of `wit/`, as Rust: generated, and nothing else.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "tool",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "tether:tool/database.connection": crate::imports::database::OpenDatabase,
        "tether:tool/database.transaction": crate::imports::database::OpenTransaction,
    },
    trappable_error_type: {
        "tether:tool/database.error" => crate::imports::database::Fault,
    },
});
