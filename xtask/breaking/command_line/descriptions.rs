//! What each rule finds.

/// The descriptions of rules and of suffixes of schema rules, sorted. The other suffixes consist of a keyword and how
/// it changed.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("additional-properties-closed", "Additional properties are no longer valid"),
    ("additional-properties-opened", "Additional properties became valid"),
    ("additional-properties-schema-added", "`additionalProperties` got a schema"),
    ("additional-properties-schema-removed", "`additionalProperties` lost its schema"),
    ("any-of-added", "An alternative was added to `anyOf`"),
    ("any-of-became-one-of", "`anyOf` became `oneOf`"),
    ("any-of-removed", "An alternative of `anyOf` was removed"),
    ("api-deprecated-sunset-missing", "An operation was deprecated without `x-sunset`"),
    ("api-deprecated-sunset-parse", "The `x-sunset` of a deprecated operation is not a date"),
    ("api-global-security-added", "The document requires a further security scheme"),
    (
        "api-global-security-alternative-added",
        "The document accepts a further security scheme as an alternative",
    ),
    ("api-global-security-loosened", "The document requires fewer security schemes"),
    ("api-global-security-removed", "The document no longer accepts a security scheme"),
    ("api-global-security-scope-added", "The document requires a further scope"),
    ("api-global-security-scope-removed", "The document no longer requires a scope"),
    ("api-invalid-stability-level", "An `x-stability-level` is not draft, alpha, beta or stable"),
    (
        "api-major-version-not-bumped",
        "There are breaking changes, but `info.version` has the same major version; below 1.0.0, the same minor version",
    ),
    ("api-operation-id-added", "An operation got an `operationId`"),
    ("api-operation-id-removed", "An `operationId` was removed or changed"),
    ("api-path-removed-before-sunset", "All operations of a path were removed before the sunset of one"),
    ("api-path-removed-with-deprecation", "A path was removed after the sunset of its deprecated operations"),
    ("api-path-removed-without-deprecation", "A path was removed whose operations were not deprecated"),
    ("api-path-sunset-parse", "An operation was removed whose `x-sunset` is not a date"),
    ("api-removed-before-sunset", "An operation was removed before its sunset"),
    ("api-removed-with-deprecation", "A deprecated operation was removed after its sunset"),
    ("api-removed-without-deprecation", "An operation was removed that was not deprecated"),
    ("api-schema-removed", "A schema was removed from the components"),
    ("api-security-added", "An operation requires a further security scheme"),
    ("api-security-alternative-added", "An operation accepts a further security scheme as an alternative"),
    ("api-security-component-added", "A security scheme was added"),
    ("api-security-component-oauth-scope-added", "An OAuth flow has a further scope"),
    ("api-security-component-oauth-scope-changed", "The description of an OAuth scope changed"),
    ("api-security-component-oauth-scope-removed", "An OAuth flow lost a scope"),
    (
        "api-security-component-oauth-token-url-changed",
        "The `tokenUrl` or `refreshUrl` of an OAuth flow changed",
    ),
    (
        "api-security-component-oauth-url-changed",
        "The `authorizationUrl` or `deviceAuthorizationUrl` of an OAuth flow changed",
    ),
    ("api-security-component-removed", "A security scheme was removed"),
    ("api-security-component-renamed", "A security scheme was renamed"),
    (
        "api-security-component-type-changed",
        "The type of a security scheme changed, or where its credentials are sent",
    ),
    ("api-security-loosened", "An operation requires fewer security schemes"),
    ("api-security-removed", "An operation no longer accepts a security scheme"),
    ("api-security-scope-added", "An operation requires a further scope"),
    ("api-security-scope-removed", "An operation no longer requires a scope"),
    ("api-server-added", "A server was added"),
    ("api-server-removed", "A server was removed"),
    ("api-server-variables-changed", "The variables of a server changed"),
    ("api-server-variables-extended", "The variables of a server accept more values"),
    ("api-stability-decreased", "The `x-stability-level` of an operation decreased"),
    ("api-stability-increased", "The `x-stability-level` of an operation increased"),
    (
        "api-sunset-date-changed-too-small",
        "The `x-sunset` of an operation was moved to an earlier date that is too soon",
    ),
    ("api-sunset-date-too-small", "The `x-sunset` of a deprecated operation is too soon"),
    ("api-tag-added", "An operation got a tag"),
    ("api-tag-removed", "An operation lost a tag"),
    ("api-version-decreased", "`info.version` decreased"),
    ("api-version-not-bumped", "There are changes, but `info.version` is the same"),
    ("became-enum", "The values were limited to an enum"),
    ("became-not-nullable", "`null` is no longer valid"),
    ("became-nullable", "`null` became valid"),
    ("became-optional", "A required value became optional"),
    ("became-required", "An optional value became required"),
    ("became-required-with-default", "An optional value with a default became required"),
    ("callback-added", "A callback was added"),
    ("callback-removed", "A callback was removed"),
    ("contains-changed", "`contains` changed"),
    ("default-value-added", "A default was added"),
    ("default-value-changed", "The default changed"),
    ("default-value-removed", "The default was removed"),
    ("deprecated", "The object was deprecated"),
    ("deprecated-sunset-invalid", "The `x-sunset` of a deprecated object is not a date"),
    ("deprecated-sunset-missing", "The object was deprecated without `x-sunset`"),
    ("deprecated-with-sunset", "The object was deprecated, with an `x-sunset` date"),
    ("discriminator-added", "A discriminator was added"),
    ("discriminator-mapping-added", "A value was added to the mapping of a discriminator"),
    ("discriminator-mapping-changed", "A value of a discriminator selects another schema"),
    ("discriminator-mapping-deleted", "A value was removed from the mapping of a discriminator"),
    ("discriminator-mapping-renamed", "The schema that a discriminator selects has another name"),
    ("discriminator-property-name-changed", "The discriminator is another property"),
    ("discriminator-removed", "The discriminator was removed"),
    ("endpoint-added", "An operation was added"),
    ("endpoint-deprecated", "An operation was deprecated"),
    ("endpoint-deprecated-with-sunset", "An operation was deprecated, with an `x-sunset` date"),
    ("endpoint-reactivated", "The deprecation of an operation was withdrawn"),
    ("enum-closed", "The enum no longer has `x-extensible-enum`"),
    ("enum-opened", "The enum got `x-extensible-enum`"),
    ("enum-value-added", "A value was added to the enum"),
    ("enum-value-removed", "A value of the enum was removed"),
    (
        "evaluated-parts-changed",
        "The alternatives beside `unevaluatedProperties` or `unevaluatedItems` changed",
    ),
    ("items-schema-added", "The items got a schema"),
    ("items-schema-removed", "The items lost their schema"),
    ("list-of-types-narrowed", "Fewer types are valid"),
    ("list-of-types-widened", "More types are valid"),
    ("multiple-of-generalized", "`multipleOf` became a divisor of the old value"),
    (
        "new-optional-request-default-parameter-to-existing-path",
        "An optional parameter was added to all operations of a path",
    ),
    ("new-optional-request-parameter", "An optional parameter was added"),
    ("new-optional-request-property", "An optional property was added to a request"),
    ("new-request-path-parameter", "A parameter was added to a path"),
    (
        "new-required-request-default-parameter-to-existing-path",
        "A required parameter was added to all operations of a path",
    ),
    ("new-required-request-header-property", "A required property was added to a header parameter"),
    ("new-required-request-parameter", "A required parameter was added"),
    ("new-required-request-property", "A required property was added to a request"),
    (
        "new-required-request-property-with-default",
        "A required property with a default was added to a request",
    ),
    ("no-longer-enum", "The values are no longer limited to an enum"),
    ("one-of-added", "An alternative was added to `oneOf`"),
    ("one-of-became-any-of", "`oneOf` became `anyOf`"),
    ("one-of-overlap-added", "Values match two alternatives of `oneOf`, which therefore rejects them"),
    ("one-of-removed", "An alternative of `oneOf` was removed"),
    ("open-enum-removed", "An enum with `x-extensible-enum` was removed"),
    ("open-enum-value-added", "A value was added to an enum with `x-extensible-enum`"),
    ("optional-response-header-removed", "An optional response header was removed"),
    ("pattern-changed", "The pattern changed"),
    (
        "pattern-changed-undecided",
        "The pattern changed, and whether it matches more or fewer strings is unknown",
    ),
    ("pattern-generalized", "The pattern matches more strings"),
    ("prefix-items-added", "An item was added to `prefixItems`"),
    ("prefix-items-removed", "An item of `prefixItems` was removed"),
    ("reactivated", "The deprecation was withdrawn"),
    ("request-body-added-optional", "An optional request body was added"),
    ("request-body-added-required", "A required request body was added"),
    ("request-body-became-optional", "A required request body became optional"),
    ("request-body-became-required", "An optional request body became required"),
    ("request-body-encoding-changed", "The `encoding` of a request body changed"),
    ("request-body-media-type-added", "A media type was added to a request body"),
    ("request-body-media-type-name-changed", "A parameter of the media type of a request body changed"),
    ("request-body-media-type-name-generalized", "The media type of a request body covers more types"),
    ("request-body-media-type-removed", "A media type of a request body was removed"),
    ("request-body-media-type-schema-added", "A media type of a request body got a schema"),
    ("request-body-media-type-schema-removed", "A media type of a request body lost its schema"),
    ("request-body-removed", "A request body was removed"),
    ("request-parameter-allow-reserved-changed", "`allowReserved` of a parameter changed"),
    ("request-parameter-became-list", "A parameter with one value accepts several values"),
    ("request-parameter-empty-value-allowed", "A parameter accepts an empty value"),
    ("request-parameter-empty-value-refused", "A parameter no longer accepts an empty value"),
    ("request-parameter-explode-changed", "`explode` of a parameter changed"),
    ("request-parameter-removed", "A parameter was removed"),
    ("request-parameter-removed-before-sunset", "A deprecated parameter was removed before its sunset"),
    ("request-parameter-removed-with-deprecation", "A deprecated parameter was removed after its sunset"),
    ("request-parameter-serialization-changed", "The media type of a parameter changed"),
    ("request-parameter-style-changed", "The `style` of a parameter changed"),
    ("request-parameter-sunset-parse", "The `x-sunset` of a parameter is not a date"),
    ("request-path-parameter-declared", "A placeholder of a path got a parameter"),
    ("request-path-parameter-renamed", "A parameter of a path has another name"),
    ("request-path-parameter-undeclared", "A placeholder of a path lost its parameter"),
    ("request-property-removed", "A property of a request was removed"),
    (
        "request-property-removed-with-deprecation",
        "A deprecated property of a request was removed after its sunset",
    ),
    ("request-read-only-property-removed", "A read-only property of a request was removed"),
    ("required-response-header-removed", "A required response header was removed"),
    ("response-body-encoding-changed", "The `encoding` of a response body changed"),
    ("response-body-media-type-schema-added", "A media type of a response got a schema"),
    ("response-body-media-type-schema-removed", "A media type of a response lost its schema"),
    ("response-header-added", "A response header was added"),
    ("response-header-explode-changed", "`explode` of a response header changed"),
    ("response-header-serialization-changed", "The media type of a response header changed"),
    ("response-link-added", "A link was added to a response"),
    ("response-link-changed", "A link of a response changed"),
    ("response-link-removed", "A link of a response was removed"),
    ("response-media-type-added", "A media type was added to a response"),
    ("response-media-type-name-changed", "A parameter of the media type of a response changed"),
    ("response-media-type-name-generalized", "The media type of a response covers more types"),
    ("response-media-type-name-specialized", "The media type of a response covers fewer types"),
    ("response-media-type-removed", "A media type of a response was removed"),
    ("response-non-success-status-added", "A status other than success was added"),
    ("response-non-success-status-removed", "A status other than success was removed"),
    (
        "response-property-removed-with-deprecation",
        "A deprecated property of a response was removed after its sunset",
    ),
    ("response-success-status-added", "A success status was added"),
    ("response-success-status-removed", "A success status was removed"),
    ("stability-decreased", "The `x-stability-level` decreased or is unknown"),
    ("stability-increased", "The `x-stability-level` increased"),
    ("sunset-date-changed-too-small", "`x-sunset` was moved to an earlier date that is too soon"),
    ("sunset-date-too-small", "The `x-sunset` of a deprecated object is too soon"),
    ("sunset-deleted", "The `x-sunset` of a deprecated object was removed"),
    ("type-changed", "The type or the format changed"),
    (
        "type-compatible",
        "The type changed, but the same values are valid, or the same text in a URL or header",
    ),
    ("type-generalized", "The type or the format accepts more values"),
    ("type-specialized", "The type or the format accepts fewer values"),
    ("unclassified-change", "A value changed that no other rule covers"),
    ("unwrapped-from-any-of", "Alternatives of `anyOf` became one of them"),
    ("unwrapped-from-one-of", "Alternatives of `oneOf` became one of them"),
    ("webhook-added", "A webhook was added"),
    ("webhook-payload-added", "A webhook got a body"),
    ("webhook-payload-became-optional", "The body of a webhook became optional"),
    ("webhook-payload-became-required", "The body of a webhook became required"),
    ("webhook-payload-removed", "The body of a webhook was removed"),
    ("webhook-removed", "A webhook was removed"),
    ("webhook-response-status-added", "Receivers of a webhook can respond with a further status"),
    ("webhook-response-status-removed", "Receivers of a webhook can no longer respond with a status"),
    ("wrapped-in-any-of", "The schema became one of several alternatives of `anyOf`"),
    ("wrapped-in-one-of", "The schema became one of several alternatives of `oneOf`"),
    ("x-extensible-enum-value-removed", "A value of an enum with `x-extensible-enum` was removed"),
];

