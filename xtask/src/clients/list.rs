//! The clients, one function each: generate, compile, perform all operations.

use std::fs;

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
    let served = format!("{}/openapi/v1.openapi-3.0.json", ground.base_url);
    let mut generate = ground.program(&GENERATOR)?;
    generate.args(["generate", "-g", "python", "--package-name", "generated_client", "-o"]).arg(&folder);
    run_quietly(generate.args(["-i", &served]))?;
    let mut verify = ground.program(&PYTHON)?;
    verify.arg(ground.source("python/pydantic_client.py")).env("PYTHONPATH", &folder);
    print!("{}", run_quietly(&mut verify)?);
    Ok(())
}
