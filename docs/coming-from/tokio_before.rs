// SPDX-License-Identifier: Apache-2.0
// tokio_before.rs - requests with a deadline each, a few at a time.
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, Semaphore};
use tokio::time::{sleep, timeout};

async fn fetch(n: u64) -> u64 {
    sleep(Duration::from_millis(if n == 3 { 60_000 } else { n })).await;
    n * n
}

#[tokio::main]
async fn main() {
    let few = Arc::new(Semaphore::new(2));
    let (send, mut receive) = mpsc::channel(8);
    for n in 0..5 {
        let (few, send) = (few.clone(), send.clone());
        tokio::spawn(async move {
            let _permit = few.acquire().await.unwrap();
            let limit = Duration::from_millis(200);
            send.send(timeout(limit, fetch(n)).await.ok()).await.unwrap();
        });
    }
    drop(send);
    let (mut sum, mut late) = (0, 0);
    while let Some(result) = receive.recv().await {
        match result {
            Some(square) => sum += square,
            None => late += 1,
        }
    }
    println!("sum {sum}, {late} too late");
}
