/** Files that someone uploads or commits are opened in a browser, and do nothing there. */
import assert from 'node:assert/strict';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest } from '../../support/chromium.ts';
import { fileUrl, filledWorld, onMain } from '../../support/repository.ts';
import { sent } from '../../support/sent.ts';
import { upload } from '../../support/uploads.ts';
import { world } from '../../support/world.ts';

const script = `document.title = 'ran'; top.ran = true;`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script><circle r="9"/></svg>`;
/** @param folder of its script, at this server */
const page = (folder: string) =>
  `<!doctype html><title>page</title><script>${script}</script><script src="${folder}/run.js"></script>
<img src="x" onerror="${script}"><svg onload="${script}"></svg><iframe srcdoc="&lt;script&gt;${script}&lt;/script&gt;"></iframe>`;

browserTest('an uploaded picture, a raw page and a committed script run nothing', async (invite) => {
  const here = await world();
  const { as, project, people, url } = here;
  const raw = `/${project.full_path}/-/raw/main`;
  const files = { 'page.html': page(raw), 'picture.svg': svg, 'run.js': script, 'README.md': page(raw) };
  for (const [name, content] of Object.entries(files))
    await sent(as('maintainer').post(fileUrl(project, name), { ...onMain, content }));
  const { full_path } = await sent(upload(here, 'developer', `/projects/${project.id}`, 'picture.svg', svg));
  await sent(
    as('developer').post(`/projects/${project.id}/issues`, { title: 'Files', description: files['page.html'] }),
  );
  await browserOf(here, people.developer);
  const visitor = await invite(url);
  await visitor.signIn(people.developer.username, password);

  const blob = `/${project.full_path}/-/blob/main`;
  const opened = [
    ...Object.keys(files).flatMap((name) => [`${raw}/${name}`, `${blob}/${name}`]),
    `/${project.full_path}`,
    `/${project.full_path}/-/issues/1`,
    full_path,
  ];
  for (const path of opened) {
    // What is offered for download is not opened.
    await visitor.page.goto(url + path).catch((error: Error) => assert.match(error.message, /Download is starting/));
    const ran = await visitor.page.evaluate('[globalThis.ran, document.title === "ran"]');
    assert.deepEqual(ran, [undefined, false], path);
  }
  // What the browser refused to run, it says.
  visitor.problems();

  // Not even a script of ours could load one. It takes the only policy, which thus is free without it.
  await visitor.page.route('**/assets/pages-*.js', (route) =>
    route.fulfill({ body: '', contentType: 'text/javascript' }),
  );
  await visitor.page.goto(`${url}/${project.full_path}`);
  const scriptOf = (address: string) => `new Promise((resolve) => {
    const script = document.createElement('script');
    const policy = trustedTypes.createPolicy('coppice', { createScriptURL: (url) => url });
    script.src = policy.createScriptURL('${address}');
    script.onload = () => resolve('loaded');
    script.onerror = () => resolve('refused');
    document.head.append(script);
  })`;
  assert.equal(await visitor.page.evaluate(scriptOf(`${raw}/run.js`)), 'refused');
  assert.equal(await visitor.page.evaluate('globalThis.ran'), undefined);
  visitor.problems();
});

browserTest(
  'with JavaScript, more of a change is shown in place, refs are searched while one types, and keys lead on',
  async (invite) => {
    const here = await filledWorld();
    const { as, project, people, url } = here;
    const lines = Array.from({ length: 90 }, (_, index) => `line ${index + 1}`);
    const write = (action: string, content: string) =>
      sent(
        as('maintainer').post(`/projects/${project.id}/repository/commits`, {
          ...{ branch: 'main', commit_message: 'Change', actions: [{ action, file_path: 'a.txt', content }] },
        }),
      );
    await write('create', lines.join('\n'));
    const { id } = await write('update', lines.with(44, 'changed').join('\n'));
    await sent(as('maintainer').post(`/projects/${project.id}/repository/branches`, { branch: 'side', ref: 'main' }));
    await browserOf(here, people.developer);
    const visitor = await invite(url);
    const { page } = visitor;
    await visitor.signIn(people.developer.username, password);
    const commit = `/${project.full_path}/-/commit/${id}`;
    await visitor.open(commit);
    const rows = page.locator('.diff tr:not(.hunk)');
    assert.equal(await rows.count(), 8);
    await page.getByRole('link', { name: 'Show 20 more lines' }).first().click();
    await page.locator('.diff td', { hasText: 'line 22' }).waitFor();
    assert.equal(await rows.count(), 48);
    assert.equal(visitor.path, commit);

    await visitor.open(`/${project.full_path}/-/blob/main/a.txt`);
    await page.locator('summary', { hasText: 'main' }).click();
    await page.getByLabel('Search branches and tags').pressSequentially('SI');
    await page.getByRole('link', { name: 'main', exact: true }).waitFor({ state: 'detached' });
    await visitor.follow('side');
    assert.equal(visitor.path, `/${project.full_path}/-/blob/side/a.txt`);
    await page.keyboard.press('t');
    await page.keyboard.type('read');
    await visitor.arriving(() => page.keyboard.press('Enter'));
    assert.match(visitor.path, /find_file\/side\?search=read$/);
    await visitor.follow('README.md');
    await visitor.arriving(() => page.keyboard.press('y'));
    assert.match(visitor.path, /\/-\/blob\/[0-9a-f]{40}\/README\.md$/);
  },
);
