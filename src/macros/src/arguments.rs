//! What stands in the brackets of an attribute.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitInt, Result, Token};

/// The arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    /// How many Ps.
    pub(crate) procs: Option<LitInt>,
}

/// `name = value`.
struct Argument {
    name: Ident,
    value: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        if !input.peek(Token![=]) {
            return Err(Error::new(name.span(), format!("`{name}` has no value: write `procs = 4`")));
        }
        input.parse::<Token![=]>()?;
        Ok(Argument { name, value: input.parse()? })
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments::default();
        for Argument { name, value } in Punctuated::<Argument, Token![,]>::parse_terminated(input)? {
            if name != "procs" {
                return Err(Error::new(name.span(), format!("there is no argument `{name}`{}", hint(&name))));
            }
            let procs = number(value.span(), value)?;
            if arguments.procs.replace(procs).is_some() {
                return Err(Error::new(name.span(), "`procs` is said twice: leave one out"));
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
        _ => ": the only one is `procs`, as in `procs = 4`",
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
