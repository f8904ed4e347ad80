//! Reads the candidate contract. Its tables live until the process ends, like those of the served contract.

use std::path::Path;

use anyhow::{Context, anyhow, ensure};

use contract::model::{self, Document, MediaType, Shape};
use contract::node::{Node, Value};
use contract::operations::{OperationPair, declared_names, pairs};
use contract::source::Source;
use contract::yaml::{self, AliasPolicy};
use contract::{Conventions, Profile, SPELLING_EXCEPTIONS};
use contract_runtime::contract::{
    Body, Contract, ListStyle, Operation, Parameter, ParameterKind, ParameterLocation,
};
use contract_runtime::validate::conformance::{Conformance, ConformanceOperation};
use domain::candidate::ObservedOperation;

use crate::patterns;

/// The maximum size of a candidate in bytes.
const MAX_BYTES: u64 = 2 * 1024 * 1024;
/// The maximum nesting of a candidate.
const MAX_DEPTH: usize = 64;

/// An operation of the served contract.
pub(super) struct CandidateOperation {
    pub(super) observed: ObservedOperation,
    pub(super) replacement: Replacement,
}

/// What the candidate has instead of an operation.
pub(super) enum Replacement {
    /// Nothing: clients get 404 or 405.
    Removed {
        /// The JSON pointer of the nearest existing object.
        pointer: String,
    },
    /// An operation at the same address, apart from the version.
    Described(Box<Conformance>),
}

/// Reads a candidate. Returns the operations of the base in its order.
pub(super) fn read(base: &Contract, path: &Path) -> anyhow::Result<Vec<CandidateOperation>> {
    let name = path.display().to_string();
    let read = || read_named(base, &name);
    read().with_context(|| format!("the candidate contract {name} cannot be used"))
}

fn read_named(base: &Contract, name: &str) -> anyhow::Result<Vec<CandidateOperation>> {
    let metadata = std::fs::metadata(name).context("specify an existing file with --candidate-contract")?;
    ensure!(
        metadata.len() <= MAX_BYTES,
        "it is larger than the maximum of 2 MiB; remove what does not belong to this API"
    );
    let source = contract::read_file(Path::new(""), name)?;
    let (prefix, depth) = outline(&source);
    ensure!(
        depth <= MAX_DEPTH,
        "it is nested deeper than {MAX_DEPTH} levels; move inner schemas to `components`"
    );
    let conventions = Conventions {
        path_prefix: &prefix,
        spelling_exceptions: SPELLING_EXCEPTIONS,
        profile: Profile::Server,
        has_rate_limits: true,
    };
    let candidate = contract::read(source, &conventions).map_err(|invalid| {
        let rendered = invalid.render(contract::diagnostic::DiagnosticFormat::Text);
        anyhow!(
            "correct these errors, or start the server without --candidate-contract\n{}",
            rendered.trim_end()
        )
    })?;
    let base_root = yaml::read(&Source::new(base.name, base.yaml), &mut Vec::new());
    let base_root = base_root.context("the served contract cannot be read")?;
    let pairs = pairs(&base_root, &candidate.root);
    ensure!(
        pairs.iter().any(|pair| pair.candidate.is_some()),
        "it describes another API: no operation has the id, or the method and path, of one of {}; specify a draft of {}",
        base.title,
        base.title
    );
    let described = pairs.iter().filter_map(|pair| described_operation(pair, &candidate.document));
    let mut declared = declared_names(&base_root);
    declared.extend(declared_names(&candidate.root));
    let json = candidate.root.to_json().to_string();
    let described = Conformance::compile(&json, described.collect(), declared, patterns::describe)?;
    let mut described = described.into_iter();
    let operation = |pair: &OperationPair| {
        let id = base.operations.iter().find(|operation| operation.id == pair.base.id)?.id;
        let replacement = match model_operation(pair, &candidate.document) {
            Some(_) => Replacement::Described(Box::new(described.next()?)),
            None => Replacement::Removed { pointer: "/paths".to_owned() },
        };
        let observed = ObservedOperation {
            id,
            base: pair.base.digest.clone(),
            candidate: pair.candidate_digest().to_owned(),
        };
        Some(CandidateOperation { observed, replacement })
    };
    Ok(pairs.iter().filter_map(operation).collect())
}

