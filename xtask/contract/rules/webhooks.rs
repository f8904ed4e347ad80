//! Webhooks: an event says of itself what the contract calls it.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Shape, Webhook};

/// The property by which receivers tell events apart.
const TYPE: &str = "type";

/// Judges every webhook.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    for webhook in &document.webhooks {
        named(document, webhook, findings);
    }
}

/// The server writes the webhook's name into the event, so the payload's schema must take it.
fn named(document: &Document, webhook: &Webhook, findings: &mut Vec<Diagnostic>) {
    let Some(Shape::Object(payload)) = document.shape(&webhook.content.schema) else { return };
    let Some(property) = document.properties(payload).into_iter().find(|own| own.name.text == TYPE) else {
        return;
    };
    let Some(Shape::Enum(list)) = document.shape(&property.schema) else { return };
    let name = &webhook.name;
    if list.values.iter().any(|value| value.text == name.text) {
        return;
    }
    let span = list.values.first().map_or(property.name.span, |value| value.span);
    findings.push(
        Diagnostic::error(
            Code::UnsupportedKeyword,
            span,
            format!("the payload of `{}` does not take `{TYPE}: {0}`", name.text),
            format!("write `const: {}`, or name the webhook as its payload does", name.text),
        )
        .related(name.span, "this webhook"),
    );
}
