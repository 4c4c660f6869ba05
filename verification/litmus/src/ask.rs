//! Reads the end of a litmus test: what is shown, and what is asked.

use crate::lex::Wrong;
use crate::parse::Parser;
use crate::question::{Item, Prop, Quantifier, Question};

impl Parser {
    /// `locations [x; 0:r0;] exists (...)`
    pub(super) fn end(&mut self) -> Result<(), Wrong> {
        let mut shown = Vec::new();
        if self.take_name("locations") {
            self.sign("[")?;
            while !self.take_sign("]") {
                shown.push(self.item()?);
                if !self.is_sign("]") {
                    self.sign(";")?;
                }
            }
        }
        if self.is_name("filter") {
            return self.wrong("`filter` is not supported");
        }
        if self.peek().is_some() {
            let quantifier = self.quantifier()?;
            let holds = self.prop(&mut shown)?;
            self.program.question = Some(Question { quantifier, holds });
        }
        if self.peek().is_some() {
            return Err(self.expected("the end of the file"));
        }
        shown.sort();
        shown.dedup();
        self.program.shown = shown;
        Ok(())
    }

    fn quantifier(&mut self) -> Result<Quantifier, Wrong> {
        if self.take_sign("~") || self.take_name("not") {
            return match self.take_name("exists") {
                true => Ok(Quantifier::NotExists),
                false => Err(self.expected("`exists`")),
            };
        }
        match self.name("`exists`, `~exists` or `forall`")?.as_str() {
            "exists" => Ok(Quantifier::Exists),
            "forall" => Ok(Quantifier::Forall),
            _ => {
                self.step_back();
                Err(self.expected("`exists`, `~exists` or `forall`"))
            }
        }
    }

    fn item(&mut self) -> Result<Item, Wrong> {
        let Some(thread) = self.take_number() else {
            let known = self.program.locations.len();
            let loc = self.location_name()?;
            if loc == known {
                self.step_back();
                return Err(self.expected("a location of the test"));
            }
            return Ok(Item::Loc(loc));
        };
        self.sign(":")?;
        let name = self.name("a register")?;
        let thread = usize::try_from(thread).unwrap_or(usize::MAX);
        let registers = self.program.threads.get(thread).map(|thread| &thread.registers);
        match registers.and_then(|registers| registers.iter().position(|other| *other == name)) {
            Some(reg) => Ok(Item::Reg(thread, reg)),
            None => {
                self.step_back();
                Err(self.expected(&format!("a register of P{thread}")))
            }
        }
    }

    fn prop(&mut self, shown: &mut Vec<Item>) -> Result<Prop, Wrong> {
        self.deeper()?;
        let left = self.any(shown)?;
        if !self.take_sign("=>") {
            self.higher();
            return Ok(left);
        }
        let right = self.prop(shown)?;
        self.higher();
        Ok(Prop::Or(Box::new(Prop::Not(Box::new(left))), Box::new(right)))
    }

    fn any(&mut self, shown: &mut Vec<Item>) -> Result<Prop, Wrong> {
        let mut prop = self.all(shown)?;
        while self.take_sign("\\/") || self.take_sign("||") {
            prop = Prop::Or(Box::new(prop), Box::new(self.all(shown)?));
        }
        Ok(prop)
    }

    fn all(&mut self, shown: &mut Vec<Item>) -> Result<Prop, Wrong> {
        let mut prop = self.atom(shown)?;
        while self.take_sign("/\\") || self.take_sign("&&") {
            prop = Prop::And(Box::new(prop), Box::new(self.atom(shown)?));
        }
        Ok(prop)
    }

    fn atom(&mut self, shown: &mut Vec<Item>) -> Result<Prop, Wrong> {
        if self.take_sign("~") || self.take_name("not") {
            self.deeper()?;
            let prop = self.atom(shown)?;
            self.higher();
            return Ok(Prop::Not(Box::new(prop)));
        }
        if self.take_sign("(") {
            let prop = self.prop(shown)?;
            self.sign(")")?;
            return Ok(prop);
        }
        for (name, truth) in [("true", true), ("false", false)] {
            if self.take_name(name) {
                return Ok(Prop::Const(truth));
            }
        }
        let item = self.item()?;
        shown.push(item);
        let differs = self.take_sign("!=");
        if !differs && !self.take_sign("==") {
            self.sign("=")?;
        }
        let is = Prop::Is(item, self.integer()?);
        Ok(if differs { Prop::Not(Box::new(is)) } else { is })
    }
}
