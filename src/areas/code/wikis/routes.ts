/** Wikis of projects and groups: pages in a git repository (docs/reference/wikis.md). */
import { type Static, type TObject, Type } from 'typebox';
import { type MaybeCaller, type WikiPlace, wikiReader, wikiRole } from '../../../access/index.ts';
import {
  AnyText,
  allOptional,
  atLeastOneOf,
  capitalized,
  del,
  found,
  get,
  leftOutIfBlank,
  NotBlank,
  notEmpty,
  nothing,
  one,
  optional,
  post,
  put,
  type Services,
  streamedPageOf,
} from '../../../http/index.ts';
import { pageOfArray } from '../../../lists/index.ts';
import { toPlainHtml } from '../../../markdown/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { fileTexts, tooLargeText } from '../repository/push_checks/refusal_rules.ts';
import { contentIn } from '../repository/rules.ts';
import { changePage, createPage, duplicate, pageNoun, removePage } from './actions.ts';
import { type ReadPage, readPage, readPages, unlessBusy } from './content_git.ts';
import type { RenderPage } from './definition.ts';
import { versionIn } from './git.ts';
import { planOfGroups } from './kind.ts';
import { type Page, pageAt, pagesOf } from './page_git.ts';
import { presentPage, textOf, WikiPageForm } from './present.ts';
import { formats, refuseLong } from './rules.ts';

/** As for repository files: larger ones are for `git push`. */
const bodyLimit_bytes = 100 * 1024 * 1024;
/** Longer lists are read only page by page. */
const maximumList = 5_000;

const Slug = Type.String({ description: 'URL-encoded slug of the page, e.g. `guide%2Ffirst-steps`' });
const Format = Type.Enum([...formats]);
const Content = () => AnyText({ notBlank: true });
const Title = () => NotBlank({ description: 'With folders, between slashes' });
const message = leftOutIfBlank(
  optional(Type.String({ description: 'Of the commit; by default it says what was done' })),
);
const last_commit_sha = leftOutIfBlank(
  optional(Type.String({ description: 'ID of the last commit of the page known to the caller' })),
);

const listing = {
  with_content: Type.Boolean({ default: false, description: 'Whether to send what the pages contain' }),
  ...allOptional({
    page: Type.Integer({ minimum: 1, description: 'Number of the page of the list' }),
    per_page: Type.Integer({ minimum: 1, description: 'Items per page, at most 100; 20 if only `page` is given' }),
  }),
};

/** The pages on the requested page of the list. */
function listed(all: readonly Page[], { page, per_page }: Static<TObject<typeof listing>>) {
  if (page !== undefined || per_page !== undefined)
    return pageOfArray(all, { page: page ?? 1, per_page: per_page ?? 20 });
  return { items: all.slice(0, maximumList), page: 1, per_page: maximumList, has_more: false, next: null };
}

async function* presented(pages: AsyncIterable<ReadPage>) {
  for await (const page of pages) yield await presentPage(page);
}

async function* nonePresented(): AsyncGenerator<never> {}

/** The content in a parameter, checked against the limit in the settings. */
async function contentOf({ db }: Services, given: string | Uint8Array): Promise<Buffer> {
  const content = await contentIn('content', given, 'text');
  refuseLong(content, (await settingsOf(db)).wiki_page_max_content_bytes);
  return content;
}

/** A page as HTML; only Markdown is rendered. */
async function htmlOf(
  services: Services,
  { caller, place, wiki_id, render }: { caller: MaybeCaller; place: WikiPlace; wiki_id: number; render: RenderPage },
  { slug, format, content, matter }: ReadPage,
): Promise<string> {
  const text = await textOf(content!);
  if (format !== 'markdown') return toPlainHtml(text);
  return unlessBusy(() => render({ ...services, caller }, { place, wiki_id, slug, text: text.slice(matter.end) }));
}

const titleTexts = ['title: <reason>'];
const contentText = 'content: is too long (<size> Bytes). The maximum size is <limit> Bytes.';
const missingPage = `404 ${pageNoun} Not Found`;
const changed = '409 Conflict: the page has changed';
const busy = '503 Service Unavailable - The server is too busy';

