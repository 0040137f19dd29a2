//! Tests with one caller at a time: documents, expectations, corruption, receipts, encoding.

use super::setup::*;
use crate::damage::DamageList;
use crate::storage::copy_as_killed;

#[test]
fn a_document_reads_back_unchanged_also_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    assert_eq!(get(&documents, "a"), None);
    let revision = put(&documents, "a", &rule("Ä\"\\\u{1F600}", -1), Expect::Any).unwrap();
    let expected = Versioned { value: rule("Ä\"\\\u{1F600}", -1), revision };
    assert_eq!(get(&documents, "a"), Some(expected.clone()));
    drop(documents);
    assert_eq!(get(&open(dir.path()), "a"), Some(expected));
}

#[test]
fn ids_are_any_string_and_collections_are_separate() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let ids = ["", "a", "a/b", "_old", "\u{0}", "ü", "x".repeat(1_024).leak()];
    let mut transaction = documents.begin();
    for id in ids {
        transaction.put(RULES, id, &rule(id, 1), Expect::Absent).unwrap();
        transaction.put(RULES_OLD, id, &rule(id, 2), Expect::Absent).unwrap();
    }
    transaction.commit().unwrap();
    for id in ids {
        assert_eq!(get(&documents, id).unwrap().value, rule(id, 1));
    }
    let mut sorted = ids;
    sorted.sort_unstable();
    let listed = documents.list::<Rule>(RULES, "").unwrap();
    assert!(listed.iter().map(|(id, _)| id.as_str()).eq(sorted));
    assert!(listed.iter().all(|(_, document)| document.value.limit == 1));
    let listed = documents.list::<Rule>(RULES, "a").unwrap();
    assert!(listed.iter().map(|(id, _)| id.as_str()).eq(["a", "a/b"]));
}

#[test]
#[should_panic(expected = "is not 1 to 32 of a-z and _")]
fn an_invalid_collection_name_panics() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    drop(documents.get::<Rule>(Collection("Rules"), "a"));
}

#[test]
fn expectations_are_checked() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    assert!(is_conflict(put(&documents, "a", &rule("0", 0), Expect::Revision(1))));
    assert!(is_conflict(delete(&documents, "a", Expect::Revision(1))));
    delete(&documents, "a", Expect::Absent).unwrap();
    delete(&documents, "a", Expect::Any).unwrap();

    let first = put(&documents, "a", &rule("1", 1), Expect::Absent).unwrap();
    assert!(is_conflict(put(&documents, "a", &rule("2", 2), Expect::Absent)));
    assert!(is_conflict(delete(&documents, "a", Expect::Absent)));
    let second = put(&documents, "a", &rule("2", 2), Expect::Revision(first)).unwrap();
    assert!(is_conflict(put(&documents, "a", &rule("3", 3), Expect::Revision(first))));
    assert_eq!(get(&documents, "a").unwrap().value, rule("2", 2));
    delete(&documents, "a", Expect::Revision(second)).unwrap();
    assert_eq!(get(&documents, "a"), None);
}

#[test]
fn one_failed_expectation_stops_the_whole_transaction() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    put(&documents, "there", &rule("old", 0), Expect::Any).unwrap();
    let mut transaction = documents.begin();
    transaction.put(RULES, "new", &rule("new", 1), Expect::Absent).unwrap();
    transaction.put(RULES, "there", &rule("new", 1), Expect::Absent).unwrap();
    transaction.receipt(receipt(1, 9_999)).unwrap();
    assert!(is_conflict(transaction.commit()));
    assert_eq!(get(&documents, "new"), None);
    assert_eq!(get(&documents, "there").unwrap().value, rule("old", 0));
    assert_eq!(documents.receipt(1).unwrap(), None);
}

#[test]
fn appended_transactions_are_applied_together() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let append = |expect| {
        let [mut one, mut other] = [documents.begin(), documents.begin()];
        one.put(RULES, "a", &rule("a", 1), Expect::Any).unwrap();
        other.put(RULES_OLD, "b", &rule("b", 1), expect).unwrap();
        other.receipt(receipt(1, 9_999)).unwrap();
        one.append(other);
        one.commit()
    };
    assert!(is_conflict(append(Expect::Revision(1))));
    assert_eq!(get(&documents, "a"), None);
    let revision = append(Expect::Absent).unwrap();
    let listed = documents.list::<Rule>(RULES_OLD, "").unwrap();
    assert_eq!(listed.iter().map(|(_, found)| found.revision).collect::<Vec<_>>(), [revision]);
    assert_eq!(get(&documents, "a").unwrap().revision, revision);
    assert!(documents.receipt(1).unwrap().is_some());
}

