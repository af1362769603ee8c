/** Wikis of projects and groups (docs/reference/work_pages.md). */
import type { Static } from 'typebox';
import { slugInAddress } from '../../../foundation/addresses.ts';
import { notFound } from '../../../http/index.ts';
import { type AnyPage, filePage, type PageCall, page, pagingOf, redirect, textIn } from '../../../pages/index.ts';
import { Diff } from '../../code/repository/index.ts';
import { WikiPageForm, WikiPageVersion } from '../../code/wikis/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';
import { type WikiKind, wikiKinds } from './definition.ts';
import { diffView, historyView } from './history_views.ts';
import { editView, listView, missingView, newView, pageAddress, pageView, textsOf, wikiAddress } from './views.ts';

type WikiPage = Static<typeof WikiPageForm>;

/** The slug of a wiki's home page. */
const home = 'home';
const listed_per_page = 100;

/** The address of a wiki, from the path of one of its pages. */
const wikiOf = ({ path }: { path: string }): string => path.replace(/\/-\/wikis.*$/, '/-/wikis');

/** The pages listed next to the displayed one, or a page of the complete list. */
async function pagesOf({ list }: PageCall, { noun }: WikiKind, paging: object = {}) {
  const read = await list(WikiPageForm, `list${noun}WikiPages`, { ...paging, per_page: listed_per_page });
  const items: WikiPage[] = [];
  // The items are read while they are sent.
  for await (const each of read.items) items.push(each);
  return { ...read, items };
}

const toPage = ({ slug }: WikiPage, call: PageCall) => `${wikiOf(call)}/${slugInAddress(slug)}`;

async function shownPage(call: PageCall, kind: WikiKind) {
  const slug = call.params.slug!;
  const [pages, shown] = await Promise.all([
    pagesOf(call, kind),
    call.perhaps(call.one(WikiPageForm, `get${kind.noun}WikiPage`, { render_html: true, version: call.query.version })),
  ]);
  const mayCreate = shown === undefined && (await call.may(`create${kind.noun}WikiPage`));
  if (!shown && !mayCreate) throw notFound('Page');
  const content = throughProxy(call.services, shown?.content ?? '');
  return { id: call.params.id!, slug, kind, pages, shown: shown && { ...shown, content } };
}

async function firstPage(call: PageCall, kind: WikiKind): Promise<string> {
  const { noun } = kind;
  await call.list(WikiPageForm, `list${noun}WikiPages`, { per_page: 1 });
  const first = await call.perhaps(call.one(WikiPageForm, `get${noun}WikiPage`, { slug: home }));
  const wiki = { id: call.params.id!, kind };
  return first ? pageAddress(wiki, first.slug) : `${wikiAddress(wiki)}/pages`;
}

const pagesFor = (kind: WikiKind): AnyPage[] => [
  redirect(kind.path, (call) => firstPage(call, kind)),
  page(`${kind.path}/pages`, {
    load: async (call) => ({ id: call.params.id!, kind, pages: await pagesOf(call, kind, pagingOf(call)) }),
    forms: { create: { runs: `create${kind.noun}WikiPage` } },
    view: listView,
  }),
  page(`${kind.path}/new`, {
    signed_in: true,
    load: async (call) => {
      await pagesOf(call, kind);
      return { id: call.params.id!, kind };
    },
    forms: { create: { runs: `create${kind.noun}WikiPage`, next: toPage } },
    view: newView,
  }),
  filePage(`${kind.path}/uploads/*attachment`, ({ bytes, params }) =>
    bytes(`get${kind.noun}WikiFile`, { file_path: `uploads/${params.attachment}` }),
  ),
  filePage(`${kind.path}/raw/*file_path`, ({ bytes }) => bytes(`get${kind.noun}WikiFile`)),
  page(`${kind.path}/*slug/edit`, {
    signed_in: true,
    load: async (call) => ({
      id: call.params.id!,
      kind,
      shown: await call.one(WikiPageForm, `get${kind.noun}WikiPage`),
    }),
    forms: {
      change: {
        runs: `update${kind.noun}WikiPage`,
        edits: async ({ one }) => textsOf(await one(WikiPageForm, `get${kind.noun}WikiPage`)),
        next: toPage,
      },
      remove: { runs: `delete${kind.noun}WikiPage`, next: (_reply, call) => `${wikiOf(call)}/pages` },
    },
    view: editView,
  }),
  page(`${kind.path}/*slug/history`, {
    load: async (call) => ({
      id: call.params.id!,
      kind,
      slug: call.params.slug!,
      versions: await call.list(WikiPageVersion, `list${kind.noun}WikiPageVersions`, pagingOf(call)),
    }),
    view: historyView,
  }),
  page(`${kind.path}/*slug/diff`, {
    load: async (call) => ({
      id: call.params.id!,
      kind,
      slug: call.params.slug!,
      diffs: await call.all(Diff, `list${kind.noun}WikiPageDiffs`, { version_id: textIn(call.query, 'version_id') }),
    }),
    view: diffView,
  }),
  page(`${kind.path}/*slug`, {
    load: (call) => shownPage(call, kind),
    forms: {
      create: { runs: `create${kind.noun}WikiPage` },
      change: { runs: `update${kind.noun}WikiPage` },
    },
    view: (shown, seen) => (shown.shown ? pageView({ ...shown, shown: shown.shown }, seen) : missingView(shown, seen)),
  }),
];

export const wikiPages: readonly AnyPage[] = wikiKinds.flatMap(pagesFor);
