/** Marks of open errors at the lines of files and of the changes of merge requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareMergeRequest } from '../../src/areas/work/merge_requests/index.ts';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { reports } from '../support/error_tracking.ts';
import { performQueued } from '../support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { fileUrl, onMain } from '../support/repository.ts';
import { sent } from '../support/sent.ts';

/** An event whose stack has these calls, the innermost last. */
const thrownAt = (type: string, ...frames: object[]) => ({
  exception: { values: [{ type, value: '<b>rotten</b>', stacktrace: { frames } }] },
});

test('open errors are marked where their lines are now, for those who may read them', async () => {
  const here = await worldWithTopic();
  const { as, project, people } = here;
  const write = (branch: string, content: string, method: 'post' | 'put' = 'post') =>
    sent(as('maintainer')[method](fileUrl(project, 'src/pick.ts'), { ...onMain, branch, content }));
  await write('main', '// A line that came later.\nexport function pick() {\n  throw apples;\n}\n');
  await write('topic', 'export function pick() {\n  throw apples;\n}\n// no more\n');
  const { errors, report } = await reports(here);
  await report(
    thrownAt(
      'RangeError',
      { filename: 'src/gone.ts', lineno: 1, in_app: true },
      { filename: '/app/src/pick.ts', lineno: 2, context_line: '  throw apples;', in_app: true },
      { filename: 'src/pick.ts', lineno: 1, in_app: false },
    ),
    thrownAt('KeyError', { filename: 'src/pick.ts', lineno: 4 }),
    thrownAt('SyntaxError', { filename: 'src/pick.ts', lineno: 2, context_line: 'never was here' }),
  );
  const list: { id: number; title: string }[] = await sent(as('developer').get(errors));
  const idOf = (name: string) => list.find(({ title }) => title.startsWith(name))!.id;
  const at = `/${project.full_path}`;
  const linked = (html: string) =>
    [...html.matchAll(/<a class="mark" href="[^"]*\/error_tracking\/(\d+)\/details" title="([^"]*)"/g)].map(
      ([, id, title]) => [Number(id), title],
    );
  const developer = await browserOf(here, people.developer);
  const { html } = await developer.get(`${at}/-/blob/main/src/pick.ts`);
  assert.match(html, /2 open errors/);
  assert.match(html, /<tr id="L3">.*throw.*class="mark"/);
  assert.deepEqual(linked(html), [
    [idOf('RangeError'), 'Open error: RangeError: &lt;b&gt;rotten&lt;/b&gt;'],
    [idOf('KeyError'), 'Open error: KeyError: &lt;b&gt;rotten&lt;/b&gt;'],
  ]);

  const { iid } = await addMergeRequest(here);
  await performQueued(here.services, [prepareMergeRequest]);
  for (const view of ['inline', 'parallel']) {
    const changes = (await developer.get(`${at}/-/merge_requests/${iid}/diffs?view=${view}`)).html;
    assert.match(changes, /src\/pick\.ts<\/h3>[\s\S]*2 open errors/);
    assert.deepEqual(
      linked(changes).map(([id]) => id),
      [idOf('RangeError'), idOf('KeyError')],
    );
  }

  await sent(as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' }));
  await sent(as('owner').put(`/projects/${project.id}`, { visibility: 'public' }));
  const stranger = (await anonymousBrowser(here.url).get(`${at}/-/blob/main/src/pick.ts`)).html;
  assert.match(stranger, /throw/);
  assert.deepEqual(linked(stranger), []);
});
