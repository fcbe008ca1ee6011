//! TLS, and over it both versions of HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Version;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tether_core::ledger::Answer;
use tether_transport::outbound::{Course, Outbound, SendError, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::journal::TestJournal;
use crate::setup::*;

/// A server with a certificate for `secure.test` and 127.0.0.1. Over HTTP/2 it refuses
/// every stream before `answers` and counts it; over HTTP/1.1 it answers each.
struct Secure {
    address: SocketAddr,
    seen: Arc<AtomicUsize>,
}

impl Secure {
    async fn new(protocol: &[u8], refused: usize) -> Self {
        let (chain, key) = (include_bytes!("tls/server.pem"), include_bytes!("tls/server.key"));
        Self::with(chain, key, protocol, refused).await
    }

    async fn with(chain: &[u8], key: &[u8], protocol: &[u8], refused: usize) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let chain = CertificateDer::pem_slice_iter(chain).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(key).unwrap();
        let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let is_h2 = protocol == b"h2";
        let count = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, seen) = (acceptor.clone(), count.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    if is_h2 {
                        serve_h2(stream, seen, refused).await;
                        return;
                    }
                    let _ = stream.read(&mut [0; 4096]).await;
                    seen.fetch_add(1, Ordering::SeqCst);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
                });
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }

    fn url(&self) -> String {
        format!("https://{}/", self.address)
    }
}

async fn serve_h2(
    stream: tokio_rustls::server::TlsStream<tokio::net::TcpStream>,
    seen: Arc<AtomicUsize>,
    refused: usize,
) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        if seen.fetch_add(1, Ordering::SeqCst) < refused {
            respond.send_reset(h2::Reason::REFUSED_STREAM);
            continue;
        }
        let key = request.headers()["x-tether-idempotency-key"].clone();
        let response = http::Response::builder().header("x-key", key).body(()).unwrap();
        respond.send_response(response, false).unwrap().send_data(Bytes::from_static(b"{}"), true).unwrap();
    }
}

async fn read(outbound: &Outbound, secure: &Secure, url: String) -> Result<http::Response<Bytes>, SendError> {
    let names = format!("https://secure.test:{}\tGET,POST\t\t127.0.0.1\t", secure.address.port());
    let course = Course::Read(allowance(1, Duration::from_secs(10)));
    let sender = outbound.sender(
        &[grant(&format!("https://{}", secure.address)), names.parse().unwrap()],
        key(),
        course,
    );
    sender.send(request("GET", url)).await
}

#[tokio::test]
async fn the_extra_roots_are_trusted_and_the_peer_chooses_the_version() {
    for (protocol, version) in [(&b"h2"[..], Version::HTTP_2), (b"http/1.1", Version::HTTP_11)] {
        let secure = Secure::new(protocol, 0).await;
        let response = read(&outbound(), &secure, secure.url()).await.unwrap();
        assert_eq!((response.version(), &response.body()[..]), (version, &b"{}"[..]));
    }
}

#[tokio::test]
async fn the_certificate_has_to_name_the_host() {
    let secure = Secure::new(b"h2", 0).await;
    let names = ChangingNames::new(&[&["127.0.0.1"]]);
    let outbound = outbound_with(names);
    let url = format!("https://secure.test:{}/", secure.address.port());
    assert_eq!(read(&outbound, &secure, url).await.unwrap().status(), 200);

    let other = format!("https://other.test:{}", secure.address.port());
    let destination = format!("{other}\tGET\t\t127.0.0.1\t").parse().unwrap();
    let sender = outbound.sender(&[destination], key(), Course::Read(allowance(1, Duration::from_secs(10))));
    let error = sender.send(request("GET", other)).await.unwrap_err();
    assert!(matches!(&error, SendError::NotSent(why) if why.contains("certificate")), "{error:?}");
    assert_eq!(secure.seen(), 1);
}

#[tokio::test]
async fn an_unknown_root_is_not_trusted_and_a_write_sent_nothing() {
    let secure = Secure::new(b"h2", 0).await;
    let outbound =
        Outbound::new(Settings { extra_roots: Vec::new(), ..settings() }, TestClock::new()).unwrap();
    let journal = TestJournal::new();
    let destination = grant(&format!("https://{}", secure.address));
    let sender = outbound.sender(&[destination], key(), Course::Write(journal.clone()));
    let error = sender.send(request("POST", secure.url())).await.unwrap_err();
    assert!(matches!(&error, SendError::NotSent(why) if why.contains("certificate")), "{error:?}");
    assert!(error.to_string().contains("name the root of its certificate in `tool_transport.extra_roots`"));
    assert_eq!((journal.answers(), secure.seen()), (vec![Answer::NotSent], 0));
}

#[tokio::test]
async fn an_authority_that_serves_with_its_own_certificate_is_told_what_to_do() {
    let (chain, private) = (include_bytes!("tls/authority.pem"), include_bytes!("tls/authority.key"));
    let secure = Secure::with(chain, private, b"h2", 0).await;
    let settings = Settings { extra_roots: chain.to_vec(), ..settings() };
    let outbound = Outbound::new(settings, TestClock::new()).unwrap();
    let error = read(&outbound, &secure, secure.url()).await.unwrap_err();
    assert!(
        matches!(&error, SendError::NotSent(why) if why.contains("issue one for the server")),
        "{error:?}"
    );
    assert_eq!(secure.seen(), 0);
}

#[tokio::test]
async fn a_write_over_http_2_carries_the_key_and_is_sent_once() {
    let secure = Secure::new(b"h2", 0).await;
    let (sender, journal) = writer(&[grant(&format!("https://{}", secure.address))]);
    let response = sender.send(request("POST", secure.url())).await.unwrap();
    assert_eq!(
        (response.version(), response.headers()["x-key"].as_bytes()),
        (Version::HTTP_2, KEY.as_bytes())
    );
    assert_eq!((journal.answers(), secure.seen()), (vec![Answer::Status(200)], 1));
}

/// A refused stream is one that clients like to resend by themselves.
#[tokio::test]
async fn a_refused_stream_is_not_resent() {
    let secure = Secure::new(b"h2", 1).await;
    let (sender, journal) = writer(&[grant(&format!("https://{}", secure.address))]);
    let error = sender.send(request("POST", secure.url())).await.unwrap_err();
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
    assert_eq!((journal.answers(), secure.seen()), (vec![Answer::InDoubt], 1));

    let secure = Secure::new(b"h2", 1).await;
    let error = read(&outbound(), &secure, secure.url()).await.unwrap_err();
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
    assert_eq!(secure.seen(), 1);
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("http://{}", listener.local_addr().unwrap());
    let secure = Redirecting::to(format!("{plain}/")).await;
    let origin = format!("https://{}", secure.0);
    let sender = outbound().sender(&[grant(&origin), grant(&plain)], key(), Course::Read(three()));
    assert_refused(sender.send(request("GET", origin)).await, "from https to http://");
}

/// A server that leads elsewhere.
struct Redirecting(SocketAddr);

impl Redirecting {
    async fn to(location: String) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let chain =
            CertificateDer::pem_slice_iter(include_bytes!("tls/server.pem")).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        Self(address)
    }
}
