//! The parts of a page, rendered as HTML and as Markdown with the same content.

use std::fmt::Write;

use super::field::one_line;
use super::markdown::{Heading, Renderer, escape};
use super::references::References;
use super::sample::Sample;

/// A part of a page.
pub(crate) enum Block {
    /// Markdown.
    Text(String),
    /// Markdown about the contract at this position, on a page of another one.
    ContractText(usize, String),
    /// A table of fields, parameters or headers.
    Fields {
        /// The heading of the first column.
        label: &'static str,
        /// The rows.
        rows: Vec<FieldRow>,
    },
    /// A request in several languages.
    Sample(Sample),
    /// Links with descriptions.
    Cards(Vec<Card>),
}

/// A row of a table of fields.
pub(crate) struct FieldRow {
    /// The id of the row, the fragment of links to it.
    pub id: String,
    /// The name, such as `items[].id`.
    pub name: String,
    /// The type, as Markdown.
    pub kind: String,
    /// Meaning and constraints, as Markdown.
    pub description: String,
}

/// A link with a description.
pub(crate) struct Card {
    /// The path, without prefix.
    pub path: String,
    /// The title.
    pub title: String,
    /// The description, as plain text.
    pub text: String,
}

/// A rendered page.
pub(crate) struct RenderedPage {
    /// The HTML.
    pub html: String,
    /// The headings, in order.
    pub headings: Vec<Heading>,
}

/// Renders a page as HTML. Code spans link to what they name in the contract at this position.
pub(crate) fn html(
    blocks: &[Block],
    references: &[References],
    contract: usize,
    prefix: &str,
    base_url: &str,
) -> RenderedPage {
    let mut renderer = Renderer::new(&references[contract], prefix);
    let mut html = String::new();
    for block in blocks {
        match block {
            Block::Text(text) => renderer.render(text, &mut html),
            Block::ContractText(at, text) => {
                renderer.set_references(&references[*at]);
                renderer.render(text, &mut html);
                renderer.set_references(&references[contract]);
            }
            Block::Fields { label, rows } => fields_html(label, rows, &mut renderer, &mut html),
            Block::Sample(sample) => sample_html(sample, base_url, &mut html),
            Block::Cards(cards) => {
                html += "<ul class=\"cards\">";
                for Card { path, title, text } in cards {
                    let (title, text) = (escape(title), escape(text));
                    let _ = write!(html, "<li><a href=\"{prefix}{path}\">{title}</a><p>{text}</p></li>");
                }
                html += "</ul>\n";
            }
        }
    }
    RenderedPage { html, headings: renderer.into_headings() }
}

fn fields_html(label: &str, rows: &[FieldRow], renderer: &mut Renderer<'_>, html: &mut String) {
    let _ = writeln!(
        html,
        "<div class=\"table\" role=\"group\" aria-label=\"{label}\" tabindex=\"0\"><table class=\"fields\"><thead><tr><th>{label}</th><th>Type</th><th>Description</th></tr>\
         </thead><tbody>"
    );
    for FieldRow { id, name, kind, description } in rows {
        // Paths such as `items[].id` are broken at their dots only.
        let (id, name) = (escape(id), escape(name).replace('.', ".<wbr>"));
        let (kind, description) = (renderer.inline(kind), renderer.inline(description));
        let _ = writeln!(
            html,
            "<tr id=\"{id}\"><td data-label=\"{label}\"><a href=\"#{id}\"><code>{name}</code></a></td>\
             <td data-label=\"Type\">{kind}</td><td data-label=\"Description\">{description}</td></tr>"
        );
    }
    *html += "</tbody></table></div>\n";
}

fn sample_html(sample: &Sample, base_url: &str, html: &mut String) {
    let json = escape(&sample.json().compact());
    let (curl, python) = (escape(&sample.curl(base_url)), escape(&sample.python(base_url)));
    let _ = writeln!(
        html,
        "<div class=\"samples\" data-sample=\"{json}\"><pre class=\"sample\" data-language=\"curl\" tabindex=\"0\"><code>{curl}</code></pre>\
         <pre class=\"sample\" data-language=\"python\" tabindex=\"0\"><code>{python}</code></pre></div>"
    );
    if let Some(scope) = sample.scope {
        let _ = writeln!(html, "<p class=\"scope\">Scope: <code>{}</code></p>", escape(scope));
    }
}

/// Renders a page as Markdown. `title` is its heading.
pub(crate) fn markdown(title: &str, blocks: &[Block], prefix: &str, base_url: &str) -> String {
    let mut text = format!("# {title}\n\n");
    for block in blocks {
        match block {
            Block::Text(markdown) | Block::ContractText(_, markdown) => text += markdown.trim(),
            Block::Fields { label, rows } => {
                let _ = write!(text, "| {label} | Type | Description |\n|---|---|---|");
                for row in rows {
                    let [kind, description] =
                        [&row.kind, &row.description].map(|cell| one_line(cell).replace('|', "\\|"));
                    let _ = write!(text, "\n| `{}` | {kind} | {description} |", row.name);
                }
            }
            Block::Sample(sample) => {
                let (curl, python) = (sample.curl(base_url), sample.python(base_url));
                let _ = write!(text, "```sh\n{curl}\n```\n\n```python\n{python}\n```");
                if let Some(scope) = sample.scope {
                    let _ = write!(text, "\n\nScope: `{scope}`");
                }
            }
            Block::Cards(cards) => {
                let lines =
                    cards.iter().map(|card| format!("- [{}]({})\n\n  {}", card.title, card.path, card.text));
                text += &lines.collect::<Vec<_>>().join("\n");
            }
        }
        text += "\n\n";
    }
    let text = text.trim_end().to_owned() + "\n";
    text_of_twin(&text, prefix)
}

/// Adds the prefix to links of the server, and removes the ids of headings. Code blocks stay as they are.
fn text_of_twin(text: &str, prefix: &str) -> String {
    let prefixed = format!("]({prefix}/");
    let mut is_code = false;
    let mut twin = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_fence = line.starts_with("```");
        match line.find(" {#").filter(|_| line.starts_with('#')) {
            _ if is_code || is_fence => twin += line,
            Some(id) => twin = twin + &line[..id] + "\n",
            None => twin += &line.replace("](/", &prefixed),
        }
        is_code ^= is_fence;
    }
    twin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_of_a_page_has_prefixed_links_outside_of_code() {
        let text = "## A {#b}\n[c](/docs)\n```md\n[c](/docs)\n# {#d}\n```\n";
        assert_eq!(text_of_twin(text, "/x"), "## A\n[c](/x/docs)\n```md\n[c](/docs)\n# {#d}\n```\n");
    }
}
