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
  for (const statement of [
    "update audit_events set author_name = 'nobody' where place = 3",
    "update audit_events set details = '{}' where place = 3",
    'delete from audit_events where place = 3',
    'delete from audit_events where place >= 3',
    `insert into audit_events (event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, place, previous_hash, hash)
     select event_name, author_id, author_name, author_class, entity_type, entity_id, entity_path, details, place, previous_hash, hash from audit_events where place = 2`,
  ]) {
    const here = await world({});
    await protect(here, ['one', 'two', 'three', 'four']);
    const { rows } = await sql<{ copy: unknown }>`select to_jsonb(audit_events) as copy from audit_events`.execute(
      here.db,
    );
    const { rows: ends } = await sql<{
      copy: unknown;
    }>`select to_jsonb(audit_chains) as copy from audit_chains`.execute(here.db);
    await tamper(here, statement);
    const [chain] = await chainsIn(here);
    assert.equal(Number(chain!.broken_at), 3, statement);
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
  await tamper(here, "update audit_chains set last_at = now() - interval '29 days'");
  await performJob(services, keepAuditPartitions);
  assert.equal((await chainsIn(here)).length, 1);
  await tamper(here, "update audit_chains set last_at = now() - interval '31 days'");
  await performJob(services, keepAuditPartitions);
  assert.deepEqual(await chainsIn(here), []);
  assert.deepEqual((await here.as('admin').get('/audit_events')).body, []);
  await here.as('admin').put('/application/settings', { audit_retention_days: null });
  const [chain] = await chainsIn(here);
  assert.deepEqual([Number(chain!.length), chain!.broken_at], [1, null]);
  await assert.rejects(sql`truncate audit_events_default`.execute(db), /never changed or deleted/);
});
