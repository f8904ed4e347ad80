//! `cargo xtask release-contract`: moves the released contract forward.
//!
//! It refuses while the gate is red. Waivers are spent with the release that they let pass.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::files::Files;
use super::{Format, Verdict, base, document, refusal, report};

/// Copies the contract over the released one, when nothing breaks.
///
/// # Errors
/// When the contract cannot be read or compared, a waiver is stale, or the copy cannot be written.
pub fn run(workspace: &Path) -> Result<Verdict> {
    let revision = contract::open(workspace, base::CONTRACT)?;
    let text = revision.text.clone();
    let released = workspace.join(base::RELEASED);
    if released.exists() {
        // A release is what the waivers were written for: those in the working tree count.
        let waivers = base::waivers_beside(base::RELEASED).display().to_string();
        let waivers = Some(waivers.as_str()).filter(|name| workspace.join(name).exists());
        let files = Files::new(workspace, workspace);
        let side = base::read(&files, base::RELEASED, base::CONTRACT, waivers)?;
        let compared = super::judge(side, revision, super::today())?;
        let verdict = super::verdict(&compared);
        if !matches!(verdict, Ok(Verdict::Compatible)) {
            print!("{}", report::gate(&compared, Format::Text));
        }
        if verdict.with_context(|| format!("{} stays as it was", base::RELEASED))? == Verdict::Breaking {
            println!("{} stays as it was: clients of the released contract would break", base::RELEASED);
            return Ok(Verdict::Breaking);
        }
    } else {
        document::read(revision).map_err(|refused| refusal(&refused))?;
    }
    if let Some(folder) = released.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(&released, text).with_context(|| format!("cannot write {}", base::RELEASED))?;
    let waivers = workspace.join(base::waivers_beside(base::RELEASED));
    if waivers.exists() {
        fs::remove_file(&waivers).with_context(|| format!("cannot remove {}", waivers.display()))?;
        println!("the waivers are spent: {} is removed", base::waivers_beside(base::RELEASED).display());
    }
    println!("{} is {} now", base::RELEASED, base::CONTRACT);
    Ok(Verdict::Compatible)
}
