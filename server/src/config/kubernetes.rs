//! The environment variables that Kubernetes sets in every container for each service of its
//! namespace. Those of a service named `telltale` or `telltale-web` have the prefix of our settings
//! but are none.
//!
//! ```text
//! TELLTALE_SERVICE_HOST=10.0.0.1              TELLTALE_PORT=tcp://10.0.0.1:80
//! TELLTALE_SERVICE_PORT=80                    TELLTALE_PORT_80_TCP=tcp://10.0.0.1:80
//! TELLTALE_SERVICE_PORT_HTTP=80               TELLTALE_PORT_80_TCP_PROTO=tcp   (and _PORT, _ADDR)
//! ```

/// The schemes in the address of a port, and the same in a variable's name.
const PROTOCOLS: [(&str, &str); 3] = [("tcp", "TCP"), ("udp", "UDP"), ("sctp", "SCTP")];

/// Returns whether Kubernetes sets such a variable for a service. A name that could be a mistyped
/// setting (`TELLTALE_PORT`) counts only if its value has the form that Kubernetes uses.
pub(super) fn is_of_a_service(variable: &str, value: &str) -> bool {
    is_service_part(variable) || is_port_part(variable, value)
}

/// Matches `…_SERVICE_HOST`, `…_SERVICE_PORT`, `…_SERVICE_PORT_<NAME>`.
fn is_service_part(variable: &str) -> bool {
    let named_port = variable
        .split_once("_SERVICE_PORT_")
        .is_some_and(|(service, port)| !service.is_empty() && !port.is_empty());
    named_port || variable.ends_with("_SERVICE_HOST") || variable.ends_with("_SERVICE_PORT")
}

/// Matches `…_PORT` and `…_PORT_<number>_<PROTOCOL>` with the address of a port, and the parts of
/// the latter.
fn is_port_part(variable: &str, value: &str) -> bool {
    if variable.ends_with("_PORT") && is_address(value) {
        return true;
    }
    let parts: Vec<&str> = variable.rsplitn(5, '_').collect();
    match parts.as_slice() {
        [protocol, number, "PORT", ..] if is_port(number, protocol) => is_address(value),
        ["PROTO" | "PORT" | "ADDR", protocol, number, "PORT", ..] => is_port(number, protocol),
        _ => false,
    }
}

fn is_port(number: &str, protocol: &str) -> bool {
    number.parse::<u16>().is_ok() && PROTOCOLS.iter().any(|(_, name)| *name == protocol)
}

/// Matches `tcp://10.0.0.1:80`.
fn is_address(value: &str) -> bool {
    let scheme = value.split_once("://").map(|(scheme, _)| scheme);
    PROTOCOLS.iter().any(|(name, _)| scheme == Some(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_services_are_distinguished_from_settings() {
        let address = "tcp://10.0.0.1:80";
        for (variable, value) in [
            ("TELLTALE_SERVICE_HOST", "10.0.0.1"),
            ("TELLTALE_SERVICE_PORT", "80"),
            ("TELLTALE_SERVICE_PORT_HTTP", "80"),
            ("TELLTALE_SERVICE_PORT_HTTP_METRICS", "80"),
            ("TELLTALE_PORT", address),
            ("TELLTALE_PORT_80_TCP", address),
            ("TELLTALE_PORT_53_UDP", "udp://[fd00::1]:53"),
            ("TELLTALE_PORT_80_TCP_PROTO", "tcp"),
            ("TELLTALE_PORT_80_TCP_PORT", "80"),
            ("TELLTALE_PORT_80_TCP_ADDR", "10.0.0.1"),
            ("TELLTALE_WEB_SERVICE_HOST", "10.0.0.1"),
            ("TELLTALE_WEB_PORT", address),
            ("TELLTALE_WEB_PORT_80_TCP", address),
            ("TELLTALE_WEB_PORT_80_TCP_ADDR", "10.0.0.1"),
        ] {
            assert!(is_of_a_service(variable, value), "{variable}={value}");
        }
        for (variable, value) in [
            ("TELLTALE_PORT", "8080"),
            ("TELLTALE_PORT", ""),
            ("TELLTALE_PORT", "http://10.0.0.1:80"),
            ("TELLTALE_PORT_80_TCP", "80"),
            ("TELLTALE_PORT_HTTP_TCP", address),
            ("TELLTALE_PORT_80_HTTP", address),
            ("TELLTALE_PORT_99999_TCP_ADDR", "10.0.0.1"),
            ("TELLTALE_PORT_80_TCP_HOST", "10.0.0.1"),
            ("TELLTALE_SERVICE", "x"),
            ("TELLTALE_LISTEM", address),
            ("TELLTALE_SERVICE_PORT_", "80"),
        ] {
            assert!(!is_of_a_service(variable, value), "{variable}={value}");
        }
    }
}
