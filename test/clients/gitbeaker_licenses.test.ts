/** The TypeScript client @gitbeaker/rest: licenses, used by an administrator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { recordBillableUsers } from '../../src/areas/instance/licenses/index.ts';
import { performQueued } from '../support/jobs.ts';
import { dayFromNow, licenseText } from '../support/licenses.ts';
import { type Persona, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('an administrator installs a license, reads it, refreshes the seats, and deletes it', async () => {
  const here = await world({ environment: { COPPICE_LICENSE: 'none' } });
  const clientFor = (persona: Persona) => new Gitlab({ host: here.url, token: here.people[persona].token });
  const { License } = clientFor('admin');
  const iterations = () => clientFor('owner').GroupIterations.all(here.group.id);
  assert.deepEqual(await License.show(), {}, 'as the client reads null');
  assert.deepEqual(await License.all(), []);
  assert.equal((await refusal(iterations())).status, 403);

  const text = await licenseText(here, { plan: 'premium', active_user_count: 100, add_ons: { GitLab_Geo: 2 } });
  const added = await License.add(text);
  assert.deepEqual(
    [added.plan, added.starts_at, added.expires_at, added.user_limit, added.expired, added.overage],
    ['premium', dayFromNow(-30), dayFromNow(300), 100, false, 0],
  );
  assert.deepEqual(added.licensee, { Name: 'Ada', Email: 'ada@example.com', Company: 'Orchard' });
  assert.deepEqual(added.add_ons, { GitLab_Geo: 2 });
  assert.deepEqual(await License.show(), added);
  assert.deepEqual(
    (await License.all()).map(({ id }) => id),
    [added.id],
  );
  assert.deepEqual(await iterations(), []);

  await here.person();
  assert.deepEqual(await License.recalculateBillableUsers(added.id), { success: true });
  await performQueued(here.services, [recordBillableUsers]);
  assert.equal((await License.show()).active_users, added.active_users + 1);

  const wrong = await refusal(License.add(`${text}x`));
  assert.deepEqual(
    [wrong.status, wrong.text],
    [400, 'The license key is invalid. Make sure it is exactly as you received it.'],
  );
  assert.equal((await refusal(clientFor('owner').License.show())).status, 403);
  assert.equal((await refusal(License.remove(added.id + 1))).status, 404);
  await License.remove(added.id);
  assert.deepEqual(await License.show(), {});
  assert.equal((await refusal(iterations())).status, 403);
});
