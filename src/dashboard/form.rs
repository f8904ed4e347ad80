//! Submitted forms and their validation errors.
//!
//! The pipeline reads the form and checks its CSRF token before it calls a handler.

use std::sync::Arc;

use poem::{FromRequest, Request, RequestBody};
use url::form_urlencoded;

use super::csrf;
use super::error::PageError;
use domain::FieldError;

/// The fields of a form, in the order in which they were sent. Only POST requests have one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form(Arc<Vec<(String, String)>>);

impl Form {
    /// Parses the body of a form. Replaces NUL, which PostgreSQL cannot store in text, with U+FFFD.
    pub(super) fn read(body: &[u8]) -> Self {
        let text = |text: &str| text.replace('\0', "\u{fffd}");
        let fields = form_urlencoded::parse(body).map(|(field, value)| (text(&field), text(&value)));
        Self(Arc::new(fields.collect()))
    }

    /// Returns a form with these fields, to show before the first submission.
    pub(crate) fn filled(fields: Vec<(&str, String)>) -> Self {
        Self(Arc::new(fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()))
    }

    /// Returns a field's first value, or an empty string when the field is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.values(name).next().unwrap_or_default()
    }

    /// Returns all values of a field, such as those of checkboxes.
    pub(crate) fn values<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether one of a field's values is this one.
    pub(crate) fn contains(&self, name: &str, value: &str) -> bool {
        self.values(name).any(|field_value| field_value == value)
    }

    /// Returns the nonce of the form's CSRF token, or `None` if the form has no well-formed token. The nonce differs
    /// for each rendered form, and stays the same when a form is sent again.
    pub(super) fn nonce(&self) -> Option<[u8; 16]> {
        csrf::nonce(self.text(csrf::FIELD))
    }

    /// Parses a field as an integer. Returns `None` when it is empty. Returns `None` and adds an error when it is not a
    /// 32-bit integer.
    pub(crate) fn integer(&self, name: &str, errors: &mut FormErrors) -> Option<i32> {
        let text = self.text(name).trim();
        if text.is_empty() {
            return None;
        }
        let integer = text.parse().ok();
        if integer.is_none() {
            errors.add(name, "must be a whole number of at most 2,147,483,647");
        }
        integer
    }
}

impl<'a> FromRequest<'a> for Form {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let form = request.extensions().get::<Self>().cloned();
        let missing =
            || PageError::Internal(anyhow::anyhow!("a handler requested a form outside of the pipeline"));
        Ok(form.ok_or_else(missing)?)
    }
}

/// The validation errors of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormErrors(Vec<FieldError>);

impl FormErrors {
    /// Adds an error. A message that begins with a lowercase letter continues the field's label: "must be greater than
    /// zero". Any other message is a sentence of its own. The page adds the period.
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(FieldError { field: field.into(), message: message.into() });
    }

    /// Returns whether the form is valid.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first message for a field or one of its elements (`tags/2` is an element of `tags`).
    pub(crate) fn message_for(&self, field: &str) -> Option<&str> {
        let belongs = |error: &&FieldError| {
            error.field.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().find(belongs).map(|error| error.message.as_str())
    }
}

impl From<Vec<FieldError>> for FormErrors {
    fn from(errors: Vec<FieldError>) -> Self {
        Self(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_fields_are_parsed() {
        let form = Form::read(b"name=A+%26+B&scope=x&scope=y&n=+12&bad=1x&none=");
        assert_eq!(form.text("name"), "A & B");
        assert_eq!(form.values("scope").collect::<Vec<_>>(), ["x", "y"]);
        assert!(form.contains("scope", "y") && !form.contains("scope", "z"));
        assert_eq!(form.text("absent"), "");
        let mut errors = FormErrors::default();
        assert_eq!((form.integer("n", &mut errors), form.integer("none", &mut errors)), (Some(12), None));
        assert!(errors.is_empty());
        assert_eq!(form.integer("bad", &mut errors), None);
        assert_eq!(errors.message_for("bad"), Some("must be a whole number of at most 2,147,483,647"));
        assert_eq!(Form::read(b"q=a%00b").text("q"), "a\u{fffd}b");
    }

    #[test]
    fn an_error_belongs_to_its_field() {
        let mut errors = FormErrors::default();
        errors.add("tags/2", "must not repeat");
        assert_eq!(errors.message_for("tags"), Some("must not repeat"));
        assert_eq!((errors.message_for("tag"), errors.message_for("tags/1")), (None, None));
    }
}
