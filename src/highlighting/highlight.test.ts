import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { highlighted } from './highlight.ts';

let count = 0;
const linesOf = (file_name: string, text: string) =>
  highlighted({ text, file_name }, { blob_id: String(count++), owner: 1 });

/** What a browser shows of a line. */
const shown = (html: string): string =>
  html
    .replaceAll(/<span class="[kscnftm]">|<\/span>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

test('words of a program get a class, in each line that they are in', async () => {
  assert.deepEqual(await linesOf('a.ts', 'const x = 1; /* a\nb */\n"<b>"'), [
    '<span class="k">const</span> x = <span class="n">1</span>; <span class="c">/* a</span>',
    '<span class="c">b */</span>',
    '<span class="s">&quot;&lt;b&gt;&quot;</span>',
  ]);
  assert.deepEqual(await linesOf('Dockerfile', 'FROM a'), ['<span class="k">FROM</span> a']);
  assert.deepEqual(await linesOf('x.rb', 'def go; end'), [
    '<span class="k">def</span> <span class="f">go</span>; <span class="k">end</span>',
  ]);
});

test('the language is told by the name of the file', async () => {
  assert.equal(await linesOf('notes', 'const x = 1'), undefined);
  assert.equal(await linesOf('constructor', 'const x = 1'), undefined);
});

test('any text stays as it is, whatever the language', async () => {
  const words = fc.constantFrom(
    '"',
    "'",
    '`',
    '{',
    '}',
    '<a b=',
    '<script>',
    '&amp;',
    '/*',
    '#',
    '\n',
    '<<E\n',
    '${',
    '\\',
    ' ',
  );
  const texts = fc
    .array(fc.oneof(words, fc.string({ unit: 'grapheme' })), { maxLength: 30 })
    .map((parts) => parts.join(''));
  const names = fc.constantFrom(
    'a.ts',
    'a.tsx',
    'a.html',
    'a.php',
    'a.py',
    'a.yaml',
    'a.sh',
    'a.rb',
    'a.css',
    'Dockerfile',
    'a.pl',
    'a.sql',
  );
  await fc.assert(
    fc.asyncProperty(names, texts, async (name, text) => {
      const lines = await linesOf(name, text);
      assert.equal(lines?.map(shown).join('\n'), text);
    }),
    { numRuns: 200 },
  );
});

test('a long text has colours at its beginning alone', async () => {
  const line = 'export const value = (name: string) => [name, 1 + 2];';
  const lines = await linesOf('long.ts', `${line}\n`.repeat(40_000));
  assert.equal(lines?.length, 40_001);
  assert.match(lines![0]!, /<span/);
  assert.equal(lines![39_999], line.replace('>', '&gt;'));
});
