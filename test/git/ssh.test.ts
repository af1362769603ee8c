/** Git over SSH: the same access, limits and checks as over HTTP. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import ssh2 from 'ssh2';
import { secretsFrom } from '../../src/secrets/index.ts';
import { privateKeyText } from '../../src/ssh/index.ts';
import { gitClient } from '../support/git.ts';
import { ask, basic, objectFor } from '../support/lfs.ts';
import { securityKey } from '../support/security_key.ts';
import { newSshKey, type SshWorld, sshFor, withKey } from '../support/ssh.ts';
import { type Persona, world } from '../support/world.ts';
import { begin, clone, refusedClone, remoteFor, type WorkTree } from './work_tree.ts';

/** A world with the SSH server and a file on `main`. */
async function filled() {
  const here = await world();
  const first = await begin(remoteFor(here, 'maintainer'), 'main');
  await first.commit('README.md', 'one\n');
  await first.git('push', '-q', 'origin', 'main');
  return { here, ssh: await sshFor(here) };
}

async function cloneAs(ssh: SshWorld, persona: Persona): Promise<WorkTree> {
  const { file } = await ssh.keyOf(persona);
  return clone(ssh.remote(), ...withKey(file, ssh.hostKey));
}

interface Said {
  code: number | null;
  out: string;
  err: string;
}

/** Runs a command, or asks for a shell. @param answer what is typed then */
function said(
  ssh: SshWorld,
  credential: Pick<ssh2.ConnectConfig, 'privateKey' | 'agent' | 'authHandler'>,
  command?: string,
  answer?: string,
): Promise<Said> {
  const client = new ssh2.Client();
  const { promise, resolve, reject } = Promise.withResolvers<Said>();
  client.on('error', reject);
  client.on('ready', () => {
    const hear = (error: Error | undefined, channel: ssh2.ClientChannel) => {
      if (error) return reject(error);
      const heard: Said = { code: null, out: '', err: '' };
      if (answer !== undefined) channel.write(answer);
      channel.on('data', (text: Buffer) => {
        heard.out += text;
      });
      channel.stderr.on('data', (text: Buffer) => {
        heard.err += text;
      });
      channel.on('exit', (code: number | null) => {
        heard.code = code;
      });
      channel.on('close', () => {
        client.end();
        resolve(heard);
      });
    };
    if (command === undefined) client.shell(false, hear);
    else client.exec(command, hear);
  });
  client.connect({ host: '127.0.0.1', port: ssh.port, username: 'git', ...credential });
  return promise;
}

const keyText = async (file: string) => (await import('node:fs/promises')).readFile(file);

test('a developer clones, pushes and fetches, and the key remembers its use', async () => {
  const { here, ssh } = await filled();
  const { id, file } = await ssh.keyOf('developer');
  const work = await clone(ssh.remote(), ...withKey(file, ssh.hostKey));
  await work.git('checkout', '-q', '-b', 'topic');
  const head = await work.commit('new.txt', 'x'.repeat(300_000));
  await work.git('push', '-q', 'origin', 'topic');
  const { body: branch } = await here.as('reporter').get(`/projects/${here.project.id}/repository/branches/topic`);
  assert.equal(branch.commit.id, head);

  const other = await cloneAs(ssh, 'reporter');
  assert.equal(await other.git('rev-parse', 'origin/topic'), head);
  await work.commit('more.txt', 'more\n');
  await work.git('push', '-q', 'origin', 'topic');
  await other.git('fetch', '-q');
  assert.equal(await other.git('rev-parse', 'origin/topic'), await work.git('rev-parse', 'HEAD'));
  assert.notEqual((await here.as('developer').get(`/user/keys/${id}`)).body.last_used_at, null);
});

