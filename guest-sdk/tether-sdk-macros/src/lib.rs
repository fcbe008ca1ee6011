//! The `#[tool]` attribute. Authors reach it as `tether_sdk::tool`, where it
//! is documented; this crate exists because a procedural macro needs one.

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, parse_macro_input};

mod attribute;
mod expand;
mod signature;

/// Makes a function a tool. See `tether_sdk` for the whole picture.
///
/// ```text
/// #[tool(read | write,
///     description = "…",   // or the function's doc comment
///     name = "…",          // or the function's name
///     title = "…",         // a short name for people
///     preview = path)]     // of a write: what the person who confirms is told
/// fn name(call: &Read | &Write, arguments: A) -> Result<O, ToolError>
/// ```
///
/// `A` is `Deserialize + JsonSchema`, `O` is `Serialize + JsonSchema`. A
/// preview is `fn(&Read, A) -> Result<Option<String>, ToolError>`.
///
/// The function stays callable as it is. Beside it stands an empty type of the
/// same name, which `tether_sdk::component!` lists.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    match expand::tool(attribute.into(), &function) {
        Ok(expanded) => expanded.into(),
        Err(error) => {
            // The function is kept, so that one mistake is not followed by
            // complaints that nothing of its name exists.
            let error = error.to_compile_error();
            let stub = expand::stub(&function);
            quote!(#error #function #stub).into()
        }
    }
}