/// Keywords of schemas in the spelling of suffixes.
const KEYWORDS: [(&str, &str); 27] = [
    ("any-of", "anyOf"),
    ("const", "const"),
    ("contains", "contains"),
    ("content-encoding", "contentEncoding"),
    ("content-media-type", "contentMediaType"),
    ("content-schema", "contentSchema"),
    ("dependent-required", "dependentRequired"),
    ("dependent-schema", "dependentSchemas"),
    ("exclusive-max", "exclusiveMaximum"),
    ("exclusive-min", "exclusiveMinimum"),
    ("max", "maximum"),
    ("max-contains", "maxContains"),
    ("max-items", "maxItems"),
    ("max-length", "maxLength"),
    ("max-properties", "maxProperties"),
    ("min", "minimum"),
    ("min-contains", "minContains"),
    ("min-items", "minItems"),
    ("min-length", "minLength"),
    ("min-properties", "minProperties"),
    ("multiple-of", "multipleOf"),
    ("one-of", "oneOf"),
    ("pattern-property", "patternProperties"),
    ("property-names", "propertyNames"),
    ("unevaluated-items", "unevaluatedItems"),
    ("unevaluated-properties", "unevaluatedProperties"),
    ("unique-items", "uniqueItems"),
];

/// Returns what a rule finds, from its id, or from its suffix for a schema rule: a sentence without a period.
pub(super) fn describe(id: &str) -> String {
    if let Ok(index) = DESCRIPTIONS.binary_search_by_key(&id, |(id, _)| id) {
        return DESCRIPTIONS[index].1.to_owned();
    }
    if let Some(description) = property_access(id) {
        return description;
    }
    let (stem, ending) = id.rsplit_once('-').unwrap_or((id, "changed"));
    let keyword = KEYWORDS.iter().find(|(words, _)| *words == stem).map_or(stem, |(_, keyword)| keyword);
    let change = match ending {
        "added" | "set" => "was added",
        "removed" | "unset" => "was removed",
        "increased" => "increased",
        "decreased" => "decreased",
        _ => "changed",
    };
    format!("`{keyword}` {change}")
}

