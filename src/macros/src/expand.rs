//! The function that stands instead of the one that was written: it makes a runtime, and runs that.

use crate::arguments::Arguments;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result};

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

/// For the compiler. With an error the function stands there too, so that no other is reported for want of it.
pub(crate) fn or_error(
    arguments: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
    kind: Kind,
) -> proc_macro::TokenStream {
    let function = TokenStream::from(function);
    let expanded = expand(arguments.into(), function.clone(), kind).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#error #function)
    });
    expanded.into()
}

/// The function that stands instead.
pub(crate) fn expand(arguments: TokenStream, function: TokenStream, kind: Kind) -> Result<TokenStream> {
    let written: ItemFn = syn::parse2(function)?;
    check(&written, kind)?;
    let Arguments { procs, start_paused, tokio, stackful } = syn::parse2(arguments)?;
    let procs = procs.map(|procs| quote!(.procs(#procs)));
    let paused = start_paused.map(|yes| quote!(.start_paused(#yes)));
    let tokio = tokio.then(|| quote!(.tokio_context()));
    // With the user's own `unsafe`, and where that stands: the lint `unsafe_code` sees it.
    let builder = match stackful {
        Some(promise) => {
            quote_spanned!(promise.span=> #promise { ::spinpark::Runtime::builder().stackful_goroutines() })
        }
        None => quote!(::spinpark::Runtime::builder()),
    };

    let ItemFn { attrs: attributes, vis: visibility, sig: mut outer, block, .. } = written;
    let inner = quote!(#outer #block);
    outer.asyncness = None;
    let name = &outer.ident;
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    Ok(quote! {
        #test
        #(#attributes)*
        #visibility #outer {
            #inner
            match #builder #procs #paused #tokio.build() {
                ::core::result::Result::Ok(runtime) => runtime.run(#name()),
                ::core::result::Result::Err(error) => ::core::panic!("no runtime could be made: {error}"),
            }
        }
    })
}

fn check(function: &ItemFn, kind: Kind) -> Result<()> {
    let (sig, attribute) = (&function.sig, if kind == Kind::Main { "main" } else { "test" });
    let says = |span, what: &str| Err(Error::new(span, format!("#[spinpark::{attribute}]: {what}")));
    if sig.asyncness.is_none() {
        let name = &sig.ident;
        return says(sig.fn_token.span(), &format!("the function is not async: write `async fn {name}`"));
    }
    if !sig.inputs.is_empty() {
        return says(sig.inputs.span(), "the function has arguments, but it is called without any");
    }
    if !sig.generics.params.is_empty() {
        return says(sig.generics.span(), "the function is generic, but its parameters cannot be inferred");
    }
    if kind == Kind::Main && sig.ident != "main" {
        return says(sig.ident.span(), "this is for `async fn main`; for another function call `spinpark::run`");
    }
    let is_test = |path: &syn::Path| path.to_token_stream().to_string() == "test";
    match function.attrs.iter().find(|other| kind == Kind::Test && is_test(other.path())) {
        Some(other) => says(other.span(), "it is a test already: leave `#[test]` out"),
        None => Ok(()),
    }
}
