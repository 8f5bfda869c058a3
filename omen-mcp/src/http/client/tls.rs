//! Encryption, and the certificates to trust.

use std::path::Path;
use std::sync::Arc;

use omen_base::regular_file;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use super::error::BadRemote;

/// Maximum size of a certificate file in bytes.
const MAX_CERTIFICATES: u64 = 4 << 20;

/// Trusts the certificates in a file, or those of the system. Without encryption, none are needed.
pub(super) fn config(is_encrypted: bool, ca_file: Option<&Path>) -> Result<ClientConfig, BadRemote> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        _ if !is_encrypted => {}
        Some(path) => {
            let bad = |why: String| BadRemote::Certificates(path.to_owned(), why);
            let text = regular_file::read(path, MAX_CERTIFICATES).map_err(|error| bad(error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                let certificate = certificate.map_err(|error| bad(error.to_string()))?;
                roots.add(certificate).map_err(|error| bad(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(bad("it contains no PEM certificate".to_owned()));
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            let _ = roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
                return Err(BadRemote::NoCertificates(why));
            }
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| BadRemote::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
