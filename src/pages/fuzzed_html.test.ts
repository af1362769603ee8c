/** No text that is put into a template changes which elements and attributes there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { elementsOf } from '../../test/support/html_tree.ts';
import { runs } from '../../test/support/runs.ts';
import { ApiError } from '../http/index.ts';
import { filterForm, form } from './forms.ts';
import { html } from './html.ts';
import { layout, plainHouse } from './layout.ts';
import { label } from './marks.ts';
import type { Seen } from './page.ts';
import { facts, pager, person, rows, withQuery } from './parts.ts';

/** The elements of a document with the names of their attributes. */
const structureOf = (markup: string) =>
  elementsOf(markup).map(({ name, attributes }) => [name, ...attributes.keys()].join(' '));

/** What breaks out of where it stands, if anything does. */
const odd = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      ...['"', "'", '<', '>', '&', '=', '/', '`', ' ', '\n', '\0', '-->', '<!--', ']]>', '</script>', '</textarea>'],
      ...['</title>', '<svg', 'onload=', 'javascript:', '&quot;', '${', '}', '?', '#', 'x', '&#x'],
    ),
  }),
);

const refused = new ApiError(400, { message: { title: ['is wrong'], other: ['is missing'] } });

/** A page with a text in all places of templates. */
function pageWith(text: string): string {
  const seen: Seen = {
    caller: undefined,
    path: `/${text}`,
    query: { search: text },
    may: () => true,
    refused: { name: 'change', values: { title: text, list: [text] }, refusal: refused },
  };
  const options = [{ value: text, label: text }];
  const change = form(seen, 'change', {
    fields: [
      { name: 'title', label: text, value: text, help: text, is_required: true, maximum: 9 },
      { name: 'body', label: text, kind: 'area', value: text },
      { name: 'kind', label: text, kind: 'select', value: text, options },
      { name: 'list', label: text, kind: 'checkboxes', options },
      { name: 'key', label: text, kind: 'hidden', value: text },
    ],
    button: text,
  });
  const user = { username: text, name: text };
  const page = { items: [], page: 2, per_page: 1, has_more: true, cursor: text };
  const main = html`<p title="${text}" ?aria-label="${`x${text}`}"><a href="${text}">${text}</a><img src="${text}" alt="a ${text} b"></p>
${change}${filterForm(seen, [{ name: 'search', label: text }], text)}${person(user)}${label(text, text)}
${facts([[text, `x${text}`]])}${rows([`x${text}`], text)}${pager(page, seen)}<a href="${withQuery(seen, { more: text })}">x</a>`;
  const view = { title: [text, text], heading: text, main, place: { id: 'a/b', kind: 'project' as const, tab: text } };
  const sections = [
    {
      label: text,
      icon: 'code' as const,
      pages: [
        { name: text, label: text, path: text },
        { name: `${text}b`, label: text, path: text },
      ],
    },
  ];
  const { before, after } = layout(view, seen, {
    assets: { style: '/s', script: '/j', icon: '/i' },
    sections,
    house: plainHouse,
  });
  return `${before}${main}${after}`;
}

test('texts change neither the elements nor the attributes of a page', () => {
  const usual = structureOf(pageWith('x'));
  fc.assert(
    fc.property(odd, (text) => {
      // A label without a colour has no dot.
      assert.deepEqual(structureOf(pageWith(text === '' ? 'x' : text)), usual);
    }),
    { numRuns: runs(200, 5000) },
  );
});

test('an address that was put into a page leads to the web or to this server', () => {
  fc.assert(
    fc.property(odd, (text) => {
      const [link] = elementsOf(String(html`<a href="${text}">x</a>`)).filter(({ name }) => name === 'a');
      // What is no address leads nowhere.
      const protocol = URL.parse(link!.attributes.get('href')!, 'http://coppice.test/a/b')?.protocol ?? 'http:';
      assert.ok(['http:', 'https:', 'mailto:', 'ssh:', 'git:'].includes(protocol), protocol);
    }),
    { numRuns: runs(300, 10_000) },
  );
});
