//! Parameters: which there are, whether they must be sent, and how they are written.
//!
//! Owns which parameter is which: names in headers without regard to case, those in a path by their place in it. A
//! parameter of the path counts for each of its operations. In a webhook the server sends them: there they are headers that
//! a receiver reads.

use std::rc::Rc;

use contract::node::{Node, Value};
use contract::source::Span;

use super::api::template;
use super::matched::by_key;
use super::operations::{Operation, place, rest};
use super::{Comparison, Origin, Places, Use, content, lifecycle, responses};
use crate::document::Side;
use crate::rule::{Level, Mirror, Rule, Site};
use crate::schema::types::Types;
use crate::schema::view::{Parts, View};

const REFUSED: &str = "A client that does not send the parameter, as none does today, is refused.";
const OPTIONAL: &str = "Make the parameter optional, with a default that does what was done before.";
const UNHEEDED: &str = "A client that sends the parameter is refused, or answered as if it had not.";
const DEPRECATE: &str = "Keep the parameter, mark it `deprecated`, and say by `x-sunset` when it ends.";
const REWRITE: &str = "A client writes the parameter as it did, and is misunderstood.";
const BESIDE: &str = "Keep how it is written; add a parameter of another name for the new way.";
const ADDED: Mirror = Mirror::Of("new-optional-request-parameter");

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error("new-required-request-parameter", Mirror::Of("request-parameter-removed"), REFUSED, OPTIONAL),
    Rule::info("new-optional-request-parameter", Mirror::Of("request-parameter-removed")),
    Rule::error(
        "new-required-request-default-parameter-to-existing-path",
        Mirror::Of("request-parameter-removed"),
        REFUSED,
        OPTIONAL,
    ),
    Rule::info(
        "new-optional-request-default-parameter-to-existing-path",
        Mirror::Of("request-parameter-removed"),
    ),
    Rule::error(
        "new-request-path-parameter",
        Mirror::Of("request-parameter-removed"),
        "A client calls the address as it was, which is another one now.",
        "Add a path of its own, and keep this one.",
    ),
    Rule::error("request-parameter-removed", ADDED, UNHEEDED, DEPRECATE),
    Rule::info("request-parameter-removed-with-deprecation", ADDED),
    Rule::error(
        "request-parameter-removed-before-sunset",
        ADDED,
        UNHEEDED,
        "Wait for the day of the sunset that was announced.",
    ),
    Rule::error(
        "request-parameter-sunset-parse",
        Mirror::None("the other way round nothing is announced"),
        "Clients are told that it ends, but not when.",
        "Write `x-sunset` with a day (YYYY-MM-DD) at least 180 days ahead.",
    ),
    Rule::info("request-path-parameter-renamed", Mirror::Of("request-path-parameter-renamed")),
    Rule::error(
        "request-parameter-style-changed",
        Mirror::Of("request-parameter-style-changed"),
        REWRITE,
        BESIDE,
    ),
    Rule::error(
        "request-parameter-explode-changed",
        Mirror::Of("request-parameter-explode-changed"),
        REWRITE,
        BESIDE,
    ),
    Rule::error(
        "request-parameter-allow-reserved-changed",
        Mirror::Of("request-parameter-allow-reserved-changed"),
        REWRITE,
        BESIDE,
    ),
    Rule::error(
        "request-parameter-empty-value-refused",
        Mirror::Of("request-parameter-empty-value-allowed"),
        "A client that sends the parameter without a value is refused.",
        "Go on accepting it.",
    ),
    Rule::info("request-parameter-empty-value-allowed", Mirror::Of("request-parameter-empty-value-refused")),
    Rule::error(
        "request-parameter-serialization-changed",
        Mirror::Of("request-parameter-serialization-changed"),
        REWRITE,
        BESIDE,
    ),
];

