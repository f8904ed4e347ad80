//! The list of all pages, and what each is made from.

use super::block::{Block, Card};
use super::contract_text::ContractText;
use super::json::Json;
use super::markdown::slug;
use super::site::{Page, Site};
use super::{changelog, event, object, operation, section};

/// Test vectors: signed requests, and whether a receiver must accept them.
pub(crate) const VECTORS: &str = include_str!("../webhooks/vectors.json");

/// What a page is made from. Contracts are given by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageSource {
    /// The first page.
    Home,
    /// A section of the description of a contract, by its heading.
    Section { contract: usize, heading: String },
    /// The section about errors, and the error codes.
    Errors,
    /// A guide in a file of its own.
    Guide(&'static Guide),
    /// The list of operations.
    Operations(usize),
    /// An operation.
    Operation { contract: usize, id: &'static str },
    /// The list of event types.
    Events(usize),
    /// An event type.
    Event { contract: usize, event_type: String },
    /// The list of schemas.
    Objects(usize),
    /// A schema. `is_listed` is false for single values.
    Object { contract: usize, name: String, is_listed: bool },
    /// How to generate clients.
    Clients,
    /// The released changes.
    Changelog,
}

impl PageSource {
    /// Returns whether the page is a guide of the first contract, or one for operators.
    pub(crate) fn is_guide(&self) -> bool {
        matches!(self, Self::Section { contract: 0, .. } | Self::Errors | Self::Guide(_))
    }
}

/// A guide in a file of its own, with the code samples that tests execute.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Guide {
    path: &'static str,
    title: &'static str,
    summary: &'static str,
    text: &'static str,
    /// The samples: placeholder and text.
    samples: &'static [(&'static str, &'static str)],
}

static WEBHOOKS: Guide = Guide {
    path: "/docs/webhooks",
    title: "Webhooks",
    summary: "Receive signed events: verify signatures, respond, handle duplicates, test locally.",
    text: include_str!("guides/webhooks.md"),
    samples: &[
        ("{{verify.py}}", include_str!("guides/verify.py")),
        ("{{verify.ts}}", include_str!("guides/verify.ts")),
        ("{{verify.rs}}", include_str!("guides/verify.rs")),
        ("{{verify.go}}", include_str!("guides/verify.go")),
        ("{{receiver.py}}", include_str!("guides/receiver.py")),
        ("{{verify_ed25519.py}}", include_str!("guides/verify_ed25519.py")),
        ("{{verify_ed25519.mjs}}", include_str!("guides/verify_ed25519.mjs")),
        ("{{verify_ed25519.go}}", include_str!("guides/verify_ed25519.go")),
    ],
};

static PLATFORM: Guide = Guide {
    path: "/docs/platform",
    title: "Connect your platform",
    summary: "For operators of a creator platform: import changes, read events, link to the dashboard.",
    text: include_str!("guides/platform.md"),
    samples: &[("{{sync.py}}", include_str!("guides/sync.py"))],
};

static NEW_VERSIONS: Guide = Guide {
    path: "/docs/new-versions",
    title: "New versions",
    summary: "How a new version of the API is introduced: timeline, headers, brownouts, and which keys are affected.",
    text: include_str!("guides/new-versions.md"),
    samples: &[],
};

/// All guides, in the order of the navigation.
static GUIDES: [&Guide; 3] = [&NEW_VERSIONS, &WEBHOOKS, &PLATFORM];

const ERRORS: &str = include_str!("guides/errors.md");
const CLIENTS: &str = include_str!("guides/clients.md");

/// What to do after the first request.
const NEXT_STEPS: &str = "\
## Your first event

