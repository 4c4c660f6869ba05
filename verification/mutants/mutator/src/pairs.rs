//! Mistakes of two lines: the scope of a lock, what is done too early by more than a line, and two statements left out together.

use crate::Kind;
use crate::steps::Put;
use crate::visit::{Deeds, Finder, bytes, idents, is_called, one_line, squeeze};
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprClosure, ExprMethodCall, Local, Pat, Stmt};

/// What runs a closure under a lock.
const LOCKS: [&str; 2] = ["with", "central"];
/// What may run a closure under the scheduler's, without a part of what that guards.
const MAY_LOCK: [&str; 1] = ["pidleget"];

/// A call that runs a closure under a lock.
struct UnderLock<'a> {
    call: &'a ExprMethodCall,
    closure: &'a ExprClosure,
    param: &'a Pat,
}

impl<'a> UnderLock<'a> {
    fn of(call: &'a ExprMethodCall) -> Option<UnderLock<'a>> {
        let Expr::Closure(closure) = call.args.last()? else { return None };
        let param = closure.inputs.first()?;
        let is_one = call.args.len() == 1 && closure.inputs.len() == 1 && is_called(&call.method, &LOCKS);
        is_one.then_some(UnderLock { call, closure, param })
    }
}

fn names(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    idents(code.parse::<TokenStream>().unwrap_or_default(), &mut found);
    found
}

/// Does it leave the closure, or the function?
fn leaves(code: &str) -> bool {
    code.contains('?') || names(code).contains("return")
}

/// The names that these statements bind, as a pattern binds them.
fn bound(stmts: &[Stmt]) -> Vec<(String, bool)> {
    #[derive(Default)]
    struct Names(Vec<(String, bool)>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0.push((pat.ident.to_string(), pat.mutability.is_some()));
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut found = Names::default();
    for stmt in stmts {
        if let Stmt::Local(Local { pat, .. }) = stmt {
            found.visit_pat(pat);
        }
    }
    found.0
}

/// What a statement looks at first: a condition, what it matches, what it gives a name to.
fn asked(stmt: &Stmt) -> Option<&Expr> {
    match stmt {
        Stmt::Local(Local { init: Some(init), .. }) => Some(&init.expr),
        Stmt::Expr(expr, _) => looked_at(expr),
        _ => None,
    }
}

fn looked_at(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::If(this) => match &*this.cond {
            Expr::Let(this) => Some(&this.expr),
            cond => (!crate::visit::has_let(cond)).then_some(cond),
        },
        Expr::Match(this) => Some(&this.expr),
        _ => None,
    }
}

/// Does it do or ask anything that others could change meanwhile?
fn matters(expr: &Expr) -> bool {
    let mut deeds = Deeds::default();
    deeds.visit_expr(expr);
    deeds.calls || deeds.assigns
}

impl Finder<'_> {
    /// Two statements of `block` are left out together. `dropped`: where the mutants are that leave out one.
    pub(crate) fn both(&mut self, dropped: &[usize]) {
        for (n, &first) in dropped.iter().enumerate() {
            for &second in &dropped[n + 1..] {
                let [one, other] = [first, second].map(|at| self.found[at].before.clone());
                let edits = [&self.found[first].edits[..], &self.found[second].edits[..]].concat();
                let at = bytes_of(&edits);
                self.add(Kind::Both, at, &one, &other, vec![], edits);
                self.found.last_mut().expect("it was added").both = Some((first, second));
            }
        }
    }