/// A parameter with what it is known by.
struct Parameter<'n> {
    /// `path`, `query`, `header` or `cookie`.
    place: &'n str,
    name: &'n str,
    known_by: String,
    node: &'n Node,
    /// Where it is used.
    used: Span,
    /// Where it is named.
    at: Span,
    /// Whether all operations of the path have it.
    of_path: bool,
}

impl Parameter<'_> {
    fn is_required(&self) -> bool {
        self.place == "path" || is_true(self.node, "required")
    }

    fn shown(&self) -> String {
        format!("{} parameter `{}`", self.place, self.name)
    }
}

fn is_true(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// Headers that OpenAPI says by other means: as a parameter they mean nothing.
const IGNORED: [&str; 3] = ["Accept", "Content-Type", "Authorization"];

/// Every parameter of an operation: its own, and those of its path that it does not replace.
fn all<'n>(side: &Side<'n>, operation: Operation<'_, 'n>) -> Vec<Parameter<'n>> {
    let mut parameters: Vec<Parameter<'n>> = Vec::new();
    let lists = [(operation.node.entry("parameters"), false), (operation.item.entry("parameters"), true)];
    for (list, of_path) in lists {
        for item in list.and_then(|list| list.value.items()).unwrap_or_default() {
            let (node, at) = side.follow_from(item, item.span);
            let text = |key| node.get(key).and_then(Node::as_str);
            let (Some(place), Some(name)) = (text("in"), text("name")) else { continue };
            if place == "header" && IGNORED.iter().any(|ignored| name.eq_ignore_ascii_case(ignored)) {
                continue;
            }
            let known_by = match place {
                "header" => format!("header {}", name.to_ascii_lowercase()),
                "path" => format!("path {}", position(operation.item.name, name)),
                _ => format!("{place} {name}"),
            };
            if !parameters.iter().any(|known| known.known_by == known_by) {
                parameters.push(Parameter { place, name, known_by, node, used: item.span, at, of_path });
            }
        }
    }
    parameters
}

/// The place of a name among the braces of a path, or the name itself when it has none.
fn position(path: &str, name: &str) -> String {
    let names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    names
        .enumerate()
        .find(|(_, other)| *other == name)
        .map_or_else(|| name.to_owned(), |(at, _)| at.to_string())
}

/// Compares the parameters of an operation.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: Operation<'_, 'n>,
    now: Operation<'_, 'n>,
) {
    let base = all(&on.base, was);
    let revision = all(&on.revision, now);
    let lacking = Places::new(place(was.node, "parameters", was.at), place(now.node, "parameters", now.at));
    let parameters = by_key(&base, &revision, |parameter| &parameter.known_by);
    for (parameter, other) in parameters.stayed {
        if at.flipped {
            sent(on, at, Some(parameter), Some(other), lacking);
        } else {
            both(on, at, parameter, other);
        }
    }
    for parameter in parameters.gone {
        if at.flipped {
            sent(on, at, Some(parameter), None, lacking);
        } else {
            removed(on, at, parameter, lacking);
        }
    }
    let same_path = template(was.item.name) == template(now.item.name);
    for parameter in parameters.came {
        if at.flipped {
            sent(on, at, None, Some(parameter), lacking);
        } else {
            added(on, at, parameter, lacking, same_path);
        }
    }
}

/// What the server sends with a webhook is a header that a receiver reads.
fn sent<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: Option<&Parameter<'n>>,
    now: Option<&Parameter<'n>>,
    lacking: Places,
) {
    let header = |parameter: &Parameter<'n>| responses::Header {
        node: parameter.node,
        used: parameter.used,
        named: parameter.at,
    };
    let name = was.or(now).map_or("", |parameter| parameter.name);
    responses::header(on, at, name, was.map(header), now.map(header), lacking);
}

