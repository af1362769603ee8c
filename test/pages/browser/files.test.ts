/** Files that someone uploads or commits are opened in a browser, and do nothing there. */
import assert from 'node:assert/strict';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest } from '../../support/chromium.ts';
import { fileUrl, onMain } from '../../support/repository.ts';
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

  // Not even a script of ours could load one.
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
