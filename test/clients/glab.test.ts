/** The command line client glab: merge requests from a push over SSH to the merge. glab/go.mod pins its newest version that is a Go module, and whose first build takes a minute. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { concludeMerges, followDeployments, rebaseSource } from '../../src/areas/work/merge_requests/index.ts';
import { begin, clone, remoteFor, type WorkTree } from '../git/work_tree.ts';
import { ownAddress } from '../support/address.ts';
import { browserOf } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { codeFor, exchangeOf, newApplication, oauthOf, queryOf } from '../support/oauth.ts';
import { built as ofConfiguration } from '../support/pipelines.ts';
import { filledWorld } from '../support/repository.ts';
import { runnerOf } from '../support/runners.ts';
import { isLong } from '../support/runs.ts';
import { sent } from '../support/sent.ts';
import { runProgram } from '../support/small_process.ts';
import { sshFor, withKey } from '../support/ssh.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { buildGo } from './installed.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'coppice-glab-'));
after(() => rm(folder, { recursive: true, force: true }));

const environment = await ownAddress();

/** Runs glab in the clone of a person. */
type Glab = (...args: string[]) => Promise<string>;

/** glab as a person has set it up: it finds the server by the host name of the remote. */
async function glabFor({ url, people }: World, persona: Persona, program: string, work: WorkTree): Promise<Glab> {
  const settings = path.join(folder, persona);
  await mkdir(settings, { recursive: true });
  const host = {
    token: people[persona].token,
    api_protocol: 'http',
    git_protocol: 'http',
    api_host: new URL(url).host,
  };
  // YAML contains JSON.
  const config = { check_update: 'false', hosts: { '127.0.0.1': host } };
  await writeFile(path.join(settings, 'config.yml'), JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env.PATH!, HOME: folder, GLAB_CONFIG_DIR: settings, NO_PROMPT: '1', NO_COLOR: '1' };
  return async (...args) => {
    const { code, stdout, stderr } = await runProgram(program, args, { cwd: work.folder, env });
    assert.equal(code, 0, `glab ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout + stderr;
  };
}

let building: ReturnType<typeof buildGo> | undefined;

/** Builds it once for the file. */
const built = () =>
  (building ??= buildGo(path.join(import.meta.dirname, 'glab'), 'github.com/profclems/glab/cmd/glab', folder));

if (isLong) {
  test('glab: a branch that was pushed over SSH becomes a merge request, which is viewed, discussed, rebased, approved and merged', async (t) => {
    const client = await built();
    if ('missing' in client) return t.skip(client.missing);
    const here = await world({ environment });
    const first = await begin(remoteFor(here, 'maintainer'), 'main');
    await first.commit('README.md', 'one\n');
    await first.git('push', '-q', 'origin', 'main');
    const ssh = await sshFor(here);
    const { file } = await ssh.keyOf('developer');
    const work = await clone(remoteFor(here, 'developer'), ...withKey(file, ssh.hostKey));
    await work.git('remote', 'set-url', '--push', 'origin', ssh.remote());
    await work.git('checkout', '-q', '-b', 'topic');
    await work.commit('beans.txt', 'beans\n');
    await work.git('push', '-q', '-u', 'origin', 'topic');

    const glab = await glabFor(here, 'developer', client.program, work);
    const says = async (expected: RegExp, ...args: string[]) => assert.match(await glab(...args), expected);
    const fields = [
      '--title',
      'Sow the beans',
      '--description',
      'Deep.',
      '--target-branch',
      'main',
      '--label',
      'garden',
    ];
    await says(
      /\/merge_requests\/1\n/,
      'mr',
      'create',
      ...fields,
      '--assignee',
      here.people.developer.username,
      '--yes',
    );
    await says(/^!1\tSow the beans\t\(main\) ← \(topic\)$/m, 'mr', 'list', '--assignee', '@me');
    await says(/^\+beans$/m, 'mr', 'diff', '1');
    await says(/#note_\d+/, 'mr', 'note', '1', '-m', 'When?');
    await says(/Closed Merge request !1/, 'mr', 'close', '1');
    await says(/^state:\tclosed$/m, 'mr', 'view', '1');
    await says(/Reopened Merge request !1/, 'mr', 'reopen', '1');
    await says(/^state:\topen\n(?:.*\n)*labels:\tgarden\n(?:.*\n)*comments:\t1\n(?:.*\n)*Deep\.$/m, 'mr', 'view', '1');

    // Meanwhile the target branch moves.
    await first.commit('README.md', 'two\n');
    await first.git('push', '-q', 'origin', 'main');
    const rebased = glab('mr', 'rebase', 'topic');
    while ((await performQueued(here.services, [rebaseSource])).length === 0);
    assert.match(await rebased, /Rebase successful/);

    const merger = await glabFor(here, 'maintainer', client.program, work);
    assert.match(await merger('mr', 'approve', '1'), /Approved/);
    assert.match(await merger('mr', 'merge', '1', '--yes', '--remove-source-branch'), /Merged/);
    await performQueued(here.services, [concludeMerges]);
    await says(/^state:\tmerged$/m, 'mr', 'view', '1');
    await first.git('pull', '-q', 'origin', 'main');
    assert.match(await first.git('ls-files'), /^README\.md\nbeans\.txt$/);

    // It has no commands for deployments and search.
    const sha = (await first.git('rev-parse', 'HEAD')).trim();
    const record = ['environment=production', `sha=${sha}`, 'ref=main', 'tag=false', 'status=success'];
    const fieldsOf = (values: string[]) => values.flatMap((value) => ['--field', value]);
    await says(/"status":"success"/, 'api', 'projects/:fullpath/deployments', '--method', 'POST', ...fieldsOf(record));
    await performQueued(here.services, [followDeployments]);
    await says(/"title":"Sow the beans"/, 'api', 'projects/:fullpath/merge_requests?environment=production');
    await says(/^\[\]$/, 'api', 'projects/:fullpath/merge_requests?environment=staging');
    await says(/"title":"Sow the beans"/, 'api', 'projects/:fullpath/search?scope=merge_requests&search=beans');
    await says(/"path":"beans\.txt"/, 'api', 'projects/:fullpath/search?scope=blobs&search=beans');

    const values = ['title=Seeds', 'file_name=seeds.txt', 'content=beans', 'visibility=private'];
    const added = JSON.parse(await glab('api', 'snippets', '--method', 'POST', ...fieldsOf(values)));
    await says(/^beans$/, 'api', `snippets/${added.id}/raw`);

    const page = fieldsOf(['title=Sowing', 'content=In May']);
    await says(/"slug":"Sowing"/, 'api', 'projects/:fullpath/wikis', '--method', 'POST', ...page);
    await says(/"content":"In May"/, 'api', 'projects/:fullpath/wikis/Sowing');
  });

  test('glab: a release is created with a file and a link, listed, viewed, downloaded, changed and deleted', async (t) => {
    const client = await built();
    if ('missing' in client) return t.skip(client.missing);
    const here = await filledWorld({ environment });
    const work = await clone(remoteFor(here, 'developer'));
    await writeFile(path.join(work.folder, 'seeds.txt'), 'beans\n');
    const glab = await glabFor(here, 'developer', client.program, work);
    const says = async (expected: RegExp, ...args: string[]) => assert.match(await glab('release', ...args), expected);
    const links = [{ name: 'Manual', url: 'https://files.example/manual', filepath: '/manual', link_type: 'runbook' }];
    const fields = ['--name', 'First', '--notes', 'For all.', '--ref', 'main', '--assets-links', JSON.stringify(links)];
    const files = ['seeds.txt#Seeds#package'];
    await says(
      /release created\t(?:.*\n)*.*Uploading to release\t(?:.*\n)*.*Added release asset/,
      'create',
      'v1.0',
      ...fields,
      ...files,
    );
    await says(/^First\tv1\.0\t/m, 'list');
    await says(/^ +For all\.(?:.*\n)*Manual\t.*\/manual\nSeeds\t.*\/v1\.0\/downloads\/seeds\.txt\n/m, 'view', 'v1.0');
    await says(/release "First" downloaded/, 'download', 'v1.0', '--asset-name', '*.tar');
    const tar = await readFile(path.join(work.folder, `${here.project.path}-v1.0.tar`), 'latin1');
    assert.match(tar, /README\.md/);
    // Files that it uploads cannot be downloaded from a server with a port: this version leaves it out of their addresses.
    await says(/release updated/, 'create', 'v1.0', '--name', 'The first', '--notes', 'For all.');
    const map = [{ name: 'Map', url: 'https://files.example/map' }];
    await says(/Added release asset/, 'upload', 'v1.0', '--assets-links', JSON.stringify(map));
    await says(/^The first\n(?:.*\n)*Map\t/m, 'view', 'v1.0');
    await says(/release "The first" deleted/, 'delete', 'v1.0', '--yes', '--with-tag');
    await says(/No releases/i, 'list');
  });

  test('glab: a pipeline is run with variables, listed, watched, retried and linted', async (t) => {
    const client = await built();
    if ('missing' in client) return t.skip(client.missing);
    const here = await ofConfiguration('build: {script: make}\n', { environment });
    const runner = await runnerOf(here);
    const work = await clone(remoteFor(here, 'maintainer'));
    const glab = await glabFor(here, 'maintainer', client.program, work);
    const says = async (expected: RegExp, ...args: string[]) => assert.match(await glab(...args), expected);
    await says(/^Variable created:\nREGION=west$|REGION/m, 'variable', 'set', 'REGION', 'west');
    await says(/REGION/, 'variable', 'list');
    await says(/REGION/, 'variable', 'update', 'REGION', 'east');
    await says(/Created pipeline \(id: \d+ *\), status: pending/, 'ci', 'run', '-b', 'main', '--variables', 'DEPTH:3');
    const job = (await runner.take())!;
    const variables = (job.job.variables as { key: string; value: string }[]).map(
      ({ key, value }) => `${key}=${value}`,
    );
    assert.deepEqual(
      ['DEPTH=3', 'REGION=east'].filter((variable) => variables.includes(variable)),
      ['DEPTH=3', 'REGION=east'],
    );
    await says(/#1\tmain/, 'ci', 'list');
    await job.append('made of stone\n');
    await job.end('failed');
    await says(/failed.*\n?.*build/s, 'ci', 'status', '-b', 'main');
    await says(/made of stone/, 'ci', 'trace', String(job.id));
    await says(/Retried job \(id: \d+ *\), status: pending/, 'ci', 'retry', String(job.id));
    const again = (await runner.take())!;
    await again.end('success');
    await says(/success/, 'ci', 'list');
    await says(/REGION/, 'variable', 'delete', 'REGION');
    // Its own command asks an endpoint that v4 does not have any more.
    await says(/"valid":true/, 'api', 'projects/:fullpath/ci/lint');
  });

  test('glab: somebody signs in with a token that they gave to an application on their computer', async (t) => {
    const client = await built();
    if ('missing' in client) return t.skip(client.missing);
    const here = await world({ environment });
    const { developer } = here.people;
    const redirect_uri = 'http://localhost:7171/auth/redirect';
    const scope = 'openid profile read_user write_repository api';
    const application = await newApplication(here, { redirect_uri, confidential: false, scopes: scope });
    const code = await codeFor(
      await browserOf(here, developer),
      queryOf(application, { redirect_uri, scope }),
      developer.id,
    );
    const given = { ...exchangeOf(application, code), redirect_uri, client_secret: undefined };
    const { access_token } = await sent(oauthOf(here).post('/token', given));
    const home = path.join(folder, 'signed-in');
    await mkdir(home, { recursive: true });
    const host = { api_protocol: 'http', git_protocol: 'http', api_host: new URL(here.url).host };
    const config = { check_update: 'false', hosts: { '127.0.0.1': host } };
    await writeFile(path.join(home, 'config.yml'), JSON.stringify(config), { mode: 0o600 });
    const env = { PATH: process.env.PATH!, HOME: home, GLAB_CONFIG_DIR: home, NO_PROMPT: '1', NO_COLOR: '1' };
    const glab = async (...args: string[]) => {
      const { stdout, stderr } = await runProgram(client.program, args, { cwd: home, env });
      return stdout + stderr;
    };
    await glab('auth', 'login', '--hostname', '127.0.0.1', '--token', access_token);
    assert.match(await glab('auth', 'status', '--hostname', '127.0.0.1'), new RegExp(`as ${developer.username}`));
  });
}
