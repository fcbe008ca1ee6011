//! Where a component may send requests to, as the operator grants it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

/// One granted destination. Its text form is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Where.
    pub origin: OriginPattern,
    /// What may be sent there.
    pub methods: BTreeSet<Method>,
    /// What a read or a preview may send there, besides [`Method::is_safe`].
    pub read_methods: BTreeSet<Method>,
    /// The addresses that it may be at although they are not public.
    pub networks: BTreeSet<Network>,
    /// The header that carries the idempotency key there, besides
    /// `X-Tether-Idempotency-Key`; in lower case.
    pub key_header: Option<String>,
    /// Headers that the host adds as a request leaves: lower-case names, and values
    /// in which `${NAME}` stands for a secret. Never the secret itself.
    pub headers: BTreeMap<String, String>,
}

/// `https://api.example.com`, `https://*.example.com:8443`, `http://[::1]:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginPattern {
    scheme: Scheme,
    host: HostPattern,
    port: u16,
}

/// The schemes that requests leave by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    /// This name; lower case.
    Name(String),
    /// This address.
    Address(IpAddr),
    /// Every name that ends so, such as `.example.com`.
    Under(String),
}

/// An HTTP method: capitals, up to 32 of them, with `-` between.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Method(String);

/// Addresses: `10.0.0.0/8`, or one, `10.1.2.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(IpNet);

/// A text that is no part of a destination; the text says what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidDestination(String);

impl Destination {
    /// Whether `method` may be sent there, by a read or by a write.
    pub fn lets(&self, method: &Method, reading: bool) -> bool {
        if reading {
            (method.is_safe() && self.methods.contains(method)) || self.read_methods.contains(method)
        } else {
            self.methods.contains(method) || self.read_methods.contains(method)
        }
    }

    /// Whether it may be at `address`, which is not public: the operator named the
    /// address itself, or a network that holds it.
    pub fn may_be_at(&self, address: IpAddr) -> bool {
        self.origin.host == HostPattern::Address(address)
            || self.networks.iter().any(|network| network.holds(address))
    }
}

impl Network {
    /// Whether `address` is one of its addresses.
    pub fn holds(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl OriginPattern {
    /// Whether it names this origin. `host` as URLs write it in their normal form:
    /// lower case, an IPv6 address in brackets.
    pub fn matches(&self, scheme: &str, host: &str, port: u16) -> bool {
        self.scheme.as_str() == scheme
            && self.port == port
            && match &self.host {
                HostPattern::Name(name) => name == host,
                HostPattern::Address(address) => host_text(address) == host,
                HostPattern::Under(suffix) => {
                    host.strip_suffix(suffix.as_str()).is_some_and(|labels| !labels.is_empty())
                        && !host.starts_with('[')
                }
            }
    }
}

impl Scheme {
    /// The scheme as URLs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Method {
    /// The method as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it asks and changes nothing (RFC 9110, 9.2.1): GET, HEAD, OPTIONS.
    /// TRACE would be; it echoes headers, and is never sent.
    pub fn is_safe(&self) -> bool {
        matches!(self.0.as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}

fn host_text(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

impl FromStr for Method {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=32).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
        match text {
            "CONNECT" | "TRACE" => Err(InvalidDestination(format!("{text} is never sent"))),
            _ if fits => Ok(Self(text.to_owned())),
            _ => Err(InvalidDestination(format!("{text:?} is no method; write it like \"POST\""))),
        }
    }
}

impl FromStr for Network {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        let invalid = || {
            InvalidDestination(format!(
                "{text:?} is no address; write it like \"10.1.2.3\" or \"10.0.0.0/8\""
            ))
        };
        network.map(|network| Self(network.trunc())).map_err(|_| invalid())
    }
}

impl FromStr for OriginPattern {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |why: &str| {
            InvalidDestination(format!(
                "{text:?} is no origin: {why}; write it like \"https://api.example.com\""
            ))
        };
        let (scheme, rest) = match text.split_once("://") {
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(("http", rest)) => (Scheme::Http, rest),
            _ => return Err(invalid("it starts with neither https:// nor http://")),
        };
        // The port is after the last colon, and an IPv6 address is in brackets.
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let digits = port.bytes().all(|byte| byte.is_ascii_digit());
                let port = port.parse().ok().filter(|port| digits && *port > 0);
                (host, port.ok_or_else(|| invalid("its port is none"))?)
            }
            _ => (rest, scheme.default_port()),
        };
        let host = HostPattern::parse(host).ok_or_else(|| {
            invalid(
                "after the scheme come a host (a name in ASCII, `*.` and a name, or an address) and a port, \
                 and nothing else",
            )
        })?;
        Ok(Self { scheme, host, port })
    }
}

