//! Documents and files that were written to make the program fail, use up its resources, or read other files.

use std::fs::File;

use crate::support::{CONTRACT, Folder, Outcome, breaking_contract};

/// Compares a base with the valid document `api.yaml`. A run that takes longer than 30 seconds fails.
fn check(folder: &Folder, base: &str) -> Outcome {
    folder.write("api.yaml", CONTRACT);
    folder.run_script(&format!("timeout 30 openapi-gate check --base '{base}' api.yaml"), &[])
}

/// Asserts that a base is rejected with a message.
fn assert_rejected(folder: &Folder, base: &str, message: &str) {
    let outcome = check(folder, base);
    assert!(outcome.code == Some(2) && outcome.errors.contains(message), "{base}: {message}: {outcome:?}");
}

/// Returns a document with an unknown key.
fn document_with(value: &str) -> String {
    format!("openapi: 3.1.0\npaths: {{}}\nunknown: {value}\n")
}

#[test]
fn references_that_multiply_are_rejected() {
    let folder = Folder::new();
    folder.write("a.yaml", "- $ref: a.yaml\n- $ref: a.yaml\n");
    folder.write("base.yaml", document_with("{$ref: a.yaml}"));
    assert_rejected(&folder, "base.yaml", "nested deeper than 192 levels");
    for level in 0..30 {
        let next = format!("{{$ref: b{}.yaml}}", level + 1);
        folder.write(&format!("b{level}.yaml"), format!("[{next}, {next}, {next}]\n"));
    }
    folder.write("b30.yaml", "text\n");
    folder.write("base.yaml", document_with("{$ref: b0.yaml}"));
    assert_rejected(&folder, "base.yaml", "references insert more than 1000000 values");
}

#[test]
fn components_that_contain_each_other_are_not_copied_without_limit() {
    let folder = Folder::new();
    let depth = 180;
    // Each level of a schema is referenced, so each becomes a component that contains all deeper levels.
    let nested = |innermost: &str| "{items: ".repeat(depth) + innermost + &"}".repeat(depth);
    let references = |target: &str| {
        let property = |level: usize| format!("L{level}: {{$ref: '{target}{}'}}", "/items".repeat(level));
        let properties: Vec<String> = (0..depth).map(property).collect();
        format!("schemas: {{A: {{properties: {{{}}}}}}}", properties.join(", "))
    };
    let write = |components: &str| {
        folder.write("base.yaml", format!("openapi: 3.1.0\npaths: {{}}\ncomponents: {{{components}}}\n"));
    };
    let properties: String = (0..20_000).map(|number| format!("p{number}: {{}}, ")).collect();
    let large = format!("{{properties: {{{properties}}}}}");
    for (innermost, is_rejected) in [("{type: string}", false), (large.as_str(), true)] {
        for inside in [false, true] {
            if inside {
                write(&format!("x-a: {}, {}", nested(innermost), references("#/components/x-a")));
            } else {
                folder.write("b.yaml", nested(innermost));
                write(&references("b.yaml#"));
            }
            if is_rejected {
                assert_rejected(&folder, "base.yaml", "references insert more than 1000000 values");
            } else {
                assert_eq!(
                    check(&folder, "base.yaml").code,
                    Some(0),
                    "a small schema can be referenced often"
                );
            }
        }
    }
    // Large files can be referenced once.
    for number in 0..20 {
        folder.write(&format!("large{number}.yaml"), &large);
    }
    let schemas: String =
        (0..20).map(|number| format!("A{number}: {{$ref: large{number}.yaml}}, ")).collect();
    write(&format!("schemas: {{{schemas}}}"));
    assert_eq!(check(&folder, "base.yaml").code, Some(0));
    let properties = schemas.replace("A1", "B1");
    write(&format!("schemas: {{A: {{properties: {{{properties}}}}}}}"));
    assert_eq!(check(&folder, "base.yaml").code, Some(0));
}

#[test]
fn nesting_over_many_files_is_rejected_without_a_stack_overflow() {
    let folder = Folder::new();
    for level in 0..190 {
        let nested = format!("{}{{$ref: c{}.yaml}}{}", "[".repeat(180), level + 1, "]".repeat(180));
        folder.write(&format!("c{level}.yaml"), nested);
    }
    folder.write("c190.yaml", "text\n");
    folder.write("base.yaml", document_with("{$ref: c0.yaml}"));
    assert_rejected(&folder, "base.yaml", "nested deeper than 192 levels");
}

