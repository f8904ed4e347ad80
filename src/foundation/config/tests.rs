//! Tests of sources, precedence and error messages.

use std::ffi::OsString;

use super::flags::COMMON_SETTINGS;
use super::settings::SETTINGS;
use super::source::ENVIRONMENT_PREFIX;
use super::*;

/// Reads a configuration from these flags, variables and file.
fn read(
    flags: &[(&'static str, &str)],
    variables: &[(&str, &str)],
    file: &str,
) -> Result<(Config, RawSettings), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("creator-api.toml");
    std::fs::write(&path, file).unwrap();
    let mut flags: Vec<(&'static str, String)> =
        flags.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    flags.push(("config", path.display().to_string()));
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Config::read(flags, variables)
        .map_err(|errors| errors.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

fn errors(flags: &[(&'static str, &str)], variables: &[(&str, &str)], file: &str) -> String {
    read(flags, variables, file).expect_err("the configuration is invalid")
}

#[test]
fn flags_take_precedence_over_variables_the_file_and_the_defaults() {
    let file = "listen = \"127.0.0.1:1\"\ndefault_per_minute = 7\ndefault_per_day = 70\n";
    let variables = [("CREATOR_API_LISTEN", "127.0.0.1:2"), ("CREATOR_API_DEFAULT_PER_MINUTE", "8")];
    let (config, settings) = read(&[("listen", "127.0.0.1:3")], &variables, file).unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.limits.default_per_minute.get(), 8);
    assert_eq!(config.limits.default_per_day.get(), 70);
    assert_eq!(config.storage.data_dir, std::path::Path::new("./data"));
    let report = settings.report();
    let sources: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("listen") || line.starts_with("default_per_minute"))
        .map(|line| line.rsplit_once("# ").unwrap().1)
        .collect();
    assert_eq!(sources, ["--listen", "CREATOR_API_DEFAULT_PER_MINUTE"]);
}

#[test]
fn secrets_are_read_from_systemd_credentials_unless_a_flag_or_variable_sets_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("creator-api.database_url"), "sqlite:credential.db\n").unwrap();
    std::fs::write(folder.path().join("creator-api.listen"), "127.0.0.1:9").unwrap();
    let directory = ("CREDENTIALS_DIRECTORY", folder.path().to_str().unwrap());
    let file = "database_url = \"sqlite:file.db\"\n";
    let url = |variables: &[(&str, &str)]| {
        let (config, _) = read(&[], variables, file).unwrap();
        assert_eq!(config.server.listen.port(), 8080, "only secrets are read from credentials");
        config.database.database_url.unwrap().expose().to_owned()
    };
    assert_eq!(url(&[directory]), "sqlite:credential.db");
    assert_eq!(url(&[directory, ("DATABASE_URL", "sqlite:variable.db")]), "sqlite:variable.db");
    assert_eq!(url(&[("CREDENTIALS_DIRECTORY", "")]), "sqlite:file.db");

    std::fs::write(folder.path().join("creator-api.master_key"), "short").unwrap();
    let error = errors(&[], &[directory], "");
    assert!(error.contains("creator-api.master_key (from CREDENTIALS_DIRECTORY): invalid value"), "{error}");
}

#[test]
fn an_unknown_name_is_reported_with_a_suggestion() {
    insta::assert_snapshot!(
        errors(&[], &[("CREATOR_API_DATADIR", "x")], "\nlisen = \"127.0.0.1:1\"\n"),
        @r"
    CREATOR_API_DATADIR: unknown variable; did you mean `CREATOR_API_DATA_DIR`?
    creator-api.toml:2: unknown setting `lisen`; did you mean `listen`?
    "
    );
}

#[test]
fn an_invalid_value_is_reported_with_its_source_its_key_and_what_is_expected() {
    insta::assert_snapshot!(
        errors(
            &[("log_format", "xml")],
            &[("CREATOR_API_DEFAULT_PER_DAY", "0")],
            "listen = 8080\ntrusted_proxies = [\"10.0.0.0/40\"]\ndefault_per_minute = \"60\"\nlog_filter = \"loud=very\"\n",
        ),
        @r#"
    creator-api.toml:1: `listen`: expected a string, got an integer
    creator-api.toml:3: `default_per_minute`: expected a decimal integer, got a string
    --log-format: invalid value "xml" for `log_format`; expected pretty or json
    creator-api.toml:4: invalid value "loud=very" for `log_filter`; expected off, error, warn, info, debug or trace, or comma-separated targets with levels
    creator-api.toml:2: invalid value "10.0.0.0/40" for `trusted_proxies`; expected IP addresses or networks, such as 10.0.0.0/8 or ::1
    CREATOR_API_DEFAULT_PER_DAY: invalid value "0" for `default_per_day`; expected an integer from 1 to 4294967295
    "#
    );
    insta::assert_snapshot!(errors(&[], &[], "listen = \n"), @"creator-api.toml:1: invalid TOML: string values must be quoted, expected literal string");
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
    let (config, settings) = read(&[], &variables, "").unwrap();
    assert_eq!(config.storage.master_key.as_ref().unwrap().expose(), key);
    assert_eq!(config.database.database_url.as_ref().unwrap().expose(), variables[1].1);
    let report = settings.report();
    assert!(report.contains("master_key = \"****\""), "{report}");
    assert!(report.contains("postgres://ada:****@db.example/app?sslmode=require"), "{report}");
    assert!(report.contains("smtp_url = \"smtps://****:****@mail.example:465\""), "{report}");
    assert!(!report.contains("love") && !report.contains(&key), "{report}");
    assert!(!format!("{config:?}").contains("love"));
}

#[test]
fn an_invalid_secret_is_not_shown() {
    insta::assert_snapshot!(
        errors(
            &[("smtp_url", "smtp://a:b@mail.example"), ("mail_from", "School")],
            &[("CREATOR_API_MASTER_KEY", "hunter2"), ("DATABASE_URL", "mysql://a:b@c/d")],
            "",
        ),
        @r#"
    CREATOR_API_MASTER_KEY: invalid value for `master_key`; expected 64 hexadecimal digits, such as the output of `openssl rand -hex 32`, or several different keys, separated by commas or line breaks
    DATABASE_URL: invalid value for `database_url`; expected sqlite:PATH, postgres://USER:PASSWORD@HOST/NAME, or several hosts as in postgres://USER@HOST1:5432,HOST2:5432/NAME
    --smtp-url: invalid value for `smtp_url`; expected smtps://USER:PASSWORD@HOST, smtp+starttls://USER:PASSWORD@HOST, or without encryption smtp://HOST for this machine and smtp://HOST?tls=none for others
    --mail-from: invalid value "School" for `mail_from`; expected an ASCII email address with an optional name, such as School <no-reply@school.example>
    "#
    );
}

#[test]
fn database_urls_are_masked_and_their_errors_name_the_reason() {
    let variables = [
        ("DATABASE_URL", "postgres://ada:love@db1:5433,[::1]/app?sslmode=require"),
        ("CREATOR_API_DATABASE_READ_URL", "postgres://ada:love@db2/app"),
    ];
    let (_, settings) = read(&[], &variables, "").unwrap();
    let report = settings.report();
    assert!(report.contains("postgres://ada:****@db1:5433,[::1]/app?sslmode=require"), "{report}");
    assert!(report.contains("postgres://ada:****@db2/app") && !report.contains("love"), "{report}");
    let list = "postgres://ada:love@db1,db2/app";
    insta::assert_snapshot!(
        errors(&[("database_read_url", list)], &[("DATABASE_URL", "postgres://ada:love@db1,/app")], ""),
        @r"
    DATABASE_URL: invalid value for `database_url`: the URL lists a host without a name before, after or between commas; expected sqlite:PATH, postgres://USER:PASSWORD@HOST/NAME, or several hosts as in postgres://USER@HOST1:5432,HOST2:5432/NAME
    --database-read-url: invalid value for `database_read_url`: the URL lists several hosts, but only one standby can be used; expected postgres://USER:PASSWORD@HOST/NAME
    "
    );
    let standby = [("CREATOR_API_DATABASE_READ_URL", "postgres://ada:love@db1/app")];
    insta::assert_snapshot!(
        errors(&[("database_url", "sqlite:a.db")], &standby, ""),
        @"CREATOR_API_DATABASE_READ_URL: `database_read_url` requires a PostgreSQL server in `database_url`, since SQLite has no standby; remove it, or set `database_url` to the URL of the primary"
    );
}

#[test]
fn a_value_and_a_file_with_it_conflict() {
    insta::assert_snapshot!(
        errors(&[], &[("DATABASE_URL", "sqlite:a.db"), ("DATABASE_URL_FILE", "/nowhere")], ""),
        @"DATABASE_URL_FILE: `database_url` is also set by DATABASE_URL; remove one of them"
    );
}

#[test]
fn every_default_is_valid() {
    assert_eq!(Config::defaults().limits.default_per_day.get(), 1000);
}

#[test]
fn an_empty_variable_is_ignored() {
    let (config, _) = read(&[], &[("CREATOR_API_LISTEN", "")], "").unwrap();
    assert_eq!(config.server.listen.port(), 8080);
}

#[test]
fn a_sunset_less_than_six_months_after_the_deprecation_is_rejected() {
    let file = |sunset: &str| format!("deprecation_at = 2027-01-31T00:00:00Z\nsunset_at = {sunset}\n");
    assert!(read(&[], &[], &file("2027-07-31T00:00:00Z")).is_ok());
    insta::assert_snapshot!(
        errors(&[], &[], &file("2027-07-30T23:59:59Z")),
        @"creator-api.toml:2: `sunset_at` is 2027-07-30T23:59:59Z, less than 6 months after `deprecation_at` (2027-01-31T00:00:00Z); set 2027-07-31T00:00:00Z or later"
    );
    insta::assert_snapshot!(
        errors(&[], &[("CREATOR_API_SUNSET_AT", "2027-07-31T00:00:00Z")], ""),
        @"CREATOR_API_SUNSET_AT: `sunset_at` requires `deprecation_at`; set both or neither"
    );
}

#[test]
fn a_provider_needs_an_id_and_a_url_to_come_back_to() {
    let issuer = ("oidc_issuer", "https://accounts.example.com");
    assert!(read(&[issuer, ("oidc_client_id", "dashboard")], &[], "").is_ok());
    insta::assert_snapshot!(
        errors(&[issuer, ("listen", "0.0.0.0:80")], &[("CREATOR_API_PASSWORD_SIGN_IN", "off")], ""),
        @r"
    --oidc-issuer: `oidc_issuer` requires `oidc_client_id`; set `oidc_client_id`, or remove `oidc_issuer`
    --oidc-issuer: `oidc_issuer` requires `public_url`, to which the provider sends the browser back; set it to the URL of this server
    "
    );
    insta::assert_snapshot!(
        errors(&[], &[("CREATOR_API_PASSWORD_SIGN_IN", "off")], ""),
        @"CREATOR_API_PASSWORD_SIGN_IN: without passwords, `oidc_issuer` is required, since nobody could sign in; set it, or set `password_sign_in` to on"
    );
    let file =
        "oidc_name = \"School\"\noidc_email_domains = [\"a.example\"]\noidc_allow = [\"10.0.0.0/8\"]\n";
    insta::assert_snapshot!(
        errors(&[], &[], file),
        @r"
    creator-api.toml:1: `oidc_name` requires `oidc_issuer`; set `oidc_issuer`, or remove `oidc_name`
    creator-api.toml:2: `oidc_email_domains` requires `oidc_issuer`; set `oidc_issuer`, or remove `oidc_email_domains`
    creator-api.toml:3: `oidc_allow` requires `oidc_issuer`; set `oidc_issuer`, or remove `oidc_allow`
    "
    );
}

#[test]
fn an_issuer_that_cannot_work_is_rejected_with_the_reason() {
    let rejected = |issuer| errors(&[("oidc_issuer", issuer), ("oidc_client_id", "dashboard")], &[], "");
    insta::assert_snapshot!(
        rejected("http://accounts.example.com"),
        @r#"--oidc-issuer: invalid value "http://accounts.example.com" for `oidc_issuer`: a provider on another machine must be reached over https; expected the issuer URL of an OpenID Connect provider, such as https://accounts.example.com, without a query"#
    );
    insta::assert_snapshot!(
        rejected("https://accounts.example.com/.well-known/openid-configuration"),
        @r#"--oidc-issuer: invalid value "https://accounts.example.com/.well-known/openid-configuration" for `oidc_issuer`: this is the URL of the metadata of the issuer; remove /.well-known/openid-configuration; expected the issuer URL of an OpenID Connect provider, such as https://accounts.example.com, without a query"#
    );
}

#[test]
fn a_list_is_written_with_commas_or_as_an_array() {
    let file = "webhook_allow = [\"127.0.0.0/8\", \"::1\"]\n";
    for (flags, file) in [(&[("webhook_allow", "127.0.0.0/8, ::1")][..], ""), (&[], file)] {
        let (config, settings) = read(flags, &[], file).unwrap();
        assert_eq!(config.webhooks.webhook_allow.len(), 2);
        assert!(
            settings.report().contains(r#"webhook_allow = ["127.0.0.0/8", "::1/128"]"#),
            "{}",
            settings.report()
        );
    }
    assert!(Config::defaults().webhooks.webhook_allow.is_empty());
    insta::assert_snapshot!(
        errors(&[], &[("CREATOR_API_WEBHOOK_ALLOW", "localhost")], ""),
        @r#"CREATOR_API_WEBHOOK_ALLOW: invalid value "localhost" for `webhook_allow`; expected IP addresses or networks, such as 10.0.0.0/8 or ::1"#
    );
}

#[test]
fn every_variable_is_named_after_its_key() {
    for setting in SETTINGS {
        let prefixed = format!("{ENVIRONMENT_PREFIX}{}", setting.key.to_uppercase());
        let expected = if setting.key == "database_url" { "DATABASE_URL".to_owned() } else { prefixed };
        assert_eq!(setting.variable, expected);
    }
}

#[test]
fn every_group_of_flags_contains_existing_settings() {
    let groups = [COMMON_SETTINGS, SERVER_SETTINGS, ENDPOINT_SETTINGS, LINK_SETTINGS, WORKER_SETTINGS];
    for name in groups.concat() {
        assert!(SETTINGS.iter().any(|setting| setting.heading == name || setting.key == name), "{name}");
    }
}

#[test]
fn the_readme_lists_every_setting() {
    let mut table = String::from("| flag | variable | default | meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let flag = if setting.has_flag { setting.key } else { setting.file.unwrap().0 }.replace('_', "-");
        let default = setting.default.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"));
        let (variable, meaning) = (setting.variable, setting.help);
        let note = if setting.has_flag { "" } else { " The flag specifies a file that contains it." };
        table.push_str(&format!("| `--{flag}` | `{variable}` | {default} | {meaning}{note} |\n"));
    }
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&table), "README.md does not contain this table:\n{table}");
}

#[test]
fn the_configuration_file_of_the_package_names_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/dist/debian/creator-api.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let uncommented: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix('#').filter(|setting| !setting.starts_with(' ')).unwrap_or(line))
        .collect();
    read(&[], &[], &text).unwrap();
    read(&[], &[], &uncommented.join("\n")).unwrap();
    for setting in SETTINGS {
        let key = format!("{} = ", setting.key);
        let credential = format!("creator-api.{}", setting.key);
        let is_named = uncommented.iter().any(|line| line.starts_with(&key)) || text.contains(&credential);
        // The key is created in the data folder.
        assert!(is_named || setting.key == "master_key", "{} is missing", setting.key);
    }
}
