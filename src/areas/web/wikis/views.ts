/** Views of wikis. */
import type { Static } from 'typebox';
import { pagePath, slugInAddress } from '../../../foundation/addresses.ts';
import type { Page } from '../../../http/index.ts';
import {
  type Field,
  form,
  type Html,
  html,
  pager,
  rows,
  type Seen,
  sanitised,
  type View,
} from '../../../pages/index.ts';
import type { WikiPageForm } from '../../code/wikis/index.ts';
import { presentText } from '../issuables/form_rules.ts';
import type { WikiKind } from './definition.ts';

type WikiPage = Static<typeof WikiPageForm>;

export interface InWiki {
  /** The path of the project or group. */
  id: string;
  kind: WikiKind;
}

const addresses = { project: pagePath('/:project/-/wikis'), group: pagePath('/groups/:group/-/wikis') };

export const wikiAddress = ({ id, kind }: InWiki): string => addresses[kind.kind](id);

export const pageAddress = (wiki: InWiki, slug: string): string => `${wikiAddress(wiki)}/${slugInAddress(slug)}`;

/** The title and the location of a wiki page. */
export const around = ({ id, kind }: InWiki, title: readonly string[]) => ({
  title: [...title, 'Wiki', id],
  place: { id, kind: kind.kind, tab: 'wikis' },
});

const linkTo = (wiki: InWiki, { slug, title }: Pick<WikiPage, 'slug' | 'title'>): Html =>
  html`<a href="${pageAddress(wiki, slug)}">${title}</a>${slug.includes('/') && html` <span class="soft">${slug}</span>`}`;

const newButton = (wiki: InWiki, seen: Seen) =>
  seen.may('create') && html`<a class="button" href="${`${wikiAddress(wiki)}/new`}">New page</a>`;

export function listView({ pages, ...wiki }: InWiki & { pages: Page<WikiPage> }, seen: Seen): View {
  return {
    ...around(wiki, ['Pages']),
    is_public: true,
    main: html`<p class="actions">${newButton(wiki, seen)}</p>
${rows(
  pages.items.map((each) => linkTo(wiki, each)),
  'The wiki has no pages yet.',
)}
${pager(pages, seen)}`,
  };
}

export function pageView(
  { shown, slug, pages, ...wiki }: InWiki & { shown: WikiPage; slug: string; pages: Page<WikiPage> },
  seen: Seen,
): View {
  return {
    ...around(wiki, [shown.title]),
    is_public: true,
    main: html`<p class="actions">${seen.may('change') && html`<a class="button" href="${`${pageAddress(wiki, slug)}/edit`}">Edit</a>`} <a class="button" href="${`${pageAddress(wiki, slug)}/history`}">History</a> ${newButton(wiki, seen)}</p>
<div class="columns">
<div class="text">${sanitised(shown.content ?? '', 1)}</div>
<section aria-labelledby="pages"><h2 id="pages">Pages</h2>
${rows(
  pages.items.map((each) => linkTo(wiki, each)),
  '',
)}
<p><a href="${`${wikiAddress(wiki)}/pages`}">All pages</a></p></section>
</div>`,
  };
}

/** A page that does not exist, for users who may create it. */
export function missingView({ slug, ...wiki }: InWiki & { slug: string }, _seen: Seen): View {
  const title = slug.replaceAll('-', ' ');
  return {
    ...around(wiki, [title]),
    main: html`<p>There is no such page yet.</p>
<p class="actions"><a class="button primary" href="${`${wikiAddress(wiki)}/new?title=${encodeURIComponent(title)}`}">Create the page</a> <a class="button" href="${`${wikiAddress(wiki)}/pages`}">All pages</a></p>`,
  };
}

const formats = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'rdoc', label: 'RDoc' },
  { value: 'asciidoc', label: 'AsciiDoc' },
  { value: 'org', label: 'Org' },
] as const;

const contentFields = ({ content, format }: Partial<WikiPage>): readonly Field[] => [
  { name: 'content', label: 'Content', kind: 'markdown', value: content, is_required: true, is_clearable: true },
  { name: 'format', label: 'Format', kind: 'select', value: format ?? 'markdown', options: formats },
  { name: 'message', label: 'Message of the commit' },
];

export function newView(wiki: InWiki, seen: Seen): View {
  const title = typeof seen.query.title === 'string' ? seen.query.title : '';
  return {
    ...around(wiki, ['New page']),
    main: html`${
      form(seen, 'create', {
        fields: [
          {
            name: 'title',
            label: 'Title',
            value: title,
            is_required: true,
            is_clearable: true,
            help: 'With folders, between slashes.',
          },
          ...contentFields({}),
        ],
        button: 'Create the page',
      }) ?? html`<p>You may not write pages of this wiki.</p>`
    }`,
  };
}

export const textsOf = ({ content, format }: WikiPage): readonly unknown[] => [content, format];

export function editView({ shown, ...wiki }: InWiki & { shown: WikiPage }, seen: Seen): View {
  return {
    ...around(wiki, [`Edit ${shown.title}`]),
    main: html`${
      form(seen, 'change', {
        fields: [
          ...contentFields(shown),
          { name: 'title', label: 'New title', help: 'Left empty, the page keeps its title and address.' },
        ],
        edited: textsOf(shown),
        button: 'Save',
      }) ?? html`<p>You may not write pages of this wiki.</p>`
    }${presentText(seen, shown.content)}
${form(seen, 'remove', { button: 'Delete the page', look: 'danger' })}
<p><a href="${pageAddress(wiki, shown.slug)}">Back to the page</a></p>`,
  };
}
