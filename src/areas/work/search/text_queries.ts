/** Searches projects, milestones, snippets and comments. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  commitKind,
  isMemberOfGroup,
  isMemberOfProject,
  isUsable,
  isVisibleGroup,
  isVisibleProject,
  isVisibleSnippet,
  levels,
  mayUse,
  rowsWithPlaces,
  type StoredKind,
  storedKinds,
} from '../../../access/index.ts';
import { type Caller, forbidden } from '../../../http/index.ts';
import { isByKey, mapPage, paginate } from '../../../lists/index.ts';
import { containsEach, isFoundIn, termsOf } from '../../../texts/index.ts';
import { presentSnippet, SnippetForm, snippetRows } from '../../code/snippets/index.ts';
import { isVisibleNote, Note, noteRows, presentNote } from '../../conversation/notes/index.ts';
import { Milestone, milestoneRows, presentMilestone } from '../../planning/milestones/index.ts';
import { ProjectWithAccessForm, presentProjectPage, visibleProjectRows } from '../../spaces/projects/index.ts';
import { isInScope, type ListScope } from '../issuables/scope_queries.ts';
import { formed, type Scope, type Search, type Within } from './definition.ts';

const nothing = sql<SqlBool>`false`;

/** A predicate on rows of `projects`: the search covers them. Projects marked for deletion are excluded. */
export function isSearched(within: Within, includeArchived: boolean): RawBuilder<SqlBool> {
  if ('project' in within) return sql`projects.id = ${within.project.id}`;
  return isInScope({ ...within, without_marked: true }, !includeArchived);
}

/** The place of a search as the scope of a list. */
export const searchedPlaces = (within: Within): ListScope =>
  'project' in within ? within : { ...within, without_marked: true };

/** A predicate on rows of `namespaces`: the search covers these groups. */
const isSearchedGroup = (within: Within): RawBuilder<SqlBool> => {
  if ('project' in within) return nothing;
  return 'group' in within ? sql`namespaces.traversal_ids @> ${[within.group.id]}::bigint[]` : sql`true`;
};

const projectTexts = [
  'projects.name',
  sql`projects.path::text`,
  sql`projects.full_path::text`,
  'projects.description',
] as const;

/** Projects whose name equals the search text come first. */
export const projectScope: Scope = {
  levels: ['global', 'group'],
  forms: [ProjectWithAccessForm],
  async find(services, { caller, within, input }) {
    const { db } = services;
    const { order_by, sort = 'desc' } = input;
    const search = input.search.trim();
    const matching = visibleProjectRows(db, caller)
      .where(isSearched(within, input.include_archived))
      .where(containsEach(termsOf(search), projectTexts));
    // Ids grow with time.
    const ordered = (rows: typeof matching) =>
      order_by === 'updated_at'
        ? rows.orderBy('projects.updated_at', sort).orderBy('projects.id', sort)
        : rows.orderBy('projects.id', sort);
    const isNamed = sql<boolean>`(projects.name = ${search} or projects.path = ${search})`;
    const parts = [ordered(matching.where(isNamed)), ordered(matching.where(sql<boolean>`not ${isNamed}`))];
    const isPlain = order_by !== undefined || isByKey(input);
    const page = await paginate(db, ordered(matching), input, isPlain ? { varies: true } : { parts });
    const form = { simple: true, statistics: false, with_custom_attributes: false };
    return formed(ProjectWithAccessForm, await presentProjectPage(services, caller, page, form));
  },
};

export const milestoneScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [Milestone],
  check(project) {
    if (!mayUse(project, 'issues') && !mayUse(project, 'merge_requests')) throw forbidden();
  },
  async find({ db, url }, { caller, within, input }) {
    const { order_by = 'created_at', sort = 'desc' } = input;
    const inProject = sql<SqlBool>`
      milestones.project_id in (select projects.id from projects where ${isSearched(within, input.include_archived)} and ${isVisibleProject(caller)}
                                   and (${isUsable(caller, 'issues')} or ${isUsable(caller, 'merge_requests')}))`;
    const inGroup = sql<SqlBool>`
      milestones.group_id in (select namespaces.id from namespaces where namespaces.kind = 'group' and ${isSearchedGroup(within)} and ${isVisibleGroup(caller)})`;
    const query = milestoneRows(db)
      .where(isFoundIn(input.search, ['milestones.title', 'milestones.description']) ?? nothing)
      .where(sql<SqlBool>`(${inProject} or ${inGroup})`)
      .orderBy(`milestones.${order_by}`, sort)
      .orderBy('milestones.id', sort);
    return formed(
      Milestone,
      mapPage(await paginate(db, query, input, { varies: true }), (row) => presentMilestone(url, row)),
    );
  },
};

/** The name of the first file. */
const fileName = sql`snippets.paths[1]`;

export const snippetScope: Scope = {
  levels: ['global'],
  forms: [SnippetForm],
  async find(services, { caller, within, input }) {
    const { db } = services;
    const { order_by = 'created_at', sort = 'desc' } = input;
    const query = snippetRows(db)
      .leftJoin('projects', 'projects.id', 'snippets.project_id')
      .where(isVisibleSnippet(caller))
      .where(sql<SqlBool>`(snippets.project_id is null or ${isSearched(within, input.include_archived)})`)
      .where(isFoundIn(input.search, ['snippets.title', 'snippets.description', fileName]) ?? nothing)
      .orderBy(`snippets.${order_by}`, sort)
      .orderBy('snippets.id', sort);
    return formed(
      SnippetForm,
      mapPage(await paginate(db, query, input, { varies: true }), (row) => presentSnippet(services, row)),
    );
  },
};

/** A predicate on rows of `notes`: they are on items of a kind that the search covers, and the caller may read them. */
function isReadable(kind: StoredKind, caller: Caller, { within, input }: Search): RawBuilder<SqlBool> {
  const column = sql.ref(`notes.${kind.column}`);
  const isInside = kind.places === 'projects' ? isSearched(within, input.include_archived) : isSearchedGroup(within);
  const isMember = kind.places === 'projects' ? isMemberOfProject : isMemberOfGroup;
  const readsInternal = caller.admin ? sql`true` : isMember(caller, levels.planner);
  return sql`(${column} is not null and (
    select ${isInside} and ${kind.isVisible(caller)} and (not notes.internal or ${readsInternal})
      from ${rowsWithPlaces(kind)} where ${sql.ref(`${kind.table}.id`)} = ${column}))`;
}

/** The same for comments on commits. */
const isReadableOnCommit = (caller: Caller, { within, input }: Search): RawBuilder<SqlBool> => sql`
  (notes.commit_id is not null and not notes.internal and (
    select ${isSearched(within, input.include_archived)} and ${commitKind.isVisible(caller)} from projects where projects.id = notes.project_id))`;

export const noteScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [Note],
  async find({ db, url }, search) {
    const { caller, input } = search;
    const { order_by = 'created_at', sort = 'desc' } = input;
    const readable = [
      ...storedKinds.map((kind) => isReadable(kind, caller, search)),
      isReadableOnCommit(caller, search),
    ];
    const query = noteRows(db)
      .where('notes.system', '=', sql.lit(false))
      .where(isFoundIn(input.search, ['notes.body']) ?? nothing)
      .where(sql<SqlBool>`(${sql.join(readable, sql` or `)})`)
      .where(isVisibleNote(caller, true))
      .orderBy(`notes.${order_by}`, sort)
      .orderBy('notes.id', sort);
    return formed(
      Note,
      mapPage(await paginate(db, query, input, { varies: true }), (row) => presentNote(url, row)),
    );
  },
};