/// What a receiver answers with is a parameter in a header: it is written there, and the server reads it.
pub(super) fn answered<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    name: &'n str,
    was: Option<responses::Header<'n>>,
    now: Option<responses::Header<'n>>,
    lacking: Places,
) {
    let parameter = |header: responses::Header<'n>| Parameter {
        place: "header",
        name,
        known_by: format!("header {}", name.to_ascii_lowercase()),
        node: header.node,
        used: header.used,
        at: header.named,
        of_path: false,
    };
    match (was.map(parameter), now.map(parameter)) {
        (None, None) => {}
        (None, Some(now)) => added(on, at, &now, lacking, true),
        (Some(was), None) => unheeded(on, at, &was, lacking),
        (Some(was), Some(now)) => both(on, at, &was, &now),
    }
}

/// A header that nobody reads any more refuses no one who still answers with it.
fn unheeded(on: &mut Comparison<'_>, at: &Rc<Use>, parameter: &Parameter<'_>, lacking: Places) {
    let level = match lifecycle::removal(parameter.node, on.today) {
        lifecycle::Removal::Announced => Level::Info,
        _ => Level::Warning,
    };
    let places = Places::new(parameter.used, lacking.revision);
    let message = format!("the {} was removed", parameter.shown());
    on.raise_at(level, "request-parameter-removed", at, places, &parameter.known_by, message);
}

fn removed(on: &mut Comparison<'_>, at: &Rc<Use>, parameter: &Parameter<'_>, lacking: Places) {
    let (id, why) = match lifecycle::removal(parameter.node, on.today) {
        lifecycle::Removal::Unannounced => ("request-parameter-removed", String::new()),
        lifecycle::Removal::Announced => ("request-parameter-removed-with-deprecation", String::new()),
        lifecycle::Removal::BeforeSunset(date) => {
            ("request-parameter-removed-before-sunset", format!(" before its sunset on {date}"))
        }
        lifecycle::Removal::NoDay(text) => {
            ("request-parameter-sunset-parse", format!("; its sunset `{text}` is not a day"))
        }
    };
    let places = Places::new(parameter.used, lacking.revision);
    on.raise(id, at, places, &parameter.known_by, format!("the {} was removed{why}", parameter.shown()));
}

fn added(on: &mut Comparison<'_>, at: &Rc<Use>, parameter: &Parameter<'_>, lacking: Places, same_path: bool) {
    let required = parameter.is_required();
    let id = match (parameter.place, parameter.of_path, required) {
        // A path that was there had its braces explained already, or never: the address is the same.
        ("path", _, _) if same_path => "new-optional-request-parameter",
        ("path", ..) => "new-request-path-parameter",
        (_, true, true) => "new-required-request-default-parameter-to-existing-path",
        (_, true, false) => "new-optional-request-default-parameter-to-existing-path",
        (_, false, true) => "new-required-request-parameter",
        (_, false, false) => "new-optional-request-parameter",
    };
    let kind = if required { "required" } else { "optional" };
    let places = Places::new(lacking.base, parameter.used);
    on.raise(id, at, places, &parameter.known_by, format!("the {kind} {} was added", parameter.shown()));
}

const KNOWN: [&str; 11] = [
    "name",
    "in",
    "required",
    "schema",
    "content",
    "style",
    "explode",
    "allowReserved",
    "allowEmptyValue",
    "deprecated",
    "x-sunset",
];

fn both<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: &Parameter<'n>, now: &Parameter<'n>) {
    if on.same().nodes(was.node, now.node) && was.name == now.name {
        return;
    }
    let at = &at.step(&format!("{} {}", now.place, now.name));
    let places = Places::new(place(was.node, "required", was.at), place(now.node, "required", now.at));
    match (was.is_required(), now.is_required()) {
        (false, true) => {
            let message = format!("the {} must be sent now", now.shown());
            on.note_use(Site::Parameter, "became-required", at, places, "", message);
        }
        (true, false) => {
            let message = format!("the {} may be left out now", now.shown());
            on.note_use(Site::Parameter, "became-optional", at, places, "", message);
        }
        _ => {}
    }
    if was.place == "path" && was.name != now.name {
        let places = Places::new(place(was.node, "name", was.at), place(now.node, "name", now.at));
        let facts = format!("{} to {}", was.name, now.name);
        let message = format!("the path parameter `{}` is called `{}` now", was.name, now.name);
        on.raise("request-path-parameter-renamed", at, places, &facts, message);
    }
    written(on, at, was, now);
    lifecycle::judge_parameter(on, at, (was.node, was.at), (now.node, now.at));
    schemas(on, at, was, now);
    rest(on, at, was.node, now.node, (was.at, now.at), |key| KNOWN.contains(&key));
}

