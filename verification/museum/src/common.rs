//! What the variants are made with.

pub(crate) use crate::{Exhibit, Source};
pub(crate) use spinpark_verification::engines::Engine;
pub(crate) use spinpark_verification::hosts::model_host::{Cell, ModelHost};
pub(crate) use spinpark_verification::hosts::wrap::trace::main_plays;
pub(crate) use spinpark_verification::model::{Model, rc11, sc, tso};
pub(crate) use spinpark_verification::mutation::mutant::{Mutant, Mutation, is_variant as is_wrong};

use std::sync::Arc;

/// A party of the scenario: what one thread does with what all share.
pub(crate) fn party<H: ModelHost, S: Send + Sync + 'static, R: Send + 'static>(
    name: &'static str,
    shared: &Arc<S>,
    act: impl FnOnce(&S) -> R + Send + 'static,
) -> H::Thread<R> {
    let shared = Arc::clone(shared);
    H::fork(name, move || act(&shared))
}
