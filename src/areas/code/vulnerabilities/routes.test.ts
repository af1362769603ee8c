import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { browserOf, fillIn } from '../../../../test/support/browser.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { allowLocalHooks, type Receiver, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { zipOf } from '../../../../test/support/zip.ts';
import { advisoriesImport } from '../../../commands/advisories_import.ts';
import { readConfig } from '../../../config.ts';
import { collectNotifications, sendNotification } from '../../activity/notifications/index.ts';
import { scanDependencies } from '../dependencies/jobs.ts';

let here: World;
let receiver: Receiver;
let folder: string;
before(async () => {
  here = await world({});
  receiver = await startReceiver();
  await allowLocalHooks(here);
  folder = await mkdtemp(path.join(tmpdir(), 'advisories-'));
});
after(async () => {
  await receiver.stop();
  await rm(folder, { recursive: true });
});

let imports = 0;

/** Imports a folder or file. What the command prints is returned. */
async function importFrom(t: { mock: { method: typeof test.mock.method } }, operand: string) {
  const printed: string[] = [];
  const mocks = (['log', 'error'] as const).map((name) =>
    t.mock.method(console, name, (text: string) => void printed.push(text)),
  );
  const { connectionString } = await testDatabase();
  const data = path.join(folder, 'data');
  const config = readConfig({
    COPPICE_DATA: data,
    COPPICE_DATABASE_URL: connectionString,
    COPPICE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  });
  try {
    return { code: await advisoriesImport.run({ text: {}, switches: {}, lists: {}, operand }, config), printed };
  } finally {
    for (const { mock } of mocks) mock.restore();
  }
}

/** Imports records, each an object, or a text for a broken one. */
async function importRecords(t: Parameters<typeof importFrom>[0], records: readonly (object | string)[]) {
  const place = path.join(folder, String(++imports));
  await mkdir(path.join(place, 'npm'), { recursive: true });
  for (const [index, record] of records.entries())
    await writeFile(
      path.join(place, 'npm', `${index}.json`),
      typeof record === 'string' ? record : JSON.stringify(record),
    );
  return importFrom(t, place);
}

const lock = (versions: Record<string, string>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]),
    ),
  });

async function commitLock(versions: Record<string, string>, action = 'update', project = here.project): Promise<void> {
  const actions = [{ action, file_path: 'package-lock.json', content: lock(versions) }];
  const body = { branch: 'main', commit_message: 'Change', actions };
  assert.equal((await here.as('maintainer').post(`/projects/${project.id}/repository/commits`, body)).status, 201);
  await performQueued(here.services, [scanDependencies]);
}

const advisory = (id: string, name: string, fixed: string, more: object = {}) => ({
  id,
  modified: '2026-01-01T00:00:00Z',
  summary: `Something is wrong with ${name}`,
  details: 'It **breaks**.',
  affected: [
    { package: { ecosystem: 'npm', name }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed }] }] },
  ],
  references: [{ type: 'WEB', url: 'https://example.com/advisory' }],
  ...more,
});
const critical = { severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }] };
const minimist = advisory('GHSA-xvch-5gv4-984h', 'minimist', '1.2.6', { aliases: ['CVE-2021-44906'], ...critical });

