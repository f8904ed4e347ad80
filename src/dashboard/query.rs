//! Query parameters of pages, and links to filtered lists.

use poem::{FromRequest, Request, RequestBody};
use url::form_urlencoded::Serializer;

use super::form::Form;

/// The parameter that requests a search of the whole list, which can take long. Any value but the empty one requests it.
pub(crate) const SEARCH_ALL: &str = "far";
/// The value of [`SEARCH_ALL`] on the pages that continue a search whose first page was limited.
pub(crate) const SEARCH_REST: &str = "rest";

/// The parameter with the time zone of the times in other parameters.
pub(crate) const TIME_ZONE: &str = "zone";

/// The query parameters of a request. Parsing never fails.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageQuery(Form);

impl PageQuery {
    /// Returns a parameter's first value without surrounding whitespace, or an empty string when it is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.text(name).trim()
    }

    /// Returns all values of a parameter, such as those of checkboxes.
    pub(crate) fn values<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.values(name)
    }

    /// Returns a parameter's first value, or `None` when it is empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<String> {
        let text = self.text(name);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the cursor at which the page begins, or `None` on the first page.
    pub(crate) fn after(&self) -> Option<&str> {
        Some(self.text("after")).filter(|after| !after.is_empty())
    }

    /// Returns whether to search the list to its end.
    pub(crate) fn is_full_search(&self) -> bool {
        !self.text(SEARCH_ALL).is_empty()
    }

    /// Returns whether this page continues a search whose first page was limited.
    pub(crate) fn continues_limited_search(&self) -> bool {
        self.after().is_some() && matches!(self.text(SEARCH_ALL), "" | SEARCH_REST)
    }

    /// Returns the path with the values of these parameters as its query. Leaves out empty parameters.
    pub(crate) fn path(&self, path: &str, fields: &[&str]) -> String {
        let mut query = Serializer::new(String::new());
        let parameters = fields.iter().map(|field| (*field, self.text(field)));
        query.extend_pairs(parameters.filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Returns whether any of these parameters is not empty, except [`TIME_ZONE`], which alone filters nothing.
    pub(crate) fn has_any(&self, fields: &[&str]) -> bool {
        fields.iter().filter(|field| **field != TIME_ZONE).any(|field| !self.text(field).is_empty())
    }
}

/// The query parameters of a page that its form contains as hidden fields.
impl From<&Form> for PageQuery {
    fn from(form: &Form) -> Self {
        Self(form.clone())
    }
}

impl<'a> FromRequest<'a> for PageQuery {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(Form::read(request.uri().query().unwrap_or_default().as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_parameters_are_left_out_of_links() {
        let parse = |text: &str| PageQuery(Form::read(text.as_bytes()));
        assert_eq!(parse("").path("/x", &["q", "status"]), "/x");
        let filtered = parse("q=+a+%26+b&status=&after=1.2&after=3.4");
        assert_eq!(filtered.path("/x", &["q", "status"]), "/x?q=a+%26+b");
        assert_eq!((filtered.after(), parse("after=").after()), (Some("1.2"), None));
        assert_eq!((filtered.non_empty("q").as_deref(), filtered.non_empty("status")), (Some("a & b"), None));
        assert!(filtered.has_any(&["status", "q"]) && !filtered.has_any(&["status"]));
        assert!(
            filtered.continues_limited_search() && parse("after=1.2&far=rest").continues_limited_search()
        );
        assert!(
            !parse("after=1.2&far=1").continues_limited_search() && !parse("q=a").continues_limited_search()
        );
    }
}
