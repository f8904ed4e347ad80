//! Checks of the machine: disk space and the limit on open files.

use domain::app::App;
use domain::doctor::{Finding, Report};
use rustix::process::{Resource, getrlimit};

use super::super::file_limit::WARNING_THRESHOLD;

/// Free space below this is a finding.
const MIN_FREE_BYTES: u64 = 1 << 30;

/// Checks the free space of the file system with the SQLite database, or with the data folder.
pub(super) fn disk_space(app: &App) -> Report {
    let folder = app.db.folder().unwrap_or(&app.config.storage.data_dir);
    match rustix::fs::statvfs(folder) {
        Ok(status) => disk_report(&folder.display().to_string(), status.f_bavail * status.f_frsize),
        Err(error) => Report::new(format!("{}: {error}", folder.display())),
    }
}

fn disk_report(folder: &str, free_bytes: u64) -> Report {
    let mut report = Report::new(format!("{} MiB are free in {folder}", free_bytes >> 20));
    if free_bytes < MIN_FREE_BYTES {
        report.add(Finding {
            table: String::new(),
            id: folder.to_owned(),
            problem: format!("only {} MiB are free", free_bytes >> 20),
            remedy: "free some disk space, or move the data folder to a larger disk".to_owned(),
        });
    }
    report
}

/// Checks the hard limit on open files. A server raises its own limit up to it.
pub(super) fn file_limit() -> Report {
    let Some(files) = getrlimit(Resource::Nofile).maximum else {
        return Report::new("open files are not limited");
    };
    let mut report = Report::new(format!("this shell allows {files} open files"));
    if files < WARNING_THRESHOLD {
        report.add(Finding {
            table: String::new(),
            id: String::new(),
            problem: format!("the limit on open files is {files}, so connections may have to wait"),
            remedy: format!(
                "raise the hard limit (`ulimit -Hn`) to at least {WARNING_THRESHOLD} where the server starts"
            ),
        });
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nearly_full_disk_is_found() {
        assert!(disk_report("/data", MIN_FREE_BYTES).findings.is_empty());
        let report = disk_report("/data", 5 << 20);
        assert_eq!(report.findings[0].problem, "only 5 MiB are free");
        assert_eq!(report.findings[0].id, "/data");
    }
}