#[test]
fn an_uncommitted_transaction_has_no_effect() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let mut transaction = documents.begin();
    transaction.put(RULES, "a", &rule("a", 1), Expect::Any).unwrap();
    drop(transaction);
    assert_eq!(get(&documents, "a"), None);
}

#[test]
fn the_last_change_of_a_document_wins_and_all_share_the_revision() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let mut transaction = documents.begin();
    transaction.put(RULES, "a", &rule("1", 1), Expect::Absent).unwrap();
    transaction.put(RULES, "a", &rule("2", 2), Expect::Absent).unwrap();
    transaction.put(RULES, "b", &rule("3", 3), Expect::Any).unwrap();
    transaction.delete(RULES, "b", Expect::Any);
    let revision = transaction.commit().unwrap();
    assert_eq!(get(&documents, "a"), Some(Versioned { value: rule("2", 2), revision }));
    assert_eq!(get(&documents, "b"), None);
}

#[test]
fn a_revision_is_never_reused() {
    let dir = TempDir::new().unwrap();
    let mut last = 0;
    for _ in 0..4 {
        let documents = open(dir.path());
        for _ in 0..700 {
            let revision = put(&documents, "a", &rule("a", 1), Expect::Absent).unwrap();
            assert!(revision > last);
            assert!(delete(&documents, "a", Expect::Revision(revision)).unwrap() > revision);
            last = revision + 1;
        }
    }
}

#[test]
fn committed_documents_survive_a_kill() {
    let dir = TempDir::new().unwrap();
    let (live, killed) = (dir.path().join("live"), dir.path().join("killed"));
    let documents = open(&live);
    let mut revisions = Vec::new();
    for n in 0..50 {
        revisions.push(put(&documents, &n.to_string(), &rule("a", n), Expect::Absent).unwrap());
    }
    copy_as_killed(&live, &killed);
    let documents = open(&killed);
    for (n, revision) in (0..50).zip(&revisions) {
        let expected = Versioned { value: rule("a", n), revision: *revision };
        assert_eq!(get(&documents, &n.to_string()), Some(expected));
    }
    let next = put(&documents, "next", &rule("a", 0), Expect::Absent).unwrap();
    assert!(revisions.iter().all(|revision| *revision < next));
}

#[test]
fn documents_over_a_limit_are_refused_before_they_are_stored() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let mut transaction = documents.begin();
    let long_id = "x".repeat(limits::DOCUMENT_ID_BYTES_MAX + 1);
    transaction.put(RULES, &long_id, &1, Expect::Any).unwrap_err();
    let large = "x".repeat(limits::DOCUMENT_BYTES_MAX);
    transaction.put(RULES, "large", &large, Expect::Any).unwrap_err();
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    let deepest = nested(limits::DOCUMENT_NESTING_MAX);
    transaction.put(RULES, "deepest", &deepest, Expect::Any).unwrap();
    let deeper = nested(limits::DOCUMENT_NESTING_MAX + 1);
    transaction.put(RULES, "deeper", &deeper, Expect::Any).unwrap_err();
    let not_json: BTreeMap<(u8, u8), u8> = BTreeMap::from([((1, 2), 3)]);
    transaction.put(RULES, "not_json", &not_json, Expect::Any).unwrap_err();
    let mut too_long = receipt(1, 9_999);
    too_long.answer = vec![0; limits::RECEIPT_RESPONSE_BYTES_MAX + 1];
    transaction.receipt(too_long).unwrap_err();
    transaction.commit().unwrap();
    let listed = documents.list::<Value>(RULES, "").unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].1.value, deepest);
}

#[test]
fn a_corrupt_document_fails_alone_and_is_named() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    for id in ["a", "b", "c", "d"] {
        put(&documents, id, &rule(id, 1), Expect::Absent).unwrap();
    }
    let key = RULES.key("b");
    let mut bytes = stored(&documents, Keyspace::Documents, &key);
    *bytes.last_mut().unwrap() ^= 1;
    put_raw(&documents, Keyspace::Documents, &key, bytes);
    let mut transaction = documents.begin();
    transaction.put(RULES, "c", &"not a rule", Expect::Any).unwrap();
    transaction.commit().unwrap();

    let error = documents.get::<Rule>(RULES, "b").unwrap_err();
    assert_eq!(error.to_string(), "damaged data: document rules/b: the checksum does not match");
    assert!(matches!(documents.get::<Rule>(RULES, "c").unwrap_err(), Error::Corrupt(_)));
    let listed = documents.list::<Rule>(RULES, "").unwrap();
    assert!(listed.iter().map(|(id, _)| id.as_str()).eq(["a", "d"]));
    assert_eq!(documents.damaged(), ["rules/b", "rules/c"]);

    assert!(is_conflict(put(&documents, "b", &rule("b", 2), Expect::Absent)));
    let error = put(&documents, "b", &rule("b", 2), Expect::Revision(2)).unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
    put(&documents, "b", &rule("b", 2), Expect::Any).unwrap();
    delete(&documents, "c", Expect::Any).unwrap();
    assert_eq!(documents.list::<Rule>(RULES, "").unwrap().len(), 3);
    assert!(documents.damaged().is_empty());
}