/// Compares `base.yaml` with `new.yaml`. A run that takes more than 60 seconds of processor time or 2 GB fails.
fn compare_with_limits(folder: &Folder) -> Outcome {
    let script = "ulimit -v 2000000; ulimit -t 60; openapi-gate check --base base.yaml new.yaml";
    folder.run_script(script, &[])
}

#[test]
fn recursive_schemas_that_multiply_are_rejected() {
    let folder = Folder::new();
    let document = |title: &str| {
        let (mut parts, mut schemas) = (Vec::new(), String::new());
        // Each step leads to the next schema of every cycle, so all combinations of them occur.
        for length in [2, 3, 5, 7, 11, 13, 17, 19] {
            parts.push(format!("{{$ref: '#/components/schemas/C{length}-0'}}"));
            for index in 0..length {
                let next = format!("{{$ref: '#/components/schemas/C{length}-{}'}}", (index + 1) % length);
                schemas +=
                    &format!("    C{length}-{index}: {{title: {title}, properties: {{next: {next}}}}}\n");
            }
        }
        let schema = format!("{{allOf: [{}]}}", parts.join(", "));
        let body = format!("{{content: {{application/json: {{schema: {schema}}}}}}}");
        format!(
            "openapi: 3.1.0\npaths:\n  /a: {{post: {{requestBody: {body}}}}}\ncomponents:\n  schemas:\n{schemas}"
        )
    };
    folder.write("base.yaml", document("A"));
    folder.write("new.yaml", document("B"));
    let outcome = compare_with_limits(&folder);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.errors.contains("recursive schemas in too many ways"), "{outcome:?}");
    assert!(outcome.errors.contains("--> new.yaml:"), "{outcome:?}");
}

#[test]
fn large_lists_are_compared_in_linear_time() {
    let folder = Folder::new();
    let body = |schema: &str| {
        let body = format!("{{content: {{application/json: {{schema: {schema}}}}}}}");
        format!("openapi: 3.1.0\npaths: {{/a: {{post: {{requestBody: {body}}}}}}}\n")
    };
    let list = |count: usize, item: &dyn Fn(usize) -> String| {
        (0..count).map(item).collect::<Vec<String>>().join(", ")
    };
    let properties = |kind: &str| {
        body(&format!(
            "{{properties: {{{}}}}}",
            list(20_000, &|number| format!("p{number}: {{type: {kind}}}"))
        ))
    };
    let values = |first: usize| {
        body(&format!("{{enum: [{}]}}", list(50_000, &|number| format!("v{}", number + first))))
    };
    let constants = |first: usize| {
        body(&format!("{{oneOf: [{}]}}", list(20_000, &|number| format!("{{const: v{}}}", number + first))))
    };
    let paths = |name: &str| {
        let paths: String =
            (0..20_000).map(|number| format!("  /p{number}/{{{name}}}: {{get: {{}}}}\n")).collect();
        format!("openapi: 3.1.0\npaths:\n{paths}")
    };
    for (base, new, code) in [
        (properties("string"), properties("[string, integer]"), 0),
        (values(0), values(1), 1),
        (constants(0), constants(1), 1),
        (paths("a"), paths("b"), 0),
    ] {
        folder.write("base.yaml", &base);
        folder.write("new.yaml", new);
        let outcome = compare_with_limits(&folder);
        assert_eq!(outcome.code, Some(code), "{}: {outcome:?}", &base[..80]);
    }
}

