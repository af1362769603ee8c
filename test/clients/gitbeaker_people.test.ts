/** The TypeScript client @gitbeaker/rest: acting as others, tokens of projects and groups, keys, statuses, followers, and what administrators decide. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { removeUser } from '../../src/areas/people/users/index.ts';
import { daysFromNow } from '../../src/cron/index.ts';
import { performQueued } from '../support/jobs.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: unknown) => new Gitlab({ host: url, token: String(token) });
const clientFor = (here: World, persona: Persona) => clientOf(here, here.people[persona].token);
const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
/** Types of the client leave out members that servers answer. */
const member = (answer: object, name: string) => (answer as Record<string, unknown>)[name];

test('an administrator acts as a user with an impersonation token until it is revoked', async () => {
  const here = await world();
  const { UserImpersonationTokens } = clientFor(here, 'admin');
  const { id: user_id } = here.people.reporter;
  const made = await UserImpersonationTokens.create(user_id, 'support', ['api'], { expiresAt: daysFromNow(3) });
  assert.deepEqual(
    [made.name, made.scopes, made.expires_at, made.impersonation, made.active, made.revoked],
    ['support', ['api'], daysFromNow(3), true, true, false],
  );
  const acting = clientOf(here, made.token);
  assert.equal((await acting.Users.showCurrentUser()).id, user_id);
  assert.deepEqual(await acting.PersonalAccessTokens.all({ search: 'support' }), [], 'the user does not see it');

  assert.deepEqual(ids(await UserImpersonationTokens.all(user_id, { state: 'active' })), [made.id]);
  const shown = await UserImpersonationTokens.show(user_id, made.id);
  assert.deepEqual([shown.id, member(shown, 'token')], [made.id, undefined]);
  await UserImpersonationTokens.revoke(user_id, made.id);
  assert.equal((await UserImpersonationTokens.show(user_id, made.id)).revoked, true);
  assert.deepEqual(await UserImpersonationTokens.all(user_id, { state: 'active' }), []);
  assert.equal((await refusal(acting.Users.showCurrentUser())).status, 401);
  const foreign = await refusal(clientFor(here, 'owner').UserImpersonationTokens.all(user_id));
  assert.equal(foreign.status, 403);
});

test('only tokens with the sudo scope can act as another user, by id and by username', async () => {
  const here = await world();
  const { id, username } = here.people.guest;
  const { PersonalAccessTokens } = clientFor(here, 'admin');
  const made = await PersonalAccessTokens.create(here.people.admin.id, 'sudo', ['api', 'sudo']);
  const mighty = clientOf(here, made.token);
  assert.equal((await mighty.Users.showCurrentUser({ sudo: id })).username, username);
  assert.equal((await mighty.Users.showCurrentUser({ sudo: username })).id, id);
  const unknown = await refusal(mighty.Users.showCurrentUser({ sudo: 'nobody-at-all' }));
  assert.deepEqual([unknown.status, unknown.text], [404, "404 User with ID or username 'nobody-at-all' Not Found"]);
  const refused = await refusal(clientFor(here, 'owner').Users.showCurrentUser({ sudo: id }));
  assert.deepEqual([refused.status, refused.text], [403, '403 Forbidden - Must be admin to use sudo']);
  const without = await PersonalAccessTokens.create(here.people.admin.id, 'no sudo', ['api']);
  assert.equal(
    (await refusal(clientOf(here, without.token).Users.showCurrentUser({ sudo: id }))).text,
    'insufficient_scope',
  );
});