/** Begins a push in a session of its own, and sends no more than its commands. */
async function beginPush(client: ssh2.Client, full_path: string): Promise<void> {
  const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) => {
    client.exec(`git-receive-pack '${full_path}.git'`, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  let heard = '';
  for await (const part of channel.iterator({ destroyOnReturn: false })) {
    heard += part;
    if (heard.endsWith('0000')) break;
  }
  assert.match(heard, / refs\/heads\/main\0/);
  const command = `${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/stalled\0report-status`;
  channel.write(`${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`);
}

test('pushes that stall before their pack arrives take no place from others, and a push without a pack needs none', async () => {
  const { here, ssh } = await filled();
  const { file } = await ssh.keyOf('developer');
  const client = new ssh2.Client();
  client.connect({ host: '127.0.0.1', port: ssh.port, username: 'git', privateKey: await keyText(file) });
  await once(client, 'ready');
  // More than there are places of an address.
  for (let begun = 0; begun < 9; begun++) await beginPush(client, here.project.full_path);
  const work = await clone(ssh.remote(), ...withKey(file, ssh.hostKey));
  await work.commit('a', 'a');
  const pushes = ['HEAD:topic', 'HEAD:topic', 'HEAD:other', ':topic', ':other'];
  for (const refs of pushes) await work.git('push', '-q', 'origin', refs);
  const { body } = await here.as('developer').get(`/projects/${here.project.id}/repository/branches`);
  assert.deepEqual(
    body.map(({ name }: { name: string }) => name),
    ['main'],
  );
  client.end();
  await once(client, 'close');
});

test('a push is refused as over HTTP, with every reason', async () => {
  const { ssh } = await filled();
  const developer = await cloneAs(ssh, 'developer');
  await developer.commit('a', 'a');
  assert.match(
    await developer.refused('push', 'origin', 'main'),
    /remote: GitLab: You are not allowed to push code to protected branches/,
  );
  const reporter = await cloneAs(ssh, 'reporter');
  await reporter.commit('a', 'a');
  assert.match(
    await reporter.refused('push', 'origin', 'HEAD:topic'),
    /ERROR: You are not allowed to push code to this project\./,
  );
});

test('strangers, unknown keys, keys that only sign, and deleted and expired keys are refused', async () => {
  const { here, ssh } = await filled();
  const outsider = await ssh.keyOf('outsider');
  assert.match(
    await refusedClone(ssh.remote(), ...withKey(outsider.file)),
    /ERROR: The project you were looking for could not be found or you don't have permission to view it\./,
  );
  const refused = /All configured authentication methods failed/;
  assert.match(await refusedClone(ssh.remote(), ...withKey((await newSshKey()).file)), refused);
  const signing = await ssh.keyOf('developer', { usage_type: 'signing' });
  assert.match(await refusedClone(ssh.remote(), ...withKey(signing.file)), refused);

  const { id, file } = await ssh.keyOf('developer', { expires_at: '2099-01-01T00:00:00Z' });
  await clone(ssh.remote(), ...withKey(file));
  await here.db.updateTable('keys').set({ expires_at: '2020-01-01T00:00:00Z' }).where('id', '=', id).execute();
  assert.match(await refusedClone(ssh.remote(), ...withKey(file)), refused);
  const gone = await ssh.keyOf('developer');
  await here.as('developer').delete(`/user/keys/${gone.id}`);
  assert.match(await refusedClone(ssh.remote(), ...withKey(gone.file)), refused);

  const blocked = await ssh.keyOf('reporter');
  await here.as('admin').post(`/users/${here.people.reporter.id}/block`);
  assert.match(await refusedClone(ssh.remote(), ...withKey(blocked.file)), /ERROR: Your account has been blocked\./);
});

test('whoever has a key gets new recovery codes, if they say yes and have a second factor', async () => {
  const { here, ssh } = await filled();
  const { id } = here.people.guest;
  const privateKey = await keyText((await ssh.keyOf('guest')).file);
  const codes = (answer: string) => said(ssh, { privateKey }, '2fa_recovery_codes', answer);
  const without = await codes('yes\n');
  assert.deepEqual([without.code, without.err], [1, 'ERROR: You have no second factor.\n']);
  const key = { user_id: id, credential_id: Buffer.from(String(id)), public_key: Buffer.alloc(1), counter: 0 };
  await here.db
    .insertInto('webauthn_credentials')
    .values({ ...key, transports: sql`'{}'`, name: 'key', is_passkey: false })
    .execute();
  const kept = () =>
    here.db.selectFrom('recovery_codes').select('digest').where('user_id', '=', id).orderBy('digest').execute();
  for (const answer of ['no\n', '\n', 'y'.repeat(1000)]) {
    assert.match((await codes(answer)).out, /No new codes were made\.\n$/);
    assert.deepEqual(await kept(), []);
  }
  const { code, out } = await codes('Yes\n');
  assert.deepEqual([code, out.match(/^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/gm)?.length], [0, 10]);
  assert.equal((await kept()).length, 10);
});

test('without a command the server greets, and it runs no other', async () => {
  const { here, ssh } = await filled();
  const key = await keyText((await ssh.keyOf('guest')).file);
  const { username } = here.people.guest;
  assert.deepEqual(await said(ssh, { privateKey: key }), {
    code: 0,
    out: `Welcome to Coppice, @${username}!\r\n`,
    err: '',
  });
  for (const command of ['ls', 'git-shell', 'constructor', "git-upload-archive 'a/b.git'", '', 'x'.repeat(20_000)]) {
    const { code, out, err } = await said(ssh, { privateKey: key }, command);
    assert.deepEqual([code, out], [1, ''], command);
    assert.match(err, /^ERROR: The command( you're trying to execute is not allowed|is too long)?/, command);
  }
  for (const path of ['../../etc', '-c/x', '', "a'b/c", here.project.full_path.slice(1)])
    assert.match((await said(ssh, { privateKey: key }, `git-upload-pack '${path}'`)).err, /^ERROR: /, path);
});

test('only public keys of the account git are accepted', async () => {
  const { ssh } = await filled();
  const { file } = await ssh.keyOf('developer');
  const attempt = (options: ssh2.ConnectConfig) => {
    const client = new ssh2.Client();
    const { promise, resolve } = Promise.withResolvers<string>();
    client.on('ready', () => resolve('ready')).on('error', ({ message }) => resolve(message));
    client.connect({ host: '127.0.0.1', port: ssh.port, ...options });
    return promise.finally(() => client.end());
  };
  const privateKey = await keyText(file);
  assert.equal(await attempt({ username: 'git', privateKey }), 'ready');
  for (const options of [
    { username: 'root', privateKey },
    { username: 'git', password: 'git' },
    { username: 'git', password: '' },
  ])
    assert.match(await attempt(options), /authentication methods failed/);
  const old = await attempt({ username: 'git', privateKey, algorithms: { kex: ['diffie-hellman-group14-sha1'] } });
  assert.match(old, /no matching key exchange algorithm/);
});

test('RSA keys connect with SHA-2 only, and not if they are short', async () => {
  const { here, ssh } = await filled();
  const attempt = async (modulusLength: number, hash: 'sha1' | 'sha2') => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
    const key = ssh2.utils.parseKey(privateKey.export({ type: 'pkcs1', format: 'pem' }) as string) as ssh2.ParsedKey;
    const fingerprint_sha256 = createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '');
    const row = {
      title: 'old',
      key: `ssh-rsa ${key.getPublicSSH().toString('base64')}`,
      fingerprint_sha256,
      usage_type: 'auth',
    };
    await here.db
      .insertInto('keys')
      .values({ ...row, user_id: here.people.guest.id })
      .execute();
    // The library chooses SHA-2 for keys of this type, and else what old clients do.
    if (hash === 'sha1')
      Object.defineProperty(key, 'type', {
        get: () => (/getKeyAlgos/.test(String(new Error().stack)) ? '' : 'ssh-rsa'),
      });
    const byKey: ssh2.PublicKeyAuthMethod = { type: 'publickey', username: 'git', key };
    return said(ssh, { authHandler: [byKey] }).then(
      ({ out }) => out,
      ({ message }) => message,
    );
  };
  assert.match(await attempt(2048, 'sha2'), /^Welcome/);
  assert.match(await attempt(2048, 'sha1'), /authentication methods failed/);
  assert.match(await attempt(1024, 'sha2'), /authentication methods failed/);
});

test('a moved project is found under its former path, with a hint', async () => {
  const { here, ssh } = await filled();
  const { file } = await ssh.keyOf('developer');
  const before = here.project.full_path;
  const { body } = await here.as('owner').put(`/projects/${here.project.id}`, { path: 'elsewhere' });
  const client = await gitClient();
  const { code, stderr } = await client.run([...withKey(file), 'clone', ssh.remote(before), 'work']);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    new RegExp(`The project has moved to ${body.path_with_namespace}\\. Update the address of your remote\\.`),
  );
});

