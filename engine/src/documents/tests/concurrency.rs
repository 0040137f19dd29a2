//! Tests with concurrent callers, and random histories compared with a map.

use super::setup::*;

const THREADS: usize = 8;

fn in_parallel<T: Send>(work: impl Fn(usize) -> T + Send + std::marker::Sync) -> Vec<T> {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|n| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(n)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn one_of_concurrent_creations_succeeds() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    for round in 0..50 {
        let won = in_parallel(|n| {
            let mut transaction = documents.begin();
            let value = rule("a", i64::try_from(n).unwrap());
            transaction.put(RULES, &round.to_string(), &value, Expect::Absent).unwrap();
            transaction.put(RULES_OLD, &format!("{round}-{n}"), &1, Expect::Any).unwrap();
            transaction.commit().ok()
        });
        let winners: Vec<_> = won.iter().flatten().collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(get(&documents, &round.to_string()).unwrap().revision, *winners[0]);
        let traces = documents.list::<i64>(RULES_OLD, &format!("{round}-")).unwrap();
        assert_eq!(traces.len(), 1, "round {round}: a refused transaction left a trace");
    }
}

#[test]
fn one_of_concurrent_requests_with_one_id_is_executed() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let done = in_parallel(|n| {
        let mut transaction = documents.begin();
        transaction.put(RULES, &n.to_string(), &rule("a", 1), Expect::Absent).unwrap();
        transaction.receipt(receipt(1, 9_999)).unwrap();
        transaction.commit().is_ok()
    });
    assert_eq!(done.into_iter().filter(|done| *done).count(), 1);
    assert_eq!(documents.list::<Rule>(RULES, "").unwrap().len(), 1);
}

#[test]
fn concurrent_transactions_are_serialisable() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let accounts = ["a", "b", "c", "d"];
    for account in accounts {
        put(&documents, account, &rule(account, 100), Expect::Absent).unwrap();
    }
    let revisions = in_parallel(|n| {
        let mut revisions = Vec::new();
        while revisions.len() < 60 {
            let (from, to) = (accounts[n % 4], accounts[(n + 1 + revisions.len() % 3) % 4]);
            let (source, target) = (get(&documents, from).unwrap(), get(&documents, to).unwrap());
            let mut transaction = documents.begin();
            for (id, old, change) in [(from, source, -1), (to, target, 1)] {
                let value = rule(id, old.value.limit + change);
                transaction.put(RULES, id, &value, Expect::Revision(old.revision)).unwrap();
            }
            match transaction.commit() {
                Ok(revision) => revisions.push(revision),
                Err(error) => {
                    assert!(matches!(error, Error::Refused(Refusal::Conflict)), "{error}")
                }
            }
        }
        revisions
    });
    let revisions: Vec<u64> = revisions.into_iter().flatten().collect();
    assert_eq!(revisions.iter().collect::<HashSet<_>>().len(), THREADS * 60);
    let total: i64 = accounts.iter().map(|id| get(&documents, id).unwrap().value.limit).sum();
    assert_eq!(total, 400);
    // Every transfer counted: account `n` was the source of the threads n and n + 4.
    drop(documents);
    let documents = open(dir.path());
    let total: i64 = accounts.iter().map(|id| get(&documents, id).unwrap().value.limit).sum();
    assert_eq!(total, 400);
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, i64, Wish),
    Delete(u8, Wish),
    Pair(u8, Wish, u8, Wish),
    Reopen,
}

/// An expectation relative to the state of the model.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Any,
    Absent,
    Current,
    Stale,
}

fn step() -> impl Strategy<Value = Step> {
    let wish = || {
        prop_oneof![
            3 => Just(Wish::Any),
            1 => Just(Wish::Absent),
            3 => Just(Wish::Current),
            1 => Just(Wish::Stale)
        ]
    };
    let id = || 0_u8..6;
    prop_oneof![
        6 => (id(), any::<i64>(), wish()).prop_map(|(id, n, wish)| Step::Put(id, n, wish)),
        3 => (id(), wish()).prop_map(|(id, wish)| Step::Delete(id, wish)),
        3 => (id(), wish(), id(), wish()).prop_map(|(a, x, b, y)| Step::Pair(a, x, b, y)),
        1 => Just(Step::Reopen),
    ]
}