/// How a parameter is written.
fn written(on: &mut Comparison<'_>, at: &Rc<Use>, was: &Parameter<'_>, now: &Parameter<'_>) {
    let style = |parameter: &Parameter<'_>| {
        let usual = if matches!(parameter.place, "query" | "cookie") { "form" } else { "simple" };
        parameter.node.get("style").and_then(Node::as_str).unwrap_or(usual).to_owned()
    };
    let explode = |parameter: &Parameter<'_>| match parameter.node.get("explode").map(|flag| &flag.value) {
        Some(Value::Bool(explode)) => *explode,
        _ => style(parameter) == "form",
    };
    let spots = |keyword| Places::new(place(was.node, keyword, was.at), place(now.node, keyword, now.at));
    let (old, new) = (style(was), style(now));
    if old != new {
        let facts = format!("`{old}` to `{new}`");
        let message = format!("the style went from {facts}");
        on.raise("request-parameter-style-changed", at, spots("style"), &facts, message);
    }
    // Only lists and objects are written one way or the other.
    if explode(was) != explode(now) && old == new && !(is_plain(&on.base, was) && is_plain(&on.revision, now))
    {
        let message = format!("`explode` went from {} to {}", explode(was), explode(now));
        on.raise(
            "request-parameter-explode-changed",
            at,
            spots("explode"),
            &explode(now).to_string(),
            message,
        );
    }
    let reserved = |parameter: &Parameter<'_>| is_true(parameter.node, "allowReserved");
    if reserved(was) != reserved(now) {
        let message = format!("`allowReserved` went from {} to {}", reserved(was), reserved(now));
        on.raise("request-parameter-allow-reserved-changed", at, spots("allowReserved"), "", message);
    }
    let empty = |parameter: &Parameter<'_>| is_true(parameter.node, "allowEmptyValue");
    match (empty(was), empty(now)) {
        (true, false) => {
            let message = "the parameter may not be empty any more".to_owned();
            on.raise("request-parameter-empty-value-refused", at, spots("allowEmptyValue"), "", message);
        }
        (false, true) => {
            let message = "the parameter may be empty now".to_owned();
            on.raise("request-parameter-empty-value-allowed", at, spots("allowEmptyValue"), "", message);
        }
        _ => {}
    }
}

fn is_plain<'n>(side: &Side<'n>, parameter: &Parameter<'n>) -> bool {
    parameter.node.entry("schema").is_some_and(|entry| {
        let types = View::of(side, &Parts::under(entry)).types;
        Types::PLAIN.holds(types)
    })
}

/// The schema of a parameter, or that of its one media type.
fn schemas<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: &Parameter<'n>, now: &Parameter<'n>) {
    let (base, revision) = ((was.node, was.at), (now.node, now.at));
    if let Some((facts, places)) = content::serialization(base, revision) {
        let message = format!("the parameter is written otherwise: from {facts}");
        on.raise("request-parameter-serialization-changed", at, places, &facts, message);
    }
    let is_text = !content::is_named(was.node) && !content::is_named(now.node);
    let site = match (was.place, is_text) {
        ("header", true) => Site::HeaderParameter,
        ("header", false) => Site::HeaderContent,
        (_, true) => Site::Parameter,
        (_, false) => Site::ParameterContent,
    };
    on.enter(content::schema(base), content::schema(revision), site, Origin::Use(Rc::clone(at)));
}
