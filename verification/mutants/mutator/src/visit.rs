//! Finding what can be mistaken.

use crate::steps::{Edit, Found, Put};
use crate::{ByHand, Kind, steps};
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Block, Expr, ImplItemFn, ItemFn, Lit, Local, Pat, ReturnType, Signature, Stmt, TraitItemFn, Type, UnOp,
};

/// At the top of a file that only checkers build.
const FOR_CHECKERS: &str = "#![cfg(feature = \"model\")]";

/// Every mistake that can be made in `syntax`, in the order of the text.
///
/// None in a file that only checkers build.
pub(crate) fn find(file: &str, text: &str, syntax: &syn::File) -> Vec<Found> {
    if text.lines().any(|line| line == FOR_CHECKERS) {
        return Vec::new();
    }
    let mut finder = Finder {
        file,
        text,
        owner: String::new(),
        function: String::new(),
        body: None,
        answers: &[],
        found: Vec::new(),
    };
    finder.visit_file(syntax);
    finder.found
}

/// What was made by hand in this file.
///
/// # Errors
/// What does not fit.
pub(crate) fn by_hand(file: &str, text: &str, syntax: &syn::File, all: &[ByHand]) -> Result<Vec<Found>, String> {
    let mut functions = Functions::default();
    functions.visit_file(syntax);
    let found = |edit: &ByHand| {
        let times = text.matches(&edit.from).count();
        let Some(at) = text.find(&edit.from).filter(|_| times == 1) else {
            return Err(format!("{file}: `{}` stands {times} times in it, for: {}", edit.from, edit.what));
        };
        let range = at..at + edit.from.len();
        let is_around = |(_, body): &&(String, Range<usize>)| body.start < range.start && range.end < body.end;
        let around = functions.0.iter().filter(is_around).min_by_key(|(_, body)| body.len());
        let Some((function, body)) = around else {
            return Err(format!("{file}: `{}` stands in no function, for: {}", edit.from, edit.what));
        };
        Ok(Found {
            file: file.to_owned(),
            line: text[..at].matches('\n').count() + 1,
            function: function.clone(),
            kind: Kind::Edited,
            before: edit.what.clone(),
            after: String::new(),
            put: Vec::new(),
            edits: vec![(range, edit.to.clone())],
            body: Some(body.clone()),
            both: None,
        })
    };
    all.iter().filter(|edit| edit.file == file).map(found).collect()
}

/// Functions by name, and the bytes of their bodies.
#[derive(Default)]
struct Functions(Vec<(String, Range<usize>)>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.0.push((item.sig.ident.to_string(), bytes(&item.block)));
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.0.push((item.sig.ident.to_string(), bytes(&item.block)));
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.0.extend(item.default.iter().map(|block| (item.sig.ident.to_string(), bytes(block))));
        visit::visit_trait_item_fn(self, item);
    }
}

pub(crate) struct Finder<'a> {
    file: &'a str,
    pub(crate) text: &'a str,
    owner: String,
    function: String,
    /// The bytes of its body, braces included.
    body: Option<Range<usize>>,
    /// What it could return at any moment. In a closure: nothing that is known.
    answers: &'static [&'static str],
    pub(crate) found: Vec<Found>,
}

pub(crate) fn bytes(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

/// One line, one space between words, no comments: for display and for keys.
pub(crate) fn squeeze(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// As it may be put into one line of code: without comments, a string that goes on in the next line put together.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    steps::joined(lines.filter(|line| !line.is_empty()))
}

pub(crate) fn idents(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(into.insert(ident.to_string())),
            TokenTree::Group(group) => idents(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => (),
        }
    }
}

/// The names that a pattern binds.
#[derive(Default)]
struct Bound(BTreeSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }
}

/// Does `code` use a name that `stmt` binds?
fn needs(code: &str, stmt: &Stmt) -> bool {
    let Stmt::Local(Local { pat, .. }) = stmt else { return false };
    let mut bound = Bound::default();
    bound.visit_pat(pat);
    let mut used = BTreeSet::new();
    idents(code.parse().unwrap_or_default(), &mut used);
    !bound.0.is_disjoint(&used)
}

/// Calls that may be made twice: the second does nothing, or is a wake, which may come spuriously.
const IDEMPOTENT: [&str; 15] = [
    "checkdead",
    "compiler_fence",
    "store",
    "store_load",
    "set",
    "count",
    "unpark",
    "wake",
    "wakep",
    "interrupt",
    "clear",
    "poller",
    "monitor",
    "closer",
    "rouse_monitor",
];

