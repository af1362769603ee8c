/** The TypeScript client @gitbeaker/rest: invitations to groups and projects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessLevel, Gitlab } from '@gitbeaker/rest';
import { world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

for (const kind of ['group', 'project'] as const) {
  test(`invitations to a ${kind} are sent, listed, updated and revoked`, async () => {
    const here = await world();
    const { id } = here[kind];
    const client = (token: string) => {
      const { GroupInvitations, ProjectInvitations } = new Gitlab({ host: here.url, token });
      return kind === 'group' ? GroupInvitations : ProjectInvitations;
    };
    const invitations = client(here.people.owner.token);
    const email = `anna+${kind}-${process.pid}@example.org`;
    const other = `berta+${kind}-${process.pid}@example.org`;

    const added = await invitations.add(id, AccessLevel.DEVELOPER, {
      email: `${email},${other}`,
      expiresAt: '2999-01-02',
    });
    assert.deepEqual({ ...added }, { status: 'success' });
    const again = await invitations.add(id, AccessLevel.DEVELOPER, { email });
    assert.deepEqual({ ...again }, { status: 'error', message: { [email]: 'Invite email has already been taken' } });
    const known = await invitations.add(id, AccessLevel.REPORTER, { userId: `${here.people.outsider.id}` });
    assert.deepEqual({ ...known }, { status: 'success' });

    const all = await invitations.all(id);
    assert.deepEqual(
      all.map(({ invite_email, access_level, expires_at, user_name }) => [
        invite_email,
        access_level,
        expires_at,
        user_name,
      ]),
      [email, other].map((address) => [address, 30, '2999-01-02T00:00:00.000Z', null]),
    );
    const paged = await invitations.all(id, { perPage: 1, maxPages: 2 });
    assert.equal(paged.length, 2);
    assert.deepEqual(
      (await invitations.all(id, { query: other })).map(({ invite_email }) => invite_email),
      [other],
    );

    const edited = await invitations.edit(id, email, { accessLevel: AccessLevel.GUEST, expiresAt: '2999-03-04' });
    assert.deepEqual(
      [edited.access_level, edited.expires_at, edited.invite_email],
      [10, '2999-03-04T00:00:00.000Z', email],
    );
    await invitations.remove(id, email);
    assert.deepEqual(
      (await invitations.all(id)).map(({ invite_email }) => invite_email),
      [other],
    );

    assert.equal((await refusal(invitations.remove(id, email))).status, 404);
    const past = await refusal(invitations.edit(id, other, { expiresAt: '2020-01-01' }));
    assert.deepEqual([past.status, past.text.includes('cannot be a date in the past')], [400, true]);
    const invalid = await refusal(invitations.add(id, AccessLevel.GUEST, { email: 'nonsense' }));
    assert.deepEqual([invalid.status, invalid.text], [400, 'email contains an invalid email address']);
    assert.equal((await refusal(client(here.people.reporter.token).add(id, AccessLevel.GUEST, { email }))).status, 403);
    const stranger = await here.person();
    assert.equal((await refusal(client(stranger.token).all(id))).status, 404);
  });
}
