//! The templates of changes of schemas.

use super::Shown::{Added, Bound, Lines, Rejected, Removed, Replaced};
use super::{
    DEPRECATED, DEPRECATED_CALLS, STABILITY_ADVICE, SUNSET_MOVED, SUNSET_MOVED_ADVICE, SUNSETS, Template,
    lifecycle, row,
};

const BOUNDS_ADVICE: &str = "Send only numbers within the new bounds as {what}, because others are rejected. Check inputs and stored values in your \
     code before you send them.";
const WIDER_ADVICE: &str = "{What} can have numbers outside of the old bounds. Widen the number types, columns and displays that depend on them.";

/// The schema rules about what clients send.
pub(super) const REQUESTS: &[Template] = &[
    lifecycle(
        DEPRECATED_CALLS,
        Removed,
        DEPRECATED,
        "{What} still works and {sunset}. Stop sending it before that day, and use what its description in the contract \
         recommends.",
    ),
    lifecycle(SUNSETS, Lines, SUNSET_MOVED, SUNSET_MOVED_ADVICE),
    row(&["stability-decreased"], Lines, STABILITY_ADVICE),
    row(
        &[
            "type-changed",
            "type-specialized",
            "list-of-types-narrowed",
            "content-encoding-changed",
            "content-media-type-changed",
        ],
        Replaced,
        "Convert {what} to the new type or format before you send it. Requests with the old form are rejected.",
    ),
    row(
        &["became-not-nullable"],
        Replaced,
        "Do not send `null` as {what}, because it is rejected. Send a value, or leave it out if the new contract allows that.",
    ),
    row(
        &["became-required"],
        Added,
        "Send {what} with each request, because requests without it are rejected. Choose the value that preserves what your \
         code relies on.",
    ),
    row(
        &["became-required-with-default"],
        Added,
        "Send {what} with each request, because requests without it are rejected. Send the value that applied by default to \
         keep the old behavior.",
    ),
    row(
        &["enum-value-removed", "x-extensible-enum-value-removed"],
        Rejected,
        "Send only values that the new contract lists for {what}. Choose for each removed value that your code or your stored data \
         uses the one with the same meaning, if there is one.",
    ),
    row(
        &["became-enum", "const-added", "const-changed"],
        Replaced,
        "Send only values that the new contract lists for {what}. Map the values that your code and your stored data still \
         use to them, because others are rejected.",
    ),
    row(
        &["default-value-added", "default-value-changed", "default-value-removed"],
        Lines,
        "Requests without {what} now have another effect. Send the old default explicitly to keep the behavior.",
    ),
    row(
        &["max-decreased", "max-set", "exclusive-max-decreased", "exclusive-max-set"],
        Bound("maximum"),
        BOUNDS_ADVICE,
    ),
    row(
        &["min-increased", "min-set", "exclusive-min-increased", "exclusive-min-set"],
        Bound("minimum"),
        BOUNDS_ADVICE,
    ),
    row(&["multiple-of-added", "multiple-of-changed"], Replaced, BOUNDS_ADVICE),
    row(
        &[
            "max-length-decreased",
            "max-length-set",
            "min-length-increased",
            "pattern-added",
            "pattern-changed",
            "pattern-changed-undecided",
        ],
        Replaced,
        "Send only text that satisfies the new rule as {what}, because other text is rejected. Check inputs and stored values \
         in your code before you send them.",
    ),
    row(
        &[
            "max-items-decreased",
            "max-items-set",
            "min-items-increased",
            "min-items-set",
            "unique-items-added",
            "contains-added",
            "contains-changed",
            "max-contains-decreased",
            "max-contains-set",
            "min-contains-increased",
            "prefix-items-removed",
            "unevaluated-items-added",
            "items-schema-added",
        ],
        Replaced,
        "Send only lists that satisfy the new rule as {what}, because others are rejected. Split or filter lists in your code \
         before you send them.",
    ),
    row(
        &[
            "max-properties-decreased",
            "max-properties-set",
            "min-properties-increased",
            "min-properties-set",
            "additional-properties-closed",
            "additional-properties-schema-added",
            "unevaluated-properties-added",
            "pattern-property-added",
            "property-names-added",
        ],
        Replaced,
        "Send only properties that the new contract allows in {what}. Remove or correct all others, because requests with \
         them are rejected.",
    ),
    row(
        &[
            "dependent-required-added",
            "dependent-required-changed",
            "dependent-schema-added",
            "if-added",
            "if-changed",
            "then-added",
            "else-added",
            "not-added",
            "not-changed",
            "evaluated-parts-changed",
        ],
        Replaced,
        "Some combinations of values that were valid in {what} are rejected. Check the combinations that your code sends \
         against the new condition.",
    ),
    row(
        &[
            "any-of-removed",
            "any-of-set",
            "any-of-became-one-of",
            "one-of-removed",
            "one-of-set",
            "one-of-overlap-added",
            "unwrapped-from-any-of",
            "unwrapped-from-one-of",
            "wrapped-in-one-of",
        ],
        Replaced,
        "Send {what} in a form that the new contract lists. Values that match no form, or several where one is required, are \
         rejected.",
    ),
    row(
        &[
            "discriminator-added",
            "discriminator-removed",
            "discriminator-property-name-changed",
            "discriminator-mapping-changed",
            "discriminator-mapping-deleted",
        ],
        Lines,
        "The form of {what} is selected by another property or value. Set it as the new contract requires, because old \
         requests are rejected or misread.",
    ),
    row(
        &["content-schema-added"],
        Lines,
        "The text of {what} must match a schema. Compare what your code sends with it, because other text is rejected.",
    ),
];

