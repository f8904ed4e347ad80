//! Webhooks: if the payload's `type` is an enum, it must contain the event type.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Shape, Webhook};

/// The property that contains the event type.
const TYPE: &str = "type";

/// Checks every webhook.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    for webhook in &document.webhooks {
        check_event_type(document, webhook, diagnostics);
    }
}

/// Checks that an enum in `type` contains the webhook's name, which the server writes into the payload. A payload
/// without such an enum is not checked.
fn check_event_type(document: &Document, webhook: &Webhook, diagnostics: &mut Vec<Diagnostic>) {
    let Some(Shape::Object(payload)) = document.shape(&webhook.content.schema) else { return };
    let mut properties = document.properties(payload).into_iter();
    let Some(property) = properties.find(|property| property.name.text == TYPE) else { return };
    let Some(Shape::Enum(list)) = document.shape(&property.schema) else { return };
    let name = &webhook.name;
    if list.values.iter().any(|value| value.text == name.text) {
        return;
    }
    let span = list.values.first().map_or(property.name.span, |value| value.span);
    diagnostics.push(
        Diagnostic::error(
            Code::UnsupportedKeyword,
            span,
            format!("the payload of `{}` does not allow `{TYPE}: {0}`", name.text),
            format!("write `const: {}`, or rename the webhook", name.text),
        )
        .with_related(name.span, "this webhook"),
    );
}
