import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { world } from '../../../../test/support/world.ts';
import { logAuditEvents } from './index.ts';

test('each event is a line of the log once it is committed, and none if it is not', async () => {
  const here = await world({});
  const lines: Record<string, unknown>[] = [];
  logAuditEvents(here.db, pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }));
  const { as, db, project, people } = here;
  const url = `/projects/${project.id}/protected_branches`;
  assert.equal((await as('maintainer').post(url, { name: 'stable' })).status, 201);
  const [event] = (await as('owner').get(`/projects/${project.id}/audit_events`)).body;
  assert.equal(lines.length, 1);
  const { level: _, time: __, pid: ___, hostname: ____, ...line } = lines[0]!;
  assert.deepEqual(line, { audit: true, ...event, msg: 'audit event' });
  assert.equal(line.author_id, people.maintainer.id);

  const protectedBranch = { project_id: project.id, name: 'undone' };
  const undone = db.transaction().execute(async (tx) => {
    await tx.insertInto('protected_branches').values(protectedBranch).execute();
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.equal((await as('maintainer').post(url, { name: 'stable' })).status, 409);
  // This is found when the transaction commits, after the event was told of.
  const failing = db.transaction().execute(async (tx) => {
    await tx.insertInto('protected_branches').values(protectedBranch).execute();
    await sql`create temp table late (number integer unique deferrable initially deferred)`.execute(tx);
    await sql`insert into late values (1), (1)`.execute(tx);
  });
  await assert.rejects(failing, /late_number_key/);
  assert.equal(lines.length, 1);

  await db.insertInto('protected_branches').values(protectedBranch).execute();
  assert.deepEqual(
    lines.slice(1).map(({ event_name, author_id }) => [event_name, author_id]),
    [['protected_branch_created', -1]],
  );
});
