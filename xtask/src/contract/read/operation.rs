//! Paths, operations, webhooks and what they are made of.

use super::super::keywords::{self, Kind};
use super::super::model::{Body, Content, Header, Location, Method, Operation, Parameter, Response, Webhook};
use super::super::node::{Node, Text};
use super::super::reader::{At, Reader};
use super::super::source::Span;
use super::{external_docs, schema};
use crate::diagnostic::Code;

/// What may be written at an operation alone.
const ONE_MEDIA_TYPE: &str = "write one media type: the API speaks JSON only";

/// Reads `paths`.
pub fn paths<'n>(reader: &mut Reader<'n>, paths: &At<'n>) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in reader.children(paths) {
        if !reader.object(&item, &keywords::PATH_ITEM) {
            continue;
        }
        for (key, at) in reader.children(&item) {
            let Some(method) = Method::from_key(&key.text) else { continue };
            operations.extend(operation(reader, path, method, key.span, &at));
        }
    }
    operations
}

fn operation<'n>(
    reader: &mut Reader<'n>,
    path: &Text,
    method: Method,
    span: Span,
    at: &At<'n>,
) -> Option<Operation> {
    if !reader.object(at, &keywords::OPERATION) {
        return None;
    }
    external_docs(reader, at);
    let id = reader.text_of(at, "operationId");
    if id.is_none() {
        reader.error(
            Code::MissingOperationId,
            span,
            format!("{} {} has no `operationId`", method.key().to_uppercase(), path.text),
            "add one in camelCase, such as `listCourses`: methods and types are named after it",
        );
    }
    let tag = tag(reader, at, span);
    let scope = scope(reader, at, span);
    let parameters = parameters(reader, at);
    let body = reader.child(at, "requestBody").and_then(|body| body_of(reader, body));
    if let Some(body) = &body
        && !body.required
    {
        let message = "a body that may be left out is not supported";
        reader.error(
            Code::UnsupportedKeyword,
            body.span,
            message,
            "write `required: true`, and let its fields be optional",
        );
    }
    let responses = responses(reader, at);
    Some(Operation {
        id: id?,
        method,
        path: path.clone(),
        tag: tag?,
        summary: reader.text_of(at, "summary").map(|text| text.text),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        scope: scope?,
        parameters,
        body,
        responses,
        span,
    })
}

fn tag<'n>(reader: &mut Reader<'n>, at: &At<'n>, span: Span) -> Option<Text> {
    let tags = reader.child(at, "tags").map(|tags| reader.items(&tags)).unwrap_or_default();
    match &tags[..] {
        [tag] => reader.text(tag),
        [] => {
            let help = "name one tag: it says which trait and which file the operation belongs to";
            reader.error(Code::MissingKeyword, span, "the operation has no tag", help);
            None
        }
        [_, second, ..] => {
            let help = "keep one tag: it says which trait and which file the operation belongs to";
            reader.error(Code::UnsupportedKeyword, second.node.span, "the operation has several tags", help);
            None
        }
    }
}

/// The one scope of `security: [{scheme: [scope]}]`.
fn scope<'n>(reader: &mut Reader<'n>, at: &At<'n>, span: Span) -> Option<Text> {
    let named = reader.child(at, "security").and_then(|security| {
        let [requirement] = security.node.items()? else { return None };
        let [scheme] = requirement.entries()? else { return None };
        let [scope] = scheme.value.items()? else { return None };
        let text = Text { text: scope.as_str()?.to_owned(), span: scope.span };
        Some((scheme.key.clone(), text))
    });
    let Some((scheme, scope)) = named else {
        let place = at.node.entry("security").map_or(span, |entry| entry.key.span);
        reader.error(
            Code::OperationWithoutScope,
            place,
            "the operation does not name exactly one scope",
            "write `security: [{apiKey: ['read:things']}]`: a key without that scope is refused",
        );
        return None;
    };
    let pointer = format!("/components/securitySchemes/{}", scheme.text);
    if reader.root.pointer(&pointer).is_none() {
        reader.error(
            Code::UnresolvedRef,
            scheme.span,
            format!("there is no security scheme `{}`", scheme.text),
            "name one of `components.securitySchemes`",
        );
        return None;
    }
    Some(scope)
}

