//! The pages of operations.

use std::fmt::Write;

use contract_runtime::contract::Operation;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::block::{Block, Card, FieldRow};
use super::contract_text::{Body, ContractText};
use super::field::{self, deprecation, describe, kind, one_line};
use super::json::Json;
use super::sample::Sample;
use super::source::json_block;

/// The header that samples contain although it is optional, since the guide says to send it with each `POST`.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// The UUID in samples. An `example` in the contract would be the value that Swagger UI sends.
const EXAMPLE_IDEMPOTENCY_KEY: &str = "0b6f2f4c-53a1-4d0e-9c7d-8f1e2a3b4c5d";

/// Returns the parts of the list of operations.
pub(crate) fn list(contract: &ContractText) -> Vec<Block> {
    let cards = contract.operations().map(|(operation, json)| Card {
        path: contract.operation_path(operation.id),
        title: json["summary"].text().to_owned(),
        text: format!("{} {}{}", operation.method, operation.path, scope_suffix(operation)),
    });
    let text = format!(
        "The operations of the {}. The [reference]({}) sends requests from the page.",
        contract.contract.title, contract.reference
    );
    vec![Block::Text(text), Block::Cards(cards.collect())]
}

fn scope_suffix(operation: &Operation) -> String {
    operation.scope.map(|scope| format!(", scope {scope}")).unwrap_or_default()
}

/// Returns the parts of the page of an operation. With `is_elsewhere`, it is served at another address than the page.
pub(crate) fn blocks(contract: &ContractText, id: &str, is_elsewhere: bool) -> Vec<Block> {
    let Some((operation, json)) = contract.operations().find(|(operation, _)| operation.id == id) else {
        return Vec::new();
    };
    let mut blocks = vec![Block::Text(introduction(contract, operation, json))];
    blocks.push(Block::Text("## Sample".to_owned()));
    if is_elsewhere {
        let title = contract.contract.title;
        let text = format!(
            "The {title} of this server has its own address. Put it in place of this server's address."
        );
        blocks.push(Block::Text(text));
    }
    blocks.push(Block::Sample(sample(contract, operation, json)));
    let mut examples = examples(contract, json)
        .into_iter()
        .map(|(title, example)| Block::Text(format!("## Example: {}\n\n{example}", title.to_lowercase())));
    // Readers look for a response beside the request. Further examples are at the end.
    blocks.extend(examples.next());
    let parameters = parameter_rows(contract, json);
    if !parameters.is_empty() {
        blocks.push(Block::Text("## Parameters".to_owned()));
        blocks.push(Block::Fields { label: "Parameter", rows: parameters });
    }
    if let Some(body) = contract.body(&json["requestBody"]) {
        let text = format!("## Request body\n\n{}, as `{}`.", kind(contract, body.schema), body.media_type);
        blocks.push(Block::Text(text));
        push_fields(contract, body.schema, "body-", &mut blocks);
    }
    blocks.push(Block::Text(responses(contract, json)));
    if let Some(body) = success(contract, json)
        && !body.schema.is_null()
    {
        blocks.push(Block::Text(format!("## Response body\n\n{}", kind(contract, body.schema))));
        // A field `headers` must not have the id of the heading "Response headers".
        push_fields(contract, body.schema, "response-field-", &mut blocks);
    }
    blocks.extend(examples);
    let headers = header_rows(contract, json);
    if !headers.is_empty() {
        blocks.push(Block::Text("## Response headers".to_owned()));
        blocks.push(Block::Fields { label: "Header", rows: headers });
    }
    blocks
}

/// Returns the examples of the successful response: their titles, and blocks of code.
pub(crate) fn examples(contract: &ContractText, json: &Json) -> Vec<(String, String)> {
    let Some(body) = success(contract, json) else { return Vec::new() };
    if body.has_lines() {
        let lines = body.example().map(|lines| format!("```json\n{}\n```", lines.text().trim_end()));
        return lines.map(|block| ("Response".to_owned(), block)).into_iter().collect();
    }
    let block = |(summary, example): (&str, &Json)| {
        let title = if summary.is_empty() { "Response" } else { summary };
        let block = match example {
            Json::String(text) => format!("```text\n{}\n```", text.trim_end()),
            json => json_block(json),
        };
        (title.to_owned(), block)
    };
    body.examples.into_iter().map(block).collect()
}

fn push_fields(contract: &ContractText, schema: &Json, id_prefix: &str, blocks: &mut Vec<Block>) {
    let rows = field::rows(contract, schema, id_prefix);
    if !rows.is_empty() {
        blocks.push(Block::Fields { label: "Field", rows });
    }
}

fn introduction(contract: &ContractText, operation: &Operation, json: &Json) -> String {
    let mut text = format!("**{}**\n\n`{} {}`\n\n", json["summary"].text(), operation.method, operation.path);
    if let Some(deprecation) = deprecation(json) {
        let _ = write!(text, "{deprecation}\n\n");
    }
    text += json["description"].text().trim();
    let _ = write!(
        text,
        "\n\n[Try it in the reference]({}#/{}/{})",
        contract.reference, operation.tag, operation.id
    );
    text
}

