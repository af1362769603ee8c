/** The door of a primary for its secondaries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';
import { statusOfThisSite } from '../geo_nodes/status/site_queries.ts';
import { linkKey } from './access.ts';
import { newCredential } from './credential_rules.ts';
import type { Handshake } from './handshake_http.ts';
import {
  askPrimary,
  askPrimaryForJson,
  type PrimaryRefusal,
  type Site,
  shakeHands,
  signedRequest,
} from './request_actions.ts';
import { digestOf, sign } from './signature_rules.ts';

const primary = () => world({ environment: { COPPICE_GEO_ROLE: 'primary' } });

let count = 0;

/** A secondary with a node of its own. */
async function secondaryOf(
  here: World,
  given: { enabled?: boolean } = {},
): Promise<{ site: Site; name: string; id: number }> {
  const name = `Secondary ${++count}`;
  const { id } = await here.db
    .insertInto('geo_nodes')
    .values({ name, url: `https://${count}.example/`, credential: newCredential(here.services.secrets), ...given })
    .returning('id')
    .executeTakeFirstOrThrow();
  const geo = { role: 'secondary', nodeName: name, primaryUrl: here.url, databaseUrl: undefined } as const;
  return { site: { secrets: here.services.secrets, geo }, name, id };
}

const handshake = (site: Site): Promise<Handshake> => shakeHands(site);

const refusalOf = (site: Site) =>
  handshake(site).then(
    () => assert.fail('it is not refused'),
    ({ status, reason, message }: PrimaryRefusal) => ({ status, reason, message }),
  );

const named = ({ secrets, geo }: Site, nodeName: string): Site => ({ secrets, geo: { ...geo, nodeName } });

test('a secondary reads the facts about its primary, whatever the case of its name', async () => {
  const here = await primary();
  const { site, name, id } = await secondaryOf(here);
  for (const given of [name, name.toUpperCase()]) {
    const known = await handshake(named(site, given));
    assert.equal(known.node.id, id);
    assert.equal('credential' in known.node, false);
    assert.match(known.schema, /^\d{4}_\w+ \(\d+\)$/);
    assert.deepEqual(known.storages, ['default']);
    assert.ok(Math.abs(Date.parse(known.time) - Date.now()) < 60_000);
  }
});

test('a node that is unknown, disabled or the primary itself is refused with the reason', async () => {
  const here = await primary();
  const { site } = await secondaryOf(here);
  assert.deepEqual(await refusalOf(named(site, 'Nowhere')), {
    status: 401,
    reason: 'node',
    message: '401 Unauthorized - The primary does not know the node Nowhere.',
  });
  const disabled = await secondaryOf(here, { enabled: false });
  assert.equal((await refusalOf(disabled.site)).reason, 'disabled');
  await here.db.updateTable('geo_nodes').set({ primary: true }).where('id', '=', disabled.id).execute();
  assert.equal((await refusalOf(disabled.site)).reason, 'primary');
});

test('a signature that is wrong, old, from the future or used before is refused, and so are tokens', async () => {
  const here = await primary();
  const { site, name } = await secondaryOf(here);
  const path = '/api/v4/geo/handshake';
  const request = { method: 'GET', path, digest: digestOf('') };
  const signed = (options: { seconds?: number; key?: Buffer; path?: string } = {}) =>
    sign(
      options.key ?? linkKey(site),
      name,
      { ...request, path: options.path ?? path },
      new Date(Date.now() + 1000 * (options.seconds ?? 0)),
    );
  const answer = async (authorization?: string, at = path) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await fetch(`${here.url}${at}`, { headers });
    return { status: response.status, reason: ((await response.json()) as { reason?: string }).reason };
  };
  assert.equal((await answer(signed())).status, 200);
  const refused = (reason: string) => ({ status: 401, reason });
  assert.deepEqual(await answer(), refused('signature'));
  assert.deepEqual(await answer(`Bearer ${here.people.admin.token}`), refused('signature'));
  assert.deepEqual(await answer(undefined, `${path}?private_token=${here.people.admin.token}`), refused('signature'));
  assert.deepEqual(await answer(signed({ key: Buffer.alloc(32) })), refused('signature'));
  assert.deepEqual(await answer(signed({ path: '/api/v4/geo/status' })), refused('signature'));
  assert.deepEqual(await answer(signed(), `${path}?more=true`), refused('signature'));
  assert.deepEqual(await answer(signed({ seconds: -90 })), refused('clock'));
  assert.deepEqual(await answer(signed({ seconds: 90 })), refused('clock'));
  const once = signed();
  assert.equal((await answer(once)).status, 200);
  assert.deepEqual(await answer(once), refused('replay'));
  assert.equal((await answer(signed({ path: `${path}?full=%2F` }), `${path}?full=%2F`)).status, 200);
});

test('a status is stored, unless it was modified in transit or is too long', async () => {
  const here = await primary();
  const { site, id } = await secondaryOf(here);
  const report = (body: string) => askPrimaryForJson(site, { method: 'POST', path: '/status', body });
  const stored = () =>
    here.db.selectFrom('geo_statuses').select('status').where('geo_node_id', '=', id).executeTakeFirst();
  const status = await statusOfThisSite(here.services);
  await report(JSON.stringify({ ...status, problems: ['The disk is full.'] }));
  await report(JSON.stringify({ ...status, unknown: 1 }));
  assert.deepEqual((await stored())?.status, status);
  await assert.rejects(report('[]'), { status: 400 });
  await assert.rejects(report('{}'), { status: 400 });
  await assert.rejects(report(JSON.stringify({ text: 'a'.repeat(70_000) })), { status: 413 });
  const path = '/api/v4/geo/status';
  const { headers: signed } = await signedRequest(site, { method: 'POST', path: '/status', body: '{"healthy":true}' });
  const changed = await fetch(`${here.url}${path}`, { method: 'POST', headers: signed, body: '{"healthy":null}' });
  assert.equal(changed.status, 401);
  assert.deepEqual((await stored())?.status, status);
});

test('a request without the credential of its node is refused, until the node is repaired', async () => {
  const here = await primary();
  const { site, id } = await secondaryOf(here);
  const report = async () => {
    const body = JSON.stringify(await statusOfThisSite(here.services));
    await askPrimaryForJson(site, { method: 'POST', path: '/status', body });
  };
  const admin = here.as('admin');
  const isMissing = async () => (await admin.get(`/geo_nodes/${id}/status`)).body.missing_oauth_application;
  await report();
  assert.equal(await isMissing(), false);
  await here.db
    .updateTable('geo_nodes')
    .set({ credential: Buffer.from('lost') })
    .where('id', '=', id)
    .execute();
  await assert.rejects(report(), { status: 401, reason: 'credential' });
  await assert.rejects(report(), { status: 401, reason: 'credential' });
  assert.equal(await isMissing(), true);
  assert.equal((await handshake(site)).node.id, id);
  assert.equal((await admin.post(`/geo_nodes/${id}/repair`)).status, 200);
  assert.equal(await isMissing(), false);
  await report();
});

test('the door is not in the documentation of the API, and its responses stream', async () => {
  const here = await primary();
  const { site } = await secondaryOf(here);
  const described = (await (await fetch(`${here.url}/api/v4/openapi.json`)).text()).includes('/geo/handshake');
  assert.equal(described, false);
  const answer = await askPrimary(site, {
    method: 'GET',
    path: '/handshake',
    headers: { 'accept-encoding': 'identity' },
  });
  assert.equal(answer.statusCode, 200);
  answer.destroy();
});