/// Returns the prefix of all paths, up to the version, and the depth of a document. What is wrong with a document is reported later.
fn outline(source: &Source) -> (String, usize) {
    let Some(root) = yaml::read_with(source, AliasPolicy::Reject, &mut Vec::new()) else {
        return ("/".to_owned(), 0);
    };
    let first = root.get("paths").and_then(Node::entries).and_then(|paths| paths.first());
    let segments = first.map_or("", |path| &path.key.text).split('/');
    let prefix: Vec<&str> = segments.take(3).collect();
    let mut depth = 0;
    let mut open = vec![(&root, 1)];
    while let Some((node, level)) = open.pop() {
        depth = depth.max(level);
        match &node.value {
            Value::Mapping(entries) => open.extend(entries.iter().map(|entry| (&entry.value, level + 1))),
            Value::Sequence(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    (format!("{}/", prefix.join("/")), depth)
}

/// Returns the operation of the candidate, if it has the same address apart from the version.
fn model_operation<'m>(pair: &OperationPair, document: &'m Document) -> Option<&'m model::Operation> {
    let candidate = pair.candidate.as_ref().filter(|_| !pair.is_moved())?;
    document.operations.iter().find(|operation| operation.id.text == candidate.id)
}

fn described_operation(pair: &OperationPair, document: &Document) -> Option<ConformanceOperation> {
    let operation = model_operation(pair, document)?;
    let responses = operation.responses.iter().filter_map(|response| {
        let status = response.status.code().filter(|status| (200..300).contains(status))?;
        let json = response.content.as_ref().filter(|content| content.media_type == MediaType::Json);
        Some((status, json.map(|content| content.schema.pointer.clone())))
    });
    let responses = responses.collect();
    let pointer = pair.candidate.as_ref()?.pointer.clone();
    Some(ConformanceOperation { operation: table(operation, document), pointer, responses })
}

/// Creates the table of an operation.
fn table(operation: &model::Operation, document: &Document) -> &'static Operation {
    let parameters = operation.parameters.iter().map(|parameter| Parameter {
        name: leaked(&parameter.name),
        location: match parameter.location {
            model::ParameterLocation::Path => ParameterLocation::Path,
            model::ParameterLocation::Query => ParameterLocation::Query,
            model::ParameterLocation::Header => ParameterLocation::Header,
            model::ParameterLocation::Cookie => ParameterLocation::Cookie,
        },
        required: parameter.required,
        schema: leaked(&parameter.schema.pointer),
        kind: match document.shape(&parameter.schema) {
            Some(Shape::Array(array)) => {
                let style = if parameter.explode { ListStyle::Repeated } else { ListStyle::Commas };
                ParameterKind::List(Box::leak(Box::new(scalar_kind(document, &array.items))), style)
            }
            _ => scalar_kind(document, &parameter.schema),
        },
    });
    let body = operation.body.as_ref().map(|body| Body {
        media_type: leaked(&body.content.name),
        schema: leaked(&body.content.schema.pointer),
    });
    Box::leak(Box::new(Operation {
        id: leaked(&operation.id),
        method: leaked(&operation.method.key().to_uppercase()),
        path: leaked(&operation.path),
        tag: leaked(&operation.tag),
        scope: None,
        parameters: Vec::leak(parameters.collect()),
        body,
        statuses: &[],
    }))
}

/// Returns how the text of a parameter that is not a list is parsed.
fn scalar_kind(document: &Document, schema: &model::Schema) -> ParameterKind {
    match document.shape(schema) {
        Some(Shape::Integer(_) | Shape::IntegerEnum(_)) => ParameterKind::Integer,
        Some(Shape::Number(_)) => ParameterKind::Number,
        Some(Shape::Boolean) => ParameterKind::Boolean,
        _ => ParameterKind::String,
    }
}

fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}
