//! Generates what progenitor does not: the enum of the events, from the webhooks of the contract, and the lists that have pages.

fn main() {
    println!("cargo::rerun-if-changed=openapi.json\ncargo::rerun-if-changed=README.md");
    let text = std::fs::read_to_string("openapi.json").expect("openapi.json can be read");
    let document: serde_json::Value = serde_json::from_str(&text).expect("openapi.json is JSON");
    let (mut variants, mut arms) = (String::new(), String::new());
    for (event_type, webhook) in document["x-webhooks"].as_object().expect("the contract has webhooks") {
        let schema = &webhook["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let model = schema.as_str().and_then(|target| target.rsplit('/').next()).expect("a schema");
        let variant = model.trim_end_matches("Event");
        variants += &format!("/// `{event_type}`.\n{variant}(Box<types::{model}>),\n");
        arms += &format!("{event_type:?} => Self::{variant}(Box::new(serde_json::from_value(body)?)),\n");
    }
    let code = format!(
        "/// The body of an event.\n#[derive(Clone, Debug)]\n#[non_exhaustive]\npub enum EventBody {{\n{variants}\
         /// An event of a type that was added after this version of the package.\nUnknown(serde_json::Value),\n}}\n\
         impl EventBody {{\nfn new(event_type: &str, body: serde_json::Value) -> serde_json::Result<Self> {{\n\
         Ok(match event_type {{\n{arms}_ => Self::Unknown(body),\n}})\n}}\n}}\n"
    );
    let folder = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(folder.join("events.rs"), code).expect("OUT_DIR is writable");
    std::fs::write(folder.join("lists.rs"), lists(&document)).expect("OUT_DIR is writable");
    // The tests run the code of the README.
    let readme = std::fs::read_to_string("README.md").expect("README.md can be read");
    let blocks: String =
        readme.split("```rust,no_run\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    std::fs::write(folder.join("readme.rs"), blocks).expect("OUT_DIR is writable");
}

/// Returns a call of the macro `lists!` for the operations whose response has a cursor.
fn lists(document: &serde_json::Value) -> String {
    let name = |schema: &serde_json::Value| Some(schema["$ref"].as_str()?.rsplit('/').next()?.to_owned());
    let list = |operation: &serde_json::Value| {
        let page = name(&operation["responses"]["200"]["content"]["application/json"]["schema"])?;
        let fields = &document["components"]["schemas"][page]["properties"];
        fields["pagination"].as_object()?;
        let item = name(&fields["data"]["items"]).expect("the items of a page are a named schema");
        let (initial, rest) = operation["operationId"].as_str()?.split_at(1);
        Some(format!("{}{rest} => {item},", initial.to_uppercase()))
    };
    let paths = document["paths"].as_object().expect("the contract has paths");
    let operations = paths.values().filter_map(serde_json::Value::as_object).flat_map(|path| path.values());
    format!("lists!({});", operations.filter_map(list).collect::<String>())
}
