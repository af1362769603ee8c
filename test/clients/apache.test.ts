/** Apache with mod_auth_openidc, from the packages of Debian: a page that only those see who sign in with this server. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { dataFolder, freePort, rootToken, type Server, serve } from '../operating/coppice.ts';
import { anonymousBrowser, type Browser } from '../support/browser.ts';
import { agree, leadsTo, type TestApplication } from '../support/oauth.ts';
import { isLong } from '../support/runs.ts';
import { sent } from '../support/sent.ts';
import { eventually } from '../support/two_sites.ts';
import { keptFolder, type Missing, missing } from './installed.ts';

const run = promisify(execFile);

const packages = [
  ...['apache2-bin', 'libapache2-mod-auth-openidc', 'libcjose0', 'libapr1', 'libaprutil1', 'libhiredis0.14'],
  ...['libjansson4', 'liblua5.3-0'],
];

/** Unpacks the packages into a folder, where they are not installed. */
async function unpacked(): Promise<{ root: string } | Missing> {
  try {
    const root = await keptFolder(`apache ${packages.join(' ')}`, async (draft) => {
      await run('apt-get', ['download', '-o', 'APT::Sandbox::User=root', ...packages], { cwd: draft });
      for (const file of await readdir(draft)) await run('dpkg', ['-x', file, '.'], { cwd: draft });
    });
    return { root };
  } catch (error) {
    return missing('Apache', error);
  }
}

interface Site {
  url: string;
  stop(): Promise<void>;
}

/** Starts Apache with a page below `/inside`, which says who sees it. */
async function startSite(root: string, { url }: Server, port: number, application: TestApplication): Promise<Site> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-apache-'));
  await mkdir(path.join(folder, 'www/inside'), { recursive: true });
  await writeFile(path.join(folder, 'www/inside/index.html'), 'Inside');
  const modules = path.join(root, 'usr/lib/apache2/modules');
  const module = (name: string) => `LoadModule ${name}_module ${modules}/mod_${name}.so`;
  const site = `http://127.0.0.1:${port}`;
  const configuration = `
ServerRoot ${folder}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/log
DocumentRoot ${folder}/www
User nobody
Group nogroup
${['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'headers', 'auth_openidc'].map(module).join('\n')}
DirectoryIndex index.html
OIDCProviderMetadataURL ${url}/.well-known/openid-configuration
OIDCClientID ${application.application_id}
OIDCClientSecret ${application.secret}
OIDCRedirectURI ${site}/inside/callback
OIDCCryptoPassphrase only-tests-know-it
OIDCScope "openid profile email"
OIDCRemoteUserClaim preferred_username
<Location /inside>
  AuthType openid-connect
  Require valid-user
  # Also for programs, such as the browser of this test.
  OIDCUnAuthAction auth true
  Header set X-Signed-In expr=%{REMOTE_USER}
</Location>
`;
  await writeFile(path.join(folder, 'httpd.conf'), configuration);
  await run('chmod', ['-R', 'a+rX', folder]);
  const env = { ...process.env, LD_LIBRARY_PATH: path.join(root, 'usr/lib/x86_64-linux-gnu') };
  const program: ChildProcess = spawn(
    path.join(root, 'usr/sbin/apache2'),
    ['-DFOREGROUND', '-f', path.join(folder, 'httpd.conf')],
    { env, stdio: 'inherit' },
  );
  await eventually('Apache answers', () =>
    fetch(site).then(
      () => true,
      () => false,
    ),
  );
  return {
    url: site,
    async stop() {
      const ended = once(program, 'exit');
      program.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const password = 'a word that only tests pass';

if (isLong)
  test('Apache: a page of mod_auth_openidc is for those who sign in here', async (t) => {
    const installed = await unpacked();
    if ('missing' in installed) return t.skip(installed.missing);
    const [port, own] = [await freePort(), await freePort()];
    const server = await serve({
      ...{ COPPICE_DATA: await dataFolder(), COPPICE_PORT: String(port), COPPICE_URL: `http://127.0.0.1:${port}` },
      ...{ COPPICE_ROOT_PASSWORD: password, COPPICE_ROOT_TOKEN: rootToken },
    });
    t.after(() => server.stop());
    const application: TestApplication = await sent(
      server.root.post('/applications', {
        ...{ name: 'Apache', redirect_uri: `http://127.0.0.1:${own}/inside/callback`, scopes: 'openid profile email' },
      }),
    );
    const site = await startSite(installed.root, server, own, application);
    t.after(() => site.stop());
    const here: Browser = anonymousBrowser(server.url);
    assert.equal((await here.send('/users/sign_in', 'sign_in', { login: 'root', password })).status, 303);
    const there: Browser = anonymousBrowser(site.url);
    const asked = leadsTo(await there.get('/inside/'))!;
    assert.equal(asked.origin, server.url);
    const { body: root } = await server.root.get('/user');
    const back = await agree(here, asked.search.slice(1), root.id);
    assert.equal(back.origin, site.url);
    const entered = await there.get(back.pathname + back.search);
    assert.deepEqual([entered.status, entered.to], [302, '/inside/']);
    const inside = await there.get('/inside/');
    assert.deepEqual([inside.status, inside.html, inside.headers.get('x-signed-in')], [200, 'Inside', 'root']);
    assert.equal((await anonymousBrowser(site.url).get('/inside/')).status, 302);
    const forged = await anonymousBrowser(site.url).get(back.pathname + back.search);
    assert.notEqual(forged.to, '/inside/', 'an answer that another browser has asked for');
  });
