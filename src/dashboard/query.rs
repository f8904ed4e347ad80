//! What the address of a page asks for, and the address of a list with its filters.

use poem::{FromRequest, Request, RequestBody};
use url::form_urlencoded::Serializer;

use super::form::Form;

/// The field by which a list is looked through to its end, however long that takes.
pub(crate) const FAR: &str = "far";
/// What stands in that field where a later page went on to the end, and the first one had not.
pub(crate) const REST: &str = "rest";

/// The fields behind the `?` of an address. Whatever stands there, it can be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked(Form);

impl Asked {
    /// A field's first value; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.text(name).trim()
    }

    /// All values of a field: ticked boxes, chosen rows.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.all(name)
    }

    /// A field's first value; `None` when it is empty.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        let text = self.text(name);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Where the page begins; `None` for the first.
    pub(crate) fn after(&self) -> Option<&str> {
        Some(self.text("after")).filter(|after| !after.is_empty())
    }

    /// Whether a list is to be looked through to its end.
    pub(crate) fn is_far(&self) -> bool {
        !self.text(FAR).is_empty()
    }

    /// Whether this goes on from a first page that had looked only so far.
    pub(crate) fn is_cut(&self) -> bool {
        self.after().is_some() && matches!(self.text(FAR), "" | REST)
    }

    /// A path with those of these fields that were given.
    pub(crate) fn path(&self, path: &str, fields: &[&str]) -> String {
        let mut query = Serializer::new(String::new());
        let given = fields.iter().map(|field| (*field, self.text(field)));
        query.extend_pairs(given.filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Whether one of these fields was given.
    pub(crate) fn any(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| !self.text(field).is_empty())
    }
}

/// A form that sends on what the address of its page asked for.
impl From<&Form> for Asked {
    fn from(form: &Form) -> Self {
        Self(form.clone())
    }
}

impl<'a> FromRequest<'a> for Asked {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(Form::read(request.uri().query().unwrap_or_default().as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_is_in_the_address() {
        let asked = |query: &str| Asked(Form::read(query.as_bytes()));
        assert_eq!(asked("").path("/x", &["q", "status"]), "/x");
        let filtered = asked("q=+a+%26+b&status=&after=1.2&after=3.4");
        assert_eq!(filtered.path("/x", &["q", "status"]), "/x?q=a+%26+b");
        assert_eq!((filtered.after(), asked("after=").after()), (Some("1.2"), None));
        assert_eq!((filtered.given("q").as_deref(), filtered.given("status")), (Some("a & b"), None));
        assert!(filtered.any(&["status", "q"]) && !filtered.any(&["status"]));
        assert!(filtered.is_cut() && asked("after=1.2&far=rest").is_cut());
        assert!(!asked("after=1.2&far=1").is_cut() && !asked("q=a").is_cut());
    }
}
