//! Connections that are made in time.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use tokio::time::timeout;
use tower_service::Service;

/// A connector that gives up after some time: what it waits for includes the handshake of the encryption.
#[derive(Clone, Debug)]
pub(super) struct Timed<C> {
    pub(super) connector: C,
    pub(super) limit: Duration,
}

type Failed = Box<dyn Error + Send + Sync>;

impl<C> Service<Uri> for Timed<C>
where
    C: Service<Uri>,
    C::Response: Send,
    C::Error: Into<Failed>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, Failed>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, limit) = (self.connector.call(uri), self.limit);
        Box::pin(async move {
            match timeout(limit, connecting).await {
                Ok(connected) => connected.map_err(Into::into),
                Err(_) => Err(format!("no connection within {limit:?}").into()),
            }
        })
    }
}