#[test]
fn a_document_under_the_wrong_key_is_corrupt() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    put(&documents, "a", &rule("a", 1), Expect::Any).unwrap();
    let bytes = stored(&documents, Keyspace::Documents, &RULES.key("a"));
    put_raw(&documents, Keyspace::Documents, &RULES.key("b"), bytes);
    assert!(matches!(documents.get::<Rule>(RULES, "b").unwrap_err(), Error::Corrupt(_)));
}

#[test]
fn a_flipped_byte_in_a_table_hides_only_its_part_of_a_list() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    for n in 0..1_000 {
        let mut transaction = documents.begin();
        transaction.put(RULES, &format!("{n:04}"), &rule(&noise(n), n), Expect::Absent).unwrap();
        transaction.commit().unwrap();
    }
    documents.store.flush().unwrap();
    drop(documents);
    let path = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let table = path.filter(|path| path.extension().is_some_and(|e| e == "sst"));
    let table = table.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&table, bytes).unwrap();
    // The checksum and parity files would repair the table.
    fs::remove_dir_all(dir.path().join("guards")).unwrap();

    let documents = open(dir.path());
    let listed = documents.list::<Rule>(RULES, "").unwrap();
    assert!((800..1_000).contains(&listed.len()), "{} of 1000", listed.len());
    assert!(listed.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!((&*listed[0].0, &*listed[listed.len() - 1].0), ("0000", "0999"));
    assert_eq!(documents.damaged().len(), 1);
    assert!(documents.damaged()[0].starts_with("rules: the part after \"rules/"));
    assert_eq!(documents.verify().unwrap().damaged.len(), 1);
}

/// Returns a string that hardly compresses.
fn noise(seed: i64) -> String {
    let next =
        |n: u64| n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let numbers = std::iter::successors(Some(next(seed.unsigned_abs())), |n| Some(next(*n)));
    numbers.take(12).map(|n| format!("{n:x}")).collect()
}

#[test]
fn receipts_are_kept_until_they_expire() {
    let dir = TempDir::new().unwrap();
    let clock = Clock::manual(TimestampMs(1_000));
    let documents = open_at(dir.path(), clock.clone());
    let mut transaction = documents.begin();
    transaction.put(RULES, "a", &rule("a", 1), Expect::Any).unwrap();
    transaction.receipt(receipt(u128::MAX, 2_000)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(documents.receipt(u128::MAX).unwrap(), Some(receipt(u128::MAX, 2_000)));
    assert_eq!(documents.receipt(0).unwrap(), None);
    clock.set(TimestampMs(1_999));
    assert!(documents.receipt(u128::MAX).unwrap().is_some());
    clock.set(TimestampMs(2_000));
    assert_eq!(documents.receipt(u128::MAX).unwrap(), None);
}

#[test]
fn a_request_gets_one_receipt() {
    let dir = TempDir::new().unwrap();
    let clock = Clock::manual(TimestampMs(1_000));
    let documents = open_at(dir.path(), clock.clone());
    let commit = |expires_at| {
        let mut transaction = documents.begin();
        transaction.receipt(receipt(5, expires_at)).unwrap();
        transaction.commit()
    };
    commit(2_000).unwrap();
    assert!(is_conflict(commit(3_000)));
    clock.set(TimestampMs(2_000));
    commit(3_000).unwrap();
    assert_eq!(documents.receipt(5).unwrap(), Some(receipt(5, 3_000)));
}

#[test]
fn expiry_deletes_only_expired_and_unreadable_receipts() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let mut batch = Batch::new();
    for id in 0..2_500 {
        receipt(id, 1_000 + i64::try_from(id).unwrap()).stage(&mut batch);
    }
    documents.store.write(batch, Sync::No).unwrap();
    put_raw(&documents, Keyspace::Receipts, Receipt::key(9_000).as_ref(), b"\x01garbage".to_vec());
    put_raw(&documents, Keyspace::Receipts, b"short key", Vec::new());
    assert_eq!(documents.verify().unwrap().damaged.len(), 2);

    let list = tempfile::tempdir().unwrap();
    let list = Arc::new(DamageList::open(list.path(), Clock::system()));
    documents.store.report_damage_to(Arc::clone(&list));
    assert_eq!(documents.expire_receipts(TimestampMs(3_099)).unwrap(), 2_102);
    let lines = list.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("lost: 2 receipts of idempotent requests"), "{lines:?}");
    let seen = documents.verify().unwrap();
    assert_eq!((seen.receipts, seen.damaged.len()), (400, 0));
    assert!(documents.receipt(2_099).unwrap().is_none());
    assert!(documents.receipt(2_100).unwrap().is_some());
    assert_eq!(documents.expire_receipts(TimestampMs(3_099)).unwrap(), 0);
}

