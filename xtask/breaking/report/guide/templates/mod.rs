//! What clients must change: one table for rules, and one for schema rules in each direction.
//!
//! `{what}` is the changed object, such as ``the query parameter `limit` ``; `{What}` begins a sentence. `{since}` and
//! `{sunset}` are the dates of a deprecation.

mod schemas;

use std::collections::HashMap;
use std::sync::OnceLock;

use self::Shown::{Added, Calls, Lines, MediaTypes, Nothing, Removed, Statuses};
use self::schemas::{REQUESTS, RESPONSES};
use crate::rule::{Direction, SchemaSite};
use crate::{catalog, schema};

/// What the example of a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Nothing.
    Nothing,
    /// The changed lines of the contracts.
    Lines,
    /// The first lines of the request, with its credentials.
    Calls,
    /// A message with the changed object, and one without it.
    Removed,
    /// A message without the changed object, and one with it.
    Added,
    /// A value that only the base accepts in requests, or that only the revision sends in responses.
    Replaced,
    /// Like [`Self::Replaced`], with the values of the keyword that is a bound.
    Bound(&'static str),
    /// A value that only the base accepts, and nothing instead of it.
    Rejected,
    /// The media types of a body.
    MediaTypes,
    /// The statuses of a response.
    Statuses,
}

/// The text about one kind of change.
#[derive(Debug)]
pub(crate) struct Template {
    /// The ids of rules, or the suffixes of schema rules.
    ids: &'static [&'static str],
    /// The example.
    pub shown: Shown,
    /// What changed, if the message of the finding is about the contract and not about its users.
    pub change: Option<&'static str>,
    /// What the code of a client must do: two sentences.
    pub advice: &'static str,
}

const fn row(ids: &'static [&'static str], shown: Shown, advice: &'static str) -> Template {
    Template { ids, shown, change: None, advice }
}

const fn lifecycle(
    ids: &'static [&'static str],
    shown: Shown,
    change: &'static str,
    advice: &'static str,
) -> Template {
    Template { ids, shown, change: Some(change), advice }
}

const DEPRECATED: &str = "deprecated{since}; it {sunset}";
const SUNSET_MOVED: &str = "the end of support changed; it {sunset}";
const SUNSET_MOVED_ADVICE: &str = "{What} {sunset}. Finish your migration earlier than you may have planned, so that nothing depends on it on that day.";
const SUNSET_DELETED_ADVICE: &str = "{What} is still deprecated, but the day on which it ends is no longer announced. Continue your migration, because \
     it can end at any time.";
const STABILITY_ADVICE: &str = "{What} has a lower stability level, so it can change without notice. Check the contract before each update of your \
     client, and do not depend on it without a fallback.";
const UNCLASSIFIED_ADVICE: &str = "The effect on your code cannot be derived from the contract. Compare how your code uses {what} with both versions of \
     the contract.";
const DEPRECATED_CALLS: &[&str] =
    &["deprecated", "deprecated-with-sunset", "deprecated-sunset-missing", "deprecated-sunset-invalid"];
const SUNSETS: &[&str] = &["sunset-date-too-small", "sunset-date-changed-too-small"];

/// The template of a change that the configuration makes breaking, although it is harmless by default.
pub(super) const RAISED: Template = row(
    &[],
    Lines,
    "The provider treats this change as relevant for clients. Compare how your code uses {what} with both versions of the \
     contract.",
);

/// Names of parameters and fields with which lists are paged.
pub(super) const PAGING_NAMES: [&str; 18] = [
    "cursor",
    "next_cursor",
    "nextCursor",
    "has_more",
    "hasMore",
    "next",
    "previous",
    "page",
    "page_size",
    "pageSize",
    "per_page",
    "offset",
    "limit",
    "next_page_token",
    "nextPageToken",
    "page_token",
    "starting_after",
    "pagination",
];

/// The advice about a removed parameter or field with which lists are paged.
pub(super) const PAGING_ADVICE: &str = "Lists are paged without {what}. Change the loop that reads pages: take the position of the next page and the end of \
     the list from what the new version offers instead.";

/// The advice about renamed members of an object.
pub(super) const RENAMED_IN_REQUESTS: &str =
    "Send the same value as {what}. Change the name where your code builds the request.";
pub(super) const RENAMED_IN_RESPONSES: &str =
    "Read the same value from {what}. Change the name where your code parses the response.";