for (const kind of ['project', 'group'] as const) {
  test(`a ${kind} access token works there, is rotated and revoked`, async () => {
    const here = await world();
    const { id } = here[kind];
    const api = clientFor(here, 'owner');
    const tokens = kind === 'project' ? api.ProjectAccessTokens : api.GroupAccessTokens;
    const made = await tokens.create(id, 'robot', ['api'], daysFromNow(30), { accessLevel: 30 });
    assert.deepEqual(
      [made.name, made.access_level, made.expires_at, made.active],
      ['robot', 30, daysFromNow(30), true],
    );
    assert.deepEqual([member(made, 'resource_type'), member(made, 'resource_id')], [kind, id]);
    const robot = clientOf(here, made.token);
    const self = await robot.Users.showCurrentUser();
    assert.deepEqual([self.id, self.bot], [made.user_id, true]);
    assert.match(self.username, new RegExp(`^${kind}_${id}_bot_[0-9a-f]+$`));
    assert.equal((await robot.Projects.show(here.project.id)).id, here.project.id);

    assert.deepEqual(ids(await tokens.all(id)), [made.id]);
    assert.equal((await tokens.show(id, made.id)).name, 'robot');
    const rotated = await tokens.rotate(id, made.id, { expiresAt: daysFromNow(40) });
    assert.deepEqual([rotated.expires_at, rotated.access_level], [daysFromNow(40), 30]);
    assert.equal((await refusal(robot.Users.showCurrentUser())).status, 401);
    const again = clientOf(here, rotated.token);
    assert.equal((await again.Users.showCurrentUser()).id, made.user_id);
    await tokens.revoke(id, rotated.id);
    assert.equal((await refusal(again.Users.showCurrentUser())).status, 401);
    assert.deepEqual(await performQueued(here.services, [removeUser]), ['remove_user']);
    assert.equal((await refusal(clientFor(here, 'admin').Users.show(made.user_id))).status, 404);
    assert.deepEqual(await tokens.all(id), []);
    const below = clientFor(here, 'developer');
    assert.equal(
      (await refusal((kind === 'project' ? below.ProjectAccessTokens : below.GroupAccessTokens).all(id))).status,
      401,
    );
  });
}

/** A new Ed25519 key as `ssh-keygen` writes it. */
function sshKey(): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x!, 'base64url')];
  const blob = fields.flatMap((field) => [Buffer.from([0, 0, 0, field.length]), field]);
  return `ssh-ed25519 ${Buffer.concat(blob).toString('base64')} ada@example.com`;
}

