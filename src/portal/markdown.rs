//! Renders Markdown as HTML. HTML in the text is escaped, and links to anything but pages and mail addresses are removed.

use std::collections::HashSet;
use std::fmt::Write;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::references::References;

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 2 for the sections of a page, 3 for their parts.
    pub level: u8,
    /// The fragment of links to it.
    pub id: String,
    /// The text.
    pub text: String,
}

/// The extensions of Markdown: tables, and `{#id}` after a heading.
const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_HEADING_ATTRIBUTES);

/// The ids of the layout.
const LAYOUT_IDS: [&str; 5] = ["content", "search", "search-results", "navigation-drawer", "theme-switch"];

/// Renders the texts of one page. Ids of headings are unique in the page.
pub(crate) struct Renderer<'a> {
    references: &'a References,
    prefix: &'a str,
    headings: Vec<Heading>,
    ids: HashSet<String>,
}

/// The state within a text.
#[derive(Default)]
struct State {
    /// The output events of the current heading, while one is open.
    heading: Option<Vec<Event<'static>>>,
    /// The id of the current heading, if the text defines it.
    heading_id: Option<String>,
    /// Whether links were opened, and whether they were removed.
    links: Vec<bool>,
    /// The headings of the columns of the current table.
    columns: Vec<String>,
    in_head: bool,
    column: usize,
    /// The language and the name of the current code block, and its text.
    code: Option<(String, String)>,
}

impl<'a> Renderer<'a> {
    /// Creates the renderer of a page. Links of the server begin with `prefix`.
    pub(crate) fn new(references: &'a References, prefix: &'a str) -> Self {
        Self { references, prefix, headings: Vec::new(), ids: LAYOUT_IDS.map(str::to_owned).into() }
    }

    /// Sets what code spans of the next texts link to.
    pub(crate) fn set_references(&mut self, references: &'a References) {
        self.references = references;
    }

    /// Returns the headings of all texts.
    pub(crate) fn into_headings(self) -> Vec<Heading> {
        self.headings
    }

    /// Appends a text as HTML.
    pub(crate) fn render(&mut self, text: &str, output: &mut String) {
        let mut state = State::default();
        let mut events = Vec::new();
        for event in Parser::new_ext(text, OPTIONS) {
            self.convert(event.into_static(), &mut state, &mut events);
        }
        html::push_html(output, events.into_iter());
    }

    /// Returns a text on one line as HTML without a paragraph.
    pub(crate) fn inline(&mut self, text: &str) -> String {
        let mut html = String::new();
        self.render(text, &mut html);
        let html = html.trim();
        match html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>")) {
            Some(inner) if !inner.contains("<p>") => inner.to_owned(),
            _ => html.to_owned(),
        }
    }

    fn convert(&mut self, event: Event<'static>, state: &mut State, output: &mut Vec<Event<'static>>) {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                state.heading = Some(Vec::new());
                state.heading_id = id.map(CowStr::into_string);
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(level as u8, state, output),
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                state.code = Some((info, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                let (info, text) = state.code.take().unwrap_or_default();
                output.push(raw(code_block(&info, &text)));
            }
            Event::Text(text) if state.code.is_some() => {
                if let Some((_, code)) = &mut state.code {
                    *code += &text;
                }
            }
            Event::Start(Tag::Table(_)) => {
                state.columns.clear();
                output.push(raw(
                    "<div class=\"table\" role=\"group\" aria-label=\"Table\" tabindex=\"0\"><table>"
                        .to_owned(),
                ));
            }
            Event::End(TagEnd::Table) => output.push(raw("</tbody></table></div>\n".to_owned())),
            Event::Start(Tag::TableHead) => {
                state.in_head = true;
                output.push(raw("<thead><tr>".to_owned()));
            }
            Event::End(TagEnd::TableHead) => {
                state.in_head = false;
                output.push(raw("</tr></thead><tbody>\n".to_owned()));
            }
            Event::Start(Tag::TableRow) => {
                state.column = 0;
                output.push(raw("<tr>".to_owned()));
            }
            Event::End(TagEnd::TableRow) => output.push(raw("</tr>\n".to_owned())),
            Event::Start(Tag::TableCell) => output.push(raw(state.start_cell())),
            Event::End(TagEnd::TableCell) => {
                output.push(raw(if state.in_head { "</th>" } else { "</td>" }.to_owned()));
                state.column += 1;
            }
            inline => self.convert_inline(inline, state, output),
        }
    }

    fn convert_inline(&self, event: Event<'static>, state: &mut State, output: &mut Vec<Event<'static>>) {
        if let (true, Event::Text(text) | Event::Code(text)) = (state.in_head, &event)
            && let Some(column) = state.columns.last_mut()
        {
            *column += text;
        }
        let event = match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let url = self.link(&dest_url);
                state.links.push(url.is_some());
                match url {
                    Some(url) => raw(format!("<a href=\"{}\">", escape(&url))),
                    None => return,
                }
            }
            Event::End(TagEnd::Link) => match state.links.pop() {
                Some(true) => raw("</a>".to_owned()),
                _ => return,
            },
            // The text of an image remains.
            Event::Start(Tag::Image { .. } | Tag::HtmlBlock)
            | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => return,
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Code(code) if state.links.is_empty() && state.heading.is_none() => self.code(&code),
            event => event,
        };
        match &mut state.heading {
            Some(heading) => heading.push(event),
            None => output.push(event),
        }
    }

    /// Returns a code span, as a link if it names an operation, an event type, an error code or a page.
    fn code(&self, code: &str) -> Event<'static> {
        let text = escape(code);
        match self.references.path(code) {
            Some(path) => raw(format!("<a href=\"{}{}\"><code>{text}</code></a>", self.prefix, escape(path))),
            None => raw(format!("<code>{text}</code>")),
        }
    }

    /// Returns the URL of a link, or `None` if its scheme is not allowed.
    fn link(&self, url: &str) -> Option<String> {
        // Browsers ignore control characters in schemes.
        if url.chars().any(|character| character.is_control()) || url.starts_with("//") || url.contains('\\')
        {
            return None;
        }
        if url.starts_with('/') {
            return Some(format!("{}{url}", self.prefix));
        }
        let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_allowed = match scheme.as_deref() {
            Some("http" | "https" | "mailto") => true,
            Some(other) => other.contains(['/', '#', '?']),
            None => true,
        };
        is_allowed.then(|| url.to_owned())
    }

    fn end_heading(&mut self, level: u8, state: &mut State, output: &mut Vec<Event<'static>>) {
        let events = state.heading.take().unwrap_or_default();
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(&**text),
                _ => None,
            })
            .collect();
        let id = self.unique_id(&state.heading_id.take().map_or_else(|| slug(&text), |id| slug(&id)));
        // The title of the page is the only heading of level 1.
        let level = level.max(2);
        output.push(raw(format!("<h{level} id=\"{id}\">")));
        output.extend(events);
        let label = format!("Link to {}", escape(&text));
        output.push(raw(format!(
            "<a class=\"anchor\" href=\"#{id}\" aria-label=\"{label}\"></a></h{level}>\n"
        )));
        self.headings.push(Heading { level, id, text });
    }

    fn unique_id(&mut self, slug: &str) -> String {
        let mut id = slug.to_owned();
        let mut number = 2;
        while !self.ids.insert(id.clone()) {
            id = format!("{slug}-{number}");
            number += 1;
        }
        id
    }
}

