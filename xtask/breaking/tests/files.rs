//! Documents of several files, references to anchors and ids, OpenAPI 3.2, and minor errors of documents.

use std::fs;
use std::path::Path;

use contract::diagnostic::DiagnosticFormat;
use serde_json::{Value, json};

use super::super::bundle::ReferencedFiles;
use super::super::document::{self, OpenApiDocument};
use super::super::finding::Finding;
use super::super::inputs::Input;
use super::super::report::{self, ComparisonResult};
use super::super::rule::Level;
use super::super::{ReportFormat, git};
use super::{TODAY, compare, differences, ids_and_levels, read};

/// Creates a folder with files.
pub(super) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("the file is in a folder"))
            .expect("the folder can be created");
        fs::write(path, text).expect("the file can be written");
    }
    folder
}

/// Reads a document with the files beside it. The error contains the rendered diagnostics.
pub(super) fn read_file(folder: &Path, name: &str) -> Result<OpenApiDocument, String> {
    let input = Input::from_file(folder, name).expect("the document can be read");
    document::read_with_files(input.source, &input.files)
        .map_err(|invalid| invalid.render(DiagnosticFormat::Text))
}

fn breaking_ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().filter(|finding| finding.breaks()).map(|finding| finding.id.as_str()).collect()
}

const API: &str = "openapi: 3.0.3
info: {title: Pets, version: '1'}
paths:
  /pets: {$ref: 'paths/pets.yaml'}
";
const PATHS: &str = "get:
  operationId: listPets
  parameters:
    - $ref: '../parts.yaml#/parameters/Limit'
  responses:
    $ref: '../parts.yaml#/responses'
";
const PARTS: &str = "parameters:
  Limit: {name: limit, in: query, schema: {type: integer, maximum: 100}}
responses:
  '200':
    description: Pets.
    content:
      application/json:
        schema:
          type: array
          items: {$ref: 'schemas/Pet.yaml'}
";
const PET: &str = "type: object
required: [name]
properties:
  name: {type: string}
  parent: {$ref: '#'}
  kind: {$ref: 'Kind.json#/$defs/kind'}
";
const KIND: &str = r#"{"$defs": {"kind": {"type": "string", "enum": ["cat", "dog"]}}}"#;

fn pets() -> tempfile::TempDir {
    folder(&[
        ("api.yaml", API),
        ("paths/pets.yaml", PATHS),
        ("parts.yaml", PARTS),
        ("schemas/Pet.yaml", PET),
        ("schemas/Kind.json", KIND),
    ])
}

/// The document of [`pets`] in one file.
const PETS_IN_ONE_FILE: &str = "openapi: 3.0.3
info: {title: Pets, version: '1'}
paths:
  /pets:
    get:
      operationId: listPets
      parameters:
        - {name: limit, in: query, schema: {type: integer, maximum: 100}}
      responses:
        '200':
          description: Pets.
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}
components:
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: {type: string}
        parent: {$ref: '#/components/schemas/Pet'}
        kind: {type: string, enum: [cat, dog]}
";

#[test]
fn a_document_of_several_files_equals_the_same_document_in_one_file() {
    let pets = pets();
    let (several, one) = (read_file(pets.path(), "api.yaml").unwrap(), read("one.yaml", PETS_IN_ONE_FILE));
    assert_eq!(ids_and_levels(&compare(&several, &several, TODAY)), []);
    assert_eq!(ids_and_levels(&compare(&one, &several, TODAY)), []);
    assert_eq!(ids_and_levels(&compare(&several, &one, TODAY)), []);
}

