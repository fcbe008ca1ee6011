//! Runs tool handlers that are WebAssembly components
