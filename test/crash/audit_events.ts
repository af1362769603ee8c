/** Protecting tags until the server is killed: each confirmed change has its audit event, and no event is without its change. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { verifiedChains } from '../../src/areas/instance/audit_events/index.ts';
import type { Database } from '../../src/db/index.ts';
import type { Client } from '../support/client.ts';
import { asked, type Memory, type Project, type Round } from './writers.ts';

/** Protects tags, one after the other, and removes every second one. @param writer one of several at the same time */
export async function protectTags(
  api: Client,
  project: Project,
  round: Round,
  { tags }: Memory,
  writer = 0,
): Promise<void> {
  const url = `/projects/${project.id}/protected_tags`;
  for (let count = 0; !round.isOver; count++) {
    const name = `v${round.number}.${writer}.${count}`;
    tags.set(name, { added: 'unknown' });
    const { fate: added } = await asked(round, name, api.post(url, { name }));
    tags.set(name, { added });
    if (added !== 'done' || count % 2 === 0) continue;
    tags.set(name, { added, removed: 'unknown' });
    tags.set(name, { added, removed: (await asked(round, name, api.delete(`${url}/${name}`))).fate });
  }
}

/** The events of tags agree with the tags, those of projects with the projects, and the chains are whole. */
export async function inspectAuditEvents(db: Database, project: Project, { tags }: Memory): Promise<void> {
  const { rows } = await sql<{ name: string; added: number; removed: number; is_there: boolean }>`
    select target_details as name, count(*) filter (where event_name = 'protected_tag_created')::int as added,
           count(*) filter (where event_name = 'protected_tag_removed')::int as removed,
           exists (select from protected_tags where project_id = ${project.id} and name = target_details) as is_there
      from audit_events where entity_type = 'Project' and entity_id = ${project.id} and target_type = 'ProtectedTag' group by target_details`.execute(
    db,
  );
  const found = new Map(rows.map((row) => [row.name, row]));
  for (const { name, added, removed, is_there } of rows) {
    assert.deepEqual([added, added - removed], [1, is_there ? 1 : 0], `the events of ${name}`);
    assert.ok(tags.has(name), name);
  }
  for (const [name, { added, removed }] of tags) {
    if (added === 'done') assert.ok(found.has(name), `${name} was protected without an event`);
    if (removed === 'done') assert.equal(found.get(name)?.removed, 1, `${name} was removed without an event`);
  }
  const { rows: silent } = await sql`
    select name from protected_tags where project_id = ${project.id} and name <> all(${[...found.keys()]}::text[])
    union all
    select full_path from projects where not exists (
      select from audit_events where entity_type = 'Project' and entity_id = projects.id and event_name in ('project_created', 'project_imported'))`.execute(
    db,
  );
  assert.deepEqual(silent, [], 'changes without an event');
  for await (const chain of verifiedChains(db, new AbortController().signal))
    assert.equal(chain.broken_at, null, `the chain of ${chain.partition}`);
  const { rows: loose } = await sql`select id from audit_events where hash is null`.execute(db);
  assert.deepEqual(loose, []);
}
