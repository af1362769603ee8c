/** The TypeScript client @gitbeaker/rest: email addresses, one's own and those of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { confirmEmail } from '../../src/areas/people/emails/index.ts';
import { linkIn, mailOf } from '../support/mail.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });
const addressesOf = (rows: readonly { email: string }[]) => rows.map(({ email }) => email);

test('a user adds an address, confirms it by the link in the mail, makes it primary and deletes it', async () => {
  const here = await world();
  const { username } = here.people.guest;
  const { UserEmails, Users } = clientFor(here, 'guest');
  const email = `second-${username}@example.com`;
  const added = await UserEmails.add(email);
  assert.deepEqual([added.email, added.confirmed_at], [email, null]);
  assert.deepEqual(addressesOf(await UserEmails.all()), [`${username}@example.com`, email]);

  const [mail] = await mailOf(here.services, [confirmEmail]);
  const link = linkIn(mail!);
  assert.equal((await fetch(`${here.url}${link.pathname}${link.search}`)).status, 200);
  const shown = await UserEmails.show(added.id);
  assert.deepEqual([shown.id, shown.email], [added.id, email]);
  assert.ok(!Number.isNaN(Date.parse(shown.confirmed_at)));

  const { id } = await Users.showCurrentUser();
  const { Users: admins } = clientFor(here, 'admin');
  assert.equal((await admins.edit(id, { email })).email, email);
  const inUse = await refusal(UserEmails.remove(added.id));
  assert.deepEqual([inUse.status, inUse.text], [400, 'Cannot delete primary email']);
  const [first] = await UserEmails.all();
  await UserEmails.remove(first!.id);
  assert.deepEqual(addressesOf(await UserEmails.all()), [email]);
});

test('an administrator adds confirmed addresses, and an invalid address is refused with the reason', async () => {
  const here = await world();
  const { id: userId, username } = here.people.guest;
  const { UserEmails: ofAdmin } = clientFor(here, 'admin');
  const { UserEmails: ofGuest } = clientFor(here, 'guest');
  const email = `given-${username}@example.com`;
  const added = await ofAdmin.create(email, { userId, skipConfirmation: true });
  assert.notEqual(added.confirmed_at, null);
  assert.deepEqual(await ofAdmin.all({ userId }), await ofGuest.all());

  const taken = await refusal(clientFor(here, 'planner').UserEmails.create(email));
  assert.deepEqual([taken.status, /has already been taken/.test(taken.text)], [400, true]);
  const wrong = await refusal(ofGuest.create('nobody'));
  assert.deepEqual([wrong.status, /is invalid/.test(wrong.text)], [400, true]);
  assert.equal((await refusal(clientFor(here, 'planner').UserEmails.show(added.id))).status, 404);
  assert.equal((await refusal(ofGuest.all({ userId }))).status, 403);

  await ofAdmin.remove(added.id, { userId });
  assert.deepEqual(addressesOf(await ofAdmin.all({ userId })), [`${username}@example.com`]);
});
