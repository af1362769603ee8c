import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { turnsDuring } from '../../test/support/turns.ts';

import { mapInSlices, type Reference, toHtml, toInlineHtml, withoutHtmlImages } from './index.ts';
import { isDelimiterRow } from './parser.ts';

const linkOf = ({ kind, value }: Reference) => (value === '404' ? undefined : `/${kind}/${encodeURIComponent(value)}`);

test('Markdown becomes HTML, with and without the paragraph around it', async () => {
  assert.equal(await toInlineHtml('a **b** `c`'), 'a <strong>b</strong> <code>c</code>');
  assert.equal(await toHtml('a **b**\n\n- c'), '<p>a <strong>b</strong></p>\n<ul>\n<li>c</li>\n</ul>\n');
  assert.equal(await toHtml('<sup>x</sup> &lt;'), '<p><sup>x</sup> &lt;</p>\n');
});

test('references to existing items are linked, except in code and other links', async () => {
  assert.equal(
    await toInlineHtml('#1 and #404, `#2` [#3](https://x.example) \\#4', { linkOf }),
    '<a href="/issue/1">#1</a> and #404, <code>#2</code> <a href="https://x.example">#3</a> #4',
  );
  assert.equal(
    await toInlineHtml('~"two words" **@ann**', { linkOf }),
    '<a href="/label/two%20words">~"two words"</a> <strong><a href="/user/ann">@ann</a></strong>',
  );
  assert.equal(await toInlineHtml('a_b@c', { linkOf }), 'a_b@c');
});

test('nothing executable remains', async () => {
  const attempts = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt&colon;alert(1))',
    '<a href="java\nscript:alert(1)">x</a>',
    '<svg/onload=alert(1)>',
    '<iframe src="//x.example"></iframe>',
    '![x](data:text/html;base64,PHNjcmlwdD4=)',
    '<style>*{x:expression(alert(1))}</style>',
    '<form action=//x.example><button>x',
    '<div style="background:url(javascript:alert(1))" id=x class=y>z',
  ];
  for (const attempt of attempts)
    for (const html of [await toHtml(attempt), await toInlineHtml(attempt)])
      for (const [element] of html.matchAll(/<[^>]*>/g)) {
        assert.doesNotMatch(
          element,
          /<(script|svg|iframe|style|form|button)|\son\w+=|href="[^"]*script|style=|src="data:/i,
          attempt,
        );
        assert.doesNotMatch(element, /\sid="(?!user-content-)/, attempt);
      }
});

test('nothing that was written disappears, whatever tag it looks like', async () => {
  assert.equal(
    await toHtml('Load it with the <script> tag.\n\nThen *wait*.'),
    '<p>Load it with the &lt;script&gt; tag.</p>\n<p>Then <em>wait</em>.</p>\n',
  );
  const names = 'title textarea style xmp iframe noembed noframes script plaintext'.split(' ');
  const others = 'svg math select option noscript template object head string T form button input'.split(' ');
  for (const name of [...names, ...names.map((each) => each.toUpperCase()), ...others])
    for (const tag of [`<${name}>`, `</${name}>`, `<${name} a="b">`, `<${name}/>`]) {
      const shown = tag.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      for (const text of [
        `before ${tag} after`,
        `${tag}\nafter`,
        `${tag}\n\nafter`,
        `<div>${tag} after</div>`,
        `- ${tag} after`,
      ]) {
        const html = (await toHtml(text)).replaceAll('&quot;', '"');
        assert.ok(html.includes(shown) && html.includes('after'), `${text}: ${html}`);
      }
    }
  for (const text of [
    '<div title="\n\nafter',
    "<a href='x after",
    '<!-- after',
    '<p a"b="c>">after',
    '<?php after ?>',
    '<![CDATA[ after ]]>',
    '<!DOCTYPE after>',
  ])
    assert.match(await toHtml(text), /after/, text);
  assert.equal(await toHtml('a <!-- hidden --> <!-->b'), '<p>a  b</p>\n');
  assert.equal(
    await toHtml('<center>a <picture><source srcset="b"></picture></center>'),
    '<div align="center">a </div>',
  );
});

const heading = (level: number, id: string, title: string, words = title) =>
  `<div class="heading"><h${level} id="user-content-${id}">${title}</h${level}><a class="anchor" href="#user-content-${id}" aria-label="Link to ${words}"></a></div>\n`;

