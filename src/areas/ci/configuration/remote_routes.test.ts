import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { allowLocalHooks } from '../../../../test/support/receiver.ts';
import { isLong } from '../../../../test/support/runs.ts';
import { world } from '../../../../test/support/world.ts';

/** A server of files: `/redirect/3` leads to a file in three steps, and `/silent` never answers. */
async function startRemote(t: TestContext): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const steps = Number(/^\/redirect\/(\d+)\.yml$/.exec(url)?.[1] ?? 0);
    if (steps > 0) response.writeHead(302, { location: steps > 1 ? `/redirect/${steps - 1}.yml` : '/jobs.yml' }).end();
    else if (url === '/jobs.yml') response.end('remote job: {script: x}\ninclude: /local.yml');
    else if (url === '/large.yml') response.end(`a: ${'x'.repeat(2 * 1024 * 1024)}`);
    else if (url !== '/silent.yml') response.writeHead(404).end('secret text of the answer');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('remote files are fetched within limits, and from the local network only where the settings allow it', async (t) => {
  const here = await world({});
  const remote = await startRemote(t);
  const lint = async (file: string) => {
    const content = `include: {remote: '${file}'}\nown: {script: x}`;
    const path = `/projects/${here.project.id}/ci/lint`;
    const { status, body } = await here.as('developer').post(path, { content, include_jobs: true });
    assert.equal(status, 200);
    return body.valid ? body.jobs.map(({ name }: { name: string }) => name) : body.errors[0];
  };
  const blocked =
    'Remote file could not be fetched because the address is blocked: Requests to localhost are not allowed!';
  assert.equal(await lint(`${remote}/jobs.yml`), blocked);
  assert.equal(await lint('http://localhost/jobs.yml'), blocked);
  assert.match(await lint('http://10.0.0.1/jobs.yml'), /Requests to the local network are not allowed!$/);
  assert.match(await lint('ftp://example.com/jobs.yml'), /does not have a valid address!$/);

  await allowLocalHooks(here);
  // What a remote file includes has no project: a local file of it is nowhere.
  assert.match(await lint(`${remote}/jobs.yml`), /local\.yml/);
  assert.match(await lint(`${remote}/redirect/3.yml`), /local\.yml/);
  assert.equal(
    await lint(`${remote}/redirect/4.yml`),
    'Remote file could not be fetched because Redirected too often!',
  );
  assert.equal(
    await lint(`${remote}/none.yml`),
    `Remote file \`${remote}/none.yml\` could not be fetched because of HTTP code \`404\` error!`,
  );
  assert.match(await lint(`${remote}/large.yml`), /: The parsed YAML is too big$/);
  if (isLong)
    assert.equal(
      await lint(`${remote}/silent.yml`),
      `Remote file \`${remote}/silent.yml\` could not be fetched because of a timeout error!`,
    );
});