    /// Each statement of `block` comes before one that stands at least two above it; and what one in a loop looks at is looked
    /// at before the loop.
    pub(crate) fn earlier(&mut self, block: &Block) {
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter().enumerate() {
            for first in 0..i.saturating_sub(1) {
                self.swap(Kind::Earlier, &block.stmts[first..i], stmt, i == last);
            }
            let body = match stmt {
                Stmt::Expr(Expr::Loop(this), _) => &this.body,
                Stmt::Expr(Expr::While(this), _) => &this.body,
                _ => continue,
            };
            for (n, inside) in body.stmts.iter().enumerate() {
                let Some(expr) = asked(inside) else { continue };
                let used = names(self.raw(expr));
                let is_of_the_loop = bound(&body.stmts[..n]).iter().any(|(name, _)| used.contains(name));
                if !is_of_the_loop && matters(expr) && !leaves(self.raw(expr)) {
                    self.hoist_to(Kind::Earlier, bytes(stmt).start, "its loop", expr);
                }
            }
        }
    }

    /// What does not need what a lock guards is done once the lock is free: where it would have been done at all.
    pub(crate) fn after(&mut self, call: &ExprMethodCall) {
        let (Some(Expr::Closure(closure)), 1) = (call.args.last(), call.args.len()) else { return };
        let may_lock = is_called(&call.method, &MAY_LOCK);
        if !may_lock && !is_called(&call.method, &LOCKS) || closure.capture.is_some() {
            return;
        }
        let mut guarded = BTreeSet::new();
        closure.inputs.iter().for_each(|param| guarded.extend(names(self.raw(param))));
        let (whole, body) = (bytes(call), bytes(&*closure.body));
        let (head, tail) = (self.text[whole.start..body.start].to_owned(), self.text[body.end..whole.end].to_owned());
        let mut put_off = |range: std::ops::Range<usize>, above: &[Stmt], inside: std::ops::Range<usize>| {
            let code = one_line(&self.text[range.clone()]);
            let used = names(&code);
            let needs_it = !used.is_disjoint(&guarded) || bound(above).iter().any(|(name, _)| used.contains(name));
            if needs_it || leaves(&code) {
                return;
            }
            let (before, behind) = (&self.text[inside.start..range.start], &self.text[range.end..inside.end]);
            let after = one_line(&format!(
                "{{ let mut has_come = false; let kept = {head}{{ {before} has_come = true; {behind} }}{tail}; if has_come {{ {code}; }} kept }}"
            ));
            let put = Put::Around(whole.clone(), format!("(if # {after} else {{ "), " })".into());
            self.add(Kind::After, range.start, &code, "", vec![put], vec![(whole.clone(), format!("({after})"))]);
        };
        match &*closure.body {
            Expr::Block(block) => {
                let stmts = &block.block.stmts;
                for (n, stmt) in stmts.iter().enumerate() {
                    let is_done = matches!(stmt, Stmt::Expr(expr, Some(_)) if matters(expr));
                    let inside = bytes(&block.block.brace_token.span.open()).end..body.end - 1;
                    if is_done {
                        put_off(bytes(stmt), &stmts[..n], inside);
                    }
                }
            }
            only if may_lock && matters(only) => put_off(body.clone(), &[], body.clone()),
            _ => (),
        }
    }

    /// The scope of a lock: released between two statements; and what is looked at under it, looked at before.
    pub(crate) fn scope(&mut self, call: &ExprMethodCall) {
        let Some(under) = UnderLock::of(call) else { return };
        match &*under.closure.body {
            Expr::Block(body) => {
                for n in 1..body.block.stmts.len() {
                    self.split(&under, &body.block.stmts, n);
                }
                for (n, stmt) in body.block.stmts.iter().enumerate() {
                    if n > 0 || !matches!(stmt, Stmt::Local(_)) {
                        asked(stmt).into_iter().for_each(|expr| self.outside(&under, &body.block.stmts[..n], expr));
                    }
                }
            }
            body => looked_at(body).into_iter().for_each(|expr| self.outside(&under, &[], expr)),
        }
    }

    fn parts(&self, under: &UnderLock<'_>) -> (String, String) {
        let (start, end) = (bytes(under.call).start, bytes(under.closure).start);
        (one_line(&self.text[start..end]), self.raw(under.param).to_owned())
    }

