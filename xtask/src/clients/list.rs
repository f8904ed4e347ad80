//! The clients. Each function generates a client, compiles it and calls all operations.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::toolchain::Tool;
use super::{ClientJob, JobContext, run_quietly};

const NODE: Tool = Tool::System("node", "nodejs");
const JAVA: Tool = Tool::System("java", "default-jre-headless");
const PYTHON: Tool = Tool::Python("python");
const TYPES: Tool = Tool::Node("openapi-typescript");
const TSC: Tool = Tool::Node("tsc");
const ATTRS: Tool = Tool::Python("openapi-python-client");
const GENERATOR: Tool = Tool::Python("openapi-generator-cli");
const CARGO: Tool = Tool::System("cargo", "cargo");
const CURL: Tool = Tool::System("curl", "curl");

/// The clients.
pub const JOBS: &[ClientJob] = &[
    ClientJob {
        name: "openapi-typescript",
        about: "TypeScript types from the contract, compiled with tsc and used with openapi-fetch",
        needs: &[NODE, TYPES, TSC],
        run: typescript,
    },
    ClientJob {
        name: "openapi-python-client",
        about: "a Python package from the contract",
        needs: &[PYTHON, ATTRS],
        run: attrs,
    },
    ClientJob {
        name: "openapi-generator-python",
        about: "a Python package from the 3.0 document",
        needs: &[PYTHON, JAVA, GENERATOR],
        run: pydantic,
    },
    ClientJob {
        name: "openapi-generator-rust",
        about: "a Rust crate from the 3.0 document",
        needs: &[CARGO, JAVA, GENERATOR],
        run: generator,
    },
    ClientJob {
        name: "progenitor",
        about: "a Rust client that progenitor's macro generates from the 3.0 document",
        needs: &[CARGO, CURL],
        run: progenitor,
    },
];

fn typescript(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.folder("typescript")?;
    for file in ["verify.ts", "tsconfig.json", "package.json"] {
        fs::copy(context.source("typescript").join(file), folder.join(file))
            .with_context(|| format!("cannot copy {file}"))?;
    }
    let modules = context.toolchain.node().join("node_modules");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).context("cannot link node_modules")?;
    let url = format!("{}/openapi/v1.json", context.base_url);
    run_quietly(context.program(&TYPES)?.args([&*url, "-o", "v1.d.ts"]).current_dir(&folder))?;
    run_quietly(context.program(&TSC)?.args(["-p", "."]).current_dir(&folder))?;
    print!("{}", run_quietly(context.program(&NODE)?.arg("out/verify.js").current_dir(&folder))?);
    Ok(())
}

fn attrs(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.folder("attrs")?;
    fs::write(folder.join("config.yml"), "package_name_override: contract_client\n")
        .context("cannot write config.yml")?;
    let url = format!("{}/openapi/v1.json", context.base_url);
    let mut generate = context.program(&ATTRS)?;
    generate.args([
        "generate",
        "--meta",
        "none",
        "--output-path",
        "contract_client",
        "--config",
        "config.yml",
        "--url",
    ]);
    run_quietly(generate.arg(url).current_dir(&folder))?;
    let mut verify = context.program(&PYTHON)?;
    verify.arg(context.source("python/attrs_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

fn pydantic(context: &JobContext) -> anyhow::Result<()> {
    let folder = context.folder("pydantic")?;
    let mut generate = context.program(&GENERATOR)?;
    generate.args(["generate", "-g", "python", "--package-name", "generated_client", "-o"]).arg(&folder);
    run_quietly(generate.args(["-i", &json_3_0_url(context)]))?;
    let mut verify = context.program(&PYTHON)?;
    verify.arg(context.source("python/pydantic_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

fn generator(context: &JobContext) -> anyhow::Result<()> {
    let folder = copy_package(context, "generator")?;
    let mut generate = context.program(&GENERATOR)?;
    generate.args(["generate", "-g", "rust", "--library", "reqwest", "--package-name", "generated_client"]);
    generate.args([
        "--additional-properties",
        "useSingleRequestParameter=true",
        "-i",
        &json_3_0_url(context),
        "-o",
    ]);
    run_quietly(generate.arg(folder.join("generated")))?;
    verify(context, &folder)
}

fn progenitor(context: &JobContext) -> anyhow::Result<()> {
    let folder = copy_package(context, "progenitor")?;
    let mut fetch = context.program(&CURL)?;
    fetch.args(["--fail", "--silent", "--show-error", "--noproxy", "*", "--output", "v1.openapi-3.0.json"]);
    run_quietly(fetch.arg(json_3_0_url(context)).current_dir(&folder))?;
    verify(context, &folder)
}

/// Returns the URL of the served 3.0 document.
fn json_3_0_url(context: &JobContext) -> String {
    format!("{}/openapi/v1.openapi-3.0.json", context.base_url)
}

/// Copies a package of `tests/clients/rust` to the folder of the job.
fn copy_package(context: &JobContext, name: &str) -> anyhow::Result<PathBuf> {
    let (folder, source) = (context.folder(name)?, context.source("rust").join(name));
    for file in ["Cargo.toml", "main.rs"] {
        fs::copy(source.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    Ok(folder)
}

/// Compiles and runs a package. Both packages share a target folder for their dependencies.
fn verify(context: &JobContext, folder: &Path) -> anyhow::Result<()> {
    let mut cargo = context.program(&CARGO)?;
    cargo.args(["run", "--quiet", "--bin", "verify"]).current_dir(folder);
    cargo.env("CARGO_TARGET_DIR", context.toolchain.folder.join("cargo"));
    print!("{}", run_quietly(&mut cargo)?);
    Ok(())
}
