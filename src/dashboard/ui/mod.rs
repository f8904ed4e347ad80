//! Components of pages. Each is a value that a template writes with `{{ ui::badge(tone, text) }}`, already escaped.
//!
//! A module that derives a template imports the components with `use crate::ui`.

use std::fmt::{self, Display};

use askama::Template;
use askama::filters::HtmlSafe;

use super::position;
use super::query::{SEARCH_ALL, SEARCH_REST, TIME_ZONE};
use domain::page::{MAX_SCANNED_ROWS, Position};

mod fields;
mod numbers;
mod qr;
mod time;
mod user_agent;

pub(crate) use fields::{FormChoice, choices, error_sentence, field};
pub(crate) use numbers::{Precision, count, duration, example_amount, minor_units, money, number, percent};
pub(crate) use qr::qr_code;
pub(crate) use time::{PageZone, Time};
pub(crate) use user_agent::user_agent;

/// HTML that is written without escaping. Only for HTML that this crate generated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawHtml<T = &'static str>(pub T);

impl<T: Display> Display for RawHtml<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Display> HtmlSafe for RawHtml<T> {}

/// Marks templates as HTML that other templates write without escaping.
macro_rules! html_safe {
    ($($name:ty),* $(,)?) => { $(impl askama::filters::HtmlSafe for $name {})* };
}
pub(super) use html_safe;

html_safe!(CopyableText<'_>, Badge<'_>, EmptyState<'_>, Pager, ConfirmForm<'_>);

/// An id, or another text, with a copy button.
#[derive(Template)]
#[template(
    source = r#"<span class="copied"><code>{{ text }}</code><button type="button" class="copy" data-copy="{{ text }}" aria-label="Copy {{ text }}" hidden></button></span>"#,
    ext = "html"
)]
pub(crate) struct CopyableText<'a> {
    text: std::borrow::Cow<'a, str>,
}

/// Renders an id, or another text, with a copy button.
pub(crate) fn copyable(text: impl Display) -> CopyableText<'static> {
    CopyableText { text: text.to_string().into() }
}

/// The color of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Success.
    Good,
    /// Needs attention.
    Warn,
    /// Failure.
    Bad,
    /// In progress.
    Busy,
    /// Finished or neutral.
    Quiet,
}

/// A badge with a state in one or two words.
#[derive(Template)]
#[template(source = r#"<span class="badge {{ class }}">{{ text }}</span>"#, ext = "html")]
pub(crate) struct Badge<'a> {
    class: &'static str,
    text: &'a str,
}

/// Renders a badge.
pub(crate) fn badge(tone: Tone, text: &str) -> Badge<'_> {
    let class = match tone {
        Tone::Good => "good",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
        Tone::Busy => "busy",
        Tone::Quiet => "quiet",
    };
    Badge { class, text }
}

/// The empty state of a list: what appears there, and the next step.
#[derive(Template)]
#[template(path = "ui/empty.html")]
pub(crate) struct EmptyState<'a> {
    title: &'a str,
    text: &'a str,
    /// URL and label of the next step.
    link: Option<(&'a str, &'a str)>,
}

/// Renders the empty state of a list.
pub(crate) fn empty_state<'a>(title: &'a str, text: &'a str) -> EmptyState<'a> {
    EmptyState { title, text, link: None }
}

impl<'a> EmptyState<'a> {
    /// Adds a link to the next step.
    pub(crate) fn link(self, href: &'a str, label: &'a str) -> Self {
        Self { link: Some((href, label)), ..self }
    }

    /// Adds a link to the next step, if the user may follow it.
    pub(crate) fn link_if(self, is_allowed: bool, href: &'a str, label: &'a str) -> Self {
        if is_allowed { self.link(href, label) } else { self }
    }
}

/// The links between the pages of a list.
#[derive(Template)]
#[template(path = "ui/pager.html")]
pub(crate) struct Pager {
    /// The URL of the first page; `None` on the first page.
    first: Option<String>,
    /// The URL of the next page; `None` on the last page.
    next: Option<String>,
    /// The time back to which the list was searched, and the URL of the search of the remaining rows.
    limit: Option<(Time, String)>,
    /// What was searched, as a plural noun.
    searched: &'static str,
}

/// Renders the pager of a list at `path`, which may have a query. `after` is the cursor of this page, `next` that of the next
/// page.
pub(crate) fn pager(path: &str, after: Option<&str>, next: Option<String>) -> Pager {
    let separator = if path.contains('?') { '&' } else { '?' };
    Pager {
        first: after.map(|_| path.to_owned()),
        next: next.map(|next| format!("{path}{separator}after={next}")),
        limit: None,
        searched: "entries",
    }
}

impl Pager {
    /// Marks the list as limited to the rows down to `search_end`; `None` means that all rows were searched. If there is no
    /// next page, the pager links to a search of all remaining rows.
    pub(crate) fn limited_to(
        self,
        path: &str,
        zone: &PageZone,
        after: Option<Position>,
        search_end: Option<Position>,
    ) -> Self {
        let separator = if path.contains('?') { '&' } else { '?' };
        let parameters = match after {
            Some(after) => format!("{SEARCH_ALL}={SEARCH_REST}&after={}", position::format(after)),
            None => format!("{SEARCH_ALL}=1"),
        };
        let link =
            |search_end: Position| (zone.time(&search_end.at), format!("{path}{separator}{parameters}"));
        Self { limit: search_end.filter(|_| self.next.is_none()).map(link), ..self }
    }

    /// Sets the name of the searched rows, if they are more than the listed ones: "students of all courses".
    pub(crate) fn searched(self, searched: &'static str) -> Self {
        Self { searched, ..self }
    }

    /// Returns whether this is the last page of a limited search, so that rows that were not searched may match.
    pub(crate) const fn is_limited(&self) -> bool {
        self.limit.is_some()
    }
}

/// The form that confirms an action before it is performed. Works without scripts.
#[derive(Template)]
#[template(path = "ui/confirm.html")]
pub(crate) struct ConfirmForm<'a> {
    /// The hidden field of the form: `frame.csrf()`.
    pub csrf: RawHtml<String>,
    /// What will happen, in a sentence or two.
    pub text: &'a str,
    /// The URL of the form.
    pub action: &'a str,
    /// The label of the button: "Revoke key".
    pub button: &'a str,
    /// The URL of the "Cancel" link.
    pub back: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        insta::assert_snapshot!(
            badge(Tone::Bad, "<b>&\"'"),
            @r#"<span class="badge bad">&#60;b&#62;&#38;&#34;&#39;</span>"#
        );
        assert!(!copyable("\"><script>").to_string().contains("<script>"));
    }

    #[test]
    fn a_limited_search_links_to_the_rest() {
        let at = "2026-03-02T10:00:30Z".parse().unwrap();
        let search_end = Some(Position { at, id: uuid::Uuid::nil() });
        let limited = |next: Option<&str>| {
            pager("/x?q=a", None, next.map(str::to_owned)).limited_to(
                "/x?q=a",
                &PageZone::UTC,
                None,
                search_end,
            )
        };
        assert!(limited(None).to_string().contains("href=\"/x?q=a&#38;far=1\""), "{}", limited(None));
        assert!(limited(None).is_limited() && !limited(Some("3.4")).is_limited());
    }

    #[test]
    fn the_pager_keeps_the_filter_parameters() {
        let pager = pager("/x?q=a", Some("1.2"), Some("3.4".to_owned()));
        assert_eq!(
            (pager.first.as_deref(), pager.next.as_deref()),
            (Some("/x?q=a"), Some("/x?q=a&after=3.4"))
        );
    }
}
