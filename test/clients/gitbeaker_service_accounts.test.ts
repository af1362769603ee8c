/** The TypeScript client @gitbeaker/rest: accounts for programs, of the instance and of a group, with their tokens and memberships. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { removeUser } from '../../src/areas/people/users/index.ts';
import { daysFromNow } from '../../src/cron/index.ts';
import { performQueued } from '../support/jobs.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: unknown) => new Gitlab({ host: url, token: String(token) });
const clientFor = (here: World, persona: Persona) => clientOf(here, here.people[persona].token);

test('an instance service account works with a token where it is a member, until it is deleted', async () => {
  const here = await world({});
  const { ServiceAccounts, PersonalAccessTokens, Users } = clientFor(here, 'admin');
  const usual = await ServiceAccounts.create();
  assert.match(usual.username, /^service_account_[0-9a-f]{32}$/);
  const username = `builder-${here.project.id}`;
  const made = await ServiceAccounts.create({ name: 'Builder', username });
  assert.deepEqual([made.name, made.username, made.email], ['Builder', username, `${username}@noreply.coppice.test`]);
  const taken = await refusal(ServiceAccounts.create({ username }));
  assert.deepEqual([taken.status, taken.text], [400, '400 Bad request - Username has already been taken']);
  const foreign = await refusal(clientFor(here, 'owner').ServiceAccounts.create());
  assert.deepEqual(
    [foreign.status, foreign.text],
    [403, '403 Forbidden - User does not have permission to create a service account.'],
  );

  const { token } = await PersonalAccessTokens.create(made.id, 'work', ['api']);
  const working = clientOf(here, token);
  const self = await working.Users.showCurrentUser();
  assert.deepEqual([self.id, self.bot, self.external], [made.id, true, true]);
  assert.equal((await refusal(working.Projects.show(here.project.id))).status, 404);
  await clientFor(here, 'owner').GroupMembers.add(here.group.id, 30, { userId: made.id });
  assert.equal((await working.Projects.show(here.project.id)).id, here.project.id);
  const issue = await working.Issues.create(here.project.id, 'Nightly build failed');
  assert.equal(issue.author.id, made.id);

  const tokens = await PersonalAccessTokens.all({ userId: made.id, state: 'active' });
  assert.deepEqual(
    tokens.map(({ name }) => name),
    ['work'],
  );
  const rotated = await PersonalAccessTokens.rotate(tokens[0]!.id, { expiresAt: daysFromNow(20) });
  assert.equal(rotated.expires_at, daysFromNow(20));
  assert.equal((await refusal(working.Users.showCurrentUser())).status, 401);
  await Users.remove(made.id);
  await performQueued(here.services, [removeUser]);
  assert.equal((await refusal(Users.show(made.id))).status, 404);
  assert.equal((await refusal(clientOf(here, rotated.token).Users.showCurrentUser())).status, 401);
  const left = await clientFor(here, 'owner').Issues.show(issue.iid, { projectId: here.project.id });
  assert.equal(left.author.name, 'Ghost User');
});

test('a group owner creates a service account and rotates its token, if the settings allow it', async () => {
  const here = await world({});
  const { ApplicationSettings } = clientFor(here, 'admin');
  const owner = clientFor(here, 'owner').GroupServiceAccounts;
  const refused = await refusal(owner.create(here.group.id));
  assert.deepEqual(
    [refused.status, refused.text],
    [400, '400 Bad request - User does not have permission to create a service account in this namespace.'],
  );
  const setting = 'allow_top_level_group_owners_to_create_service_accounts';
  assert.equal((await ApplicationSettings.edit({ [setting]: true }))[setting], true);
  const made = await owner.create(here.group.full_path, { name: 'Builder' });
  assert.equal(made.name, 'Builder');
  assert.match(made.username, new RegExp(`^service_account_group_${here.group.id}_[0-9a-f]{32}$`));

  // The client asks for a token at the address of the account itself, where there is nothing to post to.
  const wish = { name: 'work', scopes: ['api'] };
  assert.equal((await refusal(owner.createPersonalAccessToken(here.group.id, made.id, wish as object))).status, 405);
  const path = `/groups/${here.group.id}/service_accounts/${made.id}/personal_access_tokens`;
  const { body: token } = await here.as('owner').post(path, wish);
  const rotated = await owner.rotatePersonalAccessToken(here.group.id, made.id, token.id);
  assert.deepEqual(
    [rotated.name, rotated.user_id, rotated.active, rotated.expires_at],
    ['work', made.id, true, daysFromNow(7)],
  );
  assert.equal((await clientOf(here, rotated.token).Users.showCurrentUser()).id, made.id);
  assert.equal((await refusal(clientOf(here, token.token).Users.showCurrentUser())).status, 401);
  const stranger = await refusal(clientFor(here, 'outsider').GroupServiceAccounts.create(here.group.id));
  assert.deepEqual([stranger.status, stranger.text], [404, '404 Group Not Found']);
});
