import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reference, toHtml } from './index.ts';

const linkOf = ({ kind, value }: Reference) => (value === '404' ? undefined : `https://x.example/${kind}/${value}`);
const page = { wiki_url: 'https://x.example/wiki', slug: 'a/b' };

test('a long text is rendered as a short one', async () => {
  const context = { linkOf, page, uploads: '/uploads-of-project' };
  const part = '**bold** #1 and #404 `#2` @ann [[Next]] <script>x</script>\n\n';
  const short = await toHtml(part, context);
  assert.equal(await toHtml(part, async () => context, 1), short);
  assert.equal(await toHtml(part.repeat(2000), async () => context, 1), short.repeat(2000));
});

test('a text that is too long, or has too long HTML, is shown as it is written', async () => {
  const without = async () => ({});
  const long = 'a < b\n'.repeat(180_000);
  assert.ok((await toHtml(long, without, 1)) === `<pre>${long.replaceAll('<', '&lt;')}</pre>`);
  const repeated = `[a]: / "${'&'.repeat(900)}"\n\n${'[a]'.repeat(4000)}`;
  assert.match((await toHtml(repeated, without, 1)).slice(0, 20), /^<pre>\[a\]: \//);
});
