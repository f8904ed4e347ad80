//! A schema as it works: references followed, `allOf` merged, the spellings of 3.0 turned into those of 3.1.
//!
//! Owns what is the same in spite of another spelling. It never compares.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::Version;

use super::types::Types;
use super::value::same;
use super::{is_annotation, null};
use crate::document::Side;

/// The texts that make up one schema: more than one where `allOf` brings the same property twice; none lets all through.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'n> {
    /// The texts.
    pub nodes: Vec<&'n Node>,
    /// Where the schema is named.
    pub at: Span,
}

impl<'n> Parts<'n> {
    /// A schema that one text says.
    pub(crate) fn one(node: &'n Node, at: Span) -> Self {
        Self { nodes: vec![node], at }
    }

    /// A schema under a key.
    pub(crate) fn under(entry: &'n Entry) -> Self {
        Self::one(&entry.value, entry.key.span)
    }

    /// What lets everything through.
    pub(crate) const fn any(at: Span) -> Self {
        Self { nodes: Vec::new(), at }
    }

    /// The same schemas have the same address.
    pub(crate) fn address(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| std::ptr::from_ref(*node) as usize).collect()
    }
}

/// Alternatives: `oneOf` or `anyOf`, but for `null`.
#[derive(Clone, Debug)]
pub(crate) struct Alternatives<'n> {
    /// The members.
    pub members: Vec<&'n Node>,
    /// Where the keyword stands.
    pub at: Span,
}

/// Alternatives that are constants each: an enum.
#[derive(Clone, Debug)]
pub(crate) struct List<'n> {
    /// The values.
    pub values: Vec<&'n Node>,
    /// Where the keyword stands.
    pub at: Span,
}

/// A schema as it works.
#[derive(Debug)]
pub(crate) struct View<'n> {
    /// Where it is named.
    pub at: Span,
    /// The component that it is, when it is one.
    pub name: Option<&'n str>,
    /// Whether it is `false`.
    pub never: bool,
    /// Its types, without `null`.
    pub types: Types,
    /// Where they are said.
    pub types_at: Option<Span>,
    /// Whether `null` is valid.
    pub null: bool,
    /// Each `oneOf`: what is valid is so under all of them.
    pub one_of: Vec<Alternatives<'n>>,
    /// Each `anyOf`.
    pub any_of: Vec<Alternatives<'n>>,
    /// `oneOf` and `anyOf` that are enums.
    pub lists: Vec<List<'n>>,
    /// The discriminators that choose between the schemas that this one stands for.
    discriminators: Vec<&'n Entry>,
    /// All other keywords, each with the number of the text that it is from.
    keywords: Vec<(usize, &'n Entry)>,
}

impl<'n> View<'n> {
    /// Looks at a schema.
    pub(crate) fn of(side: &Side<'n>, parts: &Parts<'n>) -> Self {
        let mut reading = Reading {
            side,
            view: Self {
                at: parts.at,
                name: None,
                never: false,
                types: Types::ANY,
                types_at: None,
                null: true,
                one_of: Vec::new(),
                any_of: Vec::new(),
                lists: Vec::new(),
                discriminators: Vec::new(),
                keywords: Vec::new(),
            },
            types: Types::ANY,
            left: parts
                .nodes
                .iter()
                .rev()
                .map(|node| Left { node, excused: false, inherited: false })
                .collect(),
            seen: HashMap::new(),
        };
        reading.run();
        reading.finish()
    }