/// The rules about members that an object lost, and about those that clients must send in addition.
pub(super) const MEMBERS_REMOVED: &[&str] = &[
    "request-parameter-removed",
    "request-property-removed",
    "response-required-property-removed",
    "response-optional-property-removed",
    "request-property-removed-with-deprecation",
    "response-property-removed-with-deprecation",
];
pub(super) const MEMBERS_ADDED: &[&str] = &[
    "new-required-request-parameter",
    "new-required-request-property",
    "new-required-request-property-with-default",
];

/// The rules about headers that responses lost.
pub(super) const HEADERS_REMOVED: [&str; 2] =
    ["required-response-header-removed", "optional-response-header-removed"];

/// The ends of the rules about values that clients can no longer send.
pub(super) const VALUES_REMOVED: [&str; 2] = ["-enum-value-removed", "-x-extensible-enum-value-removed"];

/// The new contract has no webhooks at all.
pub(super) const ALL_WEBHOOKS_REMOVED: &str = "the new contract documents no webhooks";
pub(super) const ALL_WEBHOOKS_REMOVED_ADVICE: &str =
    "If the provider keeps sending them, your endpoint works unchanged. Ask before you delete code.";

/// An added member has the type of a removed one.
pub(super) const SAME_TYPE: &str =
    "{new} has the type of {old}; changes of this type that the guide lists elsewhere apply there, too.";

/// A field that became optional was nullable before.
pub(super) const FORMER_NULL: &str = "Where the old contract sent `null`, the new one leaves the field out.";

/// Rules about harmless changes that clients may notice.
pub(super) const NOTICED: [&str; 3] = [
    "response-non-success-status-added",
    "response-non-success-status-removed",
    "response-success-status-added",
];

/// The head of the summary.
pub(super) const SUMMARY: &str = "| Kind of change | Changes | Operations |\n| --- | --- | --- |\n";

/// The headings of the sections.
pub(super) const SECTIONS: [&str; 4] = ["Several operations", "Operations", "Webhook events", "Other"];
pub(super) const OTHER_CHANGES: &str = "Other changes that a client may notice";

/// What a guide does not list.
pub(super) const UNCHANGED: &str = "\nWhat this guide does not name did not change in a way that breaks clients: other operations, parameters, fields and \
     credentials work as before. Additions are only listed where they replace something.\n";

