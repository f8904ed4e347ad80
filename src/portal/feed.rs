//! The changelog as an Atom feed (RFC 4287). Entries have `tag:` URIs (RFC 4151).

use std::fmt::Write;

use super::changelog::{Release, releases};
use super::markdown::{Renderer, escape, slug};
use super::site::Site;

/// Returns the feed.
pub(crate) fn atom(site: &Site) -> String {
    let releases = releases();
    let page = format!("{}/docs/changelog", site.base_url);
    let title = escape(&format!("{}: changelog", site.title));
    let updated = releases.iter().map(|release| release.date).max().unwrap_or("1970-01-01");
    let mut feed = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<id>{}</id>\n\
         <title>{title}</title>\n<updated>{updated}T00:00:00Z</updated>\n<author><name>{}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n",
        tag(site, "2026-01-01", "changelog"),
        escape(&site.title),
        escape(&format!("{page}.atom")),
        escape(&page),
    );
    for release in &releases {
        entry(site, release, &page, &mut feed);
    }
    feed += "</feed>\n";
    feed
}

fn entry(site: &Site, release: &Release, page: &str, feed: &mut String) {
    let Release { contract, version, date, text } = release;
    let heading = release.heading();
    // Feed readers resolve links from their own pages, so they are absolute.
    let mut html = String::new();
    Renderer::new(&site.references[release.contract_at(&site.contracts)], &site.base_url)
        .render(text, &mut html);
    let _ = write!(
        feed,
        "<entry>\n<id>{}</id>\n<title>{}</title>\n<updated>{date}T00:00:00Z</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<content type=\"html\">{}</content>\n</entry>\n",
        tag(site, date, &format!("changelog/{contract}/{version}")),
        escape(&format!("{contract} {version}")),
        escape(&format!("{page}#{}", slug(&heading))),
        escape(&html),
    );
}

/// Returns a `tag:` URI. Its authority is the host of the server if that is a name.
fn tag(site: &Site, date: &str, name: &str) -> String {
    let url = url::Url::parse(&site.base_url).ok();
    let authority = url.as_ref().and_then(url::Url::domain).unwrap_or("localhost");
    escape(&format!("tag:{authority},{date}:{name}"))
}
