//! Sources, precedence and faults, on made-up flags, variables and files.

use std::ffi::OsString;

use super::flags::COMMON;
use super::settings::SETTINGS;
use super::source::ENVIRONMENT_PREFIX;
use super::*;

/// Reads a configuration from these flags, variables and file.
fn read(
    flags: &[(&'static str, &str)],
    variables: &[(&str, &str)],
    file: &str,
) -> Result<(Config, Given), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("creator-api.toml");
    std::fs::write(&path, file).unwrap();
    let mut flags: Vec<(&'static str, String)> =
        flags.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    flags.push(("config", path.display().to_string()));
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Config::read(flags, variables)
        .map_err(|faults| faults.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

fn faults(flags: &[(&'static str, &str)], variables: &[(&str, &str)], file: &str) -> String {
    read(flags, variables, file).expect_err("a fault")
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let file = "listen = \"127.0.0.1:1\"\ndefault_per_minute = 7\ndefault_per_day = 70\n";
    let variables = [("CREATOR_API_LISTEN", "127.0.0.1:2"), ("CREATOR_API_DEFAULT_PER_MINUTE", "8")];
    let (config, given) = read(&[("listen", "127.0.0.1:3")], &variables, file).unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.limits.default_per_minute.get(), 8);
    assert_eq!(config.limits.default_per_day.get(), 70);
    assert_eq!(config.storage.data_dir, std::path::Path::new("./data"));
    let report = given.report();
    let sources: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("listen") || line.starts_with("default_per_minute"))
        .map(|line| line.rsplit_once("# ").unwrap().1)
        .collect();
    assert_eq!(sources, ["--listen", "CREATOR_API_DEFAULT_PER_MINUTE"]);
}

#[test]
fn an_unknown_key_names_the_nearest_known_one() {
    insta::assert_snapshot!(
        faults(&[], &[("CREATOR_API_DATADIR", "x")], "\nlisen = \"127.0.0.1:1\"\n"),
        @r"
    CREATOR_API_DATADIR: there is no such setting; the nearest known one is `CREATOR_API_DATA_DIR`
    creator-api.toml:2: there is no setting `lisen`; the nearest known one is `listen`
    "
    );
}

#[test]
fn a_wrong_type_names_source_key_and_what_is_expected() {
    insta::assert_snapshot!(
        faults(
            &[("log_format", "xml")],
            &[("CREATOR_API_DEFAULT_PER_DAY", "0")],
            "listen = 8080\ntrusted_proxies = [\"10.0.0.0/40\"]\ndefault_per_minute = \"60\"\nlog_filter = \"loud=very\"\n",
        ),
        @r#"
    creator-api.toml:1: `listen` is written as integer; expected a string
    creator-api.toml:3: `default_per_minute` is written as string; expected a whole number without quotes
    --log-format: "xml" is no value for `log_format`; expected pretty or json
    creator-api.toml:4: "loud=very" is no value for `log_filter`; expected off, error, warn, info, debug or trace, or targets with such levels
    creator-api.toml:2: "10.0.0.0/40" is no value for `trusted_proxies`; expected ranges of addresses, such as 10.0.0.0/8 or ::1
    CREATOR_API_DEFAULT_PER_DAY: "0" is no value for `default_per_day`; expected a whole number from 1 to 4294967295
    "#
    );
    insta::assert_snapshot!(faults(&[], &[], "listen = \n"), @"creator-api.toml:1: not TOML: string values must be quoted, expected literal string");
}

#[test]
fn secrets_come_from_files_and_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let key = "0f".repeat(32);
    std::fs::write(&path, format!("{key}\n")).unwrap();
    let variables = [
        ("CREATOR_API_MASTER_KEY_FILE", path.to_str().unwrap()),
        ("DATABASE_URL", "postgres://ada:love@db.example/app?sslmode=require"),
        ("CREATOR_API_SMTP_URL", "smtps://token-love:love@mail.example"),
    ];
    let (config, given) = read(&[], &variables, "").unwrap();
    assert_eq!(config.storage.master_key.as_ref().unwrap().expose(), key);
    assert_eq!(config.database.database_url.as_ref().unwrap().expose(), variables[1].1);
    let report = given.report();
    assert!(report.contains("master_key = \"****\""), "{report}");
    assert!(report.contains("postgres://ada:****@db.example/app?sslmode=require"), "{report}");
    assert!(report.contains("smtp_url = \"smtps://****:****@mail.example:465\""), "{report}");
    assert!(!report.contains("love") && !report.contains(&key), "{report}");
    assert!(!format!("{config:?}").contains("love"));
}

#[test]
fn a_wrong_secret_is_not_repeated() {
    insta::assert_snapshot!(
        faults(
            &[("smtp_url", "smtp://a:b@mail.example"), ("mail_from", "School")],
            &[("CREATOR_API_MASTER_KEY", "hunter2"), ("DATABASE_URL", "mysql://a:b@c/d")],
            "",
        ),
        @r#"
    CREATOR_API_MASTER_KEY: no value for `master_key`; expected 64 hexadecimal digits, such as `openssl rand -hex 32` prints
    DATABASE_URL: no value for `database_url`; expected sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME
    --smtp-url: no value for `smtp_url`; expected smtps://USER:PASSWORD@HOST, smtp+starttls://USER:PASSWORD@HOST, or without encryption smtp://HOST on this machine and smtp://HOST?tls=none elsewhere
    --mail-from: "School" is no value for `mail_from`; expected an address with or without a name, such as School <no-reply@school.example>
    "#
    );
}

#[test]
fn a_value_and_a_file_of_it_contradict_each_other() {
    insta::assert_snapshot!(
        faults(&[], &[("DATABASE_URL", "sqlite:a.db"), ("DATABASE_URL_FILE", "/nowhere")], ""),
        @"DATABASE_URL_FILE: `database_url` is given by DATABASE_URL too; keep one of them"
    );
}

#[test]
fn every_default_is_a_value_of_its_setting() {
    assert_eq!(Config::defaults().limits.default_per_day.get(), 1000);
}

#[test]
fn an_empty_variable_is_as_good_as_none() {
    let (config, _) = read(&[], &[("CREATOR_API_LISTEN", "")], "").unwrap();
    assert_eq!(config.server.listen.port(), 8080);
}

#[test]
fn a_sunset_less_than_six_months_after_the_deprecation_is_refused() {
    let file = |sunset: &str| format!("deprecation_at = 2027-01-31T00:00:00Z\nsunset_at = {sunset}\n");
    assert!(read(&[], &[], &file("2027-07-31T00:00:00Z")).is_ok());
    insta::assert_snapshot!(
        faults(&[], &[], &file("2027-07-30T23:59:59Z")),
        @"creator-api.toml:2: `sunset_at` is 2027-07-30T23:59:59Z, less than 6 months after `deprecation_at` (2027-01-31T00:00:00Z); set 2027-07-31T00:00:00Z or later"
    );
    insta::assert_snapshot!(
        faults(&[], &[("CREATOR_API_SUNSET_AT", "2027-07-31T00:00:00Z")], ""),
        @"CREATOR_API_SUNSET_AT: `sunset_at` needs `deprecation_at`; set both or neither"
    );
}

#[test]
fn a_list_comes_with_commas_or_as_an_array() {
    let file = "webhook_allow = [\"127.0.0.0/8\", \"::1\"]\n";
    for (flags, file) in [(&[("webhook_allow", "127.0.0.0/8, ::1")][..], ""), (&[], file)] {
        let (config, given) = read(flags, &[], file).unwrap();
        assert_eq!(config.webhooks.webhook_allow.len(), 2);
        assert!(
            given.report().contains(r#"webhook_allow = ["127.0.0.0/8", "::1/128"]"#),
            "{}",
            given.report()
        );
    }
    assert!(Config::defaults().webhooks.webhook_allow.is_empty());
    insta::assert_snapshot!(
        faults(&[], &[("CREATOR_API_WEBHOOK_ALLOW", "localhost")], ""),
        @r#"CREATOR_API_WEBHOOK_ALLOW: "localhost" is no value for `webhook_allow`; expected ranges of addresses, such as 10.0.0.0/8 or ::1"#
    );
}

#[test]
fn every_setting_is_named_in_one_manner() {
    for setting in SETTINGS {
        let manner = format!("{ENVIRONMENT_PREFIX}{}", setting.key.to_uppercase());
        let expected = if setting.key == "database_url" { "DATABASE_URL".to_owned() } else { manner };
        assert_eq!(setting.variable, expected);
    }
}

#[test]
fn every_group_of_flags_names_settings_that_exist() {
    for name in [COMMON, SERVING, WEBHOOKS, LINKS, SENDING].concat() {
        assert!(SETTINGS.iter().any(|setting| setting.heading == name || setting.key == name), "{name}");
    }
}

#[test]
fn the_readme_lists_every_setting() {
    let mut table = String::from("| flag | variable | default | meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let flag = if setting.hidden { setting.file.unwrap().0 } else { setting.key }.replace('_', "-");
        let default = setting.default.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"));
        let (variable, meaning) = (setting.variable, setting.help);
        table.push_str(&format!("| `--{flag}` | `{variable}` | {default} | {meaning} |\n"));
    }
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&table), "the table in README.md is not this one:\n{table}");
}
