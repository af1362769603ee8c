import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHtml } from './index.ts';

const page = { wiki_url: 'http://coppice.test/a/b/-/wikis', slug: 'guide/first steps' };
const render = async (text: string) => (await toHtml(text, { page })).trim();
const secret = '0123456789abcdef'.repeat(2);

test('addresses in a page lead from its folder, and from no place above the wiki', async () => {
  for (const [address, leads] of [
    ['next', '/guide/next'],
    ['./next#part', '/guide/next#user-content-part'],
    ['../home', '/home'],
    ['../../../../../c', '/c'],
    ['/home?x=1', '/home?x=1'],
    ['%C3%BC%20x', '/guide/%C3%BC%20x'],
    [`uploads/${secret}/a.png`, `/uploads/${secret}/a.png`],
  ])
    assert.equal(await render(`[x](${address})`), `<p><a href="${page.wiki_url}${leads}">x</a></p>`, address);
  for (const address of ['#part', 'https://x.example/y', 'mailto:x@x.example'])
    assert.equal(await render(`[x](${address})`), `<p><a href="${address}">x</a></p>`, address);
  assert.equal(await render('![x](y.png)'), `<p><img src="${page.wiki_url}/raw/guide/y.png" alt="x" /></p>`);
  assert.equal(await render('[x](//x.example)'), '<p><a>x</a></p>');
  assert.equal(await render('<a href="\\\\\\\\x.example">x</a>'), '<p><a>x</a></p>');
});

test('uploads of the project are where they are in other texts', async () => {
  const html = await toHtml(`[x](/uploads/${secret}/a.png)`, { page, uploads: '/-/project/1/uploads' });
  assert.equal(html.trim(), `<p><a href="/-/project/1/uploads/${secret}/a.png">x</a></p>`);
});

test('a title in double brackets is a link to the page', async () => {
  for (const [text, leads, shown] of [
    ['[[Next steps]]', '/guide/Next-steps', 'Next steps'],
    ['[[the <next>|../Home page#Part one]]', '/Home-page#user-content-part-one', 'the &lt;next&gt;'],
    ['[[/Home]]', '/Home', '/Home'],
    ['[[Why? 100%: *this*]]', '/guide/Why%3F-100%25%3A-*this*', 'Why? 100%: *this*'],
    ['[[javascript:alert(1)]]', '/guide/javascript%3Aalert(1)', 'javascript:alert(1)'],
  ])
    assert.equal(await render(text!), `<p><a href="${page.wiki_url}${leads}">${shown}</a></p>`, text);
  assert.equal(await render('[[x|https://x.example/#y]]'), '<p><a href="https://x.example/#y">x</a></p>');
  assert.equal(await render('[[#Part one]]'), '<p><a href="#Part-one">#Part one</a></p>');
  const linkOf = () => 'http://coppice.test/issue';
  assert.equal(
    await toHtml('[[#1]] #1', { page, linkOf }),
    '<p><a href="#1">#1</a> <a href="http://coppice.test/issue">#1</a></p>\n',
  );
});

test('other brackets stay what they are', async () => {
  for (const text of ['[[]]', '[[ ]]', '[[a', '[[a]', '[[a|b|c]]', '`[[a]]`', '\\[[a]]'])
    assert.doesNotMatch(await render(text), /<a/, text);
  assert.doesNotMatch(await toHtml('[[a]]'), /<a/);
});
