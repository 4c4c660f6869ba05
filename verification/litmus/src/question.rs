//! What a litmus test asks, and what the answer may be.

use crate::model::MemoryModel;
use crate::program::{Loc, Program, Reg};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// Something that has a value in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A register of a thread.
    Reg(usize, Reg),
    /// A location.
    Loc(Loc),
}

/// The question at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// How often it should hold.
    pub quantifier: Quantifier,
    /// What.
    pub holds: Prop,
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// In some outcome.
    Exists,
    /// In none.
    NotExists,
    /// In all.
    Forall,
}

/// What may hold in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prop {
    /// `true` or `false`.
    Const(bool),
    /// This has this value.
    Is(Item, i64),
    /// `~`
    Not(Box<Prop>),
    /// `/\`
    And(Box<Prop>, Box<Prop>),
    /// `\/`
    Or(Box<Prop>, Box<Prop>),
}

/// What the author of a test expects, if he says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// What RC11 says to the question.
    pub verdict: Option<Verdict>,
    /// What other models say.
    pub elsewhere: BTreeMap<MemoryModel, Verdict>,
    /// How many outcomes there are.
    pub outcomes: Option<u64>,
    /// How many consistent graphs.
    pub executions: Option<u64>,
}

impl Expected {
    /// What is expected of this model.
    pub fn of(&self, model: MemoryModel) -> Expected {
        match model {
            MemoryModel::Rc11 => self.clone(),
            _ => Expected { verdict: self.elsewhere.get(&model).copied(), ..Expected::default() },
        }
    }
}

/// What the model says: in how many outcomes does the question's proposition hold?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// In none.
    Never,
    /// In some, not in others.
    Sometimes,
    /// In all.
    Always,
    /// There is a data race: the outcome is not defined.
    Race,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Never => "Never",
            Verdict::Sometimes => "Sometimes",
            Verdict::Always => "Always",
            Verdict::Race => "Race",
        })
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        })
    }
}

impl Quantifier {
    /// Is it so, if the proposition holds this often? With a race nothing is.
    pub fn is_met_by(self, verdict: Verdict) -> bool {
        match self {
            Quantifier::Exists => matches!(verdict, Verdict::Sometimes | Verdict::Always),
            Quantifier::NotExists => verdict == Verdict::Never,
            Quantifier::Forall => verdict == Verdict::Always,
        }
    }
}

impl std::str::FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "Never" => Ok(Verdict::Never),
            "Sometimes" => Ok(Verdict::Sometimes),
            "Always" => Ok(Verdict::Always),
            "Race" => Ok(Verdict::Race),
            _ => Err(format!("expected Never, Sometimes, Always or Race, found `{text}`")),
        }
    }
}

impl Prop {
    fn evaluate(&self, value: &impl Fn(Item) -> Option<i64>) -> bool {
        match self {
            Prop::Const(truth) => *truth,
            Prop::Is(item, wanted) => value(*item) == Some(*wanted),
            Prop::Not(p) => !p.evaluate(value),
            Prop::And(p, q) => p.evaluate(value) && q.evaluate(value),
            Prop::Or(p, q) => p.evaluate(value) || q.evaluate(value),
        }
    }
}

impl Program {
    /// What an item is called.
    pub fn item_name(&self, item: Item) -> String {
        match item {
            Item::Reg(thread, reg) => format!("{thread}:{}", self.threads[thread].registers[reg]),
            Item::Loc(loc) => format!("[{}]", self.locations[loc].name),
        }
    }

    /// A proposition as text: `0:r0=0 /\ [x]=1`
    pub fn prop_text(&self, prop: &Prop) -> String {
        match prop {
            Prop::Const(truth) => truth.to_string(),
            Prop::Is(item, value) => format!("{}={value}", self.item_name(*item)),
            Prop::Not(p) => format!("~({})", self.prop_text(p)),
            Prop::And(p, q) => format!("{} /\\ {}", self.side(p), self.side(q)),
            Prop::Or(p, q) => format!("{} \\/ {}", self.side(p), self.side(q)),
        }
    }

    /// In brackets where it could be read otherwise.
    fn side(&self, prop: &Prop) -> String {
        match prop {
            Prop::Or(..) => format!("({})", self.prop_text(prop)),
            _ => self.prop_text(prop),
        }
    }

    /// An outcome as text: `0:r0=1; 1:r0=0; [x]=2;`
    pub fn outcome(&self, value: impl Fn(Item) -> i64) -> String {
        let mut text = String::new();
        for item in &self.shown {
            let _ = write!(text, "{}={}; ", self.item_name(*item), value(*item));
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Does the question's proposition hold in this outcome?
    pub fn holds_in(&self, outcome: &str) -> bool {
        let values: Vec<i64> =
            outcome.split(';').filter_map(|part| part.rsplit_once('=')?.1.trim().parse().ok()).collect();
        let place = |item| self.shown.iter().position(|shown| *shown == item);
        let value = |item| place(item).and_then(|place| values.get(place).copied());
        self.question.as_ref().is_some_and(|question| question.holds.evaluate(&value))
    }

    /// What these outcomes answer.
    pub fn verdict<'a>(&self, race: bool, outcomes: impl IntoIterator<Item = &'a String>) -> Verdict {
        if race {
            return Verdict::Race;
        }
        let (mut some, mut all) = (false, true);
        for outcome in outcomes {
            let holds = self.holds_in(outcome);
            some |= holds;
            all &= holds;
        }
        match (some, all) {
            (false, _) => Verdict::Never,
            (true, false) => Verdict::Sometimes,
            (true, true) => Verdict::Always,
        }
    }
}