test('git-lfs gets a credential for one operation, which ends with the key', async () => {
  const { here, ssh } = await filled();
  const { id, file } = await ssh.keyOf('developer');
  const key = await keyText(file);
  const authenticate = async (operation: string) => {
    const { code, out, err } = await said(
      ssh,
      { privateKey: key },
      `git-lfs-authenticate ${here.project.full_path}.git ${operation}`,
    );
    return { code, err, ...(out === '' ? {} : JSON.parse(out)) };
  };
  assert.equal((await authenticate('steal')).err, 'ERROR: The operation must be download or upload.\n');
  const upload = await authenticate('upload');
  assert.equal(upload.href, `${here.services.url}/${here.project.full_path}.git/info/lfs`);
  const batch = (headers: Record<string, string>, operation: string) =>
    ask(here, 'anonymous', 'info/lfs/objects/batch', {
      method: 'POST',
      headers,
      json: { operation, objects: [objectFor('film')] },
    });
  const { status, body } = await batch({ authorization: upload.header.Authorization }, 'upload');
  assert.equal(status, 200);
  const { href, header } = body.objects[0].actions.upload;
  const stored = await ask(here, 'anonymous', href, {
    method: 'PUT',
    headers: { authorization: header.Authorization },
    body: 'film',
  });
  assert.equal(stored.status, 200, stored.text);
  const download = await authenticate('download');
  assert.equal((await batch({ authorization: download.header.Authorization }, 'upload')).status, 403);
  assert.equal((await batch({ authorization: download.header.Authorization }, 'download')).status, 200);
  assert.equal((await batch(basic('lfs-k1.1.upload.99999999999999.x'), 'upload')).status, 401);
  await here.as('developer').delete(`/user/keys/${id}`);
  assert.equal((await batch({ authorization: upload.header.Authorization }, 'download')).status, 401);
});