/// The schema rules about what clients receive.
pub(super) const RESPONSES: &[Template] = &[
    lifecycle(
        DEPRECATED_CALLS,
        Removed,
        DEPRECATED,
        "{What} is still sent and {sunset}. Stop reading it before that day, and use what its description in the contract \
         recommends.",
    ),
    lifecycle(SUNSETS, Lines, SUNSET_MOVED, SUNSET_MOVED_ADVICE),
    row(&["stability-decreased"], Lines, STABILITY_ADVICE),
    row(
        &[
            "type-changed",
            "type-generalized",
            "list-of-types-widened",
            "content-encoding-changed",
            "content-media-type-changed",
        ],
        Replaced,
        "Parse {what} as the new type or format. Change the type in your code, and the columns and files in which you store \
         the value.",
    ),
    row(
        &["became-nullable"],
        Replaced,
        "{What} can be `null`. Make the type in your code optional, and decide what applies without a value.",
    ),
    row(
        &["became-optional"],
        Removed,
        "{What} can be missing. Make the type in your code optional, and decide what applies without a value.",
    ),
    row(
        &["enum-value-added", "enum-opened", "no-longer-enum", "const-changed", "const-removed"],
        Replaced,
        "{What} can have values that your code does not know. Handle the new ones, and add a branch for unknown values instead \
         of failing.",
    ),
    row(
        &["max-increased", "max-unset", "exclusive-max-increased", "exclusive-max-unset"],
        Bound("maximum"),
        WIDER_ADVICE,
    ),
    row(
        &["min-decreased", "min-unset", "exclusive-min-decreased", "exclusive-min-unset"],
        Bound("minimum"),
        WIDER_ADVICE,
    ),
    row(&["multiple-of-changed", "multiple-of-generalized", "multiple-of-removed"], Replaced, WIDER_ADVICE),
    row(
        &["max-length-increased", "max-length-unset", "min-length-decreased"],
        Replaced,
        "{What} can have another length than before. Widen the columns, buffers and displays that depend on the old one.",
    ),
    row(
        &["pattern-changed", "pattern-changed-undecided", "pattern-generalized", "pattern-removed"],
        Replaced,
        "{What} can be text that the old pattern did not match. Change the checks and conversions in your code that rely on the \
         pattern.",
    ),
    row(
        &[
            "max-items-increased",
            "max-items-unset",
            "min-items-decreased",
            "min-items-unset",
            "unique-items-removed",
            "contains-changed",
            "contains-removed",
            "max-contains-increased",
            "max-contains-unset",
            "min-contains-decreased",
            "prefix-items-added",
            "unevaluated-items-removed",
            "items-schema-removed",
        ],
        Replaced,
        "{What} can have other items, or another number of them. Let your code handle lists of any length, and items that it \
         does not expect.",
    ),
    row(
        &[
            "max-properties-increased",
            "max-properties-unset",
            "min-properties-decreased",
            "min-properties-unset",
            "additional-properties-opened",
            "additional-properties-schema-removed",
            "unevaluated-properties-removed",
            "pattern-property-removed",
            "property-names-removed",
        ],
        Replaced,
        "{What} can contain properties that your code does not know. Ignore them instead of failing.",
    ),
    row(
        &[
            "dependent-required-changed",
            "dependent-required-removed",
            "dependent-schema-removed",
            "if-changed",
            "if-removed",
            "then-removed",
            "else-removed",
            "not-changed",
            "not-removed",
            "evaluated-parts-changed",
        ],
        Replaced,
        "{What} can combine values in a way that was impossible before. Remove the assumption about the combination from your \
         code.",
    ),
    row(
        &[
            "any-of-added",
            "any-of-unset",
            "one-of-added",
            "one-of-became-any-of",
            "one-of-unset",
            "unwrapped-from-one-of",
            "wrapped-in-any-of",
            "wrapped-in-one-of",
        ],
        Replaced,
        "{What} can have a form that your code does not know. Handle the new form, and add a branch for unknown ones instead \
         of failing.",
    ),
    row(
        &[
            "discriminator-added",
            "discriminator-removed",
            "discriminator-property-name-changed",
            "discriminator-mapping-added",
            "discriminator-mapping-changed",
            "discriminator-mapping-deleted",
        ],
        Lines,
        "The form of {what} is selected by another property or value. Change the code that chooses the type, and add a branch \
         for unknown values.",
    ),
    row(
        &["content-schema-removed"],
        Lines,
        "The text of {what} can have another structure. Check it before your code parses it.",
    ),
];
