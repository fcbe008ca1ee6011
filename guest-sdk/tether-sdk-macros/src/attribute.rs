//! What stands between the parentheses of `#[tool(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Ident, LitStr, Path, Result, Token};

const NAME_LIMIT: usize = 128;

/// What the tool may do to the outside world.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Effect {
    Read,
    Write,
}

impl Effect {
    /// The type through which such a tool sees its call.
    pub(crate) fn call(self) -> &'static str {
        match self {
            Effect::Read => "Read",
            Effect::Write => "Write",
        }
    }

    /// The word for it in the attribute.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
        }
    }
}

/// The attribute, complete and checked.
pub(crate) struct Attribute {
    pub(crate) effect: Effect,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) preview: Option<Path>,
}

impl Attribute {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut draft = Draft::default();
        (|input: ParseStream| draft.fill(input)).parse2(tokens)?;
        draft.finish()
    }
}

#[derive(Default)]
struct Draft {
    effect: Option<Effect>,
    name: Option<LitStr>,
    title: Option<LitStr>,
    description: Option<LitStr>,
    preview: Option<Path>,
}

impl Draft {
    fn fill(&mut self, input: ParseStream) -> Result<()> {
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            match key.to_string().as_str() {
                "read" => once(&mut self.effect, &key, Effect::Read)?,
                "write" => once(&mut self.effect, &key, Effect::Write)?,
                "name" => once(&mut self.name, &key, text(input, &key)?)?,
                "title" => once(&mut self.title, &key, text(input, &key)?)?,
                "description" => once(&mut self.description, &key, text(input, &key)?)?,
                "preview" => {
                    input.parse::<Token![=]>()?;
                    once(&mut self.preview, &key, input.parse()?)?;
                }
                other => {
                    let message = format!(
                        "unknown key `{other}`; `#[tool]` takes `read` or `write`, and \
                         `description`, `name`, `title`, `preview`"
                    );
                    return Err(Error::new(key.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Attribute> {
        let Some(effect) = self.effect else {
            return Err(Error::new(
                Span::call_site(),
                "say what the tool does to the world: `#[tool(read, …)]` changes nothing, \
                 `#[tool(write, …)]` waits for a person's confirmation",
            ));
        };
        if let Some(name) = &self.name {
            check_name(&name.value(), name.span())?;
        }
        if let (Effect::Read, Some(preview)) = (effect, &self.preview) {
            return Err(Error::new_spanned(preview, "a read has no preview: nobody is asked to confirm it"));
        }
        Ok(Attribute {
            effect,
            name: self.name,
            title: self.title,
            description: self.description,
            preview: self.preview,
        })
    }
}

/// The contract's rule for names, which the host checks again.
pub(crate) fn check_name(name: &str, span: Span) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=NAME_LIMIT).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    Err(Error::new(span, format!("a tool's name is 1 to {NAME_LIMIT} characters of `A-Z a-z 0-9 _ - .`")))
}

fn text(input: ParseStream, key: &Ident) -> Result<LitStr> {
    input.parse::<Token![=]>()?;
    // An expression is read first: the message for `title = 3` then names the
    // key, and not just the kind of token that was missing.
    let value: Expr = input.parse()?;
    match value {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) if !text.value().trim().is_empty() => {
            Ok(text)
        }
        other => Err(Error::new_spanned(other, format!("`{key}` is a string literal, and not an empty one"))),
    }
}

fn once<T>(slot: &mut Option<T>, key: &Ident, value: T) -> Result<()> {
    if slot.replace(value).is_some() {
        let message = match key.to_string().as_str() {
            "read" | "write" => "a tool is either a `read` or a `write`".to_owned(),
            other => format!("`{other}` is given twice"),
        };
        return Err(Error::new(key.span(), message));
    }
    Ok(())
}