1. Create a student with `createStudent`. The key needs the scope `write:students`.
2. Enroll the student in a course of the list with `createEnrollment`. The key needs the scope `write:enrollments`.
3. Receive the event `enrollment.created`: create a webhook as described in [Webhooks](/docs/webhooks), or have events sent to your \
laptop with [`creator-api listen`](/docs/webhooks#listen). A key with the scope `read:events` can also read them with `listEvents`.";

/// The results of `cargo xtask clients`.
const CLIENTS_TABLE: &str = include_str!("../../openapi/clients/table.md");

/// Returns all pages, in the order of the navigation. Of several pages with one path, the first counts.
pub(crate) fn pages(contracts: &[ContractText]) -> Vec<Page> {
    let Some(first) = contracts.first() else { return Vec::new() };
    let mut pages =
        vec![Page::new("/docs", "Get started", first.json["info"]["summary"].text(), PageSource::Home)];
    for heading in section::headings(first.json["info"]["description"].text()) {
        let path = format!("/docs/{}", slug(heading));
        let source = match path.as_str() {
            "/docs/errors" => PageSource::Errors,
            // The guide contains the section.
            "/docs/webhooks" => continue,
            _ => PageSource::Section { contract: 0, heading: heading.to_owned() },
        };
        pages.push(Page::new(path, heading, section::summary(first, heading), source));
    }
    for guide in GUIDES {
        pages.push(Page::new(guide.path, guide.title, guide.summary, PageSource::Guide(guide)));
    }
    for (at, contract) in contracts.iter().enumerate() {
        add_contract(contract, at, &mut pages);
    }
    let summary = "Generate a client in your language from the contract: the exact commands.";
    pages.push(Page::new("/docs/clients", "Clients", summary, PageSource::Clients));
    let summary = "Released changes of the contracts, newest first, and deprecations with their dates.";
    pages.push(Page::new("/docs/changelog", "Changelog", summary, PageSource::Changelog));
    pages
}

/// Adds the sections, operations, events and objects of a contract.
fn add_contract(contract: &ContractText, at: usize, pages: &mut Vec<Page>) {
    let folder = &contract.folder;
    let title = contract.contract.title;
    let list_title =
        |name: &str| if at == 0 { name.to_owned() } else { format!("{title}: {}", name.to_lowercase()) };
    if at > 0 {
        for heading in section::headings(contract.json["info"]["description"].text()) {
            let source = PageSource::Section { contract: at, heading: heading.to_owned() };
            let path = format!("{folder}/{}", slug(heading));
            pages.push(Page::new(
                path,
                format!("{title}: {heading}"),
                section::summary(contract, heading),
                source,
            ));
        }
    }
    let summary = format!("All operations of the {title}, with their methods, paths and scopes.");
    pages.push(Page::new(
        format!("{folder}/operations"),
        list_title("Operations"),
        &summary,
        PageSource::Operations(at),
    ));
    for (operation, json) in contract.operations() {
        let source = PageSource::Operation { contract: at, id: operation.id };
        pages.push(Page::new(
            contract.operation_path(operation.id),
            operation.id,
            json["summary"].text(),
            source,
        ));
    }
    if contract.events().next().is_some() {
        let summary = "All event types: when each is sent, its fields and an example.";
        pages.push(Page::new(
            format!("{folder}/events"),
            list_title("Events"),
            summary,
            PageSource::Events(at),
        ));
    }
    for (event_type, json) in contract.events() {
        let source = PageSource::Event { contract: at, event_type: event_type.to_owned() };
        pages.push(Page::new(contract.event_path(event_type), event_type, json["summary"].text(), source));
    }
    let summary = format!("All objects of the {title}, with their fields.");
    pages.push(Page::new(
        format!("{folder}/objects"),
        list_title("Objects"),
        &summary,
        PageSource::Objects(at),
    ));
    for (name, schema) in contract.schemas() {
        let source = PageSource::Object {
            contract: at,
            name: name.clone(),
            is_listed: object::has_fields(contract, schema),
        };
        pages.push(Page::new(contract.object_path(name), name, schema["description"].text(), source));
    }
}

/// Returns the parts of a page.
pub(crate) fn blocks(site: &Site, page: &Page) -> Vec<Block> {
    let contract = |at: &usize| &site.contracts[*at];
    match &page.source {
        PageSource::Home => home(site),
        PageSource::Section { contract: at, heading } => {
            section::blocks(contract(at), heading, &site.base_url)
        }
        PageSource::Errors => {
            let mut blocks = section::blocks(&site.contracts[0], "Errors", &site.base_url);
            blocks.push(Block::Text(ERRORS.to_owned()));
            blocks
        }
        PageSource::Guide(guide) => vec![Block::Text(guide_text(site, guide))],
        PageSource::Operations(at) => operation::list(contract(at)),
        PageSource::Operation { contract: at, id } => {
            let contract = contract(at);
            operation::blocks(contract, id, site.elsewhere == Some(contract.contract.name))
        }
        PageSource::Events(at) => event::list(contract(at)),
        PageSource::Event { contract: at, event_type } => event::blocks(contract(at), event_type),
        PageSource::Objects(at) => object::list(contract(at)),
        PageSource::Object { contract: at, name, .. } => object::blocks(contract(at), name),
        PageSource::Clients => {
            let text = CLIENTS.replace("{{table}}", CLIENTS_TABLE.trim_end());
            vec![Block::Text(text.replace("{{url}}", &site.base_url))]
        }
        PageSource::Changelog => changelog::blocks(&site.contracts),
    }
}

fn home(site: &Site) -> Vec<Block> {
    let first = &site.contracts[0];
    let overview = section::text(first, "Overview").split("\n\n").next().unwrap_or_default().to_owned();
    let mut blocks = vec![Block::Text(format!("{}\n\n{overview}", first.json["info"]["summary"].text()))];
    let list = first.operations().find(|(operation, _)| {
        operation.method == "GET" && operation.parameters.iter().any(|parameter| parameter.name == "limit")
    });
    if let Some((operation, json)) = list {
        let steps = format!(
            "## Your first request\n\nThe base URL of this server is `{}`. Requests and responses are JSON.\n\n1. Create an API key in \
             the dashboard, at `/dashboard/developer`, with the scope `{}`, and store it in an environment variable. `creator-api \
             demo` prints a key with all scopes.\n2. Send a request:\n\n{}",
            site.base_url,
            operation.scope.unwrap_or_default(),
            section::exports(first.variable, &site.base_url, false),
        );
        blocks.push(Block::Text(steps));
        let mut sample = operation::sample(first, operation, json);
        sample.path += "?limit=2";
        blocks.push(Block::Sample(sample));
        let response = operation::examples(first, json).into_iter().next();
        blocks.extend(
            response.map(|(_, example)| Block::Text(format!("The response looks like this:\n\n{example}"))),
        );
        blocks.push(Block::Text(NEXT_STEPS.to_owned()));
    }
    blocks.push(Block::Text("## Where to go from here".to_owned()));
    let card = |path: &str, title: &str, text: &str| Card {
        path: path.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
    };
    let mut cards = Vec::new();
    for path in [
        "/docs/authentication",
        "/docs/webhooks",
        "/docs/events",
        "/docs/errors",
        "/docs/clients",
        "/docs/changelog",
    ] {
        cards.extend(site.page(path).map(|page| card(path, &page.title, &page.summary)));
    }
    for contract in &site.contracts {
        let text = "Every operation, with requests that you can send from the page.";
        cards.push(card(&contract.reference, &format!("Reference: {}", contract.contract.title), text));
    }
    blocks.push(Block::Cards(cards));
    blocks
}

fn guide_text(site: &Site, guide: &Guide) -> String {
    let types: Vec<String> =
        site.contracts[0].events().map(|(event_type, _)| format!("`{event_type}`")).collect();
    let mut text = guide.text.replace("{{url}}", &site.base_url).replace("{{events}}", &types.join(", "));
    text = text.replace("{{version}}", env!("CARGO_PKG_VERSION"));
    for (placeholder, sample) in guide.samples {
        text = text.replace(placeholder, sample.trim_end());
    }
    text
}

/// Returns the error codes that the page of errors describes.
pub(crate) fn error_codes() -> impl Iterator<Item = &'static str> {
    ERRORS.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
}

