/** Views of the documentation of the API. */
import { pagePath } from '../../../foundation/addresses.ts';
import { sharedReplies } from '../../../http/index.ts';
import {
  type Content,
  chip,
  facts,
  filterForm,
  type Html,
  html,
  rows,
  type Seen,
  type View,
} from '../../../pages/index.ts';
import {
  type ApiDocument,
  bodyOf,
  type Called,
  fieldsOf,
  operationsIn,
  type Row,
  refusalsOf,
  rowsOf,
  slugOf,
  successOf,
  type Type,
} from './document_rules.ts';
import { examplesOf } from './example_rules.ts';

const tagPage = pagePath('/docs/:tag');

/** Text with program text in backticks, in paragraphs. */
const prose = (text: string): Content => text.split('\n\n').map((paragraph) => html`<p>${inlineCode(paragraph)}</p>`);

const inlineCode = (text: string): Content =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

const typeView = ({ words, object }: Type): Html =>
  html`${words}${words !== '' && object !== undefined && ' '}${object !== undefined && html`<a href="${`#${object}`}">${object}</a>`}`;

/** The address of an operation as it is called. */
const callView = ({ method, path }: Pick<Called, 'method' | 'path'>): Html => html`<code>${method} ${path}</code>`;

function rowsView(name: string, shown: readonly Row[]): Content {
  if (shown.length === 0) return undefined;
  return html`<section class="scroll" tabindex="0" aria-label="${name}"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Description</th></tr></thead>
<tbody>${shown.map(
    (row) =>
      html`<tr><td><code>${row.name}</code>${row.is_required && html` ${chip('required')}`}${row.is_deprecated && html` ${chip('deprecated')}`}</td><td><span class="soft">${typeView(row.type)}</span> ${inlineCode(row.notes.join(' '))}</td></tr>
`,
  )}</tbody></table></section>`;
}

const parametersOf = (operation: Called): Row[] => [
  ...operation.parameters.flatMap(({ name, schema, required, description }) =>
    rowsOf(name, description === undefined ? schema : { ...schema, description }, required === true),
  ),
  ...fieldsOf(bodyOf(operation) ?? {}),
];

function repliesView(operation: Called): Html {
  const { status, type, media } = successOf(operation);
  const { own, shared } = refusalsOf(operation);
  return facts([
    [status, type ? typeView(type) : media.length > 0 ? media.join(', ') : 'Without a body'],
    ...own.map((refusal) => [refusal.status, inlineCode(refusal.text)] as const),
    [
      'As everywhere',
      shared.map((refusal, index) => [
        index > 0 && ', ',
        html`<a href="${`/docs#${refusal.name}`}">${refusal.status}</a>`,
      ]),
    ],
  ]);
}

const operationView = (operation: Called, url: string, root: string): Html =>
  html`<section><h2 id="${operation.operationId}">${operation.summary}</h2>
<p>${callView(operation)}${operation.deprecated && html` ${chip('deprecated')}`}</p>
${prose(operation.description ?? '')}
${rowsView(`Parameters of ${operation.summary}`, parametersOf(operation))}
${repliesView(operation)}
<details><summary>Examples</summary>
${examplesOf(operation, url, root).map(({ client, text }) => html`<h3>${client}</h3><pre tabindex="0">${text}</pre>`)}</details></section>
`;

/** The objects of the replies, and the bodies of webhooks if it is their page. */
const objectsView = ({ components: { schemas } }: ApiDocument): Content =>
  Object.entries(schemas)
    .filter(([name]) => name !== 'Refusal')
    .map(([name, schema]) => html`<h3 id="${name}">${name}</h3>${rowsView(`Fields of ${name}`, fieldsOf(schema))}`);

const webhooksView = ({ webhooks }: ApiDocument): Content =>
  Object.entries(webhooks).map(
    ([name, { post }]) =>
      html`<details><summary>${post.summary}</summary>${rowsView(
        `Body of ${name}`,
        fieldsOf(post.requestBody.content['application/json']?.schema ?? {}),
      )}</details>`,
  );

/** The page of one tag. */
export function tagView(document: ApiDocument, url: string, root: string): View {
  const [tag] = document.tags;
  const operations = operationsIn(document);
  const objects = objectsView(document);
  return {
    title: [tag!.name, 'API'],
    is_public: true,
    main: html`${prose(tag!.description)}
<p><a href="/docs">All parts of the API</a></p>
${rows(
  operations.map(
    (each) => html`<a class="title" href="${`#${each.operationId}`}">${each.summary}</a> ${callView(each)}`,
  ),
  'No operation.',
)}
${operations.map((each) => operationView(each, url, root))}
<h2>Objects</h2>
${objects}
${
  Object.keys(document.webhooks).length > 0 &&
  html`<h2>Bodies of deliveries</h2>
${webhooksView(document)}`
}`,
  };
}

/** An operation in the contents. */
export interface Listed {
  tag: string;
  summary: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  operation: string;
}

/** The parts of the API with how many operations each has, or the operations that were searched. */
export interface Contents {
  tags: readonly { name: string; description: string; count: number }[];
  found: readonly Listed[] | undefined;
  /** The address of the API. */
  address: string;
}

const contentsOf = ({ tags, found }: Contents): Html =>
  found
    ? rows(
        found.map(
          (each) =>
            html`<a class="title" href="${`${tagPage(slugOf(each.tag))}#${each.operation}`}">${each.summary}</a> ${callView(each)}<div class="soft">${each.tag}</div>`,
        ),
        'No operation has these words in its name or path.',
      )
    : rows(
        tags.map(
          ({ name, description, count }) =>
            html`<a class="title" href="${tagPage(slugOf(name))}">${name}</a> <span class="soft">${count}</span><div class="soft">${inlineCode(description)}</div>`,
        ),
        'The API has no parts.',
      );

/** The first page. */
export const contentsView = (contents: Contents, seen: Seen): View => ({
  title: ['API'],
  is_public: true,
  main: html`<p>Programs use this server through its REST API at <code>${contents.address}</code>. They send an <a href="/-/user_settings/personal_access_tokens">access token</a> in the header <code>PRIVATE-TOKEN</code>. <a href="/api/v4/openapi.json">OpenAPI document</a></p>
${filterForm(seen, [{ name: 'search', label: 'Search operations' }], 'Search')}
${contentsOf(contents)}
<h2>Replies of many operations</h2>
<dl class="facts">${Object.entries(sharedReplies).map(
    ([name, { description }]) => html`<dt id="${name}">${name}</dt><dd>${inlineCode(description)}</dd>`,
  )}</dl>`,
});
