//! The TLS configuration of outbound HTTP requests.

use std::sync::{Arc, LazyLock};

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, Error, RootCertStore};

/// The root certificates of the system when the process first read them. If the system has none, as in a minimal container, those
/// of Mozilla.
static ROOTS: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
});

/// Reads the root certificates, so that the first [`client_config`] does not need to.
pub fn load_roots() {
    LazyLock::force(&ROOTS);
}

/// Returns a TLS configuration for HTTP/1.1 that trusts `additional_roots` and the root certificates of the system, or those of Mozilla
/// if the system has none.
///
/// # Errors
/// Returns an error when one of `additional_roots` is not a valid root certificate.
pub fn client_config(additional_roots: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    let mut roots = ROOTS.clone();
    for root in additional_roots {
        roots.add(root)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