/// Returns the rows of the parameters: path, query and header parameters, in the order of the document.
pub(crate) fn parameter_rows(contract: &ContractText, json: &Json) -> Vec<FieldRow> {
    let parameters = json["parameters"].items().iter().map(|parameter| contract.resolve(parameter));
    let row = |parameter: &Json| {
        let optional = if parameter["required"].is_true() { "" } else { ", optional" };
        let schema = &parameter["schema"];
        let mut sentences = vec![one_line(parameter["description"].text())];
        sentences.extend(deprecation(parameter));
        if parameter["description"].is_null() {
            sentences = vec![describe(contract, schema)];
        } else {
            sentences.extend(field::constraints(contract.resolve(schema)));
        }
        let name = parameter["name"].text();
        FieldRow {
            id: format!("parameter-{name}"),
            name: name.to_owned(),
            kind: format!("{}, {}{optional}", kind(contract, schema), parameter["in"].text()),
            description: sentences.join(" "),
        }
    };
    parameters.map(row).collect()
}

/// Returns the rows of the response headers of all statuses.
fn header_rows(contract: &ContractText, json: &Json) -> Vec<FieldRow> {
    let mut rows: Vec<FieldRow> = Vec::new();
    for (_, response) in json["responses"].fields() {
        for (name, header) in contract.resolve(response)["headers"].fields() {
            let header = contract.resolve(header);
            if rows.iter().any(|row| row.name == *name) {
                continue;
            }
            rows.push(FieldRow {
                id: format!("header-{}", name.to_lowercase()),
                name: name.clone(),
                kind: kind(contract, &header["schema"]),
                description: one_line(header["description"].text()),
            });
        }
    }
    rows
}

fn responses(contract: &ContractText, json: &Json) -> String {
    let mut text = "## Responses\n\n| Status | Meaning | Body or error code |\n|---|---|---|".to_owned();
    for (status, response) in json["responses"].fields() {
        let body = match (contract.error_code(status), contract.body(response)) {
            (Some(code), Some(_)) => format!("[`{code}`](/docs/errors#{code})"),
            (_, body) => body.map(|body| kind(contract, body.schema)).unwrap_or_default(),
        };
        let meaning = one_line(contract.resolve(response)["description"].text()).replace('|', "\\|");
        let _ = write!(text, "\n| {status} | {meaning} | {body} |");
    }
    text
}

/// Returns the body of the first response with a 2xx status.
fn success<'a>(contract: &'a ContractText, json: &'a Json) -> Option<Body<'a>> {
    let (_, response) = json["responses"].fields().iter().find(|(status, _)| status.starts_with('2'))?;
    contract.body(response)
}

/// Returns the sample of an operation: the required parameters, the `Idempotency-Key` if there is one, and the example of the body.
pub(crate) fn sample(contract: &ContractText, operation: &'static Operation, json: &Json) -> Sample {
    let mut sample = Sample {
        method: operation.method,
        path: operation.path.to_owned(),
        headers: Vec::new(),
        body: None,
        variable: contract.variable,
        scope: operation.scope,
        is_stream: success(contract, json).is_some_and(|body| body.has_lines()),
    };
    let mut query = Vec::new();
    for parameter in json["parameters"].items().iter().map(|parameter| contract.resolve(parameter)) {
        let name = parameter["name"].text();
        let value = parameter_example(contract, parameter);
        let encoded =
            utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string().replace("%5F", "_").replace("%2D", "-");
        match parameter["in"].text() {
            "path" => sample.path = sample.path.replace(&format!("{{{name}}}"), &encoded),
            "query" if parameter["required"].is_true() => query.push(format!("{name}={encoded}")),
            "header" if name == IDEMPOTENCY_KEY => {
                sample.headers.push((name.to_owned(), EXAMPLE_IDEMPOTENCY_KEY.to_owned()));
            }
            "header" if parameter["required"].is_true() => sample.headers.push((name.to_owned(), value)),
            _ => {}
        }
    }
    if !query.is_empty() {
        sample.path += &format!("?{}", query.join("&"));
    }
    if let Some(body) = contract.body(&json["requestBody"]) {
        sample.headers.push(("Content-Type".to_owned(), body.media_type.to_owned()));
        sample.body = body.example();
    }
    sample
}

/// Returns an example of a parameter: its own, or the id in the description of its schema.
fn parameter_example(contract: &ContractText, parameter: &Json) -> String {
    let schema = contract.resolve(&parameter["schema"]);
    let own = [&parameter["example"], &schema["example"], &schema["default"], &schema["examples"]];
    if let Some(example) = own.into_iter().find(|example| !example.is_null()) {
        let example = example.items().first().unwrap_or(example);
        return example.as_str().map_or_else(|| example.compact(), str::to_owned);
    }
    let described = schema["description"].text().split('`').nth(1);
    described.map_or_else(|| parameter["name"].text().to_owned(), str::to_owned)
}