/// Returns a fenced block with JSON.
pub(crate) fn json_block(json: &Json) -> String {
    format!("```json\n{}\n```", json.pretty())
}

/// The Rust sample, compiled as in a receiver's project.
#[cfg(test)]
#[allow(unreachable_pub, reason = "the sample is public in the receiver's project")]
#[path = "guides/verify.rs"]
mod verify;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_fit_the_page() {
        for guide in GUIDES {
            for (placeholder, text) in guide.samples {
                assert!(guide.text.contains(placeholder), "{placeholder}");
                let max_width = text.lines().map(|line| line.chars().count()).max();
                assert!(max_width <= Some(120), "{placeholder} has lines of {max_width:?} columns");
            }
        }
    }

    #[test]
    fn the_example_of_the_guide_is_the_first_vector() {
        let file: Json = serde_json::from_str(VECTORS).unwrap();
        let first = &file["vectors"].items()[0];
        for name in ["x_svc_signature", "webhook_id", "webhook_timestamp", "webhook_signature", "body"] {
            let text = first[name].as_str().unwrap();
            assert!(WEBHOOKS.text.contains(text), "{name}: {text}");
        }
    }

    #[test]
    fn the_rust_sample_accepts_valid_vectors_only() {
        let file: Json = serde_json::from_str(VECTORS).unwrap();
        for vector in file["vectors"].items() {
            let now = vector["now"].compact().parse().unwrap();
            let accepted = verify::verify(
                vector["secret"].text(),
                vector["x_svc_signature"].text(),
                vector["body"].text().as_bytes(),
                now,
            );
            assert_eq!(accepted, vector["valid"].is_true(), "{vector:?}");
        }
    }
}
