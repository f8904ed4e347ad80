//! Who sends a property: `readOnly` is never in a request, `writeOnly` never in a response.
//!
//! Owns the rules whose ids tell required properties from optional ones.

use super::Two;
use super::view::View;
use crate::compare::{Comparison, Places};
use crate::rule::{Direction, Mirror, Rule, Site};

/// Who sends a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    read_only: bool,
    write_only: bool,
}

const NO_CLIENT_SENDS: &str = "A client that must send the property is refused.";
const NO_CLIENT_READS: &str = "A client that reads the property finds nothing there.";
const ADD_OPTIONAL: &str = "Make the new property optional, with a default that does what was done before.";
const KEEP_PROPERTY: &str =
    "Keep the property and mark it `deprecated`; leave it out in the next version of the API.";

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::warning(
        "request-property-removed",
        Mirror::Of("new-optional-request-property"),
        "A client that still sends the property is not heeded, or refused where unknown properties are.",
        "Keep accepting the property and mark it `deprecated`; it may be ignored.",
    ),
    Rule::info("request-read-only-property-removed", Mirror::Of("new-optional-request-property")),
    Rule::error(
        "new-required-request-property",
        Mirror::Of("request-property-removed"),
        "A client that does not send the property, as none does today, is refused.",
        ADD_OPTIONAL,
    ),
    Rule::error(
        "new-required-request-property-with-default",
        Mirror::Of("request-property-removed"),
        "A client that does not send the property, as none does today, is refused: a default does not excuse from `required`.",
        "Take the property out of `required`; its default then does what was done before.",
    ),
    Rule::error(
        "new-required-request-header-property",
        Mirror::Of("request-property-removed"),
        "A client that does not send the property in the header is refused.",
        ADD_OPTIONAL,
    ),
    Rule::info("new-optional-request-property", Mirror::Of("request-property-removed")),
    Rule::error(
        "response-required-property-removed",
        Mirror::Of("response-required-property-added"),
        NO_CLIENT_READS,
        KEEP_PROPERTY,
    ),
    Rule::warning(
        "response-optional-property-removed",
        Mirror::Of("response-optional-property-added"),
        "A client that reads the property where it is there finds it nowhere.",
        KEEP_PROPERTY,
    ),
    Rule::info(
        "response-required-write-only-property-removed",
        Mirror::Of("response-required-write-only-property-added"),
    ),
    Rule::info(
        "response-optional-write-only-property-removed",
        Mirror::Of("response-optional-write-only-property-added"),
    ),
    Rule::info("response-required-property-added", Mirror::Of("response-required-property-removed")),
    Rule::info("response-optional-property-added", Mirror::Of("response-optional-property-removed")),
    Rule::info(
        "response-required-write-only-property-added",
        Mirror::Of("response-required-write-only-property-removed"),
    ),
    Rule::info(
        "response-optional-write-only-property-added",
        Mirror::Of("response-optional-write-only-property-removed"),
    ),
    Rule::info(
        "request-optional-property-became-write-only",
        Mirror::Of("request-optional-property-became-not-write-only"),
    ),
    Rule::info(
        "request-optional-property-became-not-write-only",
        Mirror::Of("request-optional-property-became-write-only"),
    ),
    Rule::info(
        "request-required-property-became-write-only",
        Mirror::Of("request-required-property-became-not-write-only"),
    ),
    Rule::info(
        "request-required-property-became-not-write-only",
        Mirror::Of("request-required-property-became-write-only"),
    ),
    Rule::warning(
        "request-optional-property-became-read-only",
        Mirror::Of("request-optional-property-became-not-read-only"),
        "A client that sends the property is not heeded any more.",
        "Keep accepting the property; add another one for what the server sets.",
    ),
    Rule::error(
        "request-required-property-became-read-only",
        Mirror::Of("request-required-property-became-not-read-only"),
        "A client sends the property, and what it says is not heeded any more.",
        "Keep accepting the property; add another one for what the server sets.",
    ),
    Rule::info(
        "request-optional-property-became-not-read-only",
        Mirror::Of("request-optional-property-became-read-only"),
    ),
    Rule::error(
        "request-required-property-became-not-read-only",
        Mirror::Of("request-required-property-became-read-only"),
        NO_CLIENT_SENDS,
        ADD_OPTIONAL,
    ),
    Rule::warning(
        "response-optional-property-became-write-only",
        Mirror::Of("response-optional-property-became-not-write-only"),
        NO_CLIENT_READS,
        KEEP_PROPERTY,
    ),
    Rule::error(
        "response-required-property-became-write-only",
        Mirror::Of("response-required-property-became-not-write-only"),
        NO_CLIENT_READS,
        KEEP_PROPERTY,
    ),
    Rule::info(
        "response-optional-property-became-not-write-only",
        Mirror::Of("response-optional-property-became-write-only"),
    ),
    Rule::warning(
        "response-required-property-became-not-write-only",
        Mirror::Of("response-required-property-became-write-only"),
        "What was kept from responses is shown; whoever logs them logs it too.",
        "Leave it `writeOnly`, and show what may be seen under another name.",
    ),
    Rule::info(
        "response-optional-property-became-read-only",
        Mirror::Of("response-optional-property-became-not-read-only"),
    ),
    Rule::info(
        "response-optional-property-became-not-read-only",
        Mirror::Of("response-optional-property-became-read-only"),
    ),
    Rule::info(
        "response-required-property-became-read-only",
        Mirror::Of("response-required-property-became-not-read-only"),
    ),
    Rule::info(
        "response-required-property-became-not-read-only",
        Mirror::Of("response-required-property-became-read-only"),
    ),
];

impl Access {
    /// What a schema says of itself.
    pub(super) fn of(view: &View<'_>) -> Self {
        Self { read_only: view.flag("readOnly"), write_only: view.flag("writeOnly") }
    }

    /// Whether the property is never sent that way.
    pub(super) const fn is_unsent(self, direction: Direction) -> bool {
        match direction {
            Direction::Request => self.read_only,
            Direction::Response => self.write_only,
        }
    }
}

/// The id of a removed property.
pub(super) fn removed_id(site: Site, required: bool) -> String {
    let kind = if required { "required" } else { "optional" };
    match site {
        Site::RequestReadOnly => "request-read-only-property-removed".to_owned(),
        Site::ResponseProperty => format!("response-{kind}-property-removed"),
        Site::ResponseWriteOnly => format!("response-{kind}-write-only-property-removed"),
        _ => "request-property-removed".to_owned(),
    }
}

/// Compares who sends a property that had to be there or not, and must be there now or need not.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    name: &str,
    (needed_was, needed): (bool, bool),
    (view_was, was): (&View<'n>, Access),
    (view_now, now): (&View<'n>, Access),
) {
    let side = match two.site.direction() {
        Direction::Request => "request",
        Direction::Response => "response",
    };
    let kind = |required| if required { "required" } else { "optional" };
    for (keyword, words, was, now) in [
        ("readOnly", "read-only", was.read_only, now.read_only),
        ("writeOnly", "write-only", was.write_only, now.write_only),
    ] {
        if was == now {
            continue;
        }
        // Who goes without it had the promise of the base; who comes by it has that of the revision.
        let (id, message) = if now {
            let kind = kind(needed_was);
            (format!("{side}-{kind}-property-became-{words}"), format!("`{name}` became {words}"))
        } else {
            let kind = kind(needed);
            (format!("{side}-{kind}-property-became-not-{words}"), format!("`{name}` is no longer {words}"))
        };
        let places = Places::new(view_was.place(keyword), view_now.place(keyword));
        on.raise_in(two.pair, &id, None, places, name, message);
    }
}
