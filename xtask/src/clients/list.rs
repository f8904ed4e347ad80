//! The clients, one function each: generate, compile, perform all operations.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::kit::Tool;
use super::{Ground, Job, run_quietly};

const NODE: Tool = Tool::Machine("node", "nodejs");
const JAVA: Tool = Tool::Machine("java", "default-jre-headless");
const PYTHON: Tool = Tool::Python("python");
const TYPES: Tool = Tool::Node("openapi-typescript");
const TSC: Tool = Tool::Node("tsc");
const ATTRS: Tool = Tool::Python("openapi-python-client");
const GENERATOR: Tool = Tool::Python("openapi-generator-cli");
const CARGO: Tool = Tool::Machine("cargo", "cargo");
const CURL: Tool = Tool::Machine("curl", "curl");

/// The clients.
pub const JOBS: &[Job] = &[
    Job {
        name: "openapi-typescript",
        about: "types for TypeScript from the contract, compiled with tsc, called through openapi-fetch",
        needs: &[NODE, TYPES, TSC],
        run: typescript,
    },
    Job {
        name: "openapi-python-client",
        about: "a package for Python from the contract",
        needs: &[PYTHON, ATTRS],
        run: attrs,
    },
    Job {
        name: "openapi-generator-python",
        about: "a package for Python from the 3.0 twin",
        needs: &[PYTHON, JAVA, GENERATOR],
        run: pydantic,
    },
    Job {
        name: "openapi-generator-rust",
        about: "a crate for Rust from the 3.0 twin",
        needs: &[CARGO, JAVA, GENERATOR],
        run: generator,
    },
    Job {
        name: "progenitor",
        about: "a client for Rust that progenitor's macro makes of the 3.0 twin",
        needs: &[CARGO, CURL],
        run: progenitor,
    },
];

fn typescript(ground: &Ground) -> anyhow::Result<()> {
    let folder = ground.folder("typescript")?;
    for file in ["verify.ts", "tsconfig.json", "package.json"] {
        fs::copy(ground.source("typescript").join(file), folder.join(file))
            .with_context(|| format!("cannot copy {file}"))?;
    }
    let modules = ground.kit.node().join("node_modules");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).context("cannot link node_modules")?;
    let served = format!("{}/openapi/v1.json", ground.base_url);
    run_quietly(ground.program(&TYPES)?.args([&*served, "-o", "v1.d.ts"]).current_dir(&folder))?;
    run_quietly(ground.program(&TSC)?.args(["-p", "."]).current_dir(&folder))?;
    print!("{}", run_quietly(ground.program(&NODE)?.arg("out/verify.js").current_dir(&folder))?);
    Ok(())
}

fn attrs(ground: &Ground) -> anyhow::Result<()> {
    let folder = ground.folder("attrs")?;
    fs::write(folder.join("config.yml"), "package_name_override: contract_client\n")
        .context("cannot write config.yml")?;
    let served = format!("{}/openapi/v1.json", ground.base_url);
    let mut generate = ground.program(&ATTRS)?;
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
    run_quietly(generate.arg(served).current_dir(&folder))?;
    let mut verify = ground.program(&PYTHON)?;
    verify.arg(ground.source("python/attrs_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

fn pydantic(ground: &Ground) -> anyhow::Result<()> {
    let folder = ground.folder("pydantic")?;
    let mut generate = ground.program(&GENERATOR)?;
    generate.args(["generate", "-g", "python", "--package-name", "generated_client", "-o"]).arg(&folder);
    run_quietly(generate.args(["-i", &twin(ground)]))?;
    let mut verify = ground.program(&PYTHON)?;
    verify.arg(ground.source("python/pydantic_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}

fn generator(ground: &Ground) -> anyhow::Result<()> {
    let folder = copied(ground, "generator")?;
    let mut generate = ground.program(&GENERATOR)?;
    generate.args(["generate", "-g", "rust", "--library", "reqwest", "--package-name", "generated_client"]);
    generate.args(["--additional-properties", "useSingleRequestParameter=true", "-i", &twin(ground), "-o"]);
    run_quietly(generate.arg(folder.join("generated")))?;
    verify(ground, &folder)
}

fn progenitor(ground: &Ground) -> anyhow::Result<()> {
    let folder = copied(ground, "progenitor")?;
    let mut fetch = ground.program(&CURL)?;
    fetch.args(["--fail", "--silent", "--show-error", "--noproxy", "*", "--output", "v1.openapi-3.0.json"]);
    run_quietly(fetch.arg(twin(ground)).current_dir(&folder))?;
    verify(ground, &folder)
}

/// The address of the served twin.
fn twin(ground: &Ground) -> String {
    format!("{}/openapi/v1.openapi-3.0.json", ground.base_url)
}

/// A package of `tests/clients/rust`, in a folder of its own.
fn copied(ground: &Ground, name: &str) -> anyhow::Result<PathBuf> {
    let (folder, source) = (ground.folder(name)?, ground.source("rust").join(name));
    for file in ["Cargo.toml", "main.rs"] {
        fs::copy(source.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    Ok(folder)
}

/// Compiles a package and runs it. Both packages share what they are made of.
fn verify(ground: &Ground, folder: &Path) -> anyhow::Result<()> {
    let mut cargo = ground.program(&CARGO)?;
    cargo.args(["run", "--quiet", "--bin", "verify"]).current_dir(folder);
    cargo.env("CARGO_TARGET_DIR", ground.kit.folder.join("cargo"));
    print!("{}", run_quietly(&mut cargo)?);
    Ok(())
}
