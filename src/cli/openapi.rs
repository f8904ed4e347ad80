//! `creator-api openapi`: prints an OpenAPI contract.

use std::io::{self, Write};

use super::outcome::{CommandError, CommandOutcome};
use api::{developer, generated, platform};

#[derive(Debug, clap::Args)]
pub(super) struct OpenapiArgs {
    /// The API: `v1` and `developer-v1` for integrators, `platform-v1` for the platform
    #[arg(long, value_enum, default_value_t = ApiName::V1)]
    api: ApiName,
    /// Format of the document; json-3.0 is OpenAPI 3.0, for tools that do not support 3.1. clients-json and
    /// clients-json-3.0 are for client generators: extensible enums of responses and events are strings
    #[arg(long, value_enum, default_value_t = DocumentFormat::Yaml)]
    format: DocumentFormat,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ApiName {
    V1,
    DeveloperV1,
    PlatformV1,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DocumentFormat {
    Yaml,
    Json,
    #[value(name = "json-3.0")]
    Json30,
    ClientsJson,
    #[value(name = "clients-json-3.0")]
    ClientsJson30,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<CommandOutcome, CommandError> {
    let contract = match args.api {
        ApiName::V1 => &generated::operations::CONTRACT,
        ApiName::DeveloperV1 => &developer::generated::operations::CONTRACT,
        ApiName::PlatformV1 => &platform::generated::operations::CONTRACT,
    };
    let text = match args.format {
        DocumentFormat::Yaml => contract.yaml,
        DocumentFormat::Json => contract.json,
        DocumentFormat::Json30 => contract.json_3_0,
        DocumentFormat::ClientsJson => contract.clients_json,
        DocumentFormat::ClientsJson30 => contract.clients_json_3_0,
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(CommandOutcome::Done)
}
