//! Tests the command, and contracts whose names conflict with names in the generated code.
//!
//! These tests do not compile the generated code. The test target `second` compiles that of the second contract.

mod external_contracts;

use std::collections::BTreeSet;

use contract::diagnostic::DiagnosticFormat;
use contract::{Conventions, Profile, source::Source};

use super::files::GeneratedFile;
use super::{CONTRACTS, CodegenArgs, CodegenOutcome, ContractConfig, generate};

/// The command line of `codegen`.
#[derive(clap::Parser)]
struct CodegenCommandLine {
    #[command(flatten)]
    args: CodegenArgs,
}

/// Returns a small valid contract with one replacement.
fn contract_with(from: &str, to: &str) -> String {
    let contract = include_str!("../../contract/fixtures/valid.yaml");
    assert!(contract.contains(from), "the contract does not contain {from}");
    contract.replacen(from, to, 1)
}

/// Generates all files of a contract.
fn generate_files(text: &str) -> Vec<GeneratedFile> {
    let contract = contract::read(
        Source::new("things.yaml", text),
        &Conventions {
            path_prefix: "/",
            spelling_exceptions: &[],
            profile: Profile::Server,
            has_rate_limits: true,
        },
    )
    .unwrap_or_else(|invalid| panic!("{}", invalid.render(DiagnosticFormat::Text)));
    generate(&contract, &CONTRACTS[0])
}

/// Generates one file of a contract and parses it.
fn generate_file(text: &str, file: &str) -> syn::File {
    let file = generate_files(text)
        .into_iter()
        .find(|generated| generated.name == file)
        .expect("the file is generated");
    syn::parse_file(&file.text).expect("the file is valid Rust")
}

#[test]
fn a_deprecated_event_is_documented_as_deprecated() {
    let webhook = "webhooks:\n  thing.gone:\n    post:\n      operationId: onThingGone\n      deprecated: true\n      x-deprecated-at: '2027-01-31'\n";
    let body = "content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } }";
    let webhook = format!("{webhook}      requestBody: {{ required: true, {body} }}\n");
    let events = generate_file(&contract_with("components:\n", &(webhook + "components:\n")), "events.rs");
    let event = events.items.iter().find_map(|item| match item {
        syn::Item::Enum(event) if event.ident == "Event" => event.variants.first(),
        _ => None,
    });
    let documentation = quote::ToTokens::to_token_stream(event.expect("the enum has a variant")).to_string();
    assert!(documentation.contains("Deprecated in the contract."), "{documentation}");
}

#[test]
fn a_contract_without_webhooks_has_no_event_type() {
    let files = generate_files(&contract_with("", ""));
    let events = files.iter().find(|file| file.name == "events.rs").expect("the file is generated");
    assert!(events.text.contains("pub const EVENT_TYPES: &[&str] = &[];"), "{}", events.text);
    // Derive macros and methods match on a reference, which does not compile for an enum without variants.
    let empty = regex::Regex::new(r"\b(enum|match) [^{};]*\{\s*\}").expect("valid expression");
    assert!(empty.is_match("pub enum Event {}") && empty.is_match("match self {\n}"));
    for file in files.iter().filter(|file| file.name.ends_with(".rs")) {
        assert_eq!(empty.find(&file.text).map(|matched| matched.as_str()), None, "{}", file.name);
    }
}

/// Returns the names that a file imports.
fn imports(file: &syn::File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in &file.items {
        if let syn::Item::Use(declaration) = item {
            collect_imports(&declaration.tree, &mut names);
        }
    }
    names
}

fn collect_imports(tree: &syn::UseTree, names: &mut BTreeSet<String>) {
    match tree {
        syn::UseTree::Path(path) => collect_imports(&path.tree, names),
        syn::UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| collect_imports(item, names)),
        syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => panic!("unexpected kind of import"),
    }
}

#[test]
fn unused_types_are_not_imported() {
    let imports = |text: &str| Vec::from_iter(imports(&generate_file(text, "operations.rs"))).join(" ");
    let always = "Contract Credential Operation";
    assert_eq!(
        imports(&contract_with("", "")),
        format!("{always} Parameter ParameterKind ParameterLocation document")
    );
    let text =
        contract_with("        - { name: id, in: path, required: true, schema: { type: string } }\n", "");
    let text = text.replace("      parameters:\n", "").replace("/things/{id}", "/things");
    assert_eq!(imports(&text), format!("{always} document"));
}

/// Generates code from a contract; returns the outcome or the error message.
fn run(text: &str) -> Result<CodegenOutcome, String> {
    let workspace = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(workspace.path().join("contract.yaml"), text).expect("the file is writable");
    let config = ContractConfig { contract: "contract.yaml", output: "out", tables: None, ..CONTRACTS[0] };
    super::generate_for_project(workspace.path(), &config, false, DiagnosticFormat::Text)
        .map_err(|error| format!("{error:#}"))
}

