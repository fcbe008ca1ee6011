//! The code that `#[tool]` leaves behind.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute as Meta, Error, Expr, ItemFn, Lit, Result};

use crate::attribute::{Attribute, Effect, check_name};
use crate::signature::Signature;

/// The function as it was, and its definition under the same name.
pub(crate) fn tool(attribute: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let attribute = Attribute::parse(attribute)?;
    let signature = Signature::of(function, attribute.effect)?;
    let ident = &function.sig.ident;

    let name = match &attribute.name {
        Some(name) => name.value(),
        None => ident.unraw().to_string(),
    };
    check_name(&name, ident.span())?;
    let description = match &attribute.description {
        Some(description) => description.value(),
        None => documentation(&function.attrs).ok_or_else(|| {
            Error::new(
                ident.span(),
                "a tool needs a description, for the model that chooses it: give \
                 `description = \"…\"` or a doc comment",
            )
        })?,
    };
    let title = match &attribute.title {
        Some(title) => quote!(::core::option::Option::Some(#title)),
        None => quote!(::core::option::Option::None),
    };

    let Signature { arguments, result } = signature;
    // Spans of the author's own types: a missing derive is reported there.
    let input_schema = quote_spanned! {arguments.span()=>
        ::tether_sdk::tool::input_schema::<#arguments>
    };
    let output_schema = quote_spanned! {result.span()=>
        ::tether_sdk::tool::output_schema::<#result>
    };
    let (effect, invoke) = match attribute.effect {
        Effect::Read => (quote!(Read), quote!(read)),
        Effect::Write => (quote!(Write), quote!(write)),
    };
    let preview = match &attribute.preview {
        Some(path) => quote! {
            ::core::option::Option::Some(|invocation| {
                ::tether_sdk::tool::preview::<#arguments>(invocation, #path)
            })
        },
        None => quote!(::core::option::Option::None),
    };
    let stub = stub(function);

    Ok(quote! {
        #function
        #stub

        impl ::tether_sdk::tool::Tool for #ident {
            const DEFINITION: ::tether_sdk::tool::Definition = ::tether_sdk::tool::Definition {
                name: #name,
                title: #title,
                description: #description,
                effect: ::tether_sdk::tool::Effect::#effect,
                input_schema: #input_schema,
                output_schema: #output_schema,
                invoke: |invocation| {
                    ::tether_sdk::tool::#invoke::<#arguments, #result>(invocation, #ident)
                },
                preview: #preview,
            };
        }
    })
}

/// Functions and types have separate names, so the tool's type can be called
/// what its function is called, and one `use` brings both.
pub(crate) fn stub(function: &ItemFn) -> TokenStream {
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}
    }
}

/// The doc comment, its lines joined; none where it says nothing.
fn documentation(attributes: &[Meta]) -> Option<String> {
    let lines = attributes.iter().filter_map(|attribute| {
        let meta = attribute.meta.require_name_value().ok()?;
        match &meta.value {
            Expr::Lit(literal) if meta.path.is_ident("doc") => match &literal.lit {
                Lit::Str(line) => Some(line.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        }
    });
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