#[test]
fn a_property_that_is_named_mapping_can_refer_to_files() {
    let folder = Folder::new();
    folder.write("b.yaml", "type: string\n");
    let base =
        "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {properties: {mapping: {$ref: b.yaml}}}}}\n";
    folder.write("base.yaml", base.replace("{$ref: b.yaml}", "{items: {$ref: b.yaml}}"));
    let outcome = check(&folder, "base.yaml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn hidden_files_and_other_kinds_of_files_are_not_read() {
    let folder = Folder::repository();
    for name in [".env.yaml", ".git/x.yaml", "a/.b/c.yaml", "secret", "secret.txt"] {
        folder.write(name, "type: string\n");
    }
    folder.write("a/b.yaml", "$ref: ../a/./../other.yaml\n");
    folder.write("other.yaml", "type: string\n");
    let base = |reference: &str| {
        format!("openapi: 3.1.0\npaths: {{}}\ncomponents: {{schemas: {{A: {{$ref: '{reference}'}}}}}}\n")
    };
    let hidden = "files and folders whose names begin with a dot are not read";
    let extension = "only files that end with .yaml, .yml or .json are read";
    for (reference, message) in [
        (".env.yaml", hidden),
        ("./.git/x.yaml", hidden),
        ("%2eenv.yaml", hidden),
        ("a/.b/c.yaml", hidden),
        (".../x.yaml", hidden),
        ("secret", extension),
        ("secret.txt", extension),
    ] {
        folder.write("base.yaml", base(reference));
        assert_rejected(&folder, "base.yaml", message);
        folder.git(&["add", "base.yaml"]);
        assert_rejected(&folder, ":base.yaml", message);
    }
    folder.write("base.yaml", base("a/b.yaml"));
    assert_eq!(check(&folder, "base.yaml").code, Some(0));
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_only_inside_of_the_folder() {
    use std::os::unix::fs::symlink;

    let outside = Folder::new();
    let target = outside.write("secret.yaml", CONTRACT);
    for folder in [Folder::new(), Folder::repository()] {
        folder.write(".hidden/a.yaml", "type: string\n");
        folder.write("inside.yaml", CONTRACT);
        symlink(&target, folder.path().join("out.yaml")).unwrap();
        symlink(outside.path(), folder.path().join("folder")).unwrap();
        symlink("inside.yaml", folder.path().join("in.yaml")).unwrap();
        symlink(".hidden/a.yaml", folder.path().join("hidden.yaml")).unwrap();
        folder.write(
            "base.yaml",
            "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {$ref: hidden.yaml}}}\n",
        );
        assert_rejected(&folder, "base.yaml", "files and folders whose names begin with a dot are not read");
        assert_rejected(&folder, "out.yaml", "by a symbolic link; specify the file to which it leads");
        assert_rejected(
            &folder,
            "folder/secret.yaml",
            "by a symbolic link; specify the file to which it leads",
        );
        assert_eq!(check(&folder, "in.yaml").code, Some(0));
        assert_eq!(check(&folder, &target.display().to_string()).code, Some(0), "the user named it");
    }
    let folder = Folder::repository();
    folder.write("inside.yaml", CONTRACT);
    symlink(&target, folder.path().join("out.yaml")).unwrap();
    symlink("inside.yaml", folder.path().join("in.yaml")).unwrap();
    folder.commit("one");
    assert_rejected(&folder, "HEAD:out.yaml", "out.yaml is a symbolic link that leads out of the repository");
    let followed = check(&folder, "HEAD:in.yaml");
    assert_eq!(followed.code, Some(0), "{followed:?}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_in_the_index_are_followed_as_in_a_revision() {
    use std::os::unix::fs::symlink;

    let folder = Folder::repository();
    folder.write("documents/v1/api.yaml", CONTRACT);
    folder.write(
        "documents/v1/parts.yaml",
        "openapi: 3.1.0\ncomponents: {schemas: {A: {$ref: linked.yaml}}}\n",
    );
    folder.write("documents/v1/part.yaml", "type: string\n");
    let link = |target: &str, name: &str| symlink(target, folder.path().join(name)).unwrap();
    link("part.yaml", "documents/v1/linked.yaml");
    link("documents/v1/api.yaml", "file.yaml");
    link("file.yaml", "twice.yaml");
    link("documents/v1", "latest");
    link("../latest/api.yaml", "documents/up.yaml");
    link("/etc/passwd", "absolute.yaml");
    link("../outside.yaml", "outside.yaml");
    link("missing.yaml", "dangling.yaml");
    link("loop.yaml", "loop.yaml");
    folder.commit("one");
    for (path, code, message) in [
        ("file.yaml", 0, ""),
        ("twice.yaml", 0, ""),
        ("./twice.yaml", 0, ""),
        ("latest/api.yaml", 0, ""),
        ("documents/up.yaml", 0, ""),
        ("documents/v1/parts.yaml", 1, ""),
        ("absolute.yaml", 2, "absolute.yaml is a symbolic link that leads out of the repository"),
        ("outside.yaml", 2, "outside.yaml is a symbolic link that leads out of the repository"),
        ("dangling.yaml", 2, "dangling.yaml is a symbolic link to a file that does not exist"),
        ("loop.yaml", 2, "loop.yaml is a symbolic link to a file that does not exist"),
        ("missing.yaml", 2, "does not contain missing.yaml"),
    ] {
        for revision in ["", ":0", "HEAD"] {
            let outcome = folder.run(&["check", "--base", "file.yaml", &format!("{revision}:{path}")]);
            let in_revision = format!("{revision}:{path}: {outcome:?}");
            assert_eq!(outcome.code, Some(code), "{in_revision}");
            assert!(outcome.errors.contains(message), "{in_revision}");
        }
    }
    // In a folder of the repository, and only what is in the index counts.
    std::fs::remove_file(folder.path().join("file.yaml")).unwrap();
    folder.write("file.yaml", breaking_contract());
    let script = "cd documents/v1 && openapi-gate check --base HEAD:twice.yaml :../../twice.yaml";
    assert_eq!(folder.run_script(script, &[]).code, Some(0));
    folder.git(&["add", "file.yaml"]);
    assert_eq!(folder.run_script(script, &[]).code, Some(1));
}

#[test]
fn sizes_and_kinds_of_files_are_checked_before_reading() {
    let folder = Folder::repository();
    let large = File::create(folder.path().join("large.yaml")).expect("the file can be created");
    large.set_len(32 * 1024 * 1024 + 1).expect("the file can be extended");
    let base = "openapi: 3.1.0\npaths: {}\ncomponents: {schemas: {A: {$ref: large.yaml}}}\n";
    folder.write("base.yaml", base);
    folder.commit("one");
    for name in ["large.yaml", "HEAD:large.yaml", "base.yaml", "HEAD:base.yaml"] {
        assert_rejected(&folder, name, "larger than the maximum of 32 MiB");
    }
    let created = folder.run_script("mkfifo pipe.yaml", &[]);
    assert_eq!(created.code, Some(0), "{created:?}");
    assert_rejected(&folder, "pipe.yaml", "cannot read pipe.yaml: it is not a regular file");
    assert_rejected(&folder, "/dev/zero", "cannot read /dev/zero: it is not a regular file");
    folder.write("base.yaml", base.replace("large", "pipe"));
    assert_rejected(&folder, "base.yaml", "it is not a file");
}

#[test]
fn an_output_that_cannot_be_written_is_not_a_panic() {
    let folder = Folder::new();
    folder.write("api.yaml", CONTRACT);
    folder.write("warning.yaml", "openapi: 3.0.0\npaths: {/a: {get: {responses: }}}\n");
    folder.write("openapi-gate-waivers.toml", "");
    for (arguments, code) in [
        ("--base missing.yaml api.yaml 2>/dev/full", 2),
        ("--base api.yaml api.yaml 2>/dev/full", 0),
        ("--base warning.yaml warning.yaml 2>/dev/full", 0),
        ("--format github --base warning.yaml warning.yaml >/dev/full", 2),
        ("--format github --base warning.yaml warning.yaml >/dev/full 2>/dev/full", 2),
    ] {
        let outcome = folder.run_script(&format!("openapi-gate check {arguments}"), &[]);
        assert_eq!(outcome.code, Some(code), "{arguments}: {outcome:?}");
        assert!(!outcome.errors.contains("panicked"), "{arguments}: {outcome:?}");
    }
}

#[test]
fn ignored_paths_with_many_stars_are_matched_quickly() {
    let folder = Folder::new();
    folder.write("openapi-gate.toml", format!("ignored-paths = ['{}b']\n", "*a".repeat(40)));
    folder.write("base.yaml", CONTRACT.replace("/a:", &format!("/{}:", "a".repeat(1_000))));
    assert_eq!(check(&folder, "base.yaml").code, Some(1));
}
