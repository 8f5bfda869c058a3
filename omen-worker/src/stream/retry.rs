//! Retries of requests that get no response.

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

/// Repeats a request that changes nothing until it gets a response.
///
/// While servers elect a leader of a stream, requests about it get no response, and no connection breaks. So the request is
/// retried. The last attempt has the full timeout of the client, for a server that is slow.
pub(crate) async fn retry<T, E, F: Future<Output = Result<T, E>>>(request: impl Fn() -> F) -> Result<T, E> {
    for _ in 0..ATTEMPTS {
        if let Ok(answer) = timeout(SOON, request()).await {
            return answer;
        }
    }
    request().await
}

/// Timeout of each attempt but the last. A healthy server responds much sooner.
const SOON: Duration = Duration::from_secs(2);

/// Number of attempts before the last one. Measured elections took up to ten seconds.
const ATTEMPTS: usize = 4;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::{Instant, sleep};

    use super::*;

    /// Returns the response of a server with these response times in seconds, and the time at which it arrives.
    async fn asked(times: &[u64]) -> (Result<usize, ()>, u64) {
        let (begin, requests) = (Instant::now(), Cell::new(0));
        let answer = retry(|| async {
            let number = requests.replace(requests.get() + 1);
            sleep(Duration::from_secs(times.get(number).copied().unwrap_or(0))).await;
            Ok(number)
        })
        .await;
        (answer, begin.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_an_answer_is_made_again() {
        assert_eq!(asked(&[1]).await, (Ok(0), 1));
        assert_eq!(asked(&[NEVER, NEVER, 1]).await, (Ok(2), 5));
        // A slow server has more time in the last attempt.
        assert_eq!(asked(&[9, 9, 9, 9, 9]).await, (Ok(4), 17));
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_is_an_answer() {
        let requests = Cell::new(0);
        let answer: Result<(), _> = retry(|| async { Err(requests.replace(requests.get() + 1)) }).await;
        assert_eq!((answer, requests.get()), (Err(0), 1));
    }

    const NEVER: u64 = 1_000_000;
}