    /// The lock is free between the first `n` statements and the others.
    fn split(&mut self, under: &UnderLock<'_>, stmts: &[Stmt], n: usize) {
        let whole = |stmts: &[Stmt]| {
            let (first, last) = (stmts.first().map(bytes), stmts.last().map(bytes));
            first.zip(last).map(|(first, last)| one_line(&self.text[first.start..last.end])).unwrap_or_default()
        };
        let (before, behind) = (whole(&stmts[..n]), whole(&stmts[n..]));
        let (lock, param) = self.parts(under);
        let used = names(&behind);
        if leaves(&before) || !used.contains(&param) && !used.contains("self") || behind.is_empty() {
            return;
        }
        let kept: Vec<_> = bound(&stmts[..n]).into_iter().filter(|(name, _)| used.contains(name)).collect();
        let list = |mutable: bool| {
            let name =
                |(name, is_mut): &(String, bool)| format!("{}{name},", if *is_mut && mutable { "mut " } else { "" });
            kept.iter().map(name).collect::<String>()
        };
        let after = format!(
            "{{ let ({}) = {lock}|{param}| {{ {before} ({}) }}); {lock}|{param}| {{ {behind} }}) }}",
            list(true),
            list(false)
        );
        let shown = squeeze(self.raw(&stmts[n]));
        self.instead(Kind::Split, under.call, bytes(&stmts[n]).start, &shown, "", &after);
    }

    /// What `expr` says is found out before the lock is taken; under another hold of it, if it is of what the lock guards.
    fn outside(&mut self, under: &UnderLock<'_>, above: &[Stmt], expr: &Expr) {
        let asked = one_line(self.raw(expr));
        let (lock, param) = self.parts(under);
        let used = names(&asked);
        let is_bound = bound(above).iter().any(|(name, _)| used.contains(name));
        let is_guarded = used.contains(&param);
        if is_bound || leaves(&asked) || matches!(expr, Expr::Lit(_)) || !is_guarded && !matters(expr) {
            return;
        }
        let (call, inside) = (bytes(under.call), bytes(expr));
        let head = one_line(&self.text[call.start..inside.start]);
        let tail = one_line(&self.text[inside.end..call.end]);
        let look = if is_guarded { format!("{lock}|{param}| {asked})") } else { asked.clone() };
        let after = format!("{{ let looked = {look}; {head} looked {tail} }}");
        let how = if is_guarded { "under another hold of the lock" } else { "before the lock is taken" };
        self.instead(Kind::Outside, under.call, inside.start, &asked, how, &after);
    }

    /// `node` is `after` instead, shown as something shorter.
    fn instead(&mut self, kind: Kind, node: &ExprMethodCall, at: usize, before: &str, how: &str, after: &str) {
        let range = bytes(node);
        let put = Put::Around(range.clone(), format!("(if # {after} else {{ "), " })".into());
        self.add(kind, at, before, how, vec![put], vec![(range, format!("({after})"))]);
    }
}

