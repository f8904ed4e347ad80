//! Contracts whose names are those of the generated code itself: what is written for them is Rust that compiles.
//!
//! The compiler is asked about the second contract (`tests/second`); here the names alone are looked at.

use std::collections::BTreeSet;

use clap::Parser;
use contract::diagnostic::Format;
use contract::{Customs, source::Source};

use super::files::File;
use super::{Args, CONTRACTS, Names, Verdict, generate};

/// The command line of `codegen`.
#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

/// A small contract, with this change.
fn changed(from: &str, to: &str) -> String {
    let sound = include_str!("../contract/fixtures/sound.yaml");
    assert!(sound.contains(from), "the sound contract has no {from}");
    sound.replacen(from, to, 1)
}

/// Every file that is generated from a contract.
fn all(text: &str) -> Vec<File> {
    let contract =
        contract::read(Source::new("things.yaml", text), &Customs { beginning: "/", spelled: &[] })
            .unwrap_or_else(|refused| panic!("{}", refused.render(Format::Text)));
    generate(&contract, &CONTRACTS[0])
}

/// One of them.
fn generated(text: &str, file: &str) -> syn::File {
    let file = all(text).into_iter().find(|one| one.name == file).expect("the file is generated");
    syn::parse_file(&file.text).expect("it is Rust")
}

#[test]
fn an_event_that_is_going_away_says_so() {
    let webhook =
        "webhooks:\n  thing.gone:\n    post:\n      operationId: onThingGone\n      deprecated: true\n";
    let body = "content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } }";
    let webhook = format!("{webhook}      requestBody: {{ required: true, {body} }}\n");
    let events = generated(&changed("components:\n", &(webhook + "components:\n")), "events.rs");
    let event = events.items.iter().find_map(|item| match item {
        syn::Item::Enum(event) if event.ident == "Event" => event.variants.first(),
        _ => None,
    });
    let about = quote::ToTokens::to_token_stream(event.expect("it has a variant")).to_string();
    assert!(about.contains("Deprecated in the contract."), "{about}");
}

#[test]
fn a_contract_without_webhooks_has_no_type_for_its_events() {
    let files = all(&changed("", ""));
    let events = files.iter().find(|file| file.name == "events.rs").expect("it is generated");
    assert!(events.text.contains("pub const EVENT_TYPES: &[&str] = &[];"), "{}", events.text);
    // An enum without variants cannot be matched by reference, which is what derives and methods do.
    let empty = regex::Regex::new(r"\b(enum|match) [^{};]*\{\s*\}").expect("a pattern");
    assert!(empty.is_match("pub enum Event {}") && empty.is_match("match self {\n}"));
    for file in files.iter().filter(|file| file.name.ends_with(".rs")) {
        assert_eq!(empty.find(&file.text).map(|found| found.as_str()), None, "{}", file.name);
    }
}

/// The names that a file imports.
fn imports(file: &syn::File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in &file.items {
        if let syn::Item::Use(one) = item {
            imported(&one.tree, &mut names);
        }
    }
    names
}

fn imported(tree: &syn::UseTree, names: &mut BTreeSet<String>) {
    match tree {
        syn::UseTree::Path(path) => imported(&path.tree, names),
        syn::UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| imported(item, names)),
        syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => panic!("nothing is imported so"),
    }
}

#[test]
fn what_a_contract_does_not_have_is_not_imported() {
    let imports = |text: &str| Vec::from_iter(imports(&generated(text, "operations.rs"))).join(" ");
    let always = "Contract Credential Operation";
    assert_eq!(imports(&changed("", "")), format!("{always} Parameter ParameterKind Place document"));
    let without = changed("        - { name: id, in: path, required: true, schema: { type: string } }\n", "");
    let without = without.replace("      parameters:\n", "").replace("/things/{id}", "/things");
    assert_eq!(imports(&without), format!("{always} document"));
}

/// What becomes of a contract that is generated from: the outcome, or the message of the error.
fn run(text: &str) -> Result<Verdict, String> {
    let workspace = tempfile::tempdir().expect("a folder");
    std::fs::write(workspace.path().join("contract.yaml"), text).expect("it is written");
    let names = Names { contract: "contract.yaml", output: "out", ..CONTRACTS[0] };
    super::one(workspace.path(), &names, false, Format::Text).map_err(|error| format!("{error:#}"))
}

