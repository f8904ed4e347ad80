//! Prints the changes of one file for `git diff`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::ArgAction;
use contract::plain_text::plain_text;

use super::settings::ConfigArgs;
use crate::base::BaseInput;
use crate::inputs::Input;
use crate::report::{self, ComparisonResult};
use crate::{ReportFormat, compare_documents, today};

/// The arguments that git passes to an external diff command: those of both versions of a file. git creates temporary
/// files for versions that are not in the working tree.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct GitDiffArgs {
    /// The path of the file in the repository, then a file, the blob and the mode of its old version, then those of the
    /// new version. git adds further arguments for a renamed file, and passes only the path of an unmerged one
    // The name of a file can begin with a hyphen.
    #[arg(required = true, num_args = 1.., allow_hyphen_values = true, value_names = ["PATH", "OLD-FILE", "OLD-HEX", "OLD-MODE", "NEW-FILE", "NEW-HEX", "NEW-MODE", "NEW-PATH", "RENAME"])]
    arguments: Vec<OsString>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// The file that git specifies for a version that does not exist.
const NO_FILE: &str = "/dev/null";
/// The mode of a symbolic link.
const SYMBOLIC_LINK: &str = "120000";

/// Returns the changes, or the reason why the versions cannot be compared. That is not an error, because git would stop
/// at it and show no other file.
pub(super) fn render(directory: &Path, args: &GitDiffArgs) -> String {
    let arguments: Vec<_> = args.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let argument = |index: usize| arguments.get(index).map(AsRef::as_ref);
    let old_path = argument(0).unwrap_or_default();
    let new_path = argument(7).unwrap_or(old_path);
    let change = match (argument(1), argument(4)) {
        (Some(NO_FILE), _) => "the document was added\n".to_owned(),
        (_, Some(NO_FILE)) => "the document was deleted\n".to_owned(),
        _ if [argument(3), argument(6)].contains(&Some(SYMBOLIC_LINK)) => {
            "the document is a symbolic link\n".to_owned()
        }
        (Some(_), Some(_)) if args.arguments.iter().any(|argument| argument.to_str().is_none()) => {
            "the name of the document is not UTF-8\n".to_owned()
        }
        (Some(old), Some(new)) => match compare(directory, (old_path, old), (new_path, new)) {
            Ok(result) => report::changelog(&result, ReportFormat::Text),
            Err(error) => format!("{error:#}\n"),
        },
        _ => "the document has a merge conflict\n".to_owned(),
    };
    let (old_path, new_path) = (plain_text(old_path), plain_text(new_path));
    let path = if old_path == new_path { old_path } else { format!("{old_path} -> {new_path}") };
    format!("openapi-gate {path}\n{change}")
}

/// Compares two versions, each with its path in the repository and a file that contains it.
fn compare(directory: &Path, old: (&str, &str), new: (&str, &str)) -> Result<ComparisonResult> {
    // The files to which the old version refers may have been renamed together with it.
    let result = compare_in_folders(directory, (old, old.0), new);
    let is_renamed = old.0 != new.0;
    if is_renamed && result.is_err() { compare_in_folders(directory, (old, new.0), new) } else { result }
}

/// Compares two versions. The old one refers to files beside the path `beside`.
fn compare_in_folders(
    directory: &Path,
    (old, beside): ((&str, &str), &str),
    new: (&str, &str),
) -> Result<ComparisonResult> {
    // References to other files lead to the working tree, in which the document has another folder than git's copy.
    let read = |(path, file): (&str, &str), beside: &str, label: &str| -> Result<Input> {
        let mut input = Input::from_file(directory, file).with_context(|| format!("cannot read {path}"))?;
        input.files = Input::files_beside(directory, beside);
        input.source.name = format!("{label}/{path}");
        Ok(input)
    };
    let document = read(old, beside, "a")?;
    let (settings, _) = ConfigArgs::default().read(directory)?;
    let base = BaseInput { document, waivers: None, note: None };
    compare_documents(base, read(new, new.0, "b")?, &settings, today())
}
