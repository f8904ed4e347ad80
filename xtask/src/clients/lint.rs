//! Runs third-party linters on the contracts. Every error and every warning is a failure. A disabled rule needs a
//! reason, which is listed here.

use std::fs;

use anyhow::{Context, bail};
use codegen::SERVED;

use super::toolchain::Tool;
use super::{ClientJob, JobContext, run_quietly};

const REDOCLY: Tool = Tool::Node("redocly");
const SPECTRAL: Tool = Tool::Node("spectral");
const OPENAPI_SPEC_VALIDATOR: Tool = Tool::Python("openapi-spec-validator");

/// The linters.
pub const JOBS: &[ClientJob] = &[
    ClientJob {
        name: "redocly",
        description: "checks the contracts with the recommended rules",
        tools: &[REDOCLY],
        run: redocly,
    },
    ClientJob {
        name: "spectral",
        description: "checks the contracts with the rules `spectral:oas`",
        tools: &[SPECTRAL],
        run: spectral,
    },
    ClientJob {
        name: "openapi-spec-validator",
        description: "validates the contracts against the schema of OpenAPI 3.1, and the converted documents against 3.0",
        tools: &[OPENAPI_SPEC_VALIDATOR],
        run: openapi_spec_validator,
    },
];

/// Disabled rules of spectral, with the reason.
const DISABLED_RULES: &[(&str, &str)] = &[(
    "oas3-operation-security-defined",
    "it expects every scope in an OAuth scheme; since 3.1 any security scheme can have roles, and these scopes are roles",
)];

fn redocly(context: &JobContext) -> anyhow::Result<()> {
    for config in SERVED {
        let contract = context.workspace.join(config.contract);
        let mut lint = context.program(&REDOCLY)?;
        let output = run_quietly(lint.args(["lint", "--format", "summary"]).arg(contract))?;
        if !is_clean(&output) {
            bail!("{output}");
        }
    }
    println!("no errors, no warnings");
    Ok(())
}

/// Returns whether redocly found no errors or warnings in the contract. It reports a contract with warnings as valid,
/// followed by their number. Warnings about Node.js or redocly itself are ignored.
fn is_clean(output: &str) -> bool {
    let output = output.to_lowercase();
    let reports_warnings = |line: &str| line.contains("you have") && line.contains("warning");
    output.contains("is valid") && !output.lines().any(reports_warnings)
}

fn spectral(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.folder("spectral")?;
    let disabled: String =
        DISABLED_RULES.iter().map(|(rule, reason)| format!("  # {reason}\n  {rule}: off\n")).collect();
    let rules = folder.join("rules.yaml");
    fs::write(&rules, format!("extends: ['spectral:oas']\nrules:\n{disabled}"))
        .context("cannot write the rules")?;
    let mut lint = context.program(&SPECTRAL)?;
    lint.args(["lint", "--fail-severity", "warn", "--ruleset"])
        .arg(rules)
        .args(SERVED.map(|config| context.workspace.join(config.contract)));
    run_quietly(&mut lint)?;
    println!("no errors, no warnings except for disabled rules:");
    DISABLED_RULES.iter().for_each(|(rule, reason)| println!("  {rule}: {reason}"));
    Ok(())
}

fn openapi_spec_validator(context: &JobContext) -> anyhow::Result<()> {
    for config in SERVED {
        let json_3_0 = format!("{}/{}.openapi-3.0.json", config.output, config.name);
        let for_clients = ["clients.json", "clients.openapi-3.0.json"]
            .map(|name| format!("{}/{}.{name}", config.output, config.name));
        let files = [config.contract, &json_3_0, &for_clients[0], &for_clients[1]];
        for file in files.into_iter().filter(|file| context.workspace.join(file).exists()) {
            run_quietly(context.program(&OPENAPI_SPEC_VALIDATOR)?.arg(context.workspace.join(file)))?;
            println!("{file}: valid");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "validating openapi/v1.yaml...\nopenapi/v1.yaml: validated in 81ms\n\n\
                         Woohoo! Your API description is valid. 🎉\n";

    #[test]
    fn a_contract_with_warnings_is_not_clean_though_redocly_calls_it_valid() {
        assert!(is_clean(VALID));
        assert!(is_clean(&format!("║  Deprecation warning: Node.js 20 support is ending  ║\n{VALID}")));
        assert!(!is_clean(&format!("warning info-license: 1\n\n{VALID}You have 1 warning.\n")));
        assert!(!is_clean(&format!("{VALID}You have 12 warnings.\n1 problem is explicitly ignored.\n")));
        assert!(!is_clean("validating openapi/v1.yaml...\n"), "a report without a result is not clean");
    }
}
