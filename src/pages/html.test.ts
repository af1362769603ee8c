import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Content, html, safeAddress } from './html.ts';

const evil = `"><script>alert('1')</script>`;
const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;';

test('what is put into a hole is escaped by where it is', () => {
  assert.equal(String(html`<p title="${evil}">${evil}</p>`), `<p title="${escaped}">${escaped}</p>`);
  assert.equal(String(html`<p title="a ${html`<b>`} c">`), '<p title="a &lt;b&gt; c">');
  assert.equal(String(html`${[html`<i>`, 'a&b', [1, undefined, null, false]]}`), '<i>a&amp;b1');
});

test('an attribute that may be absent is there only with a value', () => {
  const input = (value: Content | boolean) => String(html`<input ?checked="${value}" name="a">`);
  assert.equal(input(true), '<input checked name="a">');
  assert.equal(input(false), '<input name="a">');
  assert.equal(input(undefined), '<input name="a">');
  assert.equal(input('x"'), '<input checked="x&quot;" name="a">');
});

test('addresses lead to our own pages and to the web only', () => {
  for (const address of [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    '\u0001JavaScript:x',
    'data:text/html,x',
    'vbscript:x',
  ])
    assert.equal(String(html`<a href="${address}">`), '<a href="#">');
  for (const address of [
    '/a/b?c=1&d=2',
    'https://example.com/',
    'mailto:a@example.com',
    '#here',
    'a:b/c'.replace('a:', './a:'),
  ])
    assert.equal(safeAddress(address), address);
});

test('a hole where no escaping helps is refused', () => {
  for (const make of [
    () => html`<p onclick="${'x'}">`,
    () => html`<p style="${'x'}">`,
    () => html`<p ${'x'}>`,
    () => html`<p title=${'x'}>`,
    () => html`<p title='${'x'}'>`,
    () => html`<script>${'x'}</script>`,
    () => html`<style>${'x'}</style>`,
    () => html`<a ?href="${'x'}">`,
    () => html`<iframe srcdoc="${'x'}">`,
  ])
    assert.throws(make);
});