/// Calls that only compute.
const PURE: [&str; 30] = [
    "Err",
    "Ok",
    "PId",
    "Some",
    "ahead",
    "as_mut",
    "as_ref",
    "bound",
    "capacity",
    "clone",
    "distance",
    "filter",
    "from",
    "get",
    "id",
    "index",
    "is_behind",
    "is_none",
    "is_some",
    "len",
    "map",
    "max",
    "min",
    "new",
    "procs",
    "proc",
    "saturating_sub",
    "was_detached",
    "wrapping_sub",
    "wrapping_add",
];

/// What a piece of code does, besides computing.
#[derive(Default)]
pub(crate) struct Deeds {
    pub(crate) calls: bool,
    pub(crate) assigns: bool,
    asks_self: bool,
}

impl<'ast> Visit<'ast> for Deeds {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::MethodCall(call) => self.calls |= !is_called(&call.method, &PURE),
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Path(path) => path.path.segments.last().map(|last| &last.ident),
                    _ => None,
                };
                // What begins with a capital letter makes a value.
                let makes = |name: &Ident| name.to_string().starts_with(char::is_uppercase);
                self.calls |= !name.is_some_and(|name| makes(name) || is_called(name, &PURE));
            }
            Expr::Macro(_) => self.calls = true,
            Expr::Assign(_) => self.assigns = true,
            Expr::Binary(binary) => {
                self.assigns |= matches!(binary.op, BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::BitOrAssign(_));
            }
            Expr::Path(path) => self.asks_self |= path.path.is_ident("self"),
            _ => (),
        }
        visit::visit_expr(self, expr);
    }
}

/// Can it make a difference that `second` is found out before `first` is done?
fn is_order_free(first: &Stmt, second: &Expr) -> bool {
    let (mut one, mut other) = (Deeds::default(), Deeds::default());
    one.visit_stmt(first);
    other.visit_expr(second);
    let first_only_computes = !one.calls && !one.assigns;
    if first_only_computes && !one.asks_self && matches!(first, Stmt::Local(_)) {
        return true; // a name for what is in hand already
    }
    !other.calls && !other.assigns && (first_only_computes || !other.asks_self)
}