type Model = BTreeMap<String, (i64, u64)>;

fn expectation(model: &Model, id: &str, wish: Wish) -> (Expect, bool) {
    match (wish, model.get(id)) {
        (Wish::Any, _) => (Expect::Any, true),
        (Wish::Absent, found) => (Expect::Absent, found.is_none()),
        (Wish::Current, Some((_, revision))) => (Expect::Revision(*revision), true),
        (Wish::Current | Wish::Stale, None) => (Expect::Revision(1), false),
        (Wish::Stale, Some((_, revision))) => (Expect::Revision(revision - 1), false),
    }
}

fn apply(documents: &Documents, model: &mut Model, changes: &[(u8, Option<i64>, Wish)]) -> u64 {
    let mut transaction = documents.begin();
    let mut holds = true;
    let mut after = model.clone();
    for (id, value, wish) in changes {
        let id = format!("id{id}");
        let (expect, met) = expectation(model, &id, *wish);
        holds &= met;
        match value {
            Some(value) => {
                transaction.put(RULES, &id, &rule("x", *value), expect).unwrap();
                after.insert(id, (*value, 0));
            }
            None => {
                transaction.delete(RULES, &id, expect);
                after.remove(&id);
            }
        }
    }
    let outcome = transaction.commit();
    if !holds {
        assert!(is_conflict(outcome));
        return 0;
    }
    let given = outcome.unwrap();
    after.values_mut().filter(|(_, revision)| *revision == 0).for_each(|(_, r)| *r = given);
    *model = after;
    given
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Documents behave like a map with revisions under any sequence of operations.
    #[test]
    fn documents_are_a_map_with_revisions(steps in prop::collection::vec(step(), 1..60)) {
        let dir = TempDir::new().unwrap();
        let mut documents = Some(open(dir.path()));
        let mut model = Model::new();
        let mut last = 0;
        for step in &steps {
            let open_documents = documents.as_ref().unwrap();
            let given = match *step {
                Step::Put(id, n, wish) => apply(open_documents, &mut model, &[(id, Some(n), wish)]),
                Step::Delete(id, wish) => apply(open_documents, &mut model, &[(id, None, wish)]),
                Step::Pair(a, x, b, y) => {
                    apply(open_documents, &mut model, &[(a, Some(1), x), (b, None, y)])
                }
                Step::Reopen => {
                    drop(documents.take());
                    documents = Some(open(dir.path()));
                    0
                }
            };
            prop_assert!(given == 0 || given > last);
            last = last.max(given);
        }
        let listed = documents.unwrap().list::<Rule>(RULES, "id").unwrap();
        let listed: Model = listed
            .into_iter()
            .map(|(id, document)| (id, (document.value.limit, document.revision)))
            .collect();
        prop_assert_eq!(listed, model);
    }

    /// Decoding arbitrary bytes as a document or receipt returns a value or an error.
    #[test]
    fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), id: u128) {
        let key = RULES.key("a");
        prop_assert!(collection::parse::<Value>(&key, &bytes).is_err());
        prop_assert!(Receipt::decode(id, &bytes).is_err());
        drop(collection::display_name(&bytes));
    }

    #[test]
    fn receipts_survive_a_round_trip(id: u128, fingerprint: u64, answer: Vec<u8>, expires_at: i64) {
        let receipt = Receipt { id, fingerprint, answer, expires_at: TimestampMs(expires_at) };
        prop_assert_eq!(&Receipt::decode(id, &receipt.encode()).unwrap(), &receipt);
        prop_assert!(Receipt::decode(id ^ 1, &receipt.encode()).is_err());
    }
}
