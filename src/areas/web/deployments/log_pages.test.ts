import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

test('the page of a job shows its log in colours and sections, and the whole as text', async () => {
  const here = await built('build: {script: make}');
  const { as, at, project, people } = here;
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const build = (await (await runnerOf(here)).take())!;
  await build.append(
    'section_start:1:script[collapsed=true]\r\x1b[0KRunning\n\x1b[31mred <b>\x1b[0;m\nsection_end:4:script\r\x1b[0Kafter\n',
  );
  await build.end('success');
  const browser = await browserOf(here, people.developer);
  const page = `/${project.full_path}/-/jobs/${build.id}`;
  const { status, html } = await browser.get(page);
  assert.equal(status, 200);
  assert.match(html, /<details><summary id="L1">Running <span class="soft">3 s<\/span><\/summary>/);
  assert.match(html, /<span class="ink-red">red &lt;b&gt;<\/span>/);
  assert.match(html, /<span>after<\/span>/);
  const raw = await browser.get(`${page}/raw`);
  assert.equal(raw.status, 200);
  assert.match(raw.html, /red <b>/);
});
