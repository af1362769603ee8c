/** A server that is killed while it sends mail and tells webhooks, and one whose mail server is slow and refuses a recipient. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { environmentFor, startInstance } from '../support/instance.ts';
import { mailbox } from '../support/mail.ts';
import { startReceiver } from '../support/receiver.ts';
import { dataFolder, rootToken } from './coppice.ts';

/** Resolves when something has come from the server, which is another process. */
async function until(has: () => boolean): Promise<void> {
  while (!has()) await sleep(20);
}

test('what a killed server was sending is sent once more after its next start, to a slow mail server as well', async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  let isHeld = true;
  let kept = 0;
  const mail = await mailbox(t, {
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('refused') ? new Error('550 5.1.1 No such user') : null),
    onMailFrom: (_address, _session, done) => {
      kept += 1;
      if (!isHeld) done();
    },
  });
  receiver.answers.set('/held', (response) => {
    if (!isHeld) response.end();
  });
  const environment = { ...(await environmentFor(await dataFolder(), rootToken)), COPPICE_SMTP_URL: mail.url };
  const first = await startInstance(environment);
  atFileEnd(first.stop);
  const root = clientOf(`${environment.COPPICE_URL}/api/v4`, rootToken);
  await root.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
  const { id } = (await root.post('/projects', { name: 'orchard' })).body;
  for (const name of ['refused', 'reached', 'other']) {
    const user = {
      username: name,
      name,
      email: `${name}@example.com`,
      password: 'a long and odd password',
      skip_confirmation: true,
    };
    const added = (await root.post('/users', user)).body;
    await root.post(`/projects/${id}/members`, { user_id: added.id, access_level: 30 });
    const { token } = (await root.post(`/users/${added.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }))
      .body;
    const own = await clientOf(`${environment.COPPICE_URL}/api/v4`, token).put('/notification_settings', {
      level: 'watch',
    });
    assert.equal(own.status, 200, JSON.stringify(own.body));
  }
  const hook = { url: `${receiver.url}/held`, issues_events: true, push_events: false };
  assert.equal((await root.post(`/projects/${id}/hooks`, hook)).status, 201);
  assert.equal((await root.post(`/projects/${id}/issues`, { title: 'Prune' })).status, 201);
  await until(() => kept > 0 && receiver.received.length > 0);
  assert.equal((await root.get(`/projects/${id}`)).status, 200, 'what is slow holds up nothing else');
  await first.killServer();
  const [before] = receiver.take();
  isHeld = false;

  const second = await startInstance(environment);
  atFileEnd(second.stop);
  await until(() => mail.received.length >= 2 && receiver.received.length > 0);
  const recipients = () => mail.received.flatMap((each) => each.recipients).toSorted();
  assert.deepEqual(recipients(), ['other@example.com', 'reached@example.com']);
  const [after, ...others] = receiver.take();
  assert.equal(after!.headers['idempotency-key'], before!.headers['idempotency-key']);
  assert.deepEqual([after!.body, others], [before!.body, []]);
  // What comes next shows that nothing of it was still to come.
  assert.equal((await root.post(`/projects/${id}/issues`, { title: 'Water' })).status, 201);
  await until(() => mail.received.length >= 4 && receiver.received.length > 0);
  assert.deepEqual(recipients(), [
    'other@example.com',
    'other@example.com',
    'reached@example.com',
    'reached@example.com',
  ]);
  assert.deepEqual(
    receiver.take().map(({ body }) => body.object_attributes.title),
    ['Water'],
  );
});
