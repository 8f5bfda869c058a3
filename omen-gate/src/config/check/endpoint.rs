//! Checks of servers reached over HTTP.

use std::collections::BTreeMap;

use super::{Check, KEEP, is_same_variable};
use crate::base::json::below;
use crate::base::{ServerName, bounded};
use crate::config::endpoint::{Endpoint, HeaderSource};
use crate::config::{Server, file};

impl Check<'_, '_> {
    /// Builds the endpoint of a server if its table has a `url`.
    pub(super) fn endpoint(&mut self, pointer: &str, name: &str, server: &file::ServerTable) -> Option<Endpoint> {
        let Some(url) = &server.url else {
            let given = [
                ("headers", !server.headers.is_empty()),
                ("ca_file", server.ca_file.is_some()),
                ("plain_http", server.plain_http),
            ];
            for (key, _) in given.into_iter().filter(|(_, given)| *given) {
                let message = format!("the server `{}` has `{key}`, but no `url`", bounded(name));
                self.wrong(&below(pointer, key), message, format!("add the `url`, or remove `{key}`"));
            }
            return None;
        };
        if server.command.is_some() {
            let message = format!("the server `{}` has both a `command` and a `url`", bounded(name));
            self.wrong(&below(pointer, "url"), message, "keep one of them: a different address is a different server");
            return None;
        }
        let of_programs = [
            ("args", !server.args.is_empty()),
            ("env", !server.env.is_empty()),
            ("pass_env", !server.pass_env.is_empty()),
        ];
        for (key, _) in of_programs.into_iter().filter(|(_, given)| *given) {
            let message = format!("`{key}` is for a server that is started; `{}` has a `url`", bounded(name));
            self.wrong(&below(pointer, key), message, format!("remove `{key}`"));
        }
        let mut endpoint = match Endpoint::new(url, server.plain_http) {
            Ok(endpoint) => endpoint,
            Err(bad) => {
                self.wrong(&below(pointer, "url"), bad.to_string(), bad.help());
                return None;
            }
        };
        for (header, value) in &server.headers {
            let value = match value {
                file::Header::Text(text) => HeaderSource::Text(text.clone()),
                file::Header::Env { env, prefix } => {
                    HeaderSource::Env { variable: env.clone(), prefix: prefix.clone() }
                }
            };
            match endpoint.clone().header(header, value) {
                Ok(with) => endpoint = with,
                Err(bad) => self.wrong(&below(&below(pointer, "headers"), header), bad.to_string(), bad.help()),
            }
        }
        if let Some(file) = &server.ca_file {
            self.without_nul(&below(pointer, "ca_file"), "the path", file);
            endpoint.ca_file = Some(file.into());
        }
        Some(endpoint)
    }

    /// Refuses a configuration that sends the log's key to a server: only the gate may have the key (A3).
    pub(super) fn key_is_not_sent(&mut self, variable: &str, servers: &BTreeMap<ServerName, Server>) {
        for (name, endpoint) in super::endpoints(servers) {
            for (header, value) in endpoint.headers() {
                if matches!(value, HeaderSource::Env { variable: own, .. } if is_same_variable(own, variable)) {
                    let message = format!(
                        "the header `{header}` sends `{variable}`, which holds the key of the log (`audit.key_env`)"
                    );
                    self.wrong(&below(&below("/servers", name.as_str()), "headers"), message, KEEP);
                }
            }
        }
    }

    /// Returns the texts sent to a server, with their pointers.
    pub(super) fn sent<'e>(&self, name: &ServerName, endpoint: &'e Endpoint) -> Vec<(String, &'e str)> {
        let pointer = below("/servers", name.as_str());
        let headers = endpoint.headers().values().filter_map(|value| match value {
            HeaderSource::Text(text) => Some((below(&pointer, "headers"), text.as_str())),
            HeaderSource::Env { .. } => None,
        });
        std::iter::once((below(&pointer, "url"), endpoint.url())).chain(headers).collect()
    }
}