#[test]
fn changes_in_referenced_files_are_found_at_their_place() {
    let pets = pets();
    let base = read_file(pets.path(), "api.yaml").unwrap();
    fs::write(pets.path().join("schemas/Pet.yaml"), PET.replace("required: [name]", "required: []")).unwrap();
    fs::write(pets.path().join("parts.yaml"), PARTS.replace("100", "50")).unwrap();
    let revision = read_file(pets.path(), "api.yaml").unwrap();
    let findings = compare(&base, &revision, TODAY);
    let result =
        ComparisonResult { base, revision, findings, waiver_errors: Vec::new(), path_versions: None };
    let text = report::breaking_changes(&result, ReportFormat::Text);
    for place in ["--> parts.yaml:2:59", "--> schemas/Pet.yaml:4:3"] {
        assert!(text.contains(place), "{place} is missing in:\n{text}");
    }
    let paths: Vec<&str> = result.findings.iter().map(|finding| finding.path.as_str()).collect();
    assert!(paths.contains(&"components.parameters.Limit.schema.maximum"), "{paths:?}");
    assert!(paths.contains(&"components.schemas.Pet.required.name"), "{paths:?}");
    assert_eq!(
        breaking_ids(&result.findings),
        ["request-parameter-max-decreased", "response-property-became-optional"]
    );
}

#[test]
fn components_can_be_in_other_files() {
    let index = "Pet: {$ref: Pet.yaml}\nKind: {$ref: 'Kind.json#/$defs/kind'}\n";
    let components =
        ["schemas: {$ref: schemas/index.yaml}", "schemas: {Pet: {$ref: schemas/Pet.yaml}}", "$ref: c.yaml"];
    for components in components {
        let pets = pets();
        let api = PETS_IN_ONE_FILE.split("components:").next().unwrap();
        fs::write(pets.path().join("api.yaml"), format!("{api}components:\n  {components}\n")).unwrap();
        fs::write(pets.path().join("schemas/index.yaml"), index).unwrap();
        fs::write(pets.path().join("c.yaml"), "schemas: {$ref: schemas/index.yaml}\n").unwrap();
        let via_document = PET.replace("$ref: '#'", "$ref: '../api.yaml#/components/schemas/Pet'");
        for pet in [PET, via_document.as_str()] {
            fs::write(pets.path().join("schemas/Pet.yaml"), pet).unwrap();
            let several = read_file(pets.path(), "api.yaml").unwrap();
            let one = read("one.yaml", PETS_IN_ONE_FILE);
            assert_eq!(ids_and_levels(&compare(&one, &several, TODAY)), [], "{components}");
            assert_eq!(ids_and_levels(&compare(&several, &several, TODAY)), [], "{components}");
            let changed = PETS_IN_ONE_FILE.replace("name: {type: string}", "name: {type: integer}");
            assert_eq!(breaking_ids(&compare(&several, &read("two.yaml", &changed), TODAY)).len(), 1);
        }
    }
}

#[test]
fn changes_in_inlined_files_have_a_path() {
    let pets = pets();
    let base = read_file(pets.path(), "api.yaml").unwrap();
    fs::write(pets.path().join("parts.yaml"), PARTS.replace("application/json", "text/csv")).unwrap();
    let revision = read_file(pets.path(), "api.yaml").unwrap();
    let findings = compare(&base, &revision, TODAY);
    let removed = findings.iter().find(|finding| finding.id == "response-media-type-removed").unwrap();
    assert_eq!(removed.path, "components.pathItems.pets.get.responses.200.content.application/json");
    assert_eq!(base.source.position(removed.base).line, 7);
}

