//! Pages from the `##` sections of a contract's description.

use super::block::Block;
use super::contract_text::ContractText;
use super::sample::Sample;

/// How keys and tokens begin, by the variables of samples.
const SECRETS: [(&str, &str); 2] = [("API_KEY", "svc_live_..."), ("PLATFORM_TOKEN", "svc_plat_...")];

/// The one form of a request with curl in descriptions that pages show in several languages: the part before the path.
const PLAIN_REQUEST: &str = "curl -H \"Authorization: Bearer $API_KEY\" \"$BASE_URL";

/// Returns the headings of the sections, in order.
pub(crate) fn headings(description: &str) -> Vec<&str> {
    sections(description).into_iter().map(|(heading, _)| heading).collect()
}

/// Returns the sections: headings and texts. A heading in a code block is not a heading.
fn sections(description: &str) -> Vec<(&str, &str)> {
    let mut starts = Vec::new();
    let mut in_code = false;
    let mut at = 0;
    for line in description.split_inclusive('\n') {
        in_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix("## ").filter(|_| !in_code) {
            starts.push((heading.trim(), at, at + line.len()));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, start, _)| *start).chain([description.len()]);
    starts.iter().zip(ends).map(|((heading, _, start), end)| (*heading, &description[*start..end])).collect()
}

/// Returns the text of a section.
pub(crate) fn text<'a>(contract: &'a ContractText, heading: &str) -> &'a str {
    let description = contract.json["info"]["description"].text();
    let found = sections(description).into_iter().find(|(other, _)| *other == heading);
    found.map_or("", |(_, text)| text.trim())
}

/// Returns the first paragraph of a section.
pub(crate) fn summary<'a>(contract: &'a ContractText, heading: &str) -> &'a str {
    let text = text(contract, heading);
    let paragraph = text.split("\n\n").find(|paragraph| is_sentence(paragraph));
    // A section that is a list only begins with its most important point.
    paragraph.unwrap_or_else(|| text.trim_start_matches("- ").split("\n\n").next().unwrap_or_default())
}

/// Returns whether a paragraph is a text of its own: not a list, a table, a heading, code, or the introduction of one of them.
fn is_sentence(paragraph: &str) -> bool {
    let is_word = |first: char| first.is_alphabetic() || first == '`';
    paragraph.starts_with(is_word) && !paragraph.starts_with("```") && !paragraph.trim_end().ends_with(':')
}

/// Returns the parts of a section's page. The variables of samples are set before the first sample.
pub(crate) fn blocks(contract: &ContractText, heading: &str, base_url: &str) -> Vec<Block> {
    let lines: Vec<&str> = text(contract, heading).lines().collect();
    let (mut blocks, mut markdown) = (Vec::new(), String::new());
    let (mut at, mut in_code, mut is_set) = (0, false, false);
    while let Some(line) = lines.get(at) {
        if !in_code && !is_set && is_request(contract, &lines[at..]) {
            let has_base_url =
                lines.iter().any(|line| line.contains("BASE_URL") && !line.starts_with(PLAIN_REQUEST));
            markdown += &exports(contract.variable, base_url, has_base_url);
            is_set = true;
        }
        if let Some(sample) = plain_request(contract, &lines[at..]) {
            blocks.push(Block::Text(std::mem::take(&mut markdown)));
            blocks.push(Block::Sample(sample));
            at += 3;
            continue;
        }
        in_code ^= line.starts_with("```");
        // The heading of the section is the title of the page, so the levels of the other headings move up by one.
        let raised = line.strip_prefix('#').filter(|rest| !in_code && rest.starts_with('#'));
        markdown += raised.unwrap_or(line);
        markdown.push('\n');
        at += 1;
    }
    blocks.push(Block::Text(markdown));
    blocks
}

/// Returns whether a code block with the credential begins here.
fn is_request(contract: &ContractText, lines: &[&str]) -> bool {
    let [first, rest @ ..] = lines else { return false };
    let mut code = rest.iter().take_while(|line| !line.starts_with("```"));
    first.starts_with("```") && code.any(|line| line.contains(contract.variable))
}

/// Returns the code block that sets the variables of the samples.
pub(crate) fn exports(variable: &str, base_url: &str, has_base_url: bool) -> String {
    let secret = SECRETS.into_iter().find_map(|(name, secret)| (name == variable).then_some(secret));
    let base_url = if has_base_url { format!("export BASE_URL={base_url}\n") } else { String::new() };
    format!("```sh\nexport {variable}={}\n{base_url}```\n\n", secret.unwrap_or_default())
}

/// Returns the sample of a code block that consists of one plain request.
fn plain_request(contract: &ContractText, lines: &[&str]) -> Option<Sample> {
    let ["```sh", request, "```", ..] = lines else { return None };
    let path = request.strip_prefix(PLAIN_REQUEST)?.strip_suffix('"')?;
    let route = path.split('?').next()?;
    let (operation, _) =
        contract.operations().find(|(operation, _)| operation.method == "GET" && operation.path == route)?;
    Some(Sample {
        method: "GET",
        path: path.to_owned(),
        headers: Vec::new(),
        body: None,
        variable: contract.variable,
        scope: operation.scope,
        is_stream: false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::contract_text::for_tests;
    use super::*;

    #[test]
    fn lists_and_their_introductions_are_no_summaries() {
        for paragraph in ["- a", "1. Read it.", "These are:", "| a |", "# A", "```sh"] {
            assert!(!is_sentence(paragraph), "{paragraph}");
        }
        assert!(is_sentence("Requests are limited."));
    }

    #[test]
    fn variables_are_set_before_the_first_sample() {
        let contract = for_tests(
            "v1",
            r###"{"info":{"description":"## A\n\n```json\n{}\n```\n\n```sh\ncurl -H \"Authorization: Bearer $API_KEY\" \"$BASE_URL/a\"\n```\n\n```sh\ncurl $API_KEY $BASE_URL\n```\n"}}"###,
        );
        let blocks = blocks(&contract, "A", "http://h");
        let [Block::Text(text)] = &blocks[..] else { panic!("one text") };
        let exports = "```json\n{}\n```\n\n```sh\nexport API_KEY=svc_live_...\nexport BASE_URL=http://h\n```\n\n```sh\ncurl -H";
        assert!(text.starts_with(exports) && text.matches("export ").count() == 2, "{text}");
    }

    #[test]
    fn sections_end_at_the_next_heading_outside_of_code() {
        let text = "Intro\n\n## A\n\na\n\n```\n## not a heading\n```\n\n## B c\nb\n### D\n";
        assert_eq!(headings(text), ["A", "B c"]);
        assert_eq!(sections(text)[1].1, "b\n### D\n");
        assert!(sections(text)[0].1.contains("not a heading"));
    }
}
