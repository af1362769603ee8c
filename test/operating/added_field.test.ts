/** The example in docs/adding_a_field.md: a server of the changed sources has the field in all places that the document names. */
// Runs in a process of its own: it loads the changed sources.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { migrate } from '../../src/db/migrate.ts';
import { schemaTypes } from '../../src/db/schema_types.ts';
import { testDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/file_end.ts';
import { folder } from './coppice.ts';

const top = path.resolve(import.meta.dirname, '../..');

/**
 * Applies the changes of the document to copies of the files that they change, and loads these copies instead of the files from now on.
 * @returns the folder of the migrations, with the new one
 */
async function changeSources(): Promise<string> {
  const document = await readFile(path.join(top, 'docs/adding_a_field.md'), 'utf8');
  const changes = [...document.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, change]) => change).join('');
  const files = [...changes.matchAll(/^--- a\/(.*)$/gm)].map(([, file]) => file!);
  assert.deepEqual(files, ['src/areas/work/issues/fields.ts', 'docs/reference/issues.md']);
  const copy = await folder();
  for (const part of ['migrations', ...files])
    await cp(path.join(top, part), path.join(copy, part), { recursive: true });
  const numbers = (await readdir(path.join(copy, 'migrations'))).map((name) => Number.parseInt(name, 10) || 0);
  const next = String(Math.max(...numbers) + 1).padStart(4, '0');
  execFileSync('git', ['apply', '-'], { cwd: copy, input: changes.replaceAll('NNNN', next) });
  const changed = new Map(files.map((file) => [pathToFileURL(path.join(top, file)).href, path.join(copy, file)]));
  registerHooks({
    load: (url, context, load) => {
      const loaded = load(url, context);
      const copied = changed.get(url);
      return copied === undefined ? loaded : { ...loaded, source: readFileSync(copied, 'utf8') };
    },
  });
  return path.join(copy, 'migrations');
}

test('a new field of issues is in parameters, replies, exports, webhooks and forms', async () => {
  const { db, connectionString } = await testDatabase();
  assert.equal((await migrate(connectionString, { folder: await changeSources() })).length, 1);
  assert.match(await schemaTypes(db), /^ {2}effort: number \| null;$/m);

  const { populate, startServer } = await import('../support/populate.ts');
  const server = await startServer(db, {});
  atFileEnd(server.stop);
  const here = await populate(server);
  const owner = here.as('owner');
  const project = `/projects/${here.project.id}`;
  const { allowLocalHooks, sendHooks, startReceiver } = await import('../support/receiver.ts');
  const receiver = await startReceiver();
  atFileEnd(receiver.stop);
  await allowLocalHooks(here);
  await owner.post(`${project}/hooks`, { url: receiver.url, push_events: false, issues_events: true });

  const { status, body: issue } = await owner.post(`${project}/issues`, { title: 'Prune', effort: 2 });
  assert.deepEqual([status, issue.effort], [201, 2]);
  assert.equal((await owner.post(`${project}/issues`, { title: 'Water', effort: 2000 })).status, 400);
  const address = `${project}/issues/${issue.iid}`;
  assert.equal((await owner.put(address, { effort: 5 })).body.effort, 5);
  assert.equal((await owner.get(`${project}/issues`)).body[0].effort, 5);
  await sendHooks(here);
  const changed = receiver.take().find(({ body }) => body.object_attributes.action === 'update');
  assert.deepEqual(changed?.body.changes, { effort: { previous: 2, current: 5 } });

  const { browserOf, fieldsIn } = await import('../support/browser.ts');
  const browser = await browserOf(here, here.people.owner);
  const page = `/${here.project.full_path}/-/issues/${issue.iid}/edit`;
  const shown = fieldsIn((await browser.get(page)).html, 'change');
  assert.deepEqual(shown.effort, ['5']);
  await browser.send(page, 'change', { ...shown, effort: '' });
  assert.equal((await owner.get(address)).body.effort, null);
  const form = `/${here.project.full_path}/-/issues/new`;
  await browser.send(form, 'create', {
    ...fieldsIn((await browser.get(form)).html, 'create'),
    title: 'Graft',
    effort: '7',
  });

  const { exported, download, recordsIn } = await import('../support/relation_exports.ts');
  await exported(here, 'owner', project);
  const records = await recordsIn(await download(here, 'owner', project, { relation: 'issues' }));
  assert.deepEqual(
    records.map(({ title, effort }) => [title, effort]),
    [
      ['Prune', null],
      ['Graft', 7],
    ],
  );
});
