//! Servers over TLS: whose certificates are trusted.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omen_gate::config::Endpoint;
use omen_gate::mcp::ServerLimits;
use omen_mcp::http::client::RemoteLimits;
use omen_proxy::Source;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::world::{Far, Stand, connection, result, short};
use crate::support::config;

/// An authority of this test alone, and its certificate in a file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), own.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    /// A server with a certificate for a name.
    async fn serve(&self, name: &str) -> Stand {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let server = server.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let server = server.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let (acceptor, listener) =
            (TlsAcceptor::from(Arc::new(server)), TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stand = Stand::over(address, Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(connection(stream, Arc::new(|_| None), Arc::clone(&seen), 0));
                }
            }
        });
        stand
    }

    fn endpoint(&self, stand: &Stand) -> Endpoint {
        let mut endpoint = Endpoint::new(&format!("https://localhost:{}/mcp", stand.address.port()), false).unwrap();
        endpoint.ca_file = Some(self.folder.path().join("ca.pem"));
        endpoint
    }
}

#[tokio::test]
async fn a_server_with_a_certificate_of_the_named_authority_is_reached() {
    let authority = Authority::new();
    let stand = authority.serve("localhost").await;
    let endpoint = authority.endpoint(&stand);
    let mut far = Far::at(stand, &endpoint, RemoteLimits::default(), config(""));
    far.client.shake_hands(json!({})).await;
    assert_eq!(far.client.call(1, "write", json!({})).await["result"], result(&json!(1))["result"]);
    let (_, _, stand) = far.close().await;
    assert_eq!((stand.count("tools/call"), stand.ended().await.last().unwrap().method.as_str()), (1, "DELETE"));
}

#[tokio::test]
async fn a_server_that_does_not_show_who_it_is_is_sent_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    let (named_otherwise, good) = (authority.serve("example.com").await, authority.serve("localhost").await);
    let plain = Stand::new(Arc::new(|_| None)).await;
    let mut of_the_system = authority.endpoint(&good);
    of_the_system.ca_file = None;
    let cases = [
        ("another name", authority.endpoint(&named_otherwise), &named_otherwise),
        ("another authority", other.endpoint(&good), &good),
        ("not an authority of the system", of_the_system, &good),
        ("no encryption at all", authority.endpoint(&plain), &plain),
    ];
    for (name, endpoint, stand) in cases {
        // Where a system trusts nobody, nobody is reached either.
        let Ok(source) = Source::remote(&endpoint, ServerLimits::default(), short()) else { continue };
        let refused = source.list(Duration::from_secs(60)).await.unwrap_err();
        assert!(refused.to_string().starts_with("the server cannot be reached"), "{name}: {refused}");
        assert!(stand.seen().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn certificates_that_cannot_be_read_are_an_error_at_the_start() {
    let authority = Authority::new();
    let folder = authority.folder.path();
    std::fs::write(folder.join("empty.pem"), "").unwrap();
    std::fs::write(folder.join("bad.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    for file in ["missing.pem", "empty.pem", "bad.pem"] {
        let mut endpoint = Endpoint::new("https://localhost/mcp", false).unwrap();
        endpoint.ca_file = Some(folder.join(file));
        let error = Source::remote(&endpoint, ServerLimits::default(), RemoteLimits::default()).unwrap_err();
        assert!(error.to_string().contains("cannot read the certificates"), "{file}: {error}");
    }
}