impl State {
    fn start_cell(&mut self) -> String {
        if self.in_head {
            self.columns.push(String::new());
            return "<th>".to_owned();
        }
        let label = self.columns.get(self.column).map(String::as_str).unwrap_or_default();
        format!("<td data-label=\"{}\">", escape(label))
    }
}

/// Returns the fragment of a heading: letters and digits in lower case, `_` and `.`, with dashes between words.
pub(crate) fn slug(text: &str) -> String {
    let kept = |character: char| {
        if character.is_alphanumeric() || matches!(character, '_' | '.') {
            character.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let words: String = text.chars().map(kept).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Returns a code block. `info` is the language, and optionally the name of the file, which is the id of the block.
fn code_block(info: &str, text: &str) -> String {
    let mut words = info.split_whitespace();
    let language = escape(words.next().unwrap_or("text"));
    let id = words.find(|word| word.contains('.')).map(|name| format!(" id=\"{}\"", escape(name)));
    let mut html = String::new();
    let _ = writeln!(
        html,
        "<div class=\"code\" data-language=\"{language}\"><pre{} tabindex=\"0\"><code class=\"language-{language}\">{}</code></pre></div>",
        id.unwrap_or_default(),
        escape(text)
    );
    html
}

fn raw(html: String) -> Event<'static> {
    Event::InlineHtml(CowStr::from(html))
}

/// Escapes text for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> String {
        let mut html = String::new();
        Renderer::new(&References::default(), "/x").render(text, &mut html);
        html
    }

    #[test]
    fn html_is_escaped() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<b onclick=x>\n\ntext",
            "`<b>`",
            "```\n<b>\n```",
        ] {
            let html = render(text);
            let tags: Vec<&str> =
                html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap()).collect();
            assert!(
                tags.iter().all(|tag| matches!(tag.trim_start_matches('/'), "p" | "code" | "pre" | "div")),
                "{text}: {html}"
            );
        }
    }

    #[test]
    fn links_with_scripts_are_removed() {
        for url in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "java&#10;script:x",
            "//evil.example",
            "&#1;javascript:x",
            "/\\evil.example",
        ] {
            let html = render(&format!("[text]({url}) <{url}>"));
            assert!(!html.contains("<a") && html.contains("text"), "{url}: {html}");
        }
        assert!(!render("![alt](javascript:x)").contains("<img"));
        assert!(!render("[text][ref]\n\n[ref]: javascript:alert(1)").contains("<a"));
    }

    #[test]
    fn links_of_the_server_have_the_prefix() {
        assert_eq!(render("[a](/docs)"), "<p><a href=\"/x/docs\">a</a></p>\n");
        assert_eq!(render("[a](#b) [c](https://d.example/e:f) [g](h)").matches("<a ").count(), 3);
    }

    #[test]
    fn headings_have_unique_ids() {
        let references = References::default();
        let mut renderer = Renderer::new(&references, "");
        renderer.render("## A `b_c` d!\n\n### E\n\n### E", &mut String::new());
        let ids: Vec<String> = renderer.into_headings().into_iter().map(|heading| heading.id).collect();
        assert_eq!(ids, ["a-b_c-d", "e", "e-2"]);
    }

    #[test]
    fn cells_are_labeled_for_narrow_screens() {
        let html = render("| A | `B` |\n|---|---|\n| 1 | 2 |");
        assert!(html.contains("<td data-label=\"A\">1</td><td data-label=\"B\">2</td>"), "{html}");
    }
}
