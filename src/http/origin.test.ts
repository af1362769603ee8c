import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everythingFrom, rawSocket } from '../../test/support/raw_socket.ts';
import { world } from '../../test/support/world.ts';

/** The reply to a GET with exactly these header lines. */
async function reply(url: string, path: string, ...lines: string[]): Promise<string> {
  const socket = await rawSocket(url);
  socket.write(`${[`GET ${path} HTTP/1.1`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  return everythingFrom(socket);
}

test('links use the host that the client sent only if it is a name or address with a port', async () => {
  const { url, project, people, as } = await world();
  const path = `/api/v4/projects/${project.id}/members`;
  const token = `PRIVATE-TOKEN: ${people.owner.token}`;
  for (const host of ['forge.example', 'forge_1:3000', '10.0.0.1:80', '[::1]:3000'])
    assert.ok((await reply(url, path, `Host: ${host}`, token)).includes(`<http://${host}${path}?`), host);
  const hostile = ['x>; rel="next", <http://evil/', 'evil/path', 'user@evil', 'a b', '[::1', 'x:y', ''];
  for (const host of hostile) {
    const answer = await reply(url, path, `Host: ${host}`, token);
    assert.ok(!answer.includes('evil'), answer);
    assert.ok(/^HTTP\/1\.1 400 /.test(answer) || answer.includes(`<http://coppice.test${path}?`), answer);
  }

  const other = await as('owner').put(`/projects/${project.id}`, { path: `${project.path}-moved` });
  assert.equal(other.status, 200);
  const moved = await reply(url, `/api/v4/projects/${encodeURIComponent(project.full_path)}`, 'Host: evil/x', token);
  assert.match(moved, /^HTTP\/1\.1 301 /);
  assert.match(moved, new RegExp(`^location: http://coppice.test/api/v4/projects/${project.id}\\r$`, 'm'));
});

test('two Host headers are refused', async () => {
  const { url } = await world();
  const answer = await reply(url, '/api/v4/version', 'Host: a.example', 'Host: b.example');
  assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*\{"message":"400 Bad request"\}$/);
});

test('a redirect of git stays on this server, whatever its path', async () => {
  const { url } = await world();
  const service = 'service=git-upload-pack';
  for (const path of [
    '/%2fevil.example/x/info/refs',
    '/-/git/%2f%2fevil.example%2fx/redirect',
    '/-/git/%5c%5cevil.example%2fx/redirect',
    '/%5cevil.example/x/info/refs',
  ]) {
    const answer = await reply(url, `${path}?${service}`, 'Host: coppice.test');
    const [, location] = /^location: (.*)\r$/m.exec(answer) ?? [];
    if (location !== undefined)
      assert.equal(new URL(location, 'http://coppice.test/').origin, 'http://coppice.test', location);
  }
  assert.match(
    await reply(url, `/a%20b/x/info/refs?${service}`, 'Host: coppice.test'),
    /^location: \/a%20b\/x\.git\/info\/refs\?service=git-upload-pack\r$/m,
  );
});
