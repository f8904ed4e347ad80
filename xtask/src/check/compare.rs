//! Two sets of facts, and what only one of them holds.

use super::facts::Fact;
use super::unsayable::{self, Row};

/// What only one of two documents says.
#[derive(Debug, Default)]
pub struct Differences {
    /// In the contract, not in the code.
    pub contract_only: Vec<Difference>,
    /// In the code, not in the contract.
    pub code_only: Vec<Difference>,
    /// In the contract, and beyond what poem-openapi can say: how often each row of the list came up.
    pub unsayable: Vec<(&'static Row, usize)>,
}

/// One thing that only one document says.
#[derive(Debug)]
pub struct Difference {
    /// The way to it: operation, parameter or response, and so on down.
    pub path: String,
    /// The JSON pointer into the contract: to the thing, or to the nearest thing around it that the contract has.
    pub pointer: String,
    /// How many other ways lead to the same thing, by shared schemas.
    pub other_uses: usize,
}

/// Compares the contract's facts with the code's.
pub fn compare(contract: &Fact, code: &Fact) -> Differences {
    let mut differences = Differences::default();
    differences.descend(&mut vec![contract], code);
    differences
}

impl Differences {
    /// Whether the two documents say the same.
    pub fn is_empty(&self) -> bool {
        self.contract_only.is_empty() && self.code_only.is_empty()
    }

    /// Compares what stands under the last fact of `path`, which both documents hold.
    fn descend<'f>(&mut self, path: &mut Vec<&'f Fact>, code: &'f Fact) {
        let Some(contract) = path.last().copied() else { return };
        for fact in &contract.children {
            path.push(fact);
            match code.child(&fact.name) {
                Some(same) => self.descend(path, same),
                None => self.missing(path),
            }
            path.pop();
        }
        for fact in code.children.iter().filter(|fact| contract.child(&fact.name).is_none()) {
            path.push(fact);
            push(&mut self.code_only, spelled(path), contract.pointer.clone());
            path.pop();
        }
    }

    fn missing(&mut self, path: &[&Fact]) {
        let Some(fact) = path.last() else { return };
        match unsayable::row(path) {
            None => push(&mut self.contract_only, spelled(path), fact.pointer.clone()),
            Some(row) => match self.unsayable.iter_mut().find(|(known, _)| known.id == row.id) {
                Some((_, count)) => *count += 1,
                None => self.unsayable.push((row, 1)),
            },
        }
    }
}

fn spelled(path: &[&Fact]) -> String {
    path.iter().skip(1).map(|fact| &*fact.name).collect::<Vec<_>>().join(" > ")
}

/// Adds a difference, or counts one more use of a thing that is already listed.
fn push(list: &mut Vec<Difference>, path: String, pointer: String) {
    let what = |path: &str| path.rsplit(" > ").next().map(str::to_owned);
    let known = list.iter_mut().find(|known| known.pointer == pointer && what(&known.path) == what(&path));
    match known {
        Some(known) => known.other_uses += 1,
        None => list.push(Difference { path, pointer, other_uses: 0 }),
    }
}