test('vulnerabilities follow the dependencies and the advisories', async (t) => {
  const { as, project, url: server } = here;
  const url = `/projects/${project.id}/vulnerabilities`;
  const shown = async (query = {}) =>
    (await as('developer').get(url, query)).body.map(
      ({ name, severity, state }: Record<string, string>) => `${name} ${severity} ${state}`,
    );
  const hook = { url: `${receiver.url}/vulnerabilities`, push_events: false, vulnerability_events: true };
  await as('maintainer').post(`/projects/${project.id}/hooks`, hook);

  for (const persona of ['reporter', 'developer'] as const)
    await as(persona).put(`/projects/${project.id}/notification_settings`, { level: 'watch' });

  await commitLock({ minimist: '1.2.5', left: '1.0.0' }, 'create');
  assert.deepEqual(await shown(), []);
  const first = await importRecords(t, [
    minimist,
    advisory('GHSA-low1', 'left', '2.0.0', { database_specific: { severity: 'LOW' } }),
    '{',
    advisory('GHSA-other', 'right', '2.0.0'),
  ]);
  assert.equal(first.code, 0);
  assert.deepEqual(first.printed.at(-1), '3 records read: 3 new, changed or withdrawn, 1 broken.');
  assert.match(first.printed[0]!, /^npm\/2\.json: it is not JSON: /);
  assert.deepEqual(await shown(), ['CVE-2021-44906 critical detected', 'Something is wrong with left low detected']);
  assert.deepEqual(await shown({ severity: 'high,critical' }), ['CVE-2021-44906 critical detected']);
  assert.deepEqual(await shown({ state: ['dismissed'] }), []);

  // The list of dependencies names them, for callers who may read vulnerabilities.
  const [{ id, url: page }] = (await as('developer').get(url)).body;
  assert.ok(page.endsWith(`/${project.full_path}/-/security/vulnerabilities/${id}`));
  const dependencies = `/projects/${project.id}/dependencies`;
  const listed = (await as('developer').get(dependencies)).body.find(
    ({ name }: { name: string }) => name === 'minimist',
  );
  assert.deepEqual(listed.vulnerabilities, [{ name: 'CVE-2021-44906', severity: 'critical', id, url: page }]);
  assert.ok((await as('reporter').get(dependencies)).body.every((each: object) => !('vulnerabilities' in each)));
  assert.equal((await as('reporter').get(url)).status, 403);
  const [below] = (await as('developer').get(`/groups/${here.group.id}/dependencies`)).body;
  assert.equal(below.vulnerabilities.length, 1);

  await sendHooks(here);
  const received = receiver.take();
  assert.deepEqual(
    received.map(({ headers, body }) => [
      headers['x-gitlab-event'],
      body.object_attributes.title,
      body.object_attributes.severity,
    ]),
    [['Vulnerability Hook', 'CVE-2021-44906', 'critical']],
  );
  assert.ok(server.length > 0 && received[0]!.body.object_attributes.url === page);

  // Reporters may not read vulnerabilities.
  const mails = await mailOf(here.services, [collectNotifications, sendNotification]);
  const ours = mails.filter(({ headers }) => headers!['X-Service-Event'] === 'new_vulnerability');
  assert.deepEqual(
    ours.map(({ to }) => to.address.split('@')[0]),
    [here.people.developer.username],
  );
  assert.ok(ours[0]!.subject.endsWith(` | CVE-2021-44906 (${id})`), ours[0]!.subject);
  assert.ok(JSON.stringify(ours[0]!.paragraphs).includes(page));

  // A record that names the same one as another is no second vulnerability.
  const alias = advisory('OTHER-1', 'minimist', '1.2.6', { aliases: ['GHSA-xvch-5gv4-984h'] });
  const second = await importRecords(t, [minimist, alias]);
  assert.deepEqual(second.printed.at(-1), '2 records read: 1 new, changed or withdrawn, 0 broken.');
  assert.equal((await shown()).length, 2);

  const one = (await as('developer').get(`${url}/${id}`)).body;
  assert.deepEqual(
    one.advisories.map((each: { id: string }) => each.id),
    ['GHSA-xvch-5gv4-984h', 'OTHER-1'],
  );
  assert.deepEqual(one.dependencies, [
    {
      name: 'minimist',
      version: '1.2.5',
      package_manager: 'npm',
      dependency_file_path: 'package-lock.json',
      direct: false,
      development: false,
      fixed_version: '1.2.6',
    },
  ]);

  // An update of the dependency resolves it, and going back detects it again.
  await commitLock({ minimist: '1.2.6', left: '1.0.0' });
  assert.deepEqual(await shown({ present: false }), ['CVE-2021-44906 critical resolved']);
  await commitLock({ minimist: '1.2.5', left: '1.0.0' });
  assert.deepEqual(await shown({ state: 'detected' }), [
    'CVE-2021-44906 critical detected',
    'Something is wrong with left low detected',
  ]);
  const { state_changes } = (await as('developer').get(`${url}/${id}`)).body;
  assert.deepEqual(
    state_changes.map((each: { user: unknown; to_state: string }) => [each.user, each.to_state]),
    [
      [null, 'resolved'],
      [null, 'detected'],
    ],
  );

  // A withdrawn record goes, and its vulnerability with it; one that is corrected is compared again.
  const withdrawn = advisory('GHSA-low1', 'left', '2.0.0', {
    modified: '2026-01-02T00:00:00Z',
    withdrawn: '2026-01-02T00:00:00Z',
  });
  await importRecords(t, [withdrawn]);
  assert.deepEqual(await shown(), ['CVE-2021-44906 critical detected']);
  await importRecords(t, [
    {
      ...minimist,
      modified: '2026-01-03T00:00:00Z',
      affected: [{ package: { ecosystem: 'npm', name: 'minimist' }, versions: ['1.2.4'] }],
    },
    { ...alias, modified: '2026-01-03T00:00:00Z', affected: [] },
  ]);
  assert.deepEqual(await shown(), ['CVE-2021-44906 critical resolved']);
  assert.equal((await importRecords(t, ['{'])).code, 1);
});

