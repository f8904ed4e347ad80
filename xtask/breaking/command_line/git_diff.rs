//! Prints the changes of one file for `git diff`.

use std::path::Path;

use anyhow::Result;

use super::settings::ConfigArgs;
use crate::base::BaseInput;
use crate::inputs::Input;
use crate::report::{self, ComparisonResult};
use crate::{ReportFormat, compare_documents, today};

/// The arguments that git passes to an external diff command: those of both versions of a file. git creates temporary
/// files for versions that are not in the working tree.
#[derive(Debug, clap::Args)]
pub(super) struct GitDiffArgs {
    /// The path of the file in the repository, then a file, the blob and the mode of its old version, then those of the
    /// new version. git adds further arguments for a renamed file, and passes only the path of an unmerged one
    #[arg(required = true, num_args = 1..=9, value_names = ["PATH", "OLD-FILE", "OLD-HEX", "OLD-MODE", "NEW-FILE", "NEW-HEX", "NEW-MODE", "NEW-PATH", "RENAME"])]
    arguments: Vec<String>,
}

/// The file that git specifies for a version that does not exist.
const NO_FILE: &str = "/dev/null";

/// Returns the changes, or the reason why the versions cannot be compared. That is not an error, because git would stop
/// at it and show no other file.
pub(super) fn render(directory: &Path, args: &GitDiffArgs) -> String {
    let argument = |index: usize| args.arguments.get(index).map(String::as_str);
    let path = argument(0).unwrap_or_default();
    let change = match (argument(1), argument(4)) {
        (Some(NO_FILE), _) => "the document was added\n".to_owned(),
        (_, Some(NO_FILE)) => "the document was deleted\n".to_owned(),
        (Some(old), Some(new)) => match compare(directory, path, old, new) {
            Ok(result) => report::changelog(&result, ReportFormat::Text),
            Err(error) => format!("{error:#}\n"),
        },
        _ => "the document has a merge conflict\n".to_owned(),
    };
    format!("openapi-gate {path}\n{change}")
}

fn compare(directory: &Path, path: &str, old: &str, new: &str) -> Result<ComparisonResult> {
    // References to other files lead to the working tree, in which the document has another folder than git's copy.
    let read = |file: &str, label: &str| -> Result<Input> {
        let mut input = Input::from_file(directory, file)?;
        input.files = Input::files_beside(directory, path);
        input.source.name = format!("{label}/{path}");
        Ok(input)
    };
    let document = read(old, "a")?;
    let (settings, _) = ConfigArgs::default().read(directory)?;
    let base = BaseInput { document, waivers: None, note: None };
    compare_documents(base, read(new, "b")?, &settings, today())
}
