import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { readTimestamp } from './values.ts';

test('a time has three decimals and is in UTC, whatever PostgreSQL wrote', () => {
  assert.equal(readTimestamp('2026-01-02 03:04:05+00'), '2026-01-02T03:04:05.000Z');
  assert.equal(readTimestamp('2026-01-02 03:04:05.6+00'), '2026-01-02T03:04:05.600Z');
  assert.equal(readTimestamp('2026-01-02 03:04:05.678901+00'), '2026-01-02T03:04:05.678Z');
  assert.equal(readTimestamp('2026-01-02 03:04:05.678901+05:30'), '2026-01-01T21:34:05.678Z');
  assert.equal(readTimestamp('2026-01-01 23:30:00-01'), '2026-01-02T00:30:00.000Z');
  assert.equal(readTimestamp('1890-01-01 00:53:28+00:53:28'), '1890-01-01T00:00:00.000Z');
  assert.equal(readTimestamp('10000-01-01 00:00:00+00'), '+010000-01-01T00:00:00.000Z');
  assert.equal(readTimestamp('0001-01-01 00:00:00+00 BC'), '0000-01-01T00:00:00.000Z');
  assert.equal(readTimestamp('infinity'), 'infinity');
});

test('values of PostgreSQL arrive as the API sends them, in arrays too', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql`select '2026-01-02T03:04:05.678901+02'::timestamptz as moment, '2026-01-02'::date as day,
    9007199254740991::bigint as count, 1.50::numeric as weight, '{"a":[1,null]}'::jsonb as document,
    array[1, null]::bigint[] as counts, array['2026-01-02']::date[] as days, array['2026-01-02T00:00:00Z']::timestamptz[] as moments,
    '{}'::text[] as none, array[null, 'NULL', 'a b', 'a,b', '{', '"', '\\'] as texts, '{{a,b},{c,d}}'::text[] as pairs,
    '[0:1]={5,6}'::bigint[] as shifted, current_setting('TimeZone') as zone`.execute(db);
  assert.deepEqual(rows, [
    {
      moment: '2026-01-02T01:04:05.678Z',
      day: '2026-01-02',
      count: 9007199254740991,
      weight: 1.5,
      document: { a: [1, null] },
      counts: [1, null],
      days: ['2026-01-02'],
      moments: ['2026-01-02T00:00:00.000Z'],
      none: [],
      texts: [null, 'NULL', 'a b', 'a,b', '{', '"', '\\'],
      pairs: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      shifted: [5, 6],
      zone: 'UTC',
    },
  ]);
});