/// Reads the shared parameters, headers and responses, so that what nobody refers to is judged too.
pub fn shared<'n>(reader: &mut Reader<'n>, components: &At<'n>) {
    type Check<'n> = fn(&mut Reader<'n>, At<'n>);
    let sections: [(&str, Check<'n>); 3] = [
        ("parameters", |reader, at| drop(parameter(reader, &at))),
        ("headers", |reader, at| {
            let name = Text { text: String::new(), span: at.named };
            drop(header(reader, &name, &at));
        }),
        ("responses", |reader, at| drop(response_parts(reader, &at))),
    ];
    for (section, check) in sections {
        let Some(entries) = reader.child(components, section) else { continue };
        for (_, at) in reader.children(&entries) {
            check(reader, at);
        }
    }
}

fn parameters<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Vec<Parameter> {
    let Some(list) = reader.child(at, "parameters") else { return Vec::new() };
    let mut read = Vec::new();
    for item in reader.items(&list) {
        let shared = item.node.entry("$ref").is_some();
        let Some(target) = reader.followed(item, "parameters") else { continue };
        // A shared parameter was judged where it stands; saying it again at each use helps nobody.
        let before = reader.findings.len();
        let parameter = parameter(reader, &target);
        if shared {
            reader.findings.truncate(before);
        }
        read.extend(parameter);
    }
    read
}

fn parameter<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Parameter> {
    if !reader.object(at, &keywords::PARAMETER) {
        return None;
    }
    check_examples(reader, at);
    let name = reader.needed(at, "name", "a parameter").and_then(|name| reader.text(&name))?;
    let place = reader.needed(at, "in", "a parameter").and_then(|place| reader.text(&place))?;
    let location = match &*place {
        "path" => Location::Path,
        "query" => Location::Query,
        "header" => Location::Header,
        other => {
            let message = format!("a parameter in `{other}` is not supported");
            reader.error(
                Code::UnsupportedKeyword,
                place.span,
                message,
                "send it in the path, the query or a header",
            );
            return None;
        }
    };
    let schema = reader.needed(at, "schema", "a parameter")?;
    let schema = schema::read(reader, &schema)?;
    Some(Parameter {
        name,
        location,
        required: reader.flag(at, "required"),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        schema,
    })
}

fn body_of<'n>(reader: &mut Reader<'n>, at: At<'n>) -> Option<Body> {
    if !reader.object(&at, &keywords::REQUEST_BODY) {
        return None;
    }
    reader.needed(&at, "content", "a request body")?;
    let content = content(reader, &at)?;
    Some(Body { required: reader.flag(&at, "required"), content, span: at.named })
}

/// The one media type of `content`.
fn content<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Content> {
    let content = reader.child(at, "content")?;
    let types = reader.children(&content);
    for (key, extra) in types.iter().skip(1) {
        let message = format!("`{}` is a second media type", key.text);
        reader.error(Code::UnsupportedKeyword, extra.named, message, ONE_MEDIA_TYPE);
    }
    let (media_type, media) = types.into_iter().next()?;
    if &*media_type.text != "application/json" {
        let message = format!("the media type `{}` is not supported", media_type.text);
        reader.error(Code::UnsupportedKeyword, media_type.span, message, "write `application/json`");
    }
    reader.object(&media, &keywords::MEDIA_TYPE);
    check_examples(reader, &media);
    let schema = reader.needed(&media, "schema", "a media type")?;
    Some(Content { media_type: media_type.clone(), schema: schema::read(reader, &schema)? })
}

