//! Other people's linters over the contract: no errors, and no warning that is not explained here.

use std::fs;

use anyhow::{Context, bail};
use codegen::V1;

use super::kit::Tool;
use super::{Ground, Job, run_quietly};

const REDOCLY: Tool = Tool::Node("redocly");
const SPECTRAL: Tool = Tool::Node("spectral");
const VALIDATOR: Tool = Tool::Python("openapi-spec-validator");

/// The linters.
pub const JOBS: &[Job] = &[
    Job {
        name: "redocly",
        about: "its recommended rules over the contract",
        needs: &[REDOCLY],
        run: redocly,
    },
    Job { name: "spectral", about: "`spectral:oas` over the contract", needs: &[SPECTRAL], run: spectral },
    Job {
        name: "openapi-spec-validator",
        about: "the contract by the schema of OpenAPI 3.1, and its twin by that of 3.0",
        needs: &[VALIDATOR],
        run: validator,
    },
];

/// Rules of spectral that are off, and why.
const EXPLAINED: &[(&str, &str)] = &[(
    "oas3-operation-security-defined",
    "it wants every scope among those of an OAuth scheme; since 3.1 keys of any scheme may have roles, which these are",
)];

fn redocly(ground: &Ground) -> anyhow::Result<()> {
    let contract = ground.workspace.join(V1.contract);
    let told = run_quietly(ground.program(&REDOCLY)?.args(["lint", "--format", "summary"]).arg(contract))?;
    if !is_clean(&told) {
        bail!("{told}");
    }
    println!("no errors, no warnings");
    Ok(())
}

/// Whether redocly found nothing at all. It calls a contract with warnings valid too, and says below how many there are;
/// what it says of its Node and of itself counts for nothing.
fn is_clean(told: &str) -> bool {
    let told = told.to_lowercase();
    let counted = |line: &str| line.contains("you have") && line.contains("warning");
    told.contains("is valid") && !told.lines().any(counted)
}

fn spectral(ground: &Ground) -> anyhow::Result<()> {
    let folder = ground.folder("spectral")?;
    let off: String = EXPLAINED.iter().map(|(rule, why)| format!("  # {why}\n  {rule}: off\n")).collect();
    let rules = folder.join("rules.yaml");
    fs::write(&rules, format!("extends: ['spectral:oas']\nrules:\n{off}"))
        .context("cannot write the rules")?;
    let mut lint = ground.program(&SPECTRAL)?;
    lint.args(["lint", "--fail-severity", "warn", "--ruleset"])
        .arg(rules)
        .arg(ground.workspace.join(V1.contract));
    run_quietly(&mut lint)?;
    println!("no errors, no warnings but those explained:");
    EXPLAINED.iter().for_each(|(rule, why)| println!("  {rule}: {why}"));
    Ok(())
}

fn validator(ground: &Ground) -> anyhow::Result<()> {
    let twin = format!("{}/{}.openapi-3.0.json", V1.output, V1.stem);
    for file in [V1.contract, &twin] {
        run_quietly(ground.program(&VALIDATOR)?.arg(ground.workspace.join(file)))?;
        println!("{file}: sound");
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
        assert!(!is_clean("validating openapi/v1.yaml...\n"), "it must say what it found");
    }
}