/// Examples of the formats of strings.
pub(super) const FORMATS: [(&str, &str); 12] = [
    ("date-time", "2026-01-31T09:00:00.000Z"),
    ("date", "2026-01-31"),
    ("time", "09:00:00Z"),
    ("duration", "P1D"),
    ("email", "ada@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("uri-reference", "/example"),
    ("url", "https://example.com/"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
];

/// The rules that are not schema rules.
const RULES: &[Template] = &[
    row(
        &[
            "api-path-removed-before-sunset",
            "api-path-removed-with-deprecation",
            "api-path-removed-without-deprecation",
            "api-path-sunset-parse",
            "api-removed-before-sunset",
            "api-removed-with-deprecation",
            "api-removed-without-deprecation",
        ],
        Calls,
        "Remove all calls of this operation, because they fail with 404, 405 or 410. Call another operation that offers the \
         same data, or stop offering what depends on it.",
    ),
    row(
        &["webhook-removed", "callback-removed"],
        Calls,
        "Your endpoint no longer receives this event. Request the same data from the API at regular intervals, or handle \
         another event.",
    ),
    lifecycle(
        &[
            "endpoint-deprecated",
            "endpoint-deprecated-with-sunset",
            "api-deprecated-sunset-missing",
            "api-deprecated-sunset-parse",
        ],
        Calls,
        DEPRECATED,
        "{What} still works and {sunset}. Replace its use before that day, by what its description in the contract recommends.",
    ),
    lifecycle(
        &["api-sunset-date-too-small", "api-sunset-date-changed-too-small"],
        Lines,
        SUNSET_MOVED,
        SUNSET_MOVED_ADVICE,
    ),
    lifecycle(
        &["sunset-deleted"],
        Lines,
        "the announced end of support was withdrawn",
        SUNSET_DELETED_ADVICE,
    ),
    row(&["api-stability-decreased", "api-invalid-stability-level"], Lines, STABILITY_ADVICE),
    row(
        &["api-operation-id-removed"],
        Lines,
        "Requests stay the same, but generated clients name a function after the `operationId`. Generate the client again, \
         and rename the function where your code calls it.",
    ),
    row(
        &["api-security-added", "api-global-security-added"],
        Calls,
        "Send credentials of the required scheme with each request. Obtain them before you switch, because requests without \
         them fail with 401.",
    ),
    row(
        &["api-security-removed", "api-global-security-removed"],
        Calls,
        "Credentials of the removed scheme no longer authenticate requests. Use a scheme that the new version accepts, and \
         stop sending the old credentials.",
    ),
    row(
        &["api-security-loosened", "api-global-security-loosened"],
        Calls,
        "Your requests keep working. Stop sending the credentials that are no longer required, and check whether you relied \
         on the restriction.",
    ),
    row(
        &["api-security-scope-added", "api-global-security-scope-added"],
        Lines,
        "Use a key or token with the additional scope, because requests without it fail with 403. Grant or request the scope \
         before you switch to the new version.",
    ),
    row(
        &["api-security-scope-removed", "api-global-security-scope-removed"],
        Lines,
        "Your requests keep working. Check which of your keys and tokens can now call the operation, and stop requesting the \
         scope if nothing else needs it.",
    ),
    row(
        &["api-security-component-removed", "api-security-component-type-changed"],
        Lines,
        "Credentials of the old scheme are rejected. Change the code that adds credentials to requests to a scheme of the new \
         contract.",
    ),
    row(
        &["api-security-component-oauth-scope-removed"],
        Lines,
        "Logins that request the scope fail. Remove it from the scopes that your client requests, and do without the access \
         that it granted.",
    ),
    row(
        &["api-security-component-oauth-token-url-changed", "api-security-component-oauth-url-changed"],
        Lines,
        "The old URL may stop responding. Replace it in the configuration of your OAuth client, and test a login and the \
         renewal of a token.",
    ),
    row(
        &["api-server-removed"],
        Lines,
        "Requests to the removed URL fail. Set the base URL of your client to a server of the new contract.",
    ),
    row(
        &["api-server-variables-changed"],
        Lines,
        "The base URL is built from other variables. Update the code or configuration that fills them in, because the old \
         values can lead to a wrong URL.",
    ),
    row(
        &["new-required-request-parameter", "new-required-request-default-parameter-to-existing-path"],
        Added,
        "Send {what} with each request, because requests without it are rejected. Choose the value that preserves what your \
         code relies on.",
    ),
    row(
        &["new-request-path-parameter"],
        Calls,
        "The path contains a further parameter, and requests to the old URL fail. Build the URL with a value for it.",
    ),
    row(
        &[
            "request-parameter-removed",
            "request-parameter-removed-before-sunset",
            "request-parameter-removed-with-deprecation",
        ],
        Removed,
        "Stop sending {what}. If your code relies on the effect, use another parameter or apply the effect to the response.",
    ),
    lifecycle(
        &["request-parameter-sunset-parse"],
        Removed,
        "deprecated or removed; it {sunset}",
        "Stop sending {what}, because it is no longer supported or will end. Use the parameter that its description in the \
         contract recommends.",
    ),
    row(
        &[
            "request-parameter-style-changed",
            "request-parameter-explode-changed",
            "request-parameter-allow-reserved-changed",
            "request-parameter-serialization-changed",
        ],
        Lines,
        "Change how your code writes {what} into the request. The server reads the old form as another value, often without \
         an error.",
    ),
    row(
        &["request-parameter-empty-value-refused"],
        Lines,
        "Leave {what} out instead of sending it without a value. Requests with an empty value are rejected.",
    ),
    row(
        &["request-body-added-required", "request-body-became-required"],
        Added,
        "Send a body with each request, because requests without one are rejected. Fill in at least the required properties.",
    ),
    row(
        &["request-body-removed"],
        Removed,
        "Stop sending a body, because the server ignores or rejects it. Check whether the operation now takes the values as \
         parameters.",
    ),
    row(
        &["request-body-media-type-removed"],
        MediaTypes,
        "Send the body in a media type of the new contract, and set `Content-Type` to it. Requests with the old type fail \
         with 415.",
    ),
    row(
        &["request-body-media-type-schema-added"],
        Lines,
        "The body must match a schema, which did not exist before. Compare the bodies that your code sends with it, because \
         others are rejected.",
    ),
    row(
        &["request-body-encoding-changed"],
        Lines,
        "Change how your code encodes the parts of the body. The server reads the old encoding as other values, or rejects it.",
    ),
    row(
        &["new-required-request-property", "new-required-request-header-property"],
        Added,
        "Send {what} with each request, because requests without it are rejected. Choose the value that preserves what your \
         code relies on.",
    ),
    row(
        &["new-required-request-property-with-default"],
        Added,
        "Send {what} with each request, because it is required despite its default. Send the default to keep the old behavior.",
    ),
    row(
        &["request-property-removed", "request-property-removed-with-deprecation"],
        Removed,
        "Stop sending {what}. If your code relies on the effect, look for a replacement among the added fields, or elsewhere in the new contract.",
    ),
    row(
        &["request-optional-property-became-read-only", "request-required-property-became-read-only"],
        Removed,
        "Stop sending {what}, because the server sets the value and ignores yours. Read the value from the response instead.",
    ),
    row(
        &["request-required-property-became-not-read-only"],
        Added,
        "Send {what}, which only the server set before. Requests without it are rejected.",
    ),
    row(
        &[
            "response-required-property-removed",
            "response-optional-property-removed",
            "response-property-removed-with-deprecation",
            "response-required-property-became-write-only",
            "response-optional-property-became-write-only",
        ],
        Removed,
        "Remove the code that reads {what}. Look for a replacement among the added fields, or elsewhere in the new contract.",
    ),
    row(
        &[
            "response-required-property-became-not-write-only",
            "response-optional-property-became-not-write-only",
        ],
        Added,
        "{What} is now sent to you, although it can be a secret. Make sure that your code does not log or store it.",
    ),
    row(
        &["response-media-type-removed", "response-media-type-name-generalized"],
        MediaTypes,
        "Accept a media type of the new contract: name it in `Accept`, and parse the body by its `Content-Type`. A client \
         that accepts only the old type fails, often with 406.",
    ),
    row(
        &["response-body-media-type-schema-removed"],
        Lines,
        "The content of the body is no longer documented. Check that each field is present before your code uses it.",
    ),
    row(
        &["response-body-encoding-changed"],
        Lines,
        "The parts of the body are encoded in another way. Change the code that decodes them.",
    ),
    row(
        &["response-success-status-removed"],
        Statuses,
        "Handle the success statuses of the new contract. Check for a range such as 200 to 299 rather than for one status.",
    ),
    row(
        &["webhook-response-status-removed"],
        Statuses,
        "Respond to events with a status that the new contract lists. Another one can count as a failed delivery, which is \
         repeated.",
    ),
    row(
        &["required-response-header-removed", "optional-response-header-removed"],
        Nothing,
        "The new contract does not describe {what}. Write your code so that it works without, although the server may still send {what}.",
    ),
    row(
        &["response-header-explode-changed", "response-header-serialization-changed"],
        Lines,
        "{What} is written in another way. Change the code that parses it.",
    ),
    row(
        &["response-link-removed", "response-link-changed"],
        Lines,
        "Do not follow this link as before. Build the next request from the fields of the response.",
    ),
    row(
        &["webhook-payload-removed", "webhook-payload-became-optional"],
        Removed,
        "Events can arrive without a body. Check that there is one before your endpoint parses it, and request missing data \
         from the API.",
    ),
    row(&["unclassified-change"], Lines, UNCLASSIFIED_ADVICE),
];

/// Returns the template of the rule with this id, or `None` if the change is harmless by default.
pub(crate) fn template(id: &str) -> Option<&'static Template> {
    static INDEX: OnceLock<HashMap<String, &Template>> = OnceLock::new();
    INDEX.get_or_init(index).get(id).copied()
}

fn index() -> HashMap<String, &'static Template> {
    let find =
        |table: &'static [Template], id: &str| table.iter().find(|template| template.ids.contains(&id));
    let rules = catalog::rules().filter_map(|rule| Some((rule.id.to_owned(), find(RULES, rule.id)?)));
    let mut index: HashMap<String, &Template> = rules.collect();
    for rule in schema::schema_rules() {
        for site in SchemaSite::ALL {
            let table = if site.direction() == Direction::Request { REQUESTS } else { RESPONSES };
            // Rules that do not depend on a direction, such as `sunset-deleted`, are in the first table.
            let template = find(table, rule.suffix).or_else(|| find(RULES, rule.suffix));
            if let Some(template) = template {
                index.entry(site.id(rule.suffix)).or_insert(template);
            }
        }
    }
    index
}
