import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Client } from '../../../../test/support/client.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';

const text = 'build: {script: make}\nremote: {script: make, rules: [{if: $CI_PIPELINE_TRIGGERED && $DEPTH == "3"}]}';

async function triggered() {
  const here = await built(text);
  const { as, at, url } = here;
  const trigger = await sent(as('maintainer').post(`${at}/triggers`, { description: 'Nightly' }));
  /** Asks as a program that has nothing but a token. */
  const ask = async (path: string, body: string | FormData, type?: string) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const reply = await fetch(`${url}/api/v4${at}/${path}`, { method: 'POST', body, headers });
    const answer: Awaited<ReturnType<Client['get']>>['body'] = await reply.json();
    return { status: reply.status, body: answer };
  };
  const start = (parameters: object, path = 'trigger/pipeline') =>
    ask(path, JSON.stringify({ token: trigger.token, ref: 'main', ...parameters }), 'application/json');
  return { ...here, trigger, ask, start };
}

test('a trigger is made, shown whole to its owner alone, changed and deleted', async () => {
  const { as, at, trigger, people, db } = await triggered();
  const path = `${at}/triggers/${trigger.id}`;
  assert.match(trigger.token, /^glptt-[\w-]{32}$/);
  assert.deepEqual([trigger.owner.id, trigger.last_used, trigger.expires_at], [people.maintainer.id, null, null]);
  assert.equal((await as('maintainer').get(path)).body.token, trigger.token);
  assert.equal((await as('owner').get(path)).body.token, 'glpt');
  assert.deepEqual(
    (await as('owner').get(`${at}/triggers`)).body.map(({ token }: { token: string }) => token),
    ['glpt'],
  );
  const { rows } = await sql<{
    stored: string;
  }>`select pipeline_triggers::text as stored from pipeline_triggers`.execute(db);
  assert.ok(!rows[0]!.stored.includes(Buffer.from(trigger.token).toString('hex')));
  const changed = await sent(as('maintainer').put(path, { description: 'Weekly' }));
  assert.deepEqual([changed.description, changed.token], ['Weekly', trigger.token]);
  assert.equal((await as('owner').put(path, { description: 'Mine' })).status, 403);
  assert.equal((await as('developer').get(path)).status, 403);
  assert.deepEqual((await as('maintainer').post(`${at}/triggers`, {})).body.error, 'description is missing');
  assert.deepEqual((await as('maintainer').post(`${at}/triggers`, { description: ' ' })).body.message, {
    description: ["can't be blank"],
  });
  assert.equal((await as('owner').delete(path)).status, 204);
  assert.equal((await as('owner').get(path)).body.message, '404 Trigger Not Found');
});

test('a token starts a pipeline in the name of its owner, with variables and the whole request as a file', async () => {
  const { as, at, trigger, start, statesOf, people } = await triggered();
  const { status, body } = await start({ variables: { DEPTH: '3' } });
  assert.deepEqual([status, body.source, body.ref, body.user.id], [201, 'trigger', 'main', people.maintainer.id]);
  assert.deepEqual(Object.keys(await statesOf(body.id)).toSorted(), ['build', 'remote']);
  const variables = (await as('maintainer').get(`${at}/pipelines/${body.id}/variables`)).body;
  assert.deepEqual(
    variables.map(({ key, variable_type }: { key: string; variable_type: string }) => [key, variable_type]),
    [
      ['CI_TRIGGER_PAYLOAD', 'file'],
      ['DEPTH', 'env_var'],
    ],
  );
  assert.deepEqual(JSON.parse(variables[0].value), { ref: 'main', variables: { DEPTH: '3' } });
  assert.ok((await as('maintainer').get(`${at}/triggers/${trigger.id}`)).body.last_used);
});

test('forms and queries start pipelines, too, with the branch in the path', async () => {
  const { trigger, ask } = await triggered();
  const form = new FormData();
  form.set('token', trigger.token);
  form.set('variables[DEPTH]', '3');
  const first = await ask('ref/main/trigger/pipeline', form);
  assert.deepEqual([first.status, first.body.ref], [201, 'main']);
  const query = new URLSearchParams({ token: trigger.token, ref: 'main' });
  assert.equal((await ask(`trigger/pipeline?${query}`, '')).status, 201);
});

test('a wrong token, project or parameter starts nothing', async () => {
  const { as, at, start, people, group, trigger } = await triggered();
  const refusal = async (parameters: object) => {
    const { status, body } = await start(parameters);
    return [status, body.message];
  };
  assert.deepEqual(await refusal({ token: 'glptt-none' }), [404, '404 Not found']);
  assert.deepEqual(await refusal({ token: undefined }), [400, 'token is missing']);
  assert.deepEqual(await refusal({ ref: undefined }), [400, 'ref is missing']);
  const notTexts = [400, 'variables needs to be a map of key-valued strings'];
  for (const variables of [{ A: { B: '1' } }, { A: 1 }, ['A'], 'A'])
    assert.deepEqual(await refusal({ variables }), notTexts, JSON.stringify(variables));
  assert.deepEqual(await refusal({ variables: { 'A-B': '1' } }), [400, { key: ['is invalid'] }]);
  assert.deepEqual(await refusal({ ref: 'none' }), [400, { base: ['Reference not found'] }]);
  assert.equal((await start({ variables: { A: 'x'.repeat(70_000) } })).status, 413);
  const other = await sent(as('maintainer').post('/projects', { name: 'Other', namespace_id: group.id }));
  const elsewhere = await sent(as('maintainer').post(`/projects/${other.id}/triggers`, { description: 'Other' }));
  assert.deepEqual(await refusal({ token: elsewhere.token }), [404, '404 Not found']);
  await sent(as('owner').put(`/groups/${group.id}/members/${people.maintainer.id}`, { access_level: 20 }));
  assert.equal((await refusal({}))[0], 400);
  await sent(as('owner').put(at, { builds_access_level: 'disabled' }));
  assert.equal((await refusal({}))[0], 403);
  await sent(as('admin').post(`/users/${people.maintainer.id}/block`));
  assert.deepEqual(await refusal({ token: trigger.token }), [404, '404 Not found']);
});