#[test]
fn what_cannot_be_read_is_one_message_and_no_finding() {
    let mut bomb = "openapi: 3.1.0\na0: &a0 [x, x]\n".to_owned();
    (1..10).for_each(|at| bomb += &format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1));
    for (text, reason) in [
        ("a: 1\na: 2\nb: [1\n", "the contract is not YAML"),
        ("", "the file is empty"),
        ("openapi: 3.2.0\n", "`openapi` is `3.2.0`; code is generated from 3.1.x alone"),
        ("openapi: 3.0.3\n", "`openapi` is `3.0.3`; code is generated from 3.1.x alone"),
        ("openapi: 3.1\n", "`openapi` is a number; code is generated from 3.1.x alone"),
        ("swagger: '2.0'\n", "the document is Swagger 2; code is generated from OpenAPI 3.1 alone"),
        ("info: {}\n", "the document does not say which OpenAPI it is"),
        ("<!DOCTYPE html><html></html>", "an OpenAPI document is a mapping, this is a string"),
        (&bomb, "the contract uses an anchor of YAML"),
    ] {
        let error = run(text).expect_err("it ends in an error");
        assert!(error.starts_with("contract.yaml cannot be read\n"), "{error}");
        assert!(error.contains(reason), "{error}");
        assert_eq!(error.matches("error[").count(), 1, "{error}");
    }
    assert_eq!(run("openapi: 3.1.0\n"), Ok(Verdict::Findings), "what is missing is a finding");
    assert_eq!(run(&changed("/things/", "/api/v1/things/")), Ok(Verdict::Fresh));
}

#[test]
fn a_contract_of_ones_own_is_generated_where_one_says() {
    let here = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| std::fs::write(here.path().join(path), text).expect("it is written");
    let own = |args: &[&str]| {
        let parsed = Line::try_parse_from([&["codegen", "--contract", "a/my-things.yaml"], args].concat());
        let args = parsed.expect("the options are understood").args;
        let (contract, out) = (args.contract.clone().expect("one is given"), args.out.clone().expect("too"));
        super::of_ones_own(here.path(), &contract, &out, &args).map_err(|error| format!("{error:#}"))
    };
    std::fs::create_dir(here.path().join("a")).expect("a folder");
    write("a/my-things.yaml", &changed("", ""));
    assert_eq!(own(&["--out", "b/things"]), Ok(Verdict::Fresh));
    let read =
        |file: &str| std::fs::read_to_string(here.path().join("b/things").join(file)).expect("it is there");
    assert!(
        read("document.rs").contains("include_str!(\"../../a/my-things.yaml\")"),
        "{}",
        read("document.rs")
    );
    assert!(read("adapter.rs").contains("pub struct MyThings<S>(pub S);"));
    assert!(read("things.rs").contains("use contract_runtime::answer"));
    // A second time there is nothing to do, and `--check` knows it.
    assert_eq!(own(&["--out", "b/things", "--check"]), Ok(Verdict::Fresh));
    assert_eq!(own(&["--out", "b/things"]), Ok(Verdict::Fresh));

    // What somebody wrote is left alone.
    let refused = own(&["--out", "a"]).expect_err("the contract stands there");
    assert_eq!(
        refused,
        "the contract a/my-things.yaml stands in the folder that would be generated; name another with --out"
    );
    std::fs::create_dir(here.path().join("c")).expect("a folder");
    for (file, text) in [("c/main.rs", "fn main() {}"), ("c/mod.rs", "mod mine;")] {
        write(file, text);
        let refused = own(&["--out", "c"]).expect_err("somebody wrote there");
        assert!(refused.starts_with(&format!("{file} was not generated; remove it")), "{refused}");
        assert_eq!(std::fs::read_to_string(here.path().join(file)).expect("it is there"), text);
        std::fs::remove_file(here.path().join(file)).expect("it is removed");
    }
    let lone = Line::try_parse_from(["codegen", "--contract", "a/my-things.yaml"]);
    assert!(lone.is_err_and(|error| error.to_string().contains("--out")), "one needs the other");
}