    /// Every entry of a keyword.
    pub(crate) fn entries<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'n Entry> + use<'a, 'n> {
        self.keywords.iter().map(|(_, entry)| *entry).filter(move |entry| entry.key.text == keyword)
    }

    /// The first entry of a keyword.
    pub(crate) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.keywords.iter().map(|(_, entry)| *entry).find(|entry| entry.key.text == keyword)
    }

    /// Whether a keyword is `true` somewhere.
    pub(crate) fn flag(&self, keyword: &str) -> bool {
        self.entries(keyword).any(|entry| matches!(entry.value.value, Value::Bool(true)))
    }

    /// The texts that make up the schema, each with its own keywords.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Text<'_, 'n>> {
        self.keywords.chunk_by(|(left, _), (right, _)| left == right).map(Text)
    }

    /// Every schema under a keyword, but for those that let all through.
    pub(crate) fn parts(&self, keyword: &str) -> Option<Parts<'n>> {
        let nodes: Vec<&Node> =
            self.entries(keyword).map(|entry| &entry.value).filter(|node| !says_nothing(node)).collect();
        (!nodes.is_empty()).then(|| Parts { nodes, at: self.place(keyword) })
    }

    /// Every keyword there is.
    pub(crate) fn keywords(&self) -> BTreeSet<&'n str> {
        self.keywords.iter().map(|(_, entry)| entry.key.text.as_str()).collect()
    }

    /// Where a keyword stands, or else where the schema is named.
    pub(crate) fn place(&self, keyword: &str) -> Span {
        self.entry(keyword).map_or(self.at, |entry| entry.key.span)
    }

    /// Whether a bound counts its own value out, as 3.0 says it: `exclusiveMinimum: true` beside `minimum`.
    pub(crate) fn is_flagged(&self, bound: &Entry, flag: &str) -> bool {
        let part = self.keywords.iter().find(|(_, entry)| std::ptr::eq(*entry, bound)).map(|(part, _)| *part);
        self.keywords.iter().any(|(of, entry)| {
            Some(*of) == part && entry.key.text == flag && matches!(entry.value.value, Value::Bool(true))
        })
    }

    /// Whether a discriminator chooses between the schemas that this one stands for; one that is taken over from another
    /// schema does not.
    pub(crate) fn discriminates(&self, discriminator: &Entry) -> bool {
        self.discriminators.iter().any(|own| std::ptr::eq(*own, discriminator))
    }

    /// The names of the properties, each with the schemas that it must meet.
    pub(crate) fn properties(&self) -> BTreeMap<&'n str, Parts<'n>> {
        let mut properties: BTreeMap<&str, Parts<'_>> = BTreeMap::new();
        for entry in self.entries("properties").filter_map(|entry| entry.value.entries()).flatten() {
            properties
                .entry(entry.key.text.as_str())
                .and_modify(|parts| parts.nodes.push(&entry.value))
                .or_insert_with(|| Parts::under(entry));
        }
        properties
    }

    /// The names of the properties that must be there, each with the place that says so.
    pub(crate) fn required(&self) -> BTreeMap<&'n str, Span> {
        let names = self.entries("required").filter_map(|entry| entry.value.items()).flatten();
        names.filter_map(|name| Some((name.as_str()?, name.span))).collect()
    }
}

/// One text of a schema.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a, 'n>(&'a [(usize, &'n Entry)]);

impl<'n> Text<'_, 'n> {
    /// The entry of a keyword.
    pub(crate) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.0.iter().map(|(_, entry)| *entry).find(|entry| entry.key.text == keyword)
    }
}

/// Whether a schema lets everything through.
pub(crate) fn says_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Bool(all) => *all,
        Value::Mapping(entries) => entries.is_empty(),
        _ => false,
    }
}

struct Reading<'a, 'n> {
    side: &'a Side<'n>,
    view: View<'n>,
    types: Types,
    /// Texts that are still to be read, the next one last: a chain of references must not cost stack.
    left: Vec<Left<'n>>,
    /// The texts that were read, by their address, and whether each was excused.
    seen: HashMap<usize, bool>,
}

/// A text to be read.
struct Left<'n> {
    node: &'n Node,
    /// Whether `null` is let in from outside, so that it does not matter what the text says of it.
    excused: bool,
    /// Whether a schema with a name of its own takes it over from another by `allOf`.
    inherited: bool,
}