/** A new public key with a name, armored. */
function gpgKey(): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const primary = Buffer.concat([Buffer.from([0xc6, 38, 4, 0x66, 0, 0, 0, 27]), Buffer.from(x!, 'base64url')]);
  const base64 = Buffer.concat([primary, Buffer.from([0xcd, 3]), Buffer.from('Ada')]).toString('base64');
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${base64}\n-----END PGP PUBLIC KEY BLOCK-----`;
}

test('SSH and GPG keys are added, read by others, and deleted', async () => {
  const here = await world();
  const [own, other, admin] = [clientFor(here, 'guest'), clientFor(here, 'outsider'), clientFor(here, 'admin')];
  const { id: userId } = here.people.guest;
  const text = sshKey();
  const ssh = await own.UserSSHKeys.create('laptop', text, { expiresAt: `${daysFromNow(9)}T00:00:00Z` });
  assert.deepEqual([ssh.title, ssh.key, ssh.expires_at], ['laptop', text, `${daysFromNow(9)}T00:00:00.000Z`]);
  assert.equal(member(ssh, 'usage_type'), 'auth_and_signing');
  assert.deepEqual(ids(await other.UserSSHKeys.all({ userId })), [ssh.id]);
  assert.equal((await own.UserSSHKeys.show(ssh.id)).key, text);
  const taken = await refusal(other.UserSSHKeys.create('mine', text));
  assert.equal(taken.status, 400);
  await admin.UserSSHKeys.remove(ssh.id, { userId });
  assert.deepEqual(await own.UserSSHKeys.all(), []);

  const block = gpgKey();
  const gpg = await own.UserGPGKeys.create(block);
  assert.equal(gpg.key, block);
  assert.deepEqual(ids(await other.UserGPGKeys.all({ userId })), [gpg.id]);
  assert.equal((await other.UserGPGKeys.show(gpg.id, { userId })).key, block);
  assert.equal((await refusal(other.UserGPGKeys.create(block))).status, 400);
  await own.UserGPGKeys.remove(gpg.id);
  assert.equal((await refusal(own.UserGPGKeys.show(gpg.id))).text, '404 GPG Key Not Found');
});

test('a user sets a status and preferences, and follows other users', async () => {
  const here = await world();
  const { Users } = clientFor(here, 'guest');
  const { id, username } = here.people.planner;
  const status = await Users.editStatus({ emoji: 'coffee', message: 'Back soon', clearStatusAfter: '30_minutes' });
  assert.deepEqual([status.emoji, status.message], ['coffee', 'Back soon']);
  const seen = await clientFor(here, 'outsider').Users.showStatus({ iDOrUsername: here.people.guest.username });
  assert.equal(seen.message, 'Back soon');
  const preferences = await Users.editCurrentUserPreferences(true, false);
  assert.deepEqual([preferences.view_diffs_file_by_file, preferences.show_whitespace_in_diffs], [true, false]);
  assert.equal((await Users.showCurrentUserPreferences()).view_diffs_file_by_file, true);

  assert.equal((await Users.follow(id)).username, username);
  assert.deepEqual(ids(await Users.allFollowers(id)), [here.people.guest.id]);
  assert.deepEqual(ids(await Users.allFollowing(here.people.guest.id)), [id]);
  await Users.unfollow(id);
  assert.deepEqual(await Users.allFollowers(id), []);
  const active = await clientFor(here, 'admin').Users.allActivities({ from: daysFromNow(-1), perPage: 100 });
  assert.ok(active.some((activity) => activity.username === here.people.guest.username));
});

test('accounts are blocked, banned, deactivated and activated, with immediate effect', async () => {
  const here = await world();
  const { Users } = clientFor(here, 'admin');
  const { id } = here.people.guest;
  const own = clientFor(here, 'guest').Users;
  const state = async () => (await Users.show(id)).state;
  await Users.block(id);
  const blocked = await refusal(own.showCurrentUser());
  assert.deepEqual([blocked.status, blocked.text], [403, '403 Forbidden - Your account has been blocked.']);
  assert.equal((await refusal(Users.deactivate(id))).text, 'Error occurred. A blocked user cannot be deactivated');
  await Users.unblock(id);
  assert.equal((await own.showCurrentUser()).id, id);
  await Users.ban(id);
  assert.equal(await state(), 'banned');
  assert.equal((await refusal(own.showCurrentUser())).status, 403);
  assert.equal((await refusal(Users.ban(id))).text, 'You cannot ban banned users.');
  await Users.unban(id);
  assert.equal((await refusal(Users.deactivate(id))).status, 403, 'they were active recently');
  await here.db
    .updateTable('users')
    .set({ last_activity_on: daysFromNow(-91) })
    .where('id', '=', id)
    .execute();
  await Users.deactivate(id);
  assert.equal(await state(), 'deactivated');
  await Users.activate(id);
  assert.equal(await state(), 'active');
  assert.equal((await refusal(Users.approve(id))).status, 409);
  const self = await refusal(Users.block(here.people.admin.id));
  assert.equal(self.text, '403 Forbidden - The API initiating user cannot be blocked by the API');
});

test('the contributions of a deleted user pass to the ghost user', async () => {
  const here = await world();
  const { Users, Projects } = clientFor(here, 'admin');
  const { id, token } = await here.person();
  await clientFor(here, 'owner').GroupMembers.add(here.group.id, 40, { userId: id });
  const made = await clientOf(here, token).Projects.create({ name: 'Left behind', namespaceId: here.group.id });
  assert.equal(made.creator_id, id);
  const owner = await refusal(Users.remove(here.people.owner.id));
  assert.deepEqual([owner.status, owner.text], [409, 'User cannot be removed while is the sole-owner of a group']);
  await Users.remove(id);
  assert.equal((await refusal(clientOf(here, token).Users.showCurrentUser())).status, 403);
  await performQueued(here.services, [removeUser]);
  assert.equal((await refusal(Users.show(id))).status, 404);
  const ghost = await Users.show((await Projects.show(made.id)).creator_id);
  assert.deepEqual([ghost.name, ghost.bot], ['Ghost User', true]);
});

test('administrators change settings, and invalid values are refused', async () => {
  const here = await world();
  const { ApplicationSettings } = clientFor(here, 'admin');
  const before = await ApplicationSettings.show();
  assert.deepEqual(before.repository_storages_weighted, { default: 100 });
  try {
    const changed = await ApplicationSettings.edit({ defaultProjectVisibility: 'internal', usersGetByIdLimit: 12 });
    assert.deepEqual([changed.default_project_visibility, changed.users_get_by_id_limit], ['internal', 12]);
    const made = await clientFor(here, 'outsider').Projects.create({ name: 'As usual' });
    assert.equal(made.visibility, 'internal');
    const unknown = await refusal(ApplicationSettings.edit({ repositoryStoragesWeighted: { elsewhere: 100 } }));
    assert.equal(unknown.status, 400);
  } finally {
    const { default_project_visibility, users_get_by_id_limit } = before;
    await ApplicationSettings.edit({
      defaultProjectVisibility: default_project_visibility,
      usersGetByIdLimit: Number(users_get_by_id_limit),
    });
  }
  assert.equal((await refusal(clientFor(here, 'owner').ApplicationSettings.show())).status, 403);
});