function routesOf(kind: 'project' | 'group', render: RenderPage) {
  const base = `/${kind}s/:id/wikis`;
  const Noun = capitalized(kind);
  const plan = kind === 'group' ? ({ plan: planOfGroups } as const) : {};
  const reading = { access: wikiReader(kind), ...plan };
  const writing = { access: wikiRole(kind, 'developer'), ...plan, body_limit_bytes: bodyLimit_bytes };
  return [
    get(base, {
      operation: `list${Noun}WikiPages`,
      summary: `List the wiki pages of a ${kind}, those at the top first`,
      description: `Without \`page\` and \`per_page\`, the list has up to ${maximumList.toLocaleString('en')} pages.`,
      ...reading,
      input: listing,
      returns: streamedPageOf(WikiPageForm),
      refusals: { 503: busy },
      handle: async ({ place, input, ...services }) => {
        const version = await versionIn(services, place);
        const page = listed(version ? await pagesOf(version) : [], input);
        return { ...page, items: version ? presented(readPages(version, page.items, input)) : nonePresented() };
      },
    }),
    get(`${base}/:slug`, {
      operation: `get${Noun}WikiPage`,
      summary: `Get a wiki page of a ${kind}`,
      ...reading,
      input: {
        slug: Slug,
        version: leftOutIfBlank(
          optional(Type.String({ description: 'ID of a commit of the wiki; by default the newest' })),
        ),
        render_html: Type.Boolean({ default: false, description: 'Whether to send the page as HTML' }),
      },
      returns: one(WikiPageForm),
      refusals: { 404: missingPage, 413: tooLargeText, 429: tooLargeText, 503: busy },
      handle: async ({ caller, place, input, ...services }) => {
        const version = found(pageNoun, await versionIn(services, place, input.version));
        const page = await readPage(services.db, version, found(pageNoun, await pageAt(version, input.slug)));
        const rendering = { caller, place, wiki_id: version.wiki_id, render };
        return presentPage(page, input.render_html ? await htmlOf(services, rendering, page) : undefined);
      },
    }),
    post(base, {
      operation: `create${Noun}WikiPage`,
      summary: `Create a wiki page of a ${kind}`,
      description: 'The body has at most 100 MiB.',
      ...writing,
      input: {
        title: Title(),
        content: Content(),
        format: Type.Enum([...formats], { default: 'markdown' }),
        message,
      },
      returns: one(WikiPageForm),
      refusals: { 400: [duplicate, ...titleTexts, contentText, ...fileTexts], 404: `404 ${Noun} Not Found`, 503: busy },
      handle: async ({ caller, place, input, ...services }) =>
        presentPage(
          await createPage(
            services,
            { caller, place },
            { ...input, content: await contentOf(services, input.content) },
          ),
        ),
    }),
    put(`${base}/:slug`, {
      operation: `update${Noun}WikiPage`,
      summary: `Update a wiki page of a ${kind}`,
      description:
        'A title without a slash keeps the page in its folder; one that begins with a slash moves it to the top.',
      ...writing,
      input: {
        slug: Slug,
        title: optional(notEmpty(Title())),
        content: optional(notEmpty(Content())),
        format: optional(Format),
        message,
        last_commit_sha,
      },
      rules: [atLeastOneOf('title', 'content', 'format')],
      returns: one(WikiPageForm),
      refusals: {
        400: [...titleTexts, contentText, ...fileTexts],
        404: [missingPage, `404 ${Noun} Not Found`],
        409: changed,
        413: tooLargeText,
        429: tooLargeText,
        503: busy,
      },
      handle: async ({ caller, place, input, ...services }) => {
        const { slug, ...changes } = input;
        const content = changes.content === undefined ? undefined : await contentOf(services, changes.content);
        return presentPage(await changePage(services, { caller, place }, slug, { ...changes, content }));
      },
    }),
    del(`${base}/:slug`, {
      operation: `delete${Noun}WikiPage`,
      summary: `Delete a wiki page of a ${kind}`,
      access: wikiRole(kind, 'maintainer'),
      ...plan,
      input: { slug: Slug, message, last_commit_sha },
      returns: nothing,
      refusals: { 400: fileTexts, 404: [missingPage, `404 ${Noun} Not Found`], 409: changed, 503: busy },
      handle: ({ caller, place, input, ...services }) => removePage(services, { caller, place }, input.slug, input),
    }),
  ];
}

/** @param render renders the Markdown of pages, which can reference nouns of higher areas */
export const wikiRoutes = (render: RenderPage) => [...routesOf('project', render), ...routesOf('group', render)];
