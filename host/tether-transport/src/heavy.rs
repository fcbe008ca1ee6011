//! Work that would hold up whoever else is served by the same thread.

/// From so many bytes on, going through them takes more than the move to another
/// thread.
const HEAVY: usize = 256 << 10;

/// Does `work`, on so many bytes: on a thread of its own where they are many.
pub(crate) async fn heavy<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes < HEAVY {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn only_what_is_much_leaves_the_thread() {
        let here = thread::current().id();
        assert_eq!(heavy(HEAVY - 1, || thread::current().id()).await, here);
        assert_ne!(heavy(HEAVY, || thread::current().id()).await, here);
    }
}