#[test]
fn an_unreadable_contract_is_one_error() {
    let mut bomb = "openapi: 3.1.0\na0: &a0 [x, x]\n".to_owned();
    (1..10).for_each(|at| bomb += &format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
    for (text, reason) in [
        ("a: 1\na: 2\nb: [1\n", "invalid YAML"),
        ("", "the file is empty"),
        ("openapi: 3.2.0\n", "expected OpenAPI 3.1.x, found `3.2.0`"),
        ("openapi: 3.0.3\n", "expected OpenAPI 3.1.x, found `3.0.3`"),
        ("openapi: 3.1\n", "expected OpenAPI 3.1.x, found a number"),
        ("swagger: '2.0'\n", "expected OpenAPI 3.1.x, found Swagger 2"),
        ("info: {}\n", "the document has no `openapi` version"),
        ("<!DOCTYPE html><html></html>", "expected an OpenAPI document, found a string"),
        (&bomb, "an anchor is not supported in YAML contracts"),
    ] {
        let error = run(text).expect_err("the contract is rejected");
        assert!(error.starts_with("contract.yaml cannot be read\n"), "{error}");
        assert!(error.contains(reason), "{error}");
        assert_eq!(error.matches("error[").count(), 1, "{error}");
    }
    assert_eq!(run("openapi: 3.1.0\n"), Ok(CodegenOutcome::Findings), "a missing key is a finding");
    assert_eq!(run(&contract_with("/things/", "/api/v1/things/")), Ok(CodegenOutcome::UpToDate));
}

#[test]
fn all_names_of_the_adapter_file_are_reserved() {
    let config = CONTRACTS.last().expect("there are contracts");
    let source = contract::read_file(&contract::testing::workspace(), config.contract)
        .expect("the contract can be read");
    let files =
        generate(&contract::read(source, &config.conventions).expect("the contract is valid"), config);
    let adapter = files.iter().find(|file| file.name == "adapter.rs").expect("the file is generated");
    let adapter = syn::parse_file(&adapter.text).expect("the file is valid Rust");
    let mut names = imports(&adapter);
    for item in &adapter.items {
        match item {
            syn::Item::Struct(syn::ItemStruct { ident, .. })
            | syn::Item::Enum(syn::ItemEnum { ident, .. }) => {
                names.insert(ident.to_string());
            }
            _ => {}
        }
    }
    names.remove("V2");
    let types = names.iter().filter(|name| name.starts_with(char::is_uppercase));
    let unreserved: Vec<&String> =
        types.filter(|name| !super::external::RESERVED.contains(&&***name)).collect();
    assert_eq!(unreserved, Vec::<&String>::new());
}

/// Returns the variables of a pattern, at any depth.
fn pattern_variables(pattern: &syn::Pat) -> Vec<String> {
    match pattern {
        syn::Pat::Ident(variable) => vec![variable.ident.to_string()],
        syn::Pat::TupleStruct(parts) => parts.elems.iter().flat_map(pattern_variables).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn parameters_can_have_the_names_of_variables_of_the_adapter() {
    let names = ["call", "respond", "request", "key", "body"];
    let parameters = names.map(|name| format!("{{ name: {name}, in: query, schema: {{ type: string }} }}"));
    let parameters = format!("parameters:\n        - {}\n", parameters.join("\n        - "));
    let adapter = generate_file(&contract_with("parameters:\n", &parameters), "adapter.rs");
    let methods = adapter.items.iter().filter_map(|item| match item {
        syn::Item::Impl(block) if block.trait_.is_none() => Some(&block.items),
        _ => None,
    });
    let methods = methods.flatten().filter_map(|item| match item {
        syn::ImplItem::Fn(method) if method.sig.asyncness.is_some() => Some(method),
        _ => None,
    });
    let mut argument_count = 0;
    for method in methods {
        let arguments = method.sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(pattern_variables(&typed.pat)),
            syn::FnArg::Receiver(_) => None,
        });
        let arguments: Vec<String> = arguments.flatten().collect();
        let distinct: BTreeSet<&String> = arguments.iter().collect();
        assert_eq!(distinct.len(), arguments.len(), "duplicate argument: {arguments:?}");
        assert!(!arguments.iter().any(|name| name == "respond"), "`respond` is shadowed: {arguments:?}");
        argument_count += arguments.len();
    }
    assert_eq!(argument_count, "_key call id".split(' ').count() + names.len());
}

#[test]
fn a_property_can_have_the_name_of_a_variable_of_the_derive_macro() {
    let schemas =
        generate_file(&contract_with("size: {", "obj: { type: string }\n        size: {"), "schemas.rs");
    let fields = schemas.items.iter().find_map(|item| match item {
        syn::Item::Struct(item) if item.ident == "Thing" => Some(&item.fields),
        _ => None,
    });
    let field = fields.expect("the struct exists").iter().nth(1).expect("the struct has a second field");
    let field = quote::ToTokens::to_token_stream(field).to_string();
    assert!(field.contains(r#"rename = "obj""#) && field.contains("pub obj_ :"), "{field}");
}

#[test]
fn null_is_kept_at_every_reference() {
    let schemas = "  schemas:\n    Outer: { $ref: '#/components/schemas/Middle' }\n    \
                   Middle: { anyOf: [{ $ref: '#/components/schemas/Inner' }, { type: 'null' }] }\n    \
                   Inner: { $ref: '#/components/schemas/Size' }\n    Size: { type: [integer, 'null'] }\n    \
                   Plain: { type: integer }\n    Nullable: { oneOf: [{ $ref: '#/components/schemas/Plain' }, { type: 'null' }] }\n";
    let text = contract_with("  schemas:\n", schemas);
    for (schema, expected) in [
        // An absent property and null are both `None`.
        ("{ $ref: '#/components/schemas/Outer' }", "Option < i64 >"),
        (
            "{ type: array, items: { $ref: '#/components/schemas/Nullable' } }",
            "Option < Vec < Option < i64 > > >",
        ),
        ("{ type: array, items: { $ref: '#/components/schemas/Plain' } }", "Option < Vec < i64 > >"),
        (
            "{ type: object, additionalProperties: { $ref: '#/components/schemas/Outer' } }",
            "Option < std :: collections :: BTreeMap < String , Option < i64 > > >",
        ),
    ] {
        let text = text.replace("        size: {", &format!("        tested: {schema}\n        size: {{"));
        let schemas = generate_file(&text, "schemas.rs");
        let field = schemas.items.iter().find_map(|item| match item {
            syn::Item::Struct(item) if item.ident == "Thing" => {
                item.fields.iter().find(|field| field.ident.as_ref().is_some_and(|ident| ident == "tested"))
            }
            _ => None,
        });
        let ty = quote::ToTokens::to_token_stream(&field.expect("the field exists").ty).to_string();
        assert_eq!(ty, expected, "{schema}");
    }
}

#[test]
fn the_default_of_an_integer_can_be_written_with_a_zero_fraction() {
    let parameter =
        |name: &str, schema: &str| format!("        - {{ name: {name}, in: query, schema: {schema} }}\n");
    let level = parameter("level", "{ type: integer, enum: [1, 2], default: 2.0 }");
    let count = parameter("count", "{ type: integer, default: 3.0 }");
    let files =
        generate_files(&contract_with("      responses:\n", &(level + &count + "      responses:\n")));
    let adapter = files.iter().find(|file| file.name == "adapter.rs").expect("the file is generated");
    assert!(adapter.text.contains("schemas::GetThingLevel::Value2\n"), "{}", adapter.text);
    assert!(adapter.text.contains("-> i64 {\n    3\n}"), "{}", adapter.text);
}

#[test]
fn headers_can_have_the_names_of_variables_of_a_response() {
    let headers = "headers: { Body: { required: true, schema: { type: integer } }, ResponseParts: { schema: { type: string } } }";
    let thing = "description: A thing.\n";
    let text = contract_with(thing, &format!("{thing}      {headers}\n"));
    let things = generate_file(&text, "things.rs");
    let methods = things.items.iter().filter_map(|item| match item {
        syn::Item::Impl(block) => Some(&block.items),
        _ => None,
    });
    let methods: Vec<&syn::ImplItemFn> = methods
        .flatten()
        .filter_map(|item| match item {
            syn::ImplItem::Fn(method) => Some(method),
            _ => None,
        })
        .collect();
    let [from, into] = methods[..] else { panic!("expected `from_parts` and `into_parts`") };
    for method in [from, into] {
        let [syn::Stmt::Expr(syn::Expr::Match(arms), _)] = &method.block.stmts[..] else {
            panic!("expected a single `match`")
        };
        for arm in &arms.arms {
            let mut names = pattern_variables(&arm.pat);
            if let syn::Expr::Block(block) = &*arm.body {
                names.extend(block.block.stmts.iter().flat_map(|statement| match statement {
                    syn::Stmt::Local(local) => pattern_variables(&local.pat),
                    _ => Vec::new(),
                }));
                assert!(!names.iter().any(|name| name == "parts"), "`parts` is shadowed: {names:?}");
            }
            let distinct: BTreeSet<&String> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "duplicate name: {names:?}");
        }
    }
}
