/** The documentation of the API in a browser. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { pythonWith } from '../clients/installed.ts';
import { ownAddress } from '../support/address.ts';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { elementsOf } from '../support/html_tree.ts';
import { type World, world } from '../support/world.ts';

const run = promisify(execFile);
const environment = await ownAddress();
const python = await pythonWith('python-gitlab');

/** The parts of the API and the addresses of their pages. */
async function parts(here: World): Promise<[name: string, path: string][]> {
  const { html } = await anonymousBrowser(here.url).get('/docs');
  return [...html.matchAll(/<a class="title" href="(\/docs\/[^"#]+)">([^<]+)<\/a>/g)].map(([, path, name]) => [
    name!,
    path!,
  ]);
}

test('each operation of the API has its section, and every link to an object or a refusal leads to one', async () => {
  const here = await world();
  const { body: document } = await here.as('anonymous').get('/openapi.json');
  const browser = anonymousBrowser(here.url);
  const idsIn = (html: string) => new Set(elementsOf(html).flatMap(({ attributes }) => attributes.get('id') ?? []));
  const first = idsIn((await browser.get('/docs')).html);
  const shown: string[] = [];
  for (const [, path] of await parts(here)) {
    const { html, status } = await browser.get(path);
    assert.equal(status, 200, path);
    const own = idsIn(html);
    shown.push(...own);
    for (const [, page, id] of html.matchAll(/href="(\/docs)?#([\w-]+)"/g))
      assert.ok((page ? first : own).has(id!), `${path} leads to ${page ?? ''}#${id}`);
  }
  const operations = Object.values<Record<string, { operationId?: string }>>(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  );
  assert.ok(operations.length > 700);
  assert.deepEqual(
    operations.filter((operation) => !shown.includes(operation)),
    [],
  );
});

test('an operation is found by words of its name and path', async () => {
  const here = await world();
  const { url } = here;
  const { html } = await anonymousBrowser(url).get('/docs?search=freeze+create');
  assert.deepEqual(
    [...html.matchAll(/<a class="title" href="([^"]+)"/g)].map(([, address]) => address),
    ['/docs/freeze-periods#createFreezePeriod'],
  );
  assert.match((await anonymousBrowser(url).get('/docs?search=nothing+such')).html, /No operation has these words/);
  const browser = await browserOf(here, here.people.guest);
  assert.equal((await browser.get('/docs/nothing-such')).status, 404);
});

/** The examples of an operation of issues by client, with a project that exists. */
async function examplesOf(here: World, operation: string): Promise<Record<string, string>> {
  const { html } = await anonymousBrowser(here.url).get('/docs/issues');
  const elements = elementsOf(html);
  const section = elements.find(
    ({ name, children }) => name === 'section' && children[0]?.attributes.get('id') === operation,
  );
  const texts = section!.children.at(-1)!.children.slice(1);
  const filled = (text: string) => text.replace('projects/1/', `projects/${here.project.id}/`);
  return Object.fromEntries(
    texts.flatMap(({ name, text }, index) => (name === 'h3' ? [[text, filled(texts[index + 1]!.text)]] : [])),
  );
}

test('the examples in curl, gitbeaker and python-gitlab do what they say', async (t) => {
  const here = await world({ environment });
  const token = here.people.developer.token;
  const create = await examplesOf(here, 'createProjectIssue');
  const list = await examplesOf(here, 'listProjectIssues');
  assert.deepEqual(Object.keys(create), ['curl', 'python-gitlab', 'gitbeaker', 'Go']);
  for (const { curl, gitbeaker, 'python-gitlab': program } of [create, list]) {
    await run('bash', ['-c', `${curl} --fail`], { env: { ...process.env, TOKEN: token } });
    await run(process.execPath, [
      '--input-type=module',
      '-e',
      `const TOKEN = '${token}';\n${gitbeaker}\nif (!body) throw new Error('No reply');`,
    ]);
    if ('python' in python) await run(python.python, ['-c', `TOKEN = '${token}'\n${program}\nassert reply`]);
    else t.diagnostic(python.missing);
  }
  const titles = (await here.as('developer').get(`/projects/${here.project.id}/issues`)).body.map(
    ({ title }: { title: string }) => title,
  );
  assert.deepEqual(
    titles,
    Array(3)
      .fill('TITLE')
      .slice('python' in python ? 0 : 1),
  );
});
