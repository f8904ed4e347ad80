//! A small installation with everything that the faults affect: PostgreSQL, a limit store, a mail server, two webhook endpoints, a
//! server and a worker.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::endpoint::{Certificates, Endpoint};
use super::mailbox::Mailbox;
use crate::engines::redis::Redis;
use crate::fleet::{ApiProcess, FleetDatabase, FleetOptions, Role};
use crate::load::{Load, LoadOptions};
use crate::run::Context;

/// The number of connections to PostgreSQL of the server and of the worker.
const CONNECTIONS: &str = "8";

/// The script that gives a process a data folder on a small file system that only the process can see, so that the free space of
/// this machine has no effect. Arguments: the folder, the master key, and the command.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size=32m,mode=0777 creator-api "$1" && cp "$2" "$1/master.key" && shift 2 && exec "$@"
"#;

/// A running installation under load.
pub struct Site {
    pub database: FleetDatabase,
    pub redis: Redis,
    pub mailbox: Mailbox,
    /// An endpoint for `student.created` over HTTP.
    pub endpoint: Endpoint,
    /// An endpoint for `student.created` over HTTPS.
    pub tls_endpoint: Endpoint,
    pub server: ApiProcess,
    pub worker: ApiProcess,
    /// `None` if this machine does not allow to mount it.
    disk: Option<SmallDisk>,
    load: Load,
}

impl Site {
    /// Starts everything, and 20 requests per second.
    ///
    /// # Errors
    /// Returns an error when a part does not start.
    pub async fn start(context: &Context) -> Result<Self> {
        let options = FleetOptions { standby: false, max_connections: 100, ..FleetOptions::default() };
        let database = FleetDatabase::start(context, &options).await?;
        let redis = Redis::start_new(context).await?;
        let mailbox = Mailbox::start_new().await?;
        let certificates = Certificates::create(&context.folder)?;
        let endpoint = Endpoint::start(None).await?;
        let tls_endpoint = Endpoint::start(Some(&certificates)).await?;
        for endpoint in [&endpoint, &tls_endpoint] {
            database.commands.subscribe(&endpoint.url()).await?;
        }
        let url = database.primary.url();
        let disk = SmallDisk::new(context, &database).await?;
        let process = |role, name: &str| -> Result<ApiProcess> {
            let process = ApiProcess::new(context, &database.commands, role, name, &url)?;
            let process = process.args(["--database-max-connections", CONNECTIONS]);
            let process = process.args(["--smtp-url", &mailbox.url(), "--public-url", "http://127.0.0.1"]);
            Ok(disk.iter().fold(process, |process, disk| disk.give_to(process)))
        };
        let mut server = process(Role::Server, "server")?.args(["--limit-store", &redis.url()]);
        let mut worker =
            process(Role::Worker, "worker")?.variable("SSL_CERT_FILE", certificates.root_file.as_os_str());
        server.start().await?;
        worker.start().await?;
        let targets = vec![server.url()];
        let load = LoadOptions { targets, clients: 16, rate: Some(20), reads_per_write: 3 };
        let load = Load::start(&database.key, load)?;
        Ok(Self { database, redis, mailbox, endpoint, tls_endpoint, server, worker, disk, load })
    }

    /// Returns the path of a file in the data folder of the worker, as this process sees it.
    ///
    /// # Errors
    /// Returns an error when the worker does not run, or has no small file system.
    pub fn worker_file(&self, name: &str) -> Result<PathBuf> {
        let disk = self.disk.as_ref().context("the worker has no small file system")?;
        let folder = disk.folder.strip_prefix("/").context("an absolute path")?;
        Ok(PathBuf::from(format!("/proc/{}/root", self.worker.id()?)).join(folder).join(name))
    }

    /// Returns whether the data folders are on small file systems.
    pub fn has_small_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Stops the load, and returns a summary of the responses.
    pub async fn stop(self) -> String {
        self.load.stop().await.summary()
    }
}

/// A small file system for the data folder of each process.
struct SmallDisk {
    folder: PathBuf,
    master_key: PathBuf,
    /// The arguments of `unshare`.
    unshare: &'static [&'static str],
}

impl SmallDisk {
    /// Returns `None` if this machine does not allow to mount file systems, as in some containers.
    async fn new(context: &Context, database: &FleetDatabase) -> Result<Option<Self>> {
        let folder = context.folder.join("small-disk");
        std::fs::create_dir_all(&folder)?;
        let master_key = database.commands.folder.join("master.key");
        // Only root runs the engines as another user.
        let is_root = context.programs.user.is_some();
        let unshare: &[&str] = if is_root { &["--mount"] } else { &["--mount", "--map-root-user"] };
        let mut mount = tokio::process::Command::new("unshare");
        mount.args(unshare).args(["mount", "-t", "tmpfs", "creator-api"]).arg(&folder);
        let mounted = mount.output().await.is_ok_and(|output| output.status.success());
        Ok(mounted.then_some(Self { folder, master_key, unshare }))
    }

    /// Gives a process a file system of its own.
    fn give_to(&self, process: ApiProcess) -> ApiProcess {
        let mut args: Vec<&OsStr> = self.unshare.iter().map(OsStr::new).collect();
        args.extend(["sh", "-c", SMALL_DISK, "sh"].map(OsStr::new));
        args.extend([self.folder.as_os_str(), self.master_key.as_os_str()]);
        let process = process.variable("CREATOR_API_DATA_DIR", self.folder.as_os_str());
        process.through(Path::new("unshare"), &args)
    }
}
