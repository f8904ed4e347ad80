//! Decides which strings match several patterns (regular expressions), with finite automata.
//!
//! A pattern matches a string if it matches a part of it. Patterns follow ECMA-262, so `\d`, `\w` and `\s` are
//! translated. Patterns that are not regular (such as lookaheads), that need a large automaton, or whose meaning differs
//! between ECMA-262 and the parser are not decided.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use regex::{Regex, RegexBuilder};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::ast::{self, Ast};

type Dfa = dense::DFA<Vec<u32>>;

/// The maximum size of one automaton, in bytes, and of the memory for building it.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;
/// The maximum size of all automata or regular expressions that are kept for further searches, in bytes.
const MAX_CACHED_BYTES: usize = 64 << 20;
/// The maximum length of a pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 100_000;
/// The maximum number of combinations of states that a search visits.
const MAX_VISITED: usize = 20_000;

/// Whether a name can match both patterns. Returns true if this is not decided.
pub(super) fn may_overlap(left: &str, right: &str) -> bool {
    have_common_match(&[left, right]).unwrap_or(true)
}

/// Whether there is a string that matches all patterns. Returns `None` if this is not decided.
pub(super) fn have_common_match(patterns: &[&str]) -> Option<bool> {
    find_match(patterns, None).map(|found| found.is_some())
}

/// Returns a string that matches all patterns, or `None` if none is found.
pub(super) fn common_match(patterns: &[&str]) -> Option<String> {
    find_match(patterns, None).flatten()
}

/// Whether every string that matches all of the `narrow` patterns also matches all of the `wide` patterns. Returns
/// `None` if this is not decided.
pub(super) fn is_included(narrow: &[&str], wide: &[&str]) -> Option<bool> {
    let mut is_decided = true;
    for pattern in wide.iter().filter(|pattern| !narrow.contains(pattern)) {
        match find_match(narrow, Some(pattern)) {
            Some(Some(_)) => return Some(false),
            Some(None) => {}
            None => is_decided = false,
        }
    }
    is_decided.then_some(true)
}

/// Finds a string that matches all of the `matched` patterns, and not `unmatched`. Returns `None` if it is not decided
/// whether there is one.
fn find_match(matched: &[&str], unmatched: Option<&str>) -> Option<Option<String>> {
    // The empty pattern matches every string, but no invalid UTF-8.
    let patterns = [""].iter().chain(matched);
    let mut automata = patterns.map(|pattern| automaton(pattern)).collect::<Option<Vec<_>>>()?;
    let matched_count = automata.len();
    if let Some(unmatched) = unmatched {
        automata.push(automaton(unmatched)?);
    }
    let input = Input::new("").anchored(Anchored::Yes);
    let start =
        automata.iter().map(|dfa| dfa.start_state_forward(&input).ok()).collect::<Option<Vec<_>>>()?;
    let bytes = representative_bytes(&automata);
    let mut visited: HashSet<Vec<StateID>> = HashSet::from([start.clone()]);
    // The last byte of each string that was tried, and the index of the string before it.
    let mut steps: Vec<(u8, Option<usize>)> = Vec::new();
    let mut pending = vec![(start, None)];
    while let Some((states, step)) = pending.pop() {
        let is_match = |index: usize| {
            let dfa: &Dfa = &automata[index];
            dfa.is_match_state(dfa.next_eoi_state(states[index]))
        };
        if (0..automata.len()).all(|index| is_match(index) == (index < matched_count)) {
            return Some(Some(string_of(&steps, step)));
        }
        for byte in &bytes {
            let next: Vec<StateID> =
                automata.iter().zip(&states).map(|(dfa, state)| dfa.next_state(*state, *byte)).collect();
            let is_dead =
                automata[..matched_count].iter().zip(&next).any(|(dfa, state)| dfa.is_dead_state(*state));
            if !is_dead && visited.insert(next.clone()) {
                steps.push((*byte, step));
                pending.push((next, Some(steps.len() - 1)));
            }
        }
        if visited.len() > MAX_VISITED {
            return None;
        }
    }
    Some(None)
}