#[test]
fn a_lost_revision_counter_is_reported() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let revision = put(&documents, "a", &rule("a", 1), Expect::Any).unwrap();
    let mut batch = Batch::new();
    batch.delete(Keyspace::Meta, b"documents.revision");
    documents.store.write(batch, Sync::Yes).unwrap();
    drop(documents);
    let documents = open(dir.path());
    let list = tempfile::tempdir().unwrap();
    let list = Arc::new(DamageList::open(list.path(), Clock::system()));
    documents.store.report_damage_to(Arc::clone(&list));
    let lines = list.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("lost: the revision counter of documents"), "{lines:?}");
    assert!(put(&documents, "b", &rule("b", 1), Expect::Any).unwrap() > revision);
}

#[test]
fn verify_counts_everything_and_names_corrupt_entries() {
    let dir = TempDir::new().unwrap();
    let documents = open(dir.path());
    let mut transaction = documents.begin();
    for id in ["a", "b"] {
        transaction.put(RULES, id, &rule(id, 1), Expect::Any).unwrap();
    }
    transaction.receipt(receipt(1, 9_999)).unwrap();
    transaction.commit().unwrap();
    let seen = documents.verify().unwrap();
    assert_eq!((seen.documents, seen.receipts, seen.damaged.len()), (2, 1, 0));
    assert!(seen.bytes > 100);

    put_raw(&documents, Keyspace::Documents, &RULES.key("a"), vec![2, 0, 0]);
    put_raw(&documents, Keyspace::Documents, &RULES.key("b"), vec![1, 0, 0]);
    let key = RULES.key("c");
    put_raw(&documents, Keyspace::Documents, &key, collection::encode(&key, 1, b"{"));
    put_raw(&documents, Keyspace::Documents, &[200, 1], Vec::new());
    let damaged = documents.verify().unwrap().damaged;
    assert_eq!(damaged.len(), 4);
    assert_eq!(damaged[0], "document rules/a: unknown frame version 2");
    assert_eq!(damaged[1], "document rules/b: 3 bytes are too short");
    assert!(damaged[2].starts_with("document rules/c: EOF"), "{}", damaged[2]);
    assert_eq!(damaged[3], "document key [c8, 01]: 0 bytes are too short");
}

#[test]
fn the_bytes_of_a_document() {
    let key = RULES.key("a1");
    assert_eq!(*key, *b"\x05rulesa1");
    let stored = collection::encode(&key, 0x0102_0304, br#"{"n":7}"#);
    let golden = [
        &[1][..],
        &GOLDEN_DOCUMENT_CHECKSUM.to_le_bytes(),
        &[4, 3, 2, 1, 0, 0, 0, 0],
        br#"{"n":7}"#,
    ];
    assert_eq!(stored, golden.concat());
    assert_eq!(collection::decode(&key, &stored).unwrap(), (0x0102_0304, &br#"{"n":7}"#[..]));
}

#[test]
fn the_bytes_of_a_receipt() {
    let receipt = Receipt {
        id: 0x0f0e_0d0c,
        fingerprint: 0x0807,
        answer: b"ok".to_vec(),
        expires_at: TimestampMs(0x0605_0403),
    };
    assert_eq!(
        Receipt::key(receipt.id).as_ref(),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 14, 13, 12]
    );
    let golden = [
        &[1][..],
        &GOLDEN_RECEIPT_CHECKSUM.to_le_bytes(),
        &[3, 4, 5, 6, 0, 0, 0, 0],
        &[7, 8, 0, 0, 0, 0, 0, 0],
        b"ok",
    ];
    assert_eq!(receipt.encode(), golden.concat());
    assert_eq!(Receipt::decode(receipt.id, &receipt.encode()).unwrap(), receipt);
}

// Computed with another implementation of XXH3-64.
const GOLDEN_DOCUMENT_CHECKSUM: u64 = 0xe0c4_97cb_f28d_4e34;
const GOLDEN_RECEIPT_CHECKSUM: u64 = 0xb0f7_1c91_e9a7_9f3d;