#[test]
fn references_that_cannot_be_followed_are_rejected_with_their_place() {
    let outside = folder(&[("secret.yaml", "type: string\n")]);
    let error = |reference: &str| {
        let text = format!("openapi: 3.1.0\ncomponents:\n  schemas:\n    A: {{$ref: '{reference}'}}\n");
        let folder = folder(&[
            ("api.yaml", &text),
            ("loop.yaml", "$ref: loop2.yaml\n"),
            ("loop2.yaml", "$ref: loop.yaml\n"),
            ("broken.yaml", "a: [\n"),
            ("empty.yaml", ""),
            ("folder/a.yaml", "type: string\n"),
        ]);
        fs::write(folder.path().join("binary.yaml"), [0xff, 0x00, 0xfe]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret.yaml"), folder.path().join("link.yaml"))
            .unwrap();
        read_file(folder.path(), "api.yaml").expect_err(reference)
    };
    for (reference, message) in [
        ("../secret.yaml", "it leads out of the folder of the document"),
        ("/etc/passwd", "it leads out of the folder of the document"),
        ("link.yaml", "the file is outside of the folder of the document"),
        ("missing.yaml", "the file does not exist"),
        ("folder", "only files that end with .yaml, .yml or .json are read"),
        ("binary.yaml", "is not valid UTF-8"),
        ("https://example.com/a.yaml", "refers to a document that is not a file"),
        ("folder/a.yaml#/b", "`folder/a.yaml#/b` does not exist"),
        ("api.yaml#/components/schemas/B", "`#/components/schemas/B` does not exist"),
    ] {
        let error = error(reference);
        assert!(error.contains(message) && error.contains("api.yaml:4:15"), "{reference}: {error}");
    }
    assert!(error("loop.yaml").contains("circular reference"));
    assert!(error("broken.yaml").contains("broken.yaml:1:"), "the place is in the referenced file");
    assert!(error("empty.yaml").contains("the file is empty"));
}

#[test]
fn a_revision_refers_to_files_of_the_same_revision() {
    let pets = pets();
    let directory = pets.path();
    let run = |args: &[&str]| {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        git::run(directory, &[&identity[..], args].concat()).unwrap().expect("git succeeds");
    };
    run(&["init", "--quiet"]);
    run(&["add", "."]);
    run(&["commit", "--quiet", "--message", "one"]);
    fs::write(directory.join("schemas/Kind.json"), KIND.replace("\"dog\"", "\"dog\", \"cow\"")).unwrap();
    let at = |directory: &Path, path: &str| {
        let input = Input::from_revision(directory, "HEAD", path).unwrap();
        document::read_with_files(input.source, &input.files)
            .map_err(|invalid| format!("{invalid:?}"))
            .unwrap()
    };
    let base = at(directory, "api.yaml");
    let revision = read_file(directory, "api.yaml").unwrap();
    assert_eq!(breaking_ids(&compare(&base, &revision, TODAY)), ["response-property-enum-value-added"]);
    // A path that begins with a dot is relative to the current folder, as in git.
    let from_folder = at(&directory.join("schemas"), "./../api.yaml");
    assert_eq!(ids_and_levels(&compare(&base, &from_folder, TODAY)), []);
}

/// Returns a document whose response has the schema.
fn response_with(schema: &Value, components: &Value) -> String {
    let content = json!({"application/json": {"schema": schema}});
    let responses = json!({"200": {"description": "D", "content": content}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a", "responses": responses}}},
        "components": {"schemas": components}})
    .to_string()
}

#[test]
fn references_to_definitions_anchors_and_ids_are_resolved() {
    let components = |max_length: u32| {
        let word = json!({"type": "string", "maxLength": max_length});
        json!({"A": {"$defs": {"word": word}}, "B": {"$anchor": "word", "type": "string", "maxLength": max_length},
            "C": {"$id": "https://example.com/c", "type": "object", "properties": {"w": {"$ref": "#/$defs/w"}}, "$defs": {"w": word}},
            "D": {"$dynamicAnchor": "node", "type": "object", "properties": {"next": {"$dynamicRef": "#node"}, "w": word}},
            "E": {"$recursiveAnchor": true, "type": "object", "properties": {"next": {"$recursiveRef": "#"}, "w": word}}})
    };
    for reference in [
        json!({"$ref": "#/components/schemas/A/$defs/word"}),
        json!({"$ref": "#word"}),
        json!({"$ref": "#/components/schemas/C"}),
        json!({"$ref": "https://example.com/c"}),
        json!({"$ref": "https://example.com/c#/$defs/w"}),
        json!({"$dynamicRef": "#node"}),
        json!({"$ref": "#/components/schemas/E"}),
        json!({"not": {"$ref": "#/components/schemas/A/$defs/word"}}),
    ] {
        let document = |max_length| response_with(&reference, &components(max_length));
        assert_eq!(ids_and_levels(&differences(&document(5), &document(5))), [], "{reference}");
        // `not` accepts more values if the rejected schema accepts fewer.
        let (before, after) = if reference.get("not").is_some() { (6, 5) } else { (5, 6) };
        let findings = differences(&document(before), &document(after));
        assert_eq!(breaking_ids(&findings).len(), 1, "{reference}: {:?}", ids_and_levels(&findings));
    }
}

#[test]
fn references_that_depend_on_the_evaluation_are_compared_as_text() {
    let document = |reference: &str| {
        let node = json!({"$dynamicAnchor": "node", "type": "string"});
        let schema = json!({"type": "array", "items": {"$dynamicRef": reference}});
        response_with(&schema, &json!({"A": node, "B": node}))
    };
    let warnings = read("a.json", &document("#node")).warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.starts_with("`$dynamicRef` cannot be resolved"), "{}", warnings[0].message);
    assert_eq!(ids_and_levels(&differences(&document("#node"), &document("#node"))), []);
    assert_eq!(breaking_ids(&differences(&document("#node"), &document("#other"))), ["unclassified-change"]);
    let in_resource = |reference: &str| {
        let schema = json!({"$id": "https://example.com/a", "properties": {"b": {"$ref": reference}}});
        response_with(&schema, &json!({}))
    };
    assert_eq!(read("a.json", &in_resource("b.json")).warnings.len(), 1);
    assert_eq!(
        breaking_ids(&differences(&in_resource("b.json"), &in_resource("c.json"))),
        ["unclassified-change"]
    );
}