/// Returns the string that ends with a step of a search.
fn string_of(steps: &[(u8, Option<usize>)], last: Option<usize>) -> String {
    let indexes = std::iter::successors(last, |index| steps[*index].1);
    let mut bytes: Vec<u8> = indexes.map(|index| steps[index].0).collect();
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns one byte of each set of bytes that all automata treat alike.
fn representative_bytes(automata: &[Rc<Dfa>]) -> Vec<u8> {
    let mut seen = HashSet::new();
    let classes = |byte: u8| automata.iter().map(|dfa| dfa.byte_classes().get(byte)).collect::<Vec<u8>>();
    (0..=u8::MAX).filter(|byte| seen.insert(classes(*byte))).collect()
}

/// What was built from each pattern, or `None` if it cannot be built.
struct PatternCache<T> {
    by_pattern: HashMap<String, Option<T>>,
    /// The size of the patterns and of what was built, in bytes.
    size: usize,
}

impl<T> Default for PatternCache<T> {
    fn default() -> Self {
        Self { by_pattern: HashMap::new(), size: 0 }
    }
}

impl<T: Clone> PatternCache<T> {
    /// Returns what was built from a pattern. `build` returns it with its size.
    fn get_or_build(&mut self, pattern: &str, build: impl FnOnce(&str) -> Option<(T, usize)>) -> Option<T> {
        if let Some(built) = self.by_pattern.get(pattern) {
            return built.clone();
        }
        let (built, size) = build(pattern).map_or((None, 0), |(built, size)| (Some(built), size));
        self.size += pattern.len() + size;
        if self.size > MAX_CACHED_BYTES {
            self.by_pattern.clear();
            self.size = pattern.len() + size;
        }
        self.by_pattern.insert(pattern.to_owned(), built.clone());
        built
    }
}

/// Returns the automaton of all strings that match a pattern, or `None` if there is none of acceptable size.
fn automaton(pattern: &str) -> Option<Rc<Dfa>> {
    thread_local! {
        static CACHE: RefCell<PatternCache<Rc<Dfa>>> = RefCell::default();
    }
    let build = |pattern: &str| {
        let automaton = build(pattern)?;
        let size = automaton.memory_usage();
        Some((Rc::new(automaton), size))
    };
    CACHE.with_borrow_mut(|cache| cache.get_or_build(pattern, build))
}

fn build(pattern: &str) -> Option<Dfa> {
    let translated = translate(pattern)?;
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(MAX_AUTOMATON_BYTES))
        .determinize_size_limit(Some(MAX_AUTOMATON_BYTES));
    let nfa =
        thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
    let builder = dense::Builder::new().configure(config).thompson(nfa).clone();
    builder.build(&format!("(?s:.)*(?:{translated})(?s:.)*")).ok()
}

/// The maximum sizes of a regular expression, in bytes. The first one that suffices is used.
const REGEX_SIZES: [usize; 3] = [1 << 14, 1 << 20, 10 << 20];

/// Compiles a pattern. Returns `None` if it is not supported.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    thread_local! {
        static CACHE: RefCell<PatternCache<Regex>> = RefCell::default();
    }
    let build = |pattern: &str| {
        let translated = translate(pattern)?;
        REGEX_SIZES.into_iter().find_map(|size| {
            let regex = RegexBuilder::new(&translated).size_limit(size).dfa_size_limit(size).build().ok()?;
            // The expression and the automaton that it builds while it searches.
            Some((regex, 2 * size))
        })
    };
    CACHE.with_borrow_mut(|cache| cache.get_or_build(pattern, build))
}

/// Whether a pattern is a supported regular expression.
pub(super) fn is_supported(pattern: &str) -> bool {
    compile(pattern).is_some()
}

