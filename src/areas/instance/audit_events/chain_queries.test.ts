import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { verifiedChains } from './chain_queries.ts';
import { keepAuditPartitions } from './jobs.ts';

const protect = async ({ as, project }: World, names: string[]) => {
  for (const name of names)
    assert.equal((await as('maintainer').post(`/projects/${project.id}/protected_branches`, { name })).status, 201);
};

async function chainsIn({ db }: World) {
  const chains = [];
  for await (const chain of verifiedChains(db, new AbortController().signal)) chains.push(chain);
  return chains;
}

/** As somebody does who may change the database. */
async function tamper({ db }: World, statement: string): Promise<void> {
  await sql.raw(`begin; set local session_replication_role = replica; ${statement}; commit`).execute(db);
}

/** Makes all events older. Their hashes no longer match. */
async function age(here: World, days: number): Promise<void> {
  await tamper(
    here,
    `update audit_events set created_at = created_at - interval '${days} days';
     update audit_chains set first_at = first_at - interval '${days} days', last_at = last_at - interval '${days} days'`,
  );
}

test('a chain is whole, and says from when to when', async () => {
  const here = await world({});
  await Promise.all(['one', 'two', 'three', 'four'].map((name) => protect(here, [name])));
  const [chain, ...others] = await chainsIn(here);
  assert.equal(others.length, 0);
  const { rows } = await sql<{ count: number; hash: string }>`
    select count(*)::int as count, (array_agg(encode(hash, 'hex') order by place desc))[1] as hash from audit_events`.execute(
    here.db,
  );
  assert.deepEqual(
    [chain!.partition, Number(chain!.length), chain!.last_hash, chain!.broken_at],
    ['audit_events_default', rows[0]!.count, rows[0]!.hash, null],
  );
});

test('an event that is changed, missing or added by hand breaks the chain where it is', async () => {
  for (const [place, statement] of [
    [3, "update audit_events set author_name = 'nobody' where place = 3"],
    [3, "update audit_events set details = '{}' where place = 3"],
    [3, 'delete from audit_events where place = 3'],
    [3, 'delete from audit_events where place >= 3'],
    [
      1,
      `insert into audit_events (event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, chain, place, previous_hash, hash)
     select event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, chain, place, previous_hash, hash from audit_events where place = 2`,
    ],
    [
      3,
      `insert into audit_events (created_at, event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, chain, place, previous_hash, hash)
     select created_at, event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, chain, place, previous_hash, hash from audit_events where place = 2`,
    ],
  ] as const) {
    const here = await world({});
    await protect(here, ['one', 'two', 'three', 'four']);
    const { rows } = await sql<{ copy: unknown }>`select to_jsonb(audit_events) as copy from audit_events`.execute(
      here.db,
    );
    const { rows: ends } = await sql<{
      copy: unknown;
    }>`select to_jsonb(audit_chains) as copy from audit_chains`.execute(here.db);
    await tamper(here, statement);
    const broken = (await chainsIn(here)).flatMap(({ broken_at }) => broken_at ?? []).map(Number);
    assert.deepEqual(broken, [place], statement);
    // The other tests of the file share the server.
    await tamper(here, 'delete from audit_events; delete from audit_chains');
    for (const [table, copies] of [
      ['audit_events', rows],
      ['audit_chains', ends],
    ] as const)
      for (const { copy } of copies)
        await tamper(
          here,
          `insert into ${table} overriding system value select * from jsonb_populate_record(null::${table}, '${JSON.stringify(copy).replaceAll("'", "''")}')`.replace(
            table === 'audit_events' ? '' : ' overriding system value',
            '',
          ),
        );
    assert.equal((await chainsIn(here))[0]!.broken_at, null);
  }
});

test('events keep their chain in another partition, and events of no chain are found', async () => {
  const here = await world({});
  await protect(here, ['one', 'two']);
  const before = await chainsIn(here);
  // As on a server where a backup was restored, or that was a secondary.
  await tamper(
    here,
    `create table audit_events_all (like audit_events including all); insert into audit_events_all overriding system value select * from audit_events;
     delete from audit_events; create table audit_events_200001 partition of audit_events for values from ('2000-01-01') to ('2100-01-01');
     insert into audit_events overriding system value select * from audit_events_all; drop table audit_events_all`,
  );
  assert.deepEqual(await chainsIn(here), before);
  await protect(here, ['three']);
  const names = (await chainsIn(here)).map(({ partition, broken_at }) => [partition, broken_at]);
  assert.deepEqual(names, [
    ['audit_events_default', null],
    ['audit_events_200001', null],
  ]);
  await tamper(here, "delete from audit_chains where partition = 'audit_events_200001'");
  assert.deepEqual(
    (await chainsIn(here)).slice(1).map(({ broken_at }) => broken_at),
    [1],
  );
  await tamper(here, 'drop table audit_events_200001; delete from audit_chains');
});

test('months get partitions ahead, and are dropped when their events have been kept long enough', async () => {
  const here = await world({});
  const { db, services } = here;
  await performJob(services, keepAuditPartitions);
  const { rows } = await sql<{ name: string; is_kept: boolean }>`
    select relname as name, exists (select from pg_trigger where tgrelid = pg_class.oid and tgname = 'keep_audit_events') as is_kept
      from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit_events'::regclass order by relname`.execute(
    db,
  );
  assert.equal(rows.length, 4);
  assert.ok(rows.every(({ is_kept }) => is_kept));
  await performJob(services, keepAuditPartitions);

  await protect(here, ['one']);
  await here.as('admin').put('/application/settings', { audit_retention_days: 30 });
  await age(here, 29);
  await performJob(services, keepAuditPartitions);
  assert.equal((await chainsIn(here)).length, 1);
  await age(here, 2);
  await performJob(services, keepAuditPartitions);
  assert.deepEqual(await chainsIn(here), []);
  assert.deepEqual((await here.as('admin').get('/audit_events')).body, []);
  await here.as('admin').put('/application/settings', { audit_retention_days: null });
  const [chain] = await chainsIn(here);
  assert.deepEqual([Number(chain!.length), chain!.broken_at], [1, null]);
  await assert.rejects(sql`truncate audit_events_default`.execute(db), /never changed or deleted/);
});