impl<'n> Reading<'_, 'n> {
    fn run(&mut self) {
        let mut part = 0;
        while let Some(Left { node, excused, inherited }) = self.left.pop() {
            let address = std::ptr::from_ref(node) as usize;
            let again = match self.seen.get(&address) {
                None => false,
                Some(was_excused) if *was_excused && !excused => true,
                // It has been read no less strictly.
                Some(_) => continue,
            };
            self.seen.insert(address, excused);
            match &node.value {
                Value::Bool(false) => self.view.never = true,
                Value::Mapping(entries) => self.mapping(part, entries, (excused, inherited), again),
                _ => {}
            }
            part += usize::from(!again);
        }
    }

    /// Reads a text; `again` when only what it says of `null` is still to be read.
    fn mapping(
        &mut self,
        part: usize,
        entries: &'n [Entry],
        (excused, inherited): (bool, bool),
        again: bool,
    ) {
        let version = self.side.document.version;
        if let Some(reference) = entries.iter().find(|entry| entry.key.text == "$ref")
            && let Some(target) = reference.value.as_str()
        {
            if part == 0 && !again {
                self.view.name = target.rsplit('/').next();
                // What a shared schema lacks, it lacks once, whoever uses it.
                self.view.at = self.side.named_at(target).unwrap_or(self.view.at);
            }
            self.left.extend(self.side.resolve(target).map(|node| Left { node, excused, inherited }));
            // In 3.0 what stands beside a reference is not read.
            if version == Version::V30 {
                return;
            }
        }
        let excused = excused || null::is_let_in(entries, version);
        if !excused {
            self.view.null &= entries.iter().all(|entry| null::is_let_by(self.side, entry));
        }
        for entry in entries {
            match entry.key.text.as_str() {
                "$ref" => {}
                "allOf" => {
                    let items = entry.value.items().unwrap_or_default();
                    let own = items.len() > 1 || entries.iter().any(|entry| entry.key.text == "properties");
                    let inherited = inherited || own && self.view.name.is_some();
                    self.left.extend(items.iter().rev().map(|node| Left { node, excused, inherited }));
                }
                "oneOf" | "anyOf" => self.alternatives(entry, (excused, inherited), again),
                _ if again => {}
                "type" => {
                    self.types = self.types.and(Types::of_keyword(&entry.value));
                    self.view.types_at = Some(entry.key.span);
                }
                "nullable" if version == Version::V30 => {}
                keyword => {
                    if keyword == "discriminator" && !inherited {
                        self.view.discriminators.push(entry);
                    }
                    self.view.keywords.push((part, entry));
                }
            }
        }
    }

    /// An alternative that is only `null` is a flag; a single one that is left is the schema itself; constants are an enum.
    fn alternatives(&mut self, entry: &'n Entry, (excused, inherited): (bool, bool), again: bool) {
        let all = entry.value.items().unwrap_or_default();
        let members: Vec<&Node> = all.iter().filter(|member| !null::is_only(self.side, member)).collect();
        let excused = excused || members.len() < all.len();
        match members.as_slice() {
            [only] => self.left.push(Left { node: only, excused, inherited }),
            [] if !all.is_empty() => self.types = self.types.and(Types::NULL),
            members => {
                self.view.null &= excused || null::is_let_through(self.side, members);
                if again {
                    return;
                }
                if let Some((values, types)) = constants(members, entry.key.text == "oneOf") {
                    self.types = self.types.and(types);
                    self.view.lists.push(List { values, at: entry.key.span });
                    return;
                }
                let alternatives =
                    if entry.key.text == "oneOf" { &mut self.view.one_of } else { &mut self.view.any_of };
                alternatives.push(Alternatives { members: members.to_vec(), at: entry.key.span });
            }
        }
    }

    fn finish(mut self) -> View<'n> {
        self.view.null &= !self.view.never;
        self.view.types = self.types.without_null();
        self.view
    }
}

/// The values of alternatives that are constants each, and the types that they say; of `oneOf` no value stands in two.
fn constants<'n>(members: &[&'n Node], once: bool) -> Option<(Vec<&'n Node>, Types)> {
    let mut values: Vec<&Node> = Vec::new();
    let mut types = Some(Types::NONE);
    for member in members {
        let (said, own) = constant(member)?;
        types = types.zip(said).map(|(types, said)| types.or(said));
        for value in own {
            let known = values.iter().any(|known| same(known, value));
            if known && once {
                return None;
            }
            values.push(value);
        }
    }
    Some((values, types.unwrap_or(Types::ANY)))
}

/// The values of a schema that lists them and says nothing else but a type that they have.
fn constant(member: &Node) -> Option<(Option<Types>, Vec<&Node>)> {
    let mut found = (None, None);
    for entry in member.entries()? {
        match entry.key.text.as_str() {
            "type" => found.0 = Some(Types::of_keyword(&entry.value)),
            "const" if found.1.is_none() => found.1 = Some(vec![&entry.value]),
            "enum" if found.1.is_none() => found.1 = Some(entry.value.items()?.iter().collect()),
            key if is_annotation(key) => {}
            _ => return None,
        }
    }
    let values = found.1?;
    let fit = found.0.is_none_or(|types| values.iter().all(|value| types.holds(Types::of_value(value))));
    fit.then_some((found.0, values))
}