/// Generates from a contract of one's own into `out`.
fn own(here: &std::path::Path, contract: &str) -> Result<Verdict, String> {
    let args = Line::try_parse_from(["codegen", "--contract", contract, "--out", "out"]);
    let args = args.expect("the options are understood").args;
    super::of_ones_own(here, contract.as_ref(), "out".as_ref(), &args).map_err(|error| format!("{error:#}"))
}

#[test]
fn the_error_envelope_may_be_spelled_as_this_project_spells_it() {
    let here = tempfile::tempdir().expect("a folder");
    let second = include_str!("../../tests/second/contract.yaml");
    assert!(second.contains("retryAfterSeconds"), "it has the field");
    std::fs::write(here.path().join("second.yaml"), second).expect("it is written");
    assert_eq!(own(here.path(), "second.yaml"), Ok(Verdict::Fresh));
}

#[test]
fn what_was_generated_once_goes_and_what_somebody_wrote_stays() {
    let here = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| std::fs::write(here.path().join(path), text).expect("it is written");
    let is_there = |path: &str| here.path().join(path).exists();
    write("c.yaml", &changed("", ""));
    assert_eq!(own(here.path(), "c.yaml"), Ok(Verdict::Fresh));
    assert!(is_there("out/things.rs"));

    // The tag has another name: its file is the generator's own, and goes.
    write("c.yaml", &changed("", "").replace("[things]", "[others]").replace("name: things", "name: others"));
    assert_eq!(own(here.path(), "c.yaml"), Ok(Verdict::Fresh));
    assert!(is_there("out/others.rs") && !is_there("out/things.rs"));

    // JSON has no heading: without generated Rust beside it, somebody else wrote it.
    std::fs::remove_dir_all(here.path().join("out")).expect("it is removed");
    std::fs::create_dir(here.path().join("out")).expect("a folder");
    write("out/c.json", "{}");
    let refused = own(here.path(), "c.yaml").expect_err("somebody wrote there");
    assert!(refused.starts_with("out/c.json was not generated; remove it"), "{refused}");
    assert!(!is_there("out/mod.rs"), "nothing is written");
}

#[test]
fn a_contract_that_cannot_be_generated_makes_no_folder() {
    let here = tempfile::tempdir().expect("a folder");
    assert!(own(here.path(), "none.yaml").is_err());
    for (name, text) in [("bad.yaml", "a: [1\n"), ("refused.yaml", "openapi: 3.1.0\n")] {
        std::fs::write(here.path().join(name), text).expect("it is written");
        assert_ne!(own(here.path(), name), Ok(Verdict::Fresh));
    }
    assert!(!here.path().join("out").exists());
}

#[test]
fn a_contract_is_called_as_its_adapter_can_be() {
    let names = [("m².yaml", "M²"), ("tag.yaml", "Tag"), ("open-api.yaml", "OpenApi"), ("s.yaml", "S")];
    for (name, adapter) in names {
        let here = tempfile::tempdir().expect("a folder");
        std::fs::write(here.path().join(name), changed("", "")).expect("it is written");
        let refused = own(here.path(), name).expect_err("that is no name");
        assert!(refused.contains(&format!("cannot be called `{adapter}` in Rust")), "{refused}");
        assert!(!here.path().join("out").exists(), "{name}");
    }
}

#[test]
fn what_the_adapter_cannot_be_called_is_all_that_its_file_names() {
    let second = CONTRACTS.last().expect("it is the last one");
    let source = contract::open(&contract::testing::workspace(), second.contract).expect("it can be read");
    let files = generate(&contract::read(source, &second.customs).expect("it is sound"), second);
    let adapter = files.iter().find(|file| file.name == "adapter.rs").expect("it is generated");
    let adapter = syn::parse_file(&adapter.text).expect("it is Rust");
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
    let free: Vec<&String> = types.filter(|name| !super::own::TAKEN.contains(&&***name)).collect();
    assert_eq!(free, Vec::<&String>::new());
}