test('a security key connects when it is touched', async () => {
  const { here, ssh } = await filled();
  const { people, as } = here;
  for (const type of ['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'] as const) {
    const key = securityKey(type);
    assert.equal((await as('reporter').post('/user/keys', { title: type, key: key.line })).status, 201);
    const username = people.reporter.username;
    assert.equal((await said(ssh, { agent: key.agent() })).out, `Welcome to Coppice, @${username}!\r\n`);
    assert.equal((await said(ssh, { agent: key.agent(5) })).code, 0, 'it may say more of its user');
    await assert.rejects(said(ssh, { agent: key.agent(0) }), /All configured authentication methods failed/);
    await assert.rejects(said(ssh, { agent: key.agent(4) }), /All configured authentication methods failed/);
    await assert.rejects(
      said(ssh, { agent: key.agent(1, 'ssh:elsewhere') }),
      /All configured authentication methods failed/,
    );
    await assert.rejects(
      said(ssh, { agent: securityKey(type).agent() }),
      /All configured authentication methods failed/,
    );
  }
});

test('twenty clones at once all arrive', async () => {
  const { ssh } = await filled();
  const { file } = await ssh.keyOf('reporter');
  const heads = await Promise.all(
    Array.from({ length: 20 }, async () => (await clone(ssh.remote(), ...withKey(file))).git('rev-parse', 'HEAD')),
  );
  assert.equal(new Set(heads).size, 1);
});

test('a client that goes in the middle of a fetch leaves no command running', async () => {
  const { here, ssh } = await filled();
  const privateKey = await keyText((await ssh.keyOf('reporter')).file);
  const client = new ssh2.Client();
  const heard = Promise.withResolvers<void>();
  client
    .on('error', () => {})
    .on('ready', () => {
      client.exec(`git-upload-pack '${here.project.full_path}.git'`, (_error, channel) =>
        channel.once('data', heard.resolve),
      );
    });
  client.connect({ host: '127.0.0.1', port: ssh.port, username: 'git', privateKey });
  await heard.promise;
  client.destroy();
  await assert.doesNotReject(ssh.stop(), 'it stops once no command runs');
});

