//! The feed on a bus: a broker that fails as a test wants it to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupts::OwnerName;
use interrupts::bus::{Bus, BusAnswer, BusCommand, BusError, BusEvent};
use interrupts::store::Consumer;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::house::House;
use crate::scene::running;

/// A broker in memory.
struct Broker {
    consumer: Consumer,
    /// What it does with an event, by how many it was given before.
    does: fn(usize) -> Does,
    given: Mutex<Vec<BusEvent>>,
    taken: Mutex<Vec<BusEvent>>,
    commands: tokio::sync::Mutex<mpsc::Receiver<BusCommand>>,
    answers: mpsc::Sender<(String, BusAnswer)>,
}

/// What a broker does with an event.
enum Does {
    /// Takes it.
    Take,
    /// Refuses it.
    Refuse(BusError),
    /// Takes it, and is away before it can say so.
    TakeUnheard,
}

fn away() -> BusError {
    BusError::Away {
        reason: "it sleeps".to_owned(),
    }
}

/// What a test holds of it.
struct Ends {
    commands: mpsc::Sender<BusCommand>,
    answers: mpsc::Receiver<(String, BusAnswer)>,
}

fn broker(does: fn(usize) -> Does) -> (Arc<Broker>, Ends) {
    let (commands, received) = mpsc::channel(8);
    let (answers, answered) = mpsc::channel(8);
    let broker = Broker {
        consumer: OwnerName::new("bus").unwrap(),
        does,
        given: Mutex::default(),
        taken: Mutex::default(),
        commands: received.into(),
        answers,
    };
    let ends = Ends {
        commands,
        answers: answered,
    };
    (Arc::new(broker), ends)
}

fn broker_that_takes() -> Broker {
    let (broker, _ends) = broker(|_before| Does::Take);
    Arc::into_inner(broker).unwrap()
}

#[async_trait]
impl Bus for Broker {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn consumer(&self) -> &Consumer {
        &self.consumer
    }

    async fn prepare(&self) -> Result<(), BusError> {
        Ok(())
    }

    async fn publish(&self, event: &BusEvent) -> Result<(), BusError> {
        let mut given = self.given.lock().unwrap();
        let before = given.len();
        given.push(event.clone());
        // It knows no event again.
        let take = || self.taken.lock().unwrap().push(event.clone());
        match (self.does)(before) {
            Does::Take => {
                take();
                Ok(())
            }
            Does::Refuse(error) => Err(error),
            Does::TakeUnheard => {
                take();
                Err(away())
            }
        }
    }

    async fn last(&self) -> Result<Option<String>, BusError> {
        let taken = self.taken.lock().unwrap();
        Ok(taken.last().map(|event| event.json.clone()))
    }

    async fn command(&self) -> Option<BusCommand> {
        self.commands.lock().await.recv().await
    }

    async fn answer(&self, reply: &str, answer: BusAnswer) -> Result<(), BusError> {
        self.answers.send((reply.to_owned(), answer)).await.unwrap();
        Ok(())
    }

    async fn close(&self) {
        self.commands.lock().await.close();
    }
}

impl Broker {
    /// Waits until it has taken so many, and returns all that it has taken.
    async fn takes(&self, count: usize) -> Vec<BusEvent> {
        loop {
            let taken = self.taken.lock().unwrap().clone();
            if taken.len() >= count {
                return taken;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn sequence(event: &BusEvent) -> u64 {
    let json: Value = serde_json::from_str(&event.json).unwrap();
    json["sequence"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_fails_is_published_again_before_what_follows() {
    let (broker, _ends) = broker(|before| match before % 3 {
        0 => Does::TakeUnheard,
        1 => Does::Refuse(away()),
        _ => Does::Take,
    });
    let bus = Arc::clone(&broker);
    let house = House::with(|config| config.bus = Some(bus)).await;
    running(&*house.store, None).await;
    let taken = broker.takes(4).await;
    let positions: Vec<u64> = taken.iter().map(sequence).collect();
    assert_eq!(positions, (1..=4).collect::<Vec<_>>());
    // What was given twice is the same event under the same id.
    let given = broker.given.lock().unwrap().clone();
    assert_eq!(given[1], given[2]);
    // The next server of the store goes on after what the broker has, though the cursor was never moved.
    let consumer = OwnerName::new("another").unwrap();
    let next = Arc::new(Broker {
        consumer,
        taken: Mutex::new(broker.taken.lock().unwrap().clone()),
        ..broker_that_takes()
    });
    let store = Arc::clone(&house.store);
    house.close().await;
    let bus = Arc::clone(&next);
    let house = House::over(store, |config| config.bus = Some(bus)).await;
    running(&*house.store, None).await;
    let taken = next.takes(8).await;
    let positions: Vec<u64> = taken.iter().map(sequence).collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_that_no_broker_takes_is_told_as_missing() {
    let (broker, _ends) = broker(|before| match before {
        1 => Does::Refuse(BusError::TooLarge { length: 2_000_000 }),
        _ => Does::Take,
    });
    let bus = Arc::clone(&broker);
    let house = House::with(|config| config.bus = Some(bus)).await;
    running(&*house.store, None).await;
    let taken = broker.takes(4).await;
    assert_eq!((sequence(&taken[0]), sequence(&taken[2])), (1, 3));
    let reset: Value = serde_json::from_str(&taken[1].json).unwrap();
    assert_eq!(taken[1].topic, "stream.reset");
    assert_eq!(reset["data"]["from_seq"], "0000000000000002");
    assert_eq!(reset["data"]["to_seq"], "0000000000000002");
    assert_eq!(reset["data"]["reason"], "too_large");
}

#[tokio::test]
async fn commands_that_came_before_a_server_is_told_to_stop_are_answered() {
    let (broker, mut ends) = broker(|_before| Does::Take);
    let bus = Arc::clone(&broker);
    let house = House::with(|config| config.bus = Some(bus)).await;
    let command = |number: u32| BusCommand {
        verb: "reroute".to_owned(),
        headers: Vec::new(),
        body: json!({}).to_string().into_bytes(),
        reply: Some(format!("inbox.{number}")),
    };
    for number in 0..4 {
        ends.commands.send(command(number)).await.unwrap();
    }
    house.close().await;
    let mut replies = Vec::new();
    while let Ok((reply, answer)) = ends.answers.try_recv() {
        assert_eq!(answer.status, 401);
        replies.push(reply);
    }
    replies.sort();
    assert_eq!(replies, ["inbox.0", "inbox.1", "inbox.2", "inbox.3"]);
    // The next one is for another server.
    assert!(ends.commands.send(command(4)).await.is_err());
}
