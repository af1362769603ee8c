/** Where references in a text lead to: one statement for each kind of thing, and only to what the reader may know of. */
import { sql } from 'kysely';
import { isVisibleEpic, isVisibleIssue, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { type LinkOf, type Reference, type ReferenceKind, referencesIn } from '../../../markdown/index.ts';

/** Where the text stands, undefined for nowhere; short references mean nothing then. */
export type Context = Pick<Project, 'full_path'> | undefined;

interface Asking {
  db: Database;
  caller: Caller;
  /** Our external address without a trailing slash. */
  url: string;
}

/** Most references of a kind that one text has links for. */
const maximumLinks = 500;
const largestIid = 2 ** 31 - 1;

/** The full path of what a reference names: one name alone is that of a neighbour. */
function pathOf({ kind, path }: Reference, context: Context): string | undefined {
  const group = context?.full_path.slice(0, context.full_path.lastIndexOf('/'));
  if (path === undefined) return kind === 'epic' ? group : context?.full_path;
  return kind === 'epic' || path.includes('/') || group === undefined ? path : `${group}/${path}`;
}

const keyOf = (kind: ReferenceKind, path: string | undefined, value: string | number) =>
  `${kind} ${path?.toLowerCase() ?? ''} ${String(value).toLowerCase()}`;

/** Paths and numbers of one kind as two columns. */
function numbered(references: readonly Reference[], wanted: ReferenceKind, context: Context) {
  const pairs = references
    .filter(({ kind, value }) => kind === wanted && Number(value) <= largestIid)
    .flatMap((reference) => ({ path: pathOf(reference, context), iid: Number(reference.value) }))
    .filter(({ path }) => path !== undefined)
    .slice(0, maximumLinks);
  return { paths: pairs.map(({ path }) => path!), iids: pairs.map(({ iid }) => iid) };
}

type Link = [key: string, href: string];

async function usersNamed({ db, url }: Asking, references: readonly Reference[]): Promise<Link[]> {
  const names = references.filter(({ kind }) => kind === 'user').map(({ value }) => value);
  if (names.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select('username')
    .where('username', 'in', names.slice(0, maximumLinks))
    .where('user_type', '<>', 'ghost')
    .execute();
  return rows.map(({ username }) => [keyOf('user', undefined, username), `${url}/${username}`]);
}

async function issuesNamed({ db, caller, url }: Asking, references: readonly Reference[], context: Context): Promise<Link[]> {
  const { paths, iids } = numbered(references, 'issue', context);
  if (paths.length === 0) return [];
  const { rows } = await sql<{ full_path: string; iid: number }>`
    select projects.full_path, issues.iid
      from unnest(${paths}::citext[], ${iids}::integer[]) asked(path, iid) join projects on projects.full_path = asked.path
           join issues on issues.project_id = projects.id and issues.iid = asked.iid
     where ${isVisibleIssue(caller)}`.execute(db);
  return rows.map(({ full_path, iid }) => [keyOf('issue', full_path, iid), `${url}/${full_path}/-/issues/${iid}`]);
}

async function epicsNamed({ db, caller, url }: Asking, references: readonly Reference[], context: Context): Promise<Link[]> {
  const { paths, iids } = numbered(references, 'epic', context);
  if (paths.length === 0) return [];
  const { rows } = await sql<{ full_path: string; iid: number }>`
    select namespaces.full_path, epics.iid
      from unnest(${paths}::citext[], ${iids}::integer[]) asked(path, iid) join namespaces on namespaces.full_path = asked.path
           join epics on epics.group_id = namespaces.id and epics.iid = asked.iid
     where ${isVisibleEpic(caller)}`.execute(db);
  return rows.map(({ full_path, iid }) => [keyOf('epic', full_path, iid), `${url}/groups/${full_path}/-/epics/${iid}`]);
}

/**
 * What makes links of the references in a text.
 * @param context a project that the caller may read
 */
export async function linksFor(asking: Asking, text: string, context: Context): Promise<LinkOf> {
  const references = referencesIn(text, asking.url);
  const found = await Promise.all([
    usersNamed(asking, references),
    issuesNamed(asking, references, context),
    epicsNamed(asking, references, context),
  ]);
  const links = new Map<string, string>(found.flat());
  return (reference) =>
    links.get(keyOf(reference.kind, reference.kind === 'user' ? undefined : pathOf(reference, context), reference.value));
}
