//! Tests of the files in `xtask/dist`: their commands and settings exist.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use foundation::id::{Ids, KeyId, SubscriptionId};
use jiff::Timestamp;
use saphyr::{LoadableYamlNode, Yaml};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("xtask/dist")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// Returns the values of a key in a unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// Asserts that the program accepts this command, without its name.
fn assert_accepted(command: &[&str]) {
    let arguments = [&["creator-api"], command].concat();
    if let Err(error) = Cli::try_parse_from(&arguments) {
        panic!("{arguments:?}: {error}");
    }
}

/// Asserts that the program accepts its commands in a line of a shell script. Returns their number. `ids` are placeholders and what
/// replaces them; others are valid arguments.
fn assert_line_accepted(line: &str, ids: &[(&str, String)]) -> usize {
    let line = line.split(" #").next().unwrap_or_default();
    let mut count = 0;
    for command in line.split(['&', ';', '|']) {
        let words = command.split_whitespace().skip_while(|word| *word == "time").map(|word| {
            let id = ids.iter().find(|(placeholder, _)| *placeholder == word);
            id.map_or(word, |(_, id)| id.as_str())
        });
        let words: Vec<&str> = words.collect();
        if let [program, arguments @ ..] = words.as_slice()
            && program.rsplit('/').next() == Some("creator-api")
            && !arguments.is_empty()
        {
            assert_accepted(arguments);
            count += 1;
        }
    }
    count
}

/// Asserts that these environment variables are settings with valid values. Their files do not exist here.
fn assert_settings(variables: &[(String, String)]) {
    let environment = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let Err(errors) = Config::read(Vec::new(), environment) else { return };
    for error in errors.to_string().lines() {
        assert!(error.contains(": cannot read /run/secrets/"), "{error}");
    }
}

#[test]
fn the_program_accepts_the_commands_of_the_units() {
    let mut commands = BTreeSet::new();
    for entry in std::fs::read_dir(folder().join("systemd")).unwrap() {
        let unit = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for command in values(&unit, "ExecStart") {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(words[0], "/usr/bin/creator-api");
            assert_accepted(&words[1..]);
            commands.insert(words[1].to_owned());
        }
    }
    assert_eq!(commands.into_iter().collect::<Vec<_>>(), ["backup", "serve", "worker"]);
}

#[test]
fn the_program_accepts_the_commands_of_the_documents() {
    let ids = Ids::default();
    let subscription: SubscriptionId = ids.next(Timestamp::UNIX_EPOCH);
    let key: KeyId = ids.next(Timestamp::UNIX_EPOCH);
    let ids = [("SUBSCRIPTION", subscription.to_string()), ("KEY_ID", key.to_string())];
    let (mut is_block, mut in_blocks, mut prose) = (false, 0, String::new());
    for line in (read("RUNBOOK.md") + &read("OPERATIONS.md")).lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            in_blocks += assert_line_accepted(line, &ids);
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    // Code in a sentence can be on two lines.
    let in_prose: usize =
        prose.split('`').skip(1).step_by(2).map(|code| assert_line_accepted(code, &ids)).sum();
    assert!(in_blocks > 20 && in_prose > 15, "{in_blocks} in blocks, {in_prose} in sentences");
}

#[test]
fn the_units_load_every_secret_and_have_the_same_restrictions() {
    let [server, worker, backup] = ["server", "worker", "backup"].map(|name| match name {
        "server" => read("systemd/creator-api.service"),
        name => read(&format!("systemd/creator-api-{name}.service")),
    });
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    let flags = command.get_arguments().chain(serve.get_arguments());
    let secrets: BTreeSet<String> = flags
        .filter_map(|flag| Some(format!("creator-api.{}", flag.get_id().as_str().strip_suffix("_file")?)))
        .collect();
    assert!(secrets.contains("creator-api.database_url"), "{secrets:?}");
    for unit in [&server, &worker] {
        let loaded = values(unit, "LoadCredential").into_iter().map(str::to_owned).collect();
        assert_eq!(secrets, loaded);
    }
    let restrictions = |unit: &str| {
        let (_, part) = unit.split_once("# Restrictions\n").unwrap();
        part.lines().take_while(|line| !line.starts_with("SystemCallFilter=~")).collect::<Vec<_>>().join("\n")
    };
    assert!(restrictions(&server).contains("NoNewPrivileges=yes"));
    assert_eq!(restrictions(&server), restrictions(&worker));
    assert_eq!(restrictions(&server), restrictions(&backup));
}

/// Calls the function with the key and the value of each entry of all mappings.
fn for_each_entry(node: &Yaml, call: &mut impl FnMut(&str, &Yaml)) {
    for item in node.as_vec().into_iter().flatten() {
        for_each_entry(item, call);
    }
    for (key, value) in node.as_mapping().into_iter().flatten() {
        call(key.as_str().unwrap_or_default(), value);
        for_each_entry(value, call);
    }
}

fn words<'a>(list: &'a Yaml) -> Vec<&'a str> {
    list.as_vec().into_iter().flatten().filter_map(|word| word.as_str()).collect()
}

#[test]
fn the_settings_and_commands_of_compose_exist() {
    let text = read("compose.yaml");
    let documents = Yaml::load_from_str(&text).unwrap();
    let [document] = documents.as_slice() else { panic!("expected one document") };
    let (mut commands, mut variables) = (0, 0);
    for_each_entry(document, &mut |key, value| {
        let words = words(value);
        let own = match (key, words.as_slice()) {
            ("command", ["valkey-server", ..]) => None,
            ("command", command) => Some(command),
            ("test", ["CMD", "/usr/bin/creator-api", command @ ..]) => Some(command),
            _ => None,
        };
        if let Some(command) = own {
            assert_accepted(command);
            commands += 1;
        }
        let environment = value.as_mapping().filter(|_| key == "environment");
        let settings: Vec<(String, String)> = environment
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str().unwrap().to_owned(), value.as_str().unwrap().to_owned()))
            // The value of this one is a variable of the operator.
            .filter(|(name, value)| !name.starts_with("POSTGRES_") && !value.starts_with("${"))
            .collect();
        assert_settings(&settings);
        variables += settings.len();
    });
    assert!(commands >= 4 && variables >= 6, "{commands} commands, {variables} variables");
    let services = &document["services"];
    for name in ["server1", "server2", "worker1", "worker2", "migrate", "proxy", "postgres", "valkey"] {
        assert!(services.as_mapping_get(name).is_some(), "{name}");
    }
}

#[test]
fn the_settings_and_commands_of_the_image_exist() {
    let text = read("Containerfile").replace("\\\n", " ");
    let mut instructions = 0;
    for line in text.lines() {
        let (instruction, rest) = line.split_once(' ').unwrap_or_default();
        let list = rest.find('[').map(|start| serde_json::from_str::<Vec<String>>(&rest[start..]).unwrap());
        let list: Vec<&str> = list.iter().flatten().map(String::as_str).collect();
        match instruction {
            "ENV" => {
                let pairs = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
                let pairs: Vec<_> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                assert_settings(&pairs);
                assert_eq!(pairs.len(), 3);
            }
            "CMD" => assert_accepted(&list),
            "HEALTHCHECK" => assert_accepted(&list[1..]),
            "ENTRYPOINT" => assert_eq!(list, ["/usr/bin/creator-api"]),
            _ => continue,
        }
        instructions += 1;
    }
    assert_eq!(instructions, 4);
}
