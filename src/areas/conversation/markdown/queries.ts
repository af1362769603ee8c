/** Links for references in a text: one statement for each kind, and only for items that the reader may see. */
import {
  type IssuableKind,
  issuableKinds,
  isUsableAccount,
  type MaybeCaller,
  type Project,
  uploadsPath,
  userPage,
} from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { type LinkOf, type Reference, referencesIn, toHtml } from '../../../markdown/index.ts';
import { type RenderPage, wikiUrl } from '../../code/wikis/index.ts';
import { pairsMeant, pathMeant, type Surroundings, thingsNamed } from './reference_queries.ts';

/** The context of the text: a project, or a group. Without a context, short references have no meaning. */
export type Context = Pick<Project, 'full_path'> | { group_path: string } | undefined;

interface Asking {
  db: Database;
  caller: MaybeCaller;
  /** Our external address without a trailing slash. */
  url: string;
}

/** The maximum number of references of a kind that are linked in one text. */
const maximumLinks = 500;

function surroundingsOf(context: Context): Surroundings {
  if (context && 'group_path' in context) return { project_path: undefined, group_path: context.group_path };
  return {
    project_path: context?.full_path,
    group_path: context?.full_path.slice(0, context.full_path.lastIndexOf('/')),
  };
}

const keyOf = (name: string, path: string | undefined, value: string | number) =>
  `${name} ${path?.toLowerCase() ?? ''} ${String(value).toLowerCase()}`;

type Link = [key: string, href: string];

async function usersNamed({ db, url }: Asking, references: readonly Reference[]): Promise<Link[]> {
  const names = references.filter(({ kind }) => kind === 'user').map(({ value }) => value);
  if (names.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select('username')
    .where(isAmong('username', names.slice(0, maximumLinks), 'citext[]'))
    .where(isUsableAccount)
    .execute();
  return rows.map(({ username }) => [keyOf('user', undefined, username), url + userPage(username)]);
}

async function linksTo(
  kind: IssuableKind,
  { db, caller, url }: Asking,
  references: readonly Reference[],
  surroundings: Surroundings,
): Promise<Link[]> {
  const things = await thingsNamed(db, caller, kind, pairsMeant(kind, references, surroundings, maximumLinks));
  return things.map(({ full_path, iid }) => [keyOf(kind.reference, full_path, iid), url + kind.page(full_path, iid)]);
}

/**
 * Returns a function that links the references in a text, or in several texts.
 * @param context a project or group that the caller may read
 */
export async function linksFor(asking: Asking, text: string | readonly string[], context: Context): Promise<LinkOf> {
  const texts = typeof text === 'string' ? [text] : text;
  const references = (await Promise.all(texts.map((each) => referencesIn(each, asking.url)))).flat();
  const surroundings = surroundingsOf(context);
  const found = await Promise.all([
    usersNamed(asking, references),
    ...issuableKinds.map((kind) => linksTo(kind, asking, references, surroundings)),
  ]);
  const links = new Map<string, string>(found.flat());
  return (reference) => {
    const kind = issuableKinds.find((issuable) => issuable.reference === reference.kind);
    return links.get(keyOf(reference.kind, kind && pathMeant(kind, reference, surroundings), reference.value));
  };
}

/** Renders a wiki page to HTML: references, uploads and links are resolved in its project or group. */
export const wikiPageHtml: RenderPage = async (asking, { place, wiki_id, slug, text }) => {
  const { project_id, group_id, full_path } = place;
  const contextOf = async () => ({
    linkOf: await linksFor(asking, text, group_id === null ? place : { group_path: full_path }),
    uploads: project_id === null ? uploadsPath('group', group_id!) : uploadsPath('project', project_id),
    page: { wiki_url: wikiUrl(asking, place), slug },
  });
  return toHtml(text, contextOf, wiki_id);
};