/// The name of what a statement calls.
fn called(expr: &Expr) -> Option<String> {
    match expr {
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Is there a `let` in this condition? Then it is no value.
pub(crate) fn has_let(cond: &Expr) -> bool {
    match cond {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

impl Finder<'_> {
    pub(crate) fn raw(&self, node: &impl Spanned) -> &str {
        &self.text[bytes(node)]
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    pub(crate) fn add(&mut self, kind: Kind, at: usize, before: &str, after: &str, put: Vec<Put>, edits: Vec<Edit>) {
        let function = match self.owner.as_str() {
            "" => self.function.clone(),
            owner => format!("{owner}::{}", self.function),
        };
        let (file, line) = (self.file.to_owned(), self.line(at));
        let (before, after, body) = (squeeze(before), squeeze(after), self.body.clone());
        self.found.push(Found { file, line, function, kind, before, after, put, edits, body, both: None });
    }

    /// `node` is `after` instead.
    fn replace(&mut self, kind: Kind, node: &impl Spanned, after: &str) {
        let range = bytes(node);
        let before = self.text[range.clone()].to_owned();
        let open = format!("(if # {{ {} }} else {{ ", one_line(after));
        let edit = (range.clone(), format!("({})", one_line(after)));
        self.add(kind, range.start, &before, after, vec![Put::Around(range, open, " })".into())], vec![edit]);
    }

    /// A condition that is a value: always, never.
    fn condition(&mut self, cond: &Expr, may_be_always: bool) {
        let range = bytes(cond);
        let before = self.text[range.clone()].to_owned();
        if has_let(cond) {
            let (at, put) = (range.start, Put::Before(range.start, "!# && ".into()));
            self.add(Kind::Never, at, &before, "false", vec![put], vec![(at..at, "false && ".into())]);
            return;
        }
        let around = |open: &str, close: &str| vec![Put::Around(range.clone(), open.into(), close.into())];
        let instead = |value: &str| vec![(range.clone(), value.to_owned())];
        if may_be_always {
            self.add(Kind::Always, range.start, &before, "true", around("(# || (", "))"), instead("true"));
        }
        self.add(Kind::Never, range.start, &before, "false", around("(!# && (", "))"), instead("false"));
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() || signature.asyncness.is_some() {
            return;
        }
        let outer = std::mem::replace(&mut self.function, signature.ident.to_string());
        // Two bodies have two hidden types.
        let has_a_name = !matches!(&signature.output, ReturnType::Type(_, output) if is_hidden(output));
        let outer_body = std::mem::replace(&mut self.body, has_a_name.then(|| bytes(block)));
        let outer_answers = std::mem::replace(&mut self.answers, answers(&signature.output));
        self.early(block);
        self.visit_block(block);
        (self.function, self.body, self.answers) = (outer, outer_body, outer_answers);
    }

    fn early(&mut self, block: &Block) {
        let at = bytes(&block.brace_token.span.open()).end;
        for answer in self.answers {
            let put = Put::Before(at, format!(" if # {{ return {answer}; }}"));
            let function = self.function.clone();
            let after = format!("return {answer};").replace(" ;", ";");
            let edit = (at..at, format!(" {after}"));
            self.add(Kind::Early, at, &format!("fn {function}"), &after, vec![put], vec![edit]);
        }
    }

    /// An arm, which is called so, begins with a return; unless it does nothing else.
    fn arm(&mut self, called: &str, body: &Expr) {
        let code = squeeze(self.raw(body));
        for answer in self.answers {
            let is_all = code == *answer || answer.is_empty() && ["()", "{}"].contains(&code.as_str());
            if is_all || matches!(body, Expr::Return(_)) {
                continue;
            }
            let after = format!("return {answer};").replace(" ;", ";");
            let range = bytes(body);
            let put = Put::Around(range.clone(), format!("{{ if # {{ {after} }} "), " }".into());
            let edits = vec![(range.start..range.start, format!("{{ {after} ")), (range.end..range.end, " }".into())];
            self.add(Kind::Arm, range.start, called, &after, vec![put], edits);
        }
    }

    /// The same of the two of an `if`: its blocks stay blocks.
    fn branch(&mut self, called: &str, block: &Block) {
        let at = bytes(&block.brace_token.span.open()).end;
        for answer in self.answers {
            let is_all = match &block.stmts[..] {
                [] => true,
                [Stmt::Expr(only, _)] => matches!(only, Expr::Return(_)) || squeeze(self.raw(only)) == *answer,
                _ => false,
            };
            if is_all {
                continue;
            }
            let after = format!("return {answer};").replace(" ;", ";");
            let put = Put::Before(at, format!(" if # {{ {after} }}"));
            self.add(Kind::Arm, at, called, &after, vec![put], vec![(at..at, format!(" {after}"))]);
        }
    }

    fn statement(&mut self, stmt: &Stmt, is_last: bool) {
        let Stmt::Expr(expr, semi) = stmt else { return };
        let is_left_alone =
            matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Loop(_) | Expr::Const(_));
        if is_left_alone || (is_last && semi.is_none()) {
            return;
        }
        let range = bytes(stmt);
        let raw = self.text[range.clone()].to_owned();
        let around = |open: &str, close: &str| Put::Around(range.clone(), open.into(), close.into());
        let gone = vec![(range.clone(), String::new())];
        self.add(Kind::Dropped, range.start, &raw, "", vec![around("if !# { ", " }")], gone);
        if called(expr).is_some_and(|name| !IDEMPOTENT.contains(&name.as_str())) {
            let again = one_line(&raw);
            let put = Put::After(range.end, format!(" if # {{ {again} }}"));
            let edit = (range.end..range.end, format!(" {again}"));
            self.add(Kind::Doubled, range.start, &raw, &format!("{again} {again}"), vec![put], vec![edit]);
        }
    }

    /// `second` comes before the first of those `above` it, as far as that can be.
    pub(crate) fn swap(&mut self, kind: Kind, above: &[Stmt], second: &Stmt, is_last: bool) {
        let stays = |stmt: &Stmt| matches!(stmt, Stmt::Item(_) | Stmt::Macro(_) | Stmt::Expr(Expr::Const(_), _));
        if above.iter().any(stays) {
            return;
        }
        match second {
            Stmt::Local(Local { init: Some(init), .. }) if init.diverge.is_none() => {
                self.hoist(kind, above, &init.expr)
            }
            Stmt::Expr(Expr::If(this), _) if !has_let(&this.cond) => self.hoist(kind, above, &this.cond),
            Stmt::Expr(Expr::If(this), _) => {
                if let Expr::Let(this) = &*this.cond {
                    self.hoist(kind, above, &this.expr);
                }
            }
            Stmt::Expr(Expr::Match(this), _) => self.hoist(kind, above, &this.expr),
            Stmt::Expr(
                Expr::Const(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Loop(_) | Expr::While(_),
                _,
            ) => (),
            Stmt::Expr(expr, None) if is_last => self.hoist(kind, above, expr),
            Stmt::Expr(expr, _) => {
                let (raw, first) = (self.raw(second).to_owned(), &above[0]);
                if is_order_free(first, expr) || above.iter().any(|stmt| needs(&raw, stmt)) {
                    return;
                }
                let (at, range) = (bytes(first).start, bytes(second));
                let put = vec![
                    Put::Before(at, format!("if # {{ {} }} ", one_line(&raw))),
                    Put::Around(range.clone(), "if !# { ".into(), " }".into()),
                ];
                let after = format!("before `{}`", squeeze(self.raw(first)));
                let edits = vec![(at..at, format!("{} ", one_line(&raw))), (range.clone(), String::new())];
                self.add(kind, range.start, &raw, &after, put, edits);
            }
            _ => (),
        }
    }

    /// What `asked` says is found out before the first of those `above` it is done.
    fn hoist(&mut self, kind: Kind, above: &[Stmt], asked: &Expr) {
        let raw = self.raw(asked).to_owned();
        // What does nothing may be done at any time.
        let does_nothing = matches!(asked, Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_));
        let needs_them = above.iter().any(|stmt| needs(&raw, stmt));
        if does_nothing || is_order_free(&above[0], asked) || needs_them || raw.contains('?') {
            return;
        }
        let what = format!("`{}`", squeeze(self.raw(&above[0])));
        self.hoist_to(kind, bytes(&above[0]).start, &what, asked);
    }

    /// The same at this byte: before `what`.
    pub(crate) fn hoist_to(&mut self, kind: Kind, at: usize, what: &str, asked: &Expr) {
        let (raw, range) = (self.raw(asked).to_owned(), bytes(asked));
        let name = format!("hoisted_{}_{at}", range.start);
        let put = vec![
            Put::Before(at, format!("let {name} = if # {{ Some({}) }} else {{ None }}; ", one_line(&raw))),
            Put::Around(range.clone(), format!("(match {name} {{ Some(it) => it, None => {{ "), " } })".into()),
        ];
        let edits = vec![(at..at, format!("let {name} = {}; ", one_line(&raw))), (range.clone(), name)];
        self.add(kind, range.start, &raw, &format!("before {what}"), put, edits);
    }

    fn method(&mut self, call: &syn::ExprMethodCall) {
        let name = call.method.to_string();
        let other = match name.as_str() {
            "min" => "max",
            "max" => "min",
            "wrapping_add" => "wrapping_sub",
            "wrapping_sub" => "wrapping_add",
            "saturating_add" => "saturating_sub",
            "saturating_sub" => "saturating_add",
            "is_some" => "is_none",
            "is_none" => "is_some",
            "is_ok" => "is_err",
            "is_err" => "is_ok",
            "any" => "all",
            "all" => "any",
            "push_back" => "push_front",
            "pop_front" => "pop_back",
            _ => return self.negate(call, &name),
        };
        let (whole, method) = (bytes(call), bytes(&call.method));
        let after = format!("{}{other}{}", &self.text[whole.start..method.start], &self.text[method.end..whole.end]);
        self.replace(Kind::Replaced, call, &after);
    }

    fn negate(&mut self, call: &syn::ExprMethodCall, name: &str) {
        if ["is_empty", "is_some_and", "is_none_or"].contains(&name) {
            let after = format!("!{}", self.raw(call));
            self.replace(Kind::Replaced, call, &after);
        }
    }
}

/// What a function could return at any moment, by its type.
fn answers(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, output) = output else { return &[""] };
    let Type::Path(path) = &**output else { return &[] };
    match path.path.segments.last().map(|last| last.ident.to_string()).as_deref() {
        Some("bool") => &["true", "false"],
        Some("Option") => &["None"],
        Some("u64" | "u32" | "usize" | "Nanos") => &["0", "1"],
        _ => &[],
    }
}

/// Is there an `impl Trait` in this type?
fn is_hidden(output: &Type) -> bool {
    #[derive(Default)]
    struct Hidden(bool);
    impl<'ast> Visit<'ast> for Hidden {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut hidden = Hidden::default();
    hidden.visit_type(output);
    hidden.0
}

/// What an operator is taken for.
fn other(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        BinOp::Mul(_) => "+",
        BinOp::Div(_) => "*",
        BinOp::Rem(_) => "/",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        _ => return None,
    })
}

pub(crate) fn is_called(ident: &Ident, names: &[&str]) -> bool {
    names.iter().any(|name| ident == name)
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = |path: &syn::Path| path.segments.last().map(|last| last.ident.clone());
        // What is only for display.
        let shows = item.trait_.as_ref().and_then(|(path, _)| of(path));
        if shows.is_some_and(|name| is_called(&name, &["Debug", "Display", "Error"])) {
            return;
        }
        let owner = match &*item.self_ty {
            Type::Path(path) => of(&path.path).map(|name| name.to_string()).unwrap_or_default(),
            _ => String::new(),
        };
        let outer = std::mem::replace(&mut self.owner, owner);
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
        if !is_test {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let last = block.stmts.len().saturating_sub(1);
        let mut dropped = Vec::new();
        for (i, stmt) in block.stmts.iter().enumerate() {
            let next = self.found.len();
            self.statement(stmt, i == last);
            dropped.extend(self.found.get(next).is_some_and(|found| found.kind == Kind::Dropped).then_some(next));
            if i > 0 {
                self.swap(Kind::Swapped, &block.stmts[i - 1..i], stmt, i == last);
            }
        }
        self.both(&dropped);
        self.earlier(block);
        visit::visit_block(self, block);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // No calls there.
            Expr::Const(_) | Expr::Repeat(_) => return,
            Expr::If(this) => {
                self.condition(&this.cond, true);
                let cond = squeeze(self.raw(&*this.cond));
                self.branch(&format!("if {cond}"), &this.then_branch);
                if let Some((_, other)) = &this.else_branch
                    && let Expr::Block(other) = &**other
                {
                    self.branch(&format!("else of {cond}"), &other.block);
                }
            }
            Expr::Closure(_) => {
                let answers = std::mem::replace(&mut self.answers, &[]);
                visit::visit_expr(self, expr);
                self.answers = answers;
                return;
            }
            Expr::While(this) => self.condition(&this.cond, false),
            Expr::MethodCall(call) => {
                if is_called(&call.method, &["then", "then_some"]) {
                    self.condition(&call.receiver, true);
                }
                self.method(call);
                self.scope(call);
                self.after(call);
            }
            Expr::Call(call) => {
                if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")) {
                    self.replace(Kind::Replaced, expr, "None");
                }
            }
            Expr::Binary(binary) if !has_let(expr) => {
                if let Some(other) = other(&binary.op) {
                    let after = format!("{} {other} {}", self.raw(&binary.left), self.raw(&binary.right));
                    self.replace(Kind::Replaced, expr, &after);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let after = self.raw(&unary.expr).to_owned();
                self.replace(Kind::Replaced, expr, &after);
            }
            Expr::Lit(lit) => match &lit.lit {
                Lit::Bool(lit) => self.replace(Kind::Replaced, expr, if lit.value { "false" } else { "true" }),
                Lit::Int(lit) => {
                    if let Ok(n) = lit.base10_parse::<u64>() {
                        let after = format!("{}{}", n + 1, lit.suffix());
                        self.replace(Kind::Replaced, expr, &after);
                    }
                }
                _ => (),
            },
            _ => (),
        }
        visit::visit_expr(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Pat::Guard(guarded) = &arm.pat {
            self.condition(&guarded.guard, true);
            self.visit_expr(&guarded.guard);
        }
        let called = format!("{} =>", squeeze(self.raw(&arm.pat)));
        match &*arm.body {
            Expr::Block(body) if body.label.is_none() => self.branch(&called, &body.block),
            body => self.arm(&called, body),
        }
        self.visit_expr(&arm.body);
    }

    // Patterns, types and constants: no code of the kernel's protocol runs there.
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
}