impl HostPattern {
    fn parse(text: &str) -> Option<Self> {
        if let Some(address) = text.strip_prefix('[') {
            let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
            // One that is mapped is dialled as the IPv4 address that it is, and is
            // granted as that.
            let is_mapped = address.to_ipv4_mapped().is_some();
            return (!is_mapped).then_some(Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = text.parse() {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        let (wild, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        let label = |label: &str| {
            let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            (1..=63).contains(&label.len()) && label.bytes().all(letters)
        };
        // A last label of digits makes an address of a name, in one of many spellings.
        let number = |label: &str| label.starts_with(|character: char| character.is_ascii_digit());
        let fits =
            name.len() <= 253 && name.split('.').all(label) && !name.rsplit('.').next().is_some_and(number);
        let name = name.to_ascii_lowercase();
        fits.then(|| if wild { Self::Under(format!(".{name}")) } else { Self::Name(name) })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme.as_str())?;
        match &self.host {
            HostPattern::Name(name) => f.write_str(name)?,
            HostPattern::Address(address) => f.write_str(&host_text(address))?,
            HostPattern::Under(suffix) => write!(f, "*{suffix}")?,
        }
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// Fields are set apart by tabs, which none of them can hold: the origin; three
/// lists; the key's header; then each header.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, methods, read_methods, networks, key_header, headers } = self;
        write!(
            f,
            "{origin}\t{}\t{}\t{}\t{}",
            list(methods),
            list(read_methods),
            list(networks),
            key_header.as_deref().unwrap_or_default()
        )?;
        headers.iter().try_for_each(|(name, value)| write!(f, "\t{name}: {value}"))
    }
}

impl FromStr for Destination {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let missing = || InvalidDestination(format!("{text:?} is no destination"));
        let mut fields = text.split('\t');
        let mut field = || fields.next().ok_or_else(missing);
        let (origin, methods, read_methods) = (field()?, field()?, field()?);
        let (networks, key_header) = (field()?, field()?);
        let header = |field: &str| {
            let (name, value) =
                field.split_once(": ").filter(|(name, value)| is_name(name) && is_value(value))?;
            Some((name.to_owned(), value.to_owned()))
        };
        let key_header = Some(key_header).filter(|name| !name.is_empty());
        if key_header.is_some_and(|name| !is_name(name)) {
            return Err(missing());
        }
        Ok(Self {
            origin: origin.parse()?,
            methods: parsed(methods)?,
            read_methods: parsed(read_methods)?,
            networks: parsed(networks)?,
            key_header: key_header.map(str::to_owned),
            headers: fields.map(|field| header(field).ok_or_else(missing)).collect::<Result<_, _>>()?,
        })
    }
}

/// A header's name (a token of RFC 9110, 5.6.2) in lower case.
fn is_name(text: &str) -> bool {
    let token =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

fn is_value(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn list<T: fmt::Display>(items: &BTreeSet<T>) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn parsed<T: FromStr + Ord>(items: &str) -> Result<BTreeSet<T>, T::Err> {
    items.split(',').filter(|item| !item.is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests;