test('headings have ids, and links within a text and to other texts lead to them', async () => {
  assert.equal(
    await toHtml('# Foo & `Bar` – Baz\n\n## 1.2.0\n\n# Überblick\n\n# 1.2.0\n\n# ?'),
    [
      heading(1, 'foo-bar-baz', 'Foo &amp; <code>Bar</code> – Baz', 'Foo &amp; Bar – Baz'),
      heading(2, '120', '1.2.0'),
      heading(1, 'überblick', 'Überblick'),
      heading(1, '120-1', '1.2.0'),
      '<h1>?</h1>\n',
    ].join(''),
  );
  const ids = async (text: string) =>
    [...(await toHtml(text)).matchAll(/ id="user-content-([^"]*)"/g)].map(([, id]) => id);
  assert.deepEqual(await ids('# A\n# A\n# A-1\n# A'), ['a', 'a-1', 'a-1-1', 'a-2']);
  assert.deepEqual(await ids('# A-1\n# A\n# A'), ['a-1', 'a', 'a-2']);
  assert.deepEqual(await ids('# A\n<a name="a"></a> <b id="user-content-b"></b>\n# B'), ['a-1', 'a', 'b', 'b-1']);
  const hrefs = async (text: string, context = {}) =>
    [...(await toHtml(text, context)).matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(
    await hrefs(
      '[a](#foo-bar) [b](#foo--bar) [c](#%C3%BCber) [d](#raw) [e](#named) [f](#note_3)\n# Foo & Bar\n# Über\n<b id="raw"></b><a name="named"></a>',
    ),
    [
      '#user-content-foo-bar',
      '#user-content-foo-bar',
      '#user-content-über',
      '#user-content-raw',
      '#user-content-named',
      '#note_3',
    ],
  );
  const file = { path: 'docs/a.md', pages: '/p/-/blob/main', raw: '/p/-/raw/main' };
  assert.deepEqual(await hrefs('[x](b.md#Foo--bar) [y](b.c#L10) [z](https://x.example/b.md#c)', { file }), [
    '/p/-/blob/main/docs/b.md#user-content-foo-bar',
    '/p/-/blob/main/docs/b.c#L10',
    'https://x.example/b.md#c',
  ]);
  assert.deepEqual(await hrefs('[[Some Page#Part One]]', { page: { slug: 'a', wiki_url: '/p/-/wikis' } }), [
    '/p/-/wikis/Some-Page#user-content-part-one',
  ]);
  assert.match(
    await toHtml('# A\n[a](#a)', { anchors: 'user-content-2-' }),
    /id="user-content-2-a".*href="#user-content-2-a"/s,
  );
});

test('the boxes of tasks are shown, and belong to a form where they can be ticked', async () => {
  const text = '- [ ] one *more*\n- [x] two\n\n  1) [X] `three`\n> - [ ] four\n\n[ ] no list\n- [ ]\n- \\[ ] escaped';
  const boxes = async (context = {}) =>
    [...(await toHtml(text, context)).matchAll(/<input[^>]*>/g)].map(([box]) => box);
  assert.deepEqual(await boxes(), [
    '<input type="checkbox" disabled aria-label="one more" />',
    '<input type="checkbox" disabled checked aria-label="two" />',
    '<input type="checkbox" disabled checked aria-label="three" />',
    '<input type="checkbox" disabled aria-label="four" />',
  ]);
  const sent = (line: number) => `<input type="hidden" name="boxes[]" value="${line}" form="f" />`;
  const box = (line: number, rest: string) =>
    `<input type="checkbox" name="ticked[]" value="${line}" form="f"${rest} />`;
  assert.deepEqual(await boxes({ ticks: 'f' }), [
    sent(0),
    box(0, ' aria-label="one more"'),
    sent(1),
    box(1, ' checked aria-label="two"'),
    // Counts do not know this mark of a list.
    '<input type="checkbox" disabled checked aria-label="three" />',
    sent(4),
    box(4, ' aria-label="four"'),
  ]);
  const hidden = (await toHtml('<a title="<input name=ticked[] form=f>">x</a>', { ticks: 'g' })).match(/<input/);
  assert.equal(hidden, null);
  assert.match(await toHtml(text, { is_mail: true }), /<li class="task">\s*<p>☐ one <em>more<\/em>/);
});

test('notes at the foot, alerts, emoji, contents and alignment', async () => {
  assert.equal(
    await toHtml('a[^x] b[^x] 2^[3] [^missing]\n\n[^x]: *note*'),
    '<p>a<sup><a href="#user-content-fn1" id="user-content-fnref1">[1]</a></sup> b<sup><a href="#user-content-fn1" id="user-content-fnref1:1">[1:1]</a></sup> 2^[3] [^missing]</p>\n' +
      '<section class="footnotes">\n<ol>\n<li id="user-content-fn1"><p><em>note</em> <a href="#user-content-fnref1">↩︎</a> <a href="#user-content-fnref1:1">↩︎</a></p>\n</li>\n</ol>\n</section>\n',
  );
  assert.equal(
    await toHtml('> [!WARNING] Mind *the* <b>gap\n> body\n\n> [!tip]\n\n> > [!NOTE]\n> > in\n>\n> out\n\n> [!other]'),
    '<div class="alert warning">\n<p class="alert-title">Mind <em>the</em> <b>gap</b></p><p>body</p>\n</div>\n' +
      '<div class="alert tip">\n<p class="alert-title">Tip</p></div>\n' +
      '<blockquote>\n<div class="alert note">\n<p class="alert-title">Note</p><p>in</p>\n</div>\n<p>out</p>\n</blockquote>\n' +
      '<blockquote>\n<p>[!other]</p>\n</blockquote>\n',
  );
  assert.equal(
    await toInlineHtml(':tada: `:tada:` :nothing: \\:tada: 1:2:3'),
    '🎉 <code>:tada:</code> :nothing: :tada: 1:2:3',
  );
  const link = (id: string, title: string) => `<a href="#user-content-${id}">${title}</a>`;
  assert.equal(
    await toHtml('[[_TOC_]]\n\n## A `<b>`\n\n#### :tada: B\n\n## A\n\n# C\n\n[TOC]'),
    `<ul><li>${link('a-b', 'A &lt;b&gt;')}<ul><li>${link('tada-b', '🎉 B')}</li></ul></li><li>${link('a', 'A')}</li><li>${link('c', 'C')}</li></ul>\n` +
      heading(2, 'a-b', 'A <code>&lt;b&gt;</code>', 'A &lt;b&gt;') +
      heading(4, 'tada-b', '🎉 B') +
      heading(2, 'a', 'A') +
      heading(1, 'c', 'C') +
      '<p>[TOC]</p>\n',
  );
  assert.match(await toHtml('|a|b|\n|:-:|--:|\n|1|2|'), /<td align="center">1<\/td>\n<td align="right">2<\/td>/);
  assert.equal(
    await toHtml(
      '<p align="center" style="color:red"><img src="a.png" align=right width=10></p>\n<details open><summary>s</summary></details>',
    ),
    '<p align="center"><img src="a.png" align="right" width="10" /></p>\n<details open><summary>s</summary></details>',
  );
});

test('formulas are shown without a script, and what is none stays code', async () => {
  const inLine = await toHtml('so $`a^2`$, $`\\bad{`$, $ `b` $ and $`<b>`$');
  assert.match(inLine, /^<p>so <span><math><semantics>.*<msup><mi>a<\/mi><mn>2<\/mn><\/msup>.*<\/math><\/span>, /);
  assert.match(
    inLine,
    /, <code class="language-math">\\bad\{<\/code>, \$ <code>b<\/code> \$ and .*<mo>&lt;<\/mo><mi>b<\/mi>/,
  );
  assert.match(await toHtml('```math\n\\frac{1}{2}\n```'), /^<p><span><math display="block">.*<mfrac>/);
  assert.equal(await toHtml('$`a`$', { is_mail: true }), '<p>$<code>a</code>$</p>\n');
  const loaded = await toHtml('$`\\href{javascript:alert(1)}{x} \\includegraphics{https://x.example/a}`$');
  assert.doesNotMatch(loaded, /<(a|img)\b|href=|src=/);
  const bomb = `$\`\\def\\a{\\b\\b}\\def\\b{\\c\\c}${'\\a'.repeat(1000)}\`$ `;
  assert.match(await toHtml(bomb), /<code class="language-math">/);
  assert.equal(
    await toHtml('```mermaid\ngraph TD\n```'),
    '<pre><code class="language-mermaid">graph TD\n</code></pre>\n',
  );
});

test('images of other servers become text where only those of one server are shown', async () => {
  const shown = (text: string) => toHtml(text, { images_of: 'https://forge.example' });
  assert.equal(
    await shown('![a](https://forge.example/a.png)'),
    '<p><img src="https://forge.example/a.png" alt="a" /></p>\n',
  );
  assert.equal(await shown('![a](/uploads/a.png)'), '<p><img src="/uploads/a.png" alt="a" /></p>\n');
  assert.equal(
    await shown('![a &lt;b>](https://spy.example/a.png?x=1&y=2)'),
    '<p><span>a &lt;b&gt; https://spy.example/a.png?x=1&amp;y=2</span></p>\n',
  );
  for (const address of [
    'http://forge.example/a.png',
    'https://forge.example:444/a.png',
    'https://forge.example@spy.example/a.png',
    'https://forge.example.spy.example/a.png',
    '//spy.example/a.png',
    '/\\spy.example/a.png',
    '\t//spy.example/a.png',
    'https:/\t/spy.example/a.png',
    'https://[',
  ])
    for (const text of [`<img src="${address}">`, `<a href="x"><img src='${address}' alt=x></a>`])
      assert.doesNotMatch(await shown(text), /<img[^>]* src=/, address);
  assert.match(await toHtml('![a](https://spy.example/a.png)'), /<img/);
});

test('in plain text, images that are written as HTML are their alternative texts and addresses', async () => {
  for (const [text, expected] of [
    ['See <img src="a.png" alt="an apple"> here', 'See an apple a.png here'],
    ["<IMG\n alt='a &amp;\n b' src=/b.png>", 'a & b /b.png'],
    ['<p><img data-alt="x" src=c.png/></p>', '<p>c.png/</p>'],
    ['`<img src=a>` <!-- <img src=a> --> <image> <img', '`<img src=a>` <!-- <img src=a> --> <image> <img'],
    ['```\n<img src=a>\n```\n> <img src=b>\n', '```\n<img src=a>\n```\n> b\n'],
    ['![a](b.png)', '![a](b.png)'],
  ] as const)
    assert.equal(await withoutHtmlImages(text), expected);
});

const pieces = [
  '<',
  '>',
  '"',
  "'",
  '=',
  '/',
  ' ',
  'script',
  'img',
  'a',
  'href',
  'src',
  'onerror',
  'javascript:',
  '&',
  ';',
  '#x6A',
  '[',
  ']',
  '(',
  ')',
  '`',
  '\n',
  '@ann',
  '~"',
  '<!--',
  '-->',
  'svg',
  'data:',
  '\0',
  'é',
];

test('any text yields only allowed elements and attributes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), async (parts) => {
      for (const html of [await toHtml(parts.join(''), { linkOf }), await toInlineHtml(parts.join(''), { linkOf })]) {
        for (const [element] of html.matchAll(/<[^>]*>?/g))
          assert.match(
            element,
            /^<\/?(p|a|div|img|pre|code|br|blockquote|h[1-6]|ul|ol|li|em|strong)( (href|src|alt|title|class|start|id|aria-label)="[^"<>]*")*( \/)?>$/,
          );
        assert.doesNotMatch(html, /(href|src)="\s*(javascript|data|vbscript):/i);
      }
    }),
    { numRuns: runs(500, 20_000) },
  );
});

