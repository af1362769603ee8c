/** Selects the repositories that a code search covers. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  commitKind,
  isMemberOfGroup,
  isMemberOfProject,
  isUsable,
  isVisibleGroup,
  isVisibleProject,
  levels,
  type MaybeCaller,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Search } from './definition.ts';
import { isSearched } from './text_queries.ts';

/** A project whose code is searched. */
export interface CodePlace {
  id: number;
  storage: string;
  full_path: string;
  default_branch: string;
}

/** Searching more repositories than this takes longer than the time limit. */
const maximumPlaces = 20_000;

/** The projects whose code the caller may read, by id. */
export async function codePlaces(db: Database, { caller, within, input }: Search): Promise<CodePlace[]> {
  const isFork = input.exclude_forks ? sql<SqlBool>`projects.forked_from_id is null` : sql<SqlBool>`true`;
  return db
    .selectFrom('projects')
    .select(['projects.id', 'projects.storage', 'projects.full_path', 'projects.default_branch'])
    .where(isSearched(within, input.include_archived))
    .where(isVisibleProject(caller))
    .where(commitKind.isVisible(caller))
    .where(isFork)
    .orderBy('projects.id')
    .limit(maximumPlaces)
    .execute();
}

/** A searched wiki. */
export interface WikiTree {
  id: number;
  storage: string;
  default_branch: string;
  project_id: number | null;
  group_id: number | null;
}

const isOpenGroup = (caller: MaybeCaller): RawBuilder<SqlBool> => {
  if (caller?.admin) return sql`namespaces.wiki_access_level <> 'disabled'`;
  const isMember = isMemberOfGroup(caller, levels.guest);
  return sql`(${isVisibleGroup(caller)} and (namespaces.wiki_access_level = 'enabled' or (namespaces.wiki_access_level = 'private' and ${isMember}))
    and (namespaces.visibility <> 'private' or ${isMember}))`;
};

/** The wikis that the caller may read, those of groups first. */
export async function wikiPlaces(
  db: Database,
  { caller, within, input }: Search,
  withGroups: boolean,
): Promise<WikiTree[]> {
  const isMember = caller.admin ? sql`true` : isMemberOfProject(caller, levels.guest);
  const ofProjects = sql<SqlBool>`
    wikis.project_id in (select projects.id from projects where ${isSearched(within, input.include_archived)} and ${isVisibleProject(caller)}
                            and ${isUsable(caller, 'wiki')} and (projects.visibility <> 'private' or ${isMember}))`;
  const isInside =
    'group' in within
      ? sql`namespaces.traversal_ids @> ${[within.group.id]}::bigint[]`
      : sql`namespaces.kind = 'group'`;
  const ofGroups =
    withGroups && !('project' in within)
      ? sql<SqlBool>`wikis.group_id in (select namespaces.id from namespaces where ${isInside} and ${isOpenGroup(caller)})`
      : sql<SqlBool>`false`;
  return db
    .selectFrom('wikis')
    .select(['wikis.id', 'wikis.storage', 'wikis.default_branch', 'wikis.project_id', 'wikis.group_id'])
    .where(sql<SqlBool>`(${ofProjects} or ${ofGroups})`)
    .orderBy('wikis.group_id')
    .orderBy('wikis.project_id')
    .limit(maximumPlaces)
    .execute();
}
