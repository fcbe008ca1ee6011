//! What a tool's function must look like. Types are checked here only as far
//! as they are written, for the sake of the message; the compiler checks them
//! again, aliases and all, in the code that `expand` writes.

use syn::{Error, FnArg, ItemFn, Result, ReturnType, Type};

use crate::attribute::Effect;

/// The types of a tool's function that the expansion needs.
pub(crate) struct Signature<'a> {
    pub(crate) arguments: &'a Type,
    pub(crate) result: &'a Type,
}

impl<'a> Signature<'a> {
    pub(crate) fn of(function: &'a ItemFn, effect: Effect) -> Result<Self> {
        let signature = &function.sig;
        if let Some(asyncness) = &signature.asyncness {
            return Err(Error::new_spanned(
                asyncness,
                "a tool is a plain function: calls to the host simply wait",
            ));
        }
        if !signature.generics.params.is_empty() {
            return Err(Error::new_spanned(
                &signature.generics,
                "a tool is not generic: its schemas come from its types",
            ));
        }
        let mut types = signature.inputs.iter().map(|input| match input {
            FnArg::Typed(typed) => Ok(&*typed.ty),
            FnArg::Receiver(receiver) => {
                Err(Error::new_spanned(receiver, "a tool is a free function, not a method"))
            }
        });
        let (Some(call), Some(arguments), None) = (types.next(), types.next(), types.next()) else {
            return Err(Error::new(
                signature.paren_token.span.join(),
                format!(
                    "a tool takes two parameters: `call: &{}`, and its arguments as one struct",
                    effect.call()
                ),
            ));
        };
        check_call(call?, effect)?;
        Ok(Self { arguments: arguments?, result: result(function)? })
    }
}

fn check_call(call: &Type, effect: Effect) -> Result<()> {
    let (wanted, word) = (effect.call(), effect.word());
    let message = match named(call) {
        Some(name) if name == wanted => return Ok(()),
        Some(name) if name == "Read" => {
            format!("a `{word}` takes `&{wanted}`: `&Read` has no way to write")
        }
        Some(name) if name == "Write" => {
            format!("a `{word}` takes `&{wanted}`; declare `#[tool(write, …)]` if it must write")
        }
        _ => format!("the first parameter of a `{word}` is `&{wanted}`"),
    };
    Err(Error::new_spanned(call, message))
}

/// The last name in the type behind a shared reference.
fn named(reference: &Type) -> Option<String> {
    let Type::Reference(reference) = reference else {
        return None;
    };
    match (&reference.mutability, &*reference.elem) {
        (None, Type::Path(path)) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

fn result(function: &ItemFn) -> Result<&Type> {
    const MESSAGE: &str = "a tool returns `Result<_, ToolError>`: its output, or why there is none";
    let ReturnType::Type(_, result) = &function.sig.output else {
        return Err(Error::new_spanned(&function.sig.ident, MESSAGE));
    };
    match &**result {
        Type::Path(path) if ends_in_result(path) => Ok(result),
        other => Err(Error::new_spanned(other, MESSAGE)),
    }
}

/// `Result`, and what people call their own: `io::Result`, `ToolResult`.
fn ends_in_result(path: &syn::TypePath) -> bool {
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident.to_string().ends_with("Result"))
}