test('a text of one paragraph that is too long is shown as plain text', async () => {
  assert.equal(await toInlineHtml('<b>'.repeat(4000)), '&lt;b&gt;'.repeat(4000));
});

test('a short text that would become very long HTML is shown as plain text', async () => {
  const rows = 'a\n'.repeat(500);
  const table = `${'a|'.repeat(200)}\n${'-|'.repeat(200)}\n${rows}`;
  assert.equal(await toHtml(table), `<pre><code>${table}</code></pre>\n`);
  assert.doesNotMatch(await toHtml(`> ${table.replaceAll('\n', '\n> ')}`), /<td>/);
  const repeated = `[a]: / "${'&'.repeat(900)}"\n\n${'[a]'.repeat(300)}`;
  assert.match(await toHtml(repeated), /^<pre>\[a\]: /);
  assert.match(await toHtml('|a|b|\n|-|-|\n|c|\n'), /<td>c<\/td>\n<td><\/td>/);
});

test('each character of a line is read once to see whether it is the delimiter row of a table', () => {
  let reads = 0;
  const counted = (text: string) =>
    new Proxy([...text], {
      get(characters, key) {
        if (key !== 'length') reads += 1;
        return Reflect.get(characters, key);
      },
    });
  const length = 10_000;
  for (const line of ['-'.repeat(length), `${'-'.repeat(length - 1)}x`, `${' |:-'.repeat((length - 4) / 4)}|xyz`]) {
    reads = 0;
    assert.equal(isDelimiterRow(counted(line)), !line.includes('x'));
    assert.ok(reads <= length, `${reads} reads`);
  }
  assert.deepEqual(['', ' | ', '|:-:|\t-'].map(isDelimiterRow), [false, false, true]);
});

test('other requests are served between texts that take long', async () => {
  let made: string[] = [];
  const turns = await turnsDuring(async () => {
    made = await mapInSlices(['a', 'b', 'c', 'd'], (text, index) => {
      const until = performance.now() + 11;
      while (performance.now() < until);
      return `${text}${index}`;
    });
  });
  assert.deepEqual(made, ['a0', 'b1', 'c2', 'd3']);
  assert.ok(turns >= 3, `${turns} turns`);
});

test('other requests are served between the parser, the renderer and the filter of a long text', async () => {
  for (const text of ['*a_ '.repeat(2000), '>>> a\n'.repeat(1600)]) {
    assert.ok((await turnsDuring(() => toHtml(text))) > 1);
    assert.ok((await turnsDuring(() => toInlineHtml(text))) > 1);
  }
});