/// The names of a pattern, at any depth.
fn bound(pattern: &syn::Pat) -> Vec<String> {
    match pattern {
        syn::Pat::Ident(one) => vec![one.ident.to_string()],
        syn::Pat::TupleStruct(parts) => parts.elems.iter().flat_map(bound).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn parameters_may_be_called_as_the_adapter_calls_its_own() {
    let own = ["call", "respond", "request", "key", "body"];
    let parameters = own.map(|name| format!("{{ name: {name}, in: query, schema: {{ type: string }} }}"));
    let parameters = format!("parameters:\n        - {}\n", parameters.join("\n        - "));
    let adapter = generated(&changed("parameters:\n", &parameters), "adapter.rs");
    let methods = adapter.items.iter().filter_map(|item| match item {
        syn::Item::Impl(one) if one.trait_.is_none() => Some(&one.items),
        _ => None,
    });
    let methods = methods.flatten().filter_map(|item| match item {
        syn::ImplItem::Fn(method) if method.sig.asyncness.is_some() => Some(method),
        _ => None,
    });
    let mut looked_at = 0;
    for method in methods {
        let arguments = method.sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(bound(&typed.pat)),
            syn::FnArg::Receiver(_) => None,
        });
        let arguments: Vec<String> = arguments.flatten().collect();
        let distinct: BTreeSet<&String> = arguments.iter().collect();
        assert_eq!(distinct.len(), arguments.len(), "an argument stands twice: {arguments:?}");
        assert!(!arguments.iter().any(|name| name == "respond"), "`respond` is hidden: {arguments:?}");
        looked_at += arguments.len();
    }
    assert_eq!(looked_at, "_key call id".split(' ').count() + own.len());
}

#[test]
fn a_property_may_be_called_as_the_derive_calls_its_own() {
    let schemas = generated(&changed("size: {", "obj: { type: string }\n        size: {"), "schemas.rs");
    let fields = schemas.items.iter().find_map(|item| match item {
        syn::Item::Struct(one) if one.ident == "Thing" => Some(&one.fields),
        _ => None,
    });
    let field = fields.expect("it is generated").iter().nth(1).expect("it has three fields");
    let field = quote::ToTokens::to_token_stream(field).to_string();
    assert!(field.contains(r#"rename = "obj""#) && field.contains("pub obj_ :"), "{field}");
}

#[test]
fn a_whole_number_may_be_written_with_a_fraction_of_zero_as_a_default() {
    let parameter =
        |name: &str, schema: &str| format!("        - {{ name: {name}, in: query, schema: {schema} }}\n");
    let level = parameter("level", "{ type: integer, enum: [1, 2], default: 2.0 }");
    let count = parameter("count", "{ type: integer, default: 3.0 }");
    let files = all(&changed("      responses:\n", &(level + &count + "      responses:\n")));
    let adapter = files.iter().find(|file| file.name == "adapter.rs").expect("it is generated");
    assert!(adapter.text.contains("schemas::GetThingLevel::Value2\n"), "{}", adapter.text);
    assert!(adapter.text.contains("-> i64 {\n    3\n}"), "{}", adapter.text);
}

#[test]
fn headers_may_be_called_as_an_answer_calls_its_own() {
    let headers = "headers: { Body: { required: true, schema: { type: integer } }, Parts: { schema: { type: string } } }";
    let thing = "description: A thing.\n";
    let text = changed(thing, &format!("{thing}      {headers}\n"));
    let things = generated(&text, "things.rs");
    let methods = things.items.iter().filter_map(|item| match item {
        syn::Item::Impl(one) => Some(&one.items),
        _ => None,
    });
    let methods: Vec<&syn::ImplItemFn> = methods
        .flatten()
        .filter_map(|item| match item {
            syn::ImplItem::Fn(method) => Some(method),
            _ => None,
        })
        .collect();
    let [from, into] = methods[..] else { panic!("an answer is put together and taken apart") };
    for method in [from, into] {
        let [syn::Stmt::Expr(syn::Expr::Match(arms), _)] = &method.block.stmts[..] else {
            panic!("both choose by what there is")
        };
        for arm in &arms.arms {
            let mut names = bound(&arm.pat);
            if let syn::Expr::Block(block) = &*arm.body {
                names.extend(block.block.stmts.iter().flat_map(|statement| match statement {
                    syn::Stmt::Local(local) => bound(&local.pat),
                    _ => Vec::new(),
                }));
                assert!(!names.iter().any(|name| name == "parts"), "`parts` is hidden: {names:?}");
            }
            let distinct: BTreeSet<&String> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "a name stands twice: {names:?}");
        }
    }
}