/** A connection from another address of this machine, which says no more than this. */
async function saying(ssh: SshWorld, localAddress: string, text: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: ssh.port, localAddress }).resume();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

test('connections that say nothing, or no more than their version, keep nobody from another address out', {
  skip: process.platform !== 'linux',
}, async () => {
  const { here } = await filled();
  const ssh = await sshFor(here, { newcomers: { all: 20, per_source: 10, time_ms: 60_000 } });
  const quiet = ['127.0.0.2', '127.0.0.3'].flatMap((address) => Array<string>(10).fill(address));
  const sockets = await Promise.all(
    quiet.map((address, index) => saying(ssh, address, index % 2 ? '' : 'SSH-2.0-x\r\n')),
  );
  const { file } = await ssh.keyOf('reporter');
  const work = await clone(ssh.remote(), ...withKey(file));
  assert.match(await work.git('rev-parse', 'HEAD'), /^[0-9a-f]{40}/);
  assert.equal(sockets.filter(({ closed }) => closed).length, 1);

  for (const socket of sockets) socket.destroy();
});

test('a connection that says nothing is closed when the time to authenticate is over', async () => {
  const { here } = await filled();
  const ssh = await sshFor(here, { newcomers: { all: 20, per_source: 10, time_ms: 200 } });
  const sockets = await Promise.all(['', 'SSH-2.0-x\r\n'].map((text) => saying(ssh, '127.0.0.1', text)));
  for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
  assert.ok(sockets.every(({ closed }) => closed));
});

test('the host key depends on nothing but the secret key', () => {
  const hostKey = (secretKey: string) => privateKeyText(secretsFrom(secretKey).signingKeyFor('ssh host key'));
  assert.equal(hostKey('a secret key'), hostKey('a secret key'));
  const [key, other] = ['a secret key', 'another secret key'].map((secretKey) =>
    ssh2.utils.parseKey(hostKey(secretKey)),
  );
  assert.ok(!(key instanceof Error || other instanceof Error));
  assert.equal(key!.type, 'ssh-ed25519');
  assert.notDeepEqual(key!.getPublicSSH(), other!.getPublicSSH());
});

test('a deploy key fetches its projects, and pushes where it may, on behalf of the user who added it', async () => {
  const { here, ssh } = await filled();
  const { as, project, people } = here;
  const { file, line } = await newSshKey();
  const path = `/projects/${project.id}/deploy_keys`;
  const { body: added } = await as('maintainer').post(path, { title: 'build', key: line });
  const work = await clone(ssh.remote(), ...withKey(file));
  await work.git('checkout', '-q', '-b', 'topic');
  const head = await work.commit('a', 'a');
  assert.match(
    await work.refused('push', 'origin', 'topic'),
    /ERROR: You are not allowed to push code to this project\./,
  );
  await as('maintainer').put(`${path}/${added.id}`, { can_push: true });
  await work.git('push', '-q', 'origin', 'topic');
  assert.equal((await as('reporter').get(`/projects/${project.id}/repository/branches/topic`)).body.commit.id, head);
  assert.match(
    await work.refused('push', 'origin', 'topic:main'),
    /You are not allowed to push code to protected branches/,
  );
  const { rows } = await here.db.executeQuery<{ author_id: number }>(
    CompiledQuery.raw(`select author_id from events where project_id = ${project.id} order by id desc limit 1`),
  );
  assert.equal(rows[0]!.author_id, people.maintainer.id);

  // What the user who added it may do elsewhere is not the key's.
  const { body: other } = await as('maintainer').post('/projects', { name: 'private', initialize_with_readme: true });
  assert.match(await refusedClone(ssh.remote(other.path_with_namespace), ...withKey(file)), /could not be found/);

  await as('admin').post(`/users/${people.maintainer.id}/block`);
  await clone(ssh.remote(), ...withKey(file));
  assert.match(
    await work.refused('push', 'origin', 'HEAD:next'),
    /ERROR: You are not allowed to push code to this project\./,
  );
  await as('owner').delete(`${path}/${added.id}`);
  assert.match(await refusedClone(ssh.remote(), ...withKey(file)), /authentication methods failed/);
});