fn responses<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Vec<Response> {
    let Some(responses) = reader.needed(at, "responses", "an operation") else { return Vec::new() };
    let mut read = Vec::new();
    for (key, item) in reader.children(&responses) {
        let Some(status) = key.text.parse().ok().filter(|status| (100..=599).contains(status)) else {
            let message = format!("`{}` is not one status", key.text);
            let help = "write each status by its number: generated code answers with one variant for each";
            reader.error(Code::UnsupportedKeyword, key.span, message, help);
            continue;
        };
        let shared = item.node.entry("$ref").is_some();
        let target = reader.followed(item, "responses");
        let before = reader.findings.len();
        let parts = target.and_then(|target| response_parts(reader, &target));
        if shared && parts.is_some() {
            reader.findings.truncate(before);
        }
        // A response that could not be read was reported; that its status is documented still holds.
        let (description, headers, content) = parts.unwrap_or_default();
        read.push(Response { status, description, headers, content });
    }
    read
}

type ResponseParts = (String, Vec<Header>, Option<Content>);

fn response_parts<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<ResponseParts> {
    if !reader.object(at, &keywords::RESPONSE) {
        return None;
    }
    let description = reader.needed(at, "description", "a response").and_then(|text| reader.text(&text));
    let mut headers = Vec::new();
    if let Some(list) = reader.child(at, "headers") {
        for (name, item) in reader.children(&list) {
            let shared = item.node.entry("$ref").is_some();
            let Some(target) = reader.followed(item, "headers") else { continue };
            let before = reader.findings.len();
            let header = header(reader, name, &target);
            if shared {
                reader.findings.truncate(before);
            }
            headers.extend(header);
        }
    }
    let content = content(reader, at);
    Some((description.map(|text| text.text).unwrap_or_default(), headers, content))
}

fn header<'n>(reader: &mut Reader<'n>, name: &Text, at: &At<'n>) -> Option<Header> {
    if !reader.object(at, &keywords::HEADER) {
        return None;
    }
    check_examples(reader, at);
    let schema = reader.needed(at, "schema", "a header")?;
    Some(Header {
        name: name.clone(),
        required: reader.flag(at, "required"),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        schema: schema::read(reader, &schema)?,
    })
}

/// Checks the keywords of `examples`; their values are judged by a rule of their own.
fn check_examples<'n>(reader: &mut Reader<'n>, at: &At<'n>) {
    let Some(examples) = reader.child(at, "examples") else { return };
    for (_, example) in reader.children(&examples) {
        reader.object(&example, &keywords::EXAMPLE);
    }
}

/// Reads `webhooks`: each is one POST with a JSON body.
pub fn webhooks<'n>(reader: &mut Reader<'n>, webhooks: &At<'n>) -> Vec<Webhook> {
    const WEBHOOK: &Kind = &keywords::PATH_ITEM;
    let mut read = Vec::new();
    for (name, item) in reader.children(webhooks) {
        reader.object(&item, WEBHOOK);
        let Some(post) = reader.needed(&item, "post", "a webhook") else { continue };
        reader.object(&post, &keywords::OPERATION);
        external_docs(reader, &post);
        parameters(reader, &post);
        webhook_responses(reader, &post);
        let Some(body) = reader.needed(&post, "requestBody", "a webhook") else { continue };
        let Some(body) = body_of(reader, body) else { continue };
        let summary = post.node.get("summary").and_then(Node::as_str).map(str::to_owned);
        read.push(Webhook { name: name.clone(), summary, content: body.content });
    }
    read
}

/// The receiver answers, so ranges and `default` may stand here.
fn webhook_responses<'n>(reader: &mut Reader<'n>, post: &At<'n>) {
    let Some(responses) = reader.child(post, "responses") else { return };
    for (_, item) in reader.children(&responses) {
        if let Some(response) = reader.followed(item, "responses") {
            response_parts(reader, &response);
        }
    }
}