/// Describes a rule about a property that is required or optional, and read-only or write-only or neither.
fn property_access(id: &str) -> Option<String> {
    let (direction, rest) = id.split_once('-').filter(|(name, _)| ["request", "response"].contains(name))?;
    let (presence, rest) =
        rest.split_once('-').filter(|(name, _)| ["optional", "required"].contains(name))?;
    let article = if presence == "optional" { "An" } else { "A" };
    let property = |kind: &str| format!("{article} {presence} {kind}property of a {direction}");
    Some(match rest {
        "property-added" => format!("{} was added", property("")),
        "property-removed" => format!("{} was removed", property("")),
        "write-only-property-added" => format!("{} was added", property("write-only ")),
        "write-only-property-removed" => format!("{} was removed", property("write-only ")),
        "property-became-read-only" => format!("{} became `readOnly`", property("")),
        "property-became-write-only" => format!("{} became `writeOnly`", property("")),
        "property-became-not-read-only" => format!("{} is no longer `readOnly`", property("")),
        "property-became-not-write-only" => format!("{} is no longer `writeOnly`", property("")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{catalog, schema};

    #[test]
    fn descriptions_are_sorted_and_belong_to_rules() {
        assert!(DESCRIPTIONS.is_sorted_by_key(|(id, _)| id) && KEYWORDS.is_sorted());
        let rules = catalog::rules().map(|rule| rule.id);
        let ids: BTreeSet<&str> = rules.chain(schema::schema_rules().map(|rule| rule.suffix)).collect();
        let unknown: Vec<_> = DESCRIPTIONS.iter().filter(|(id, _)| !ids.contains(id)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        for suffix in schema::schema_rules().map(|rule| rule.suffix) {
            assert!(!describe(suffix).contains(&format!("`{suffix}")), "{suffix}");
            let quoted = describe(suffix).split('`').nth(1).map(str::to_owned).unwrap_or_default();
            assert!(!quoted.contains('-') || quoted.starts_with("x-"), "{suffix}: {quoted} is not a keyword");
        }
        for rule in catalog::rules() {
            let stem = rule.id.rsplit_once('-').map(|(stem, _)| stem);
            let is_about_keyword = KEYWORDS.iter().any(|(words, _)| Some(*words) == stem);
            let is_described =
                DESCRIPTIONS.iter().any(|(id, _)| *id == rule.id) || property_access(rule.id).is_some();
            assert!(is_described || is_about_keyword, "{} has no description", rule.id);
        }
    }
}
