//! Checks the links of Markdown files to other files of the repository and to headings.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::TidyFinding;

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^)\s]+)\)").expect("valid expression"));

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code
    })
}

/// Returns whether a document has a heading with this anchor.
fn has_heading(document: &str, anchor: &str) -> bool {
    prose(document).filter_map(|(_, line)| line.strip_prefix('#')).any(|heading| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.replace(|character: char| !character.is_alphanumeric() && !"-_".contains(character), "")
            == anchor
    })
}

/// Returns a finding for each link in a Markdown file that leads to no file or heading.
pub(super) fn check(repository: &Path, file: &str, text: &str) -> Vec<TidyFinding> {
    let file_path = repository.join(file);
    let exists = |link: &str| match link.split_once('#').unwrap_or((link, "")) {
        (path, "") => file_path.with_file_name(path).exists(),
        ("", anchor) => has_heading(text, anchor),
        (path, anchor) => fs::read_to_string(file_path.with_file_name(path))
            .is_ok_and(|document| has_heading(&document, anchor)),
    };
    let links = prose(text).flat_map(|(line, text)| LINK.captures_iter(text).map(move |link| (line, link)));
    // A path that begins with a slash is one of the server. Tests of the documentation pages check these.
    let is_of_repository = |link: &str| !link.contains("://") && !link.starts_with('/');
    links
        .filter(|(_, link)| is_of_repository(&link[1]) && !exists(&link[1]))
        .map(|(line, link)| {
            let message = format!("the link `{}` leads to no file or heading", &link[1]);
            TidyFinding::new(file, line, message, "correct it")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_headings() {
        let text = "# The `a_b` of it\n[1](#the-a_b-of-it) [2](../) [3](c.md#c) [4](https://a.b/c) [10](/docs)\n```\n[5](code)\n# No\n```\n\
                    [6](#no) [7](d.rs) [8](../y.md) [9](c.md#none)\n";
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        fs::write(folder.path().join("x/c.md"), "## C\n").unwrap();
        let findings = check(folder.path(), "x/a.md", text);
        let links: Vec<&str> = findings.iter().filter_map(|found| found.message.split('`').nth(1)).collect();
        assert_eq!(links, ["#no", "d.rs", "../y.md", "c.md#none"]);
        assert!(findings.iter().all(|finding| finding.line == 7), "{findings:?}");
    }
}
