//! A store through which the process dies at a given moment.

use interrupts::store::operations::*;

use super::plant::Plants;
use super::point::{Point, Side};

/// A store through which the process dies at a given moment.
pub(super) struct MortalStore {
    pub(super) plants: Plants,
    pub(super) point: Option<Point>,
}

impl MortalStore {
    fn reached(&self, operation: &str, side: Side) {
        if let Some(point) = &self.point {
            point.reached(operation, side);
        }
    }
}

impl Clock for MortalStore {
    fn now(&self) -> Timestamp {
        self.plants.now()
    }
}

/// Each port, operation by operation: through what may be faulty, which has an operation of its own or the store's.
macro_rules! ports {
    ($($port:ident { $(fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)* })*) => {$(
        #[async_trait]
        impl $port for MortalStore {
            $(async fn $name(&self, $($argument: $type),*) -> $output {
                self.reached(stringify!($name), Side::Before);
                let output = self.plants.$name($($argument),*).await;
                self.reached(stringify!($name), Side::After);
                output
            })*
        }
    )*};
}

interrupts::store_operations!(ports);
