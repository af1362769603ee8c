/** The TypeScript client @gitbeaker/rest: experiments. It has no calls for features and clusters of the instance; those are told to the Python and Go clients. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('only the team can list experiments with their gates', async () => {
  const { as, url, people, group } = await world({});
  const [admin, guest] = [people.admin, people.guest].map(({ token }) => new Gitlab({ host: url, token }));
  await as('admin').post('/features/invitation_mail_preview', { value: 10, key: 'percentage_of_actors' });
  const [experiment] = await admin!.Experiments.all();
  assert.equal(experiment!.key, 'invitation_mail_preview');
  assert.equal(experiment!.definition.type, 'experiment');
  assert.deepEqual(experiment!.current_status, {
    state: 'conditional',
    gates: [
      { key: 'boolean', value: false },
      { key: 'percentage_of_actors', value: 10 },
    ],
  });
  assert.equal((await refusal(guest!.Experiments.all())).status, 403);
  await as('admin').put('/application/settings', { team_group: group.full_path });
  assert.deepEqual(await guest!.Experiments.all(), [experiment]);
});