test('the page of a vulnerability says first what to update, and takes a state with a reason', async (t) => {
  const own = await world();
  const { as, project, people } = own;
  const packages = {
    '': { dependencies: { shed: '1' } },
    'node_modules/shed': { version: '1.5.0', dependencies: { 'page-rake': '1' } },
    'node_modules/page-rake': { version: '1.0.0' },
  };
  const content = JSON.stringify({ lockfileVersion: 3, packages });
  const actions = [{ action: 'create', file_path: 'package-lock.json', content }];
  const commit = { branch: 'main', commit_message: 'Rake', actions };
  await as('maintainer').post(`/projects/${project.id}/repository/commits`, commit);
  await performQueued(here.services, [scanDependencies]);
  const { affected, ...rest } = advisory('GHSA-page', 'page-rake', '1.4.0', critical);
  await importRecords(t, [
    { ...rest, affected },
    advisory('GHSA-more', 'page-rake', '2.0.0', { aliases: ['GHSA-page'] }),
  ]);
  const url = `/projects/${project.id}/vulnerabilities`;
  const [{ id }] = (await as('developer').get(url)).body;
  const address = `/${project.full_path}/-/security/vulnerabilities`;
  const browser = await browserOf(own, people.maintainer);
  const { html } = await browser.get(`${address}/${id}`);
  assert.match(
    html,
    /Update <strong>page-rake<\/strong> to <strong>2\.0\.0<\/strong> in <code>package-lock\.json<\/code>/,
  );
  assert.match(html, /It comes with <code>shed 1\.5\.0<\/code> › <code>page-rake 1\.0\.0<\/code>/);
  assert.match(html, /<strong>breaks<\/strong>/);
  const change = { state: 'dismissed', comment: 'Nobody rakes' };
  assert.equal((await fillIn(browser, `${address}/${id}`, 'change', change)).to, `${address}/${id}`);
  assert.match((await browser.get(`${address}/${id}`)).html, /from detected to dismissed[\s\S]*Nobody rakes/);
  assert.doesNotMatch((await browser.get(address)).html, new RegExp(`vulnerabilities/${id}"`));
  assert.match((await browser.get(`${address}?state=dismissed`)).html, new RegExp(`vulnerabilities/${id}"`));
  const { html: dependencies } = await browser.get(`/${project.full_path}/-/dependencies`);
  assert.match(dependencies, /page-rake<\/strong> 1\.0\.0[\s\S]*via another package[\s\S]*vulnerabilities\/\d+"/);
  const developer = await browserOf(own, people.developer);
  assert.ok(!(await developer.get(`${address}/${id}`)).html.includes('id="change"'));
});

test('maintainers change the state of a vulnerability, and each change is kept', async (t) => {
  const { as, project, people } = here;
  const url = `/projects/${project.id}/vulnerabilities`;
  await importRecords(t, [advisory('GHSA-left2', 'left', '3.0.0')]);
  const [{ id }] = (await as('developer').get(url, { present: true })).body;

  assert.equal((await as('developer').put(`${url}/${id}`, { state: 'dismissed' })).status, 403);
  assert.equal((await as('outsider').get(`${url}/${id}`)).status, 404);
  const refused = await as('maintainer').put(`${url}/${id}`, { state: 'gone' });
  assert.deepEqual([refused.status, refused.body.message], [400, 'state does not have a valid value']);
  assert.equal((await as('maintainer').put(`${url}/${id + 1000}`, { state: 'dismissed' })).status, 404);
  assert.equal((await as('developer').get(`${url}/${id}`)).body.state, 'detected');

  const changed = await as('maintainer').put(`${url}/${id}`, { state: 'dismissed', comment: 'Not reachable' });
  assert.deepEqual([changed.status, changed.body.state], [200, 'dismissed']);
  const [change] = changed.body.state_changes;
  assert.deepEqual(
    [change.user.id, change.from_state, change.to_state, change.comment],
    [people.maintainer.id, 'detected', 'dismissed', 'Not reachable'],
  );

  // It stays dismissed while it comes and goes.
  await commitLock({ left: '3.0.0' });
  assert.deepEqual((await as('developer').get(`${url}/${id}`)).body.state, 'dismissed');
  await commitLock({ left: '1.0.0' });
  assert.deepEqual((await as('developer').get(`${url}/${id}`)).body.state, 'dismissed');
  // Another id of the same vulnerability does not undo the decision.
  await importRecords(t, [
    advisory('GHSA-left2', 'left', '3.0.0', { aliases: ['CVE-2026-1'], modified: '2026-02-01T00:00:00Z' }),
  ]);
  const renamed = (await as('developer').get(`${url}/${id}`)).body;
  assert.deepEqual([renamed.name, renamed.state], ['CVE-2026-1', 'dismissed']);
});

test('among many new vulnerabilities, webhooks and mail report the 20 most severe', async (t) => {
  const { as, group } = here;
  const { body: project } = await as('owner').post('/projects', { name: 'Old', namespace_id: group.id });
  const hook = { url: `${receiver.url}/many`, push_events: false, vulnerability_events: true };
  const hooks = `/projects/${project.id}/hooks`;
  const { id } = (await as('owner').post(hooks, hook)).body;
  await as('developer').put(`/projects/${project.id}/notification_settings`, { level: 'watch' });
  await commitLock({ ancient: '1.0.0' }, 'create', project);
  const high = Array.from({ length: 21 }, (_, index) =>
    advisory(`GHSA-a${index}`, 'ancient', '2.0.0', {
      summary: `High ${index}`,
      database_specific: { severity: 'HIGH' },
    }),
  );
  await importRecords(t, [...high, advisory('GHSA-z', 'ancient', '2.0.0', { summary: 'Critical', ...critical })]);
  const { body: listed } = await as('developer').get(`/projects/${project.id}/vulnerabilities`, { per_page: 100 });
  assert.equal(listed.length, 22);
  assert.equal(listed[0].name, 'Critical');

  await sendHooks(here);
  const titles = receiver.take().map(({ body }) => body.object_attributes.title);
  const expected = listed.slice(0, 20).map(({ name }: { name: string }) => name);
  assert.deepEqual(titles.toSorted(), expected.toSorted());
  assert.equal((await as('owner').post(`${hooks}/${id}/test/vulnerability_events`)).status, 201);
  assert.equal(receiver.take()[0]!.body.object_attributes.title, 'Critical');
  const mails = await mailOf(here.services, [collectNotifications, sendNotification]);
  const ids = mails.map(({ headers }) => headers!['X-Service-Vulnerability-ID']);
  assert.deepEqual(
    ids.toSorted(),
    listed
      .slice(0, 20)
      .map(({ id }: { id: number }) => String(id))
      .toSorted(),
  );
});

test('records are imported from a zip, and a broken zip is refused', async (t) => {
  const zip = path.join(folder, 'all.zip');
  const bytes = zipOf({
    'GHSA-zipped.json': JSON.stringify(advisory('GHSA-zipped', 'zipped', '2.0.0')),
    'npm/GHSA-broken.json': '{',
    'readme.txt': 'Records.',
  });
  await writeFile(zip, bytes);
  const { code, printed } = await importFrom(t, zip);
  assert.equal(code, 0);
  assert.match(printed[0]!, /^npm\/GHSA-broken\.json: it is not JSON: /);
  assert.equal(printed.at(-1), '1 record read: 1 new, changed or withdrawn, 1 broken.');
  const stored = here.db.selectFrom('advisories').select('name').where('record_id', '=', 'GHSA-zipped');
  assert.deepEqual(await stored.execute(), [{ name: 'Something is wrong with zipped' }]);

  await writeFile(zip, bytes.subarray(0, -30));
  await assert.rejects(importFrom(t, zip), /all\.zip is not a zip that can be read: /);
});
