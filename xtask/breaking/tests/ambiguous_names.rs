//! Names that are both those of a file and of a git revision, for `cargo xtask breaking`.

use std::fs;

use super::super::base;
use super::super::file_resolver::FileResolver;
use super::gate::repository;

#[test]
fn a_name_of_both_a_file_and_a_revision_is_an_error_for_the_base_and_the_waivers() {
    let repository = repository();
    let path = repository.path();
    for name in ["HEAD", "HEAD:openapi/v1.yaml"] {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), "").unwrap();
    }
    let error = |name: &str, waivers: Option<&str>| {
        let resolver = FileResolver::new(path, path);
        format!("{:#}", base::read(&resolver, name, "openapi/v1.yaml", waivers).unwrap_err())
    };
    for name in ["HEAD", "HEAD:openapi/v1.yaml"] {
        let message = format!("`{name}` is ambiguous; write `./{name}` for the file or `refs/heads/");
        assert!(error(name, None).starts_with(&message), "{}", error(name, None));
    }
    assert!(error("HEAD~1", Some("HEAD")).starts_with("`HEAD` is ambiguous"));
}
