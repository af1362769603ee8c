/** Views of snippets. */
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  type Field,
  form,
  type Html,
  hidden,
  html,
  type Place,
  pager,
  person,
  rows,
  type Seen,
  sanitised,
  time,
  type View,
  withQuery,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { NoteTexts, Thread } from '../issuables/definition.ts';
import { pathOf } from '../issuables/present.ts';
import { threadView } from '../issuables/timeline_views.ts';
import { bodyField, statesView } from '../issuables/views.ts';
import { lineText } from '../repository/blob_views.ts';
import { type Kind, placeOf, type ShownSnippet } from './definition.ts';
import type { SnippetFile } from './file_queries.ts';

const snippetRow = ({ web_url, title, visibility, author, files, updated_at }: ShownSnippet): Html =>
  html`<a class="title" href="${pathOf(web_url)}">${title}</a> ${chip(visibility)}
<div class="soft">By ${person(author)}, ${counted(files.length, 'file')}, changed ${time(updated_at)}</div>`;

const newSnippet = (address: string): Html =>
  html`<p class="actions"><a class="button primary" href="${address}">New snippet</a></p>`;

interface List {
  snippets: ListPage<ShownSnippet>;
  mayCreate: boolean;
}

export const listView = ({ id, snippets, mayCreate }: List & { id: string }, seen: Seen): View => ({
  title: ['Snippets', id],
  ...placeOf('project', id),
  main: html`${mayCreate && newSnippet(`${seen.path}/new`)}
${rows(snippets.items.map(snippetRow), 'There are no snippets yet.')}
${pager(snippets, seen)}`,
});

export const ownListView = ({ scope, snippets, mayCreate }: List & { scope: string }, seen: Seen): View => ({
  title: ['Snippets'],
  main: html`${mayCreate && newSnippet('/-/snippets/new')}
${statesView(
  seen,
  scope,
  [
    ['mine', 'Yours'],
    ['public', 'Public'],
    ['all', 'All'],
  ],
  'scope',
)}
${rows(snippets.items.map(snippetRow), scope === 'mine' ? 'You have no snippets yet.' : 'There are no snippets yet.')}
${pager(snippets, seen)}`,
});

/** Lines with their numbers. A text that ends with a line break has no further line. */
function linesView({ path, text = '', colours }: SnippetFile, place: number): Html {
  const lines = text.replace(/\n$/, '').split('\n');
  return html`<section class="scroll" tabindex="0" aria-label="${`Lines of ${path}`}"><table class="code">
<caption class="visually-hidden">${path} by line</caption>
${lines.map((line, index) => {
  const id = `F${place + 1}L${index + 1}`;
  const coloured = colours?.[index];
  return html`<tr id="${id}"><td class="line"><a href="${`#${id}`}">${index + 1}</a><td>${coloured === undefined ? lineText(line) : sanitised(coloured)}\n`;
})}</table></section>`;
}

const fileView = (file: SnippetFile, place: number): Html =>
  html`<section class="file"><header><h2 class="grow">${file.path}</h2><a class="button" href="${file.raw}" rel="nofollow">Raw<span class="visually-hidden"> ${file.path}</span></a></header>
${
  file.text === undefined ? html`<p class="soft">It is no text, or too long to be shown.</p>` : linesView(file, place)
}</section>`;

interface Talk {
  threads: ListPage<Thread>;
  texts: NoteTexts;
}

const talkView = ({ threads, texts }: Talk, seen: Seen): Content =>
  html`<h2>Comments</h2>
${threads.items.length === 0 ? html`<p class="soft">There are none.</p>` : threads.items.map((thread) => threadView(seen, thread, texts))}
${pager(threads, seen)}
${form(seen, 'comment', { fields: [bodyField('Comment', { help: 'Markdown.' })], button: 'Comment', action: withQuery(seen, { edit: undefined }) })}`;

interface Shown {
  kind: Kind;
  id: string;
  snippet: ShownSnippet;
  files: readonly SnippetFile[];
  talk: Talk | undefined;
  description: Html | undefined;
  mayEdit: boolean;
}

export const snippetView = ({ kind, id, snippet, files, talk, description, mayEdit }: Shown, seen: Seen): View => ({
  title: [snippet.title, 'Snippets', ...(kind === 'project' ? [id] : [])],
  ...placeOf(kind, id),
  main: html`<p>${chip(snippet.visibility)} <span class="soft">by</span> ${person(snippet.author)}<span class="soft">, changed ${time(snippet.updated_at)}</span></p>
${
  mayEdit &&
  html`<div class="actions"><a class="button" href="${`${seen.path}/edit`}">Edit</a>${form(seen, 'remove', { button: 'Delete snippet', look: 'danger' })}</div>`
}
${description && html`<div class="text">${description}</div>`}
${files.map(fileView)}
<p class="soft">Clone it: <code>${snippet.http_url_to_repo}</code></p>
${talk && talkView(talk, seen)}`,
});

interface ShownForm {
  title: readonly string[];
  button: string;
  fields: readonly Field[];
  edited: readonly unknown[] | undefined;
  /** How many new files there is room for. */
  asked: number;
  placed: { place?: Place };
}

export const formView = ({ title, button, fields, edited, asked, placed }: ShownForm, seen: Seen): View => ({
  title: placed.place ? [...title, placed.place.id] : title,
  ...placed,
  main: html`${form(seen, 'save', {
    fields: [...fields, hidden('asked', asked)],
    button,
    also: { name: 'more', button: 'Add a file' },
    ...(edited && { edited }),
    action: withQuery(seen, {}),
  })}`,
});