/// Translates a pattern of ECMA-262 into the syntax of the crate `regex`. Returns `None` if there is no translation.
fn translate(pattern: &str) -> Option<String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return None;
    }
    let ast = ast::parse::Parser::new().parse(pattern).ok()?;
    let replacements = ast::visit(&ast, Translator(Vec::new())).ok()?;
    let mut translated = String::new();
    let mut position = 0;
    for (span, text) in replacements {
        translated += &pattern[position..span.start.offset];
        translated += text;
        position = span.end.offset;
    }
    Some(translated + &pattern[position..])
}

/// Collects the parts of a pattern to replace, in their order. Visiting fails at a part without a translation.
struct Translator(Vec<(ast::Span, &'static str)>);

/// A part of a pattern has no translation.
struct Untranslatable;

impl Translator {
    fn replace_class(&mut self, class: &ast::ClassPerl) {
        let text = match (&class.kind, class.negated) {
            (ast::ClassPerlKind::Digit, false) => "[0-9]",
            (ast::ClassPerlKind::Digit, true) => "[^0-9]",
            (ast::ClassPerlKind::Word, false) => "[0-9A-Z_a-z]",
            (ast::ClassPerlKind::Word, true) => "[^0-9A-Z_a-z]",
            (ast::ClassPerlKind::Space, false) => r"[\t-\r\p{Zs}\u2028\u2029\uFEFF]",
            (ast::ClassPerlKind::Space, true) => r"[^\t-\r\p{Zs}\u2028\u2029\uFEFF]",
        };
        self.0.push((class.span, text));
    }
}

/// Whether a literal has the same meaning in ECMA-262.
fn is_common_literal(literal: &ast::Literal) -> bool {
    use ast::{HexLiteralKind, LiteralKind, SpecialLiteralKind};
    match &literal.kind {
        LiteralKind::HexFixed(kind) | LiteralKind::HexBrace(kind) => {
            matches!(
                (kind, &literal.kind),
                (HexLiteralKind::X, LiteralKind::HexFixed(_)) | (HexLiteralKind::UnicodeShort, _)
            )
        }
        LiteralKind::Special(kind) => matches!(
            kind,
            SpecialLiteralKind::Tab
                | SpecialLiteralKind::LineFeed
                | SpecialLiteralKind::VerticalTab
                | SpecialLiteralKind::FormFeed
                | SpecialLiteralKind::CarriageReturn
        ),
        LiteralKind::Octal => false,
        _ => true,
    }
}

impl ast::Visitor for Translator {
    type Output = Vec<(ast::Span, &'static str)>;
    type Err = Untranslatable;

    fn finish(self) -> Result<Self::Output, Untranslatable> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Untranslatable> {
        match ast {
            Ast::Dot(span) => self.0.push((**span, r"[^\n\r\u2028\u2029]")),
            Ast::ClassPerl(class) => self.replace_class(class),
            Ast::Assertion(assertion) => match assertion.kind {
                ast::AssertionKind::StartLine | ast::AssertionKind::EndLine => {}
                ast::AssertionKind::WordBoundary => self.0.push((assertion.span, r"(?-u:\b)")),
                _ => return Err(Untranslatable),
            },
            Ast::Group(group) => match &group.kind {
                ast::GroupKind::NonCapturing(flags) if !flags.items.is_empty() => return Err(Untranslatable),
                _ => {}
            },
            Ast::Literal(literal) if !is_common_literal(literal) => return Err(Untranslatable),
            Ast::Flags(_) => return Err(Untranslatable),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Untranslatable> {
        use ast::ClassSetItem;
        match item {
            ClassSetItem::Perl(class) => self.replace_class(class),
            // In ECMA-262, these are sets of single characters.
            ClassSetItem::Ascii(_) | ClassSetItem::Bracketed(_) => return Err(Untranslatable),
            ClassSetItem::Literal(literal) if !is_common_literal(literal) => return Err(Untranslatable),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ast::ClassSetBinaryOp) -> Result<(), Untranslatable> {
        Err(Untranslatable)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CACHED_BYTES, PatternCache, is_included, may_overlap};

    #[test]
    fn the_size_of_the_cache_is_limited() {
        let mut cache = PatternCache::default();
        let build = |size: usize| move |_: &str| Some(((), size));
        for index in 0..10 {
            cache.get_or_build(&format!("{index}"), build(MAX_CACHED_BYTES / 4));
            assert!(cache.size <= MAX_CACHED_BYTES && cache.by_pattern.len() <= 3, "{index}");
        }
        cache.get_or_build("large", build(2 * MAX_CACHED_BYTES));
        assert_eq!(cache.by_pattern.len(), 1);
        cache.get_or_build("small", build(1));
        assert_eq!(cache.by_pattern.len(), 1, "the large one is removed");
    }

    #[test]
    fn a_common_match_of_patterns_is_found() {
        use super::{common_match, compile};

        for (patterns, is_found) in [
            (["^[a-f]+$", r"^[\s\S]{3,5}$"], true),
            ([r"^\d+é$", "é"], true),
            (["^a+$", "^b+$"], false),
            (["^(?=a)", ""], false),
        ] {
            let found = common_match(&patterns);
            assert_eq!(found.is_some(), is_found, "{patterns:?}");
            if let Some(text) = found {
                let is_match =
                    |pattern: &&str| compile(pattern).expect("a supported pattern").is_match(&text);
                assert!(patterns.iter().all(is_match), "{text} {patterns:?}");
            }
        }
    }

    #[test]
    fn patterns_overlap_if_a_name_matches_both() {
        for (left, right, overlap) in [
            ("^x-", "^y-", false),
            ("^xa", "^xb.*", false),
            ("^x", "^xa", true),
            ("x", "^y", true),
            ("^x|y", "^y", true),
            ("^x?y", "^y", true),
            ("^x+", "^y", false),
            ("^x{0}y", "^y", true),
            ("^[a-z]", "^y", true),
            ("^[a-x]", "^y", false),
            ("", "^y", true),
            ("^[a-z]+$", "^[0-9]+$", false),
            // Not decided.
            ("^(?!y)", "^y", true),
        ] {
            assert_eq!(
                (may_overlap(left, right), may_overlap(right, left)),
                (overlap, overlap),
                "{left} {right}"
            );
        }
    }

    #[test]
    fn inclusion_of_patterns_is_decided() {
        for (narrow, wide, included) in [
            ("^[a-f]+$", "^[a-z]+$", Some(true)),
            ("^[a-z]+$", "^[a-f]+$", Some(false)),
            ("^[a-z]{2,8}$", "^[a-z]*$", Some(true)),
            ("^a$", "a", Some(true)),
            ("a", "^a$", Some(false)),
            (r"^\d+$", "^[0-9]+$", Some(true)),
            ("^[0-9]+$", r"^\d+$", Some(true)),
            // Arabic digits are no digits in ECMA-262.
            (r"^\p{Nd}$", r"^\d$", Some(false)),
            (r"^[\w-]+$", r"^[A-Za-z0-9_-]+$", Some(true)),
            // A dot does not match a line break.
            ("", "^.*$", Some(false)),
            ("", r"^[\s\S]*$", Some(true)),
            ("", ".*", Some(true)),
            ("", "^.*", Some(true)),
            ("^(a|b)$", "^[ab]$", Some(true)),
            (r"^\bx", "^x", Some(true)),
            ("^(?=a)", "^a", None),
            ("^(a)\\1$", "^a", None),
            ("^(?i)a$", "^[aA]$", None),
            ("^[a-z]{900}[a-z]{0,900}$", "^([a-f]{0,800}){9}$", None),
        ] {
            assert_eq!(is_included(&[narrow], &[wide]), included, "{narrow} {wide}");
        }
    }
}