#[test]
fn minor_errors_are_warnings_and_their_changes_are_found() {
    let schema = |text: &str| {
        format!(
            "openapi: 3.0.0\npaths:\n  /a:\n    post:\n      requestBody: {{content: {{application/json: {{schema: {text}}}}}}}\n      responses:\n"
        )
    };
    let document = read("a.yaml", &schema("{type: object, properties: {a: {type: string, required: true}}}"));
    let mut warnings: Vec<String> = document
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", document.source.position(warning.span).line, warning.message))
        .collect();
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "5: `required` is a boolean; it is compared as a value without meaning",
            "6: `responses` is null; it is read as an empty mapping"
        ]
    );
    let ids = |before: &str, after: &str| {
        let findings = differences(&schema(before), &schema(after));
        findings.into_iter().filter(Finding::breaks).map(|finding| finding.id).collect::<Vec<_>>()
    };
    let required =
        |value: &str| format!("{{type: object, properties: {{a: {{type: string, required: {value}}}}}}}");
    assert_eq!(ids(&required("true"), &required("true")), [] as [&str; 0]);
    assert_eq!(ids(&required("false"), &required("true")), ["unclassified-change"]);
    let items = |value: &str| format!("{{type: array, items: [{{type: {value}}}]}}");
    assert_eq!(ids(&items("string"), &items("string")), [] as [&str; 0]);
    assert_eq!(ids(&items("string"), &items("integer")).len(), 1);
    let null_content = schema("{}").replace("{application/json: {schema: {}}}", "null");
    assert_eq!(read("a.yaml", &null_content).warnings.len(), 2);
    let invalid = |text: &str| {
        let source = contract::source::Source::new("a.yaml", schema("{}").replace("responses:", text));
        document::read(source).is_err()
    };
    for text in ["responses: []", "responses: 1", "parameters:", "security:"] {
        assert!(invalid(text), "{text}: only frequent errors are accepted");
    }
}

#[test]
fn version_3_2_is_compared_like_3_1_and_its_new_keywords_are_compared() {
    let document = |version: &str, max_length: u32| {
        let word = json!({"type": "string", "maxLength": max_length});
        let responses = json!({"200": {"description": "D", "content": {"application/jsonl": {"itemSchema": {"$ref": "#/components/schemas/W"}}}}});
        json!({"openapi": version, "paths": {"/a": {"query": {"operationId": "a", "responses": responses}}},
            "components": {"schemas": {"W": word}}})
        .to_string()
    };
    assert_eq!(
        breaking_ids(&differences(&document("3.2.0", 5), &document("3.2.0", 6))),
        ["response-property-max-length-increased"]
    );
    let plain = |version: &str| {
        response_with(&json!({"not": {"$ref": "#/components/schemas/A"}}), &json!({"A": {"type": "null"}}))
            .replace("3.1.0", version)
    };
    assert_eq!(ids_and_levels(&differences(&plain("3.1.0"), &plain("3.2.0"))), []);
    let with = |key: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&plain("3.2.0")).unwrap();
        document["paths"]["/a"][key] = value;
        document.to_string()
    };
    let operation = |id: &str| json!({"LINK": {"operationId": id, "responses": {}}});
    assert_eq!(
        breaking_ids(&differences(
            &with("additionalOperations", operation("a")),
            &with("additionalOperations", operation("b"))
        )),
        ["api-operation-id-removed"]
    );
}

