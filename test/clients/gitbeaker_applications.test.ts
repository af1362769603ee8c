/** The TypeScript client @gitbeaker/rest: applications, registered by an administrator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('an administrator registers an application, lists it and deletes it', async () => {
  const here = await world();
  const clientFor = (persona: Persona) => new Gitlab({ host: here.url, token: here.people[persona].token });
  const { Applications } = clientFor('admin');
  const address = 'https://map.example.com/callback';
  const made = await Applications.create('Orchard map', address, 'openid read_user', { confidential: true });
  assert.deepEqual([made.application_name, made.callback_url, made.confidential], ['Orchard map', address, true]);
  assert.match(String(made.secret), /^gloas-/);
  const listed = (await Applications.all()).find(({ id }) => id === made.id)!;
  assert.deepEqual([listed.application_id, 'secret' in listed], [made.application_id, false]);
  const wrong = await refusal(Applications.create('Orchard map', '/callback', 'openid'));
  assert.equal(wrong.status, 400);
  assert.equal((await refusal(clientFor('owner').Applications.all())).status, 403);
  await Applications.remove(made.id);
  assert.equal((await refusal(Applications.remove(made.id))).status, 404);
});
