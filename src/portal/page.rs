//! The frame of every page: title, navigation, table of contents, and the URLs of static files.

use askama::Template;

use super::assets;
use super::contract_text::ContractText;
use super::markdown::Heading;
use super::site::Site;

/// The media type of pages.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The content security policy of pages: files of this server only, and images as data URLs.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The frame of one page, for `layout.html`.
pub(crate) struct Frame<'a> {
    /// The portal.
    pub site: &'a Site,
    /// The heading of the page.
    pub title: &'a str,
    /// One sentence for search engines, as plain text.
    pub summary: &'a str,
    /// The path of the page, without the prefix of the public URL.
    pub path: &'a str,
    /// The text of the search field.
    pub query: &'a str,
    /// The headings of the table of contents.
    pub contents: &'a [Heading],
    /// Whether the page is also served as Markdown.
    pub has_markdown: bool,
    /// `false` for the page of status 404.
    pub is_found: bool,
    /// Whether the content needs the full width.
    pub is_wide: bool,
    /// The previous page in the order of the navigation.
    pub previous: Option<PageLink<'a>>,
    /// The next page in the order of the navigation.
    pub next: Option<PageLink<'a>>,
}

/// A link to a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLink<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The path, without prefix.
    pub path: &'a str,
}

/// A group of links in the navigation, as shown on one page.
pub(crate) struct ShownGroup<'a> {
    /// The heading. Empty for the first group.
    pub heading: &'a str,
    /// Whether readers can open and close the group.
    pub is_collapsible: bool,
    /// Whether the group contains the current page.
    pub is_current: bool,
    /// The links.
    pub links: Vec<ShownLink<'a>>,
}

/// A link in the navigation, as shown on one page.
pub(crate) struct ShownLink<'a> {
    /// The label.
    pub label: &'a str,
    /// The path, without prefix.
    pub path: &'a str,
    /// Whether the label is an identifier.
    pub is_code: bool,
    /// Whether it leads to the current page.
    pub is_current: bool,
}

impl<'a> Frame<'a> {
    /// Creates the frame of a page without a table of contents and without neighbors.
    pub(crate) fn new(site: &'a Site, title: &'a str, path: &'a str) -> Self {
        Self {
            site,
            title,
            summary: "",
            path,
            query: "",
            contents: &[],
            has_markdown: false,
            is_found: true,
            is_wide: false,
            previous: None,
            next: None,
        }
    }

    /// Returns the contract that the page belongs to, unless it is the first one, whose title and version the header shows.
    pub(crate) fn other_contract(&self) -> Option<&ContractText> {
        let at = self.site.contract_at(self.path);
        (at > 0).then(|| &self.site.contracts[at])
    }

    /// Returns the title of the browser's tab.
    pub(crate) fn document_title(&self) -> String {
        if self.title == self.site.title {
            self.title.to_owned()
        } else {
            format!("{} - {}", self.title, self.site.title)
        }
    }

    /// Returns the URL of a path of this server.
    pub(crate) fn url(&self, path: &str) -> String {
        self.site.url(path)
    }

    /// Returns the URL of a static file. The empty name is the folder, with a trailing slash.
    pub(crate) fn asset(&self, name: &str) -> String {
        format!("{}{}/{name}", self.site.prefix, *assets::FOLDER)
    }

    /// Returns the URL of the page as Markdown.
    pub(crate) fn markdown_url(&self) -> String {
        self.url(&markdown_path(self.path))
    }

    /// Returns the file name of the page as Markdown.
    pub(crate) fn markdown_name(&self) -> String {
        self.file_name(&markdown_path(self.path))
    }

    /// Returns the last part of a path.
    pub(crate) fn file_name(&self, path: &str) -> String {
        path.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Returns the navigation.
    pub(crate) fn navigation(&self) -> Vec<ShownGroup<'_>> {
        let groups = self.site.navigation.iter().map(|group| {
            let links: Vec<ShownLink<'_>> = group
                .links
                .iter()
                .map(|link| ShownLink {
                    label: &link.label,
                    path: &link.path,
                    is_code: link.is_code,
                    is_current: link.path == self.path,
                })
                .collect();
            ShownGroup {
                heading: &group.heading,
                is_collapsible: group.is_collapsible,
                is_current: links.iter().any(|link| link.is_current),
                links,
            }
        });
        groups.collect()
    }
}

/// Returns the path of a page as Markdown.
pub(crate) fn markdown_path(path: &str) -> String {
    if path == "/docs" { "/docs/index.md".to_owned() } else { format!("{path}.md") }
}

/// Returns the path of a URL, without a trailing slash: the prefix of all links.
pub(crate) fn path_prefix(base_url: &str) -> &str {
    let after_scheme = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    after_scheme.find('/').map_or("", |start| after_scheme[start..].trim_end_matches('/'))
}

/// A page of text.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct TextPage<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// Whether the title is an identifier.
    pub is_code: bool,
    /// The content below the title, as HTML.
    pub body: &'a str,
}

/// The results of a search, and the page of status 404.
#[derive(Template)]
#[template(path = "search.html")]
pub(crate) struct SearchPage<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// What was found, in a sentence.
    pub message: String,
    /// The results.
    pub results: Vec<SearchResult<'a>>,
}

/// A result of a search.
pub(crate) struct SearchResult<'a> {
    /// The title.
    pub title: &'a str,
    /// The kind, such as `Operation`, and the API unless it is the first one.
    pub label: String,
    /// The beginning of the text.
    pub text: String,
    /// The URL.
    pub url: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_the_path_of_the_url() {
        for (url, prefix) in [
            ("http://127.0.0.1:8080", ""),
            ("https://example.com/", ""),
            ("https://example.com/a/b", "/a/b"),
            ("https://example.com/a/", "/a"),
        ] {
            assert_eq!(path_prefix(url), prefix, "{url}");
        }
    }
}
