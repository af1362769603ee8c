import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Replicable, replicables } from '../../replicas/definition.ts';
import { type Counts, counters, type SiteStatus } from './definition.ts';
import { healthReasons, percentage, type Situation } from './rules.ts';

const none: Counts = {
  ...(Object.fromEntries(counters.map((name) => [name, 0])) as Omit<Counts, 'oldest_unsynced_time'>),
  oldest_unsynced_time: null,
};

const statusWith = (
  given: Partial<SiteStatus>,
  counts: Partial<Record<Replicable, Partial<Counts>>> = {},
): SiteStatus => ({
  version: '1.0.0',
  revision: 'abc',
  db_replication_lag_seconds: 0,
  events_behind_seconds: 0,
  replication_slots: { count: 0, used_count: 0, max_retained_wal_bytes: 0 },
  last_event: null,
  cursor: null,
  storages: ['default'],
  problems: [],
  ...given,
  counts: Object.fromEntries(replicables.map((name) => [name, { ...none, ...counts[name] }])) as Record<
    Replicable,
    Counts
  >,
});

const reasonsWith = (given: Partial<Situation>) =>
  healthReasons({ role: 'primary', enabled: true, hasCredential: true, status: statusWith({}), age_s: 10, ...given });

test('a site that reports, and is neither behind nor damaged, is healthy', () => {
  assert.deepEqual(reasonsWith({}), []);
  assert.deepEqual(reasonsWith({ age_s: 60 }), []);
  const primary = statusWith({ db_replication_lag_seconds: null, events_behind_seconds: null });
  assert.deepEqual(reasonsWith({ status: primary }), []);
  assert.deepEqual(
    reasonsWith({ status: statusWith({ db_replication_lag_seconds: 60, events_behind_seconds: 60 }) }),
    [],
  );
});

test('each reason is a sentence', () => {
  const sentences: [Partial<Situation>, string][] = [
    [{ role: undefined }, 'Geo is not set up on this site: COPPICE_GEO_ROLE is not set.'],
    [{ enabled: false }, 'The site is disabled.'],
    [{ status: undefined }, 'The site has never reported its status.'],
    [{ age_s: 61.9 }, 'The site has not reported its status for 61 seconds.'],
    [{ hasCredential: false }, 'The site has no valid credential. Repair it.'],
    [{ status: statusWith({ problems: ['The disk is full.'] }) }, 'The disk is full.'],
    [{ status: statusWith({ db_replication_lag_seconds: 61 }) }, 'The database is 61 seconds behind.'],
    [{ status: statusWith({ events_behind_seconds: 61 }) }, 'The events are 61 seconds behind.'],
    [
      { status: statusWith({}, { snippet_repositories: { failed_count: 2 }, uploads: { failed_count: 1 } }) },
      '2 repositories and 1 file could not be copied.',
    ],
    [{ status: statusWith({}, { lfs_objects: { failed_count: 3 } }) }, '3 files could not be copied.'],
    [
      {
        status: statusWith(
          {},
          { uploads: { verification_failed_count: 1 }, lfs_objects: { verification_failed_count: 1 } },
        ),
      },
      '2 copies differ from the primary.',
    ],
    [{ status: statusWith({}, { uploads: { verification_failed_count: 1 } }) }, '1 copy differs from the primary.'],
    [
      { status: statusWith({}, { project_repositories: { checksum_failed_count: 1 } }) },
      '1 repository of the primary is damaged.',
    ],
  ];
  for (const [given, sentence] of sentences) assert.deepEqual(reasonsWith(given), [sentence]);
});

test('the worst reason comes first', () => {
  const status = statusWith({
    problems: ['The disk is full.'],
    db_replication_lag_seconds: 90,
    events_behind_seconds: 80,
  });
  assert.deepEqual(reasonsWith({ role: undefined, enabled: false, hasCredential: false, age_s: 70, status }), [
    'Geo is not set up on this site: COPPICE_GEO_ROLE is not set.',
    'The site is disabled.',
    'The site has not reported its status for 70 seconds.',
    'The site has no valid credential. Repair it.',
    'The disk is full.',
    'The database is 90 seconds behind.',
    'The events are 80 seconds behind.',
  ]);
});

test('a percentage is not 100 until nothing is missing', () => {
  assert.equal(percentage(1, 3), '33.33%');
  assert.equal(percentage(99_999, 100_000), '99.99%');
  assert.equal(percentage(5, 5), '100.00%');
  for (const [part, total] of [
    [0, 5],
    [0, 0],
    [null, 3],
    [null, null],
  ] as const)
    assert.equal(percentage(part, total), '0.00%');
});