fn bytes_of(edits: &[crate::steps::Edit]) -> usize {
    edits.iter().map(|(range, _)| range.start).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::{Kind, Placing, Step, mutate};

    /// All mistakes of two lines of this body, and the text with them in it.
    fn pairs(body: &str) -> (Vec<Step>, String) {
        let text = format!("fn f(&self, a: u64) {{\n{body}\n}}\n");
        let mutated = mutate("f.rs", &format!("impl F {{\n{text}}}\n"), 1, &Placing::default()).expect("it is Rust");
        syn::parse_file(&mutated.text).unwrap_or_else(|error| panic!("{error}:\n{}", mutated.text));
        (mutated.steps, mutated.text)
    }

    fn what(body: &str, kind: Kind) -> Vec<String> {
        pairs(body).0.iter().filter(|step| step.kind == kind).map(Step::what).collect()
    }

    #[test]
    fn two_statements_are_left_out_by_the_switches_of_each() {
        let (steps, text) = pairs("g(a);\nh(a);\ni(a);");
        let both: Vec<&Step> = steps.iter().filter(|step| step.kind == Kind::Both).collect();
        assert_eq!(both.len(), 3);
        let (one, other) = both[0].both.expect("it is two");
        assert_eq!(both[0].name(), "f.rs F::f (two lines): `g(a);` and `h(a);` are left out");
        for id in [one, other] {
            assert!(text.contains(&format!("if !crate::is({id}) {{")), "{text}");
        }
        assert!(!text.contains(&format!("crate::is({})", both[0].id)), "it has no switch of its own: {text}");
    }

    #[test]
    fn what_stands_two_lines_below_comes_earlier() {
        assert_eq!(what("g(a);\nh(a);\ni(a);", Kind::Earlier), ["`i(a);` comes before `g(a);`"]);
        assert!(what("g(a);\nlet b = h(a);\ni(b);", Kind::Earlier).is_empty(), "it needs what stands between");
    }

    #[test]
    fn what_a_loop_looks_at_is_looked_at_once() {
        let body = "loop {\nlet b = self.look();\nif b { g(a); }\n}";
        assert_eq!(what(body, Kind::Earlier), ["`self.look()` comes before its loop"]);
        assert!(
            what("loop {\nlet b = h(a);\nlet c = g(b);\ni(c);\n}", Kind::Earlier).iter().all(|it| !it.contains("g(b)"))
        );
    }

    #[test]
    fn a_lock_is_released_between_two_statements() {
        let body = "self.lock.with(|s| {\nlet n = s.count();\nself.g();\ns.put(n);\n});";
        let after = pairs(body).1;
        assert_eq!(
            what(body, Kind::Split),
            ["the lock is released before `self.g();`", "the lock is released before `s.put(n);`"]
        );
        assert!(
            after.contains("let (n,) = self.lock.with(|s| { let n = s.count(); (n,) }); self.lock.with(|s| {"),
            "{after}"
        );
        let leaves = "self.lock.with(|s| {\nif s.is_closed() { return; }\ns.put(a);\n});";
        assert!(what(leaves, Kind::Split).is_empty(), "what leaves the closure would not leave both");
    }

    #[test]
    fn what_is_looked_at_under_a_lock_is_looked_at_before() {
        let body =
            "self.lock.with(|s| {\nif s.is_closed() { return; }\nif self.ticks() > a { return; }\ns.put(a);\n});";
        let all = what(body, Kind::Outside);
        assert_eq!(all[0], "`s.is_closed()` is looked at under another hold of the lock");
        assert_eq!(all[1], "`self.ticks() > a` is looked at before the lock is taken");
        assert!(
            pairs(body).1.contains("let looked = self.lock.with(|s| s.is_closed()); self.lock.with(|s| { if looked {")
        );
        assert!(what("self.lock.with(|s| match s.state { 0 => g(a), _ => () });", Kind::Outside).len() == 1);
    }

    #[test]
    fn what_is_done_under_a_lock_is_done_after_it() {
        let body = "let p = self.pidleget(|| {\nself.give_up(a);\nself.ask();\n});\nself.lock.with(|s| {\ns.put(a);\nself.g();\ns.len()\n});";
        assert_eq!(
            what(body, Kind::After),
            ["self.give_up(a);", "self.ask();", "self.g();"].map(|it| format!("`{it}` is done after the lock"))
        );
        let after = pairs(body).1;
        let late = "let mut has_come = false; let kept = self.pidleget(|| { has_come = true; self.ask(); }); if has_come { self.give_up(a);; } kept";
        assert!(after.contains(late), "{after}");
        let only = "self.pidleget(|| self.ask()).map(|p| p)";
        assert_eq!(what(only, Kind::After), ["`self.ask()` is done after the lock"]);
    }

    #[test]
    fn no_other_closure_is_a_lock() {
        assert!(what("self.all.map(|s| {\ns.g();\ns.h();\n});", Kind::Split).is_empty());
    }
}