#[test]
fn additional_operations_of_version_3_2_are_compared_like_the_others() {
    let paths = |version: &str, section: &str, operations: Value| {
        let item = json!({"get": {"operationId": "g"}, "additionalOperations": operations});
        json!({"openapi": version, "paths": {}, section: {"/a": item}}).to_string()
    };
    let copy = |keywords: Value| {
        let mut operation = json!({"operationId": "c", "responses": {"204": {"description": "D"}}});
        operation.as_object_mut().unwrap().extend(keywords.as_object().unwrap().clone());
        json!({"COPY": operation})
    };
    let reported = |section: &str, before: &Value, after: &Value| {
        let base = paths("3.2.0", section, before.clone());
        ids_and_levels(&differences(&base, &paths("3.2.0", section, after.clone())))
    };
    let single = |id: &str, level| vec![(id.to_owned(), level)];
    let parameter =
        |required: bool| json!({"parameters": [{"name": "q", "in": "query", "required": required}]});
    let sunset = |date: &str| json!({"deprecated": true, "x-sunset": date});
    let (none, plain) = (json!({}), copy(json!({})));
    for (before, after, expected) in [
        (&plain, &copy(json!({"description": "D"})), vec![]),
        (&plain, &copy(sunset("2027-12-01")), single("endpoint-deprecated-with-sunset", Level::Info)),
        (&none, &plain, single("endpoint-added", Level::Info)),
        (&plain, &none, single("api-removed-without-deprecation", Level::Error)),
        (&copy(sunset("2026-02-01")), &none, single("api-removed-with-deprecation", Level::Info)),
    ] {
        for section in ["paths", "webhooks"] {
            assert_eq!(reported(section, before, after), expected, "{section} {before} {after}");
        }
    }
    for (is_required, expected) in [
        (false, single("new-optional-request-parameter", Level::Info)),
        (true, single("new-required-request-parameter", Level::Error)),
    ] {
        assert_eq!(reported("paths", &plain, &copy(parameter(is_required))), expected);
    }
    // The name of a method is case-sensitive, and is not one of the keys of a path item.
    let get = json!({"get": {"operationId": "c"}});
    assert_eq!(reported("paths", &none, &get), single("endpoint-added", Level::Info));
    let lowercase = json!({"copy": {"operationId": "c"}});
    let ids = breaking_ids(&differences(
        &paths("3.2.0", "paths", plain.clone()),
        &paths("3.2.0", "paths", lowercase.clone()),
    ))
    .join(" ");
    assert_eq!(ids, "api-removed-without-deprecation");
    let added = differences(&paths("3.2.0", "paths", none.clone()), &paths("3.2.0", "paths", lowercase));
    assert_eq!(added[0].message, "`copy /a` was added");
    // Earlier versions do not know the keyword.
    let (before, after) = (paths("3.1.0", "paths", none), paths("3.1.0", "paths", plain));
    assert_eq!(ids_and_levels(&differences(&before, &after)), single("unclassified-change", Level::Error));
}

#[test]
fn a_document_from_standard_input_has_no_files() {
    let files = ReferencedFiles::None;
    let text = "openapi: 3.1.0\ncomponents: {schemas: {A: {$ref: a.yaml}}}\n";
    let source = contract::source::Source::new("standard input", text);
    let invalid = document::read_with_files(source, &files).expect_err("there are no files");
    assert!(invalid.diagnostics[0].message.contains("standard input cannot refer to files"));
}
