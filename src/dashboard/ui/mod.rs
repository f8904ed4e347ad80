//! The small pieces of pages: each is a value that a template writes with `{{ ui::time(at) }}`, escaped and ready.
//!
//! Templates name them through the module that derives them, which therefore says `use crate::ui`.

use std::fmt::{self, Display};

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;

use super::position;
use super::query::{FAR, REST};
use domain::page::{LOOKED, Position};

mod fields;
mod numbers;

pub(crate) use fields::{Choice, field};
pub(crate) use numbers::{count, minor_units, money, number, percent};

/// HTML that is written as it is. Only for what this program made itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<T = &'static str>(pub T);

impl<T: Display> Display for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Display> HtmlSafe for Raw<T> {}

/// Implements what lets a template be written into another as it is.
macro_rules! piece {
    ($($name:ty),* $(,)?) => { $(impl askama::filters::HtmlSafe for $name {})* };
}
pub(super) use piece;

piece!(Time, CopyId<'_>, Badge<'_>, Empty<'_>, Pager, Confirm<'_>);

/// A moment: in UTC as it comes, in the viewer's own zone once the script has run, UTC on hover.
#[derive(Template)]
#[template(source = r#"<time datetime="{{ machine }}" title="{{ shown }}">{{ shown }}</time>"#, ext = "html")]
pub(crate) struct Time {
    machine: String,
    shown: String,
}

/// A moment.
pub(crate) fn time(at: &Timestamp) -> Time {
    Time { machine: format!("{at:.3}"), shown: at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string() }
}

/// A moment that may not have been: the text stands in its place.
pub(crate) fn time_or(at: &Option<Timestamp>, otherwise: &'static str) -> Raw<String> {
    Raw(at
        .as_ref()
        .map_or_else(|| format!("<span class=\"quiet\">{otherwise}</span>"), |at| time(at).to_string()))
}

/// An id, or another text that one copies.
#[derive(Template)]
#[template(
    source = r#"<span class="copied"><code>{{ text }}</code><button type="button" class="copy" data-copy="{{ text }}" aria-label="Copy {{ text }}" hidden></button></span>"#,
    ext = "html"
)]
pub(crate) struct CopyId<'a> {
    text: std::borrow::Cow<'a, str>,
}

/// An id with a button that copies it.
pub(crate) fn id(id: impl Display) -> CopyId<'static> {
    CopyId { text: id.to_string().into() }
}

/// How a state feels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It works.
    Good,
    /// It wants to be looked at.
    Warn,
    /// It failed.
    Bad,
    /// It goes on.
    Busy,
    /// It is over, or says nothing.
    Quiet,
}

/// A state in one or two words.
#[derive(Template)]
#[template(source = r#"<span class="badge {{ class }}">{{ text }}</span>"#, ext = "html")]
pub(crate) struct Badge<'a> {
    class: &'static str,
    text: &'a str,
}

/// A state in one or two words.
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

/// What a list says when it has nothing: what would be here, and how to begin.
#[derive(Template)]
#[template(path = "ui/empty.html")]
pub(crate) struct Empty<'a> {
    title: &'a str,
    text: &'a str,
    /// Address and label of the way on.
    next: Option<(&'a str, &'a str)>,
}

/// An empty list: what would be here.
pub(crate) fn empty<'a>(title: &'a str, text: &'a str) -> Empty<'a> {
    Empty { title, text, next: None }
}

impl<'a> Empty<'a> {
    /// With the way on: its address and its label.
    pub(crate) fn next(self, href: &'a str, label: &'a str) -> Self {
        Self { next: Some((href, label)), ..self }
    }
}

/// The ways from one page of a list to the others.
#[derive(Template)]
#[template(path = "ui/pager.html")]
pub(crate) struct Pager {
    first: Option<String>,
    next: Option<String>,
    /// Back to when was looked, and where all is looked through.
    beyond: Option<(Time, String)>,
    /// What was looked through.
    among: &'static str,
}

/// The pager of a list at `path`, which may have a query. `after` is where this page began, `next` where the next one does.
pub(crate) fn pager(path: &str, after: Option<&str>, next: Option<String>) -> Pager {
    let glue = if path.contains('?') { '&' } else { '?' };
    Pager {
        first: after.map(|_| path.to_owned()),
        next: next.map(|next| format!("{path}{glue}after={next}")),
        beyond: None,
        among: "Of these",
    }
}

impl Pager {
    /// Of a list that was looked through no further back than this: a page that is not full offers the rest, at `path` with
    /// `far` in its query.
    pub(crate) fn beyond(self, path: &str, after: Option<Position>, reach: Option<Position>) -> Self {
        let glue = if path.contains('?') { '&' } else { '?' };
        let far = match after {
            Some(after) => format!("{FAR}={REST}&after={}", position::text(after)),
            None => format!("{FAR}=1"),
        };
        let rest = |reach: Position| (time(&reach.at), format!("{path}{glue}{far}"));
        Self { beyond: reach.filter(|_| self.next.is_none()).map(rest), ..self }
    }

    /// Says in its own words what was looked through, where that is more than what is listed: "Of all orders".
    pub(crate) fn among(self, among: &'static str) -> Self {
        Self { among, ..self }
    }

    /// Whether there may be more that was not looked at.
    pub(crate) const fn is_cut(&self) -> bool {
        self.beyond.is_some()
    }
}

/// The question before something that cannot be taken back: a form of its own, which needs no script.
#[derive(Template)]
#[template(path = "ui/confirm.html")]
pub(crate) struct Confirm<'a> {
    /// The hidden field of the form: `frame.csrf()`.
    pub csrf: Raw<String>,
    /// What will happen, in a sentence or two.
    pub text: &'a str,
    /// Where the form goes.
    pub action: &'a str,
    /// The button: what it does, "Revoke key".
    pub button: &'a str,
    /// Where "Cancel" leads.
    pub back: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_escaped() {
        insta::assert_snapshot!(
            badge(Tone::Bad, "<b>&\"'"),
            @r#"<span class="badge bad">&#60;b&#62;&#38;&#34;&#39;</span>"#
        );
        assert!(!id("\"><script>").to_string().contains("<script>"));
    }

    #[test]
    fn a_time_is_read_by_people_and_machines() {
        let at = "2026-03-02T10:00:30.5Z".parse().unwrap();
        insta::assert_snapshot!(
            time(&at),
            @r#"<time datetime="2026-03-02T10:00:30.500Z" title="2026-03-02 10:00:30 UTC">2026-03-02 10:00:30 UTC</time>"#
        );
        assert_eq!(time_or(&None, "never").to_string(), "<span class=\"quiet\">never</span>");
    }

    #[test]
    fn a_page_that_is_not_full_offers_the_rest() {
        let at = "2026-03-02T10:00:30Z".parse().unwrap();
        let reach = Some(Position { at, id: uuid::Uuid::nil() });
        let offered =
            |next: Option<&str>| pager("/x?q=a", None, next.map(str::to_owned)).beyond("/x?q=a", None, reach);
        assert!(offered(None).to_string().contains("href=\"/x?q=a&#38;far=1\""), "{}", offered(None));
        assert!(offered(None).is_cut() && !offered(Some("3.4")).is_cut());
    }

    #[test]
    fn the_pager_keeps_the_filter() {
        let pager = pager("/x?q=a", Some("1.2"), Some("3.4".to_owned()));
        assert_eq!(
            (pager.first.as_deref(), pager.next.as_deref()),
            (Some("/x?q=a"), Some("/x?q=a&after=3.4"))
        );
    }
}
