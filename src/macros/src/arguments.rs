//! What stands in the brackets of an attribute.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitBool, LitInt, Result, Token, parenthesized};

/// The arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    /// How many Ps.
    pub(crate) procs: Option<LitInt>,
    /// Does time stand still at first?
    pub(crate) start_paused: Option<LitBool>,
    /// Is every thread in the context of a runtime of tokio's?
    pub(crate) tokio: bool,
    /// Have goroutines stacks of their own? Where the user has written `unsafe`.
    pub(crate) stackful: Option<Token![unsafe]>,
}

/// `name = value`, `tokio`, or `unsafe(stackful)`.
enum Argument {
    Named { name: Ident, value: Expr },
    Tokio { name: Ident },
    Stackful { promise: Token![unsafe], name: Ident },
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![unsafe]) {
            let promise: Token![unsafe] = input.parse()?;
            let inside;
            parenthesized!(inside in input);
            let name: Ident = inside.parse()?;
            if name != "stackful" || !inside.is_empty() {
                return Err(Error::new(name.span(), "the only argument that is unsafe is `unsafe(stackful)`"));
            }
            return Ok(Argument::Stackful { promise, name });
        }
        let name: Ident = input.parse()?;
        if name == "stackful" {
            return Err(Error::new(name.span(), PROMISE));
        }
        if name == "tokio" {
            if input.peek(Token![=]) {
                return Err(Error::new(name.span(), "`tokio` has no value: write `tokio`"));
            }
            return Ok(Argument::Tokio { name });
        }
        if !input.peek(Token![=]) {
            let example = if name == "start_paused" { "start_paused = true" } else { "procs = 4" };
            return Err(Error::new(name.span(), format!("`{name}` has no value: write `{example}`")));
        }
        input.parse::<Token![=]>()?;
        Ok(Argument::Named { name, value: input.parse()? })
    }
}

/// What is promised by `unsafe(stackful)`.
const PROMISE: &str = "`stackful` takes a promise: write `unsafe(stackful)` if no goroutine of this program holds across a wait what belongs \
                       to its thread; see `Builder::stackful_goroutines`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments::default();
        for argument in Punctuated::<Argument, Token![,]>::parse_terminated(input)? {
            let (name, is_twice) = match argument {
                Argument::Tokio { name } => (name, std::mem::replace(&mut arguments.tokio, true)),
                Argument::Stackful { promise, name } => (name, arguments.stackful.replace(promise).is_some()),
                Argument::Named { name, value } if name == "procs" => {
                    let procs = number(value.span(), value)?;
                    (name, arguments.procs.replace(procs).is_some())
                }
                Argument::Named { name, value } if name == "start_paused" => {
                    let yes = yes_or_no(value.span(), value)?;
                    (name, arguments.start_paused.replace(yes).is_some())
                }
                Argument::Named { name, .. } => {
                    return Err(Error::new(name.span(), format!("there is no argument `{name}`{}", hint(&name))));
                }
            };
            if is_twice {
                return Err(Error::new(name.span(), format!("`{name}` is said twice: leave one out")));
            }
        }
        Ok(arguments)
    }
}

/// What may have been meant.
fn hint(name: &Ident) -> &'static str {
    match name.to_string().as_str() {
        "worker_threads" | "workers" | "threads" => ": write `procs = 4`, which is how many tasks run at once",
        "flavor" | "core_threads" => ": there is one kind of runtime; for one task at a time write `procs = 1`",
        _ => ": there are `procs`, as in `procs = 4`, `start_paused = true`, `tokio`, and `unsafe(stackful)`",
    }
}

/// A number of Ps.
fn number(span: Span, value: Expr) -> Result<LitInt> {
    let wrong = || Error::new(span, "`procs` is a number, as in `procs = 4`");
    let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = value else { return Err(wrong()) };
    match number.base10_parse::<usize>() {
        Ok(0) => Err(Error::new(span, "`procs = 0` would run nothing: write 1, or more")),
        Ok(_) => Ok(number),
        Err(_) => Err(wrong()),
    }
}

/// Whether time stands still at first.
fn yes_or_no(span: Span, value: Expr) -> Result<LitBool> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Bool(yes), .. }) => Ok(yes),
        _ => Err(Error::new(span, "`start_paused` is `true` or `false`")),
    }
}
